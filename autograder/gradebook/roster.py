"""The roster: the students of a class, their names in downloads, and agreements with single students."""

import contextlib
import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path

from autograder.course import (
    FOLDER,
    Course,
    UsageError,
    nearest,
    note,
    read_text,
    remove,
    state_folder,
    suggestion,
    write_atomically,
)
from autograder.report import plural
from autograder.results import joined
from autograder.submission import SubmissionError, checked_id, printable, printable_name

# The names in a download, which are clues to students.


@dataclass(frozen=True)
class Clue:
    """Clues to the student who handed something in; `own` is the id that is used if no roster knows it."""

    own: str
    name: str | None = None
    login: str | None = None
    lms_id: str | None = None
    logins: tuple[str, ...] = ()


def without_zeros(number: str) -> str:
    """Return a number without the zeros before it, as a spreadsheet writes it; empty for every other text."""
    return (number.lstrip("0") or "0") if number.isascii() and number.isdigit() else ""


def casefolded(name: str) -> str:
    """Return a name as case-insensitive file systems compare it: no two students may share a report's file name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


# Read and write times with time zones.

_TIME = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)\s*"
    r"(?:(?P<utc>Z|UTC|GMT)|(?P<offset>[+-]\d\d:?\d\d)|(?P<zone>[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+){0,3}))?\s*",
    re.ASCII,
)
YEARS = range(1971, 3000)
"""Years of submissions, far from the limits of datetime, so that no deadline overflows."""


def parse_time(text: str, zone: tzinfo) -> datetime | None:
    """Return the UTC time of a text like `2026-03-01 23:59`, with optional seconds and zone; None if it is not one.

    Without a zone of its own it is a time in `zone`. If clocks show it twice, or never, the later moment counts.
    """
    match = _TIME.fullmatch(text[:80])
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(digits or 0) for digits in match.groups()[:6])
    try:
        own = _zone(match) or zone
        wall = datetime(year, month, day, hour, minute, second, int((match[7] or "0")[:6].ljust(6, "0")))
        return to_utc(wall, own) if year in YEARS else None
    except (ValueError, OverflowError, OSError, LookupError):
        return None


def to_utc(wall: datetime, zone: tzinfo) -> datetime:
    """Return the UTC time at which the clocks of a zone show a time; the later if they show it twice or never.

    So a deadline in the hour that the clocks repeat ends with its second pass.
    """
    return max(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def format_time(time: datetime | None, zone: tzinfo = UTC) -> str:
    """Return a UTC time as text in a zone, to the second, with its offset from UTC."""
    return time.astimezone(zone).isoformat(sep=" ", timespec="seconds") if time else ""


def _zone(match: re.Match[str]) -> tzinfo | None:
    if match["utc"]:
        return UTC
    if match["offset"]:
        sign = -1 if match["offset"][0] == "-" else 1
        digits = match["offset"][1:].replace(":", "")
        return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
    if not match["zone"]:
        return None
    from zoneinfo import ZoneInfo  # only for a time with a zone

    return ZoneInfo(match["zone"])


# The text and the rows of CSV files: those that a person or another program wrote, and our own.

MOST_BYTES = 16 << 20
"""A class of 100,000 students needs less; a larger file is not a table of a class."""

MOST_MISTAKES = 20
"""A file with more mistakes is the wrong file; one screen of them is enough."""


def csv_text(file: Path, error: type[Exception], *, expected: str, fix: str) -> str:
    """Return the text with its byte order mark. Raises `error`; `fix` tells what to do about another encoding."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise error(f"{printable(file)} has more than {MOST_BYTES >> 20} MiB, expected {expected}")
        return file.read_bytes().decode("utf-8")
    except OSError as problem:
        raise error(f"{printable(file)} cannot be read ({problem.strerror}); expected {expected}") from None
    except ValueError:
        raise error(f"{printable(file)} is not UTF-8; {fix}") from None


