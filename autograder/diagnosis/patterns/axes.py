"""What the axes of a tensor count, in the words of the course."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
                free = next((name for each in _ORDINALS if (name := f"{each} {words[-1]}") not in named), None)
            named.append(free or unnamed(at))
        return tuple(named)


def unnamed(axis: int) -> str:
    """Return what an axis is called that has no word."""
    return f"axis {axis}"


def item(name: str, index: int) -> str:
    """Return one place along an axis: `head 2`, or `index 2 of axis 1`."""
    return f"{name} {index}" if is_named(name) else f"index {index} of {name}"


def one_of(name: str) -> str:
    """Return what an axis counts, in the singular: `head`, or `index of axis 1`."""
    return name if is_named(name) else f"index of {name}"


def is_named(name: str) -> bool:
    """Whether an axis has a word."""
    return not name.startswith("axis ")


def agreed(names: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return the names that two trials agree on: a word that only one of them has could be a coincidence of sizes."""
    if len(names) != len(others):
        return tuple(map(unnamed, range(len(names))))
    return tuple(
        one if one == other else unnamed(at) for at, (one, other) in enumerate(zip(names, others, strict=True))
    )
