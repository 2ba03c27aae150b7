"""Arrays in the judge: as NumPy arrays of float64, what of them differs by more than rounding, and their sketches."""

import hashlib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograder.checks import LEAST_RESULTS, Dropout, Judge, Like, Raises, Same, Within
from autograder.protocol import ITEM_SIZES, Array, Opaque, Value
from autograder.results import Fact
from autograder.runner import CourseProblem, Fault, Observed, Outcome

from .compare import (
    SMALLEST_SCALE,
    TOLERANCES,
    Difference,
    Expected,
    compare,
    described,
    differing_values,
    incomparable_result,
    is_floating,
    judge_observation,
    odd_numbers,
    other_number,
    other_shape,
    other_value,
    with_parts,
)

Numbers: TypeAlias = NDArray[np.float64]

_LITTLE_ENDIAN = {dtype: np.dtype(dtype).newbyteorder("<") for dtype in ITEM_SIZES if dtype != "bfloat16"}

MOST_EXPECTED = 1 << 14
"""The most expected arrays that are kept as float64: a class needs those of all its checks again and again."""


def numbers(array: Array) -> Numbers:
    """Return the elements as float64, in their shape."""
    if array.dtype == "bfloat16":
        halves = np.frombuffer(array.data, dtype="<u2").astype(np.uint32)
        flat = (halves << 16).view(np.float32)
    else:
        flat = np.frombuffer(array.data, dtype=_LITTLE_ENDIAN[array.dtype])
    with np.errstate(invalid="ignore"):  # bytes read at a wrong place may be signalling NaN
        return flat.astype(np.float64).reshape(array.shape)


@lru_cache(maxsize=MOST_EXPECTED)
def expected_numbers(array: Array) -> Numbers:
    """Return the elements of an array that many others are compared with, as float64: read-only, and made once."""
    values = numbers(array)
    values.setflags(write=False)
    return values


def as_array(values: Numbers, dtype: str, device: str) -> Array:
    """Return numbers as an array of a dtype with floating-point numbers; what is too large for it is infinite."""
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            whole = np.where(np.isfinite(values), values, 0.0).astype("<f4").view("<u4")
            halves = (whole + 0x7FFF + (whole >> 16 & 1)) >> 16  # to the nearest, of two the even one
            odd = values.astype("<f4").view("<u4") >> 16
            data = np.where(np.isfinite(values), halves, odd).astype("<u2").tobytes()
        else:
            data = values.astype(_LITTLE_ENDIAN[dtype]).tobytes()
    return Array(dtype, values.shape, data, device)


def special(values: Numbers) -> NDArray[np.int8]:
    """Return what is special about each number: 2 for NaN, 1 and -1 for an infinity, else 0."""
    with np.errstate(invalid="ignore"):
        found: NDArray[np.int8] = np.where(np.isnan(values), 2, np.isinf(values) * np.sign(values)).astype("i1")
    return found


def allowed(expected: Numbers, tolerance: float) -> float:
    """Return the largest difference that is still rounding."""
    largest = float(np.abs(expected).max(initial=0.0))
    if not math.isfinite(largest):
        largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
    return tolerance * max(largest, SMALLEST_SCALE)


def wrong(yours: Numbers, expected: Numbers, tolerance: float, *, exact_zeros: bool = False) -> NDArray[np.bool_]:
    """Return where two arrays of one shape differ by more than rounding; infinities and NaN must coincide."""
    with np.errstate(invalid="ignore"):
        close = np.abs(yours - expected) <= allowed(expected, tolerance)
    if not exact_zeros and close.all():
        return np.asarray(~close, dtype=np.bool_)
    same = (yours == expected) | (np.isnan(yours) & np.isnan(expected))
    if exact_zeros:
        close &= (expected != 0) | (yours == 0)
    return np.asarray(~(close | same), dtype=np.bool_)


# Makes a fingerprint of a wrong result: equal for programs that compute the same, so that it groups failures.
#
# It is made of a few numbers that depend on every element, rounded more coarsely than programs differ that compute
# the same in another order. A number between two roundings is rare, and only splits a group in two.

PROJECTIONS = (0.618, 1.414, 2.236, 2.718)
"""The frequencies of the waves that weight the elements: each gives another sum of the same array."""

