"""Sketches of what wrong programs return: a few sums of an array, by which another program's array is recognised.

A sketch of an array has 16 sums: each of every 16th number, with weights that depend on the size of the array alone.
Arrays that agree up to rounding have sums that agree up to rounding. Arrays that differ in many numbers differ in
every sum. If a single number differs, its sum differs by that much over the root of the count of its numbers.
"""

import hashlib
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from autograder.checks import Dropout, Judge, Like, Raises, Same
from autograder.protocol import Array, Value
from autograder.runner import Fault, Observed, Outcome

from .compare import TOLERANCES, Expected, is_floating, judge_observation
from .float_arrays import Numbers, allowed, numbers, shared_axes, special, wrong

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
    match value:
        case Array():
            return _array_in_brief(value, tolerance)
        case dict():
            return {name: _in_brief(part, tolerance) for name, part in value.items()}
        case list() | tuple():
            return [_in_brief(part, tolerance) for part in value]
        case float():
            digits = 3 - math.floor(math.log10(tolerance or TOLERANCES["float32"]))
            return float(f"{value:.{digits}g}")
    return value


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
    """Return whether a value is what another one in brief was made of."""
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


def _without_train(value: Mapping[str, Value]) -> dict[str, Value]:
    return {name: part for name, part in value.items() if name != "train"}


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
    """Return whether two programs drop alike: along the same axes, as much, and so that what is kept has one size."""
    if one[:2] != other[:2] or len(one) != len(other):
        return False
    return len(one) < 3 or float(np.abs(np.subtract(one[2], other[2])).max()) < SAME_SHARE


def _kept(train: Array, full: Array) -> list[float]:
    """Return the quantiles of the kept elements over their full values, the share of zeros, and that of NaN."""
    values, wholes = numbers(train), numbers(full)
    there = np.abs(wholes) > 1e-2 * np.abs(wholes).max(initial=0.0)
    if not there.any():
        return [0.0] * 7
    ratio = values[there] / wholes[there]
    kept = ratio[np.isfinite(ratio) & (ratio != 0)]
    quantiles = np.quantile(kept, (0.05, 0.25, 0.5, 0.75, 0.95)) if kept.size else np.zeros(5)
    shares = (ratio == 0).mean(), np.isnan(ratio).mean()
    return [round(float(number), KEPT_DECIMALS) for number in (*quantiles, *shares)]
