"""Compares an observation with the expected one, and returns the first difference as a fact.

Plain values that are right need no NumPy, which takes longer to load than all else in a check. So arrays are compared
in a module of their own, which is imported where there are some.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from autograder.checks import Dropout, Judge, Like, Raises, Same, Within
from autograder.protocol import NUMPY, Array, Opaque, Value
from autograder.results import Fact, Position, element, joined, opened, position
from autograder.runner import CourseProblem, Observed, Outcome

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
    `within` names what the part belongs to: the keys of the dicts around it. `plain` are yours and the expected one, of
    values that are no arrays. `lists` has the name of the lists around it, or of those with another length, and both.
    """

    fact: Fact
    name: str
    yours: "Numbers | None" = None
    expected: "Numbers | None" = None
    dtypes: tuple[str, str] = ("float32", "float32")
    off: "NDArray[np.bool_] | None" = None
    within: str = ""
    plain: tuple[Value, Value] | None = field(default=None, compare=False)
    lists: tuple[str, list[Value], list[Value]] | None = field(default=None, compare=False)

    @property
    def subject(self) -> str:
        """The part in the words of the check: its name, then what it is part of; nothing for the whole result."""
        return _joined("" if self.name == "result" else self.name, self.within)

    @property
    def kind(self) -> str:
        """What differs: type, shape, dtype, device, special, value, raises, dropout or other."""
        return self.fact.id


# The facts about a difference.


def described(value: Value) -> str:
    """Name a value in a few words."""
    match value:
        case Array():
            kind = "an array" if value.device == NUMPY else "a tensor"
            return f"{kind} of shape {tuple(value.shape)}"
        case Opaque():
            return f"a {value.type_name}" if " " not in value.type_name else value.type_name
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a dict of {', '.join(map(str, value))}"
        case str() | bytes():
            return repr(value[:60])
    return str(value)


ONLY_SOME_SIZES = "With inputs of other sizes and numbers it is right."


# Values.


def differing_values(
    count: int,
    size: int,
    dtype: str = "float32",
    first: Position | None = None,
    numbers: tuple[float, float] | None = None,
    *,
    is_first: bool = True,
) -> Fact:
    """Some numbers are wrong; `first` is the first of them or another, with its numbers where they are no secret."""
    things = "places" if dtype == "bool" else "numbers"
    says = f"{count} of {size} {things} {'differs' if count == 1 else 'differ'}"
    if first is None:
        return Fact("value", says)
    says = f"every {things[:-1]} differs" if count == size else says
    also = f"{'first' if is_first else 'for example'} at {position(first)}"
    if numbers is not None:
        expected, yours = (element(number, dtype) for number in numbers)
        also += f": expected {expected}, yours {yours}"
    return Fact("value", says, (also,))


CHANGED_INPUT = Fact(
    "input-changed",
    "your code changes it, and it belongs to the caller",
    asks="Which line writes into it? `+=`, `x[...] =` and methods with a trailing underscore do.",
)
"""An argument of the call has other values after it."""


def other_number(yours: float, expected: float, dtype: str = "number") -> Fact:
    """A single number is wrong."""
    return Fact("value", f"{element(yours, dtype)}, expected {element(expected, dtype)}")


def odd_numbers(count: int, size: int, nan: bool, infinite: bool) -> Fact:
    """Some numbers are NaN, infinite, or either, where finite ones are expected."""
    what = " or ".join(word for word, there in (("NaN", nan), ("infinite", infinite)) if there)
    return Fact("special", f"{count} of {size} numbers {'is' if count == 1 else 'are'} {what}, expected finite ones")


def other_value(yours: Value, expected: Value, right: bool) -> Fact:
    """A plain value is another one, or of another type; `right` says that its numbers are the expected ones."""
    id_ = "value" if type(yours) is type(expected) else "type"
    return Fact(id_, f"{described(yours)}, expected {described(expected)}", ("its value is right",) if right else ())


def incomparable_result(yours: Value, expected: Value) -> Fact:
    """A judge of the course's own cannot read the observation."""
    says = f"The result is {described(yours)}, which cannot be compared with {described(expected)}"
    return Fact("other", says, whole=True)


def other_shape(yours: tuple[int, ...], expected: tuple[int, ...]) -> Fact:
    """The shape is another one."""
    return Fact("shape", f"shape {yours}, expected {expected}")


# Judging an observation.


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


def compare(yours: Value, expected: Expected, judge: Same | Like) -> Difference | None:
    """Return the first difference between two values."""
    return next(differences(yours, expected, judge), None)