DECIMALS = {"float16": 2, "bfloat16": 1}
"""Decimals of a weighted sum, relative to the array; `MOST_DECIMALS` in dtypes with more digits."""

MOST_DECIMALS = 3
DIGITS = 16


def fingerprint(names: Sequence[str], trials: Sequence[Value]) -> str:
    """Return the fingerprint of a check's observations in hexadecimal digits; `names` say which check."""
    digest = hashlib.sha256(repr(tuple(names)).encode())
    for observation in trials:
        for line in _described(observation):
            digest.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:DIGITS]


def _described(value: Value) -> Iterator[str]:
    match value:
        case Array():
            yield f"{value.dtype} {value.shape} {value.device}"
            yield _described_array(value)
        case Opaque():
            yield f"opaque {value.type_name}"
        case dict():
            yield f"dict of {len(value)}"
            for key, part in value.items():
                yield repr(key)
                yield from _described(part)
        case list() | tuple():
            yield f"list of {len(value)}"
            for part in value:
                yield from _described(part)
        case float():
            yield f"{value:.{MOST_DECIMALS}e}"
        case _:
            yield repr(value)


def _described_array(array: Array) -> str:
    flat = numbers(array).reshape(-1)
    if not is_floating(array):
        return hashlib.sha256(flat.tobytes()).hexdigest()
    odd = ~np.isfinite(flat)
    finite = np.where(odd, 0.0, flat)
    places = hashlib.sha256(np.where(odd, np.nan_to_num(flat, nan=0.5, posinf=1, neginf=-1), 0.0).tobytes())
    return f"{_weighted(finite, DECIMALS.get(array.dtype, MOST_DECIMALS))} {places.hexdigest() if odd.any() else ''}"


def _weighted(flat: Numbers, decimals: int) -> str:
    """Return the length of an array, and its sums weighted with waves, relative to the length."""
    largest = float(np.abs(flat).max(initial=0.0))
    if largest == 0.0:
        return "zero"
    length = float(np.linalg.norm(flat / largest))
    at = np.arange(1, flat.size + 1)
    sums = (float(np.dot(flat / largest, np.cos(step * at))) / length for step in PROJECTIONS)
    return " ".join(
        [f"{length * largest:.{decimals}e}", *(f"{round(sum_, decimals) + 0.0:.{decimals}f}" for sum_ in sums)]
    )


# Compares the elements that a training run dropped with those that dropout drops.

CHANCE = 1e-6
"""The probability below which a result of dropout is called wrong, so that chance costs nobody points."""


def dropped_wrongly(train: Numbers, full: Numbers, rate: float) -> Fact | None:
    """Return what is wrong with `train` as `full` with a share of `rate` dropped and the rest scaled."""
    odd = ~np.isfinite(train)
    if odd.any():
        nan = np.isnan(train[odd])
        return odd_numbers(int(odd.sum()), odd.size, bool(nan.any()), not nan.all())
    there = _comparable(full)
    count = max(int(there.sum()), 1)
    # Six standard errors of a share: a right program exceeds them once in 500 million runs.
    share, margin = float((train[there] == 0).sum()) / count, 6 * (rate * (1 - rate) / count) ** 0.5
    if abs(share - rate) > margin:
        says = f"In train mode {share:.0%} of the elements are zero, expected about {rate:.0%}"
        return Fact("dropout", says, whole=True)
    kept = there & (train != 0)
    ratio = train[kept] / full[kept]
    # More than rounding in float32, and less than a rate that is off by 0.01.
    if np.abs(ratio * (1 - rate) - 1).max(initial=0.0) > 1e-3:
        low, high = (float(np.quantile(ratio, share)) for share in (0.05, 0.95))  # without a few odd ones
        is_one = high - low < 1e-3 * abs(high)
        factor = f"{float(np.median(ratio)):.3g}" if is_one or low == high else f"{low:.3g} to {high:.3g}"
        expected = f"1 / (1 - {rate}) = {1 / (1 - rate):.3g} ×"
        return Fact("dropout", f"In train mode what is kept is {factor} × its value, expected {expected}", whole=True)
    says = "In train mode the same places are dropped all along an axis, expected others each time"
    return Fact("dropout", says, whole=True) if shared_axes(train, full, rate) else None


