"""Compares arrays, which takes NumPy, and names the first difference as a fact."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.checks import Dropout, Like, Same
from autograder.comparison.arrays import Numbers, expected_numbers, numbers, wrong
from autograder.comparison.compare import Difference, Expected, compare
from autograder.comparison.dropout import dropped_wrongly
from autograder.comparison.likeness import resembles, target_of
from autograder.comparison.tolerances import TOLERANCES, is_floating
from autograder.messages import Fact
from autograder.messages import comparisons as facts
from autograder.messages.shapes import ShapeDiffers
from autograder.protocol import Array, Value


def plain_difference(yours: Value, nominal: Value, exact: Value, name: str) -> Difference:
    """Return the difference of a plain value that is wrong."""
    if isinstance(nominal, float) and isinstance(yours, float):
        expected = float(exact)
        fact = facts.NumberDiffers(yours, expected)
        return Difference(fact, name, np.array(yours), np.array(expected), ("number", "number"))
    return Difference(facts.PlainDiffers(yours, nominal, _is_right(yours, nominal)), name)


def _is_right(yours: Value, nominal: Value) -> bool:
    """Whether a tensor holds what is expected as a plain number, or as a list of them."""
    if not isinstance(yours, Array) or isinstance(nominal, str | dict) or nominal is None:
        return False
    wanted = as_numbers(nominal)
    return wanted is not None and _are_equal(numbers(yours), wanted)


def as_numbers(value: Value) -> Numbers | None:
    """Return a plain number, or a list of them, as an array; None where it is neither."""
    try:
        array = np.array(value)
    except ValueError:
        return None
    return array.astype(np.float64) if array.dtype.kind in "bif" else None


def compare_arrays(yours: Value, nominal: Array, exact: Value, judge: Same | Like, name: str) -> Difference | None:
    """Compare an array that is not equal to the last bit."""
    if found := _compare_forms(yours, nominal, exact, judge, name):
        return found
    assert isinstance(yours, Array)
    expected = exact if isinstance(exact, Array) else nominal
    mine, theirs = numbers(yours), expected_numbers(expected)
    tolerance = (judge.tolerance or TOLERANCES.get(nominal.dtype, 0.0)) if is_floating(nominal) else 0.0
    off = wrong(mine, theirs, tolerance, exact_zeros=judge.exact_zeros)
    if isinstance(judge, Like) and off.any():
        off &= _unlike(mine, expected, judge, name)
    return _differing(mine, theirs, (yours.dtype, nominal.dtype), off, name)


def _unlike(mine: Numbers, expected: Array, judge: Like, name: str) -> NDArray[np.bool_]:
    """Return which numbers are not even like the reference's: none of them, all, or those that are not to be zero."""
    theirs = expected_numbers(expected)
    unlike = ~np.isfinite(mine) & np.isfinite(theirs)
    if name in judge.free:
        return unlike
    if judge.exact_zeros:
        unlike |= (mine == 0) != (theirs == 0)
    return unlike if resembles(mine, target_of(expected), judge.likeness, judge.spread) else np.ones_like(unlike)


def compare_ways(yours: Value, nominal: Any, exact: Any, judge: Like, name: str) -> Difference | None:
    """Compare two ways to the same numbers with each other, and the first with the reference."""
    for way, theirs, exactly in zip(yours, nominal, exact, strict=True):
        if found := _compare_forms(way, theirs, exactly, judge, name):
            return found
    one, other = (numbers(way) for way in yours)
    expected: Array = exact[0] if isinstance(exact[0], Array) else nominal[0]
    theirs, there = expected_numbers(expected), np.isfinite(expected_numbers(nominal[1]))
    dtypes = nominal[0].dtype, nominal[1].dtype
    if (gone := there & ~np.isfinite(other)).any():
        return _differing(other, theirs, dtypes, gone, name)
    tolerances = [TOLERANCES[way.dtype] for way in nominal if is_floating(way)]
    off = wrong(one, other, (judge.tolerance or max(tolerances)) if tolerances else 0.0) & there
    if judge.exact_zeros:
        off |= ((one == 0) != (other == 0)) & there
    if off.any():
        return _differing(one, other, dtypes, off, name)
    if name in judge.free or resembles(one, target_of(expected, nominal[1]), judge.likeness, judge.spread):
        return None
    off = wrong(one, theirs, TOLERANCES["float32"])
    return _differing(one, theirs, (dtypes[0], dtypes[0]), off, name)


