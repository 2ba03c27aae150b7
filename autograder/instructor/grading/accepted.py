"""Files that were accepted for a student after the hand-in: kept beside the course, used by the next grading.

The folder `accepted/` has a copy of each file, and `log.csv` with a line for each decision: who, when and why. Nothing
in it is ever overwritten, and what the student handed in stays as it is.
"""

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.course import Course
from autograder.course.names import UsageError
from autograder.course.nearest import nearest
from autograder.course.storage import folder_lock, state_folder, write_atomically
from autograder.instructor.author import now
from autograder.instructor.gradebook.csv_text import at_line, csv_rows, row_text
from autograder.instructor.gradebook.roster import Roster, known_id
from autograder.submission.class_entry import Entry, Part
from autograder.submission.files import printable
from autograder.submission.submission import Handout, notebook_of

FOLDER = "accepted"
LOG = "log.csv"
COLUMNS = ("student", "assignment", "as", "file", "digest", "reason", "by", "when")
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
        files = tuple(Part(self.folder / one.file, name=one.name, rank=1) for one in decisions if one.name)
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


def withdraw(course: Course, student: str, *, name: str, assignment: str, reason: str, by: str) -> tuple[Decision, ...]:
    """Note that what was accepted for a student no longer counts. Return what that was. Raises `UsageError`."""
    held = decisions_that_hold(course, assignment).get(student, ())
    gone = tuple(one for one in held if name in ("", one.name))
    if not gone:
        what = f"{name} " if name else ""
        raise UsageError(f"nothing {what}is accepted for {printable(student)}; `course accept --list` shows what is")
    with folder_lock(state_folder(course.root)):
        _add(course.root / FOLDER / LOG, Decision(student, assignment, name, "", "", reason, by, now(course)))
    return gone


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
    for line, cells in csv_rows(file, COLUMNS, UsageError, what="the log", all_needed=True):
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
    text = file.read_text("utf-8") if file.is_file() else ",".join(COLUMNS) + "\n"
    cells = {name: getattr(decision, _FIELDS.get(name, name)) for name in COLUMNS}
    write_atomically(file, text + row_text(cells, COLUMNS), durable=True)
