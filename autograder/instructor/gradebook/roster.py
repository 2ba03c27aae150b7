"""The roster: who is in the class, by what names downloads know them, and what was agreed with single students."""

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
from autograder.instructor.gradebook.text import csv_text
from autograder.submission.found import SubmissionError, printable, shown
from autograder.submission.names import Clue, checked_id, folded
from autograder.submission.times import parse_time

ROSTER_FILE = "roster.csv"
COLUMNS = ("student", "name", "email", "login", "lms_id", "extension_days", "due", "handed_in", "points")

_TIME = "a time like 2026-03-01 23:59"
_MOST_POINTS = 10_000


class RosterError(UsageError):
    """The roster cannot be read; the message has every mistake with its line."""


@dataclass(frozen=True)
class Student:
    """One row: an id, the names a download may have for it, and what holds for this student alone.

    `extension_days` move the due date, `due` replaces it, `handed_in` says when what the download does not (moments,
    UTC); `points` are hundredths given by hand, also below 0.
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
    """The students of a class, in their order, found by id, login, number, e-mail address or name."""

    students: tuple[Student, ...] = ()
    _known: Mapping[tuple[str, str], tuple[str, ...]] = field(init=False, repr=False)
    _rows: Mapping[str, Student] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        known: dict[tuple[str, str], list[str]] = defaultdict(list)
        for student in self.students:
            keys = {("id", folded(student.student)), ("login", folded(student.login)), ("lms_id", student.lms_id)}
            keys |= {("email", folded(student.email)), *(("name", spelled) for spelled in _spellings(student.name))}
            for key in keys:
                if key[1]:
                    known[key].append(student.student)
        object.__setattr__(self, "_known", {key: tuple(ids) for key, ids in known.items()})
        object.__setattr__(self, "_rows", {student.student: student for student in self.students})

    def __getitem__(self, student: str) -> Student:
        """Return the row of a student; one without a row has nothing agreed."""
        return self._rows.get(student) or Student(student)

    def __contains__(self, student: str) -> bool:
        return student in self._rows

    def __bool__(self) -> bool:
        return bool(self.students)

    def has(self, student: str) -> bool:
        """Say whether somebody has this id, or one that differs in upper and lower case only."""
        return ("id", folded(student)) in self._known

    def owns(self, student: str, clue: Clue) -> bool:
        """Say whether the number or the login of a clue is the one that this student's row has."""
        row = self[student]
        logins = {folded(login) for login in (clue.login, *clue.logins) if login}
        return bool(clue.lms_id and clue.lms_id == row.lms_id) or folded(row.login) in logins

    def find(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students a clue fits: one, none, or several where it does not decide."""
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
        tried = (self._known.get((kind, folded(login)), ()) for kind in ("login", "id", "email"))
        return next(filter(None, tried), ())


def read_roster(course: Course, file: Path | None) -> Roster:
    """Return the roster in a file, or in roster.csv beside the course; without either, one of nobody.

    Raises `RosterError` with every mistake. Times without an offset are on the clocks of the course's time zone.
    """
    path = file or course.root / ROSTER_FILE
    if file is None and not path.is_file():
        return Roster()
    zone = course.grading.zone if course.grading else UTC
    rows = _rows(path)
    return _roster(path, rows, zone)


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows with their lines, the first being 1."""
    text = csv_text(path, RosterError, expected="a CSV file with a column student", mend="save it as CSV UTF-8")
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]
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
        raise RosterError(f"{_at(path, reader.line_num)} this is no CSV ({error}); save it as CSV UTF-8") from None
    return rows


def _check_columns(path: Path, header: Sequence[str]) -> None:
    """Refuse a header without students, with a column twice, or with one that is nearly known; others are left out."""
    if "student" not in header:
        found = ", ".join(map(shown, header)) or "nothing"
        raise RosterError(f"{_at(path, 1)} the first line has {found}, expected a column student (of {_listed()})")
    for name in header:
        if name in COLUMNS and header.count(name) > 1:
            raise RosterError(f"{_at(path, 1)} the column {name} is there twice, expected it once")
        near = nearest(name, COLUMNS) if name and name not in COLUMNS else None
        if near and near not in header:
            raise RosterError(f"{_at(path, 1)} {shown(name)} is no column of a roster; is {near} meant?")


def _roster(path: Path, rows: Sequence[tuple[int, Mapping[str, str]]], zone: tzinfo) -> Roster:
    problems: list[str] = []
    students: list[Student] = []
    lines: dict[tuple[str, str], int] = {}
    for line, row in rows:
        told = [f"{_at(path, line)} {sentence}" for sentence in _mistakes(row, zone)]
        for name in ("student", "login", "lms_id", "email"):
            key = (name, folded(row[name]))
            if row[name] and key in lines:
                told.append(f"{_at(path, line)} {name} {shown(row[name])} is in line {lines[key]} already")
            lines.setdefault(key, line)
        problems += told
        if not told:
            students.append(_student(row, zone))
    if problems:
        more = [f"and {len(problems) - 20:,} more mistakes"] if len(problems) > 20 else []
        raise RosterError("\n".join(problems[:20] + more))
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
            yield f"{name} is {shown(row[name])}, expected {_TIME}"
    if row["extension_days"] and _days(row["extension_days"]) is None:
        yield f"extension_days is {shown(row['extension_days'])}, expected an integer from 0 to 365"
    if row["points"] and _hundredths(row["points"]) is None:
        yield f"points is {shown(row['points'])}, expected a number with at most two decimals"
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
    except ArithmeticError:  # comparing a NaN is an error too
        return None
    return hundredths if hundredths == points * 100 else None


def _spellings(name: str) -> set[str]:
    """Return a name squeezed, its words in each order a download may turn them to: `Lovelace, Ada` is Ada Lovelace."""
    words = name.replace(",", " ").split()[:12]
    return {_squeezed("".join(words[at:] + words[:at])) for at in range(len(words))}


def _squeezed(name: str) -> str:
    """Return the letters and digits of a name, in lower case."""
    return "".join(character for character in folded(unicodedata.normalize("NFKC", name)) if character.isalnum())


def _at(path: Path, line: int) -> str:
    return f"{printable(path.name)}:{line}:"


def _listed() -> str:
    return ", ".join(COLUMNS)