def differences(
    yours: Value, expected: Expected, judge: Same | Like, name: str = "", index: tuple[int, ...] = ()
) -> Iterator[Difference]:
    """Yield what differs between two values, walking both: the parts of dicts by name, of lists by `index`."""
    nominal, exact, called = expected.nominal, expected.exact, _called(name, index)
    is_pair = isinstance(judge, Like) and isinstance(yours, list) and len(yours) == 2
    if isinstance(nominal, Array) or (is_pair and _are_ways(nominal)):
        found = _compare_arrays(yours, nominal, exact, judge, called or "result")
        yield from [found] if found else []
    elif isinstance(nominal, dict) and isinstance(yours, dict):
        if extra := [key for key in yours if key not in nominal]:
            yield Difference(Fact("type", f"has the part {extra[0]!r}, which is not expected"), called)
            return
        for key, value in nominal.items():
            for found in differences(yours.get(key), Expected(value, exact[key]), judge, key):
                yield replace(found, within=_joined(found.within, called))
    elif isinstance(nominal, list) and isinstance(yours, list):
        if len(nominal) != len(yours):
            says = f"{len(yours)} {'part' if len(yours) == 1 else 'parts'}, expected {len(nominal)}"
            if len(yours) <= _SHORT >= len(nominal) and all(type(value) is int for value in (*yours, *nominal)):
                says = f"{yours}, expected {nominal}"
            yield Difference(Fact("type", says), called, lists=(called, yours, nominal))
            return
        for i, (mine, *theirs) in enumerate(zip(yours, nominal, exact, strict=True)):
            for found in differences(mine, Expected(*theirs), judge, name, (*index, i)):
                yield found if found.lists else replace(found, lists=(called, yours, nominal))
    else:
        found = _compare_plain(yours, nominal, exact, judge, called)
        yield from [found] if found else []


def _called(name: str, index: tuple[int, ...]) -> str:
    """Return how messages call a part: "item 2 of words", and in lists of lists "item [5][1][2]", as Python does."""
    item = f"item {index[0]}" if len(index) == 1 else f"item {''.join(f'[{i}]' for i in index)}" if index else ""
    return f"{item} of {name}" if item and name else item or name


def _compare_arrays(yours: Value, nominal: Any, exact: Any, judge: Same | Like, name: str) -> Difference | None:
    if yours == nominal:  # to the last bit
        return None
    from .float_arrays import compare_arrays, compare_ways  # NumPy, which a check that passes does not need

    if isinstance(nominal, Array):
        return compare_arrays(yours, nominal, exact, judge, name)
    assert isinstance(judge, Like)
    return compare_ways(yours, nominal, exact, judge, name)


def _are_ways(value: Value) -> bool:
    """Whether a list holds two ways to the same numbers."""
    match value:
        case [Array() as one, Array() as other]:
            return one.shape == other.shape
    return False


_SHORT = 6
"""Longer lists do not fit in a sentence beside each other: shapes do."""


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
        return Difference(Fact("type", f"The call gave {described(yours)}, expected {wanted}", whole=True), "")
    also: tuple[str, ...] = ()
    if not raised:
        says, also = f"Your code raised nothing, expected {wanted}", (f"the call returned {seen.get('returned')}",)
    elif is_wanted:
        says = f"The message of the {wanted} does not mention {joined(missing)}"
    else:
        says = f"Your code raised {raised[0]}, expected {wanted}"
        quoted = text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}…"
        also = (f"its message: {quoted}",) if text else ()
    return Difference(Fact("raises", says, also, whole=True), "")


_MOST_QUOTED = 80
"""Characters of a learner's own exception message: enough to recognise it."""


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
    return Difference(Fact("other", opened(text), whole=True), "")


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
    file = judge.__code__.co_filename if isinstance(judge, FunctionType) else ""
    line, at = 0, error.__traceback__
    while at is not None:
        line = at.tb_lineno if at.tb_frame.f_code.co_filename == file else line
        at = at.tb_next
    return f"{_named(judge, line)} raises {type(error).__name__}: {error}"


def _named(judge: Callable[[Any, Any], Any], line: int) -> str:
    where = (
        f" ({Path(judge.__code__.co_filename).name}, line {line})" if isinstance(judge, FunctionType) and line else ""
    )
    return f"the judge {getattr(judge, '__name__', type(judge).__name__)}{where}"


def plain(value: Value) -> Any:
    """Return a value with its arrays as NumPy arrays, for a judge of the course's own."""

    def as_numbers(part: Value) -> Any:
        if not isinstance(part, Array):
            return part
        from .float_arrays import numbers  # NumPy, which a check that passes does not need

        return numbers(part)

    return with_parts(as_numbers, value)


def with_parts(change: Callable[[Any], Any], value: Any) -> Any:
    """Return a value of dicts and lists with all other parts changed."""
    if isinstance(value, dict):
        return {name: with_parts(change, part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_parts(change, part) for part in value]
    return change(value)
