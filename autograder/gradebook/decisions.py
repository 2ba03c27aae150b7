"""adjustments.csv: what a person decides about marks. It is a log: rows are added, and nothing is ever changed in it.

A later row of the same student and exercise replaces an earlier one; `add` and `comment` count beside each other. A row
of one student counts before a row of everybody, whichever is later. A time that a platform has, which `course adjust
--times` takes over, counts where nobody decided about the time.
Verdicts stay as they are: adjustments count when marks are read.
"""

import getpass
import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder import ending
from autograder.course import (
    Course,
    UsageError,
    folder_lock,
    nearest,
    resolve_exercise,
    state_folder,
    suggestion,
    write_atomically,
)
from autograder.report import number, one_line, plural, points
from autograder.submission import Handout, notebook_of, printable, printable_name

from .class_folder import Entry, HandInPart
from .roster import (
    Roster,
    all_mistakes,
    at_line,
    csv_rows,
    days_of,
    hundredths_of,
    known_id,
    named,
    parse_time,
    row_text,
)

FILE = "adjustments.csv"
COLUMNS = ("student", "exercise", "kind", "value", "text", "by", "when")
KINDS = ("points", "add", "excused", "extension", "handed_in", "comment", "void", "withdraw")
WHOLE = "*"
"""Stands for all exercises together."""

EVERYBODY = "*"
"""Stands for every student, also for those who are graded later."""

NBGRADER = "nbgrader"
"""Who decided what was entered in nbgrader, in files of earlier versions."""

IN_NBGRADER = " (in nbgrader)"
"""How the text of a row ends that `course adjust --from-nbgrader` takes over."""

TIME_IN = "the time in "
"""How the text of a row begins that `course adjust --times` takes over; the name of the source follows."""

_NAMED = re.compile(r"(add|comment) [0-9a-f]{8}")
"""The value of a withdrawal of one row, of the kinds whose rows count beside each other."""

_PLACE = {"excused": "points", "points": "points", "extension": "extension", "handed_in": "handed_in"}
"""Of the kinds with the same word here, the latest row of a student and an exercise counts."""


class AdjustmentError(UsageError):
    """Adjustments that cannot be read; the message lists the mistakes with their lines."""


@dataclass(frozen=True)
class Adjustment:
    """One row. `exercise` is an id, or `*` for all together; in a course with assignments also the id of one.

    `student` is an id, or `*` for everybody. The `value` of `void` is a check: its points are given to whom it is for.
    `amount` are hundredths of points, or days of an extension; `due` is the moment (UTC) that an extension or a time of
    submission names, and people read it in `zone`.
    """

    student: str
    exercise: str
    kind: str
    value: str
    text: str
    by: str
    when: str
    amount: int = 0
    due: datetime | None = None
    zone: tzinfo = field(default=UTC, compare=False)

    @property
    def subject(self) -> str:
        """Return what it is about, in words."""
        if self.is_whole:
            return "the whole" if self.exercise == WHOLE else self.exercise
        return f"exercise {number(self.exercise)}"

    @property
    def is_for_everybody(self) -> bool:
        """Whether it is about every student."""
        return self.student == EVERYBODY

    @property
    def who(self) -> str:
        """Return whom it is about, in words."""
        return "everybody" if self.is_for_everybody else one_line(self.student)

    @property
    def is_whole(self) -> bool:
        """Whether it is about all exercises of an assignment together."""
        return self.exercise == WHOLE or re.match(r"ex\d", self.exercise) is None

    @property
    def is_imported_time(self) -> bool:
        """Whether it is a time that a platform has, and nobody's decision."""
        return self.kind == "handed_in" and self.text.startswith(TIME_IN)

    @property
    def is_from_nbgrader(self) -> bool:
        """Whether it was entered in nbgrader, and taken over."""
        return self.by == NBGRADER or self.text.endswith(IN_NBGRADER)

    @property
    def sentence(self) -> str:
        """Return what was decided, by whom, when and why: the student reads it."""
        what = {
            "points": f"{points(self.amount)} points for {self.subject}",
            "add": f"{self.amount / 100:+g} points for {self.subject}",
            "excused": f"{self.subject} excused",
            "handed_in": f"handed in at {self._moment}",
            "extension": f"due {self._moment}" if self.due else f"{plural(self.amount, 'day')} more time",
            "comment": "comment" if self.is_whole else f"comment on {self.subject}",
            "withdraw": f"{self._withdrawn} withdrawn for {self.subject}",
            "void": f"check {self.value} of {self.subject} is void, and its points are given",
        }[self.kind]
        what = f"{what}, for everybody" if self.is_for_everybody else what
        # The student handed in, and this person only says when.
        did = ("imported " if self.is_imported_time else "decided ") if self.kind == "handed_in" else ""
        return one_line(f"{what}, {did}by {self.by} on {self.when}{f': {self.text}' if self.text else ''}")

    @property
    def target(self) -> str:
        """Return what a withdrawal of it alone has as its value: its kind, and its check or a name where several count.

        The name is made of the cells of the row, so it is the same in the copy of another grader.
        """
        if self.kind in ("add", "comment"):
            cells = "\n".join(self.row().values()).encode("utf-8", "surrogatepass")
            return f"{self.kind} {hashlib.sha256(cells).hexdigest()[:8]}"
        return f"void {self.value}" if self.kind == "void" else self.kind

    def takes_back(self, other: "Adjustment") -> bool:
        """Say whether a withdrawal is about another decision: all of its exercise, its kind, or this one."""
        return other.exercise == self.exercise and self.value in ("", other.kind, other.target)

    @property
    def _withdrawn(self) -> str:
        """Return what a withdrawal takes back, in words."""
        if _NAMED.fullmatch(self.value):
            return f"one {self.value.split()[0]}"
        return self.value.replace(" ", " check ") or "everything"

    @property
    def _moment(self) -> str:
        """Return the moment that it names, with its time zone; seconds only if there are some."""
        if self.due is None:
            return self.value
        seconds = ":%S" if self.due.second else ""
        return f"{self.due.astimezone(self.zone):%Y-%m-%d %H:%M{seconds}} ({self.zone})"

    def row(self) -> dict[str, str]:
        """Return it as the cells of its row."""
        return {name: str(getattr(self, name)) for name in COLUMNS}


