"""Detects NaN, infinity, one number everywhere, and memory that nothing was written to."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from autograder.comparison import Numbers
from autograder.results import Fact, Position, element, position

from .case import FEW, NO_MAP, Case, Pattern, Places, Sample, are_bits, close
from .masks import relations

# Special numbers: NaN, infinity, one number everywhere, coarse or whole numbers.

_NAN = "inf - inf, 0 × inf, 0 / 0, and the root or logarithm of a negative number are NaN."


def all_nan(size: int) -> Fact:
    """Every number is NaN."""
    says = "every number is NaN" if size > 1 else "NaN, expected a finite number"
    return Fact("all-nan", says, (), _NAN, "where it is NaN", data=())


def _rest(is_right: bool) -> str:
    return "the others are right" if is_right else "others are wrong as well"


def some_nan(rest_is_right: bool, count: int, size: int, first: Position) -> Fact:
    """Some numbers are NaN, the first at a position."""
    says = f"{_share(count, size)} {_are(count)} NaN, {_rest(rest_is_right)}"
    also = f"the first at {position(first)}"
    return Fact("some-nan", says, (also,), _NAN, "where it is NaN", data=rest_is_right)


def nan_rows(each: str, rest_is_right: bool, count: int, size: int, first: Position) -> Fact:
    """Whole rows are NaN; `each` is what such a row belongs to."""
    says = f"{count} of {size} whole rows {_are(count)} NaN, {_rest(rest_is_right)}"
    also, asks = f"the first at {position(first)}", f"{_NAN} So is a softmax over a row of -inf."
    return Fact("nan-rows", says, (also,), asks, "where it is NaN", data=(each, rest_is_right))


def infinite_numbers(is_negative: bool, rest_is_right: bool, count: int, size: int, first: Position) -> Fact:
    """Some numbers, or all, are infinite."""
    name, asks = "inf", "exp of a large number is infinite, and so is what is divided by 0."
    if is_negative:
        name, asks = "-inf", "The logarithm of 0 is -inf: is a score blocked here that should not be?"
    if size == 1:
        says = f"{name}, expected a finite number"
        return Fact(name, says, (), asks, "where it is infinite", data=rest_is_right)
    rest = ", the others are right" if rest_is_right and count < size else ""
    says, also = f"{_share(count, size)} {_are(count)} {name}{rest}", f"the first at {position(first)}"
    return Fact(name, says, (also,), asks, "where it is infinite", data=rest_is_right)


def _share(count: int, size: int) -> str:
    return f"all {size} numbers" if count == size else f"{count} of {size} numbers"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def number_for_infinity(kind: Literal["zero", "low", "number"], rest_is_right: bool, number: float) -> Fact:
    """Another number stands where -inf is expected: 0, a very low one, or any other."""
    asks = {
        "zero": "What does a softmax make of a score of 0? e^0 = 1.",
        "low": "A very low number is not -inf: what do you fill the blocked scores with?",
        "number": "",
    }
    rest = ", the others are right" if rest_is_right else ""
    says = f"{number:.4g} where -inf is expected{rest}"
    return Fact(f"{kind}-for-inf", says, (), asks[kind], "where -inf is expected", data=rest_is_right)


def nothing_infinite(count: int, size: int) -> Fact:
    """Nothing is -inf, though some numbers should be."""
    says = f"nothing is -inf, expected {count} of {size}"
    return Fact("not-inf", says, witnesses="where -inf is expected", data=())


UNWRITTEN = Fact(
    "unwritten",
    "holds huge and tiny numbers, as bytes do that hold something else",
    asks="Are all places of torch.empty filled? Are bytes read from the right place, as the right dtype?",
    witnesses="odd numbers",
)
"""The numbers look like memory that nothing was written to, or like bytes of something else."""

ZERO = Fact("zero", "0 everywhere", asks="Print the values on the way: which is the first that is 0 everywhere?")
"""Everything is 0."""

ZERO_GRADIENT = replace(
    ZERO, asks="The result does not depend on it: is it detached on the way, or is its value not used?"
)
"""Everything in a gradient is 0."""


def same_number(
    value: bool | None, number: float, expected: float | None, dtype: str, count: int = 0, size: int = 0
) -> Fact:
    """One number stands everywhere; `expected` is the one that should, if it is one.

    Of a mask `value` is that number, the same in each trial, and `count` of `size` places are wrong.
    """
    says = f"{element(number, dtype)} everywhere"
    wanted = "different numbers"
    if expected is not None:
        wanted = f"{element(expected, dtype)} everywhere"
    elif value is not None:
        wanted = f"{not value} at {count} of {size} places"
    return Fact("constant", f"{says}, expected {wanted}", data=(value,))


def coarse_numbers(dtype: str, expected: str) -> Fact:
    """Right up to the rounding of a coarser dtype."""
    says = f"right up to the rounding of {dtype}, expected that of {expected}"
    asks = "Where do you convert a tensor to a coarser dtype, or create one in it?"
    return Fact(f"precise-as-{dtype}", says, (), asks, data=())


def near_numbers(off: float) -> Fact:
    """Near the expected numbers, but farther off than rounding; `off` is relative to the largest number."""
    asks = "Rounding is less than this. Is a small constant or term wrong, or a formula approximate?"
    return Fact("near", f"near, but not equal: off by at most {off:.2g} of the largest number", (), asks, data=())


def mask_of_numbers(is_inverted: bool, yours: str) -> Fact:
    """A mask of 0 and 1 where one of true and false is expected, right or inverted."""
    says = f"{yours}, expected bool"
    if is_inverted:
        return Fact("bits-inverted", says, ("its 0 and 1 are exchanged as well",), data=())
    asks = "A comparison gives a mask of true and false."
    return Fact("bits", says, ("its 0 and 1 are right as false and true",), asks, data=())


def whole_numbers(how: str, yours: str, expected: str) -> Fact:
    """Integers where fractions are expected: the values are `cut`, `rounded` or `rounded down`."""
    also = f"the values are {how} to whole numbers"
    asks = "Is // used for /, or a number put into a tensor of integers?"
    return Fact("cut", f"{yours}, expected {expected}", (also,), asks, data=how)


_HUGE = 1e30
_TINY = 1e-30
"""Numbers that no program of a course computes: together they look like memory as it was."""

_VERY_LOW = -1e4
"""A score below it is meant to be -inf: exp of it is 0 in every dtype."""


def detect_special(case: Case) -> Iterator[Pattern]:
    """Yield what is special about yours."""
    if not case.expected.size:
        return
    if not np.isfinite(case.expected).all():
        yield from _minus_infinity(case)
    yield from _nan(case)
    yield from _infinite(case)
    if case.finite:
        yield from _unwritten(case)
        yield from _one_number(case)


def _nan(case: Case) -> Iterator[Pattern]:
    nan = np.isnan(case.yours) & ~np.isnan(case.expected)
    count, size = int(nan.sum()), nan.size
    if count:
        yield Pattern(_nan_fact(case, nan, count, size), Sample(nan, ("NaN", "0", str(count))))


def _nan_fact(case: Case, nan: Places, count: int, size: int) -> Fact:
    """Return which numbers are NaN: all, whole rows, or some."""
    if count == size:
        return all_nan(size)
    rest_is_right = not bool((case.wrong & ~nan).any())
    if row := _whole_rows(nan):
        rows, total = int(nan.all(axis=-1).sum()), size // nan.shape[-1]
        return nan_rows(case.at(nan.ndim - 2), rest_is_right, rows, total, case.position(row))
    return some_nan(rest_is_right, count, size, case.position(_first(nan)))


def _whole_rows(places: Places) -> tuple[int, ...] | None:
    """Return the first row if rows along the last axis are wholly in it, or not at all."""
    if places.ndim < 2 or places.shape[-1] < 2:
        return None
    whole = np.asarray(places.all(axis=-1))
    return _first(whole) if bool((places.any(axis=-1) == whole).all()) and whole.any() else None


def _infinite(case: Case) -> Iterator[Pattern]:
    infinite = np.isinf(case.yours) & np.isfinite(case.expected)
    count = int(infinite.sum())
    if not count:
        return
    is_negative = bool((case.yours[infinite] < 0).all())
    rest_is_right = not bool((case.wrong & ~infinite).any())
    fact = infinite_numbers(is_negative, rest_is_right, count, infinite.size, case.position(_first(infinite)))
    yield Pattern(fact, Sample(infinite, ("infinite", "0", str(count))))


def _minus_infinity(case: Case) -> Iterator[Pattern]:
    """Yield what stands where -inf is expected."""
    expected, yours = np.isneginf(case.expected), np.isneginf(case.yours)
    if not expected.any() or np.isnan(case.yours).any():
        return
    sample = Sample(expected, ("-inf", str(int(expected.sum())), str(int(yours.sum()))))
    if yours.any():
        if not np.array_equal(yours, expected):
            apart = Sample(yours != expected, sample.row)
            yield from (Pattern(relation, apart) for relation in relations(yours, expected, case, "inf"))
        return
    there = case.yours[expected]
    rest = bool(np.isfinite(case.yours[~expected]).all())
    rest_is_right = rest and close(case.yours[~expected], case.expected[~expected], case.tau)
    if not there.any():
        yield Pattern(number_for_infinity("zero", rest_is_right, 0.0), sample)
    elif (there < _VERY_LOW).all():
        yield Pattern(number_for_infinity("low", rest_is_right, float(there.max())), sample)
    elif (there == there[0]).all():
        yield Pattern(number_for_infinity("number", rest_is_right, float(there[0])), sample)
    elif rest:
        yield Pattern(nothing_infinite(int(expected.sum()), expected.size), sample)


def _unwritten(case: Case) -> Iterator[Pattern]:
    sizes = np.abs(case.yours)
    huge, tiny = sizes > _HUGE, (sizes > 0) & (sizes < _TINY)
    odd, expected = huge | tiny, np.abs(case.expected)
    modest = not ((expected > _HUGE) | ((expected > 0) & (expected < _TINY))).any()
    # Overflow gives huge numbers only, and underflow tiny ones only; unset memory has both.
    if case.expected.size > FEW and modest and odd.mean() > 0.1 and huge.any() and tiny.any():
        yield Pattern(UNWRITTEN, Sample(odd, has_map=False))


def _one_number(case: Case) -> Iterator[Pattern]:
    if case.yours.size < 2 or case.yours.min() != case.yours.max():
        return
    number, dtype = float(case.yours.flat[0]), "bool" if case.is_bool else "number"
    row = None if case.is_integral else ("std", f"{case.expected.std():.4g}", f"{case.yours.std():.4g}")
    sample = Sample(row=row, has_map=False)
    if case.expected.min() == case.expected.max():
        expected = float(case.expected.flat[0])
        yield Pattern(same_number(None, number, expected, dtype), sample)
    elif case.is_bool:
        if case.expected.size > FEW:
            counts = int(case.wrong.sum()), case.expected.size
            yield Pattern(same_number(bool(number), number, None, dtype, *counts), sample)
    elif number == 0:
        yield Pattern(ZERO, sample)
    else:
        yield Pattern(same_number(None, number, None, dtype), sample)


def _first(places: Places) -> tuple[int, ...]:
    return tuple(int(at) for at in np.argwhere(places)[0])


# Detects what happened to the values in another dtype: cut to integers, or a mask of numbers.


def detect_dtype(case: Case) -> Iterator[Pattern]:
    """Yield what the other dtype did to the values; nothing where they are simply right or simply wrong."""
    yours, expected = case.dtypes
    if case.yours.shape != case.expected.shape or not case.expected.size or yours == expected:
        return
    if expected == "bool" and are_bits(case.yours):
        if np.array_equal(case.yours, case.expected):
            yield Pattern(mask_of_numbers(False, yours), NO_MAP)
        elif np.array_equal(1 - case.yours, case.expected):
            yield Pattern(mask_of_numbers(True, yours), NO_MAP)
    elif "int" in yours and "float" in expected and not close(case.yours, case.expected, case.tau):
        for how, cut in (("cut", np.trunc), ("rounded", np.round), ("rounded down", np.floor)):
            if case.values > 2 and np.array_equal(case.yours, cut(case.expected)):
                yield Pattern(whole_numbers(how, yours, expected), NO_MAP)
                return


# Detects numbers that are almost right: of a coarser dtype, or of a formula near to the expected one.

_NEAR = 2e-3
"""Relative; a wrong constant such as eps changes less, another formula more."""

_COARSE = {"float16": 2e-3, "bfloat16": 2e-2}
"""The largest relative rounding of each dtype, added up over a few operations."""


def detect_precision(case: Case) -> Iterator[Pattern]:
    """Yield why numbers are near to the expected ones and not equal."""
    if case.is_integral or not case.finite or case.expected.size <= FEW or case.dtypes[1] not in ("float32", "float64"):
        return
    if not (case.wrong & (case.expected != 0)).any():
        return
    size = float(np.linalg.norm(case.expected))
    off = float(np.linalg.norm(case.yours - case.expected)) / size if size else np.inf
    most = float(np.abs(case.yours - case.expected).max() / max(np.abs(case.expected).max(), 1e-30))
    sample = Sample(row=("largest difference", "0", f"{most:.2g} of the largest"), has_map=False)
    for dtype, bound in _COARSE.items():
        if off < bound and _fits(case.yours, dtype) and not _fits(case.expected, dtype):
            yield Pattern(coarse_numbers(dtype, case.dtypes[1]), sample)
            return
    # The norm is small if one number of many is wrong, which is another mistake.
    if off < _NEAR and most < 10 * _NEAR:
        yield Pattern(near_numbers(most), sample)


def _fits(array: Numbers, dtype: str) -> bool:
    """Whether every number can be written in that dtype."""
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return bool((array.astype(np.float16) == array).all())
    # A bfloat16 is a float32 whose lower 16 bits are 0.
    single = array.astype(np.float32)
    return bool((single == array).all() and not (single.view(np.uint32) & 0xFFFF).any())
