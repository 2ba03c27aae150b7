"""Write the scores of a class in the format of a gradebook.

FORMAT is one of: {formats}.

Exit status: 4 if a score could not be exported or a time of submission is in doubt.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import get_args

from autograder.cli import GRADES, ONE_STUDENT, ROSTER, CommandParser, say, warn
from autograder.course import (
    Assignment,
    Course,
    UsageError,
    find_course,
    left_out,
    read_course,
    refuse_kit,
    require_texts,
    suggestion,
)
from autograder.ending import GRADER, PASS
from autograder.gradebook import (
    FILE,
    ROSTER_FILE,
    Graded,
    Roster,
    find_roster,
    is_term,
    named,
    of_class,
    read_graded,
    read_term,
    roster_file,
    term_csv,
    why_held,
    without_effect,
)
from autograder.report import plural
from autograder.submission import printable

from .formats import ExportOptions, ExportResult, Format, check_options, find_formats, write_text
from .gradescope import Visibility
from .viva import Sheet


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    formats = tuple(find_formats())
    parser.description = (parser.description or "").replace("{formats}", ", ".join(formats))
    add = parser.add_argument
    add("format", choices=formats, metavar="FORMAT", help="the format to write")
    add("out", type=Path, nargs="?", metavar="OUT", help=f"{GRADES}, or one report")
    add("--to", required=True, metavar="PATH", help="the file or folder to write; for nbgrader the URL of its database")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)
    add("--student", action="append", dest="students", metavar="NAME", help=f"export {ONE_STUDENT}")
    add("--section", metavar="NAME", help="export only the students of this section of the roster")
    _add_gradebook_options(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. Exit with 4 if a score could not be exported."""
    wanted = ExportOptions(**{field.name: getattr(options, field.name) for field in fields(ExportOptions)})
    check_options(wanted)
    course = read_course(find_course())
    warn(left_out(course))
    _refuse_inputs(wanted, course, options.out)
    form = find_formats()[wanted.format]
    if form.of_course is not None:
        if options.out is not None:
            found = f"course export {wanted.format} takes no OUT, since it is made of the course"
            raise UsageError(f"{found}; leave it out")
        if form.needs_solutions:
            refuse_kit(course, f"export {wanted.format}")
            require_texts(course, course.every)
        if options.section or options.students:
            raise UsageError(f"course export {wanted.format} is of no student; leave --section and --student out")
        _show(form.of_course(wanted, course))
        return PASS
    if options.out is None or form.of_class is None:
        raise UsageError(f"course export {wanted.format} needs OUT, the folder that course grade wrote")
    roster = find_roster(course, options.roster)
    students = _students(roster, options)
    if is_term(options.out):
        return _term(form, wanted, course, roster, options.out, students)
    graded = read_graded(course, roster, options.out, students)
    exported = form.of_class(wanted, graded)
    _show(exported)
    doubtful = of_class(graded) if wanted.metadata is None else []  # which has the time
    for sentence in (*_without_score(graded), *doubtful):
        warn(sentence)
    return GRADER if exported.unplaced or doubtful or _waits(graded) else PASS


def _students(roster: Roster, options: argparse.Namespace) -> tuple[str, ...]:
    """Return the students to export; none stands for all. Raises `UsageError`."""
    if options.section is None:
        return tuple(options.students or ())
    if options.students:
        raise UsageError("--section and --student both choose students; leave one of them out")
    return roster.in_section(options.section)


def _refuse_inputs(wanted: ExportOptions, course: Course, out: Path | None) -> None:
    """Refuse to write over a file that decides marks, or over the download of hand-ins. Raises `UsageError`."""
    chosen = roster_file(course, None)
    files = [course.root / name for name in ("course.toml", ROSTER_FILE, FILE)]
    files += [chosen] if chosen is not None else []
    files += [file for file in (wanted.roster, wanted.metadata) if file is not None]
    files += [wanted.into] if wanted.into is not None and wanted.format == "feedback" else []
    files += [out] if out is not None and out.is_file() else []
    if Path(wanted.to).resolve() in [file.resolve() for file in files]:
        raise UsageError(f"--to is {wanted.to}, which this command reads; name another file")


