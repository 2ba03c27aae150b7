"""The report as frozen types, and the words of a fact. Its JSON has one shape, and every rendering reads it alone."""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import total_ordering
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from autograder.formats import REPORT, Unreadable, decode

LONGEST = 160
"""A message in characters: two lines of a terminal."""

LARGEST = "largest differences"
MISSING = {"above": "a line is missing above", "below": "a line is missing below"}
"""The label of a line that is right, by the side on which another one makes the check pass."""


@dataclass(frozen=True)
class Fact:
    """What was found out about a submission, in words.

    `says` what is wrong, `also` gives evidence where there is room, `asks` leads to the cause.
    `witnesses` is the title above the numbers that show the fact. A `whole` sentence names its own subject.
    `data` is what two trials have to share if the words hold numbers of one of them, or what somebody reads of it.
    """

    id: str
    says: str
    also: tuple[str, ...] = ()
    asks: str = ""
    witnesses: str = LARGEST
    whole: bool = False
    data: object = None

    def is_like(self, other: "Fact") -> bool:
        """Whether two trials show the same fact: with `data`, its words may be those of one trial alone."""
        return self == other if self.data is None else (self.id, self.data) == (other.id, other.data)


def headline(subject: str, fact: Fact) -> str:
    """Return what is wrong, and nothing else."""
    return sentence(_start(subject, fact))


def message(subject: str, fact: Fact, reason: str = "", then: str = "") -> str:
    """Return what is wrong with its evidence and its reason, as much of them as has room before the sentence `then`."""
    clauses = [*fact.also, *filter(None, [reason])]
    room = LONGEST - len(f" {then}".rstrip())
    while clauses and len("; ".join([_start(subject, fact), *clauses])) >= room:
        clauses.pop()
    return f"{sentence('; '.join([_start(subject, fact), *clauses]), room)} {then}".rstrip()


def _start(subject: str, fact: Fact) -> str:
    return fact.says if fact.whole else f"{subject or 'Your result'}: {fact.says}"


