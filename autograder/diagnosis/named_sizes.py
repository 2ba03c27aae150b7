"""Names for sizes: what an axis counts, and which number made of sizes a wrong factor or offset is."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, permutations
from types import CodeType, FunctionType

from autograder.results import unnamed

Words = Mapping[str, tuple[str, ...]]
"""For each symbol of a size its words; the first that no earlier axis of a shape has is used."""

_ORDINALS = ("second", "third", "fourth")


@dataclass(frozen=True)
class Axes:
    """The sizes of one trial, each with a symbol of its own, and the words for them.

    No two sizes of a trial are alike, so a size in a shape tells what its axis counts. Only those that the check has
    `used` explain a number; None are all.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    words: Words = field(default_factory=dict)
    used: Collection[str] | None = None

    @property
    def used_sizes(self) -> Mapping[str, int]:
        """The sizes that may explain a number."""
        return used_of(self.sizes, self.used)

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


def used_of(sizes: Mapping[str, int], used: Collection[str] | None) -> Mapping[str, int]:
    """Return the sizes whose symbols are used, all if that is None."""
    return sizes if used is None else {symbol: size for symbol, size in sizes.items() if symbol in used}


@lru_cache(maxsize=1024)
def symbols_in(probe: Callable[..., object]) -> frozenset[str]:
    """Return the words in the texts of a check, and of the functions that it uses: so it asks for sizes."""
    found, left = set[object](), list[object]([probe])
    words = set[str]()
    while left:
        one = left.pop()
        if isinstance(one, str):
            words |= {*one.split()}
        elif isinstance(one, tuple):
            left += one
        elif isinstance(one, CodeType):
            left += one.co_consts
        elif isinstance(one, FunctionType) and one not in found:
            found.add(one)
            cells = [cell.cell_contents for cell in one.__closure__ or ()]
            left += [one.__code__, *cells, *map(one.__globals__.get, one.__code__.co_names)]
    return frozenset(words)


def agreed(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return the names that two trials agree on: a word that only one of them has could be a coincidence of sizes."""
    if len(names) != len(others):
        return tuple(map(unnamed, range(len(names))))
    return tuple(
        one if one == other else unnamed(at) for at, (one, other) in enumerate(zip(names, others, strict=True))
    )


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
