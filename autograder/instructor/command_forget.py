"""Remove a student from the course and from folders of grades.

Without --yes it lists what it would remove, and removes nothing. If it was interrupted, run it again. At the end it
names the files that still mention the student.
"""

import argparse
import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from autograder import gradebook
from autograder.cli import GRADES, ROSTER, CommandParser, say, warn
from autograder.course import (
    Course,
    UsageError,
    find_course,
    folder_lock,
    read_course,
    refuse_kit,
    state_folder,
    suggestion,
    write_atomically,
)
from autograder.ending import ENVIRONMENT, PASS
from autograder.gradebook import casefolded
from autograder.report import plural
from autograder.submission import SubmissionError, checked_id, printable

from .page import FOLDER as CLASS

LOG = "log.csv"
INDEX = "index.sqlite"
OUTSIDE = (
    "hand-ins and downloads, exports in other folders, archives, backups, what the platforms have, and the history of "
    "git, if you keep these files in it"
)


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("student", metavar="STUDENT", help="the id of the student")
    add("outs", type=Path, nargs="*", metavar="OUT", help=f"{GRADES}, or a folder of several")
    add("--yes", action="store_true", help="remove it all (default: only list it)")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


@dataclass(frozen=True)
class Removal:
    """One file or folder to remove; with `rest`, only what a file has of the student, and that is what stays."""

    path: Path
    what: str
    rest: str | None = None

    def apply(self) -> None:
        """Remove it. Raises OSError."""
        if self.rest is not None:
            write_atomically(self.path, self.rest, durable=True, mode=self.path.stat().st_mode & 0o777)
        elif self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path)
        else:
            self.path.unlink(missing_ok=True)