def sentence(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line that ends like a sentence, cut where it is too long."""
    text = " ".join(text.split())
    text = text if text.endswith((".", "?", "!", "…")) else f"{text}."
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_CODE = re.compile(r"[_.()\[\]=\d]")


def opened(text: str, names: Collection[str] = ()) -> str:
    """Return an author's text with a capital first letter, unless it begins with code or with one of these names.

    A single letter other than the article is a variable or a symbol of a formula.
    """
    first = text.split(" ", 1)[0].rstrip(".:,?")
    is_symbol = len(first) == 1 and first != "a"
    return text if is_symbol or _CODE.search(first) or first in names else text[:1].upper() + text[1:]


# One element of a tensor in words: its position along named axes, and its value.

DIGITS = 4

Position = tuple[tuple[str, int], ...]
"""The name of an axis and an index along it, for each axis that counts something."""


def unnamed(axis: int) -> str:
    """Return the name of an axis that has no word."""
    return f"axis {axis}"


def is_named(name: str) -> bool:
    """Whether an axis has a word."""
    return not name.startswith("axis ")


def item(name: str, index: int) -> str:
    """Return one index along an axis: `head 2`, or `index 2 of axis 1`."""
    return f"{name} {index}" if is_named(name) else f"index {index} of {name}"


def one_of(name: str) -> str:
    """Return what an axis counts, in the singular: `head`, or `index of axis 1`."""
    return name if is_named(name) else f"index of {name}"


def position(pairs: Position) -> str:
    """Return a position in words: `query 0, feature 1`, or `[0, 1]` where no axis has a word."""
    if not any(is_named(name) for name, _ in pairs):
        return str([index for _, index in pairs])
    return ", ".join(item(name, index) for name, index in pairs)


def element(value: float, dtype: str) -> str:
    """Return one element of a tensor as text."""
    if math.isnan(value):
        return "NaN"
    if dtype == "bool" and value in (0, 1):
        return str(bool(value))
    if is_integral(dtype) and float(value).is_integer():
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def is_integral(dtype: str) -> bool:
    """Whether a dtype holds ids, counts, or true and false."""
    return dtype == "bool" or "int" in dtype


def joined(words: Sequence[str], last: str = "and", most: int | None = None) -> str:
    """Return `a`, `a and b`, `a, b and c`; nothing for no words. Of more than `most`, the others are counted."""
    if most is not None and len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def span(low: float, high: float) -> str:
    """Return `0.5 to 1.2`."""
    return f"{low:.3g} to {high:.3g}"


# The check to look at first: the one that the screen explains, whose place is looked for, and that hints are about.


class Checked(Protocol):
    """A check that was judged."""

    @property
    def status(self) -> "Status": ...

    @property
    def bonus(self) -> bool: ...

    @property
    def of(self) -> str | None:
        """The function or class that the check calls."""

    @property
    def mistake(self) -> str | None:
        """The id of the misconception or convention that explains the failure."""


Failed = TypeVar("Failed", bound=Checked)


def first_failing(checks: Sequence[Failed]) -> Failed | None:
    """Return the check to look at first: the first that fails by a named mistake, else the first that does not pass.

    If most checks of that function or class raise an exception and none by that mistake, the exception comes first: it
    hides what is behind it. What is not written yet comes after what fails. A check that only waits, or is a bonus,
    comes last.
    """
    failing = sorted((check for check in checks if check.status != "pass"), key=_lateness)
    judged = [check for check in failing if check.status not in ("waits", "not_started")] or failing
    first = _first_named(judged)
    same = [check for check in judged if first is not None and check.of == first.of]
    raising = [check for check in same if check.status == "error"]
    if first is None or 2 * len(raising) <= len(same):
        return first
    is_its_cause = first.mistake is not None and first.mistake in {check.mistake for check in raising}
    return first if first in raising or is_its_cause else _first_named(raising)


def _lateness(check: Checked) -> tuple[bool, ...]:
    return check.status == "waits", check.bonus, check.status == "not_started"


def _first_named(checks: Sequence[Failed]) -> Failed | None:
    return next((check for check in checks if check.mistake is not None), checks[0] if checks else None)


SCHEMA = REPORT.number

Status = Literal[
    "pass", "fail", "error", "timeout", "memory", "waits", "not_started", "missing", "held", "grader_error"
]
NOT_JUDGED = frozenset[Status](("held", "grader_error"))
"""The statuses without a score: nobody has decided yet which file counts, or the grader failed."""
FindingKind = Literal[
    "misconception", "convention", "pattern", "place", "exception", "structure", "forbidden", "device", "dtype"
]
"""A convention is a program of the catalogue that is right elsewhere: no page calls it a mistake."""

KNOWN_AS: Mapping[str, str] = {"misconception": "mistake", "convention": "convention"}

REFUSED = ("structure", "unregistered")
"""The ids of findings in the words of a check that refused a program."""
"""The kinds of findings that the catalogue names, and what messages call them."""
TodoState = Literal["done", "started", "open", "empty"]


def function_name(qualified: str) -> str:
    """Return the function, with its class, of a code object's qualified name; "" at the top level of a file.

    A comprehension and a lambda belong to the function around them.
    """
    parts = qualified.split(".")
    while parts and parts[-1].startswith("<"):
        parts.pop()
    inner = max((index for index, part in enumerate(parts) if part == "<locals>"), default=-1)
    return ".".join(parts[inner + 1 :])


@dataclass(frozen=True)
class Place:
    """Where a finding points: a line of the student's own file, and there the characters from `column` up to `end`.

    In a notebook the line is one of that `cell`; every cell counts, text too, from 1.
    """

    file: str
    line: int
    function: str | None = None
    column: int | None = None
    end: int | None = None
    cell: int | None = None

    @property
    def line_name(self) -> str:
        """The name of the line, in a notebook that of a cell's line."""
        return f"line {self.line}" if self.cell is None else f"cell {self.cell}, line {self.line}"


@dataclass(frozen=True)
class Maps:
    """The same two-dimensional slice of the expected array and of yours, row by row, on one scale.

    None stands for a number that is not finite. `caption` says which slice it is, and what its rows and columns are.
    """

    caption: str
    expected: tuple[tuple[float | None, ...], ...]
    yours: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Picture:
    """What a student's finished part does, as a two-dimensional array; None stands for a number that is not finite.

    `rows` and `columns` say what the axes are, `row_labels` and `column_labels` may name each of them. With `bars`
    there is one row, and its numbers are the heights of bars: `rows` says what a height is.
    """

    title: str
    values: tuple[tuple[float | None, ...], ...]
    rows: str = ""
    columns: str = ""
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()
    bars: bool = False


@dataclass(frozen=True)
class Evidence:
    """The numbers behind a finding; only in self-checks, whose seed is public.

    `name` is the part of the observation; `rows` are `(label, expected, yours)`, already formatted, the shape and the
    dtype first and the most useful one last; `witnesses` are `(index, expected, yours)` of single elements that show
    what the finding says, with a title, and `axes` names the axes of an index.
    """

    name: str
    rows: tuple[tuple[str, str, str], ...] = ()
    witnesses: tuple[tuple[str, str, str], ...] = ()
    witness_title: str = "largest differences"
    axes: str = "at"
    maps: Maps | None = None


@total_ordering
class Certainty(Enum):
    """How sure it is that a known mistake is behind a failure, or that a mistake is where a finding points.

    The order is that of the levels here. A name is `described`, `alike` or `shown`; a place may be `likely` too.
    """

    DESCRIBED = "described"
    """What happened, such as an exception on a line: no claim that this is the mistake."""

    LIKELY = "likely"
    """The mistake is probably this one, or probably here."""

    ALIKE = "alike"
    """The results equal those of a known mistake, or the line is a statement that it is known by."""

    SHOWN = "shown"
    """The code has what the name says, or one change of that line makes the check pass."""

    def __lt__(self, other: "Certainty") -> bool:
        levels = list(Certainty)
        return levels.index(self) < levels.index(other)


@dataclass(frozen=True)
class Finding:
    """Why a check failed: a sentence of at most 160 characters, and what is known beside it.

    `id` names the misconception, the convention or the pattern; `name` is the name of the first two in words. `detail`
    is the library's own message, or the sentence that explains a misconception. `source` has the lines around the
    place, `label` says in a few words what is wrong there, and `agrees` are the lines before it that still agree.
    `certainty` says how sure the place is, and `claim` how sure the name is. An exception `at_import` was raised before
    any check ran.
    """

    kind: FindingKind
    id: str
    message: str
    name: str | None = None
    detail: str | None = None
    place: Place | None = None
    source: tuple[tuple[int, str], ...] = ()
    evidence: Evidence | None = None
    label: str | None = None
    agrees: tuple[int, ...] = ()
    certainty: Certainty = Certainty.DESCRIBED
    at_import: bool = False
    claim: Certainty = Certainty.DESCRIBED

    @property
    def known_as(self) -> str | None:
        """What the catalogue names, a mistake or a convention; None if it does not name this."""
        return KNOWN_AS.get(self.kind)


@dataclass(frozen=True)
class CheckResult:
    """One check: its verdict, its points in whole hundredths, and why. `hints` go from a question to the step.

    A `bonus` adds to the score; its `max_score` is 0. In a report made for a mark, `output` is equal for all who fail
    with the same result, up to rounding, and reveals nothing else about it. `of` is the function or class it calls.
    """

    id: str
    title: str
    status: Status
    score: int
    max_score: int
    seconds: float = 0.0
    finding: Finding | None = None
    hints: tuple[str, ...] = ()
    bonus: bool = False
    output: str | None = None
    of: str | None = None

    @property
    def mistake(self) -> str | None:
        """The id of the misconception or convention that explains the failure."""
        return self.finding.id if self.finding is not None and self.finding.known_as else None

    @property
    def is_alike(self) -> bool:
        """Whether the results equal those of a misconception, and nothing else shows that it is in the code."""
        return self.mistake is not None and self.finding is not None and self.finding.claim is Certainty.ALIKE


@dataclass(frozen=True)
class Todo:
    """A TODO of the stub, by the name of its function or method, and its state in the student's file.

    `done` has code, `open` raises NotImplementedError as handed out, and `started` has code and raises it still.
    `empty` neither raises it nor has code of its own. `place` is the line that raises, the last line of an empty one,
    or the first line of code. `checks` are the ids of the checks of what it returns.
    """

    name: str
    state: TodoState
    place: Place
    checks: tuple[str, ...] = ()

    @property
    def is_written(self) -> bool:
        """Whether it has code and nothing is left to do."""
        return self.state == "done"


@dataclass(frozen=True)
class Flag:
    """What a person should look at, because no honest program of the course needs it: it costs no points.

    `found` is the name or the kind of call, and `why` the reason that course.toml gives, a clause about it.
    """

    place: Place
    found: str
    why: str


@dataclass(frozen=True)
class PrintOutput:
    """What a student's code printed in a trial of a check, counted from 1; with no check, while it was imported.

    `times` is the number of trials of the check that printed exactly this; this one is the first of them.
    """

    text: str
    check: str | None = None
    trial: int = 1
    times: int = 1


@dataclass(frozen=True)
class ExerciseResult:
    """One exercise: its verdict, and its points together.

    Reference parts took the place of the earlier exercises in `stood_in`, but not of the student's `helpers` there.
    `built` says in one line what a student who passed has built, `pictures` show it, and `prints` are what the code
    printed, that of the first failure first; only in self-checks. `todos` are those of the stub that are still there.
    `searched` says that edits were tried on the first failure, to prove its place.
    `flags` are what a person should look at.
    """

    id: str
    title: str
    status: Status
    score: int
    max_score: int
    checks: tuple[CheckResult, ...]
    parts: Literal["own", "stand-in"] = "own"
    stood_in: tuple[str, ...] = ()
    built: str | None = None
    pictures: tuple[Picture, ...] = ()
    prints: tuple[PrintOutput, ...] = ()
    todos: tuple[Todo, ...] = ()
    helpers: tuple[str, ...] = ()
    searched: bool = False
    flags: tuple[Flag, ...] = ()

    @property
    def in_progress(self) -> bool:
        """Whether a part is written, another part is not, and nothing that is written fails."""
        required = {check.status for check in self.checks if not check.bonus}
        begun = self.status == "fail" or any(todo.state in ("done", "started") for todo in self.todos)
        fails = self.status not in ("fail", "not_started") or not required <= {"pass", "not_started", "waits"}
        return begun and not fails and "not_started" in required

    @property
    def first_failure(self) -> CheckResult | None:
        """The check to look at first."""
        return first_failing(self.checks)


@dataclass(frozen=True)
class Report:
    """Everything about one submission. `submission` holds student and digest, and notes of the intake.

    In it, `ordinary` are the notes that nothing can be lost by, `of_time` those on when and how it was handed in, and
    `handed_in_by` is whose hand-in counts for a group.
    If the submission is held, because none of its files could be read, it has the names `found` in it.

    `level` is the isolation level: from L3, all layers of the sandbox, to L0, a plain process.
    """

    course: str
    submission: Mapping[str, Any]
    suite: str
    device: str
    isolation: str
    exercises: tuple[ExerciseResult, ...]
    log: str = field(default="")
    level: str = "L0"

    @property
    def score(self) -> int:
        return sum(exercise.score for exercise in self.exercises)

    @property
    def max_score(self) -> int:
        """Return the sum of the maximum scores, in hundredths."""
        return sum(exercise.max_score for exercise in self.exercises)

    @property
    def statuses(self) -> set[Status]:
        """Return the statuses of all exercises."""
        return {exercise.status for exercise in self.exercises}

    @property
    def is_held(self) -> bool:
        """Whether a person has to decide: no file could be read, or work is in a file that is not read."""
        return "held" in self.statuses

    @property
    def is_unread(self) -> bool:
        """Whether no file of the submission could be read; if there is a doubt about one instead, a note says so."""
        return self.statuses == {"held"} and ("found" in self.submission or not self.submission.get("notes"))

    @property
    def has_score(self) -> bool:
        """Whether every exercise was judged. Without that a report has no score, which is not zero."""
        return self.statuses.isdisjoint(NOT_JUDGED)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON-ready data, in the shape that is promised."""
        return {
            "schema": SCHEMA,
            "course": self.course,
            "submission": dict(self.submission),
            "suite": self.suite,
            "device": self.device,
            "isolation": self.isolation,
            "level": self.level,
            "score": self.score,
            "max_score": self.max_score,
            "exercises": [_data(exercise) for exercise in self.exercises],
            "log": self.log,
        }


def _data(value: Any) -> Any:
    """Return a result as JSON-ready data. It shares its parts with the result, so it is not to be changed."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Enum():
            return value.value
        case list() | tuple():
            return [_data(item) for item in value]
        case dict():
            return {key: _data(item) for key, item in value.items()}
    return {name: _data(field) for name, field in vars(value).items()}


# A report read back from its JSON, by the types of its fields.


class UnknownFormat(ValueError):
    """A report of another format; the message is a sentence with both formats and what to do."""


def read_report(file: Path) -> tuple[Report, Mapping[str, Any]] | None:
    """Return the report in a file and its whole JSON; None if it is none. Raises `UnknownFormat`."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return from_json(data), data
    except UnknownFormat:
        raise
    except (OSError, ValueError, RecursionError):
        return None


def from_json(data: Mapping[str, Any]) -> Report:
    """Return the report of a JSON; raises `Unreadable` if it is not a report, and `UnknownFormat`."""
    if not isinstance(data, dict) or "schema" not in data:
        raise Unreadable("it names no format")
    if problem := REPORT.problem_of(data["schema"]):
        raise UnknownFormat(problem)
    return decode(Report, data)
