"""Compares an observation with the expected one, and returns the first difference as a fact.

Plain values that are right need neither NumPy nor facts, and loading both takes longer than all else in a check. So
they are imported where arrays are compared, and where something differs.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from autograder.checks import Dropout, Judge, Like, Raises, Same, Within
from autograder.protocol import Array, Opaque, Value
from autograder.results import Fact
from autograder.runner import CourseProblem, Observed, Outcome

from .facts import (
    custom_judgement,
    incomparable_result,
    lacking_message,
    no_exception,
    other_exception,
    other_length,
    unexpected_part,
    unobserved_exception,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .float_arrays import Numbers


# How far numbers may be from the expected ones: a tolerance for every dtype.

TOLERANCES = {"float64": 1e-6, "float32": 3e-5, "float16": 1e-2, "bfloat16": 4e-2}
"""The largest difference from the reference that is still rounding, relative to the largest expected value.

Right programs stay below 3e-7 in float32, 1e-3 in float16 and 6e-3 in bfloat16; wrong ones differ by 1e-3 and more in
float32. In float64 there is room for a constant that was made in float32.
"""

SMALLEST_SCALE = 1e-3
"""Where everything expected is smaller, differences are taken relative to this."""


def is_floating(array: Array) -> bool:
    """Whether the array holds floating-point numbers."""
    return array.dtype in TOLERANCES


def is_close(yours: float, expected: float, tolerance: float) -> bool:
    """Whether a number is right up to rounding, as `float_arrays.wrong` judges an array; this takes no NumPy."""
    size = abs(expected) if math.isfinite(expected) else 0.0
    same = yours == expected or (math.isnan(yours) and math.isnan(expected))
    return same or abs(yours - expected) <= tolerance * max(size, SMALLEST_SCALE)


@dataclass(frozen=True)
class Expected:
    """The reference's observation: as it comes (`nominal`, for shapes and dtypes) and in float64 (`exact`)."""

    nominal: Value
    exact: Value


@dataclass(frozen=True)
class Difference:
    """The first difference: what it is, the name of the part, and the arrays if there are two.

    `dtypes` are those of yours and of the expected; `off` is where they differ, for arrays of one shape and dtype.
    `within` names what the part belongs to: the keys of the dicts around it. `lists` are yours and the expected one,
    if they have another length.
    """

    fact: Fact
    name: str
    yours: "Numbers | None" = None
    expected: "Numbers | None" = None
    dtypes: tuple[str, str] = ("float32", "float32")
    off: "NDArray[np.bool_] | None" = None
    within: str = ""
    lists: tuple[list[Value], list[Value]] | None = field(default=None, compare=False)

    @property
    def subject(self) -> str:
        """The part in the words of the check: its name, then what it is part of; nothing for the whole result."""
        return _joined("" if self.name == "result" else self.name, self.within)

    @property
    def kind(self) -> str:
        """What differs: type, shape, dtype, device, special, value, raises, dropout or other."""
        return self.fact.id


def judge_observation(yours: Value, expected: Expected, judge: Judge) -> Difference | None:
    """Judge one observation; None says that it is right."""
    match judge:
        case Same() | Like():
            return compare(yours, expected, judge)
        case Raises():
            return _raises(yours, expected, judge)
        case Dropout():
            from .float_arrays import judge_dropout  # NumPy, which a check that passes does not need

            return judge_dropout(yours, expected, judge)
        case Within():
            from .float_arrays import judge_random  # NumPy, which a check that passes does not need

            return judge_random(yours, expected.exact, judge)
    return _custom(judge, yours, expected)


def passes(outcome: Outcome, expected: Expected, judge: Judge) -> bool:
    """Whether a trial is right."""
    return isinstance(outcome, Observed) and judge_observation(outcome.value, expected, judge) is None


def compare(yours: Value, expected: Expected, judge: Same | Like, name: str = "") -> Difference | None:
    """Return the first difference between two values, walking both."""
    nominal, exact = expected.nominal, expected.exact
    if isinstance(nominal, Array) or (isinstance(judge, Like) and _are_ways(nominal) and _has_two(yours)):
        return _compare_arrays(yours, nominal, exact, judge, name or "result")
    if isinstance(nominal, dict) and isinstance(yours, dict):
        if extra := [key for key in yours if key not in nominal]:
            return Difference(unexpected_part(extra[0]), name)
        parts: list[tuple[str, Value, Value, Value]] = [
            (key, yours.get(key), value, exact[key]) for key, value in nominal.items()
        ]
    elif isinstance(nominal, list) and isinstance(yours, list):
        if len(nominal) != len(yours):
            return _of_another_length(yours, nominal, name)
        parts = [(f"item {i}", *three) for i, three in enumerate(zip(yours, nominal, exact, strict=True))]
    else:
        return _compare_plain(yours, nominal, exact, judge, name)
    for key, mine, theirs, exactly in parts:
        is_item = name and key.startswith("item")
        if found := compare(mine, Expected(theirs, exactly), judge, f"{key} of {name}" if is_item else key):
            return found if is_item or not name else replace(found, within=_joined(found.within, name))
    return None


def _compare_arrays(yours: Value, nominal: Any, exact: Any, judge: Same | Like, name: str) -> Difference | None:
    """Compare an array, or two ways to the same numbers."""
    if yours == nominal:  # to the last bit
        return None
    from .float_arrays import compare_arrays, compare_ways  # NumPy, which a check that passes does not need

    if isinstance(nominal, Array):
        return compare_arrays(yours, nominal, exact, judge, name)
    assert isinstance(judge, Like)
    return compare_ways(yours, nominal, exact, judge, name)