def _term(
    form: Format, wanted: ExportOptions, course: Course, roster: Roster, out: Path, students: Sequence[str]
) -> int:
    """Write the table of a term, or a folder for each assignment."""
    if form.of_class is None or not form.of_a_term:
        runs = ", ".join(sorted(file.parent.name for file in out.glob("*/run.json")))
        found = f"{out} has the runs of several assignments, and {wanted.format} is of one"
        raise UsageError(f"{found}; name one of {runs}")
    runs_of_term = read_term(course, roster, out)
    if students:
        known = dict.fromkeys(mark.student for _, graded in runs_of_term for mark in graded.marks)
        for student in students:
            if student not in known:
                hint = suggestion(student, known, "expected a student of a run or of the roster")
                raise UsageError(f"there is no student {printable(student)}; {hint}")
        runs_of_term = tuple((one, _only(graded, students)) for one, graded in runs_of_term)
    if wanted.format == "scores":
        drop = course.grading.drop_assignments if course.grading else 0
        _show(write_text(wanted, term_csv(runs_of_term, drop)))
    for assignment, graded in runs_of_term:
        if wanted.format != "scores":
            place = replace(wanted, to=str(Path(wanted.to) / assignment.id))
            _show(form.of_class(place, graded))
        for sentence in (*_without_score(graded), *of_class(graded)):
            warn(f"{assignment.id}: {sentence}")
    there = [assignment.id for assignment, _ in runs_of_term]
    for one in course.assignments:
        if one.id not in there and _was_due(one):
            warn(f"{one.id} was due and has no run in {out}, so no mark of it counts; grade it into that folder")
    return GRADER if any(_waits(graded) or of_class(graded) for _, graded in runs_of_term) else PASS


def _only(graded: Graded, students: Sequence[str]) -> Graded:
    """Return a run with some students of the term: not each of them is in every run."""
    return replace(graded, marks=tuple(mark for mark in graded.marks if mark.student in students))


def _was_due(assignment: Assignment) -> bool:
    """Say whether the due date of an assignment has passed."""
    due = assignment.grading.due
    return due is not None and due <= datetime.now(assignment.grading.zone).replace(tzinfo=None)


def _waits(graded: Graded) -> bool:
    """Say whether a mark waits for a person or for another run."""
    return any(mark.failed or mark.held for mark in graded.marks)


def _show(exported: ExportResult) -> None:
    for line in exported.lines:
        say(line)
    for sentence in exported.warnings:
        warn(sentence)


def _without_score(graded: Graded) -> Iterator[str]:
    """Yield the notes on a class, and which students have no score in the export."""
    yield from dict.fromkeys((*graded.notes, *without_effect(graded.policy)))
    missing = [mark.student for mark in graded.marks if mark.report is None and mark.score is None and not mark.excused]
    if excused := [mark.student for mark in graded.marks if mark.excused]:
        yield f"{plural(len(excused), 'student')} excused, and no score is written: {named(excused)}"
    failed = [mark.student for mark in graded.marks if mark.failed]
    if missing:
        yield f"{plural(len(missing), 'student')} handed in nothing, and no score is written: {named(missing)}"
    reports = {mark.student: mark.report for mark in graded.marks if mark.held and mark.report is not None}
    if held := [*reports]:
        count = plural(len(held), "student")
        fix = "replace it with course accept, give points with course adjust, or take it out"
        found = f"the hand-in of {count} has no file of the assignment that could be read"
        if not all(report.is_unread for report in reports.values()):
            found = f"the hand-in of {count} is held, as {why_held([*reports.values()])}"
        yield f"{found}, and no score is written: {named(held)}; {fix}"
    if failed:
        count = plural(len(failed), "student")
        yield f"the grader failed on {count}, and no score is written: {named(failed)}; run course grade again"


def _add_gradebook_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that are for some formats only."""
    add = parser.add_argument_group("canvas, moodle").add_argument
    add("--into", type=Path, metavar="FILE", help="the file that you exported there, to be filled in")
    add("--column", metavar="TITLE", help="the column for the scores (default: the only one there is)")
    add("--scale", action="store_true", help="scale the scores to the maximum that is set there")
    add("--overwrite", action="store_true", help="replace grades and comments there that differ")
    add = parser.add_argument_group("nbgrader, nbgrader-course").add_argument
    add("--assignment", metavar="NAME", help="the name of the assignment (default: the course's folder)")
    add("--course", metavar="NAME", help="the name of the course (default: the only one there is)")
    add("--autograded", type=Path, metavar="DIR", help="where to write the notebooks that feedback is made of")
    add = parser.add_argument_group("gradescope").add_argument
    add("--visibility", choices=get_args(Visibility), help="when students see their results (default: visible)")
    add(
        "--check-visibility",
        choices=get_args(Visibility),
        help="when students see each check (default: with the results)",
    )
    add("--metadata", type=Path, metavar="FILE", help="the submission_metadata.json with the student and the time")
    add = parser.add_argument_group("classroom50-autograder, prairielearn-grader").add_argument
    add("--kit", type=Path, metavar="DIR", help="the kit that students have, made by course release")
    add = parser.add_argument_group("feedback").add_argument
    platforms = ("canvas", "moodle")
    add(
        "--for", dest="platform", choices=platforms, help="one zip to upload there; canvas needs --into submissions.zip"
    )
    add = parser.add_argument_group("viva").add_argument
    add("--submissions", type=Path, metavar="DIR", help="the submissions that were graded")
    does = "a page to answer on paper: on their own program, or one program for all"
    add("--sheet", choices=get_args(Sheet), help=does)
    does = "process runs submissions with your permissions (default: sandbox)"
    add("--isolation", choices=("sandbox", "process"), help=does)
