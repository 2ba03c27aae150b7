"""The judgement on an exercise: a verdict on each check, where its mistake is, and all that locating it needs."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from autograder.answer_key import AnswerKey, Misconception
from autograder.checks import Check, Key
from autograder.course import Exercise
from autograder.results import (
    Certainty,
    Evidence,
    Fact,
    FindingKind,
    Place,
    Status,
    Todo,
    first_failing,
    headline,
    opened,
)
from autograder.runner import NO_SURVEY, Outcome, Prints, Survey
from autograder.submission import Cells, cell_of, notebook_of

from .named_sizes import Coefficient


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
    AGAIN = "again"
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
    StepState.AGAIN: "the same value more than once",
    StepState.INFINITE: "very large or infinite numbers, which become NaN",
    StepState.RETURNED: "another value of yours is expected",
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
        factor = f"{divergence.factor:.4g}"
        name = f"; that is {divergence.constant}" if divergence.constant not in (None, factor) else ""
        return f"{factor} × the expected value{name}"
    if divergence.state is StepState.RESHAPED and not divergence.misshapen:
        return "the right numbers, in another arrangement"  # of a shape that occurs, so the shape is not what is wrong
    return _LABELS[divergence.state]


def origin_label(variable: str, line: Line, divergence: Divergence) -> str:
    """Return in a few words what a plain number does to the value of another line."""
    return f"with {variable}, {line} computes {label(divergence)}"


def deciding_line(line: Line) -> Fact:
    """Nothing is known of a mistake but the line of which one change makes the check pass."""
    return Fact("decides", f"One change at {line} makes this check pass", whole=True)


def decides(place: Place) -> str:
    """Return the sentence on a line of which one change makes a check pass."""
    return headline("", deciding_line(Line(place.line, place.cell)))


def diverging_line(divergence: Divergence, line: Line) -> Fact:
    """Nothing is known of a mistake but the line where the values diverge."""
    return Fact(divergence.state.value, _diverges(divergence, line), whole=True)


def _diverges(divergence: Divergence, line: Line) -> str:
    state = divergence.state
    if state in (StepState.UNKNOWN, StepState.UNFINISHED) and divergence.factor is not None:
        return opened(f"{line} computes {label(divergence)}")
    if state is StepState.UNKNOWN:
        return opened(f"{line} makes {_LABELS[state]}")
    if state is StepState.UNFINISHED:
        return f"Your values are as expected up to {line}, but a step is missing there"
    if state is StepState.CUT:
        return f"No gradient passes {line}: is something detached there, or made a plain number?"
    if state is StepState.RETURNED:
        return f"Another value of yours is expected, not that of {line}"
    verb = {StepState.WRITTEN: "", StepState.INFINITE: "makes "}.get(state, "computes ")
    return opened(f"{line} {verb}{label(divergence)}")


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


_FAILED: tuple[Status, ...] = ("timeout", "memory", "error", "fail")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one check: its status, its points in hundredths, and why it failed.

    In a report made for a mark, `output` is equal for all who fail with the same result.
    """

    check: Check
    status: Status
    score: int
    max_score: int
    diagnosis: "Diagnosis | None" = None
    seconds: float = 0.0
    output: str | None = None

    @property
    def bonus(self) -> bool:
        """Whether the check only adds points."""
        return self.check.bonus

    @property
    def of(self) -> str | None:
        """The function or class that the check calls."""
        return self.check.of

    @property
    def misconception(self) -> Misconception | None:
        """The misconception that explains the failure."""
        return self.diagnosis.misconception if self.diagnosis is not None else None

    @property
    def mistake(self) -> str | None:
        """The id of the misconception that explains the failure."""
        return self.misconception.id if self.misconception is not None else None


@dataclass(frozen=True)
class Trials:
    """What was judged: the outcomes, the wrong ones, the answer key, the sizes, the student's file and its syntax.

    `todos` are the TODOs of the file.
    """

    outcomes: Mapping[Key, Outcome]
    failing: Collection[Key]
    key: AnswerKey
    sizes: Callable[[Check, int], Mapping[str, int]]
    source: bytes
    survey: Survey
    todos: tuple[Todo, ...] = ()

    def of(self, check: Check) -> list[Outcome]:
        """Return the outcomes of a check."""
        return [self.outcomes[key] for key in check.keys]

    def fails(self, check: Check) -> bool:
        """Whether a trial of a check is wrong."""
        return any(key in self.failing for key in check.keys)


