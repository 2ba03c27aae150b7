"""The formats of `course export`: which options each takes, and what writes it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from autograder.course import Course
from autograder.course.names import UsageError
from autograder.course.storage import write_atomically
from autograder.instructor.gradebook.graded import Exporter, Graded
from autograder.report.quantities import plural


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export; those of other formats are None or False."""

    format: str
    to: str
    roster: Path | None = None
    into: Path | None = None
    column: str | None = None
    scale: bool = False
    assignment: str | None = None
    course: str | None = None
    autograded: Path | None = None
    visibility: str | None = None
    check_visibility: str | None = None
    metadata: Path | None = None


@dataclass(frozen=True)
class ExportResult:
    """What an export reports: lines, warnings, and how many scores have no place in the format."""

    lines: Sequence[str]
    warnings: Sequence[str] = ()
    unplaced: int = 0


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
"""The formats that an option is for. Other options are for every format."""


def check_options(options: ExportOptions) -> None:
    """Raise `UsageError` for an option of another format."""
    for option, formats in OPTIONS.items():
        if getattr(options, option) and options.format not in formats:
            name = option.replace("_", "-")
            raise UsageError(f"--{name} is for {' and '.join(formats)}, and not for {options.format}; leave it out")


def _scores(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.scores import scores_csv

    reports = [mark.report for mark in graded.marks if mark.report is not None]
    times = {mark.student: mark.final.handed_in for mark in graded.marks if mark.final is not None}
    exercises = [exercise.id for exercise in graded.course.exercises]
    absent = [mark.student for mark in graded.marks if mark.report is None]
    return _file(options, scores_csv(reports, exercises, graded.policy, times, absent))


def _fill(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.filling import System, fill

    if options.into is None:
        raise UsageError(f"course export {options.format} needs --into FILE, the file that was exported there")
    filled = fill(graded, cast("System", options.format), options.into, options.column, options.scale)
    written = _file(options, filled.text)
    return ExportResult([*written.lines, f"{plural(filled.placed, 'score')} filled in"], filled.notes, filled.unplaced)


def _nbgrader(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.nbgrader import write_gradebook

    name = options.assignment or graded.course.root.name
    written = write_gradebook(graded, options.to, name, options.course, options.autograded)
    new = f"{plural(written.students, 'student')}, {plural(written.submissions, 'submission')}"
    lines = [
        f"New in the gradebook: {new}, {plural(written.grades, 'grade')}; {plural(written.changed, 'row')} changed"
    ]
    if options.autograded is not None:
        lines.append(f"{plural(written.notebooks, 'notebook')} in {options.autograded}")
    return ExportResult(lines)


def _gradescope(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.gradescope import Seen, Visibility, gradescope, handed_in

    if options.metadata is not None:
        graded = handed_in(graded, options.metadata)
    visibility, checks = cast("Visibility", options.visibility or "visible"), options.check_visibility
    seen = Seen(visibility, cast("Visibility | None", checks))
    return _files(options, graded, gradescope(graded, seen), ".json")


def _classroom(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.classroom import classroom

    sound = replace(graded, marks=tuple(mark for mark in graded.marks if not mark.failed))
    return _files(options, sound, classroom(graded), ".json")


def _classroom_workflow(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.classroom import workflow

    return _file(options, workflow(graded))


def _exercism(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.exercism import exercism

    return _files(options, graded, exercism(graded), ".json")


def _junit(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.junit import junit

    return _files(options, graded, junit, ".xml")


def _feedback(options: ExportOptions, graded: Graded) -> ExportResult:
    from autograder.instructor.gradebook.feedback_page import feedback

    return _files(options, graded, feedback, ".html")


def _gradescope_autograder(options: ExportOptions, course: Course) -> ExportResult:
    from autograder.instructor.gradebook.gradescope_zip import write_autograder

    count = write_autograder(course, Path(options.to), options.roster)
    return ExportResult(
        [f"Written: {options.to}, {plural(count, 'file')}; it holds the solutions, so give it to nobody else"]
    )


def _nbgrader_course(options: ExportOptions, course: Course) -> ExportResult:
    from autograder.course.suite import load_suite
    from autograder.instructor.gradebook.nbgrader_course import CONFIG, write_course

    to, name = Path(options.to), options.assignment or course.root.name
    drawing = [exercise for exercise, drawings in load_suite(course).pictures.items() if drawings]
    made = write_course(course, to, name, options.course, drawing)
    source = to / "source" / name
    lines = [
        f"{plural(made.notebooks, 'notebook')} with the solutions in {source}; give them to nobody else",
        f"Next: cd {to}, then nbgrader generate_assignment {name}",
    ]
    edited = f"{to / CONFIG} was changed since it was made, so it stays; delete it to have it made anew"
    return ExportResult(lines, [edited] if made.config_kept else [])


def _files(options: ExportOptions, graded: Graded, make: Exporter, suffix: str) -> ExportResult:
    """Write a file for each student with a report; or the one file that is named, if there is one report."""
    to, marks = Path(options.to), graded.with_report
    if to.suffix == suffix:
        if len(marks) != 1:
            found = f"{to} is one file, and there are {plural(len(marks), 'report')}"
            raise UsageError(f"{found}; name a folder, or --student")
        return _file(options, make(graded, marks[0]))
    to.mkdir(parents=True, exist_ok=True)
    for mark in marks:
        write_atomically(to / f"{mark.student}{suffix}", make(graded, mark))
    return ExportResult([f"{plural(len(marks), 'file')} in {to}"])


def _file(options: ExportOptions, text: str) -> ExportResult:
    write_atomically(Path(options.to), text)
    return ExportResult([f"Written: {Path(options.to)}"])


OF_A_CLASS: Mapping[str, Callable[[ExportOptions, Graded], ExportResult]] = {
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
"""The formats made of graded reports."""

OF_A_COURSE: Mapping[str, Callable[[ExportOptions, Course], ExportResult]] = {
    "gradescope-autograder": _gradescope_autograder,
    "nbgrader-course": _nbgrader_course,
}
"""The formats made of the course alone."""
