"""Detects a function of each number, or a softmax along an axis, that turns one array into the other."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import numpy as np

from autograder.comparison import Numbers
from autograder.results import Fact, is_named, span

from .case import FEW, Case, Pattern, Places, Sample, others
from .named_sizes import Coefficient, factors, named, terms

# What turns the expected numbers into yours: a factor, an offset, a function, another part.

# One rule for every number.

FLIPPED_SIGN = Fact(
    "sign",
    "the expected value with the sign flipped",
    asks="Is a difference taken the wrong way round, or a minus missing?",
    witnesses="every number by the same factor",
)
"""Every number has the other sign."""


def scaled_numbers(factor: float, is_few: bool) -> Fact:
    """Every number is the expected one times a factor."""
    says = f"{factor:.4g} × the expected value{'' if is_few else ' in every element'}"
    return Fact("ratio", says, witnesses="every number by the same factor", data=())


def _term(number: float) -> str:
    return f"{'+' if number > 0 else '-'} {abs(number):.4g}"


def offset_numbers(term: float, is_few: bool) -> Fact:
    """Every number is the expected one plus a term."""
    if is_few:
        return Fact("offset", f"the expected value {_term(term)}", data=())
    says, asks = f"the expected value {_term(term)} in every element", "What is added everywhere, or not subtracted?"
    return Fact("offset", says, (), asks, "every number by the same amount", data=())


def affine_numbers(factor: float, term: float) -> Fact:
    """Every number is the expected one times a factor, plus a term."""
    says = f"{factor:.4g} × the expected value {_term(term)} in every element"
    asks = "Is a mean subtracted, or a scale or shift applied, that does not belong there?"
    return Fact("affine", says, (), asks, "every number by the same rule", data=())


def rule_along(
    rule: Literal["ratio", "offset", "affine"],
    axis: str,
    is_row: bool,
    low: float = 0.0,
    high: float = 0.0,
    owner: str | None = None,
) -> Fact:
    """Each index of an axis, or each row along it, has a factor, an offset, or both, of its own.

    `owner` is the known part that these numbers are.
    """
    each = f"each row along {axis}" if is_row else f"each {axis}" if is_named(axis) else f"each index of {axis}"
    numbers: tuple[str, ...] = (f"from {span(low, high)}", *([f"that is {owner}"] if owner else []))
    match rule:
        case "ratio":
            asks = "What is each one multiplied or divided by? Is that missing, applied twice, or over the wrong axis?"
            says, what = f"{each} is the expected one times its own factor", "a factor"
        case "offset":
            asks = "Is something added or subtracted that does not belong there, or is a mean or a bias missing?"
            says, what = f"{each} is the expected one plus its own offset", "an offset"
        case "affine":
            asks = "Over which axes are mean and spread taken, and is one of them missing?"
            says, what, numbers = f"{each} has a factor and an offset of its own", "a factor and an offset", ()
    return Fact(f"{rule}-along", says, numbers, asks, f"{what} for {each}", data=(axis, is_row))


# Functions.

ONE_MINUS = Fact("1-x", "1 minus the expected value", (), "Are yes and no exchanged?", "1 minus of one is the other")
"""Every number is 1 minus the expected one."""


def applied_function(function: str, axis: str | None = None, inverse: str | None = None) -> Fact:
    """A function was applied that does not belong there; `inverse` undoes it. A softmax runs over an `axis`."""
    name, also, asks = function, "that step is too much, or applied twice", ""
    if axis is not None:
        name, also = f"{function} over {axis}", "one softmax too many"
        asks = "Is it applied twice, or where raw scores are asked for?"
    elif inverse:
        also = f"take its {inverse}, or leave the {function} out"
    title = f"{name} of one is the other"
    return Fact(f"is-{function}", f"the {name} of the expected value", (also,), asks, title, data=(axis,))


def missing_function(function: str, axis: str | None = None) -> Fact:
    """A function was not applied that belongs there. A softmax runs over an `axis`."""
    name = function if axis is None else f"{function} over {axis}"
    says, also = f"the {name} is missing", ("with it the result is right",)
    return Fact(f"lacks-{function}", says, also, "", f"{name} of one is the other")


# Other parts of the same observation.


def other_part(relation: Literal["equals", "lacks-term", "extra-term"], part: str) -> Fact:
    """The numbers are those of another part, or that part is missing from them, or added to them."""
    title = f"expected - yours is {part}"
    match relation:
        case "equals":
            asks = "Are two results exchanged, or is a last step missing?"
            return Fact(relation, f"exactly what {part} should be", (), asks)
        case "lacks-term":
            says = f"the expected value without {part}, which is not added"
            return Fact(relation, says, (), f"Where should {part} be added?", title)
    return Fact(relation, f"the expected value plus {part}", (), f"Where is {part} added?", title)


# Numbers that are dropped at random.


def active_dropout(rate: float, factor: float, is_scaled: bool) -> Fact:
    """Numbers are dropped where none should be, and the others are scaled for it, or not."""
    if not is_scaled:
        says = f"{rate:.0%} of the numbers are dropped, and the others are not rescaled"
        return Fact("dropout-unscaled", says, (), "Is something set to 0 at random here?", "dropped", data=())
    says = f"dropout is active: {rate:.0%} of the numbers are dropped"
    also = f"the others are {factor:.3g} × the expected value"
    asks = "Does dropout know whether it is training? It is a module that follows train() and eval()."
    return Fact("dropout", says, (also,), asks, "dropped", data=())


Function = Callable[[Numbers], Numbers]


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
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "sine": np.sin,
    "cosine": np.cos,
}
_OWN_INVERSE = ("1 minus", "reciprocal")
_INVERSES = {"logarithm": "exponential", "exponential": "logarithm", "square": "square root", "square root": "square"}
_TOO_LARGE = 80.0
"""exp of more is no number that a program computes with."""


def detect_elementwise(case: Case) -> Iterator[Pattern]:
    """Yield the functions that make yours of the expected, or the expected of yours."""
    if case.is_integral or case.expected.size == 0 or np.isnan(case.yours).any():
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
    sizes = np.abs(case.yours), np.abs(case.expected)
    return any(bool((np.abs(array - plain) < 1e-2).any()) for array in sizes for plain in (0, 1))


def _by(case: Case, name: str, function: Function) -> Iterator[Pattern]:
    if _makes(case, function, case.expected, case.yours):
        if name == "1 minus":
            yield Pattern(ONE_MINUS)
            return
        inverse = _INVERSES.get(name)
        is_undone = inverse is not None and _fits_inverse(case, _FUNCTIONS[inverse])
        yield Pattern(applied_function(name, inverse=inverse if is_undone else None))
    elif name not in _OWN_INVERSE and _makes(case, function, case.yours, case.expected):
        inverse_function = _FUNCTIONS.get(_INVERSES.get(name, ""))
        if inverse_function is None or not _makes(case, inverse_function, case.expected, case.yours):
            yield Pattern(missing_function(name))


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
            yield Pattern(applied_function(name, word))
        elif _makes(case, function, case.yours, case.expected):
            yield Pattern(missing_function(name, word))


# Detects one constant that explains everything: a sign, a factor, an offset, or both.

CLOSE_TO_ONE = 1e-3

_STEADY = 1e-3
"""The largest relative spread of an offset that is the same everywhere."""


def detect_scaled(case: Case) -> Iterator[Pattern]:
    """Yield the constant that turns the expected into yours."""
    if case.is_integral or not case.finite or not case.expected.any():
        return
    if case.expected.size <= FEW:
        yield from _of_few(case)
        return
    if case.values < 2:
        return
    yield from _factor(case)
    yield from _offset(case)
    yield from _affine(case)


def _factor(case: Case) -> Iterator[Pattern]:
    squares = float((case.expected * case.expected).sum())
    factor = float((case.yours * case.expected).sum()) / squares if squares else 0.0
    # Yours are 0, and nothing can be divided by the factor.
    if abs(factor) < 1e-12 or not case.same(case.yours / factor, case.expected):
        return
    if abs(factor + 1) < CLOSE_TO_ONE:
        yield Pattern(FLIPPED_SIGN)
    elif abs(factor - 1) >= CLOSE_TO_ONE:
        names = named(factor, factors(case.axes.used_sizes, case.constants))
        is_few = case.expected.size <= FEW
        yield Pattern(scaled_numbers(factor, is_few), coefficient=Coefficient(factor, names, needs_name=is_few))


def _offset(case: Case) -> Iterator[Pattern]:
    difference = case.yours - case.expected
    middle = float(difference.mean())
    scale = float(np.abs(case.expected).max())
    # A smaller offset may be rounding.
    if abs(middle) < 10 * case.tau * scale or np.abs(difference - middle).max() > _STEADY * abs(middle):
        return
    coefficient = Coefficient(middle, named(middle, terms(case.axes.used_sizes)))
    yield Pattern(offset_numbers(middle, is_few=False), coefficient=coefficient)


def _affine(case: Case) -> Iterator[Pattern]:
    # A factor and an offset fit any two different numbers.
    if case.values < 5 or case.expected.size < 8:
        return
    centre, yours = case.expected.mean(), case.yours.mean()
    spread = case.expected - centre
    slope = float((spread * (case.yours - yours)).sum() / (spread * spread).sum())
    shift = float(yours - slope * centre)
    # Yours are one number, whatever is expected.
    if abs(slope) < 1e-6 or not case.same(case.yours - yours, slope * spread):
        return
    if abs(slope + 1) < CLOSE_TO_ONE and abs(shift - 1) < CLOSE_TO_ONE:
        return  # 1 - x is a function with a name
    # The shift is rounding: a factor alone explains it.
    if abs(shift) < 1e-3 * abs(slope) * float(np.abs(case.expected).max()):
        return
    yield Pattern(affine_numbers(slope, shift))


def _of_few(case: Case) -> Iterator[Pattern]:
    """Yield a factor or a term of few numbers; any would fit, so it needs a name."""
    yield from _factor(case)
    difference = case.yours - case.expected
    middle = float(difference.mean())
    if abs(middle) > 1e-3 and np.abs(difference - middle).max() <= _STEADY * abs(middle):
        names = tuple(name for name in named(middle, terms(case.axes.used_sizes)) if name.family != "number")
        yield Pattern(offset_numbers(middle, is_few=True), coefficient=Coefficient(middle, names, needs_name=True))


# Detects another part of the same observation: yours equals it, lacks it, or has it added.


def detect_known(case: Case) -> Iterator[Pattern]:
    """Yield the named parts that yours equals, lacks, or has too much."""
    if case.expected.size <= FEW or not case.finite or case.is_bool:
        return
    for name, part in case.known.items():
        if (
            part.shape != case.expected.shape
            or not np.isfinite(part).all()
            or part.min(initial=0) == part.max(initial=0)
        ):
            continue
        if case.same(case.yours, part) and not case.same(part, case.expected):
            yield Pattern(other_part("equals", name))
        elif not case.is_integral and case.same(case.expected - case.yours, part):
            yield Pattern(other_part("lacks-term", name))
        elif not case.is_integral and case.same(case.yours - case.expected, part):
            yield Pattern(other_part("extra-term", name))


# Detects numbers that were dropped at random, and how the others were scaled.

_FEWEST = 20
"""The fewest elements whose dropped share is a good estimate of the rate."""


def detect_dropout(case: Case) -> Iterator[Pattern]:
    """Yield that some numbers are 0 at random, and the rest is the expected times one factor."""
    if case.is_integral or not case.finite or case.expected.size < _FEWEST:
        return
    # Smaller numbers may become 0 by rounding.
    there = np.abs(case.expected) > 1e-3 * np.abs(case.expected).max(initial=0.0)
    dropped = there & (case.yours == 0)
    if there.sum() < _FEWEST or dropped.sum() < 2:
        return
    rate = float(dropped.sum() / there.sum())
    kept = there & ~dropped
    # A few odd zeros, or a few numbers that are left, are no dropout.
    if not 0.02 < rate < 0.98 or kept.sum() < 8 or _is_regular(dropped, there):
        return
    ratio = case.yours[kept] / case.expected[kept]
    factor = float(np.median(ratio))
    # More than rounding in float32, and less than the factor of any usual rate.
    if np.abs(ratio - factor).max() > 1e-3 * abs(factor):
        return
    # Four standard errors of a share, so that chance hides dropout once in 16,000 times.
    margin = 4 * (rate * (1 - rate) / int(there.sum())) ** 0.5
    row = ("zeros", f"{(case.expected == 0).mean():.0%}", f"{(case.yours == 0).mean():.0%}")
    sample = Sample(dropped, row)
    if abs(factor - 1) < 1e-3:
        yield Pattern(active_dropout(rate, factor, is_scaled=False), sample)
    elif factor > 1 and abs(1 - 1 / factor - rate) < margin:
        yield Pattern(active_dropout(rate, factor, is_scaled=True), sample)


def _is_regular(dropped: Places, there: Places) -> bool:
    """Whether what is dropped has a form: the same in every slice along an axis, or a triangle."""
    for axis, count in enumerate(dropped.shape):
        if count < 2:
            continue
        some = dropped.any(axis=axis, keepdims=True)
        if bool((dropped == (some & there)).all()):
            return True
        whole = dropped.any(axis=others(dropped.ndim, axis))
        # Chance leaves an index without a zero if there are few numbers at each.
        if (dropped.size // count) > 4 and not whole.all():
            return True
    if dropped.ndim >= 2:
        rows, columns = np.indices(dropped.shape)[-2:]
        above, below = dropped & (columns > rows), dropped & (columns < rows)
        return not above.any() or not below.any()
    return False