@dataclass(frozen=True)
class Judgement:
    """The verdicts on an exercise. `trials` is None where nothing was run, or the kit itself failed.

    `stood_in` has the earlier exercises in whose place reference parts were used. `prints` is what the code printed.
    `locations` are those of the mistakes by check, once they were looked for.
    """

    exercise: Exercise
    verdicts: tuple[Verdict, ...]
    trials: Trials | None = None
    stood_in: tuple[str, ...] = ()
    prints: Prints = field(default_factory=dict)
    locations: Mapping[str, "Location"] = field(default_factory=dict)

    @property
    def survey(self) -> Survey:
        """What the syntax of the file says, if it was run."""
        return self.trials.survey if self.trials is not None else NO_SURVEY

    @property
    def ran_to_a_mistake(self) -> bool:
        """Whether the exercise, or a bonus check of it if nothing else, fails by what it computes."""
        first = self.first_failure
        is_bonus = self.status == "pass" and first is not None and first.status in ("fail", "error")
        return is_bonus or self.status in ("fail", "error")

    def slowest(self, keys: Collection[Key] | None = None) -> float:
        """Return the longest time (s) that one of these trials took, or one of all."""
        outcomes = self.trials.outcomes if self.trials is not None else {}
        return max((outcome.seconds for key, outcome in outcomes.items() if keys is None or key in keys), default=0.0)

    @property
    def status(self) -> Status:
        """The status of the exercise, bonus checks aside: that of the failure to look at first, if that was judged."""
        judged = overall([verdict.status for verdict in self.verdicts if not verdict.bonus])
        first = self.first_failure.status if self.first_failure is not None else judged
        return first if {judged, first} == {"fail", "error"} else judged

    @property
    def score(self) -> int:
        """The points, in hundredths."""
        return sum(verdict.score for verdict in self.verdicts)

    @property
    def first_failure(self) -> Verdict | None:
        """The verdict to look at first."""
        return first_failing(self.verdicts)


def overall(statuses: list[Status]) -> Status:
    """Return the status of an exercise: that of its first failing check; not started only if all of it is not."""
    if all(status == "pass" for status in statuses):
        return "pass"
    if len(set(statuses)) == 1:
        return statuses[0]
    if set(statuses) <= {"not_started", "waits"}:
        return "not_started"
    if "grader_error" in statuses:
        return "grader_error"
    return next((status for status in statuses if status in _FAILED), "fail")


# The diagnosis of a failed check: all that is known of it, as values, before it is put into words.


BESIDE_A_NAME: Collection[FindingKind] = ("structure", "device")
"""The kinds of facts that stand below the name of a misconception."""


@dataclass(frozen=True)
class Diagnosis:
    """Why a check failed: a fact about a part, `subject`, and the misconception behind it, if it is a known one.

    The `certainty` is that of the misconception: alike if it alone gives what was observed. If the failure
    `is_one_of_several`, there is another mistake too. `words` name the sizes that the coefficient may be made of.
    `quoted` has the library's own words. With `only_some_sizes` the same code is right for other sizes.
    """

    kind: FindingKind
    fact: Fact
    subject: str = ""
    coefficient: Coefficient | None = None
    words: Mapping[str, str | None] = field(default_factory=dict)
    only_some_sizes: bool = False
    quoted: str | None = None
    place: Place | None = None
    evidence: Evidence | None = None
    misconception: Misconception | None = None
    certainty: Certainty = Certainty.DESCRIBED
    is_one_of_several: bool = False


UNEXPLAINED = ("value", "special", "other")
"""The ids of findings that say only that something differs."""


@dataclass(frozen=True)
class Location:
    """Where a mistake was found: at a known statement, else at the line where the values diverge.

    The only statement of a misconception is alike. A line is shown if an edit there makes the check pass and leaves no
    mistake of this kind. It is likely if an edit mends some checks only, if the values diverge there, or if it is the
    first of several statements or the head of a function.

    With `is_origin` it is the line that makes the plain number which is wrong there. `first_mistake` is a misconception
    that the place shows, though it may not explain everything. `is_one_of_several` says that a mistake was found on
    another line too. `adds` is the side of the line on which the edit that shows it adds another one.
    """

    place: Place
    divergence: Divergence | None = None
    is_origin: bool = False
    first_mistake: Misconception | None = None
    certainty: Certainty = Certainty.LIKELY
    is_one_of_several: bool = False
    adds: str = ""


def claim_of(diagnosis: Diagnosis | None, location: Location | None) -> Certainty:
    """Return how sure the name of a misconception is.

    It is shown if the code has what the name says, or if the place shows it. Equal results alone show that the program
    is like one with this mistake.
    """
    if location is not None and location.first_mistake is not None:
        return Certainty.SHOWN
    if diagnosis is None or diagnosis.misconception is None:
        return Certainty.DESCRIBED
    return Certainty.SHOWN if diagnosis.certainty is Certainty.SHOWN else Certainty.ALIKE