@dataclass(frozen=True, eq=False)
class Adjustments:
    """All rows in the order of the file, and those that count, by student."""

    rows: tuple[Adjustment, ...] = ()
    _rows_of: Mapping[str, Sequence[tuple[int, Adjustment]]] = field(init=False, repr=False)
    _counting: dict[str, tuple[Adjustment, ...]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        rows_of: dict[str, list[tuple[int, Adjustment]]] = {}
        for at, row in enumerate(self.rows):
            rows_of.setdefault(row.student, []).append((at, row))
        object.__setattr__(self, "_rows_of", rows_of)

    def of(self, student: str) -> tuple[Adjustment, ...]:
        """Return the adjustments that count for a student, also those for everybody; of `*`, those alone."""
        if student not in self._counting:
            numbered = dict((*self._rows_of.get(EVERYBODY, ()), *self._rows_of.get(student, ())))
            self._counting[student] = _counting(numbered[at] for at in sorted(numbered))
        return self._counting[student]

    def within(self, course: Course) -> "Adjustments":
        """Return those about what is graded now: an assignment, its exercises, and what is for all of them.

        The exercises of earlier assignments that it builds on are worth nothing in it, so theirs do not belong here.
        """
        chosen = course.assignment
        ids = (chosen.id, *chosen.exercises) if chosen else (exercise.id for exercise in course.exercises)
        inside = {WHOLE, *ids}
        return Adjustments(tuple(row for row in self.rows if row.exercise in inside))

    @property
    def students(self) -> tuple[str, ...]:
        """Return the students with at least one of their own that counts."""
        named = (student for student in self._rows_of if student != EVERYBODY)
        return tuple(student for student in named if any(not row.is_for_everybody for row in self.of(student)))

    def without(self, row: Adjustment) -> tuple[str, ...]:
        """Return the students for whom a decision for everybody does not count, as there is one about them."""
        return tuple(student for student in self._rows_of if row not in self.of(student))

    @property
    def times(self) -> Mapping[str, datetime]:
        """Return the times of submission (UTC) that a person gave, by student."""
        found = {student: [row.due for row in self.of(student) if row.kind == "handed_in"] for student in self.students}
        return {student: time for student, times in found.items() for time in times if time is not None}

    @property
    def void_checks(self) -> frozenset[tuple[str, str]]:
        """Return the checks that are void for somebody, each with its exercise."""
        return frozenset((row.exercise, row.value) for row in self.rows if row.kind == "void")


def _counting(rows: Iterable[Adjustment]) -> tuple[Adjustment, ...]:
    """Return the rows that count, of the rows of one student and of everybody in the order of the file.

    What is withdrawn is what counts: what stood behind it counts again. What is withdrawn for everybody leaves the
    decisions about one student alone.
    """
    counting: ChainMap[tuple[str, object], tuple[int, Adjustment]] = ChainMap({}, {}, {})
    for at, row in enumerate(rows):
        if row.kind != "withdraw":
            counting.maps[_rank(row)][row.exercise, _place(row) or at] = at, row
            continue
        among = counting.maps[1] if row.is_for_everybody else counting
        for place, one in _taken_back(row, among.values()):
            del counting.maps[_rank(one)][one.exercise, _place(one) or place]
    return tuple(row for _, row in sorted(counting.values(), key=lambda found: found[0]))


def _taken_back(row: Adjustment, counting: Iterable[tuple[int, Adjustment]]) -> list[tuple[int, Adjustment]]:
    """Return which of the decisions that count a row takes back; of two equal ones, it names the later."""
    found = sorted((one for one in counting if row.takes_back(one[1])), key=lambda one: one[0])
    return found[-1:] if _NAMED.fullmatch(row.value) else found


def _rank(row: Adjustment) -> int:
    """Return what counts first: 0 about one student, 1 about everybody, 2 a time that nobody decided."""
    return 1 if row.is_for_everybody else 2 if row.is_imported_time else 0


def _place(row: Adjustment) -> str | None:
    """Return the place that a row takes: of rows with the same one, the latest counts."""
    return row.target if row.kind == "void" else _PLACE.get(row.kind)


def adjustments_file(course: Course, file: Path | None) -> Path:
    """Return the file that was named, or the one beside the course."""
    return file or course.root / FILE


def read_adjustments(course: Course, file: Path | None = None) -> Adjustments:
    """Return the adjustments in a file, or beside the course; none if there is no file there.

    Raises `AdjustmentError` with all mistakes.
    """
    path = adjustments_file(course, file)
    if file is None and not path.is_file():
        return Adjustments()
    rows, mistakes = [], []
    for line, cells in csv_rows(path, COLUMNS, AdjustmentError, what="adjustments", all_needed=True):
        try:
            # A student who left the course is on the roster no more, and what was decided stays.
            rows.append(adjustment(course, Roster(), cells))
        except AdjustmentError as error:
            mistakes.append(f"{at_line(path, line)} {error}")
    if mistakes:
        raise AdjustmentError(all_mistakes(mistakes))
    return Adjustments(tuple(rows))


def adjustment(course: Course, roster: Roster, cells: Mapping[str, str]) -> Adjustment:
    """Return a row of the file. Raises `AdjustmentError` with what is wrong in it, as a student not on the roster."""
    cells = {name: cell.strip() for name, cell in cells.items()}  # as the file is read
    kind = cells["kind"].lower()
    if kind not in KINDS:
        hint = suggestion(kind, KINDS, f"expected one of {', '.join(KINDS)}")
        raise AdjustmentError(f"kind is {printable_name(cells['kind']) or 'empty'}; {hint}")
    for name, meaning in (("by", "who decided"), ("when", "a time like 2026-03-01 23:59")):
        if not cells[name]:
            raise AdjustmentError(f"{name} is empty, expected {meaning}")
    zone = course.grading.zone if course.grading else UTC
    if parse_time(cells["when"], zone) is None:
        raise AdjustmentError(f"when is {printable_name(cells['when'])}, expected a time like 2026-03-01 23:59")
    if kind != "withdraw" and not cells["text"]:
        raise AdjustmentError("text is empty, expected the reason, which the student reads")
    exercise = _exercise(course, cells["exercise"])
    if exercise == WHOLE and kind in ("points", "add", "handed_in") and course.assignments:
        ids = ", ".join(assignment.id for assignment in course.assignments)
        raise AdjustmentError(f"{kind} is for one assignment, and not for every one ({WHOLE}); expected one of {ids}")
    amount, due = _value(kind, exercise, cells["value"], zone)
    everybody = cells["student"] == EVERYBODY
    known = {
        **cells,
        "student": EVERYBODY if everybody else known_id(roster, cells["student"], AdjustmentError),
        "exercise": exercise,
        "kind": kind,
    }
    return Adjustment(**{name: one_line(known[name]) for name in COLUMNS}, amount=amount, due=due, zone=zone)


def append(course: Course, rows: Sequence[Adjustment], before: Callable[[], None] = lambda: None) -> None:
    """Add rows to the file of a course, made if it is missing; no reader sees a part of them. Raises OSError.

    `before` is called once no other program can add rows. If it raises, nothing is added.
    """
    path = adjustments_file(course, None)
    with folder_lock(state_folder(course.root)):
        before()
        text = path.read_text("utf-8") if path.is_file() else ",".join(COLUMNS) + "\n"
        ended = text if text.endswith("\n") else f"{text}\n"
        write_atomically(path, ended + "".join(row_text(row.row(), COLUMNS) for row in rows), durable=True)


def refuse_time(row: Adjustment) -> None:
    """Raise `UsageError` for a time to come, or one with the text of an imported time, which counts last."""
    if _is_to_come(row):
        today = f"it is {datetime.now(row.zone):%Y-%m-%d %H:%M} now ({row.zone})"
        fix = "correct the time, or write its zone behind it, as in 2026-03-08 23:59 Europe/Berlin"
        raise UsageError(f"value is {printable(row.value)}, and nobody hands in later than now: {today}; {fix}")
    if row.is_imported_time:
        raise UsageError(
            f"the text begins with `{TIME_IN.strip()}`, as that of an imported time does; begin it otherwise"
        )


def times_to_come(rows: Iterable[Adjustment]) -> str:
    """Return a warning about times of others that lie in the future; else ""."""
    if not (found := [row.who for row in rows if _is_to_come(row)]):
        return ""
    count = f"{plural(len(found), 'time')} handed in {'lies' if len(found) == 1 else 'lie'} in the future"
    return f"{count}: {named(found)}; check the time zone of the source"


def _is_to_come(row: Adjustment) -> bool:
    return row.kind == "handed_in" and row.due is not None and row.due > datetime.now(UTC)


def replaced(known: Adjustments, rows: Sequence[Adjustment]) -> str:
    """Return a warning if rows take the place of decisions about the same students; else ""."""
    after = Adjustments((*known.rows, *rows))
    old = [
        row.student
        for row in rows
        if row.kind != "withdraw" and not row.is_for_everybody and not row.is_from_nbgrader
        if any(not _rank(one) and one not in after.of(row.student) for one in known.of(row.student))
    ]
    if not old:
        return ""
    return f"{plural(len(old), 'student')} had a decision of their own, which this replaces: {named(old)}"


def refuse_idle(row: Adjustment, known: Adjustments) -> None:
    """Raise `UsageError` for a row that withdraws what does not count."""
    if row.kind == "withdraw" and not withdrawable(row, known):
        raise UsageError(f"nothing like that counts for {row.who}; `course adjust --list` shows what does")


def withdrawable(row: Adjustment, known: Adjustments) -> list[Adjustment]:
    """Return the decisions that a row takes back."""
    return [one for _, one in _taken_back(row, enumerate(known.of(row.student)))]


def kept_beside(course: Course, known: Adjustments, rows: Sequence[Adjustment]) -> str:
    """Return a warning if students have a decision of their own that counts before one for everybody; else "".

    A withdrawal is about the decisions that it takes back.
    """
    everybody = [row for row in rows if row.is_for_everybody]
    both = Adjustments((*known.rows, *everybody))
    decisions = [one for row in everybody for one in (withdrawable(row, known) if row.kind == "withdraw" else [row])]
    kept = [
        student
        for student in both.students
        if any(_stands_against(course, own, one) for own in both.of(student) for one in decisions)
    ]
    if not kept:
        return ""
    have = "has a decision of their own, which counts" if len(kept) == 1 else "have decisions of their own, which count"
    return f"{plural(len(kept), 'student')} {have} before the one for everybody: {named(kept)}"


def _stands_against(course: Course, own: Adjustment, everybody: Adjustment) -> bool:
    """Say whether a decision about one student leaves one for everybody without effect on their mark."""
    if own.is_for_everybody:
        return False
    same = own.exercise == everybody.exercise
    if same and _place(everybody) is not None and _place(own) == _place(everybody):
        return True
    if everybody.is_whole or everybody.kind not in ("points", "add", "void"):
        return False
    inside = [WHOLE, *(one.id for one in course.assignments if everybody.exercise in one.exercises)]
    kinds = ("points", "excused") if own.is_whole or everybody.kind == "void" else ("excused",)
    return own.kind in kinds and (same or own.exercise in inside)


def unlisted(roster: Roster, rows: Iterable[Adjustment]) -> str:
    """Return a warning about decisions on students who are not on the roster; else ""."""
    students = [row.student for row in rows if roster and not row.is_for_everybody and row.student not in roster]
    if not (found := list(dict.fromkeys(students))):
        return ""
    fix = "if an id is misspelled, correct it; if they left the course, nothing is to do"
    return f"{FILE} has decisions about {plural(len(found), 'student')} not on the roster: {named(found)}; {fix}"


def merged(own: Adjustments, theirs: Adjustments, keep: str | None) -> tuple[Adjustment, ...]:
    """Return the rows to add, so that those of another grader are here too.

    What counts here and would not count any more, although they did not know of it, is a conflict. Raises
    `AdjustmentError` for these. With `keep`, "theirs" adds the rows all the same; "mine" also adds what counts here
    once more, after them.
    """
    mine = {tuple(row.row().items()) for row in own.rows}
    new = [row for row in theirs.rows if tuple(row.row().items()) not in mine]
    lost = list(_losses(own, theirs, Adjustments((*own.rows, *new))))
    if lost and keep is None:
        lines = [f"{old.student}: {old.sentence}\n  but there: {there}" for old, there in lost]
        count = plural(len(lines), "conflict")
        raise AdjustmentError(
            f"{count}, so nothing was added; choose with --keep mine or --keep theirs\n{all_mistakes(lines)}"
        )
    return (*new, *(old for old, _ in lost if keep == "mine"))


def _losses(own: Adjustments, theirs: Adjustments, both: Adjustments) -> Iterator[tuple[Adjustment, str]]:
    """Yield what counts here and not in both together, unless they knew of it; and what counts there instead."""
    known = set(theirs.rows)
    for student in {row.student: None for row in theirs.rows}:
        after = both.of(student)
        for old in (row for row in own.of(student) if row not in known):
            place = _place(old)
            same = [one for one in after if one.exercise == old.exercise and place and _place(one) == place]
            special = any(_rank(one) < _rank(old) for one in same)
            if old in after or special or any(_decides_alike(old, one) for one in same):
                continue
            lost = replace(old, student=student)  # what was for everybody is lost for this student alone
            yield lost, same[0].sentence if same else f"{old.kind} withdrawn"


def _decides_alike(one: Adjustment, other: Adjustment) -> bool:
    return (one.kind, one.amount, one.due) == (other.kind, other.amount, other.due)


def _exercise(course: Course, word: str) -> str:
    if word == WHOLE or word in [assignment.id for assignment in course.assignments]:
        return word
    try:
        return resolve_exercise(replace(course, exercises=course.every), word).id
    except UsageError as error:
        ids = [assignment.id for assignment in course.assignments]
        whole = f"an assignment write its id ({', '.join(ids)})" if ids else f"all exercises together write {WHOLE}"
        raise AdjustmentError(f"{error} For {whole}.") from None


def _value(kind: str, exercise: str, value: str, zone: tzinfo) -> tuple[int, datetime | None]:
    """Return hundredths or days, and the moment of an extension that names one. Raises `AdjustmentError`."""
    found = f"value is {printable_name(value) or 'empty'}"
    if kind in ("points", "add"):
        amount = hundredths_of(value) if value else None
        if amount is None or (kind == "points" and amount < 0):
            raise AdjustmentError(f"{found}, expected a number of points with at most two decimals")
        return amount, None
    if kind == "void":
        if not re.match(r"ex\d", exercise):
            raise AdjustmentError("void is for one check, expected the exercise that it belongs to")
        if not value.isidentifier():
            raise AdjustmentError(f"{found}, expected the name of a check of exercise {number(exercise)}")
        return 0, None
    if kind in ("extension", "handed_in"):
        days, due = days_of(value) if kind == "extension" else None, parse_time(value, zone)
        if re.match(r"ex\d", exercise):
            one = f"not for exercise {number(exercise)}"
            raise AdjustmentError(
                f"{kind} is for all exercises together, {one}; expected a whole assignment, or every one ({WHOLE})"
            )
        if days is None and due is None:
            days_too = "a number of days, or " if kind == "extension" else ""
            raise AdjustmentError(f"{found}, expected {days_too}a time like 2026-03-08 23:59")
        return days or 0, due
    what, _, check = value.partition(" ")
    is_one = (what == "void" and check.isidentifier()) or _NAMED.fullmatch(value)
    if kind == "withdraw" and value not in ("", *KINDS[:-1]) and not is_one:
        names = "`void` with a check, a row as `course adjust --list` names it, or nothing for all of this exercise"
        raise AdjustmentError(f"{found}, expected a kind, {names}")
    if kind in ("excused", "comment") and value:
        raise AdjustmentError(f"{found}, expected nothing: {kind} has only a text")
    return 0, None


# Times of submission, as Canvas and Moodle export them, or as the dates of files.


@dataclass(frozen=True)
class Times:
    """The times of students as cells of the log, the names in the source that fit nobody, and who has no time in it."""

    found: Mapping[str, str]
    strangers: tuple[str, ...]
    without: tuple[str, ...]


def read_times(source: Path, roster: Roster) -> Times:
    """Return the times in a JSON of Canvas, a grading worksheet of Moodle, or the dates of the files in a folder.

    The `lms_id` of the roster are the numbers of the platform; in a folder the names are the ids of students, or those
    of groups, for all members. Raises `AdjustmentError`.
    """
    known: dict[str, tuple[str, ...]] = {row.lms_id: (row.student,) for row in roster.students if row.lms_id}
    if source.is_dir():
        rows = _dates(source)
        groups = {name: members for name in rows if (members := roster.in_group_of(name))}
        known = groups | {row.student: (row.student,) for row in roster.students}
    elif source.suffix.lower() == ".json":
        rows = _canvas_times(source)
    else:
        rows = _moodle_times(source)
    # A folder of their own says more about a member than that of the group.
    own_last = sorted((name for name, time in rows.items() if name in known and time), key=lambda name: name in roster)
    found = {student: rows[name] for name in own_last for student in known[name]}
    strangers = tuple(name for name, time in rows.items() if name not in known and time)
    timed = {one for student in found for one in (student, *roster.partners(student))}  # a group has one time
    return Times(found, strangers, tuple(row.student for row in roster.students if row.student not in timed))


def _dates(folder: Path) -> dict[str, str]:
    """Return the date of the latest file of each entry of a folder, without hidden entries and links."""
    times = {}
    for entry in sorted(folder.iterdir()):
        inside = [entry, *(entry.rglob("*") if entry.is_dir() and not entry.is_symlink() else ())]
        dates = [file.stat().st_mtime for file in inside if file.is_file() and not file.is_symlink()]
        if dates and not entry.name.startswith("."):
            name = entry.name if entry.is_dir() else entry.stem
            times[name] = f"{datetime.fromtimestamp(max(dates), UTC):%Y-%m-%d %H:%M:%S} UTC"
    return times


def _canvas_times(source: Path) -> dict[str, str]:
    """Return the times in the answer of Canvas about submissions, by user id."""
    expected = "expected the submissions of one assignment, as the API of Canvas gives them"
    try:
        rows = json.loads(source.read_text("utf-8-sig").removeprefix("while(1);"))
        times = {str(row["user_id"]): row["submitted_at"] or "" for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise AdjustmentError(f"{printable(source)} cannot be read ({error}); {expected}") from None
    for user, time in times.items():
        if time and (not isinstance(time, str) or parse_time(time, UTC) is None):
            raise AdjustmentError(f"{printable(source)} has the time {printable(str(time))} of user {user}; {expected}")
    return times


def _moodle_times(source: Path) -> dict[str, str]:
    """Return the times in a grading worksheet of Moodle in English, by participant number."""
    columns = ("identifier", "last modified (submission)")
    times = {}
    for line, row in csv_rows(source, columns, AdjustmentError, what="a grading worksheet", all_needed=True):
        number_of, text = row["identifier"].rpartition(" ")[2], row["last modified (submission)"]
        if text in ("", "-"):
            times[number_of] = ""
            continue
        try:
            time = datetime.strptime(text, "%A, %d %B %Y, %I:%M %p")
        except ValueError:
            found = f"the time is {printable(text)}, expected one like Monday, 9 March 2026, 9:15 PM"
            raise AdjustmentError(f"{at_line(source, line)} {found}; export it in English") from None
        times[number_of] = f"{time:%Y-%m-%d %H:%M}"
    return times


# Who decides, and when: both are written beside a decision about a student's work, and the student reads them.

_SECONDS = 5.0


def author(named: str | None) -> str:
    """Return the name that was given, or else git's `user.name`, or else the login of this machine."""
    if named and named.strip():
        return " ".join(named.split())
    try:
        found = ending.run(["git", "config", "user.name"], _SECONDS).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        found = ""
    return found or getpass.getuser()


def now(course: Course) -> str:
    """Return the time of a decision, in the time zone of the course."""
    return f"{datetime.now(course.grading.zone if course.grading else UTC):%Y-%m-%d %H:%M}"


# Files that were accepted for a student after the hand-in: kept beside the course, used by the next grading.
#
# The folder `accepted/` has a copy of each file, and `log.csv` with a line for each decision: who, when and why.
# Nothing in it is ever overwritten, and what the student handed in stays as it is.

FOLDER = "accepted"
LOG = "log.csv"
ACCEPTED_COLUMNS = ("student", "assignment", "as", "file", "digest", "reason", "by", "when")
_FIELDS = {"as": "name"}
_MOST_FILES = 5000


@dataclass(frozen=True)
class Decision:
    """One line of the log. `name` is the file of the course that `file` replaces; empty for the whole hand-in.

    Without a `file` it withdraws what was accepted before, under that name or all of it.
    """

    student: str
    assignment: str
    name: str
    file: str
    digest: str
    reason: str
    by: str
    when: str

    @property
    def note(self) -> str:
        """Return what the report and the student's page say."""
        what = self.name or "another hand-in"
        return f"{what} was accepted by {self.by} on {self.when}: {self.reason}"


@dataclass(frozen=True)
class Accepted:
    """The decisions that hold, by student, in their order; and the folder with their files."""

    folder: Path
    decisions: Mapping[str, tuple[Decision, ...]] = field(default_factory=dict)

    def apply(
        self, entries: Iterable[Entry], roster: Roster, handout: Handout
    ) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
        """Return the submissions with what was accepted, and a sentence for each student whom nobody knows."""
        known = {entry.student: entry for entry in entries}
        problems = []
        for student, decisions in self.decisions.items():
            entry = known.get(student)
            if entry is None and roster and student not in roster:
                problems.append(f"{FOLDER}/{LOG} has {printable(student)}, who handed in nothing and is not listed")
                continue
            known[student] = self._changed(entry or Entry(student, self.folder / student, handout=handout), decisions)
        return tuple(sorted(known.values(), key=lambda entry: entry.student)), tuple(problems)

    def _changed(self, entry: Entry, decisions: Sequence[Decision]) -> Entry:
        whole = [decision for decision in decisions if not decision.name]
        files = tuple(HandInPart(self.folder / one.file, name=one.name, rank=1) for one in decisions if one.name)
        if whole:
            entry = replace(entry, path=self.folder / whole[-1].file, parts=())
        elif not entry.path.exists():
            entry = replace(entry, path=self.folder / decisions[0].file, parts=files[:1])
        return replace(entry, accepted=files, decisions=tuple(decision.note for decision in decisions))


def read_accepted(course: Course, assignment: str = "") -> Accepted:
    """Return what was accepted for an assignment, or for the whole course. Raises `UsageError` for a damaged log."""
    folder = course.root / FOLDER
    held: dict[str, list[Decision]] = {}
    for decision in _log(folder / LOG):
        if decision.assignment not in ("", assignment):
            continue
        before = held.get(decision.student, [])
        kept = [one for one in before if decision.name and one.name != decision.name]
        held[decision.student] = [*kept, decision] if decision.file else kept
    return Accepted(folder, {student: tuple(decisions) for student, decisions in held.items() if decisions})


def graded_without(course: Course, assignment: str, notes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the students whose reports, by their `notes`, do not count what is accepted now."""
    held = read_accepted(course, assignment).decisions
    ever = {one.note for one in _log(course.root / FOLDER / LOG) if one.file}
    return tuple(
        student
        for student in dict.fromkeys((*notes, *held))
        if ever.intersection(notes.get(student, ())) != {one.note for one in held.get(student, ())}
    )


def decisions_that_hold(course: Course, assignment: str) -> dict[str, tuple[Decision, ...]]:
    """Return what was accepted for an assignment; without one, also for each of them. Raises `UsageError`."""
    found: dict[str, tuple[Decision, ...]] = {}
    for one in [assignment] if assignment else ["", *(chosen.id for chosen in course.assignments)]:
        for student, decisions in read_accepted(course, one).decisions.items():
            found[student] = tuple(dict.fromkeys((*found.get(student, ()), *decisions)))
    return found


def accept(
    course: Course, roster: Roster, student: str, file: Path, *, name: str, assignment: str, reason: str, by: str
) -> Decision:
    """Store a file, folder or zip for a student, and add it to the log. Raises `UsageError`."""
    student = known_id(roster, student, UsageError)
    name = _course_name(course, file, name)
    folder = course.root / FOLDER
    folder.mkdir(exist_ok=True)
    with folder_lock(state_folder(course.root)):
        number = 1
        while (place := folder / student / f"{number:03}").exists():
            number += 1
        copy = place / file.resolve().name
        try:
            place.mkdir(parents=True)
            digest = _copied(file, copy)
        except (OSError, shutil.Error, UsageError):
            shutil.rmtree(place, ignore_errors=True)
            raise
        decision = Decision(
            student, assignment, name, copy.relative_to(folder).as_posix(), digest, reason, by, now(course)
        )
        _add(folder / LOG, decision)
    return decision


def withdraw(
    course: Course, students: Sequence[str], *, name: str, assignment: str, reason: str, by: str
) -> tuple[Decision, ...]:
    """Note that what was accepted for students no longer counts. Return what that was. Raises `UsageError`."""
    held = decisions_that_hold(course, assignment)
    gone = tuple(one for student in students for one in held.get(student, ()) if name in ("", one.name))
    if not gone:
        what = f"{name} " if name else ""
        raise UsageError(f"nothing {what}is accepted for {named(students)}; `course accept --list` shows what is")
    with folder_lock(state_folder(course.root)):
        for student in dict.fromkeys(one.student for one in gone):
            _add(course.root / FOLDER / LOG, Decision(student, assignment, name, "", "", reason, by, now(course)))
    return gone


def others_of_group(roster: Roster, student: str) -> str:
    """Return a sentence on whom a file that is accepted for one member of a group is not for; else ""."""
    if not (others := roster.partners(student)):
        return ""
    for_all = f"course accept {shlex.quote(roster[student].group)} FILE"
    return f"It counts for {printable(student)} alone, not for {named(others)}; for the whole group: `{for_all}`"


def _course_name(course: Course, file: Path, name: str) -> str:
    """Return which file of the course a file replaces; empty for a folder or a zip."""
    if file.is_dir() or file.suffix.lower() == ".zip":
        if name:
            raise UsageError(f"{printable(file)} is a whole hand-in, and --as names a single file; leave --as out")
        return ""
    names = [name for own in course.files for name in (own, notebook_of(own))]
    wanted = name or file.name
    if wanted not in names:
        near = nearest(wanted, names) or names[0]
        raise UsageError(f"{printable(wanted)} is no file of the course; say which one it is, like --as {near}")
    if Path(wanted).suffix != file.suffix.lower():
        raise UsageError(f"{printable(file)} cannot be {wanted}: expected a file that ends with {Path(wanted).suffix}")
    return wanted


def _copied(file: Path, copy: Path) -> str:
    """Copy a file or a folder, without following links; return the digest of its content."""
    if file.is_symlink() or not file.exists():
        found = "is a link" if file.is_symlink() else "is not there"
        raise UsageError(f"{printable(file)} {found}, expected a file, a folder or a zip; check the path")
    if file.is_dir():
        inside = sorted(path for path in file.rglob("*") if path.is_file() and not path.is_symlink())
        if len(inside) > _MOST_FILES:
            raise UsageError(f"{printable(file)} has {len(inside):,} files, at most {_MOST_FILES:,} are accepted")
        shutil.copytree(file, copy, symlinks=True)
        lines = (f"{path.relative_to(file).as_posix()} {_digest(path)}" for path in inside)
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
    shutil.copyfile(file, copy)
    return _digest(copy)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _log(file: Path) -> list[Decision]:
    """Return all lines of the log. Raises `UsageError` with the line of a mistake."""
    if not file.is_file():
        return []
    decisions = []
    for line, cells in csv_rows(file, ACCEPTED_COLUMNS, UsageError, what="the log", all_needed=True):
        decision = Decision(**{_FIELDS.get(name, name): cell for name, cell in cells.items()})
        kept = file.parent / decision.file
        inside = kept.resolve().is_relative_to(file.parent.resolve()) and (kept.exists() or not decision.file)
        if not decision.student or not inside:
            found = f"names {printable(decision.file)}, which is not in {FOLDER}/" if decision.student else "no student"
            raise UsageError(f"{at_line(file, line)} {found}; correct the line or take it out")
        decisions.append(decision)
    return decisions


def _add(file: Path, decision: Decision) -> None:
    """Add a line to the log; no reader sees a part of it."""
    text = file.read_text("utf-8") if file.is_file() else ",".join(ACCEPTED_COLUMNS) + "\n"
    cells = {name: getattr(decision, _FIELDS.get(name, name)) for name in ACCEPTED_COLUMNS}
    write_atomically(file, text + row_text(cells, ACCEPTED_COLUMNS), durable=True)
