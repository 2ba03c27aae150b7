"""A pattern: a fact about a wrong result, and the numbers that show it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from autograder.diagnosis.patterns.case import Places
from autograder.diagnosis.patterns.constants import CLOSE, simplest
from autograder.messages import Fact
from autograder.messages.constants import Coefficient

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
    return replace(one, names=names, steady=abs(one.value - other.value) < CLOSE * abs(other.value))