def shared_axes(train: Numbers, full: Numbers, rate: float) -> tuple[int, ...]:
    """Return the axes along which all or nothing was dropped, where that is not by chance."""
    there = _comparable(full)
    dropped, kept = there & (train == 0), there & (train != 0)
    if not dropped.any():
        return ()
    whole = (axis for axis in range(there.ndim) if not (dropped.any(axis) & kept.any(axis)).any())
    return tuple(axis for axis in whole if _by_chance(there.sum(axis), rate) < CHANCE)


def _by_chance(sizes: NDArray[np.int_], rate: float) -> float:
    """Return the probability that each group of these sizes is dropped whole or kept whole."""
    groups = sizes[sizes > 0]
    return float(np.prod(rate**groups + (1 - rate) ** groups))


def _comparable(full: Numbers) -> NDArray[np.bool_]:
    """Return where a number is so far from 0 that a 0 in its place comes from dropout."""
    # Train and eval may round differently; near 0 this decides the ratio of the two.
    size = np.abs(full)
    return size > float(1e-2 * size.max(initial=0.0))


# Whether an array resembles the expected one. What is known of an expected array is computed once for a class.

FEWEST = 4
"""The minimum of numbers for a correlation: two always lie on a line, three nearly always near one."""

CHANCE_ERRORS = 3.29
"""Standard errors that a correlation needs: random numbers reach it once in a thousand times."""


@dataclass(frozen=True)
class Target:
    """Expected numbers, of which only those that are `there` count: finite ones; `chosen` are these.

    With `is_equality` they have to be equal. Else `direction` is what another array is compared with: it is without
    the mean of its vectors if `axes` are given, and without its mean, and has the length `spread`. `chance` is the
    correlation that random numbers hardly ever reach.
    """

    chosen: Numbers
    there: NDArray[np.bool_]
    is_all: bool
    is_equality: bool
    axes: tuple[int, ...] | None
    direction: Numbers
    spread: float
    chance: float


@lru_cache(maxsize=MOST_EXPECTED)
def target_of(expected: Array, other_way: Array | None = None) -> Target:
    """Return what an array has to resemble; of two ways to the same numbers, those count that both have."""
    values = expected_numbers(expected)
    if other_way is not None:
        values = np.where(np.isfinite(expected_numbers(other_way)), values, np.nan)
    there = np.isfinite(values)
    is_all, chosen = bool(there.all()), values[there]
    if chosen.size < FEWEST or float(np.ptp(chosen)) / 2 <= allowed(chosen, TOLERANCES["float32"]):
        return Target(chosen, there, is_all, True, None, chosen, 0.0, 1.0)
    axes, count = _apart(values) if is_all else (None, chosen.size)
    with np.errstate(over="ignore", invalid="ignore"):
        direction = _centred(values if is_all else chosen, axes)
        spread = math.sqrt(float(direction @ direction))
    chance = math.tanh(CHANCE_ERRORS / math.sqrt(max(count, FEWEST) - 3))  # Fisher's transformation
    return Target(chosen, there, is_all, False, axes, direction, spread, chance)


def resembles(yours: Numbers, target: Target, likeness: float, factor: float | None = None) -> bool:
    """Return whether two arrays of one shape are alike: their correlation, whatever its sign, is at least `likeness`.

    Only numbers that are expected to be finite count. Few of them have to correlate more, so that none resembles by
    chance, and fewer than `FEWEST` have to be equal. The same holds where all that is expected is one number. With a
    `factor`, one varies at most that many times as much as the other.
    """
    chosen = yours if target.is_all else yours[target.there]
    if not np.isfinite(chosen).all():
        return False
    if target.is_equality:
        return not wrong(chosen.ravel(), target.chosen, TOLERANCES["float32"]).any()
    with np.errstate(over="ignore", invalid="ignore"):
        direction = _centred(chosen, target.axes)
        if float(np.abs(direction).max()) <= allowed(yours, TOLERANCES["float64"]):
            return False  # equal up to rounding, and rounding may resemble anything
        mine, theirs = math.sqrt(float(direction @ direction)), target.spread
        if factor is not None and not theirs / factor <= mine <= theirs * factor:
            return False
        return abs(float(direction @ target.direction)) >= max(likeness, target.chance) * mine * theirs


