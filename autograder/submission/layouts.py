"""Read the layouts of downloaded submissions: who handed in what, and when.

canvas     Flat files, whose names `canvas.py` reads.
moodle     Folders or flat files, whose names `moodle.py` reads.
clones     Clones of git repositories, `ASSIGNMENT-LOGIN` or `CLASSROOM-ASSIGNMENT-LOGIN`: the part that all names share
           is not the login, nor is the ASSIGNMENT of a folder `ASSIGNMENT-submissions`.
nbgrader   STUDENT/ASSIGNMENT/, in it timestamp.txt such as `2015-02-01 09:28:58.749302 America/Los_Angeles`.
plain      A folder or a zip for each student.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from typing import TypeVar

from autograder.submission import canvas, moodle
from autograder.submission.class_entry import Part
from autograder.submission.class_folder import ClassFolder, Item, may_be_work
from autograder.submission.files import printable_name
from autograder.submission.git import commit_time
from autograder.submission.names import Clue, casefolded
from autograder.submission.times import parse_time

LAYOUTS = ("plain", "canvas", "moodle", "clones", "nbgrader")

NO_SUBMISSION = "{} is neither a folder nor a zip, so nothing in it was read"

_CANVAS_COPY = re.compile(r"(.*)-\d{1,4}(\.\w+)")
_ENDINGS = re.compile(r"(\.tar)?\.\w+$", re.IGNORECASE)
_ATTEMPT = re.compile(r"(.*?)[ _-]?(?:\((\d{1,4})\)|[_ -](?:attempt|v)?[_ -]?(\d{1,4}))", re.IGNORECASE)

Owner = TypeVar("Owner", canvas.Upload, moodle.Owner)


@dataclass(frozen=True)
class Candidate:
    """One attempt of a student, which may be the one that counts. Of two, the one with the higher `number` is later.

    `people` are the names under which it was handed in: candidates with no name in common belong to different people.
    """

    clue: Clue
    label: str
    parts: tuple[Part, ...]
    handed_in: datetime | None = None
    notes: tuple[str, ...] = ()
    number: int | None = None

    @property
    def people(self) -> frozenset[str]:
        """Return the clue of every person the entry may belong to."""
        own = self.clue.lms_id or casefolded(self.clue.own)
        return frozenset({own, *(casefolded(login) for login in self.clue.logins if self.number is not None)})


@dataclass
class LayoutResult:
    """The candidates that a layout finds among the items, with problems and notes about the rest.

    `loose` are single files beside the folders and zips; only a roster can say which of them a student handed in.
    """

    candidates: list[Candidate]
    problems: list[str]
    notes: list[str]
    loose: list[Item] = field(default_factory=list)


def read_layout(layout: str, folder: ClassFolder, files: Iterable[str]) -> LayoutResult:
    """Return the candidates of a layout. `files` are the names that count in a submission."""
    result = LayoutResult([], [], [])
    if layout == "canvas":
        _read_canvas(folder, result, frozenset(files))
    else:
        _READERS[layout](folder, result)
    return result


def _read_plain(folder: ClassFolder, result: LayoutResult) -> None:
    for item in folder.items:
        if item.is_loose:
            result.loose.append(item)
        elif item.kind not in ("folder", "file"):
            leave_out(item, result)
        else:
            clue, number = _plain_clue(item.name[:-4] if item.is_zip else item.name)
            result.candidates.append(Candidate(clue, item.name, (item.part(),), number=number))


def _plain_clue(own: str) -> tuple[Clue, int]:
    """Return the clue in the name of a folder or a zip, and the number of the attempt."""
    attempt = _ATTEMPT.fullmatch(own)
    number = int(attempt[2] or attempt[3]) if attempt else 0
    return Clue(own, name=own, login=own, logins=(attempt[1],) if attempt else ()), number


def loose_clue(item: Item) -> Clue:
    """Return the clue in the name of a single file, as `ada.tar.gz`."""
    return _plain_clue(_ENDINGS.sub("", item.name))[0]


def loose_candidate(items: Sequence[Item]) -> Candidate:
    """Return single files that a student handed in, and that are no submission: it will be held."""
    notes = tuple(f"{NO_SUBMISSION.format(printable_name(item.name))}; hand in a zip of .py files" for item in items)
    parts = tuple(item.part(item.name) for item in items)
    return Candidate(loose_clue(items[0]), items[0].name, parts, notes=notes, number=0)


def _read_canvas(folder: ClassFolder, result: LayoutResult, files: frozenset[str]) -> None:
    grouped = _by_owner(
        folder,
        result,
        lambda item: canvas.uploads(item.name) if item.kind == "file" else (),
        lambda upload: upload.user,
    )
    for user, uploads in grouped.items():
        parts = [_canvas_part(item, upload, files) for item, upload in uploads if upload.rest]
        late = any(upload.late for _, upload in uploads)
        notes = ["Canvas marks it as late, and does not give the time"] if late else []
        notes += [] if parts else ["a text or a link was handed in, expected files"]
        item, first = uploads[0]
        clue = Clue(user, name=first.name, lms_id=user)
        result.candidates.append(Candidate(clue, item.name, tuple(parts), notes=tuple(notes)))


def _canvas_part(item: Item, upload: canvas.Upload, files: frozenset[str]) -> Part:
    """Return a file under the name its student gave it: without the `-1` of Canvas, if that is an expected name."""
    copy = _CANVAS_COPY.fullmatch(upload.rest)
    stripped = copy[1] + copy[2] if copy else ""
    return item.part(stripped if stripped in files else upload.rest, upload.file)


def _read_moodle(folder: ClassFolder, result: LayoutResult) -> None:
    grouped = _by_owner(folder, result, lambda item: moodle.owners(item.name, item.kind), lambda owner: owner.label)
    for label, uploads in grouped.items():
        files = [(item, owner) for item, owner in uploads if owner.plugin == "file"]
        parts = tuple(item.part(owner.rest) if item.kind == "file" else item.part() for item, owner in files)
        notes = () if parts else ("a text was handed in, expected files",)
        first = uploads[0][1]
        clue = Clue(label, name=first.name, lms_id=first.id)
        result.candidates.append(Candidate(clue, label, parts, notes=notes))


def _by_owner(
    folder: ClassFolder,
    result: LayoutResult,
    owners_of: Callable[[Item], Sequence[Owner]],
    key: Callable[[Owner], str],
) -> dict[str, list[tuple[Item, Owner]]]:
    """Group the items by their owners; items with no owner, or several possible ones, are left out."""
    grouped: dict[str, list[tuple[Item, Owner]]] = {}
    for item in folder.items:
        owners = owners_of(item)
        if len(owners) == 1:
            grouped.setdefault(key(owners[0]), []).append((item, owners[0]))
        else:
            leave_out(item, result, [key(owner) for owner in owners])
    return grouped


def _read_clones(folder: ClassFolder, result: LayoutResult) -> None:
    """Read clones. The student's own machine wrote the time of a commit, so it is a claim."""
    prefix = f"{folder.name.removesuffix('-submissions')}-" if folder.name.endswith("-submissions") else ""
    shared = _common_prefix([item.name for item in folder.items if item.kind == "folder"])
    for item in folder.items:
        if item.kind != "folder":
            leave_out(item, result)
            continue
        own = item.name.removeprefix(prefix)
        # The assignment's name is not known, so each `-` of the common prefix may be the one before the login.
        dashes = [index for index, char in enumerate(shared) if char == "-"] if own == item.name else []
        logins = tuple(item.name[index + 1 :] for index in dashes)
        time = commit_time(item.path) if item.files is None else None
        notes = () if time else ("its .git does not show when it was handed in",)
        clue = Clue(own or item.name, login=own, logins=logins)
        result.candidates.append(Candidate(clue, item.name, (item.part(),), time, notes))
    _note_claims(result, "their last commits")