def _compare_forms(yours: Value, nominal: Array, exact: Value, judge: Same | Like, name: str) -> Difference | None:
    """Compare all of a tensor but its numbers."""
    if not isinstance(yours, Array):
        return Difference(_in_place_of_tensor(yours, nominal, exact, judge, name), name)
    is_on_device = yours.device.split(":")[0] == nominal.device.split(":")[0]
    if yours.shape == nominal.shape and is_on_device and yours.dtype == nominal.dtype:
        return None
    mine, theirs = numbers(yours), expected_numbers(exact if isinstance(exact, Array) else nominal)
    dtypes = yours.dtype, nominal.dtype
    if yours.shape != nominal.shape:
        return Difference(ShapeDiffers(yours.shape, nominal.shape), name, mine, theirs, dtypes)
    if not is_on_device:
        return Difference(facts.DeviceDiffers(yours.device), name)
    tolerance = judge.tolerance or TOLERANCES.get(nominal.dtype, 0.0)
    is_right = not wrong(mine, theirs, max(tolerance, TOLERANCES["float32"])).any()
    return Difference(facts.DtypeDiffers(*dtypes, is_right), name, mine, theirs, dtypes)


def _differing(
    mine: Numbers, theirs: Numbers, dtypes: tuple[str, str], off: NDArray[np.bool_], name: str
) -> Difference | None:
    """Return the difference of two arrays that differ where `off` says."""
    if not off.any():
        return None
    odd = off & ~np.isfinite(mine) & np.isfinite(theirs)
    fact: Fact = facts.ValuesDiffer(int(off.sum()), off.size)
    if odd.any():
        nan = np.isnan(mine[odd])
        fact = facts.NotFinite(int(odd.sum()), odd.size, bool(nan.any()), not nan.all())
    return Difference(fact, name, mine, theirs, dtypes, off)


def _in_place_of_tensor(yours: Value, nominal: Array, exact: Value, judge: Same | Like, name: str) -> Fact:
    """Return what stands where a tensor is expected, and whether the right one is in it."""
    if yours is None and "gradient" in name:
        return facts.GradientMissing()
    if yours is None and (not name or name.startswith(("result", "output"))):
        return facts.NoneReturned(nominal)
    parts = enumerate(yours) if isinstance(yours, list) else yours.items() if isinstance(yours, dict) else ()
    for key, part in parts:
        if isinstance(part, Array) and compare(part, Expected(nominal, exact), judge) is None:
            return facts.TensorInside(key, len(yours) if isinstance(yours, list | dict) else 1)
    plain_numbers = as_numbers(yours) if isinstance(yours, list | int | float) else None
    theirs = numbers(exact if isinstance(exact, Array) else nominal)
    is_right = plain_numbers is not None and _are_equal(plain_numbers, theirs)
    return facts.NotATensor(yours, nominal, is_right)


def _are_equal(one: Numbers, other: Numbers) -> bool:
    """Whether two arrays hold the same numbers in the same shape, up to the rounding of float32."""
    return one.shape == other.shape and not wrong(one, other, TOLERANCES["float32"]).any()


def judge_dropout(yours: Value, expected: Expected, judge: Dropout) -> Difference | None:
    """Judge everything but the training run by its likeness, then that one by what it dropped of your own."""
    if not isinstance(yours, dict) or "train" not in yours:
        return compare(yours, expected, Like(exact_zeros=True))
    steady = Expected(_without_train(expected.nominal), _without_train(expected.exact))
    if found := compare(_without_train(yours), steady, Like(exact_zeros=True)):
        return found
    train, full = yours["train"], yours["eval"]
    if found := _compare_forms(train, expected.nominal["train"], expected.exact["train"], Like(), "train"):
        return found
    fact = dropped_wrongly(numbers(train), numbers(full), judge.rate)
    return Difference(fact, "train", numbers(train), numbers(full)) if fact else None


def _without_train(value: Mapping[str, Value]) -> dict[str, Value]:
    return {name: part for name, part in value.items() if name != "train"}
