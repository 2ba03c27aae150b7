"""Names the axes of a tensor by their sizes, in the words of the course."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.messages.elements import unnamed

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