def csv_rows(
    file: Path, columns: Sequence[str], error: type[Exception], *, what: str, all_needed: bool = False
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a table that people write, each with its line from 1 and every column; others are ignored.

    The first column must be there, and with `all_needed` all of them. Raises `error`; `what` says whose columns they
    are.
    """
    text = csv_text(file, error, expected=f"a CSV file with a column {columns[0]}", fix="save it as CSV UTF-8")
    text = text.removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        _check_columns(file, header, columns, error, what, all_needed=all_needed)
        rows: list[tuple[int, dict[str, str]]] = []
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
                rows.append((reader.line_num, {name: cells.get(name, "") for name in columns}))
    except csv.Error as problem:
        raise error(
            f"{at_line(file, reader.line_num)} this is not valid CSV ({problem}); save it as CSV UTF-8"
        ) from None
    return rows


def _separator(text: str) -> str:
    """Return what separates the cells: spreadsheets in some languages use semicolons or tabs."""
    return max(",;\t", key=text.partition("\n")[0].count)


def all_mistakes(mistakes: Sequence[str]) -> str:
    """Return the first mistakes of a file, one a line, and the number of the others."""
    more = len(mistakes) - MOST_MISTAKES
    return "\n".join([*mistakes[:MOST_MISTAKES], *([f"and {more:,} more mistakes"] if more > 0 else [])])


def at_line(file: Path, line: int) -> str:
    """Return how a sentence about a line of a file begins."""
    return f"{printable(file)}:{line}:"


def row_text(values: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return one row as CSV text."""
    return as_csv([[values[name] for name in columns]])


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV text; None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _check_columns(
    file: Path, header: Sequence[str], columns: Sequence[str], error: type[Exception], what: str, *, all_needed: bool
) -> None:
    """Refuse a header without a column that is needed, with a repeated or with a misspelled one."""
    for needed in columns if all_needed else columns[:1]:
        if needed not in header:
            found = ", ".join(map(printable_name, header)) or "nothing"
            expected = f"expected a column {needed} (of {', '.join(columns)})"
            raise error(f"{at_line(file, 1)} the first line has {found}, {expected}")
    for name in header:
        if name in columns and header.count(name) > 1:
            raise error(f"{at_line(file, 1)} the column {name} appears twice, expected once")
        near = nearest(name, columns) if name and name not in columns else None
        if near and near not in header:
            raise error(f"{at_line(file, 1)} {printable_name(name)} is not a column of {what}; did you mean {near}?")


ROSTER_FILE = "roster.csv"
COLUMNS = (
    *("student", "name", "email", "login", "lms_id"),
    *("extension_days", "due", "handed_in", "points", "section", "group"),
)

_TIME_WORDS = "a time like 2026-03-01 23:59"
_MOST_POINTS = 10_000
"""Far more than any course gives: a larger number is a typing error."""


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
    section: str = ""
    group: str = ""


@dataclass(frozen=True, eq=False)
class Roster:
    """The students of a class in roster order; looked up by id, login, number, e-mail address or name.

    `notes` say what in its files fits nobody.
    """

    students: tuple[Student, ...] = ()
    notes: tuple[str, ...] = ()
    _known: Mapping[tuple[str, str], tuple[str, ...]] = field(init=False, repr=False)
    _rows: Mapping[str, Student] = field(init=False, repr=False)
    _groups: Mapping[str, Sequence[str]] = field(init=False, repr=False)

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
        groups: dict[str, list[str]] = defaultdict(list)
        for student in self.students:
            if student.group:
                groups[student.group].append(student.student)
        object.__setattr__(self, "_groups", dict(groups))

    def __getitem__(self, student: str) -> Student:
        """Return the row of a student, or an empty row for a student who is not on the roster."""
        return self._rows.get(student) or Student(student)

    def __contains__(self, student: str) -> bool:
        return student in self._rows

    def __bool__(self) -> bool:
        return bool(self.students)

    @property
    def sections(self) -> tuple[str, ...]:
        """Return the sections of the class, in the order of the alphabet."""
        return tuple(sorted({row.section for row in self.students if row.section}))

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the groups that hand in together."""
        return tuple(self._groups)

    def in_group(self, group: str) -> tuple[str, ...]:
        """Return the students of a group; none if there is no group with this name."""
        return tuple(self._groups.get(group, ()))

    def in_group_of(self, entry: str) -> tuple[str, ...]:
        """Return the students of the group with the name of a submission; none if there is no such group."""
        group = next((group for group in self._groups if is_of_group(entry, group)), "")
        return self.in_group(group) if entry not in self else ()

    def partners(self, student: str) -> tuple[str, ...]:
        """Return the other students of the group of a student."""
        return tuple(one for one in self.in_group(self[student].group) if one != student)

    def in_section(self, section: str) -> tuple[str, ...]:
        """Return the students of a section. Raises `RosterError` if there is none with this name."""
        students = tuple(row.student for row in self.students if row.section == section)
        if not students:
            known = self.sections
            fix = "add a column section to the roster, with a name for each student"
            hint = suggestion(section, known, f"expected one of {joined(known)}") if known else fix
            raise RosterError(f"no student of the roster is in section {printable(section)}; {hint}")
        return students

    def has(self, student: str) -> bool:
        """Return whether a student has this id, ignoring case."""
        return ("id", casefolded(student)) in self._known

    def has_group(self, name: str) -> bool:
        """Return whether a hand-in with this name is that of a group."""
        return bool(self.in_group_of(name))

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

    def find_number(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students whose id or login is the same number, with other zeros before it."""
        numbers = {without_zeros(login) for login in (clue.login or "", *clue.logins)} - {""}
        rows = self.students if numbers else ()
        return tuple(row.student for row in rows if numbers & {without_zeros(row.student), without_zeros(row.login)})

    def _by_login(self, login: str) -> tuple[str, ...]:
        tried = (self._known.get((kind, casefolded(login)), ()) for kind in ("login", "id", "email"))
        return next(filter(None, tried), ())


def read_roster(course: Course, file: Path | None) -> Roster:
    """Return the roster in a file, or in roster.csv beside the course, or an empty one if there is neither.

    A file with the groups of a platform gives the roster beside the course with these groups.

    Raises `RosterError` with all mistakes. Times without an offset are in the time zone of the course.
    """
    beside = course.root / ROSTER_FILE
    path = file or beside
    if file is None and not path.is_file():
        return Roster()
    zone = course.grading.zone if course.grading else UTC
    columns = _group_columns(path)
    if columns is None:
        return _roster(path, csv_rows(path, COLUMNS, RosterError, what="a roster"), zone)
    rows = csv_rows(path, columns, RosterError, what="a file of groups")
    if beside.is_file() and beside.resolve() != path.resolve():
        roster = _roster(beside, csv_rows(beside, COLUMNS, RosterError, what="a roster"), zone)
        return _with_groups(roster, path, rows)
    if columns != CANVAS_GROUPS:
        fix = f"write a {ROSTER_FILE} there with their ids and logins"
        raise RosterError(f"{printable(path)} has groups, and {beside} is not there to say who the students are; {fix}")
    return _roster(path, [(line, _roster_row(row)) for line, row in rows], zone)


CHOSEN = "roster"
"""The file in `.course` with the path of the roster that was named last."""


def roster_file(course: Course, named: Path | None) -> Path | None:
    """Return the roster that is named, or the one that was chosen before; None stands for the one beside the course.

    Raises `RosterError` if the chosen one is gone.
    """
    if named is not None:
        return named
    place = course.root / FOLDER / CHOSEN
    try:
        chosen = Path(read_text(place).strip())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise RosterError(f"{printable(place)} cannot be read ({error}); delete it, or name a roster") from None
    if not chosen.is_file():
        found = f"the roster {printable(chosen)}, chosen with --roster, is not there any more"
        raise RosterError(f"{found}; name another with --roster, or delete {printable(place)}")
    return chosen


def find_roster(course: Course, named: Path | None) -> Roster:
    """Return the roster of a command, and keep the choice for the next one. Raises `RosterError`.

    Naming roster.csv beside the course takes the choice back.
    """
    file = roster_file(course, named)
    roster = read_roster(course, file)
    place = course.root / FOLDER / CHOSEN
    if named is None:
        if file is not None:
            note(f"the roster is {file}, as chosen with --roster; to take that back, delete {place}")
    elif named.resolve() == (course.root / ROSTER_FILE).resolve():
        with contextlib.suppress(OSError):
            remove(place)
    else:
        with contextlib.suppress(OSError):  # a course that cannot be written to has no memory
            write_atomically(state_folder(course.root) / CHOSEN, f"{named.resolve()}\n")
            note(f"later commands use the roster {named.resolve()} too; to take that back, delete {place}")
    for sentence in roster.notes:
        note(sentence)
    return roster


def known_id(roster: Roster, student: str, error: type[Exception]) -> str:
    """Return the id of a student in normal form. Raises `error` if there is no such student on the roster."""
    try:
        id_ = checked_id(student, student or "the empty id")
    except SubmissionError as problem:
        raise error(str(problem)) from None
    if roster and id_ not in roster:
        hint = suggestion(id_, [row.student for row in roster.students], "expected an id of the roster")
        raise error(f"{printable(id_)} is no student of the roster; {hint}")
    return id_


MOST_NAMED = 5
"""A message names this many students, so that it stays one line."""


def named(students: Iterable[str]) -> str:
    """Return the first few names, and the number of the others."""
    return joined([printable(student) for student in students], most=MOST_NAMED)


# Files of groups, as platforms export them. Their first line says that they are no roster.

CANVAS_GROUPS = ("canvas_user_id", "group_name", "login_id", "user_id", "name", "sections")
MOODLE_GROUPS = ("grouping", "group", "first name", "last name", "username", "email address", "id number")
GROUP_IDS = ("canvas_user_id", "login_id", "user_id", "username", "email address", "id number")
"""The columns in which a file of groups has the number or a login of a student."""

NO_GROUP = ("Not in a group", "No group")
"""What Moodle writes as grouping and group of a student without a group."""


def _group_columns(file: Path) -> tuple[str, ...] | None:
    """Return the columns of a file of groups; None for any other file."""
    expected = f"a CSV file with a column {COLUMNS[0]}"
    text = csv_text(file, RosterError, expected=expected, fix="save it as CSV UTF-8").removeprefix("\ufeff")
    names = [cell.strip(' "\r').lower() for cell in text.partition("\n")[0].split(_separator(text))]
    found = (columns for columns in (CANVAS_GROUPS, MOODLE_GROUPS) if set(columns[:2]) <= set(names))
    return next(found, None) if "student" not in names else None


def _roster_row(row: Mapping[str, str]) -> Mapping[str, str]:
    """Return the row of a roster for a student of Canvas, whose id is the one in its downloads."""
    known = {"student": row["canvas_user_id"], "lms_id": row["canvas_user_id"], "login": row["login_id"]}
    about = {"name": row["name"], "section": row["sections"], "group": row["group_name"]}
    return {**dict.fromkeys(COLUMNS, ""), **known, **about}


def _with_groups(roster: Roster, file: Path, rows: Sequence[tuple[int, Mapping[str, str]]]) -> Roster:
    """Return a roster with the groups of a file in place of its own, and notes on what fits nobody.

    Raises `RosterError` for a student in two groups.
    """
    groups: dict[str, str] = {}
    strangers: list[str] = []
    several: list[str] = []
    problems = []
    for line, row in rows:
        name = row.get("name") or " ".join(filter(None, (row.get("first name"), row.get("last name"))))
        ids = [row[column] for column in GROUP_IDS if row.get(column)]
        if not name and not ids:
            continue  # a group of Moodle without members
        group = row.get("group_name") or row.get("group", "")
        found = _students_with(roster, ids, row.get("canvas_user_id", "")) or roster.find(Clue("", name=name))
        if len(found) != 1:
            (several if found else strangers).append(name or ids[0])
        elif group and (row.get("grouping"), group) != NO_GROUP and groups.setdefault(found[0], group) != group:
            both = f"{printable(found[0])} is in {printable(groups[found[0]])} and in {printable(group)}"
            problems.append(f"{at_line(file, line)} {both}, expected one group; export one grouping alone")
    if problems:
        raise RosterError(all_mistakes(problems))
    students = tuple(replace(row, group=groups.get(row.student, "")) for row in roster.students)
    others = [row.student for row in students if not row.group]
    where = printable(file.name)
    notes = []
    if strangers:
        notes.append(f"{plural(len(strangers), 'student')} of {where} not on the roster: {named(strangers)}")
    if several:
        notes.append(f"{plural(len(several), 'student')} of {where} may be several of the roster: {named(several)}")
    if others:
        notes.append(f"{plural(len(others), 'student')} of the roster in no group of {where}: {named(others)}")
    return Roster(students, tuple(notes))


def _students_with(roster: Roster, ids: Sequence[str], lms_id: str) -> tuple[str, ...]:
    """Return the students who have one of the logins or the number."""
    clues = (*(Clue("", login=login) for login in ids), Clue("", lms_id=lms_id))
    return tuple(dict.fromkeys(student for clue in clues for student in roster.find(clue)))


def is_of_group(id_: str, group: str) -> bool:
    """Say whether a submission has the name of a group, or that and a number, as in a download of Moodle."""
    name, _, number = id_.rpartition("_")
    return casefolded(group) in (casefolded(id_), casefolded(name) if number.isdigit() else None)


def _roster(path: Path, rows: Sequence[tuple[int, Mapping[str, str]]], zone: tzinfo) -> Roster:
    problems: list[str] = []
    students: list[Student] = []
    lines: dict[tuple[str, str], int] = {}
    for line, row in rows:
        mistakes = [f"{at_line(path, line)} {sentence}" for sentence in _mistakes(row, zone)]
        for name in ("student", "login", "lms_id", "email"):
            key = (name, casefolded(row[name]))
            if row[name] and key in lines:
                again = f"{name} {printable_name(row[name])} is already in line {lines[key]}"
                mistakes.append(f"{at_line(path, line)} {again}")
            lines.setdefault(key, line)
        problems += mistakes
        if not mistakes:
            students.append(_student(row, zone))
    if problems:
        raise RosterError(all_mistakes(problems))
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
            yield f"{name} is {printable_name(row[name])}, expected {_TIME_WORDS}"
    if row["extension_days"] and days_of(row["extension_days"]) is None:
        yield f"extension_days is {printable_name(row['extension_days'])}, expected an integer from 0 to 365"
    if row["points"] and hundredths_of(row["points"]) is None:
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
        days_of(row["extension_days"]) or 0,
        parse_time(row["due"], zone),
        parse_time(row["handed_in"], zone),
        hundredths_of(row["points"]) or 0,
        row["section"],
        row["group"],
    )


def days_of(text: str) -> int | None:
    """Return the number of days in a cell; None if there is no such number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= 365 else None


def hundredths_of(text: str) -> int | None:
    """Return the points in a cell as hundredths; None if they are no number, too many, or have more decimals."""
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
