"""The submissions of a class: out of a folder or a zip, in one of the layouts that downloads have."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.submission.entry import Entry, Part
from autograder.submission.found import SubmissionError, printable, shown
from autograder.submission.layouts import Candidate, Read, read_layout
from autograder.submission.names import Students, checked_id, folded
from autograder.submission.recognition import recognise
from autograder.submission.submission import NOTHING_GIVEN, Given, notebook_of
from autograder.submission.top import Top, open_top


@dataclass(frozen=True)
class Submissions:
    """`entries` can be graded, `problems` say what was handed in and cannot be, `notes` what else lies there.

    `layout` is the one they were read in.
    """

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    layout: str = "plain"


def list_submissions(
    path: Path,
    files: Sequence[str],
    layout: str | None = None,
    students: Students | None = None,
    given: Given = NOTHING_GIVEN,
) -> Submissions:
    """List the latest submission of every student in a folder or a zip, by id. `files` are the expected ones.

    The layout is the one that all entries have if it is not given, the ids are by `students`, else by what the layout
    has. What cannot be attributed is a problem, and nothing else is lost by it. Raises `SubmissionError` where the
    folder cannot be listed, is itself a submission, or has entries of several layouts.
    """
    wanted = frozenset((*files, *map(notebook_of, files)))
    top = open_top(path, wanted)
    own = [item.name for item in top.items if item.name in wanted and item.kind == "file"]
    if own and layout is None:
        found = f"{printable(path)} holds {own[0]}, so it looks like one submission"
        parent = printable(path.resolve().parent)
        raise SubmissionError(f"{found}, expected a folder of submissions; give its parent, {parent}")
    if layout is None:
        layout, top = recognise(top)
    read = read_layout(layout, top, wanted)
    entries = _attributed(top, read, students, given)
    return Submissions(entries, (*top.problems, *read.problems), (*top.notes, *read.notes), layout)


def _attributed(top: Top, read: Read, students: Students | None, given: Given) -> tuple[Entry, ...]:
    """Return an entry for each student; what is said about the rest goes into `read`."""
    mine: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in read.candidates:
        try:
            mine[_student(candidate, read, students)].append(candidate)
        except SubmissionError as error:
            read.problems.append(str(error))
    alike: dict[str, list[str]] = defaultdict(list)
    for student in mine:
        alike[folded(student)].append(student)
    entries = []
    for same in alike.values():
        if len(same) == 1 and not _of_several(same[0], mine[same[0]], read, students):
            entries.append(_latest(top, same[0], mine[same[0]], given, read))
        elif len(same) > 1:
            names = ", ".join(sorted(shown(each.label) for student in same for each in mine[student]))
            told = f"{names} differ in upper and lower case only, and so would their reports"
            read.problems.append(f"{told}, so none of them is graded; keep one, or rename them")
    return tuple(sorted(entries, key=lambda entry: entry.student))


def _student(candidate: Candidate, read: Read, students: Students | None) -> str:
    """Return whose a candidate is. Raises `SubmissionError` where it can be nobody's."""
    clue, label = candidate.clue, shown(candidate.label)
    found = students.find(clue) if students else ()
    if len(found) == 1:
        return found[0]
    own = checked_id(clue.own, label)
    if students is None:
        return own
    if students.has(own):
        told = f"{label} would be graded as {shown(own)}, and another student of the roster has that id"
        raise SubmissionError(f"{told}; put the student it is of on the roster")
    several = f"fits {', '.join(map(shown, found[:3]))} on the roster" if found else "is not on the roster"
    read.notes.append(f"{label} {several}; it is graded as {shown(own)}")
    return own


def _of_several(student: str, candidates: list[Candidate], read: Read, students: Students | None) -> bool:
    """Say whether nobody knows which candidate is the student's, since they are of several people by their own names.

    Anybody may take another's name in a course, or a login that is another's id; those whose number or login is the
    one in the student's row stay.
    """
    if len(candidates) < 2 or frozenset.intersection(*(each.people for each in candidates)):
        return False
    own = [each for each in candidates if students and students.owns(student, each.clue)]
    if len(own) > 1 and not frozenset.intersection(*(each.people for each in own)):
        own = []
    names = ", ".join(shown(each.label) for each in candidates if each not in own)
    told = f"{names} fit {shown(student)} by name and are of several people, so none of them is graded as one"
    column = "lms_id" if all(each.clue.lms_id for each in candidates) else "login"
    is_plain = all(each.number is not None for each in candidates)
    read.problems.append(f"{told}; {'keep one, or rename them' if is_plain else f'put {column} on the roster'}")
    candidates[:] = own
    return not own


def _latest(top: Top, student: str, candidates: Sequence[Candidate], given: Given, read: Read) -> Entry:
    """Return the entry of the attempt that counts: that of the highest number; notes name the others."""
    if len(candidates) == 1:
        chosen, why = candidates[0], ""
    else:
        chosen, why = _chosen(candidates)
        others = ", ".join(shown(each.label) for each in candidates if each is not chosen)
        why = f"{shown(chosen.label)} counts, not {others}: {why}"
        read.notes.append(f"{shown(student)}: {why}")
    notes = (*chosen.notes, why) if why else chosen.notes
    path = chosen.parts[0].path if len(chosen.parts) == 1 else top.path
    parts = chosen.parts or (Part(top.path, ()),)
    return Entry(student, path, chosen.handed_in, notes, parts, given)


def _chosen(candidates: Sequence[Candidate]) -> tuple[Candidate, str]:
    numbers = [each.number for each in candidates if each.number is not None]
    if len(numbers) == len(candidates) and numbers.count(max(numbers)) == 1:
        return max(candidates, key=lambda each: each.number or 0), "the highest number"
    return candidates[-1], "which is the later cannot be told, so the last by name was taken"