def _apart(expected: Numbers) -> tuple[tuple[int, ...] | None, int]:
    """Return the axes of the vectors whose mean does not count, if any, and the count of numbers left to compare.

    A bias that is added to every vector is a parameter: a program that returns it has computed nothing. Whole numbers,
    as ids and masks are, have none. Where vectors are as good as alike, there are the numbers of one to compare.
    """
    axes = tuple(range(expected.ndim - 1))
    if (expected == np.rint(expected)).all() or math.prod(expected.shape[:-1]) < FEWEST:
        return None, expected.size
    if np.abs(expected - expected.mean(axis=axes, keepdims=True)).max() <= allowed(expected, TOLERANCES["float16"]):
        return None, expected.shape[-1]
    return axes, expected.size


def _centred(values: Numbers, axes: tuple[int, ...] | None) -> Numbers:
    """Return numbers without the mean of their vectors, if there are such axes, and without their mean."""
    apart = values if axes is None else values - values.mean(axis=axes, keepdims=True)
    centred: Numbers = apart.ravel() - apart.mean()
    return centred


# Compares arrays, which takes NumPy, and names the first difference as a fact.


def plain_difference(yours: Value, nominal: Value, exact: Value, name: str) -> Difference:
    """Return the difference of a plain value that is wrong."""
    if isinstance(nominal, float) and isinstance(yours, float):
        expected = float(exact)
        fact = other_number(yours, expected)
        own = np.array(yours), np.array(expected)
        return Difference(fact, name, *own, ("number", "number"), plain=(yours, expected))
    return Difference(other_value(yours, nominal, _is_right(yours, nominal)), name, plain=(yours, nominal))


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
        return Difference(other_shape(yours.shape, nominal.shape), name, mine, theirs, dtypes)
    if not is_on_device:
        return Difference(Fact("device", f"on the device {yours.device}, expected the device of the input"), name)
    # The numbers of a judge Like are compared here alone: its own tolerance is that of two ways.
    tolerances = (TOLERANCES.get(dtype, 0.0) for dtype in (*dtypes, "float32"))
    is_wrong = wrong(mine, theirs, max(judge.tolerance or 0.0, *tolerances)).any()
    values = "its values differ too" if is_wrong else "its values are right"
    fact = Fact("dtype", f"{yours.dtype}, expected {nominal.dtype}", (values,))
    return Difference(fact, name, mine, theirs, dtypes)


def _differing(
    mine: Numbers, theirs: Numbers, dtypes: tuple[str, str], off: NDArray[np.bool_], name: str
) -> Difference | None:
    if not off.any():
        return None
    odd = off & ~np.isfinite(mine) & np.isfinite(theirs)
    fact = differing_values(int(off.sum()), off.size)
    if odd.any():
        nan = np.isnan(mine[odd])
        fact = odd_numbers(int(odd.sum()), odd.size, bool(nan.any()), not nan.all())
    return Difference(fact, name, mine, theirs, dtypes, off)


def _in_place_of_tensor(yours: Value, nominal: Array, exact: Value, judge: Same | Like, name: str) -> Fact:
    """Return what stands where a tensor is expected, and whether the right one is in it."""
    if yours is None and "gradient" in name:
        asks = "Is there a detach(), .data, .item() or torch.no_grad() on the way?"
        return Fact("type", "no gradient arrives", asks=asks)
    if yours is None and (not name or name.startswith(("result", "output"))):
        says = f"Your code returned None, expected {described(nominal)}"
        return Fact("none", says, asks="Is the return missing?", whole=True)
    parts = enumerate(yours) if isinstance(yours, list) else yours.items() if isinstance(yours, dict) else ()
    for key, part in parts:
        if isinstance(part, Array) and compare(part, Expected(nominal, exact), judge) is None:
            count = len(yours) if isinstance(yours, list | dict) else 1
            return Fact("type", f"item {key} of the {count} you return is right", ("return it alone",))
    plain_numbers = as_numbers(yours) if isinstance(yours, list | int | float) else None
    theirs = numbers(exact if isinstance(exact, Array) else nominal)
    values = " with the right values" if plain_numbers is not None and _are_equal(plain_numbers, theirs) else ""
    return Fact("type", f"{described(yours)}{values}, expected {described(nominal)}")


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


