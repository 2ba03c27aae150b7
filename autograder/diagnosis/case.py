"""A case for the detectors: two arrays that differ, what is known about them, and when numbers are the same."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from autograder.comparison import Numbers
from autograder.results import Fact, Position, is_named, is_whole, unnamed

# Names the axes of a tensor by their sizes, in the words of the course.

Words = Mapping[str, tuple[str, ...]]
"""For each symbol of a size its words; the first that no earlier axis of a shape has is used."""

_ORDINALS = ("second", "third", "fourth")


@dataclass(frozen=True)
class Axes:
    """The sizes of one trial, each with a symbol of its own, and the words for them.

    No two sizes of a trial are alike, so a size in a shape tells what its axis counts.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    words: Words = field(default_factory=dict)

    def symbol(self, size: int) -> str | None:
        """Return the symbol of a size; 1 is the size of an axis that counts nothing."""
        if size == 1:
            return None
        return next((symbol for symbol, known in self.sizes.items() if known == size), None)

    def word(self, symbol: str) -> str | None:
        """Return the word for a size, by its symbol."""
        return next(iter(self.words.get(symbol, ())), None)

    def names(self, shape: Sequence[int]) -> tuple[str, ...]:
        """Return a name for every axis of a shape, all different: its word, else `axis 1`."""
        named: list[str] = []
        for at, size in enumerate(shape):
            words = self.words.get(self.symbol(size) or "", ())
            free = next((word for word in words if word not in named), None)
            if free is None and words:
                free = next((name for ordinal in _ORDINALS if (name := f"{ordinal} {words[-1]}") not in named), None)
            named.append(free or unnamed(at))
        return tuple(named)


