"""Where a mistake is: the first line whose value diverges from the reference solution's, and how."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from autograder.results import Fact, Place, Wording, opened
from autograder.submission import Cells, cell_of, notebook_of


class StepState(Enum):
    """How a step stands to the solution's: it agrees, holds its numbers in another form or order, or matches none."""

    AGREES = "agrees"
    RESHAPED = "reshaped"
    RETYPED = "retyped"
    MOVED = "moved"
    UNKNOWN = "unknown"
    UNFINISHED = "unfinished"
    WRITTEN = "written"
    MISUSED = "misused"
    RETURNED = "returned"
    INFINITE = "infinite"
    CUT = "cut"


_LABELS = {
    StepState.UNKNOWN: "the first value not in the solution",
    StepState.RESHAPED: "the right numbers, in another shape",
    StepState.RETYPED: "the right numbers, of another dtype",
    StepState.MOVED: "the right numbers, in other places",
    StepState.UNFINISHED: "agrees so far, but a step is missing here",
    StepState.WRITTEN: "writes into what it was given",
    StepState.MISUSED: "the same value as another line",
    StepState.INFINITE: "very large or infinite numbers, which become NaN",
    StepState.RETURNED: "returned, where another value of yours is expected",
    StepState.CUT: "no gradient passes from here on",
}


@dataclass(frozen=True)
class Line:
    """A line that a sentence speaks of, with its cell where that is another one than the cell shown."""

    number: int
    cell: int | None = None

    def __str__(self) -> str:
        return f"line {self.number}" if self.cell is None else f"line {self.number} of cell {self.cell}"


@dataclass(frozen=True)
class Divergence:
    """The first step that diverges; `agreeing` are the lines before it that lead to it and agree.

    `factor` is by how much its value is too large, where that is all, and `constant` the name of that number; `number`
    is a variable with a plain number that the value was made with, and that number. It `is_unique` if no other line
    could be the first to diverge, in any trial. With `misshapen` the solution has no value of its shape, so it may be
    why a later line raises an exception. `owners` are the functions and classes that were running. With `configured` a
    part of another exercise drops out at the rate that it was made with.
    """

    place: Place
    state: StepState
    factor: float | None
    agreeing: tuple[int, ...]
    is_unique: bool
    constant: str | None = None
    number: tuple[str, float] | None = None
    misshapen: bool = False
    owners: frozenset[str] = frozenset()
    configured: bool = False


def label(divergence: Divergence) -> str:
    """Return in a few words what is wrong with the value of a line."""
    if divergence.factor is not None and divergence.state in (StepState.UNKNOWN, StepState.UNFINISHED):
        name = f"; that is {divergence.constant}" if divergence.constant else ""
        return f"{divergence.factor:.4g} × the expected value{name}"
    if divergence.state is StepState.RESHAPED and not divergence.misshapen:
        return "the right numbers, in another arrangement"  # of a shape that occurs, so the shape is not what is wrong
    return _LABELS[divergence.state]


def origin_label(variable: str, line: Line, divergence: Divergence) -> str:
    """Return in a few words what a plain number does to the value of another line."""
    return f"with {variable}, {line} computes {label(divergence)}"


class Decides(Fact):
    """Nothing is known of a mistake but the line of which one change makes the check pass."""

    line: Line

    @property
    def id(self) -> str:
        return "decides"

    def wording(self) -> Wording:
        return Wording(opened(_decides(self.line)), whole=True)


def decides(place: Place) -> str:
    """Return the sentence on a line that alone decides a mistake."""
    return f"{opened(_decides(Line(place.line, place.cell)))}."


def _decides(line: Line) -> str:
    return f"{line} alone decides this check: one change there makes it pass"


class Diverges(Fact):
    """Nothing is known of a mistake but the line where the values diverge."""

    divergence: Divergence
    line: Line

    @property
    def id(self) -> str:
        return self.divergence.state.value

    def wording(self) -> Wording:
        line, state = self.line, self.divergence.state
        if state in (StepState.UNKNOWN, StepState.UNFINISHED) and self.divergence.factor is not None:
            return Wording(opened(f"{line} computes {label(self.divergence)}"), whole=True)
        if state is StepState.UNKNOWN:
            return Wording(opened(f"{line} makes {_LABELS[state]}"), whole=True)
        if state is StepState.UNFINISHED:
            says = f"Your values are as expected up to {line}, but a step is missing there"
            return Wording(says, whole=True)
        if state is StepState.CUT:
            asks = "is something detached there, or made a plain number?"
            return Wording(f"No gradient passes {line}: {asks}", whole=True)
        if state is StepState.RETURNED:
            return Wording(opened(f"{line} makes what you return, but another value of yours is expected"), whole=True)
        computes = {
            StepState.RESHAPED: "computes the right numbers, in another shape",
            StepState.RETYPED: "computes the right numbers, of another dtype",
            StepState.MOVED: "computes the right numbers, in other places",
            StepState.WRITTEN: "writes into what it was given",
            StepState.MISUSED: "computes the same value as another line",
            StepState.INFINITE: "makes very large or infinite numbers, which become NaN",
        }
        return Wording(opened(f"{line} {computes.get(state, label(self.divergence))}"), whole=True)


# Lines and places of a source that was made of a notebook, as those of its cells.


def name_of(cells: Mapping[str, Cells], file: str) -> str:
    """Return the name of the notebook that a file was made of, or of the file itself."""
    return notebook_of(file) if cells.get(file) else file


def place_in(cells: Mapping[str, Cells], place: Place) -> Place:
    """Return a place as one in a cell of the notebook, where its file was made of one."""
    found = cell_of(cells.get(place.file, ()), place.line)
    return replace(place, file=notebook_of(place.file), line=found[1], cell=found[0]) if found else place


def line_in(cells: Mapping[str, Cells], place: Place, number: int) -> "Line":
    """Return a line of a place's file for a sentence: with its cell where that is another one than the place's."""

    own = cells.get(place.file, ())
    found, here = cell_of(own, number), cell_of(own, place.line)
    if found is None:
        return Line(number)
    return Line(found[1], None if here is not None and here[0] == found[0] else found[0])


def within(cells: Mapping[str, Cells], place: Place, lines: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Return those lines of a place's file that are in its cell, by their numbers there."""
    own = cells.get(place.file, ())
    here = cell_of(own, place.line)
    if here is None:
        return tuple(lines)
    found = ((cell_of(own, number), text) for number, text in lines)
    return tuple((at[1], text) for at, text in found if at is not None and at[0] == here[0])


# Limits the processor time for locating mistakes: that is help, and must not delay marks.

EXERCISE_SECONDS = 2.0
SUBMISSION_SECONDS = 6.0
"""Of one exercise, and of all of a submission. Honest ones take an eighth on a busy machine (benchmarks/hostile.py)."""


class OutOfTime(Exception):
    """The processor time is used up."""


class Deadline:
    """A limit on the processor time of this thread (s); waiting and other threads do not count."""

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds

    def check(self) -> None:
        """Raise `OutOfTime` where the time is used up."""
        if time.thread_time() > self._until:
            raise OutOfTime

    @property
    def left(self) -> float:
        """Return the processor time that is left (s), negative where it is used up."""
        return self._until - time.thread_time()
