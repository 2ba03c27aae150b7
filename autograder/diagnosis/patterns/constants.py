"""Finds names for numbers: what a wrong factor or offset is made of."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, permutations

from autograder.messages.constants import Constant

CLOSE = 2e-4
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
    return tuple(constant for constant in candidates if abs(abs(value) / constant.value - 1) < CLOSE)


def simplest(found: Sequence[Constant]) -> tuple[Constant, ...]:
    """Return the constants of the fewest sizes, symbols before numbers; none where there are too many to choose."""
    fewest = min((len(constant.sizes) for constant in found if constant.sizes), default=0)
    best = [constant for constant in found if len(constant.sizes) == fewest]
    if fewest == 1:
        best += [constant for constant in found if not constant.sizes][: MOST_NAMES - len(best)]
    return tuple(best) if len(best) <= MOST_NAMES else ()
