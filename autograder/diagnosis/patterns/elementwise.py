"""Detects a function of each number, or a softmax along an axis, that turns one array into the other."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from autograder.comparison.arrays import Numbers
from autograder.diagnosis.patterns.case import FEW, Case
from autograder.diagnosis.patterns.pattern import Pattern
from autograder.messages.values import FunctionApplied, FunctionMissing, OneMinus

Function = Callable[[Numbers], Numbers]


def _sigmoid(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x))


def _softmax(x: Numbers, axis: int) -> Numbers:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def _log_softmax(x: Numbers, axis: int) -> Numbers:
    low = x - x.max(axis=axis, keepdims=True)
    return np.asarray(low - np.log(np.exp(low).sum(axis=axis, keepdims=True)))


_OF_FEW: dict[str, Function] = {
    "logarithm": np.log,
    "exponential": np.exp,
    "1 minus": lambda x: 1 - x,
    "reciprocal": lambda x: 1 / x,
    "square": np.square,
    "square root": np.sqrt,
}
_FUNCTIONS: dict[str, Function] = {
    **_OF_FEW,
    "absolute value": np.abs,
    "ReLU": lambda x: np.maximum(x, 0),
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
    "sine": np.sin,
    "cosine": np.cos,
}
_OWN_INVERSE = ("1 minus", "reciprocal")
_INVERSES = {"logarithm": "exponential", "exponential": "logarithm", "square": "square root", "square root": "square"}
_TOO_LARGE = 80.0
"""exp of more is no number that a program computes with."""


def detect(case: Case) -> Iterator[Pattern]:
    """Yield the functions that make yours of the expected, or the expected of yours."""
    if case.is_whole or case.expected.size == 0 or np.isnan(case.yours).any():
        return
    few = case.expected.size <= FEW
    # Many functions agree on a few different numbers.
    if _is_plain(case) if few else case.values < 5:
        return
    with np.errstate(all="ignore"):
        for name, function in (_OF_FEW if few else _FUNCTIONS).items():
            yield from _by(case, name, function)
        if not few and case.finite:
            for axis in range(case.expected.ndim):
                if case.expected.shape[axis] > 1:
                    yield from _along(case, axis)


def _is_plain(case: Case) -> bool:
    """Whether a few numbers are 0 or 1, up to their sign, which many functions turn into each other."""
    return any(bool((np.abs(array - plain) < 1e-2).any()) for array in map(np.abs, _both(case)) for plain in (0, 1))


def _both(case: Case) -> tuple[Numbers, Numbers]:
    return case.yours, case.expected


def _by(case: Case, name: str, function: Function) -> Iterator[Pattern]:
    if _makes(case, function, case.expected, case.yours):
        if name == "1 minus":
            yield Pattern(OneMinus())
            return
        inverse = _INVERSES.get(name)
        is_undone = inverse is not None and _fits_inverse(case, _FUNCTIONS[inverse])
        yield Pattern(FunctionApplied(name, inverse=inverse if is_undone else None))
    elif name not in _OWN_INVERSE and _makes(case, function, case.yours, case.expected):
        inverse_function = _FUNCTIONS.get(_INVERSES.get(name, ""))
        if inverse_function is None or not _makes(case, inverse_function, case.expected, case.yours):
            yield Pattern(FunctionMissing(name))


def _fits_inverse(case: Case, inverse: Function) -> bool:
    """Whether the way back leads to the expected: a square of negative numbers has lost their sign."""
    back = inverse(case.yours)
    return bool(np.isfinite(back).any()) and case.same(back, case.expected)


def _makes(case: Case, function: Function, one: Numbers, other: Numbers) -> bool:
    """Whether a function makes the other of the one, and not by leaving it as it is."""
    finite = one[np.isfinite(one)]
    if not finite.size or np.abs(finite).max() > _TOO_LARGE**2:
        return False
    made = function(one)
    if np.isnan(made).any() or not np.isfinite(made).any() or not case.same(other, made):
        return False
    spread = made[np.isfinite(made)]
    # A function that makes nearly one number of all fits any result.
    varies = one.size <= FEW or float(spread.std()) > 1e-3 * float(np.abs(spread).max())
    return varies and not case.same(one, made)


def _along(case: Case, axis: int) -> Iterator[Pattern]:
    word = case.at(axis)
    for name, function in (
        ("softmax", partial(_softmax, axis=axis)),
        ("log-softmax", partial(_log_softmax, axis=axis)),
    ):
        if _makes(case, function, case.expected, case.yours):
            yield Pattern(FunctionApplied(name, word))
        elif _makes(case, function, case.yours, case.expected):
            yield Pattern(FunctionMissing(name, word))
