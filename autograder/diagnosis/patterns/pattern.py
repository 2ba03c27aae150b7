"""A pattern: what it says of a wrong result, and which numbers show it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autograder.diagnosis.patterns.case import Places
from autograder.diagnosis.patterns.constants import CLOSE as SAME
from autograder.diagnosis.patterns.constants import Constant, simplest

Row = tuple[str, str, str]

LARGEST = "largest differences"


@dataclass(frozen=True)
class Shown:
    """The evidence that belongs to a pattern.

    `places` are where the witnesses are taken from, in the shape of the expected; `row` stands last in the table; a
    map is drawn only where it says something.
    """

    title: str = LARGEST
    places: Places | None = None
    row: Row | None = None
    map: bool = True


@dataclass(frozen=True)
class Pattern:
    """A pattern that was recognised: `phrase` says what the part is, `detail` asks or explains.

    Another trial confirms it if it shows the same pattern with the same `claim`. `factor` is the constant it found, and
    `constants` what that may be; with `needs_name` it means nothing without a name. A `steady` factor is that of both
    trials.
    """

    id: str
    phrase: str
    claim: str = ""
    detail: str = ""
    shown: Shown = Shown()
    factor: float | None = None
    constants: tuple[Constant, ...] = ()
    needs_name: bool = False
    steady: bool = False

    def confirmed_by(self, second: Iterable["Pattern"]) -> "Pattern | None":
        """Return the pattern with the names that both trials agree on, or None where the second does not show it."""
        for other in second:
            if (other.id, other.claim) != (self.id, self.claim):
                continue
            theirs = {each.text for each in other.constants}
            both = tuple(each for each in self.constants if each.text in theirs)
            if both or not self.needs_name:
                return replace(self, constants=simplest(both), steady=_alike(self.factor, other.factor))
        return None

    def alone(self) -> "Pattern | None":
        """Return the pattern as one trial shows it: with a name only if there is no other."""
        names = simplest(self.constants)
        named = replace(self, constants=names if len(names) == 1 and len(names[0].symbols) <= 1 else ())
        return None if self.needs_name else named

    @property
    def because(self) -> str:
        """What the constant is: `2.646 = √K (K = 7)`; nothing where it has no name."""
        if self.factor is None or not self.constants:
            return "the same for other sizes" if self.steady else ""
        names = " = ".join(each.text for each in self.constants)
        sizes = {symbol: size for each in self.constants for symbol, size in each.sizes}
        where = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
        value = f"{abs(self.factor):.4g}"
        equation = names if names == value else f"{value} = {names}"
        return "" if equation == value else f"{equation} ({where})" if where else equation


def _alike(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and abs(one - other) < SAME * abs(other)