def judge_random(yours: Value, expected: Value, judge: Within, name: str = "") -> Difference | None:
    """Judge many random results by the mean and the standard deviation of each number."""
    if isinstance(expected, dict) and isinstance(yours, dict) and list(yours) == list(expected):
        parts = (judge_random(yours[key], value, judge, key) for key, value in expected.items())
        return next((found for found in parts if found is not None), None)
    mine, theirs = _results(yours), _results(expected)
    if theirs is None and not isinstance(expected, dict):
        raise CourseProblem(f"a check with the judge Within returns no list or array of {LEAST_RESULTS} results")
    if mine is None or theirs is None or mine.shape != theirs.shape:
        is_list = isinstance(yours, list) and isinstance(expected, list) and len(yours) == len(expected)
        odd = Fact("other", "not every result is a number, or an array of the expected shape")
        return Difference(odd if is_list else incomparable_result(yours, expected), name)
    means, centre = (mine.mean(axis=0), theirs.mean(axis=0)), np.median(theirs, axis=0)
    # How far from the centre the numbers are, as Brown and Forsythe (1974) do: long tails do not mislead that test.
    far, far_expected = np.abs(mine - centre), np.abs(theirs - centre)
    for what, pair, values, shown in (
        ("mean", means, (mine, theirs), means),
        ("spread", (far.mean(axis=0), far_expected.mean(axis=0)), (far, far_expected), None),
    ):
        error = _standard_error(*values)
        errors = np.nan_to_num(np.abs(pair[0] - pair[1]) / error, nan=np.inf)
        if errors.max() > judge.standard_errors:
            at = int(errors.argmax())
            one, other = shown or (mine.std(axis=0, ddof=1), theirs.std(axis=0, ddof=1))
            margin = judge.standard_errors * float(error[at])
            fact = _other_distribution(what == "mean", len(theirs), float(one[at]), float(other[at]), margin)
            return Difference(fact, name)
    return None


def _other_distribution(is_mean: bool, count: int, yours: float, expected: float, margin: float) -> Fact:
    if is_mean:
        asks = "What is the mean by hand? Which step of yours moves it up or down?"
        for digits in range(3, 17):  # as many as show that the mean is outside of the margin
            mine, theirs, most = f"{yours:.{digits}g}", f"{expected:.{digits}g}", f"{margin:.{digits - 2}g}"
            if abs(float(mine) - float(theirs)) > 1.001 * float(most):
                break
        says = f"the mean of {count} results is {mine}, expected {theirs}"
        return Fact("distribution", f"{says}, give or take {most}", asks=asks)
    asks = "How much does one result differ from the next? Count the random numbers that go into one of them."
    if yours == 0:
        asks = "Is every result the same? Each one needs new random numbers."
    says = f"{count} results have a standard deviation of {yours:.3g}, expected about {expected:.3g}"
    return Fact("distribution", says, asks=asks)


def _standard_error(yours: Numbers, expected: Numbers) -> Numbers:
    """Return the standard error of the difference of two means, from both samples.

    Yours counts up to nine times the variance of the reference's, so that wild numbers do not excuse themselves.
    """
    least = 1e-6 * np.abs(expected).max(axis=0) + np.finfo(float).tiny
    own, other = yours.var(axis=0, ddof=1), expected.var(axis=0, ddof=1)
    return np.asarray(np.sqrt((np.fmin(own, 9 * other) + other) / len(expected)) + least)


def _results(value: Value) -> Numbers | None:
    """Return results as an array (results, numbers); None if it is not that, or has too few."""
    if isinstance(value, Array):
        made = numbers(value)
    elif isinstance(value, list):
        try:
            made = np.asarray([np.ravel(numbers(row) if isinstance(row, Array) else np.asarray(row)) for row in value])
        except ValueError:  # rows of several lengths
            return None
    else:
        return None
    if made.ndim == 0 or len(made) < LEAST_RESULTS or made.dtype.kind not in "biuf" or made.size == 0:
        return None
    return made.reshape(len(made), -1).astype(np.float64)


