"""`course export`: write scores in the format of a gradebook, and say which are missing."""

import argparse
from collections.abc import Iterator
from dataclasses import fields

from autograder.cli.screen import warn
from autograder.course import find_course, read_course
from autograder.course.kit_files import refuse_kit
from autograder.course.names import UsageError
from autograder.exits import GRADER, PASS
from autograder.instructor.gradebook.formats import (
    OF_A_CLASS,
    OF_A_COURSE,
    OF_A_KIT,
    ExportOptions,
    ExportResult,
    check_options,
)
from autograder.instructor.gradebook.graded import Graded, named, read_graded
from autograder.instructor.gradebook.roster import read_roster
from autograder.report.quantities import plural


def export(options: argparse.Namespace) -> int:
    """Run the command. Exit with 4 if a score could not be exported."""
    wanted = ExportOptions(**{field.name: getattr(options, field.name) for field in fields(ExportOptions)})
    check_options(wanted)
    course = read_course(find_course())
    if wanted.format in OF_A_COURSE:
        if options.out is not None:
            found = f"course export {wanted.format} takes no OUT, since it is made of the course"
            raise UsageError(f"{found}; leave it out")
        if wanted.format not in OF_A_KIT:
            refuse_kit(course, f"export {wanted.format}")
        _show(OF_A_COURSE[wanted.format](wanted, course))
        return PASS
    if options.out is None:
        raise UsageError(f"course export {wanted.format} needs OUT, the folder that course grade wrote")
    graded = read_graded(course, read_roster(course, options.roster), options.out, options.students or ())
    exported = OF_A_CLASS[wanted.format](wanted, graded)
    _show(exported)
    for sentence in _without_score(graded):
        warn(sentence)
    return GRADER if exported.unplaced or any(mark.failed or mark.held for mark in graded.marks) else PASS


def _show(exported: ExportResult) -> None:
    for line in exported.lines:
        print(line)
    for sentence in exported.warnings:
        warn(sentence)


def _without_score(graded: Graded) -> Iterator[str]:
    """Yield the notes on a class, and which students have no score in the export."""
    yield from graded.notes
    missing = [mark.student for mark in graded.marks if mark.report is None]
    if excused := [mark.student for mark in graded.marks if mark.excused]:
        yield f"{plural(len(excused), 'student')} excused, and no score is written: {named(excused)}"
    failed = [mark.student for mark in graded.marks if mark.failed]
    if missing:
        yield f"{plural(len(missing), 'student')} handed in nothing, and no score is written: {named(missing)}"
    if held := [mark.student for mark in graded.marks if mark.held]:
        count = plural(len(held), "student")
        fix = "replace it with course accept, give points with course adjust, or take it out"
        yield f"the hand-in of {count} could not be read, and no score is written: {named(held)}; {fix}"
    if failed:
        count = plural(len(failed), "student")
        yield f"the grader failed on {count}, and no score is written: {named(failed)}; run course grade again"
