"""List the submissions of a class in a folder or a zip, in one of the layouts of downloads."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from autograder.submission import (
    NO_HANDOUT,
    FileError,
    Handout,
    Note,
    SubmissionError,
    checked_id,
    kind_of,
    notebook_of,
    printable,
    printable_name,
)

from .class_folder import (
    ClassFolder,
    Entry,
    HandInPart,
    Item,
    MoodleOwner,
    Names,
    Upload,
    canvas_uploads,
    commit_time,
    is_work,
    may_be_work,
    open_class_folder,
    owners,
)
from .roster import (
    Clue,
    Roster,
    casefolded,
    is_of_group,
    named,
    parse_time,
)

# Read the layouts of downloaded submissions: who handed in what, and when.
#
# canvas     Flat files, whose names `canvas_uploads` reads.
# moodle     Folders or flat files, whose names `owners` reads.
# clones     Clones of git repositories, `ASSIGNMENT-LOGIN` or `CLASSROOM-ASSIGNMENT-LOGIN`: the part that all names
#            share is not the login, nor is the ASSIGNMENT of a folder `ASSIGNMENT-submissions`.
# nbgrader   STUDENT/ASSIGNMENT/, in it timestamp.txt such as `2015-02-01 09:28:58.749302 America/Los_Angeles`.
# plain      A folder or a zip for each student.

NO_SUBMISSION = "{} is neither a folder nor a zip, so nothing in it was read"

_CANVAS_COPY = re.compile(r"(.*)-\d{1,4}(\.\w+)")
_ENDINGS = re.compile(r"(\.tar)?\.\w+$", re.IGNORECASE)
_ATTEMPT = re.compile(r"(.*?)[ _-]?(?:\((\d{1,4})\)|[_ -](?:attempt|v)?[_ -]?(\d{1,4}))", re.IGNORECASE)

Owner = TypeVar("Owner", Upload, MoodleOwner)


@dataclass(frozen=True)
class Candidate:
    """One attempt of a student, which may be the one that counts. Of two, the one with the higher `number` is later.

    `people` are the names under which it was handed in: candidates with no name in common belong to different people.
    """

    clue: Clue
    label: str
    parts: tuple[HandInPart, ...]
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
        lambda item: canvas_uploads(item.name) if item.kind == "file" else (),
        lambda upload: upload.user,
    )
    for user, uploads in grouped.items():
        parts = [_canvas_part(item, upload, files) for item, upload in uploads if upload.rest]
        late = any(upload.late for _, upload in uploads)
        notes = [Note("Canvas marks it as late, and does not give the time", "time")] if late else []
        notes += [] if parts else [Note("a text or a link was handed in, expected files", "time")]
        item, first = uploads[0]
        clue = Clue(user, name=first.name, lms_id=user)
        result.candidates.append(Candidate(clue, item.name, tuple(parts), notes=tuple(notes)))


def _canvas_part(item: Item, upload: Upload, files: frozenset[str]) -> HandInPart:
    """Return a file under the name its student gave it: without the `-1` of Canvas, if that is an expected name."""
    copy = _CANVAS_COPY.fullmatch(upload.rest)
    stripped = copy[1] + copy[2] if copy else ""
    return item.part(stripped if stripped in files else upload.rest, upload.file)


def _read_moodle(folder: ClassFolder, result: LayoutResult) -> None:
    grouped = _by_owner(folder, result, lambda item: owners(item.name, item.kind), lambda owner: owner.label)
    for label, uploads in grouped.items():
        files = [(item, owner) for item, owner in uploads if owner.plugin == "file"]
        parts = tuple(item.part(owner.rest) if item.kind == "file" else item.part() for item, owner in files)
        notes = () if parts else (Note("a text was handed in, expected files", "time"),)
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
    folders = [item.name for item in folder.items if item.kind == "folder"]
    shared = os.path.commonprefix(folders)  # noqa: RUF071 - of names, letter by letter
    for item in folder.items:
        if item.kind != "folder":
            leave_out(item, result)
            continue
        own = item.name.removeprefix(prefix)
        # The assignment's name is not known, so each `-` of the common prefix may be the one before the login.
        dashes = [index for index, char in enumerate(shared) if char == "-"] if own == item.name else []
        logins = tuple(item.name[index + 1 :] for index in dashes)
        time = commit_time(item.path) if item.files is None else None
        notes = () if time else (Note("its .git does not show when it was handed in", "time"),)
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
            unread = "a timestamp.txt cannot be read, expected a time like 2026-03-03 00:00:00 UTC"
            notes.append(Note(unread, "time"))
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


# Recognise the layout of a download: the one that all its entries have, never one that only some suggest.
#
# Platforms name the entries, so if only some have such a name, the folder mixes layouts and is refused. The contents
# of an entry come from its student: `.git` and timestamp.txt show a layout if every entry has them. If less than half
# of the entries have them, they are the students' own files. Between these, the folder is refused as a mixture.

_NAMED = 5
"""How many entries a message names; the others are counted."""

STAMP = "timestamp.txt"


@dataclass(frozen=True)
class _Sign:
    """A sign of a layout in its entries: a test, its description, and the words for entries without it."""

    layout: str
    fits: Callable[[Item], bool]
    description: str
    negation: str


@dataclass(frozen=True)
class _Agreement:
    """The entries with the sign of a layout, those without it (`odd`), and copies of the download itself."""

    sign: _Sign
    fitting: Sequence[Item]
    odd: Sequence[Item]
    copies: Sequence[Item]

    @property
    def is_whole(self) -> bool:
        return bool(self.fitting) and not self.odd


def recognise(folder: ClassFolder) -> tuple[str, ClassFolder]:
    """Return the layout that all entries have, and the folder without copies of the download.

    Raises `SubmissionError` if only some of the entries have a layout.
    """
    by_name = [_agreement(folder, sign) for sign in _BY_NAME]
    whole = [agreement for agreement in by_name if agreement.is_whole]
    if len(whole) > 1:
        problem = f"every entry of {printable_name(folder.name)} is named as in a download of Moodle, and of Canvas too"
        raise SubmissionError(
            f"{problem}, for example {printable_name(whole[0].fitting[0].name)}; "
            "choose --layout moodle or --layout canvas"
        )
    if not whole and any(agreement.fitting for agreement in by_name):
        raise _mixture(folder, max(by_name, key=lambda agreement: len(agreement.fitting)))
    for sign in () if whole else _BY_CONTENT:
        by_content = _agreement(folder, sign)
        if by_content.is_whole:
            whole = [by_content]
            break
        if len(by_content.fitting) >= len(by_content.odd) > 0:
            raise _mixture(folder, by_content)
    if not whole:
        return "plain", folder
    _refuse_shared_numbers(folder, whole[0])
    items = tuple(item for item in folder.items if item not in whole[0].copies)
    notes = (*folder.notes, *map(_about_copy, whole[0].copies))
    return whole[0].sign.layout, replace(folder, items=items, notes=notes)


def _agreement(folder: ClassFolder, sign: _Sign) -> _Agreement:
    entries = _entries(folder, sign)
    fits = [sign.fits(item) for item in entries]
    fitting = [item for item, fit in zip(entries, fits, strict=True) if fit]
    odd = [item for item, fit in zip(entries, fits, strict=True) if not fit]
    names = frozenset(item.name for item in folder.items)
    copies = [item for item in odd if len(odd) < len(fitting) and item.holds_copy_of(names - {item.name})]
    return _Agreement(sign, fitting, [item for item in odd if item not in copies], copies)


def _entries(folder: ClassFolder, sign: _Sign) -> list[Item]:
    """Return the items that can be submissions. A loose file can only be one if a platform named it."""
    items = [item for item in folder.items if may_be_work(item)]
    if sign in _BY_NAME:
        return [item for item in items if not item.is_loose or _is_moodle(item) or _is_canvas(item)]
    return [item for item in items if not item.is_loose and not _is_blank(sign, item)]


def _about_copy(zip_: Item) -> str:
    """Return the note on a download that was unpacked beside itself, and where its files are others."""
    name = printable_name(zip_.name)
    if not (other := zip_.other_contents()):
        return f"{name} is a copy of the files beside it; it was left out"
    differ = f"{name} differs from the files beside it in {_listed(other)}"
    return f"{differ}; it was left out, and the files beside it count: unpack it again if it is newer"


def _mixture(folder: ClassFolder, agreement: _Agreement) -> SubmissionError:
    """Return the error for a mixture: it lists the minority of the entries, or both halves if they are equal."""
    sign, fitting, odd = agreement.sign, agreement.fitting, agreement.odd
    share = f"{len(fitting):,} of {len(fitting) + len(odd):,} entries {sign.description}"
    fitting_named, odd_named = (
        _listed([item.name for item in some])
        if len(some) <= len(others)
        else f"for example {printable_name(some[0].name)}"
        for some, others in ((fitting, odd), (odd, fitting))
    )
    mixed = f"{printable_name(folder.name)} mixes two layouts: {share} ({fitting_named})."
    which = f"{mixed} Others {sign.negation} ({odd_named})."
    move = "Expected entries of one layout: move the odd ones out, or choose the layout."
    options = f"--layout {sign.layout} leaves out the odd ones" if sign in _BY_NAME else f"--layout {sign.layout}"
    return SubmissionError(f"{which} {move} {options}; --layout plain treats every folder and zip as one student's")


def _refuse_shared_numbers(folder: ClassFolder, agreement: _Agreement) -> None:
    """Refuse names that only look like Canvas names, as `hw_2026_03_ada.zip`: each attachment has its own number."""
    seen: dict[int, Item] = {}
    for item in agreement.fitting if agreement.sign.layout == "canvas" else ():
        first, *others = canvas_uploads(item.name)
        number = 0 if others else first.file
        if number and number in seen:
            both = f"{printable_name(seen[number].name)} and {printable_name(item.name)}"
            named = f"the entries of {printable_name(folder.name)} are named as in a download of Canvas"
            shared = f"{both} share a number that Canvas gives to one file only"
            raise SubmissionError(f"{named}, but {shared}; choose --layout plain or --layout canvas")
        seen.setdefault(number, item)


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(map(printable_name, names[:_NAMED]))
    return f"{first} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else first


def _is_moodle(item: Item) -> bool:
    return bool(owners(item.name, item.kind))


def _is_canvas(item: Item) -> bool:
    return item.kind == "file" and bool(canvas_uploads(item.name))


def _is_clone(item: Item) -> bool:
    try:
        return item.kind == "folder" and item.files is None and kind_of(item.path / ".git") == "folder"
    except FileError:
        return False


def _is_stamped(item: Item) -> bool:
    """Say whether all work is in folders of assignments, beside a timestamp.txt in each."""
    if item.kind != "folder":
        return False
    own, inner = item.outline()
    assignments = [names for names in inner.values() if _has_work(names) or names.folders]
    return bool(assignments) and not _has_work(own) and all(STAMP in names.files for names in assignments)


def _is_blank(sign: _Sign, item: Item) -> bool:
    """Say whether an entry without work proves nothing, since nbgrader's layout shows in the folders with work."""
    if sign.layout != "nbgrader" or item.kind != "folder":
        return False
    own, inner = item.outline()
    return not _has_work(own) and not any(_has_work(names) or names.folders for names in inner.values())


