"""Arrays in the judge: as NumPy arrays of float64, and what of them differs by more than rounding."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograder.checks import LEAST_RESULTS, Dropout, Like, Same, Within
from autograder.protocol import ITEM_SIZES, Array, Opaque, Value
from autograder.results import Fact
from autograder.runner import CourseProblem

from .compare import SMALLEST_SCALE, TOLERANCES, Difference, Expected, compare, is_floating
from .facts import (
    DROPPED_TOGETHER,
    MISSING_GRADIENT,
    ODD_RESULT,
    differing_values,
    dropped_share,
    incomparable_result,
    kept_scale,
    no_tensor,
    none_returned,
    odd_numbers,
    other_device,
    other_distribution,
    other_dtype,
    other_number,
    other_shape,
    other_value,
    tensor_inside,
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
        return dropped_share(share, rate)
    kept = there & (train != 0)
    ratio = train[kept] / full[kept]
    # More than rounding in float32, and less than a rate that is off by 0.01.
    if np.abs(ratio * (1 - rate) - 1).max(initial=0.0) > 1e-3:
        low, high = (float(np.quantile(ratio, share)) for share in (0.05, 0.95))  # without a few odd ones
        middle = float(np.median(ratio))
        return kept_scale(middle, middle, rate) if high - low < 1e-3 * abs(high) else kept_scale(low, high, rate)
    return DROPPED_TOGETHER if shared_axes(train, full, rate) else None


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

MOST_TARGETS = 1 << 14
"""The most expected arrays that are kept: a class needs those of all its checks again and again."""


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


@lru_cache(maxsize=MOST_TARGETS)
def target_of(expected: Array, other_way: Array | None = None) -> Target:
    """Return what an array has to resemble; of two ways to the same numbers, those count that both have."""
    values = expected_numbers(expected)
    if other_way is None:
        return target(values)
    return target(np.where(np.isfinite(expected_numbers(other_way)), values, np.nan))


def target(expected: Numbers) -> Target:
    """Return what an array has to resemble."""
    there = np.isfinite(expected)
    is_all, chosen = bool(there.all()), expected[there]
    if chosen.size < FEWEST or float(np.ptp(chosen)) / 2 <= allowed(chosen, TOLERANCES["float32"]):
        return Target(chosen, there, is_all, True, None, chosen, 0.0, 1.0)
    axes, count = _apart(expected) if is_all else (None, chosen.size)
    with np.errstate(over="ignore", invalid="ignore"):
        direction = _centred(expected if is_all else chosen, axes)
        spread = math.sqrt(float(direction @ direction))
    return Target(chosen, there, is_all, False, axes, direction, spread, by_chance(count))


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


def by_chance(count: int) -> float:
    """Return the correlation that so many random numbers hardly ever reach (Fisher's transformation)."""
    return math.tanh(CHANCE_ERRORS / math.sqrt(max(count, FEWEST) - 3))


# Compares arrays, which takes NumPy, and names the first difference as a fact.


def plain_difference(yours: Value, nominal: Value, exact: Value, name: str) -> Difference:
    """Return the difference of a plain value that is wrong."""
    if isinstance(nominal, float) and isinstance(yours, float):
        expected = float(exact)
        fact = other_number(yours, expected)
        return Difference(fact, name, np.array(yours), np.array(expected), ("number", "number"))
    return Difference(other_value(yours, nominal, _is_right(yours, nominal)), name)


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
        return Difference(other_device(yours.device), name)
    # The numbers of a judge Like are compared here alone: its own tolerance is that of two ways.
    tolerances = (TOLERANCES.get(dtype, 0.0) for dtype in (*dtypes, "float32"))
    is_right = not wrong(mine, theirs, max(judge.tolerance or 0.0, *tolerances)).any()
    return Difference(other_dtype(*dtypes, is_right), name, mine, theirs, dtypes)


def _differing(
    mine: Numbers, theirs: Numbers, dtypes: tuple[str, str], off: NDArray[np.bool_], name: str
) -> Difference | None:
    """Return the difference of two arrays that differ where `off` says."""
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
        return MISSING_GRADIENT
    if yours is None and (not name or name.startswith(("result", "output"))):
        return none_returned(nominal)
    parts = enumerate(yours) if isinstance(yours, list) else yours.items() if isinstance(yours, dict) else ()
    for key, part in parts:
        if isinstance(part, Array) and compare(part, Expected(nominal, exact), judge) is None:
            return tensor_inside(key, len(yours) if isinstance(yours, list | dict) else 1)
    plain_numbers = as_numbers(yours) if isinstance(yours, list | int | float) else None
    theirs = numbers(exact if isinstance(exact, Array) else nominal)
    is_right = plain_numbers is not None and _are_equal(plain_numbers, theirs)
    return no_tensor(yours, nominal, is_right)


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
        fact = ODD_RESULT if is_list else None
        return Difference(fact or incomparable_result(yours, expected), name)
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
            return Difference(
                other_distribution(what == "mean", len(theirs), float(one[at]), float(other[at]), margin), name
            )
    return None


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