def run(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` if nothing of the student is there."""
    course = read_course(find_course(options.course))
    refuse_kit(course, "forget")
    try:
        checked_id(options.student, options.student or "the empty id")
    except SubmissionError as error:
        raise UsageError(str(error)) from None
    outs = [run for out in options.outs for run in _runs(out)]
    file = gradebook.roster_file(course, options.roster) or course.root / gradebook.ROSTER_FILE
    roster = gradebook.find_roster(course, options.roster)
    row = roster[options.student]
    names = tuple(dict.fromkeys(name for name in (options.student, row.email, row.login, row.name) if name))
    with ExitStack() as stack:
        if options.yes:
            stack.enter_context(folder_lock(state_folder(course.root)))
        try:
            for out in outs if options.yes else ():
                stack.enter_context(gradebook.Out(out))
        except gradebook.Busy as error:
            warn(str(error))
            return ENVIRONMENT
        found = [one for out in options.outs if out not in outs for one in _exports(out, outs, names)]
        found += [one for out in outs for one in _in_grades(out, names)]
        ids = {casefolded(one) for one in (options.student, row.email, row.login, row.lms_id) if one}
        found += _in_course(course, file, options.student, ids)
        if not found:
            hint = suggestion(options.student, [one.student for one in roster.students], "look at the id")
            where = " or ".join(str(place) for place in (course.root, *options.outs))
            raise UsageError(f"nothing of {printable(options.student)} is in {where}; {hint}")
        for one in found:
            say(f"{one.path}: {one.what}")
            if options.yes:
                one.apply()
    if not options.yes:
        say(f"{plural(len(found), 'place')} with data of {printable(options.student)}; add --yes to remove them")
        return PASS
    say(f"{printable(options.student)} is removed from {plural(len(found), 'place')}")
    for path in _mentions(course, file, options.outs, names):
        warn(f"{path} still mentions {printable(options.student)}; look at it")
    say(f"Not looked at: {OUTSIDE}")
    say("Take the hand-in out before the next `course grade`, which would grade it again")
    return PASS


def _runs(out: Path) -> list[Path]:
    """Return the folders of grades in a folder. Raises `UsageError` if there is none."""
    if gradebook.is_term(out):
        return sorted(file.parent for file in out.glob("*/run.json"))
    if not (out / "run.json").is_file() and not (out / "reports").is_dir():
        raise UsageError(f"{printable(out)} has no grades, expected a folder that course grade wrote; check the path")
    return [out]


def _in_grades(out: Path, names: Sequence[str]) -> Iterator[Removal]:
    """Yield what a folder of grades has of a student: first what needs the others to be found, for a second run."""
    student = names[0]
    tables = [out / name for name in ("scores.csv", gradebook.PSEUDONYMS)]
    known = any(_without(file, student) for file in tables)
    pages = sorted({*out.glob(f"{CLASS}.html"), *out.glob(f"{CLASS}-*.html")})  # of the class, and of sections
    folders = [path for path in sorted({*out.glob(CLASS), *out.glob(f"{CLASS}-*")}) if path.is_dir()]
    for what, paths in (("the class page", pages), ("the tables of the class page", folders)):
        for path in paths if known else ():
            yield Removal(path, f"{what}, whole; course dashboard makes it again")
    if (out / INDEX).is_file() and _has((out / INDEX).read_bytes(), names):
        yield Removal(out / INDEX, "the index, whole; the next run makes it again")
    yield from _exports(out, [*tables, *folders, *(out / name for name in ("reports", "before"))], names)
    for file in (out / "before" / f"{student}.json", out / "reports" / f"{student}.json"):
        if file.is_file():
            yield Removal(file, "the report" if file.parent.name == "reports" else "the earlier report")
    for file in reversed(tables):
        if rest := _without(file, student):
            yield Removal(file, "the row" if file.name == "scores.csv" else "the pseudonym", rest)
    run = dict(gradebook.read_run(out) or {})
    students, accepted = run.get("students"), run.get(gradebook.ACCEPTED)
    if isinstance(students, dict) and student in students:
        run["students"] = {name: time for name, time in students.items() if name != student}
        if isinstance(accepted, list) and student in accepted:
            run[gradebook.ACCEPTED] = [name for name in accepted if name != student]
        yield Removal(out / "run.json", "the time of submission", json.dumps(run, indent=1) + "\n")


def _exports(folder: Path, others: Sequence[Path], names: Sequence[str]) -> Iterator[Removal]:
    """Yield the exports in a folder that are of a student, or have rows of them, except in `others`."""
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()):
        if any(file.is_relative_to(other) for other in others):
            continue
        if file.stem == names[0] or names[0] in file.relative_to(folder).parts[:-1]:
            yield Removal(file, "a file for this student")
        elif file.suffix == ".csv" and (rest := _without_names(file, names)):
            yield Removal(file, "the rows of this student", rest)


def _in_course(course: Course, roster: Path, student: str, ids: Collection[str]) -> Iterator[Removal]:
    """Yield what the course has of a student: the row of the roster last, as it has the names for a second run.

    `ids` are those that a file of groups may have, which can be chosen as the roster.
    """
    for file, what in (
        (course.root / gradebook.FILE, "the decisions"),
        (course.root / gradebook.FOLDER / LOG, "what was accepted, and why"),
    ):
        if rest := _without(file, student):
            yield Removal(file, what, rest)
    if (folder := course.root / gradebook.FOLDER / student).is_dir():
        yield Removal(folder, "the accepted files")
    if rest := _without_ids(roster, ids):
        yield Removal(roster, "the row of the groups", rest)
    for file in dict.fromkeys((roster, course.root / gradebook.ROSTER_FILE)):
        if rest := _without(file, student):
            yield Removal(file, "the row of the roster", rest)


def _without(file: Path, student: str) -> str | None:
    """Return a table without the rows of a student; None if it has none."""
    return _table_without(
        file, lambda head, cells: student in (_cell(head, cells), gradebook.plain(_cell(head, cells)))
    )


def _without_names(file: Path, names: Sequence[str]) -> str | None:
    """Return a table without the rows that have a name of the student as a cell; None if there are none."""
    return _table_without(file, lambda _, cells: any(gradebook.plain(cell.strip()) in names for cell in cells))


def _without_ids(file: Path, ids: Collection[str]) -> str | None:
    """Return a file of groups without the rows of a student; None if it has none, or is another file."""

    def is_theirs(head: Sequence[str], cells: Sequence[str]) -> bool:
        row = dict(zip(head, cells, strict=False))
        return "student" not in row and any(
            casefolded(row.get(name, "").strip()) in ids for name in gradebook.GROUP_IDS
        )

    return _table_without(file, is_theirs)


def _cell(head: Sequence[str], cells: Sequence[str]) -> str:
    """Return the cell below `student`."""
    return dict(zip(head, cells, strict=False)).get("student", "").strip()


def _table_without(file: Path, is_theirs: Callable[[Sequence[str], Sequence[str]], bool]) -> str | None:
    """Return the text of a CSV file without some rows, and otherwise unchanged; None if there are none or no table."""
    try:
        text = file.read_bytes().decode("utf-8")
    except (OSError, ValueError):
        return None
    first = text.partition("\n")[0]
    reader = csv.reader(lines := list(io.StringIO(text, newline="")), delimiter=max(",;\t", key=first.count))
    kept, head, at = [], None, 0
    try:
        for cells in reader:
            if head is None:
                head = [name.strip().lower().removeprefix("\ufeff") for name in cells]
            elif is_theirs(head, cells):
                at = reader.line_num
                continue
            kept += lines[at : reader.line_num]
            at = reader.line_num
    except csv.Error:
        return None
    rest = "".join(kept)
    return rest if rest != text else None


def _mentions(course: Course, roster: Path, outs: Sequence[Path], names: Sequence[str]) -> Iterator[Path]:
    """Yield the files that still have a name of the student."""
    own = dict.fromkeys((roster, course.root / gradebook.ROSTER_FILE, course.root / gradebook.FILE))
    files = [*own, *sorted((course.root / gradebook.FOLDER).rglob("*"))]
    for file in (*files, *(file for out in outs for file in sorted(out.rglob("*")))):
        if file.is_file() and not file.is_symlink() and _has(file.read_bytes(), names):
            yield file


def _has(data: bytes, names: Sequence[str]) -> bool:
    """Say whether a name stands in the bytes of a file, as UTF-8 or as JSON writes it."""
    spelled = {text.encode() for name in names for text in (name, json.dumps(name)[1:-1])}
    return any(re.search(rb"(?<![0-9A-Za-z_])" + re.escape(one) + rb"(?![0-9A-Za-z_])", data) for one in spelled)