def _has_work(names: Names) -> bool:
    return any(map(is_work, names.files))


_BY_NAME = (
    _Sign("moodle", _is_moodle, "are named as in a download of Moodle, NAME_ID_assignsubmission_file", "are not"),
    _Sign("canvas", _is_canvas, "are named as in a download of Canvas, NAME_ID_ID_FILE", "are not"),
)
_BY_CONTENT = (
    _Sign("clones", _is_clone, "hold a .git folder, as clones of repositories do", "do not"),
    _Sign("nbgrader", _is_stamped, f"hold {STAMP} beside the work, as in nbgrader's STUDENT/ASSIGNMENT", "do not"),
)


_NO_ROSTER = Roster()


@dataclass(frozen=True)
class Submissions:
    """The submissions of a class: `entries` can be graded, `problems` name those that cannot, `notes` other files.

    `layout` is the layout they were read in.
    """

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    layout: str = "plain"


def list_submissions(
    path: Path,
    files: Sequence[str],
    layout: str | None = None,
    roster: Roster = _NO_ROSTER,
    handout: Handout = NO_HANDOUT,
) -> Submissions:
    """List the latest submission of every student in a folder or a zip, by id. `files` are the expected file names.

    Without a `layout`, it is the one that all entries have. `roster` maps the entries to ids; without it, the names
    in the layout are the ids. An entry that cannot be attributed is a problem, and does not affect the others. Raises
    `SubmissionError` if the folder cannot be listed, is itself a submission, or mixes layouts.
    """
    wanted = frozenset((*files, *map(notebook_of, files)))
    folder = open_class_folder(path, wanted)
    own = [item.name for item in folder.items if item.name in wanted and item.kind == "file"]
    if own and layout is None:
        problem = f"{printable(path)} contains {own[0]}, so it looks like a single submission"
        parent = printable(path.resolve().parent)
        raise SubmissionError(f"{problem}, expected a folder of submissions; give its parent, {parent}")
    if layout is None:
        layout, folder = recognise(folder)
    result = LayoutResult([], [], [])
    if layout == "canvas":
        _read_canvas(folder, result, wanted)
    else:
        _READERS[layout](folder, result)
    entries = _attribute(folder, result, roster, handout)
    return Submissions(entries, (*folder.problems, *result.problems), (*folder.notes, *result.notes), layout)


