"""The roster: the students of a class, their names in downloads, and agreements with single students."""

import csv
import io
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from pathlib import Path

from autograder.course import Course
from autograder.course.names import UsageError
from autograder.course.nearest import nearest
from autograder.instructor.gradebook.csv_text import csv_text
from autograder.submission.files import SubmissionError, printable, printable_name
from autograder.submission.names import Clue, casefolded, checked_id
from autograder.submission.times import parse_time

ROSTER_FILE = "roster.csv"
COLUMNS = ("student", "name", "email", "login", "lms_id", "extension_days", "due", "handed_in", "points")

_TIME = "a time like 2026-03-01 23:59"
_MOST_POINTS = 10_000
"""Far more than any course gives: a larger number is a typing error."""

_MOST_MISTAKES = 20
"""A file with more mistakes is the wrong file; one screen of them is enough."""


class RosterError(UsageError):
    """A roster that cannot be read; the message lists the mistakes with their lines."""


@dataclass(frozen=True)
class Student:
    """One row: a student id, the names that a download may use for it, and the agreements with this student.

    `extension_days` move the due date and `due` replaces it. `handed_in` is the time of submission, for downloads
    without one. Times are UTC. `points` are added by hand, in hundredths; they may be negative.
    """

    student: str
    name: str = ""
    email: str = ""
    login: str = ""
    lms_id: str = ""
    extension_days: int = 0
    due: datetime | None = None
    handed_in: datetime | None = None
    points: int = 0


@dataclass(frozen=True, eq=False)
class Roster:
    """The students of a class in roster order; looked up by id, login, number, e-mail address or name."""

    students: tuple[Student, ...] = ()
    _known: Mapping[tuple[str, str], tuple[str, ...]] = field(init=False, repr=False)
    _rows: Mapping[str, Student] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        known: dict[tuple[str, str], list[str]] = defaultdict(list)
        for student in self.students:
            keys = {
                ("id", casefolded(student.student)),
                ("login", casefolded(student.login)),
                ("lms_id", student.lms_id),
            }
            keys |= {("email", casefolded(student.email)), *(("name", spelled) for spelled in _spellings(student.name))}
            for key in keys:
                if key[1]:
                    known[key].append(student.student)
        object.__setattr__(self, "_known", {key: tuple(ids) for key, ids in known.items()})
        object.__setattr__(self, "_rows", {student.student: student for student in self.students})

    def __getitem__(self, student: str) -> Student:
        """Return the row of a student, or an empty row for a student who is not on the roster."""
        return self._rows.get(student) or Student(student)

    def __contains__(self, student: str) -> bool:
        return student in self._rows

    def __bool__(self) -> bool:
        return bool(self.students)

    def has(self, student: str) -> bool:
        """Return whether a student has this id, ignoring case."""
        return ("id", casefolded(student)) in self._known

    def owns(self, student: str, clue: Clue) -> bool:
        """Return whether the number or the login of a clue is in this student's row."""
        row = self[student]
        logins = {casefolded(login) for login in (clue.login, *clue.logins) if login}
        return bool(clue.lms_id and clue.lms_id == row.lms_id) or casefolded(row.login) in logins

    def find(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students that a clue fits: none, one, or several if it is ambiguous."""
        if by_login := self._by_login(clue.login or ""):
            return by_login
        by_number = self._known.get(("lms_id", clue.lms_id or ""), ())
        by_name = self._known.get(("name", _squeezed(clue.name or "")), ())
        if by_number and by_name:
            return tuple(student for student in by_name if student in by_number) or tuple(
                sorted({*by_number, *by_name})
            )
        if by_number or by_name:
            return by_number or by_name
        tried = (self._by_login(login) or self._known.get(("name", _squeezed(login)), ()) for login in clue.logins)
        return next(filter(None, tried), ())

    def _by_login(self, login: str) -> tuple[str, ...]:
        tried = (self._known.get((kind, casefolded(login)), ()) for kind in ("login", "id", "email"))
        return next(filter(None, tried), ())


def read_roster(course: Course, file: Path | None) -> Roster:
    """Return the roster in a file, or in roster.csv beside the course, or an empty one if there is neither.

    Raises `RosterError` with all mistakes. Times without an offset are in the time zone of the course.
    """
    path = file or course.root / ROSTER_FILE
    if file is None and not path.is_file():
        return Roster()
    zone = course.grading.zone if course.grading else UTC
    rows = _rows(path)
    return _roster(path, rows, zone)


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows with their line numbers, from 1."""
    text = csv_text(path, RosterError, expected="a CSV file with a column student", fix="save it as CSV UTF-8")
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]  # spreadsheets in some languages separate by semicolons or tabs
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        _check_columns(path, header)
        rows: list[tuple[int, dict[str, str]]] = []
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
                rows.append((reader.line_num, {name: cells.get(name, "") for name in COLUMNS}))
    except csv.Error as error:
        raise RosterError(
            f"{_at(path, reader.line_num)} this is not valid CSV ({error}); save it as CSV UTF-8"
        ) from None
    return rows