# Sketches of what wrong programs return: a few sums of an array, by which another program's array is recognised.
#
# A sketch of an array has 16 sums: each of every 16th number, with weights that depend on the size of the array alone.
# Arrays that agree up to rounding have sums that agree up to rounding. Arrays that differ in many numbers differ in
# every sum. If a single number differs, its sum differs by that much over the root of the count of its numbers.

SUMS = 16
"""The sums of an array; with so few numbers or fewer, they are the numbers themselves."""

STEP_BITS = 2
"""A step of the sums that are kept is at most the difference allowed, halved so many times."""

LOOSEST = 1e-4
"""A check may tolerate more between right programs; two wrong ones are the same if they agree as far as this."""

SAME_SHARE = 0.04
"""Two programs that drop at random do the same if shares and quantiles differ by less: more than chance makes them."""

MOST = 1e303
"""Larger numbers of an array count as this, so that no sum is infinite."""

DIGEST_SIZE = 6
KEPT_DECIMALS = 4

SEVERAL_NUMBERS = 2
"""The numbers by which two messages say the same: one is the size of too many things."""

OWN_WORDS = {"ValueError", "AssertionError"}
"""The exceptions that programs raise with messages of their own."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class ArraySketch:
    """An array in brief: its form, a digest of what must be equal to the last bit, and its weighted sums.

    To the last bit: all of an array of whole numbers, and the places of NaN and infinities. `off` is the largest
    difference of a sum that is still rounding.
    """

    dtype: str
    shape: tuple[int, ...]
    device: str
    digest: bytes
    off: float
    sums: tuple[float, ...]


@dataclass(frozen=True)
class Sketch:
    """What a wrong program gave in one trial: a value with its arrays in brief, or the type and text of an exception.

    `judged` is a digest of the sentence of the course's own judge, if the check has one.
    """

    value: Value = None
    fault: tuple[str, str] | None = None
    judged: str | None = None


Sums = dict[int, Numbers]
"""The sums of a submission's arrays by the ids of the arrays, so that each array is summed once."""


def sketch(outcome: Outcome, judge: Judge, expected: Expected) -> Sketch | None:
    """Return what is kept of a wrong outcome; None for one by which no program can be recognised."""
    if isinstance(outcome, Fault):
        return Sketch(fault=(outcome.type, outcome.message))
    if not isinstance(outcome, Observed):
        return None
    value, tolerance = outcome.value, _tolerance(judge)
    if isinstance(judge, Dropout) and isinstance(value, dict):
        return Sketch({**_in_brief(_without_train(value), tolerance), **_trained(value, judge.rate)})
    return Sketch(_in_brief(value, tolerance), judged=_judgement(value, judge, expected))


def is_same(yours: Outcome, theirs: Sketch | None, judge: Judge, expected: Expected, sums: Sums) -> bool:
    """Return whether a program did what a sketch was made of."""
    if theirs is None:
        return False
    if isinstance(yours, Fault):
        return theirs.fault is not None and _says_alike(yours, *theirs.fault)
    if not isinstance(yours, Observed) or theirs.fault is not None:
        return False
    mine, tolerance = yours.value, _tolerance(judge)
    if isinstance(judge, Dropout) and isinstance(mine, dict) and isinstance(theirs.value, dict):
        steady = _is_alike(_without_train(mine), _without_train(theirs.value), tolerance, sums)
        return steady and _drops_alike(_trained(mine, judge.rate)["train"], theirs.value["train"])
    if isinstance(judge, Raises) and isinstance(mine, dict) and isinstance(theirs.value, dict):
        return _raises_alike(mine, theirs.value)
    if _is_alike(mine, theirs.value, tolerance, sums):
        return True
    if isinstance(judge, Like) and _is_alike_but_for(judge.free, mine, theirs.value, tolerance, sums):
        return True
    # Random results need not be the same: what the judge says of them is.
    return theirs.judged is not None and theirs.judged == _judgement(mine, judge, expected)


def _says_alike(yours: Fault, type_: str, message: str) -> bool:
    """Return whether an exception says what another one says, or has its numbers in other words.

    Several operators refuse one tensor on a wrong device, and programs refuse one condition in words of their own. In
    the words of torch and of the checks, the numbers are shapes: many mistakes lead to the same.
    """
    if yours.type != type_ or yours.message == message:
        return yours.type == type_
    if yours.kind != "device" and yours.type not in OWN_WORDS:
        return False
    mine = _NUMBER.findall(yours.message)
    return len(mine) >= SEVERAL_NUMBERS and mine == _NUMBER.findall(message)


