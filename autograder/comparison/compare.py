"""Is an observation what was expected, and if not, what is the first thing that differs?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from autograder.checks import Dropout, Judge, Like, Raises, Same
from autograder.comparison.arrays import TOLERANCES, Numbers, is_floating, numbers, resembles, wrong
from autograder.comparison.dropout import dropped_wrongly
from autograder.protocol import Array, Opaque, Value
from autograder.runner.outcomes import Observed, Outcome

Kind = Literal["type", "shape", "dtype", "device", "special", "value", "raises", "dropout", "other"]


@dataclass(frozen=True)
class Expected:
    """The reference's observation: as it comes (`nominal`, for shapes and dtypes) and in float64 (`exact`)."""

    nominal: Value
    exact: Value


@dataclass(frozen=True)
class Difference:
    """The first thing that differs: its kind, the name of the part, a sentence, and the arrays if there are two.

    `dtypes` are those of yours and of the expected; `off` is where they differ, for arrays of one shape and dtype.
    """

    kind: Kind
    name: str
    sentence: str
    yours: Numbers | None = None
    expected: Numbers | None = None
    dtypes: tuple[str, str] = ("float32", "float32")
    off: NDArray[np.bool_] | None = None


def judge_observation(yours: Value, expected: Expected, judge: Judge) -> Difference | None:
    """Judge one observation; None says that it is right."""
    match judge:
        case Same() | Like():
            return compare(yours, expected, judge)
        case Raises():
            return _raises(yours, expected, judge)
        case Dropout():
            return _dropout(yours, expected, judge)
    return _custom(judge, yours, expected)


def passes(outcome: Outcome, expected: Expected, judge: Judge) -> bool:
    """Whether a trial is right."""
    return isinstance(outcome, Observed) and judge_observation(outcome.value, expected, judge) is None


def compare(yours: Value, expected: Expected, judge: Same | Like, name: str = "") -> Difference | None:
    """Return the first difference between two values, walking both."""
    nominal, exact = expected.nominal, expected.exact
    if isinstance(nominal, Array):
        return _compare_arrays(yours, nominal, exact, judge, name or "result")
    if isinstance(judge, Like) and _are_ways(nominal) and isinstance(yours, list) and len(yours) == 2:
        return _compare_ways(yours, nominal, exact, judge, name or "result")
    if isinstance(nominal, dict) and isinstance(yours, dict):
        if extra := [key for key in yours if key not in nominal]:
            return Difference("type", name, f"{_the(name)}: {extra[0]!r} is there, which is not expected")
        parts: list[tuple[str, Value, Value, Value]] = [
            (key, yours.get(key), value, exact[key]) for key, value in nominal.items()
        ]
    elif isinstance(nominal, list) and isinstance(yours, list):
        if len(nominal) != len(yours):
            return Difference("type", name, f"{_the(name)}: {len(yours)} parts, expected {len(nominal)}")
        parts = [(f"item {i}", *three) for i, three in enumerate(zip(yours, nominal, exact, strict=True))]
    else:
        return _compare_plain(yours, nominal, exact, judge, name)
    for key, mine, theirs, exactly in parts:
        inner = f"{key} of {name}" if name and key.startswith("item") else key
        if found := compare(mine, Expected(theirs, exactly), judge, inner):
            return found
    return None


def _compare_plain(yours: Value, nominal: Value, exact: Value, judge: Same | Like, name: str) -> Difference | None:
    if isinstance(nominal, float) and isinstance(yours, float):
        tolerance = judge.tolerance or TOLERANCES["float32"]
        if not wrong(np.array(yours), np.array(float(exact)), tolerance).any():
            return None
        sentence = f"{_the(name)}: {yours:.6g}, expected {exact:.6g}"
        return Difference("value", name, sentence, np.array(yours), np.array(float(exact)), ("number", "number"))
    if type(yours) is type(nominal) and yours == nominal:
        return None
    kind: Kind = "value" if type(yours) is type(nominal) else "type"
    right = "; its value is right" if _is_right(yours, nominal) else ""
    return Difference(kind, name, f"{_the(name)}: {describe(yours)}, expected {describe(nominal)}{right}")


def _is_right(yours: Value, nominal: Value) -> bool:
    """Whether a tensor holds what is expected as a plain number, or as a list of them."""
    if not isinstance(yours, Array) or isinstance(nominal, str | dict) or nominal is None:
        return False
    wanted = as_numbers(nominal)
    return wanted is not None and wanted.shape == yours.shape and not wrong(numbers(yours), wanted, 3e-5).any()


def as_numbers(value: Value) -> Numbers | None:
    """Return a plain number, or a list of them, as an array; None where it is neither."""
    try:
        array = np.array(value)
    except ValueError:
        return None
    return array.astype(np.float64) if array.dtype.kind in "bif" else None