def _check_columns(path: Path, header: Sequence[str]) -> None:
    """Refuse a header without students, with a repeated or with a misspelled column; ignore all other columns."""
    if "student" not in header:
        columns = ", ".join(map(printable_name, header)) or "nothing"
        known = ", ".join(COLUMNS)
        raise RosterError(f"{_at(path, 1)} the first line has {columns}, expected a column student (of {known})")
    for name in header:
        if name in COLUMNS and header.count(name) > 1:
            raise RosterError(f"{_at(path, 1)} the column {name} appears twice, expected once")
        near = nearest(name, COLUMNS) if name and name not in COLUMNS else None
        if near and near not in header:
            raise RosterError(
                f"{_at(path, 1)} {printable_name(name)} is not a column of a roster; did you mean {near}?"
            )


def _roster(path: Path, rows: Sequence[tuple[int, Mapping[str, str]]], zone: tzinfo) -> Roster:
    problems: list[str] = []
    students: list[Student] = []
    lines: dict[tuple[str, str], int] = {}
    for line, row in rows:
        mistakes = [f"{_at(path, line)} {sentence}" for sentence in _mistakes(row, zone)]
        for name in ("student", "login", "lms_id", "email"):
            key = (name, casefolded(row[name]))
            if row[name] and key in lines:
                mistakes.append(f"{_at(path, line)} {name} {printable_name(row[name])} is already in line {lines[key]}")
            lines.setdefault(key, line)
        problems += mistakes
        if not mistakes:
            students.append(_student(row, zone))
    if problems:
        more = [f"and {len(problems) - _MOST_MISTAKES:,} more mistakes"] if len(problems) > _MOST_MISTAKES else []
        raise RosterError("\n".join(problems[:_MOST_MISTAKES] + more))
    return Roster(tuple(students))


def _mistakes(row: Mapping[str, str], zone: tzinfo) -> Iterator[str]:
    if not row["student"]:
        yield "student is empty, expected an id"
    else:
        try:
            checked_id(row["student"], row["student"])
        except SubmissionError as error:
            yield str(error)
    for name in ("due", "handed_in"):
        if row[name] and parse_time(row[name], zone) is None:
            yield f"{name} is {printable_name(row[name])}, expected {_TIME}"
    if row["extension_days"] and _days(row["extension_days"]) is None:
        yield f"extension_days is {printable_name(row['extension_days'])}, expected an integer from 0 to 365"
    if row["points"] and _hundredths(row["points"]) is None:
        yield f"points is {printable_name(row['points'])}, expected a number with at most two decimals"
    if row["due"] and row["extension_days"]:
        yield "has due and extension_days, expected one of them"


def _student(row: Mapping[str, str], zone: tzinfo) -> Student:
    return Student(
        checked_id(row["student"], row["student"]),
        row["name"],
        row["email"],
        row["login"],
        row["lms_id"].lower().removeprefix("participant").strip(),
        _days(row["extension_days"]) or 0,
        parse_time(row["due"], zone),
        parse_time(row["handed_in"], zone),
        _hundredths(row["points"]) or 0,
    )


def _days(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= 365 else None


def _hundredths(text: str) -> int | None:
    try:
        points = Decimal(text.replace(",", "."))
        if not abs(points) <= _MOST_POINTS:
            return None
        hundredths = int(points * 100)
    except ArithmeticError:  # also raised by the comparison with a NaN
        return None
    return hundredths if hundredths == points * 100 else None


def _spellings(name: str) -> set[str]:
    """Return every rotation of a name's words, without spaces: downloads have `Lovelace, Ada` or `Ada Lovelace`."""
    words = name.replace(",", " ").split()[:12]  # no name has more words, and their rotations need quadratic space
    return {_squeezed("".join(words[at:] + words[:at])) for at in range(len(words))}


def _squeezed(name: str) -> str:
    """Return the letters and digits of a name in lower case."""
    return "".join(character for character in casefolded(unicodedata.normalize("NFKC", name)) if character.isalnum())


def _at(path: Path, line: int) -> str:
    return f"{printable(path.name)}:{line}:"
