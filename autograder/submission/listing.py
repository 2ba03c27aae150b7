"""List the submissions of a class in a folder or a zip, in one of the layouts of downloads."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.submission.class_entry import Entry, Part
from autograder.submission.class_folder import ClassFolder, Item, open_class_folder
from autograder.submission.files import SubmissionError, printable, printable_name
from autograder.submission.layouts import (
    NO_SUBMISSION,
    Candidate,
    LayoutResult,
    leave_out,
    loose_candidate,
    loose_clue,
    read_layout,
)
from autograder.submission.names import Students, casefolded, checked_id
from autograder.submission.recognition import recognise
from autograder.submission.submission import NO_HANDOUT, Handout, notebook_of

HIGHEST_COUNTS = "it has the highest number"
"""Why one of several attempts counts: what happens to everybody who hands in again."""


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
    students: Students | None = None,
    handout: Handout = NO_HANDOUT,
) -> Submissions:
    """List the latest submission of every student in a folder or a zip, by id. `files` are the expected file names.

    Without a `layout`, it is the one that all entries have. `students` maps the entries to ids; without it, the names
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
    result = read_layout(layout, folder, wanted)
    entries = _attribute(folder, result, students, handout)
    return Submissions(entries, (*folder.problems, *result.problems), (*folder.notes, *result.notes), layout)


def _attribute(
    folder: ClassFolder, result: LayoutResult, students: Students | None, handout: Handout
) -> tuple[Entry, ...]:
    """Return an entry for each student; add problems and notes about the other candidates to `result`."""
    by_student: dict[str, list[Candidate]] = defaultdict(list)
    numbered = _by_number(result.candidates, students)
    for candidate in result.candidates:
        try:
            student = numbered.get(candidate.label) or _student(candidate, result, students)
            by_student[student].append(candidate)
            if candidate.label in numbered:
                lost = f"{printable_name(candidate.label)} is {printable_name(student)} on the roster"
                result.notes.append(f"{lost}: a spreadsheet removes zeros before a number; correct the roster")
        except SubmissionError as error:
            result.problems.append(str(error))
    _add_loose_files(by_student, result, students)
    alike: dict[str, list[str]] = defaultdict(list)
    for student in by_student:
        alike[casefolded(student)].append(student)
    entries = []
    for ids in alike.values():
        if len(ids) > 1:
            labels = ", ".join(sorted(printable_name(candidate.label) for id_ in ids for candidate in by_student[id_]))
            problem = f"{labels} differ only in upper and lower case, and so would their reports"
            result.problems.append(f"{problem}, so none of them is graded; keep one, or rename them")
        elif not _is_ambiguous(ids[0], by_student[ids[0]], result, students):
            entries.append(_latest(folder, ids[0], by_student[ids[0]], handout, result))
    return tuple(sorted(entries, key=lambda entry: entry.student))


def _by_number(candidates: Sequence[Candidate], students: Students | None) -> dict[str, str]:
    """Return by label the students whose number lost its zeros in a spreadsheet, where nobody else can be meant."""
    if students is None:
        return {}
    found = {candidate.label: students.find(candidate.clue) for candidate in candidates}
    certain = {student for matches in found.values() for student in matches}
    numbers = {one.label: students.find_number(one.clue) for one in candidates if not found[one.label]}
    times = Counter(student for matches in numbers.values() for student in matches)
    return {
        label: matches[0]
        for label, matches in numbers.items()
        if len(matches) == 1 and times[matches[0]] == 1 and matches[0] not in certain
    }


def _add_loose_files(by_student: dict[str, list[Candidate]], result: LayoutResult, students: Students | None) -> None:
    """Add the single files that students of the roster handed in who have nothing else: they are held, not missing."""
    loose: dict[str, list[Item]] = defaultdict(list)
    for item in result.loose:
        matches = students.find(loose_clue(item)) if students else ()
        if len(matches) == 1 and matches[0] not in by_student:
            loose[matches[0]].append(item)
        else:
            leave_out(item, result)
    for student, items in loose.items():
        by_student[student].append(loose_candidate(items))
        fix = f"ask for a zip, and use it with `course accept {printable_name(student)} FILE`"
        held = f"and {printable_name(student)} is held; {fix}"
        result.notes += [f"{NO_SUBMISSION.format(printable_name(item.name))}, {held}" for item in items]


def _student(candidate: Candidate, result: LayoutResult, students: Students | None) -> str:
    """Return the id of a candidate's student. Raises `SubmissionError` if it can be attributed to nobody."""
    clue, label = candidate.clue, printable_name(candidate.label)
    matches = students.find(clue) if students else ()
    if len(matches) == 1:
        return matches[0]
    own = checked_id(clue.own, label)
    if students is None:
        return own
    if students.has(own):
        problem = f"{label} would be graded as {printable_name(own)}, and another student on the roster has that id"
        raise SubmissionError(f"{problem}; add the student who handed it in to the roster")
    several = f"fits {', '.join(map(printable_name, matches[:3]))} on the roster" if matches else "is not on the roster"
    result.notes.append(f"{label} {several}; it is graded as {printable_name(own)}")
    return own


def _is_ambiguous(student: str, candidates: list[Candidate], result: LayoutResult, students: Students | None) -> bool:
    """Say whether the candidates belong to several people, and none of them certainly to the student.

    Anybody can take another student's name in a course, or a login that equals another's id. Candidates whose number
    or login is in the student's row of the roster stay; the others are removed, and named in a problem.
    """
    if len(candidates) < 2 or _have_common_name(candidates):
        return False
    own = [candidate for candidate in candidates if students and students.owns(student, candidate.clue)]
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
    if len(candidates) == 1:
        chosen, why = candidates[0], ""
    else:
        chosen, why = _choose(candidates)
        others = ", ".join(printable_name(candidate.label) for candidate in candidates if candidate is not chosen)
        why = f"{printable_name(chosen.label)} counts, not {others}: {why}"
        result.notes.append(f"{printable_name(student)}: {why}")
    notes = (*chosen.notes, why) if why else chosen.notes
    path = chosen.parts[0].path if len(chosen.parts) == 1 else folder.path
    parts = chosen.parts or (Part(folder.path, ()),)
    return Entry(student, path, chosen.handed_in, notes, parts, handout)


def _choose(candidates: Sequence[Candidate]) -> tuple[Candidate, str]:
    """Return the candidate that counts, and the reason."""
    numbers = [candidate.number for candidate in candidates if candidate.number is not None]
    if len(numbers) == len(candidates) and numbers.count(max(numbers)) == 1:
        return max(candidates, key=lambda candidate: candidate.number or 0), HIGHEST_COUNTS
    return candidates[-1], "nothing shows which is later, so the last by name was taken"
