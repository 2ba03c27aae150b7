"""The layouts that downloads of submissions have, each told by its names, and what each says of who, when and what.

canvas     Flat files `lovelaceada_LATE_123_4567_name-1.py`: the sortable name without its punctuation, LATE, user id,
           attachment id, and the name, to which Canvas itself added `-1` where the student had one of that name; or
           `..._123_text.html` and `_link.html`; anonymous: `anon_aB3dE_4567_name.py`. An attachment id grows with
           time. See add_upload_submission and get_filename in
           https://github.com/instructure/canvas-lms/blob/master/lib/content_zipper.rb
moodle     Folders `Ada Lovelace_123_assignsubmission_file` (up to 4.0 with `_` at the end), or flat files of which the
           name follows that; `Participant_123_...` where marking is blind. The number is the participant's. See
           get_student_prefix in https://github.com/moodle/moodle/blob/main/public/mod/assign/classes/downloader.php
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

from autograder.submission.entry import Part
from autograder.submission.folder import kind_of
from autograder.submission.found import FileError, SubmissionError, shown
from autograder.submission.git import commit_time
from autograder.submission.names import Clue
from autograder.submission.times import parse_time, told_time
from autograder.submission.top import Item, Top

LAYOUTS = ("plain", "canvas", "moodle", "classroom", "nbgrader")

_WORK = frozenset({".py", ".ipynb", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz"})
"""Endings of files in which somebody's work may be, though no submission is read from them."""

