"""`course export`: what `course grade` found, in the formats of gradebooks and of programs that show results."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.course import Course, find_course, read_course
from autograder.course.handed_out import refuse_kit
from autograder.course.names import UsageError
from autograder.exits import GRADER, PASS
from autograder.instructor.gradebook.graded import Exporter, Graded, named, read_graded
from autograder.instructor.gradebook.roster import read_roster
from autograder.learner.progress import write_whole
from autograder.report.words import plural

Run = Callable[[argparse.Namespace, Graded], int]
"""Writes a class in one format and returns how many scores it could not place."""


def export(options: argparse.Namespace) -> int:
    """Run the command."""
    _check_options(options)
    course = read_course(find_course())
    if options.format in WITHOUT_OUT:
        if options.out is not None:
            raise UsageError(
                f"course export {options.format} takes no OUT, since it is made of the course; leave it out"
            )
        refuse_kit(course, f"export {options.format}")
        WITHOUT_OUT[options.format](options, course)
        return PASS
    if options.out is None:
        raise UsageError(f"course export {options.format} needs OUT, the folder that course grade wrote")
    roster = read_roster(course, options.roster)
    graded = read_graded(course, roster, options.out, options.students or ())
    unplaced = WITH_OUT[options.format](options, graded)
    return GRADER if _tell(graded) + unplaced else PASS


def _tell(graded: Graded) -> int:
    """Say whose score is not in what was written, and return on how many the grader failed."""
    failed = [each.student for each in graded.marks if each.failed]
    missing = [each.student for each in graded.marks if each.report is None]
    for note in graded.notes:
        _say(note)
    if missing:
        _say(f"{plural(len(missing), 'student')} handed in nothing, and no score is written: {named(missing)}")
    if failed:
        told = f"the grader failed on {plural(len(failed), 'student')}, and no score is written: {named(failed)}"
        _say(f"{told}; run course grade again")
    return len(failed)


def _scores(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.scores import scores_csv

    reports = [each.report for each in graded.marks if each.report is not None]
    times = {each.student: each.final.handed_in for each in graded.marks if each.final is not None}
    exercises = [each.id for each in graded.course.exercises]
    absent = [each.student for each in graded.marks if each.report is None]
    _write(Path(options.to), scores_csv(reports, exercises, graded.policy, times, absent))
    return 0


def _nbgrader(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.nbgrader import write_gradebook

    name = options.assignment or graded.course.root.name
    written = write_gradebook(graded, options.to, name, options.course, options.autograded)
    new = f"{plural(written.students, 'student')}, {plural(written.submissions, 'submission')}"
    print(f"New in the gradebook: {new}, {plural(written.grades, 'grade')}; {plural(written.changed, 'row')} changed")
    if options.autograded is not None:
        print(f"{plural(written.notebooks, 'notebook')} in {options.autograded}")
    return 0


def _fill(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.filling import fill

    if options.into is None:
        raise UsageError(f"course export {options.format} needs --into FILE, the file that was exported there")
    filled = fill(graded, options.format, options.into, options.column, options.scale)
    _write(Path(options.to), filled.text)
    for note in filled.notes:
        _say(note)
    print(f"{plural(filled.placed, 'score')} filled in")
    return filled.unplaced


def _gradescope(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.gradescope import Seen, gradescope, handed_in

    if options.metadata is not None:
        graded = handed_in(graded, options.metadata)
    seen = Seen(options.visibility or "visible", options.check_visibility)
    return _files(options, graded, gradescope(graded, seen), ".json")


def _classroom(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.classroom import classroom

    sound = replace(graded, marks=tuple(each for each in graded.marks if not each.failed))
    return _files(options, sound, classroom(graded), ".json")


def _classroom_workflow(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.classroom import workflow

    _write(Path(options.to), workflow(graded))
    return 0


def _exercism(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.exercism import exercism

    return _files(options, graded, exercism(graded), ".json")


def _junit(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.junit import junit

    return _files(options, graded, junit, ".xml")


def _feedback(options: argparse.Namespace, graded: Graded) -> int:
    from autograder.instructor.gradebook.feedback_page import feedback

    return _files(options, graded, feedback, ".html")


def _gradescope_autograder(options: argparse.Namespace, course: Course) -> None:
    from autograder.instructor.gradebook.gradescope_zip import write_autograder

    written = write_autograder(course, Path(options.to), options.roster)
    print(f"Written: {options.to}, {plural(written, 'file')}; it holds the solutions, so give it to nobody else")


def _nbgrader_course(options: argparse.Namespace, course: Course) -> None:
    from autograder.course.suite import load_suite
    from autograder.instructor.gradebook.nbgrader_course import CONFIG, write_course

    to, name = Path(options.to), options.assignment or course.root.name
    drawing = [each for each, drawings in load_suite(course).pictures.items() if drawings]
    made = write_course(course, to, name, options.course, drawing)
    print(
        f"{plural(made.notebooks, 'notebook')} with the solutions in {to / 'source' / name}; give them to nobody else"
    )
    if made.config_kept:
        _say(f"{to / CONFIG} was changed since it was made, so it stays; delete it to have it made anew")
    print(f"Next: cd {to}, then nbgrader generate_assignment {name}")


def _files(options: argparse.Namespace, graded: Graded, make: Exporter, suffix: str) -> int:
    """Write a file for each student who has a report, or the one file that is named, if there is one report."""
    to, marks = Path(options.to), graded.with_report
    if to.suffix == suffix:
        if len(marks) != 1:
            raise UsageError(
                f"{to} is one file, and there are {plural(len(marks), 'report')}; name a folder, or --student"
            )
        _write(to, make(graded, marks[0]))
        return 0
    to.mkdir(parents=True, exist_ok=True)
    for mark in marks:
        write_whole(to / f"{mark.student}{suffix}", make(graded, mark))
    print(f"{plural(len(marks), 'file')} in {to}")
    return 0


def _write(file: Path, text: str) -> None:
    write_whole(file, text)
    print(f"Written: {file}")


def _say(sentence: str) -> None:
    print(f"course: {sentence}", file=sys.stderr)


WITH_OUT: Mapping[str, Run] = {
    "scores": _scores,
    "canvas": _fill,
    "moodle": _fill,
    "nbgrader": _nbgrader,
    "gradescope": _gradescope,
    "classroom": _classroom,
    "classroom-workflow": _classroom_workflow,
    "exercism": _exercism,
    "junit": _junit,
    "feedback": _feedback,
}
WITHOUT_OUT: Mapping[str, Callable[[argparse.Namespace, Course], None]] = {
    "gradescope-autograder": _gradescope_autograder,
    "nbgrader-course": _nbgrader_course,
}

OPTIONS: Mapping[str, Sequence[str]] = {
    "into": ("canvas", "moodle"),
    "column": ("canvas", "moodle"),
    "scale": ("canvas", "moodle"),
    "assignment": ("nbgrader", "nbgrader-course"),
    "course": ("nbgrader", "nbgrader-course"),
    "autograded": ("nbgrader",),
    "visibility": ("gradescope",),
    "check_visibility": ("gradescope",),
    "metadata": ("gradescope",),
}
"""The formats an option is for; those that are not here are for every format."""


def _check_options(options: argparse.Namespace) -> None:
    for option, formats in OPTIONS.items():
        if getattr(options, option) and options.format not in formats:
            name = option.replace("_", "-")
            raise UsageError(f"--{name} is for {' and '.join(formats)}, and not for {options.format}; leave it out")