def agreed(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return the names that two trials agree on: a word that only one of them has could be a coincidence of sizes."""
    if len(names) != len(others):
        return tuple(map(unnamed, range(len(names))))
    return tuple(
        one if one == other else unnamed(at) for at, (one, other) in enumerate(zip(names, others, strict=True))
    )


Places = NDArray[np.bool_]

CLOSE = 1e-4
"""Two arrays are the same if the norm of their difference is this part of the norm: 100 times float32's rounding."""

_CLOSE_OF = {"float16": 4e-3, "bfloat16": 2e-2}

FEW = 4
"""So few numbers fit many patterns by chance: for them only a constant with a name counts."""

LARGE = 300_000
"""Elements; larger arrays are compared with the cheap patterns only, so that a check stays fast."""


@dataclass(frozen=True)
class Case:
    """What was observed and what was expected, with a name for every axis of the expected.

    `dtypes` are those of yours and of the expected; `known` has the other expected parts of the observation by name;
    `constants` are numbers of the check itself, such as a rate; `off` is where the judge found yours wrong.
    """

    yours: Numbers
    expected: Numbers
    axes: Axes = field(default_factory=Axes)
    words: tuple[str, ...] = ()
    dtypes: tuple[str, str] = ("float32", "float32")
    known: Mapping[str, Numbers] = field(default_factory=dict)
    constants: Mapping[str, float] = field(default_factory=dict)
    off: Places | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the expected's axes."""
        return self.words or self.axes.names(self.expected.shape)

    @cached_property
    def tau(self) -> float:
        """The largest relative difference that still is rounding, for the coarser of the two dtypes."""
        return max(_CLOSE_OF.get(dtype, CLOSE) for dtype in self.dtypes)

    @cached_property
    def finite(self) -> bool:
        """Whether all numbers are finite, in both."""
        return bool(np.isfinite(self.yours).all() and np.isfinite(self.expected).all())

    @cached_property
    def is_bool(self) -> bool:
        """Whether both are true or false everywhere."""
        return self.dtypes[1] == "bool" and are_bits(self.yours) and are_bits(self.expected)

    @cached_property
    def is_whole(self) -> bool:
        """Whether whole numbers are expected: ids, counts, or true and false."""
        return is_whole(self.dtypes[1])

    @cached_property
    def values(self) -> int:
        """The number of different values that are expected, counted up to 20."""
        # Numbers equal to 5 digits of the largest are one value; the first 2000 numbers are enough to find 20.
        scale = max(float(np.abs(self.expected).max(initial=0.0)), 1e-30) if self.finite else 1.0
        return min(20, len(np.unique(np.round(self.expected.reshape(-1)[:2000] / scale, 5))))

    @cached_property
    def wrong(self) -> Places:
        """Where the two differ by more than rounding.

        It is where the judge says so if that is nowhere, if whole numbers are expected, or nothing but 0.
        """
        if self.off is not None and (self.is_whole or not self.expected.any()):
            return self.off
        with np.errstate(invalid="ignore"):
            gap = np.abs(self.yours - self.expected)
            finite = np.abs(self.expected[np.isfinite(self.expected)])
            # Rounding grows with a number itself, and with the largest number that it was added up from.
            bound = self.tau * (2 * np.abs(self.expected) + 0.2 * float(finite.max(initial=0.0)))
            same = (self.yours == self.expected) | (np.isnan(self.yours) & np.isnan(self.expected))
            near = (gap <= bound) & np.isfinite(self.expected)
        found = np.asarray(~(near | same), dtype=np.bool_)
        return found if found.any() or self.off is None else self.off

    @cached_property
    def nearly_right(self) -> bool:
        """Whether the two are the same up to rounding, taken together."""
        return self.finite and close(self.yours, self.expected, self.tau)

    def same(self, one: Numbers, other: Numbers) -> bool:
        """Whether two arrays are the same up to rounding."""
        return close(one, other, self.tau)

    def at(self, axis: int) -> str:
        """Return the name of an axis of the expected."""
        return self.names[axis]

    def position(self, index: Sequence[int]) -> Position:
        """Return an index with the names of its axes; where any has a word, those of size 1 are left out."""
        pairs = tuple((self.at(axis), int(at)) for axis, at in enumerate(index))
        counted = tuple(pair for axis, pair in enumerate(pairs) if self.expected.shape[axis] > 1)
        return counted if any(is_named(name) for name, _ in counted) else pairs


def are_bits(array: Numbers) -> bool:
    """Whether an array holds nothing but 0 and 1."""
    return bool(((array == 0) | (array == 1)).all())


def close(one: Numbers, other: Numbers, tau: float) -> bool:
    """Whether two arrays of one shape are the same up to a part of their size; what is not finite has to coincide."""
    if one.shape != other.shape:
        return False
    finite = np.isfinite(other)
    if not finite.all():
        if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
            return False
        one, other = one[finite], other[finite]
    if not other.size:
        return True
    with np.errstate(invalid="ignore", over="ignore"):
        # The norm alone would hide one number that is far off among many.
        gap = (one - other).ravel()
        size = float(np.linalg.norm(other.ravel()))
        far = float(np.abs(gap).max())
        return float(np.linalg.norm(gap)) <= tau * size and far <= 10 * tau * float(np.abs(other).max())


def others(count: int, axis: int) -> tuple[int, ...]:
    """Return all axes but one."""
    return tuple(at for at in range(count) if at != axis)


# Names of numbers: what a wrong factor or offset is made of, and what to ask about it.


@dataclass(frozen=True)
class Constant:
    """A number with a name: `√K`; `family` says how it is made of the sizes."""

    text: str
    value: float
    family: str
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return the symbols of the sizes in the name."""
        return tuple(symbol for symbol, _ in self.sizes)


@dataclass(frozen=True)
class Coefficient:
    """The number that explains a difference, and what it may be; `steady` if it is the same in both trials.

    With `needs_name` it means nothing without a name.
    """

    value: float
    names: tuple[Constant, ...] = ()
    needs_name: bool = False
    steady: bool = False


def reason(coefficient: Coefficient) -> str:
    """Return what a number is: `2.646 = √K (K = 7)`; nothing where it has no name."""
    if not coefficient.names:
        return "the same for other sizes" if coefficient.steady else ""
    names = " = ".join(constant.text for constant in coefficient.names)
    sizes = {symbol: size for constant in coefficient.names for symbol, size in constant.sizes}
    where = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
    value = f"{abs(coefficient.value):.4g}"
    if names == value:
        return ""
    return f"{value} = {names} ({where})" if where else f"{value} = {names}"


def question(constants: Sequence[Constant], words: Mapping[str, str | None]) -> str:
    """Return what to ask about a number of that name; nothing where it has none. `words` name the sizes."""
    if not constants:
        return ""
    first = constants[0]
    over = " and ".join(words.get(symbol) or symbol for symbol in first.symbols)
    questions = {
        "size": f"Is something summed over {over} where a mean is expected?",
        "inverse": f"Is a mean taken over {over} where a sum is expected?",
        "root": f"Where does {first.text.removeprefix('1/')} belong: is it missing, there twice, or on the wrong side?",
        "one less": "Do you divide by n where n - 1 is expected, or the other way round?",
        "ratio": f"Which size belongs there, {' or '.join(first.symbols)}?",
        "logarithm": f"Is something normalized over {over} once too often, or not at all?",
    }
    return questions.get(first.family, "Where does this number come in, or go missing?")


# Finds names for numbers: what a wrong factor or offset is made of.

CLOSE_TO_CONSTANT = 2e-4
"""A number has a name if it is this near to it, relative to its size."""

MOST_NAMES = 2
"""A number with more possible names gets none: any choice would be a guess."""

_NUMBERS = {
    **{str(n): float(n) for n in (2, 3, 4, 5, 8, 10, 100, 1000)},
    **{f"1/{n}": 1 / n for n in (2, 3, 4, 8, 10, 100, 1000)},
    **{"√2": math.sqrt(2), "1/√2": math.sqrt(0.5), "π": math.pi, "1/π": 1 / math.pi, "2π": 2 * math.pi},
    **{"ln 2": math.log(2), "1/ln 2": 1 / math.log(2), "ln 10": math.log(10), "1/ln 10": 1 / math.log(10)},
}


def factors(sizes: Mapping[str, int], own: Mapping[str, float]) -> Iterator[Constant]:
    """Yield the constants that wrong factors are made of, the simplest first."""
    return iter(_factors(tuple(sizes.items()), tuple(own.items())))


@lru_cache(maxsize=256)
def _factors(sizes: tuple[tuple[str, int], ...], own: tuple[tuple[str, float], ...]) -> tuple[Constant, ...]:
    return tuple(_made_of(dict(sizes), dict(own)))


def _made_of(sizes: Mapping[str, int], own: Mapping[str, float]) -> Iterator[Constant]:
    for text, value in {**own, **_NUMBERS}.items():
        yield Constant(text, value, "number")
    for name, size in sizes.items():
        if size > 1:
            yield from _of_one(name, size)
    for pair in permutations(sizes.items(), 2):
        (one, first), (other, second) = pair
        yield Constant(f"{one}/{other}", first / second, "ratio", pair)
        yield Constant(f"√({one}/{other})", math.sqrt(first / second), "ratio", pair)
    # Products of four sizes are so many that one is near any factor.
    for some in (*combinations(sizes.items(), 2), *combinations(sizes.items(), 3)):
        product, text = math.prod(size for _, size in some), "·".join(name for name, _ in some)
        yield Constant(text, product, "size", some)
        yield Constant(f"1/({text})", 1 / product, "inverse", some)
        yield Constant(f"√({text})", math.sqrt(product), "root", some)
        yield Constant(f"1/√({text})", 1 / math.sqrt(product), "root", some)


def _of_one(name: str, size: int) -> Iterator[Constant]:
    sizes = ((name, size),)
    root = math.sqrt(size)
    yield Constant(name, size, "size", sizes)
    yield Constant(f"1/{name}", 1 / size, "inverse", sizes)
    yield Constant(f"√{name}", root, "root", sizes)
    yield Constant(f"1/√{name}", 1 / root, "root", sizes)
    yield Constant(f"{name}/({name}-1)", size / (size - 1), "one less", sizes)
    yield Constant(f"({name}-1)/{name}", (size - 1) / size, "one less", sizes)
    yield Constant(f"√({name}/({name}-1))", math.sqrt(size / (size - 1)), "one less", sizes)
    yield Constant(f"√(({name}-1)/{name})", math.sqrt((size - 1) / size), "one less", sizes)


def terms(sizes: Mapping[str, int]) -> Iterator[Constant]:
    """Yield the constants that wrong offsets are made of."""
    for text, value in {"1": 1.0, **_NUMBERS}.items():
        yield Constant(text, value, "number")
    for name, size in sizes.items():
        if size > 1:
            yield Constant(name, size, "size", ((name, size),))
            yield Constant(f"ln {name}", math.log(size), "logarithm", ((name, size),))
            yield Constant(f"√{name}", math.sqrt(size), "root", ((name, size),))


def named(value: float, candidates: Iterator[Constant]) -> tuple[Constant, ...]:
    """Return the constants that a number may be, whatever its sign."""
    return tuple(constant for constant in candidates if abs(abs(value) / constant.value - 1) < CLOSE_TO_CONSTANT)


def simplest(found: Sequence[Constant]) -> tuple[Constant, ...]:
    """Return the constants of the fewest sizes, symbols before numbers; none where there are too many to choose."""
    fewest = min((len(constant.sizes) for constant in found if constant.sizes), default=0)
    best = [constant for constant in found if len(constant.sizes) == fewest]
    if fewest == 1:
        best += [constant for constant in found if not constant.sizes][: MOST_NAMES - len(best)]
    return tuple(best) if len(best) <= MOST_NAMES else ()


# A pattern: a fact about a wrong result, and the numbers that show it.

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Sample:
    """The numbers that belong to a pattern.

    `places` are where single numbers are taken from, in the shape of the expected; `row` stands last in the table; a
    map is drawn only where it shows something.
    """

    places: Places | None = None
    row: Row | None = None
    has_map: bool = True


NO_MAP = Sample(has_map=False)


@dataclass(frozen=True)
class Pattern:
    """A fact that explains a wrong result, its numbers, and its coefficient if it has one."""

    fact: Fact
    sample: Sample = Sample()
    coefficient: Coefficient | None = None

    def confirmed_by(self, second: Iterable["Pattern"]) -> "Pattern | None":
        """Return the pattern with the names that both trials agree on, or None where the second does not show it."""
        for other in second:
            if other.fact != self.fact:
                continue
            if self.coefficient is None or other.coefficient is None:
                return self
            coefficient = _agreed(self.coefficient, other.coefficient)
            if coefficient.names or not coefficient.needs_name:
                return replace(self, coefficient=replace(coefficient, names=simplest(coefficient.names)))
        return None

    def alone(self) -> "Pattern | None":
        """Return the pattern as one trial shows it: with a name only if there is no other."""
        if self.coefficient is None:
            return self
        names = simplest(self.coefficient.names)
        is_sure = len(names) == 1 and len(names[0].symbols) <= 1
        named = replace(self, coefficient=replace(self.coefficient, names=names if is_sure else ()))
        return None if self.coefficient.needs_name else named


def _agreed(one: Coefficient, other: Coefficient) -> Coefficient:
    """Return a coefficient with the names that another trial's has too, and whether both are the same number."""
    texts = {constant.text for constant in other.names}
    names = tuple(constant for constant in one.names if constant.text in texts)
    return replace(one, names=names, steady=abs(one.value - other.value) < CLOSE_TO_CONSTANT * abs(other.value))