_CANVAS = re.compile(r"(?P<name>[^/]*?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_CANVAS_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<id>anon_[A-Za-z0-9]+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_CANVAS_TEXT = re.compile(r"(?P<name>[^/]*?)_(?P<late>LATE_)?(?P<id>\d+)_(?:text|link)\.html")
_NUMBER_FIRST = re.compile(r"\d+_")
"""A file of such a name, and a student whose own name ends with a number, cannot be told apart."""

_AGAIN = re.compile(r"(.*)-\d{1,4}(\.\w+)")
_MOODLE = re.compile(
    r"(?P<who>(?P<name>[^/]*?)(?:_(?P<id>\d+))?)_assignsubmission_(?P<what>[a-z]+)(?:_(?P<rest>.*))?", re.DOTALL
)
_ATTEMPT = re.compile(r"(.*?)[ _-]?(?:\((\d{1,4})\)|[_ -](?:attempt|v)?[_ -]?(\d{1,4}))", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """One attempt of somebody, which may be the one that counts; of two, the higher `number` is the later."""

    clue: Clue
    label: str
    parts: tuple[Part, ...]
    handed_in: datetime | None = None
    notes: tuple[str, ...] = ()
    number: int | None = None


@dataclass
class Read:
    """What a layout makes of the items: candidates, problems and notes."""

    candidates: list[Candidate]
    problems: list[str]
    notes: list[str]


def recognise(top: Top) -> str:
    """Return the layout that the names have; raise `SubmissionError` where they have that of none or of several."""
    items = [item for item in top.items if _may_be_work(item)]
    if any(_MOODLE.fullmatch(item.name) for item in items):
        return "moodle"
    flat = [item for item in items if item.kind == "file" and _canvas(item.name)]
    if flat and len(flat) == len([item for item in items if not _is_text(item)]):
        return "canvas"
    folders = [item for item in items if item.kind == "folder"]
    if folders and len(folders) == len(items) and all(map(_is_clone, folders)):
        return "classroom"
    if any(item.timestamps() for item in folders):
        return "nbgrader"
    if flat:
        found = f"{len(flat)} of {len(items)} names in {shown(top.name)} are as Canvas gives them"
        raise SubmissionError(f"{found}, and {shown(items[0].name)} beside them; say --layout canvas or --layout plain")
    return "plain"


def read_layout(layout: str, top: Top, files: Iterable[str]) -> Read:
    """Return the candidates of a layout. `files` are the names that count in a submission."""
    return _canvas_download(top, frozenset(files)) if layout == "canvas" else _READERS[layout](top)


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


def _canvas_download(top: Top, files: frozenset[str]) -> Read:
    read = Read([], [], [])
    parts: dict[str, list[Part]] = {}
    known: dict[str, tuple[str | None, bool, list[str]]] = {}
    matches = [match for item in top.items if (match := _canvas(item.name))]
    sure = {match["id"]: match.groupdict().get("name") for match in matches if not _NUMBER_FIRST.match(match["rest"])}
    for item in top.items:
        text = _CANVAS_TEXT.fullmatch(item.name) if item.kind == "file" else None
        match = text or (_canvas(item.name) if item.kind == "file" else None)
        if match is None:
            _leave_out(item, read)
            continue
        named = match.groupdict().get("name")
        if not text and named != sure.get(match["id"], named):
            read.problems.append(f"{shown(item.name)} may be of user {match['id']} or of another; it was left out")
            continue
        known.setdefault(match["id"], (named, bool(match["late"]), []))[2].append(item.name)
        mine = parts.setdefault(match["id"], [])
        if not text:
            again = _AGAIN.fullmatch(match["rest"])
            stripped = again[1] + again[2] if again else ""
            name = stripped if stripped in files else match["rest"]
            mine.append(item.part(name, int(match["file"][:18])))
    for user, (named, late, names) in known.items():
        notes = ["Canvas says that it was handed in late, and not when"] if late else []
        notes += [] if parts[user] else ["a text or a link was handed in, expected files"]
        clue = Clue(user, name=named, lms_id=user)
        read.candidates.append(Candidate(clue, names[0], tuple(parts[user]), notes=tuple(notes)))
    return read


def _moodle(top: Top) -> Read:
    read = Read([], [], [])
    parts: dict[str, list[Part]] = {}
    clues: dict[str, Clue] = {}
    for item in top.items:
        match = _MOODLE.fullmatch(item.name)
        if match is None:
            _leave_out(item, read)
            continue
        clues.setdefault(match["who"], Clue(match["who"], name=match["name"], lms_id=match["id"]))
        mine = parts.setdefault(match["who"], [])
        if match["what"] == "file":
            mine.append(item.part(match["rest"]) if item.kind == "file" else item.part())
    for who, clue in clues.items():
        notes = () if parts[who] else ("a text was handed in, expected files",)
        read.candidates.append(Candidate(clue, who, tuple(parts[who]), notes=notes))
    return read


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


def _canvas(name: str) -> re.Match[str] | None:
    return _CANVAS_ANONYMOUS.fullmatch(name) or _CANVAS.fullmatch(name)


def _is_text(item: Item) -> bool:
    return _CANVAS_TEXT.fullmatch(item.name) is not None


def _is_clone(item: Item) -> bool:
    try:
        return item.files is None and kind_of(item.path / ".git") == "folder"
    except FileError:
        return False


def _may_be_work(item: Item) -> bool:
    ending = item.name[item.name.rfind(".") :].lower() if "." in item.name else ""
    return item.kind == "folder" or ending in _WORK or ending == ".zip" or _is_text(item)


def _leave_out(item: Item, read: Read) -> None:
    """Say that something is no submission: a problem where somebody's work may be lost."""
    if item.kind == "file" and not _may_be_work(item):
        read.notes.append(f"{shown(item.name)} is no submission; it was left out")
        return
    if item.kind == "other":
        read.notes.append(f"{shown(item.name)} is no submission; it was left out")
        return
    if item.kind == "file" and not item.name.lower().endswith(".zip"):
        told = f"{shown(item.name)} is neither a folder nor a zip, so it was left out"
        read.problems.append(f"{told}; make it a folder or a zip named after its student")
        return
    read.problems.append(f"{shown(item.name)} is not named as this layout names submissions; it was left out")