def _read_nbgrader(folder: ClassFolder, result: LayoutResult) -> None:
    """Read submitted/STUDENT/. `nbgrader submit` wrote the time on the student's machine, so it is a claim as well."""
    for item in folder.items:
        if item.kind != "folder":
            leave_out(item, result)
            continue
        texts = item.timestamps()
        times = [parse_time(text.decode("ascii", "replace"), UTC) for text in texts]
        known = [time for time in times if time is not None]
        notes = []
        if len(known) < len(texts):
            notes.append("a timestamp.txt cannot be read, expected a time like 2026-03-03 00:00:00 UTC")
        handed_in = max(known) if known else None
        clue = Clue(item.name, login=item.name)
        result.candidates.append(Candidate(clue, item.name, (item.part(),), handed_in, tuple(notes)))
    _note_claims(result, "their timestamp.txt")


def _note_claims(result: LayoutResult, source: str) -> None:
    """Note once that times come from the students' own machines."""
    if any(candidate.handed_in is not None for candidate in result.candidates):
        claims = f"the times handed in are those of {source}, and students can set them"
        result.notes.append(f"{claims}; a time in the roster, or of course adjust, counts before them")


_READERS: Mapping[str, Callable[[ClassFolder, LayoutResult], None]] = {
    "plain": _read_plain,
    "moodle": _read_moodle,
    "clones": _read_clones,
    "nbgrader": _read_nbgrader,
}


def _common_prefix(names: Sequence[str]) -> str:
    """Return the common prefix of all names: that of the first and the last in alphabetical order."""
    pairs = zip(min(names, default=""), max(names, default=""), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def leave_out(item: Item, result: LayoutResult, owners: Sequence[str] = ()) -> None:
    """Explain why an item is not a submission: as a problem if a student's work may be in it, else as a note."""
    name = printable_name(item.name)
    if owners:
        candidates = " or to ".join(map(printable_name, owners[:3]))
        several = f"{name} may belong to {candidates}: its name can be read in several ways"
        result.problems.append(f"{several}, so it was left out; find out who owns it, and rename it")
    elif not may_be_work(item):
        result.notes.append(f"{name} is not a submission; it was left out")
    elif item.is_loose:
        problem = f"{name} is neither a folder nor a zip, so it was left out"
        result.problems.append(f"{problem}; make it a folder or a zip named after its student")
    else:
        result.problems.append(f"{name} has no name of this layout, so it was left out; rename it as the others")