def _compare_arrays(yours: Value, nominal: Array, exact: Value, judge: Same | Like, name: str) -> Difference | None:
    if yours == nominal:  # to the last bit
        return None
    if found := _compare_forms(yours, nominal, exact, judge, name):
        return found
    assert isinstance(yours, Array)
    mine, theirs = numbers(yours), numbers(exact if isinstance(exact, Array) else nominal)
    tolerance = (judge.tolerance or TOLERANCES.get(nominal.dtype, 0.0)) if is_floating(nominal) else 0.0
    off = wrong(mine, theirs, tolerance, exact_zeros=judge.exact_zeros)
    if isinstance(judge, Like):
        off &= _unlike(mine, theirs, judge, name)
    return _differing(mine, theirs, (yours.dtype, nominal.dtype), off, name)


def _unlike(mine: Numbers, theirs: Numbers, judge: Like, name: str) -> NDArray[np.bool_]:
    """Return which numbers are not even like the reference's: none of them, all, or those that are not to be zero."""
    unlike = ~np.isfinite(mine) & np.isfinite(theirs)
    if name in judge.free:
        return unlike
    if judge.exact_zeros:
        unlike |= (mine == 0) != (theirs == 0)
    return unlike if resembles(mine, theirs, judge.likeness, judge.spread) else np.ones_like(unlike)


