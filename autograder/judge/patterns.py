"""Mechanical patterns of a difference: what turns the wrong numbers into the right ones."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from autograder.judge.arrays import Numbers

CLOSE = 2e-4


@dataclass(frozen=True)
class Pattern:
    """A pattern that was recognised: its id, and a phrase that says what the part is."""

    id: str
    phrase: str


def recognise(yours: Numbers, expected: Numbers, sizes: Mapping[str, int]) -> Pattern | None:
    """Return the first pattern that fits, for arrays of one shape and finite numbers; None when nothing is known."""
    if (
        yours.shape != expected.shape
        or yours.size <= 4
        or not (np.isfinite(yours).all() and np.isfinite(expected).all())
    ):
        return None
    for detector in (_constant, _ratio, _offset, _rearranged, _some_rows):
        if found := detector(yours, expected, sizes):
            return found
    return None


def _residual(yours: Numbers, expected: Numbers) -> float:
    norm = float(np.linalg.norm(expected))
    return float(np.linalg.norm(yours - expected)) / norm if norm else math.inf


def _constant(yours: Numbers, expected: Numbers, _: Mapping[str, int]) -> Pattern | None:
    if yours.min() == yours.max() and expected.min() != expected.max():
        return Pattern("constant", f"{yours.flat[0]:.4g} everywhere")
    return None


def _ratio(yours: Numbers, expected: Numbers, sizes: Mapping[str, int]) -> Pattern | None:
    squares = float((expected * expected).sum())
    factor = float((yours * expected).sum()) / squares if squares else 0.0
    if abs(factor - 1) < 1e-3 or factor == 0 or _residual(yours, factor * expected) > CLOSE * abs(factor):
        return None
    if abs(factor + 1) < CLOSE:
        return Pattern("sign", "the expected with its sign flipped")
    names = [name for name, value in named_constants(sizes) if abs(factor / value - 1) < CLOSE]
    because = f"; {abs(factor):.4g} = {names[0]}" if len(names) == 1 else ""
    return Pattern("ratio", f"{factor:.4g} × the expected, in every element{because}")


def named_constants(sizes: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    """Yield the constants that wrong factors are made of, with their names."""
    yield from (("2", 2.0), ("1/2", 0.5))
    for name, size in sizes.items():
        yield name, float(size)
        yield f"1/{name}", 1 / size
        yield f"√{name}", math.sqrt(size)
        yield f"1/√{name}", 1 / math.sqrt(size)
        if size > 1:
            yield f"√(({name}-1)/{name})", math.sqrt((size - 1) / size)
            yield f"√({name}/({name}-1))", math.sqrt(size / (size - 1))


def _offset(yours: Numbers, expected: Numbers, _: Mapping[str, int]) -> Pattern | None:
    difference = yours - expected
    middle = float(difference.mean())
    if abs(middle) > 1e-6 and float(difference.std()) < 1e-3 * abs(middle):
        return Pattern("offset", f"the expected {middle:+.4g}, in every element")
    return None


def _rearranged(yours: Numbers, expected: Numbers, _: Mapping[str, int]) -> Pattern | None:
    if not 2 <= yours.ndim <= 4:
        return None
    for order in permutations(range(yours.ndim)):
        moved = yours.transpose(order)
        if moved.shape == expected.shape and _residual(moved, expected) < CLOSE:
            return Pattern("transposed", f"right after its axes are put in the order {order}")
    for axis in range(yours.ndim):
        if yours.shape[axis] > 1 and _residual(np.flip(yours, axis), expected) < CLOSE:
            return Pattern("flipped", f"in reverse order along axis {axis}")
    same = np.allclose(np.sort(yours, axis=None), np.sort(expected, axis=None), rtol=1e-4, atol=1e-6)
    return Pattern("rearranged", "the right numbers, in other places") if same else None


def _some_rows(yours: Numbers, expected: Numbers, _: Mapping[str, int]) -> Pattern | None:
    scale = float(np.abs(expected).max()) or 1.0
    off = np.abs(yours - expected) > 1e-3 * scale
    for axis in range(yours.ndim):
        wrong = np.asarray(off.any(axis=tuple(each for each in range(yours.ndim) if each != axis))).reshape(-1)
        if wrong.sum() in (0, len(wrong)) or len(wrong) < 3:
            continue
        where = np.flatnonzero(wrong)
        if len(where) == 1:
            return Pattern("region", f"wrong only at index {where[0]} of axis {axis}")
        if len(where) == len(wrong) - 1:
            return Pattern("region", f"right only at index {np.flatnonzero(~wrong)[0]} of axis {axis}")
        if (np.diff(where) == 1).all() and where[-1] == len(wrong) - 1:
            return Pattern("region", f"wrong from index {where[0]} of axis {axis} on")
        if len(wrong) >= 4 and (where % 2 == where[0] % 2).all() and len(where) == len(wrong[where[0] % 2 :: 2]):
            return Pattern("region", f"wrong at the {'odd' if where[0] % 2 else 'even'} indices of axis {axis}")
    return None