def is_raised_alike(yours: Outcome, theirs: Sketch | None, *, any_type: bool = False) -> bool:
    """Return whether a program raised an exception of the type that a sketch was made of, in whatever words."""
    if not isinstance(yours, Fault) or yours.kind != "other" or theirs is None or theirs.fault is None:
        return False
    return any_type or theirs.fault[0] == yours.type


def _tolerance(judge: Judge) -> float | None:
    tolerance = judge.tolerance if isinstance(judge, Same | Like) else None
    return min(tolerance, LOOSEST) if tolerance else None


def _judgement(value: Value, judge: Judge, expected: Expected) -> str | None:
    """Return a digest of what the course's own judge says; None if it accepts the value, or the judge is another."""
    difference = judge_observation(value, expected, judge) if callable(judge) else None
    return None if difference is None else hashlib.sha256(repr(difference.fact).encode()).hexdigest()[:12]


def _in_brief(value: Any, tolerance: float | None) -> Any:
    """Return a value with each array as its sketch, and with the digits of its numbers that can be compared."""
    digits = 3 - math.floor(math.log10(tolerance or TOLERANCES["float32"]))

    def brief(part: Any) -> Any:
        if isinstance(part, Array):
            return _array_in_brief(part, tolerance)
        return float(f"{part:.{digits}g}") if isinstance(part, float) else part

    return with_parts(brief, value)


def _array_in_brief(array: Array, tolerance: float | None) -> ArraySketch:
    form = array.dtype, array.shape, _kind(array), _digest(array)
    if not is_floating(array):
        return ArraySketch(*form, 0.0, ())
    off = _short(allowed(numbers(array), tolerance or TOLERANCES[array.dtype]))
    step = step_of(off)
    return ArraySketch(*form, off, tuple((np.rint(_sums(array) / step) * step).tolist()))


def _short(number: float) -> float:
    """Return a number with its first eight bits."""
    fraction, exponent = math.frexp(number)
    return math.ldexp(round(fraction * 256), exponent - 8)


def step_of(off: float) -> float:
    """Return the step in which sums are kept, a power of two, from the largest difference that is rounding."""
    return float(2.0 ** (math.floor(math.log2(off)) - STEP_BITS))


def sums_of(shape: Sequence[int]) -> int:
    """Return how many sums an array of a shape has."""
    return min(SUMS, math.prod(shape))


def _sums(array: Array) -> Numbers:
    """Return the weighted sums of the finite numbers of an array, each as large as one of its numbers."""
    flat = numbers(array).reshape(-1)
    flat = np.clip(np.where(np.isfinite(flat), flat, 0.0), -MOST, MOST)
    if flat.size <= SUMS:
        return flat
    weights = _weights(flat.size)
    padded = np.zeros(weights.shape)
    padded.reshape(-1)[: flat.size] = flat
    sums: Numbers = (padded * weights).sum(axis=0)
    return sums


