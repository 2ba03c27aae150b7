"""Fill scores into a file that was exported from Canvas or Moodle, and change nothing else in it; and zips of feedback.

Canvas: https://community.canvaslms.com, "How do I import grades in the Gradebook". Moodle: the grading worksheet of an
assignment, or any gradebook export (https://docs.moodle.org/405/en/Grade_import). Both ignore empty cells.
"""

import html
import io
import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import Literal, cast

from autograder.course import UsageError, replacing
from autograder.gradebook import (
    Clue,
    ExportError,
    Graded,
    Mark,
    Roster,
    Student,
    Upload,
    canvas_uploads,
    casefolded,
    csv_text,
    named,
)
from autograder.report import one_line, plural, points
from autograder.submission import printable, printable_name

from .feedback import feedback, is_unwritten, markdown, notes, summary
from .formats import ExportOptions, ExportResult, Format, write_each, write_text

# Match the rows of an exported file with students: by number, by login or address, or else by a unique name.


@dataclass(frozen=True)
class Person:
    """The student of a row: by numbers of the learning platform, by ids and addresses (`strong`), and by name."""

    row: int
    numbers: tuple[str, ...]
    strong: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class RowMatches:
    """The marks by row, notes about the other rows, and the students whose score has no row."""

    marks: Mapping[int, Mark]
    notes: tuple[str, ...]
    unplaced: tuple[str, ...]


def match_rows(people: Sequence[Person], marks: Sequence[Mark], file: str) -> RowMatches:
    """Return the mark for each row; a row is left out if it fits several students, or its student fits several rows."""
    index = _Index(marks)
    candidates = {person.row: index.find(person) for person in people}
    times = Counter(student for students in candidates.values() for student in students)
    by_student = {mark.student: mark for mark in marks}
    # A wrong score in a row does more harm than none, so only unambiguous matches count.
    sure = {row: students[0] for row, students in candidates.items() if len(students) == 1 == times[students[0]]}
    names = {person.row: person.name or next(iter((*person.strong, *person.numbers)), "?") for person in people}
    notes = []
    if unknown := [names[row] for row, students in candidates.items() if not students]:
        notes.append(f"{plural(len(unknown), 'row')} of {file} left unchanged, without a report: {named(unknown)}")
    if unsure := [names[row] for row, students in candidates.items() if students and row not in sure]:
        notes.append(
            f"{plural(len(unsure), 'row')} of {file} left unchanged, with more than one possible owner: {named(unsure)}"
        )
    placed = set(sure.values())
    unplaced = tuple(mark.student for mark in marks if mark.score is not None and mark.student not in placed)
    if unplaced:
        hint = "give them the same names or ids in roster.csv"
        notes.append(f"{plural(len(unplaced), 'score')} without a row in {file}: {named(unplaced)}; {hint}")
    return RowMatches({row: by_student[student] for row, student in sure.items()}, tuple(notes), unplaced)


