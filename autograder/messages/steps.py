"""Steps of a worked example that are not written yet, or differ from the numbers on paper."""

from autograder.messages.comparisons import array
from autograder.messages.wording import Fact, Wording
from autograder.protocol import Array, Opaque, Value

Grid = tuple[tuple[str, ...], ...]
"""Rows of numbers, as they are written."""

NOT_RUN = "this step was not run"


class StepUnwritten(Fact):
    """A step needs code that is not written yet."""

    id = "todo"

    def wording(self) -> Wording:
        return Wording("This TODO is not written yet", whole=True)


class StepDiffers(Fact):
    """A step has other numbers than the paper, or another shape: what was found, and what is on paper."""

    title: str
    found: str = ""
    paper: str = ""

    id = "value"

    def wording(self) -> Wording:
        if self.found:
            return Wording(f"{self.title}: your code returns {self.found}, on paper it is {self.paper}", whole=True)
        return Wording(f"{self.title}: your numbers differ from those on paper", whole=True)


def grid_shape(grid: Grid) -> str:
    """Return how many rows and numbers there are, in words."""
    lengths = sorted({len(row) for row in grid})
    kind = "number" if all(_is_number(word) for row in grid for word in row) else "word"
    if len(grid) == 1:
        return f"one {kind}" if lengths == [1] else f"{lengths[0]} {kind}s"
    return f"{len(grid)} rows of {' to '.join(str(length) for length in dict.fromkeys((lengths[0], lengths[-1])))}"


def _is_number(word: str) -> bool:
    """Whether a word is a number, or a mark of a mask."""
    try:
        float(word)
    except ValueError:
        return word in ("x", ".")
    return True


def described(value: Value) -> str:
    """Return what a value is that has no rows of numbers, in words."""
    if isinstance(value, Array):
        return array(value)
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, Opaque):
        return f"an object of type {value.type_name}"[:80]
    return "something that is not a row of numbers"