@lru_cache(maxsize=128)
def _weights(size: int) -> Numbers:
    """Return the weights of so many numbers, one column for each sum; the squares of a column add up to 1."""
    mixed = np.arange(1, -(-size // SUMS) * SUMS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)  # the mixing steps of SplitMix64
    signs = np.where(mixed >> np.uint64(63), 1.0, -1.0)
    weights = signs * (0.5 + (mixed >> np.uint64(31) & np.uint64(0xFFFF)) / 65536)
    weights[size:] = 0.0
    columns = weights.reshape(-1, SUMS)
    normed: Numbers = columns / np.sqrt((columns**2).sum(axis=0))
    return normed


def _is_alike(mine: Any, theirs: Any, tolerance: float | None, sums: Sums) -> bool:
    match theirs:
        case ArraySketch():
            return isinstance(mine, Array) and _is_array_alike(mine, theirs, sums)
        case dict():
            named = isinstance(mine, dict) and mine.keys() == theirs.keys()
            return named and all(_is_alike(mine[name], part, tolerance, sums) for name, part in theirs.items())
        case list():
            listed = isinstance(mine, list) and len(mine) == len(theirs)
            return listed and all(_is_alike(*pair, tolerance, sums) for pair in zip(mine, theirs, strict=True))
        case float():
            off = tolerance or TOLERANCES["float32"]
            return isinstance(mine, float) and not wrong(np.array(mine), np.array(theirs), off).any()
    return type(mine) is type(theirs) and bool(mine == theirs)


def _is_alike_but_for(free: Collection[str], mine: Any, theirs: Any, tolerance: float | None, sums: Sums) -> bool:
    """Return whether it is, but for the numbers of the parts that each program may choose, if they are finite."""
    if not (free and isinstance(mine, dict) and isinstance(theirs, dict) and mine.keys() == theirs.keys()):
        return False
    return all(
        _is_form_alike(mine[name], part) if name in free else _is_alike(mine[name], part, tolerance, sums)
        for name, part in theirs.items()
    )


def _is_form_alike(mine: Any, theirs: Any) -> bool:
    """Return whether a value has the form of another one in brief, and is finite where that one is."""
    match theirs:
        case ArraySketch():
            return isinstance(mine, Array) and _is_array_alike(mine, replace(theirs, sums=()), {})
        case float():
            return isinstance(mine, float) and math.isfinite(mine) == math.isfinite(theirs)
    return _is_alike(mine, theirs, None, {})


def _is_array_alike(mine: Array, theirs: ArraySketch, sums: Sums) -> bool:
    if (mine.dtype, mine.shape, _kind(mine)) != (theirs.dtype, theirs.shape, theirs.device):
        return False
    if theirs.sums:
        if id(mine) not in sums:
            sums[id(mine)] = _sums(mine)
        if (np.abs(sums[id(mine)] - np.array(theirs.sums)) > theirs.off).any():
            return False
    return _digest(mine) == theirs.digest


def _raises_alike(mine: Mapping[str, Value], theirs: Mapping[str, Value]) -> bool:
    """Return whether two programs raise the same; where nothing is raised, whether the same was observed."""
    raised = mine.get("raised"), theirs.get("raised")
    return raised[0] == raised[1] and (raised[0] != [] or mine.get("returned") == theirs.get("returned"))


def _kind(array: Array) -> str:
    return array.device.split(":")[0]


def _digest(array: Array) -> bytes:
    """Return a digest of an array of whole numbers; of others, of the places of NaN and infinities if there are any."""
    data = array.data
    if is_floating(array):
        values = numbers(array)
        if np.isfinite(values).all():
            return b""
        data = special(values).tobytes()
    return hashlib.sha256(data).digest()[:DIGEST_SIZE]


def _trained(value: Mapping[str, Value], rate: float) -> dict[str, Value]:
    """Return what a training run dropped of its result: the axes along which it dropped all or nothing, and its size.

    Programs that drop at random are compared by that.
    """
    train, full = value.get("train"), value.get("eval")
    if not (isinstance(train, Array) and isinstance(full, Array)):
        return {"train": [type(train).__name__]}
    if train.shape != full.shape:
        return {"train": [list(train.shape)]}
    return {"train": [list(train.shape), list(shared_axes(numbers(train), numbers(full), rate)), _kept(train, full)]}


def _drops_alike(one: list[Any], other: list[Any]) -> bool:
    if one[:2] != other[:2] or len(one) != len(other):
        return False
    return len(one) < 3 or float(np.abs(np.subtract(one[2], other[2])).max()) < SAME_SHARE


def _kept(train: Array, full: Array) -> list[float]:
    """Return the quantiles of the kept elements over their full values, the share of zeros, and that of NaN."""
    values, wholes = numbers(train), numbers(full)
    there = _comparable(wholes)
    if not there.any():
        return [0.0] * 7
    ratio = values[there] / wholes[there]
    kept = ratio[np.isfinite(ratio) & (ratio != 0)]
    quantiles = np.quantile(kept, (0.05, 0.25, 0.5, 0.75, 0.95)) if kept.size else np.zeros(5)
    shares = (ratio == 0).mean(), np.isnan(ratio).mean()
    return [round(float(number), KEPT_DECIMALS) for number in (*quantiles, *shares)]