def _are_ways(value: Value) -> bool:
    """Whether a list holds two ways to the same numbers."""
    if not _has_two(value):
        return False
    one, other = value
    return isinstance(one, Array) and isinstance(other, Array) and one.shape == other.shape


def _has_two(value: Value) -> bool:
    return isinstance(value, list) and len(value) == 2


def _of_another_length(yours: list[Value], nominal: list[Value], name: str) -> Difference:
    lists = (str(yours), str(nominal)) if _are_short(yours, nominal) else None
    return Difference(other_length(len(yours), len(nominal), lists), name, lists=(yours, nominal))


def _are_short(*lists: Sequence[Value]) -> bool:
    """Whether lists can be shown in a sentence: a few whole numbers, such as a shape."""
    return all(len(values) <= _SHORT and all(type(value) is int for value in values) for values in lists)


_SHORT = 6
"""Longer lists do not fit in a sentence beside each other."""


def _joined(*names: str) -> str:
    return ", ".join(filter(None, names))


def _compare_plain(yours: Value, nominal: Value, exact: Value, judge: Same | Like, name: str) -> Difference | None:
    if isinstance(nominal, float) and isinstance(yours, float):
        if is_close(yours, float(exact), judge.tolerance or TOLERANCES["float32"]):
            return None
    elif type(yours) is type(nominal) and yours == nominal:
        return None
    from .float_arrays import plain_difference  # NumPy, which a check that passes does not need

    return plain_difference(yours, nominal, exact, name)


def _raises(yours: Value, expected: Expected, judge: Raises) -> Difference | None:
    wanted, raised = judge.types[0], _raised(yours)
    seen = yours if isinstance(yours, dict) else {}
    text = str(seen.get("message"))
    is_wanted = bool(raised and set(judge.types) & set(raised))
    missing = tuple(word for word in expected.nominal["mentions"] if word not in text) if is_wanted else ()
    if raised and is_wanted and (not missing or raised[0] == "AssertionError"):
        return None

    if raised is None:
        return Difference(unobserved_exception(yours, wanted), "")
    if not raised:
        return Difference(no_exception(wanted, str(seen.get("returned"))), "")
    if not is_wanted:
        return Difference(other_exception(wanted, raised[0], text), "")
    return Difference(lacking_message(wanted, missing), "")


def _raised(yours: Value) -> list[str] | None:
    """Return the types of an exception, the most special first; None if none was looked for."""
    raised = yours.get("raised") if isinstance(yours, dict) else None
    return raised if isinstance(raised, list) and all(isinstance(type_, str) for type_ in raised) else None


def _custom(judge: Callable[[Any, Any], str | None], yours: Value, expected: Expected) -> Difference | None:
    """Judge by a function of the course; raises `CourseProblem` if it cannot read what has the expected form."""
    right = plain(expected.exact)
    try:
        text = judge(plain(yours), right)
    except Exception as error:
        if _has_form_of(yours, expected.nominal):
            raise CourseProblem(_judge_raised(judge, error)) from error
        try:
            judge(right, right)
        except Exception as always:
            raise CourseProblem(_judge_raised(judge, always)) from always

        return Difference(incomparable_result(yours, expected.nominal), "")
    if text is None:
        return None
    if not isinstance(text, str) or not text.strip():
        line = judge.__code__.co_firstlineno if isinstance(judge, FunctionType) else 0
        raise CourseProblem(
            f"{_named(judge, line)} returns {text!r:.60}, expected a sentence on what is wrong, or None if nothing is"
        )
    return Difference(custom_judgement(text), "")


def _has_form_of(yours: Value, expected: Value) -> bool:
    """Whether a value has the types, shapes, lengths and names of the expected one: then a judge can read both."""
    match yours, expected:
        case Array(), Array():
            return yours.shape == expected.shape
        case dict(), dict():
            return list(yours) == list(expected) and all(_has_form_of(yours[key], expected[key]) for key in yours)
        case list(), list():
            return len(yours) == len(expected) and all(map(_has_form_of, yours, expected))
    return type(yours) is type(expected) and not isinstance(yours, Opaque)


def _judge_raised(judge: Callable[[Any, Any], str | None], error: Exception) -> str:
    """Return a sentence on a judge of the course that raised an exception, with its line."""
    file = judge.__code__.co_filename if isinstance(judge, FunctionType) else ""
    line, at = 0, error.__traceback__
    while at is not None:
        line = at.tb_lineno if at.tb_frame.f_code.co_filename == file else line
        at = at.tb_next
    return f"{_named(judge, line)} raises {type(error).__name__}: {error}"


def _named(judge: Callable[[Any, Any], Any], line: int) -> str:
    """Return what to call a judge of the course, with its file and a line of it."""
    where = (
        f" ({Path(judge.__code__.co_filename).name}, line {line})" if isinstance(judge, FunctionType) and line else ""
    )
    return f"the judge {getattr(judge, '__name__', type(judge).__name__)}{where}"


def plain(value: Value) -> Any:
    """Return a value with its arrays as NumPy arrays, for a judge of the course's own."""
    if isinstance(value, Array):
        from .float_arrays import numbers  # NumPy, which a check that passes does not need

        return numbers(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value