def _attribute(folder: ClassFolder, result: LayoutResult, roster: Roster, handout: Handout) -> tuple[Entry, ...]:
    """Return an entry for each student; add problems and notes about the other candidates to `result`."""
    by_student: dict[str, list[Candidate]] = defaultdict(list)
    numbered = _by_number(result.candidates, roster)
    for candidate in result.candidates:
        try:
            student = numbered.get(candidate.label) or _student(candidate, result, roster)
            by_student[student].append(candidate)
            if candidate.label in numbered:
                lost = f"{printable_name(candidate.label)} is {printable_name(student)} on the roster"
                result.notes.append(f"{lost}: a spreadsheet removes zeros before a number; correct the roster")
        except SubmissionError as error:
            result.problems.append(str(error))
    _add_loose_files(by_student, result, roster)
    alike: dict[str, list[str]] = defaultdict(list)
    for student in by_student:
        alike[casefolded(student)].append(student)
    entries = []
    for ids in alike.values():
        if len(ids) > 1:
            labels = ", ".join(sorted(printable_name(candidate.label) for id_ in ids for candidate in by_student[id_]))
            problem = f"{labels} differ only in upper and lower case, and so would their reports"
            result.problems.append(f"{problem}, so none of them is graded; keep one, or rename them")
        elif not _is_ambiguous(ids[0], by_student[ids[0]], result, roster):
            entries.append(_latest(folder, ids[0], by_student[ids[0]], handout, result))
    return tuple(sorted(entries, key=lambda entry: entry.student))