class _Index:
    """The students by number, id, login, address and name."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        rows = [with_moodle_id(mark.row) for mark in marks]
        self._names = Roster(tuple(rows))
        self._numbers: dict[str, set[str]] = defaultdict(set)
        self._strong: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            self._numbers[row.lms_id or casefolded(row.student)].add(row.student)
            for key in filter(None, (row.student, row.login, row.email)):
                self._strong[casefolded(key)].add(row.student)

    def find(self, person: Person) -> tuple[str, ...]:
        """Return the possible students: none, one, or several if the keys of the row disagree."""
        numbers = {student for number in person.numbers for student in self._numbers.get(number, ())}
        strong = {student for key in person.strong for student in self._strong.get(casefolded(key), ())}
        return tuple(sorted(numbers | strong)) or (self._names.find(Clue("", name=person.name)) if person.name else ())


def with_moodle_id(row: Student) -> Student:
    """Return a row with the name and number of an id from a Moodle download, like `Ada Lovelace_123`."""
    name, separator, number = row.student.rpartition("_")
    if row.name or row.lms_id or not (separator and number.isascii() and number.isdigit()):
        return row
    return Student(row.student, name=name, lms_id=number)


# A CSV file from another program, unchanged to the byte except for the cells that are filled in.

_BOM = "\ufeff"
_CELLS = {
    separator: re.compile(
        rf'("[^"]*(?:""[^"]*)*"[^{separator}\r\n]*|[^"{separator}\r\n][^{separator}\r\n]*|)({separator}|\r\n|\r|\n|\Z)'
    )
    for separator in (",", ";", "\t")
}


@dataclass(frozen=True)
class Cell:
    """One cell: its start and end in the text, and its value."""

    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Sheet:
    """The text of a file with its byte order mark, and its cells, which may contain line breaks."""

    text: str
    rows: tuple[tuple[Cell, ...], ...]

    def value(self, row: int, column: int | None) -> str:
        """Return the stripped value of a cell; empty if the row has no such cell."""
        if column is None or column >= len(self.rows[row]):
            return ""
        return self.rows[row][column].value.strip()

    def column(self, column: int | None) -> list[str]:
        """Return the values of a column below the header."""
        return [self.value(row, column) for row in range(1, len(self.rows))]

    @property
    def header(self) -> list[str]:
        """Return the names of the columns."""
        return [cell.value.strip() for cell in self.rows[0]]

    def filled(self, cells: Mapping[tuple[int, int], str]) -> str:
        """Return the text with new values by row and column, quoted if needed or if the old value was."""
        parts, at = [], 0
        for (row, column), value in sorted(cells.items()):
            cell = self.rows[row][column]
            quoted = self.text[cell.start : cell.end].startswith('"') or re.search(r'[",;\t\r\n]', value)
            parts += [self.text[at : cell.start], '"' + value.replace('"', '""') + '"' if quoted else value]
            at = cell.end
        return "".join((*parts, self.text[at:]))


def read_sheet(file: Path) -> Sheet:
    """Return the sheet in a file. Raises `ExportError` if it is not CSV in UTF-8."""
    again = "export it again, and do not open and save it before"
    text = csv_text(file, ExportError, expected="the exported CSV file of a class", fix=again)
    first = re.sub(r'"[^"]*"', "", text.partition("\n")[0])  # a quoted title may contain other separators
    separator = max(_CELLS, key=first.count)
    return Sheet(text, tuple(_rows(file, text, separator)))


def _rows(file: Path, text: str, separator: str) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    row: list[Cell] = []
    at = len(_BOM) if text.startswith(_BOM) else 0
    while at < len(text) or row:
        found = _CELLS[separator].match(text, at)
        if found is None:
            line = text.count("\n", 0, at) + 1
            raise ExportError(f"{printable(file.name)}:{line}: this is not valid CSV; export the file again")
        row.append(Cell(at, found.end(1), _value(found[1])))
        at = found.end()
        if found[2] != separator:
            rows.append(tuple(row))
            row = []
    if not rows:
        raise ExportError(f"{printable(file)} is empty, expected an exported CSV file")
    return rows


def _value(raw: str) -> str:
    """Return the value of a cell without its quotes."""
    if not raw.startswith('"'):
        return raw
    end = raw.rindex('"')
    return raw[1:end].replace('""', '"') + raw[end + 1 :]


System = Literal["canvas", "moodle"]
CANVAS = {"number": ("ID",), "strong": ("SIS Login ID", "SIS User ID"), "name": ("Student",)}
MOODLE = {
    "number": ("Identifier", "id"),
    "strong": ("ID number", "Username", "Email address"),
    "name": ("Full name",),
}
EXCUSED = "EX"
"""What Canvas reads as excused."""

NO_GRADE = ("", "-")
"""How the platforms write that there is no grade."""

FEEDBACK = "Feedback comments"
MOST_FEEDBACK = 2000
"""Characters of a comment: Moodle shows it in a cell of a table, and mails it."""
_TITLE = re.compile(r"(.*) \((\d+)\)", re.DOTALL)
_NUMBER = re.compile(r"\D*?(\d+)")
_IDENTIFIER = re.compile(r"\D+ \d+")
_READ_ONLY = "(read only)"


_OURS = re.compile(r"Score: [\d.,−-]+ of [\d.,]+ points\.")
"""How a comment of an export begins, in a cell that may have more."""


@dataclass(frozen=True)
class FillResult:
    """The new text of the file, the number of scores that are new in it, notes, and the scores that are not in it."""

    text: str
    placed: int
    notes: tuple[str, ...]
    unplaced: int


@dataclass
class _Cells:
    """The cells to fill in by row and column, and the students for whom the file has something else."""

    new: dict[tuple[int, int], str] = field(default_factory=dict)
    scored: int = 0
    same: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)


def fill(
    graded: Graded, system: System, file: Path, column: str | None, scale: bool, overwrite: bool = False
) -> FillResult:
    """Return an exported file with the scores in it. The cell of a student without a score stays unchanged.

    What a person entered stays: a grade that differs is replaced only with `overwrite`, and a comment comes after
    theirs. Raises `ExportError` if the file, its column or its maximum does not fit.
    """
    sheet = read_sheet(file)
    grades = _canvas_column(sheet, file, column) if system == "canvas" else _moodle_column(sheet, file, column)
    factor = _factor(graded, _maximum(sheet, system, grades), sheet.header[grades], scale)
    people = _canvas_people(sheet) if system == "canvas" else _moodle_people(sheet, file)
    matches = match_rows(people, graded.marks, printable(file.name))
    comma = _decimal_comma(sheet, grades)
    feedback = sheet.header.index(FEEDBACK) if system == "moodle" and FEEDBACK in sheet.header else None
    cells = _Cells()
    for row, mark in matches.marks.items():
        if mark.score is None and not (mark.excused and system == "canvas"):
            cells.without += [mark.student] if sheet.value(row, grades) not in NO_GRADE else []
        elif max(grades, feedback or 0) >= len(sheet.rows[row]):
            cells.short.append(mark.student)
        else:
            new = EXCUSED if mark.score is None else _number(mark.score, factor, comma)
            is_there = _enter(cells, sheet, (row, grades), new, mark.student, overwrite)
            if is_there and feedback is not None and mark.score is not None:
                text = _feedback(graded, mark, points(mark.score))
                _comment(cells, sheet, (row, feedback), text, mark.student, overwrite)
    left = [] if overwrite else list(dict.fromkeys((*cells.other, *cells.comments)))
    notes = (*matches.notes, *_notes(cells, printable(file.name), overwrite))
    return FillResult(
        sheet.filled(cells.new), cells.scored, notes, len(matches.unplaced) + len(cells.short) + len(left)
    )


def _enter(cells: _Cells, sheet: Sheet, place: tuple[int, int], new: str, student: str, overwrite: bool) -> bool:
    """Enter a grade, and return whether the file then has it. One that is the same number stays as it is written."""
    old = sheet.value(*place)
    if old not in NO_GRADE and _is_same(old, new):
        cells.same.append(student)
        return True
    if old not in NO_GRADE:
        cells.other.append(student)
    if old not in NO_GRADE and not overwrite:
        return False
    cells.new[place] = new
    cells.scored += 1
    return True


def _comment(cells: _Cells, sheet: Sheet, place: tuple[int, int], new: str, student: str, overwrite: bool) -> None:
    """Enter a comment, after what a person wrote. The comment of an earlier export ends the cell."""
    old = sheet.value(*place)
    ours = _OURS.search(old)
    if new in re.sub(r"<br\s*/?>", "<br>", old):
        return
    if ours is not None:
        cells.comments.append(student)
        if not overwrite:
            return
        old = old[: ours.start()].removesuffix("<br>")
    if old:
        cells.remarks.append(student)
    cells.new[place] = f"{old}<br>{new}" if old else new


def _is_same(old: str, new: str) -> bool:
    """Say whether two grades are the same number, however it is written, or the same word."""
    one, other = (_number_in(text) for text in (old, new))
    return old.casefold() == new.casefold() if one is None or other is None else one == other


def _notes(cells: _Cells, file: str, overwrite: bool) -> Iterator[str]:
    """Yield what the file had, and what the export did with it."""
    if cells.same:
        yield f"{plural(len(cells.same), 'score')} {'is' if len(cells.same) == 1 else 'are'} already in {file}"
    for found, what in ((cells.other, "grade"), (cells.comments, "comment")):
        if found:
            one = len(found) == 1
            differ = f"{plural(len(found), what)} in {file} {'differs' if one else 'differ'} from ours"
            done = "replaced" if overwrite else "kept"
            fix = "" if overwrite else f"; to replace {'it' if one else 'them'}, add --overwrite"
            yield f"{differ}, and {'is' if one else 'are'} {done}: {named(found)}{fix}"
    if cells.remarks:
        yield f"{plural(len(cells.remarks), 'comment')} kept, with ours after it: {named(cells.remarks)}"
    if cells.without:
        count = plural(len(cells.without), "grade")
        yield f"{count} in {file} kept, of a student without a score here: {named(cells.without)}"
    for student in cells.short:
        yield f"{file} has too few cells in the row of {printable(student)}"


def _canvas_column(sheet: Sheet, file: Path, asked: str | None) -> int:
    """Return the column of an assignment; in a Canvas export its title ends with its number."""
    if "Student" not in sheet.header or "ID" not in sheet.header:
        raise _not_exported(sheet, file, "Student and ID", "Grades > Export")
    titles = {place: match for place, name in enumerate(sheet.header) if (match := _TITLE.fullmatch(name))}
    if asked is None:
        return _only(file, sheet, [place for place in titles if _READ_ONLY not in sheet.column(place)[:3]])
    return _only(
        file, sheet, [place for place, title in titles.items() if asked in (title[0], title[1], title[2])], asked
    )


def _moodle_column(sheet: Sheet, file: Path, asked: str | None) -> int:
    wanted = asked or "Grade"
    return _only(file, sheet, [place for place, name in enumerate(sheet.header) if name == wanted], wanted)


def _only(file: Path, sheet: Sheet, places: Sequence[int], asked: str | None = None) -> int:
    """Return the only place; raise `ExportError` if there is none or there are several."""
    if len(places) == 1:
        return places[0]
    columns = f"{len(places)} columns {printable_name(asked)}" if asked else f"{len(places)} assignment columns"
    names = ", ".join(printable_name(sheet.header[place]) for place in places) or ", ".join(
        map(printable_name, sheet.header)
    )
    raise ExportError(f"{printable(file)} has {columns}, expected one; choose one with --column: {names}")


def _maximum(sheet: Sheet, system: System, grades: int) -> Decimal | None:
    """Return the maximum of the column; None if the file does not have it."""
    if system == "canvas":
        rows = [row for row in range(1, len(sheet.rows)) if sheet.value(row, 0) == "Points Possible"]
        return _decimal(sheet.value(rows[0], grades)) if rows else None
    after = grades + 1
    found = {value for value in sheet.column(after) if value} if after < len(sheet.header) else set()
    worksheet = any(_IDENTIFIER.fullmatch(value) for value in sheet.column(0))
    return _decimal(next(iter(found))) if worksheet and len(found) == 1 else None


def _factor(graded: Graded, maximum: Decimal | None, title: str, scale: bool) -> Decimal:
    """Return the factor for scores: 1, or the ratio of the maxima with `scale`."""
    ours = Decimal(graded.policy.maximum) / 100
    if maximum is None or maximum == ours:
        return Decimal(1)
    if not scale:
        theirs, own = f"{maximum.normalize():f}", f"{ours.normalize():f}"
        raise ExportError(
            f"{printable_name(title)} has a maximum of {theirs}, and the course has {own}; "
            f"set the maximum to {own} and export the file again, or convert the scores with --scale"
        )
    return maximum / ours


def _number(score: int, factor: Decimal, comma: bool) -> str:
    text = str((Decimal(score) / 100 * factor).quantize(Decimal("0.01"), ROUND_HALF_UP))
    return text.replace(".", ",") if comma else text


def _decimal_comma(sheet: Sheet, grades: int) -> bool:
    """Return whether the file writes numbers with a decimal comma, in its old scores or beside them."""
    near = [*sheet.column(grades), *(sheet.column(grades + 1) if grades + 1 < len(sheet.header) else ())]
    return any(re.fullmatch(r"-?\d+,\d+", number) for number in near)


def _decimal(text: str) -> Decimal | None:
    """Return a positive number; None for anything else."""
    number = _number_in(text)
    return number if number is not None and number > 0 else None


def _number_in(text: str) -> Decimal | None:
    try:
        number = Decimal(text.replace(",", "."))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _canvas_people(sheet: Sheet) -> list[Person]:
    """Return the students of the rows; rows without an ID are not students."""
    columns = _columns(sheet, CANVAS)
    return [_person(sheet, row, columns) for row in range(1, len(sheet.rows)) if sheet.value(row, columns["number"][0])]


def _moodle_people(sheet: Sheet, file: Path) -> list[Person]:
    """Return the students of the rows, by the English titles of the columns, or else by their content."""
    columns = {key: list(places) for key, places in _columns(sheet, MOODLE).items()}
    known = {place for places in columns.values() for place in places}
    for place in range(len(sheet.header)):
        if place in known:
            continue
        cells = [value for value in sheet.column(place) if value]
        if cells and all("@" in value and " " not in value for value in cells):
            columns["strong"].append(place)
        elif cells and place == 0 and all(_IDENTIFIER.fullmatch(value) for value in cells):
            columns["number"].append(0)
            columns["name"] += [1] if not columns["name"] and len(sheet.header) > 1 else []
    if not any(columns.values()):
        raise _not_exported(
            sheet, file, "Identifier, Email address or ID number", "View all submissions > grading worksheet"
        )
    names = [sheet.header.index(title) for title in ("First name", "Last name") if title in sheet.header]
    return [
        _person(sheet, row, columns, names if len(names) == 2 else ())
        for row in range(1, len(sheet.rows))
        if any(sheet.value(row, place) for place in range(len(sheet.rows[row])))
    ]


def _columns(sheet: Sheet, titles: Mapping[str, Iterable[str]]) -> dict[str, list[int]]:
    return {
        key: [sheet.header.index(title) for title in names if title in sheet.header] for key, names in titles.items()
    }


def _person(sheet: Sheet, row: int, columns: Mapping[str, Sequence[int]], both: Sequence[int] = ()) -> Person:
    numbers = [match[1] for place in columns["number"] if (match := _NUMBER.fullmatch(sheet.value(row, place)))]
    strong = [value for place in columns["strong"] if (value := sheet.value(row, place))]
    name = [value for place in columns["name"] if (value := sheet.value(row, place))]
    name += [" ".join(sheet.value(row, place) for place in both)] if both and not name else []
    return Person(row, tuple(numbers), tuple(strong), name[0] if name else "")


def _not_exported(sheet: Sheet, file: Path, wanted: str, where: str) -> ExportError:
    columns = ", ".join(map(printable_name, sheet.header[:8])) or "nothing"
    return ExportError(f"{printable(file)} has the columns {columns}, expected {wanted}; export the file with {where}")


def _feedback(graded: Graded, mark: Mark, score: str) -> str:
    """Return the feedback as HTML, since Moodle renders it as HTML; text of a student is escaped.

    It begins with a fixed word, so that no spreadsheet takes it for a formula. Exercises with a finding come first.
    """
    results = mark.report.exercises if mark.report is not None else ()
    failing = sorted((exercise for exercise in results if exercise.status != "pass"), key=is_unwritten)
    lines = [f"Score: {score} of {points(graded.policy.maximum)} points.", *notes(mark)]
    for exercise in failing:
        lines += f"{one_line(exercise.title)}: {summary(exercise)}".splitlines()
    return _joined([html.escape(line) for line in lines])


def _joined(lines: Sequence[str]) -> str:
    """Join the lines that fit into a cell, and say how many do not."""
    text = "<br>".join(lines)
    kept = len(lines)
    while len(text) > MOST_FEEDBACK and kept > 1:
        kept -= 1
        text = "<br>".join([*lines[:kept], f"{plural(len(lines) - kept, 'more line')}: see your feedback page."])
    return text


def _fill(options: ExportOptions, graded: Graded) -> ExportResult:
    if options.into is None:
        raise UsageError(f"course export {options.format} needs --into FILE, the file that was exported there")
    filled = fill(
        graded, cast("System", options.format), options.into, options.column, options.scale, options.overwrite
    )
    written = write_text(options, filled.text)
    return ExportResult([*written.lines, f"{plural(filled.placed, 'score')} filled in"], filled.notes, filled.unplaced)


# All feedback pages in one zip, named so that Canvas or Moodle gives each to its student.
#
# Moodle  *Upload multiple feedback files in a zip* takes NAME_PARTICIPANT_assignsubmission_file_/FILE: see
#         is_valid_filename_for_import in mod/assign/feedback/file/importziplib.php.
# Canvas  *Upload submissions* takes NAME_USER_ATTACHMENT_FILE, where ATTACHMENT is a file that the student handed in:
#         see infer_comment_context_from_filename in app/models/abstract_assignment.rb. It shows the comment's file
#         under the name of that attachment, so a page is of the same type: a zip for a zip, else comments or a text
#         cell.

TIME = (1980, 1, 1, 0, 0, 0)
"""The same time for every page, so that equal pages give an equal zip."""

PAGE = "feedback.html"
TYPES = (".zip", ".py", ".ipynb")
"""The types of attachments that a page can have, the best first."""


def write_archive(graded: Graded, platform: str, into: Path | None, to: Path) -> tuple[int, list[str]]:
    """Write the zip for `canvas` or `moodle`. Return the number of pages, and the students whose page has no place.

    `into` is the download of Canvas: the folder, or its submissions.zip.
    """
    if to.suffix != ".zip":
        raise ExportError(f"{printable(to)} is not the name of a zip, expected one like feedback.zip")
    if (platform == "canvas") != (into is not None):
        needs = (
            "needs --into FILE, the submissions.zip that you downloaded there" if into is None else "takes no --into"
        )
        raise UsageError(f"course export feedback --for {platform} {needs}")
    uploads = _uploads(graded, into) if into is not None else {}
    without = []
    with replacing(to) as stream, zipfile.ZipFile(stream, "w") as archive:
        for mark in graded.to_show:
            found = _canvas(graded, mark, uploads.get(mark.student)) if into is not None else _moodle(graded, mark)
            if found is None:
                without.append(mark.student)
            else:
                _add(archive, *found)
    return len(graded.to_show) - len(without), without


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, TIME), data, zipfile.ZIP_DEFLATED)


def _moodle(graded: Graded, mark: Mark) -> tuple[str, bytes] | None:
    row = with_moodle_id(mark.row)
    if not (row.lms_id.isascii() and row.lms_id.isdigit()):
        return None
    return f"{_letters(row.name)}_{row.lms_id}_assignsubmission_file_/{PAGE}", feedback(graded, mark).encode()


def _canvas(graded: Graded, mark: Mark, upload: Upload | None) -> tuple[str, bytes] | None:
    if upload is None:
        return None
    kind = Path(upload.rest).suffix.lower()
    if kind == ".zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            _add(archive, PAGE, feedback(graded, mark).encode())
        data = stream.getvalue()
    elif kind == ".py":
        data = "".join(f"# {line}".rstrip() + "\n" for line in markdown(graded, mark).splitlines()).encode()
    else:
        cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": markdown(graded, mark)}
        data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).encode()
    return f"{_letters(mark.row.name)}_{upload.user}_{upload.file}_feedback{kind}", data


def _names_in(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def _uploads(graded: Graded, into: Path) -> dict[str, Upload]:
    """Return the attachment of each student that the page replaces: the last one of the best type."""
    try:
        names = [file.name for file in into.iterdir()] if into.is_dir() else _names_in(into)
    except (OSError, zipfile.BadZipFile):
        wanted = "the submissions.zip that Canvas gave you, or the folder with its files"
        raise ExportError(f"{printable(into)} cannot be read, expected {wanted}; download it again") from None
    best: dict[str, Upload] = {}
    for name in names:
        readings = canvas_uploads(name.rpartition("/")[2])
        if len(readings) != 1 or Path(readings[0].rest).suffix.lower() not in TYPES or not readings[0].user.isdigit():
            continue
        (upload,) = readings
        owners = graded.policy.roster.find(Clue(upload.user, name=upload.name, lms_id=upload.user)) or (upload.user,)
        if len(owners) == 1 and _rank(upload) > _rank(best.get(owners[0])):
            best[owners[0]] = upload
    return best


def _rank(upload: Upload | None) -> tuple[int, int]:
    return (-TYPES.index(Path(upload.rest).suffix.lower()), upload.file) if upload else (-len(TYPES), 0)


def _letters(name: str) -> str:
    """Return a name without `_`, digits and punctuation: both platforms read the numbers behind it."""
    return " ".join(re.sub(r"[\W\d_]+", " ", name).split()) or "student"


def _feedback_files(options: ExportOptions, graded: Graded) -> ExportResult:
    if options.platform is not None:
        return _archive(options, graded, options.platform)
    if options.into is not None or Path(options.to).suffix == ".zip":
        raise UsageError("course export feedback takes a zip and --into only with --for canvas or --for moodle")
    return write_each(options, graded, feedback, ".html")


def _archive(options: ExportOptions, graded: Graded, platform: str) -> ExportResult:
    pages, without = write_archive(graded, platform, options.into, Path(options.to))
    can_answer = f"no .zip, .py or .ipynb of theirs in {options.into}, and Canvas takes a page for no other file"
    reason = can_answer if options.into else "no participant number in roster.csv (lms_id)"
    notes = [f"{plural(len(without), 'page')} left out: {named(without)}; {reason}"] if without else []
    line = f"Written: {Path(options.to)}, {plural(pages, 'page')} for {platform.capitalize()}"
    return ExportResult([line], notes, len(without))


FORMATS = (
    *(Format(name, _fill, options=("into", "column", "scale", "overwrite")) for name in ("canvas", "moodle")),
    Format("feedback", _feedback_files, options=("into", "platform"), of_a_term=True),
)
