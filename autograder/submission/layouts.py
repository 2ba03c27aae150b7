"""The layouts that downloads of submissions have, and what each says of who, when and what.

canvas     Flat files: `canvas.py` reads their names.
moodle     Folders or flat files: `moodle.py` reads their names.
classroom  Clones `ASSIGNMENT-LOGIN` in `ASSIGNMENT-submissions`, as `gh classroom clone student-repos` makes them: see
           https://github.com/github/gh-classroom/blob/main/cmd/gh-classroom/clone/student-repos/student-repos.go
nbgrader   STUDENT/ASSIGNMENT/, in it timestamp.txt such as `2015-02-01 09:28:58.749302 America/Los_Angeles`.
plain      A folder or a zip for each student.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile

from autograder.submission import canvas, moodle
from autograder.submission.entry import Part
from autograder.submission.found import shown
from autograder.submission.git import commit_time
from autograder.submission.names import Clue, folded
from autograder.submission.times import parse_time, told_time
from autograder.submission.top import Item, Top

LAYOUTS = ("plain", "canvas", "moodle", "classroom", "nbgrader")

WORK = frozenset({".zip", ".py", ".ipynb", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz"})
"""Endings of files in which somebody's work may be, though of most of them no submission is read."""

_AGAIN = re.compile(r"(.*)-\d{1,4}(\.\w+)")
_ATTEMPT = re.compile(r"(.*?)[ _-]?(?:\((\d{1,4})\)|[_ -](?:attempt|v)?[_ -]?(\d{1,4}))", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """One attempt of somebody, which may be the one that counts; of two, the higher `number` is the later.

    `people` are the names under which somebody handed it in: candidates without one in common are of several people.
    """

    clue: Clue
    label: str
    parts: tuple[Part, ...]
    handed_in: datetime | None = None
    notes: tuple[str, ...] = ()
    number: int | None = None

    @property
    def people(self) -> frozenset[str]:
        own = self.clue.lms_id or folded(self.clue.own)
        return frozenset({own, *(folded(each) for each in self.clue.logins if self.number is not None)})


@dataclass
class Read:
    """What a layout makes of the items: candidates, problems and notes."""

    candidates: list[Candidate]
    problems: list[str]
    notes: list[str]


def read_layout(layout: str, top: Top, files: Iterable[str]) -> Read:
    """Return the candidates of a layout. `files` are the names that count in a submission."""
    return _canvas(top, frozenset(files)) if layout == "canvas" else _READERS[layout](top)


def _plain(top: Top) -> Read:
    read = Read([], [], [])
    for item in top.items:
        zipped = item.kind == "file" and item.name.lower().endswith(".zip")
        if item.kind != "folder" and not zipped:
            _leave_out(item, read)
            continue
        own = item.name[:-4] if zipped else item.name
        again = _ATTEMPT.fullmatch(own)
        logins = (again[1],) if again else ()
        number = int(again[2] or again[3]) if again else 0
        clue = Clue(own, name=own, login=own, logins=logins)
        read.candidates.append(Candidate(clue, item.name, (item.part(),), number=number))
    return read


def _canvas(top: Top, files: frozenset[str]) -> Read:
    read = Read([], [], [])
    parts: dict[str, list[Part]] = {}
    known: dict[str, list[tuple[Item, canvas.Upload]]] = {}
    for item in top.items:
        uploads = canvas.uploads(item.name) if item.kind == "file" else ()
        if len(uploads) != 1:
            _leave_out(item, read, [each.user for each in uploads])
            continue
        [upload] = uploads
        known.setdefault(upload.user, []).append((item, upload))
        mine = parts.setdefault(upload.user, [])
        if upload.rest:
            again = _AGAIN.fullmatch(upload.rest)
            stripped = again[1] + again[2] if again else ""
            mine.append(item.part(stripped if stripped in files else upload.rest, upload.file))
    for user, uploaded in known.items():
        late = any(upload.late for _, upload in uploaded)
        notes = ["Canvas says that it was handed in late, and not when"] if late else []
        notes += [] if parts[user] else ["a text or a link was handed in, expected files"]
        item, first = uploaded[0]
        clue = Clue(user, name=first.name, lms_id=user)
        read.candidates.append(Candidate(clue, item.name, tuple(parts[user]), notes=tuple(notes)))
    return read


def _moodle(top: Top) -> Read:
    read = Read([], [], [])
    parts: dict[str, list[Part]] = {}
    owners: dict[str, moodle.Owner] = {}
    for item in top.items:
        found = moodle.owners(item.name) if item.kind == "file" else _folder_owner(item)
        if len(found) != 1:
            _leave_out(item, read, [each.label for each in found])
            continue
        [owner] = found
        owners.setdefault(owner.label, owner)
        mine = parts.setdefault(owner.label, [])
        if owner.plugin == "file":
            mine.append(item.part(owner.rest) if item.kind == "file" else item.part())
    for label, owner in owners.items():
        notes = () if parts[label] else ("a text was handed in, expected files",)
        clue = Clue(label, name=owner.name, lms_id=owner.id)
        read.candidates.append(Candidate(clue, label, tuple(parts[label]), notes=notes))
    return read


def _folder_owner(item: Item) -> tuple[moodle.Owner, ...]:
    found = moodle.owner(item.name) if item.kind == "folder" else None
    return (found,) if found else ()


def _classroom(top: Top) -> Read:
    """Read clones; the student's own machine wrote the time of a commit, so it is no more than a claim."""
    read = Read([], [], [])
    prefix = f"{top.name.removesuffix('-submissions')}-" if top.name.endswith("-submissions") else ""
    shared = _beginning([item.name for item in top.items if item.kind == "folder"])
    for item in top.items:
        if item.kind != "folder":
            _leave_out(item, read)
            continue
        own = item.name.removeprefix(prefix)
        ends = () if own != item.name else tuple(item.name[at + 1 :] for at, each in enumerate(shared) if each == "-")
        time = commit_time(item.path) if item.files is None else None
        claim = f"handed in {told_time(time)} by the clock of its last commit, which its student can set"
        note = claim if time else "when it was handed in cannot be told from its .git"
        clue = Clue(own or item.name, login=own, logins=ends)
        read.candidates.append(Candidate(clue, item.name, (item.part(),), time, (note,)))
    return read


def _nbgrader(top: Top) -> Read:
    """Read submitted/STUDENT/; `nbgrader submit` wrote the time on the student's side, so it is a claim as well."""
    read = Read([], [], [])
    for item in top.items:
        if item.kind != "folder":
            _leave_out(item, read)
            continue
        texts = item.timestamps()
        times = [parse_time(text.decode("ascii", "replace"), UTC) for text in texts]
        known = [time for time in times if time is not None]
        notes = []
        if len(known) < len(texts):
            notes.append("a timestamp.txt cannot be read, expected a time like 2026-03-03 00:00:00 UTC")
        if known:
            notes.append(f"handed in {told_time(max(known))} by its timestamp.txt, which its student can set")
        handed_in = max(known) if known else None
        clue = Clue(item.name, login=item.name)
        read.candidates.append(Candidate(clue, item.name, (item.part(),), handed_in, tuple(notes)))
    return read


_READERS: Mapping[str, Callable[[Top], Read]] = {
    "plain": _plain,
    "moodle": _moodle,
    "classroom": _classroom,
    "nbgrader": _nbgrader,
}


def _beginning(names: Sequence[str]) -> str:
    """Return the letters that all the names begin with."""
    pairs = zip(min(names, default=""), max(names, default=""), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def may_be_work(item: Item) -> bool:
    """Say whether somebody's work may be in an item: a folder, or a file of some endings."""
    ending = item.name[item.name.rfind(".") :].lower() if "." in item.name else ""
    return item.kind == "folder" or (item.kind == "file" and ending in WORK)


def _leave_out(item: Item, read: Read, owners: Sequence[str] = ()) -> None:
    """Say that something is no submission, or may be of several owners: a problem where somebody's work may be lost."""
    name = shown(item.name)
    if owners:
        told = f"{name} may be of {' or of '.join(map(shown, owners[:3]))}: its name can be read in several ways"
        read.problems.append(f"{told}, so it was left out; find out whose it is, and rename it")
    elif not may_be_work(item):
        read.notes.append(f"{name} is no submission; it was left out")
    elif item.kind == "file" and not item.name.lower().endswith(".zip"):
        told = f"{name} is neither a folder nor a zip, so it was left out"
        read.problems.append(f"{told}; make it a folder or a zip named after its student")
    else:
        read.problems.append(f"{name} is not named as this layout names submissions; it was left out")