def _by_number(candidates: Sequence[Candidate], roster: Roster) -> dict[str, str]:
    """Return by label the students whose number lost its zeros in a spreadsheet, where nobody else can be meant."""
    found = {candidate.label: roster.find(candidate.clue) for candidate in candidates}
    certain = {student for matches in found.values() for student in matches}
    numbers = {one.label: roster.find_number(one.clue) for one in candidates if not found[one.label]}
    times = Counter(student for matches in numbers.values() for student in matches)
    return {
        label: matches[0]
        for label, matches in numbers.items()
        if len(matches) == 1 and times[matches[0]] == 1 and matches[0] not in certain
    }


def _add_loose_files(by_student: dict[str, list[Candidate]], result: LayoutResult, roster: Roster) -> None:
    """Add the single files that students of the roster handed in who have nothing else: they are held, not missing."""
    loose: dict[str, list[Item]] = defaultdict(list)
    for item in result.loose:
        matches = roster.find(loose_clue(item))
        if len(matches) == 1 and matches[0] not in by_student:
            loose[matches[0]].append(item)
        else:
            leave_out(item, result)
    for student, items in loose.items():
        by_student[student].append(loose_candidate(items))
        fix = f"ask for a zip, and use it with `course accept {printable_name(student)} FILE`"
        held = f"and {printable_name(student)} is held; {fix}"
        result.notes += [f"{NO_SUBMISSION.format(printable_name(item.name))}, {held}" for item in items]


def _student(candidate: Candidate, result: LayoutResult, roster: Roster) -> str:
    """Return the id of a candidate's student. Raises `SubmissionError` if it can be attributed to nobody."""
    clue, label = candidate.clue, printable_name(candidate.label)
    matches = roster.find(clue)
    if len(matches) == 1:
        return matches[0]
    own = checked_id(clue.own, label)
    if not roster:
        return own
    if roster.has(own):
        problem = f"{label} would be graded as {printable_name(own)}, and another student on the roster has that id"
        raise SubmissionError(f"{problem}; add the student who handed it in to the roster")
    if not matches and roster.has_group(own):
        return own
    several = f"fits {', '.join(map(printable_name, matches[:3]))} on the roster" if matches else "is not on the roster"
    result.notes.append(f"{label} {several}; it is graded as {printable_name(own)}")
    return own


def _is_ambiguous(student: str, candidates: list[Candidate], result: LayoutResult, roster: Roster) -> bool:
    """Say whether the candidates belong to several people, and none of them certainly to the student.

    Anybody can take another student's name in a course, or a login that equals another's id. Candidates whose number
    or login is in the student's row of the roster stay; the others are removed, and named in a problem.
    """
    if len(candidates) < 2 or _have_common_name(candidates):
        return False
    own = [candidate for candidate in candidates if roster.owns(student, candidate.clue)]
    if len(own) > 1 and not _have_common_name(own):
        own = []
    labels = ", ".join(printable_name(candidate.label) for candidate in candidates if candidate not in own)
    several = "by name but belong to several people, so none of them is graded as one"
    problem = f"{labels} match {printable_name(student)} {several}"
    column = "lms_id" if all(candidate.clue.lms_id for candidate in candidates) else "login"
    is_plain = all(candidate.number is not None for candidate in candidates)
    result.problems.append(f"{problem}; {'keep one, or rename them' if is_plain else f'put {column} on the roster'}")
    candidates[:] = own
    return not own