def _are_ways(value: Value) -> bool:
    """Whether a list holds two ways to the same numbers."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    one, other = value
    return isinstance(one, Array) and isinstance(other, Array) and one.shape == other.shape


def _compare_ways(yours: Value, nominal: Any, exact: Any, judge: Like, name: str) -> Difference | None:
    """Compare two ways to the same numbers with each other, and the first with the reference."""
    if yours == nominal:
        return None
    for each, theirs, exactly in zip(yours, nominal, exact, strict=True):
        if found := _compare_forms(each, theirs, exactly, judge, name):
            return found
    one, other = (numbers(each) for each in yours)
    theirs, there = numbers(exact[0] if isinstance(exact[0], Array) else nominal[0]), np.isfinite(numbers(nominal[1]))
    dtypes = nominal[0].dtype, nominal[1].dtype
    if (gone := there & ~np.isfinite(other)).any():
        return _differing(other, theirs, dtypes, gone, name)
    tolerances = [TOLERANCES[each.dtype] for each in nominal if is_floating(each)]
    off = wrong(one, other, (judge.tolerance or max(tolerances)) if tolerances else 0.0) & there
    if judge.exact_zeros:
        off |= ((one == 0) != (other == 0)) & there
    if off.any():
        return _differing(one, other, dtypes, off, name)
    if name in judge.free or resembles(one, np.where(there, theirs, np.nan), judge.likeness, judge.spread):
        return None
    off = wrong(one, theirs, TOLERANCES["float32"])
    return _differing(one, theirs, (dtypes[0], dtypes[0]), off, name)


def _compare_forms(yours: Value, nominal: Array, exact: Value, judge: Same | Like, name: str) -> Difference | None:
    """Compare all of a tensor but its numbers."""
    if not isinstance(yours, Array):
        return Difference("type", name, _instead_of_a_tensor(yours, nominal, exact, judge, name))
    dtypes = yours.dtype, nominal.dtype
    if yours.shape != nominal.shape:
        sentence = f"{_the(name)}: shape {yours.shape}, expected {nominal.shape}"
        theirs = numbers(exact if isinstance(exact, Array) else nominal)
        return Difference("shape", name, sentence, numbers(yours), theirs, dtypes)
    if yours.device.split(":")[0] != nominal.device.split(":")[0]:
        return Difference("device", name, f"{_the(name)}: on the {yours.device}, expected where the input is")
    if yours.dtype == nominal.dtype:
        return None
    mine, theirs = numbers(yours), numbers(exact if isinstance(exact, Array) else nominal)
    tolerance = judge.tolerance or TOLERANCES.get(nominal.dtype, 0.0)
    values = "its values are right" if not wrong(mine, theirs, max(tolerance, 3e-5)).any() else "its values differ too"
    sentence = f"{_the(name)}: {yours.dtype}, expected {nominal.dtype}; {values}"
    return Difference("dtype", name, sentence, mine, theirs, dtypes)


def _differing(
    mine: Numbers, theirs: Numbers, dtypes: tuple[str, str], off: NDArray[np.bool_], name: str
) -> Difference | None:
    """Return the difference of two arrays that differ where `off` says."""
    if not off.any():
        return None
    odd = off & ~np.isfinite(mine) & np.isfinite(theirs)
    if odd.any():
        what = (
            "NaN" if np.isnan(mine[odd]).all() else "infinite" if not np.isnan(mine[odd]).any() else "NaN or infinite"
        )
        sentence = f"{_the(name)}: {int(odd.sum())} of {odd.size} numbers are {what}, expected finite ones"
        return Difference("special", name, sentence, mine, theirs, dtypes, off)
    sentence = f"{_the(name)}: {int(off.sum())} of {off.size} numbers differ from the expected"
    return Difference("value", name, sentence, mine, theirs, dtypes, off)


def _instead_of_a_tensor(yours: Value, nominal: Array, exact: Value, judge: Same | Like, name: str) -> str:
    """Say what stands where a tensor is expected, and whether the right one is in it."""
    expected = f"expected a tensor of shape {nominal.shape}"
    if yours is None and "gradient" in name:
        return f"{name}: none gets there: is there a detach(), .data, .item() or torch.no_grad() on the way?"
    if yours is None and name in ("result", ""):
        return f"Your code returned None, {expected}: is the return missing?"
    parts = enumerate(yours) if isinstance(yours, list) else yours.items() if isinstance(yours, dict) else ()
    for key, part in parts:
        if isinstance(part, Array) and compare(part, Expected(nominal, exact), judge) is None:
            return f"{_the(name)}: item {key} of the {len(yours)} you return is right; return it alone"
    plain_numbers = as_numbers(yours) if isinstance(yours, list | int | float) else None
    theirs = numbers(exact if isinstance(exact, Array) else nominal)
    if (
        plain_numbers is not None
        and plain_numbers.shape == theirs.shape
        and not wrong(plain_numbers, theirs, 3e-5).any()
    ):
        return f"{_the(name)}: {describe(yours)} with the right values, {expected}"
    return f"{_the(name)}: {describe(yours)}, {expected}"


def _raises(yours: Value, expected: Expected, judge: Raises) -> Difference | None:
    raised = yours.get("raised") if isinstance(yours, dict) else None
    if not isinstance(raised, list) or not all(isinstance(each, str) for each in raised):
        return Difference("type", "", f"The call gave {describe(yours)}, expected {judge.types[0]}")
    wanted = judge.types[0]
    if not yours["raised"]:
        return Difference("raises", "", f"Expected {wanted}; nothing was raised, the call {yours.get('message')}")
    if not set(judge.types) & set(yours["raised"]):
        return Difference("raises", "", f"Expected {wanted}; {yours['raised'][0]} was raised: {yours.get('message')}")
    unsaid = [each for each in expected.nominal["mentions"] if each not in str(yours.get("message"))]
    if unsaid and yours["raised"][0] != "AssertionError":
        return Difference("raises", "", f"The message of the {wanted} does not name {' and '.join(unsaid)}")
    return None


def _dropout(yours: Value, expected: Expected, judge: Dropout) -> Difference | None:
    """Judge everything but the training run by its likeness, then that one by what it dropped of your own."""
    if not isinstance(yours, dict) or "train" not in yours:
        return compare(yours, expected, Like(exact_zeros=True))
    steady = Expected(_without_train(expected.nominal), _without_train(expected.exact))
    if found := compare(_without_train(yours), steady, Like(exact_zeros=True)):
        return found
    train, full = yours["train"], yours["eval"]
    if found := _compare_forms(train, expected.nominal["train"], expected.exact["train"], Like(), "train"):
        return found
    wrong_so = dropped_wrongly(numbers(train), numbers(full), judge.rate)
    return Difference(wrong_so[0], "train", wrong_so[1], numbers(train), numbers(full)) if wrong_so else None


def _without_train(value: Mapping[str, Value]) -> dict[str, Value]:
    return {name: part for name, part in value.items() if name != "train"}


def _custom(judge: Callable[[Any, Any], str | None], yours: Value, expected: Expected) -> Difference | None:
    right = plain(expected.exact)
    try:
        sentence = judge(plain(yours), right)
    except Exception:
        judge(right, right)  # a judge that cannot even read what is right is the course's fault
        sentence = f"the result is {describe(yours)}, which cannot be compared with {describe(expected.nominal)}"
    return Difference("other", "", sentence) if sentence else None


def plain(value: Value) -> Any:
    """Return a value with its arrays as NumPy arrays, for a judge of the course's own."""
    if isinstance(value, Array):
        return numbers(value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return value


def describe(value: Value) -> str:
    """Name a value in a few words."""
    match value:
        case Array():
            return f"a tensor of shape {value.shape}"
        case Opaque():
            return f"a {value.type_name}" if " " not in value.type_name else value.type_name
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"a dict of {', '.join(map(str, value))}"
        case str():
            return repr(value[:60])
    return str(value)


def _the(name: str) -> str:
    return name or "your result"
