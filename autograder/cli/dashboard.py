"""`course dashboard`: the page of a class that was graded, and its tables as CSV files."""

import argparse
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from autograder.authoring.given import given_of
from autograder.course import Course, find_course, read_course
from autograder.course.names import UsageError
from autograder.exits import PASS
from autograder.instructor.dashboard.clusters import clusters_of
from autograder.instructor.dashboard.gathered import gathered, student_of
from autograder.instructor.dashboard.page import FOLDER, SIMILAR, Findings, page, tables
from autograder.instructor.dashboard.pseudonyms import FILE, own_names, pseudonyms
from autograder.instructor.dashboard.similar import Pair, pairs_of
from autograder.instructor.dashboard.statistics import figures
from autograder.instructor.dashboard.stuck import stuck
from autograder.instructor.dashboard.why import why
from autograder.instructor.gradebook.graded import Graded, named, read_graded
from autograder.instructor.gradebook.roster import Roster, Student, read_roster
from autograder.learner.progress import write_whole
from autograder.report.words import plural
from autograder.runner.runner import EnvironmentProblem
from autograder.submission import Submission, list_submissions
from autograder.submission.found import Caps

PAGE = "class.html"
_SHORTEST, _SHORTEST_NUMBER = 3, 6
"""A part of a name that is shorter is a word of any code, or a number of it."""


def dashboard(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` where nothing was graded there."""
    course = read_course(find_course())
    if options.out.is_file():
        raise UsageError(f"{options.out} is one file, expected the folder that course grade wrote")
    roster = read_roster(course, options.roster)
    graded = read_graded(course, roster, options.out)
    students = [each.student for each in graded.marks]
    names = own_names(graded) if options.names else pseudonyms(options.out / FILE, students)
    room = gathered(graded, names)
    hide = _shown if options.names else _hider(graded, names)
    pairs, not_compared = _pairs(options, course, roster, graded, hide)
    found = Findings(
        room=room,
        stuck=stuck(room),
        why=why(room, course, hide),
        figures=figures(room),
        clusters=clusters_of(room),
        pairs=pairs,
        not_compared=not_compared,
        notes=[] if options.names else [f"Names are pseudonyms; {FILE} beside this page says who is who."],
    )
    for note in graded.notes:
        print(f"course: {note}", file=sys.stderr)
    (options.out / FOLDER).mkdir(exist_ok=True)
    made = tables(found)
    (options.out / FOLDER / SIMILAR).unlink(missing_ok=True)  # an earlier page's may have names
    for name, table in made.items():
        write_whole(options.out / FOLDER / name, table)
    write_whole(options.out / PAGE, page(found))
    print(f"The page is {options.out / PAGE}, its {plural(len(made), 'table')} are in {options.out / FOLDER}")
    return PASS


def submissions_of(
    options: argparse.Namespace, course: Course, roster: Roster, graded: Graded
) -> Mapping[str, Submission]:
    """Return what was graded, by student; what has changed since, or was not graded, is left out and told."""
    listed = list_submissions(options.folder, course.files, options.layout, roster or None, given_of(course))
    digests = {
        student_of(each.report): each.report.submission.get("digest") for each in graded.with_report if each.report
    }
    caps = Caps(source_kib=course.limits.source_kib)
    read = {each.student: each.read(course.files, caps) for each in listed.entries if each.student in digests}
    changed = [student for student, each in read.items() if digests[student] not in (None, each.digest)]
    absent = [student for student in digests if student not in read]
    for told, students in (("was changed since it was graded", changed), ("is not there", absent)):
        if students:
            what = plural(len(students), "submission")
            print(f"course: {what} in {options.folder} {told}, left out: {named(students)}", file=sys.stderr)
    return {student: each for student, each in read.items() if student not in changed}


def _pairs(
    options: argparse.Namespace, course: Course, roster: Roster, graded: Graded, hide: Callable[[str, str], str]
) -> tuple[Sequence[Pair] | None, str]:
    """Return who is alike, with nobody's name in the lines; or None, and why nobody was compared."""
    if options.folder is None:
        return None, "Not looked for: course dashboard OUT DIR compares the submissions in DIR."
    given = given_of(course)
    sources = {
        student: {
            file: hide(student, source.decode("utf-8", "replace"))
            for file, source in each.sources.items()
            if not given.is_stub(file, source)
        }
        for student, each in submissions_of(options, course, roster, graded).items()
    }
    stubs = {file: text.decode("utf-8", "replace") for file, text in given.files.items() if file.endswith(".py")}
    try:
        return pairs_of(sources, stubs), ""
    except EnvironmentProblem as problem:
        print(f"course: {problem}", file=sys.stderr)
        told = str(problem)
        return None, f"Not looked for: {told[0].lower()}{told[1:]}."


def _shown(_student: str, text: str) -> str:
    return text


def _hider(graded: Graded, names: Mapping[str, str]) -> Callable[[str, str], str]:
    """Return what puts a pseudonym wherever a student's text says who wrote it."""
    forms = {each.student: _form(each.row) for each in graded.marks}

    def hide(student: str, text: str) -> str:
        form = forms.get(student)
        return form.sub(names[student], unicodedata.normalize("NFC", text)) if form is not None else text

    return hide


def _form(row: Student) -> re.Pattern[str] | None:
    parts = {row.student, row.name, row.login, row.email, row.lms_id, *re.findall(r"\w+", row.name)}
    parts = {unicodedata.normalize("NFC", each) for each in parts}
    telling = (each for each in parts if len(each) >= (_SHORTEST_NUMBER if each.isdigit() else _SHORTEST))
    wanted = sorted(telling, key=lambda each: (-len(each), each))
    # An underscore is a letter of no name: it stands between the words of those that code gives.
    form = rf"(?<![^\W_])(?:{'|'.join(map(re.escape, wanted))})(?![^\W_])"
    return re.compile(form, re.IGNORECASE) if wanted else None