def _have_common_name(candidates: Sequence[Candidate]) -> bool:
    return bool(frozenset.intersection(*(candidate.people for candidate in candidates)))


def _latest(
    folder: ClassFolder, student: str, candidates: Sequence[Candidate], handout: Handout, result: LayoutResult
) -> Entry:
    """Return the entry of the attempt that counts, the one with the highest number; notes name the others."""
    chosen, reason, is_ordinary = _choose(candidates)
    notes = chosen.notes
    if len(candidates) > 1:
        others = ", ".join(printable_name(candidate.label) for candidate in candidates if candidate is not chosen)
        counts = f"{printable_name(chosen.label)} counts, not {others}: {reason}"
        notes = (*notes, Note(counts, "ordinary" if is_ordinary else ""))
        result.notes.append(f"{printable_name(student)}: {notes[-1]}")
    path = chosen.parts[0].path if len(chosen.parts) == 1 else folder.path
    parts = chosen.parts or (HandInPart(folder.path, ()),)
    return Entry(student, path, chosen.handed_in, notes, parts, handout)


def _choose(candidates: Sequence[Candidate]) -> tuple[Candidate, str, bool]:
    """Return the candidate that counts, the reason, and whether that is what everybody expects."""
    numbers = [candidate.number for candidate in candidates if candidate.number is not None]
    if len(numbers) == len(candidates) and numbers.count(max(numbers)) == 1:
        return max(candidates, key=lambda candidate: candidate.number or 0), "it has the highest number", True
    return candidates[-1], "nothing shows which is later, so the last by name was taken", False


# Groups: one hand-in counts for all members.


@dataclass(frozen=True)
class GroupHandIns:
    """The submissions of a class, with that of a group for each of its members.

    `notes` say whose counts for whom, and `problems` in which group nobody can say which one is the latest.
    """

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def for_groups(entries: Sequence[Entry], roster: Roster, decided: Mapping[str, datetime]) -> GroupHandIns:
    """Return the submissions with the latest one of each group of the roster for all its members.

    It is that of a member, or one with the name of the group, as Moodle writes it. `decided` are the times (UTC) that a
    person gave for students; that of a member who handed in nothing else is the time of the group's. If a time is
    missing where two handed in, each keeps their own.
    """
    by_student = {entry.student: entry for entry in entries}
    notes, problems = [], []
    for group in roster.groups:
        students = roster.in_group(group)
        found = [by_student[student] for student in students if student in by_student]
        found += [entry for entry in entries if entry.student not in roster and is_of_group(entry.student, group)]
        known = {entry.student: roster[entry.student].handed_in or entry.handed_in for entry in found}
        others = [decided[student] for student in students if student in decided and student not in by_student]
        of_group = {entry.student: max(others) for entry in found if others and entry.student not in roster}
        times = {student: decided.get(student) or of_group.get(student) or time for student, time in known.items()}
        moments = [time for time in times.values() if time is not None]
        if len(found) > 1 and (len(moments) < len(found) or moments.count(max(moments)) > 1):
            fix = "give the times with course adjust, or take the others out"
            who = named(entry.student for entry in found)
            problems.append(f"group {printable(group)}: {who} handed in, and no time says who was the latest; {fix}")
            continue
        if not found:
            continue
        latest = max(found, key=lambda entry: times[entry.student] or datetime.min.replace(tzinfo=UTC))
        earlier = [entry.student for entry in found if entry is not latest]
        too = f"; the earlier hand-in of {named(earlier)} does not count" if earlier else ""
        words = f"handed in by {printable(latest.student)} for group {printable(group)}{too}"
        notes.append(f"group {printable(group)}: the hand-in of {printable(latest.student)} counts for all{too}")
        for entry in found:
            del by_student[entry.student]
        for student in students:
            by_student[student] = replace(
                latest,
                student=student,
                handed_in=known[latest.student],
                notes=(Note(words, "time" if earlier else "ordinary"), *latest.notes),
                handed_in_by=latest.student,
            )
    in_order = tuple(sorted(by_student.values(), key=lambda entry: entry.student))
    return GroupHandIns(in_order, tuple(notes), tuple(problems))
