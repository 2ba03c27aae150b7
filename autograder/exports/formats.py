"""The formats of `course export`: which options each takes, and what writes it."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from autograder.course import Course, UsageError, load_suite, write_over
from autograder.gradebook import Exporter, Graded, named, scores_csv
from autograder.report import listed, plural

from .classroom50 import classroom50, write_classroom50_autograder
from .feedback import feedback
from .feedback_zip import write_archive
from .filling import System, fill
from .gradescope import Seen, Visibility, gradescope, handed_in, write_gradescope_autograder
from .nbgrader import CONFIG, write_course
from .prairielearn import write_grader


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export; those of other formats are None or False."""

    format: str
    to: str
    roster: Path | None = None
    into: Path | None = None
    column: str | None = None
    scale: bool = False
    overwrite: bool = False
    assignment: str | None = None
    course: str | None = None
    autograded: Path | None = None
    visibility: str | None = None
    check_visibility: str | None = None
    metadata: Path | None = None
    kit: Path | None = None
    platform: str | None = None


@dataclass(frozen=True)
class ExportResult:
    """What an export reports: lines, warnings, and how many scores have no place in the format."""

    lines: Sequence[str]
    warnings: Sequence[str] = ()
    unplaced: int = 0


OPTIONS: Mapping[str, Sequence[str]] = {
    "into": ("canvas", "moodle", "feedback"),
    "column": ("canvas", "moodle"),
    "scale": ("canvas", "moodle"),
    "overwrite": ("canvas", "moodle"),
    "assignment": ("nbgrader", "nbgrader-course"),
    "course": ("nbgrader", "nbgrader-course"),
    "autograded": ("nbgrader",),
    "visibility": ("gradescope",),
    "check_visibility": ("gradescope",),
    "metadata": ("gradescope",),
    "kit": ("classroom50-autograder", "prairielearn-grader"),
    "platform": ("feedback",),
}
"""The formats that an option is for. Other options are for every format."""

FLAGS: Mapping[str, str] = {"platform": "for"}
"""The options whose name on the command line is another one than here."""


def check_options(options: ExportOptions) -> None:
    """Raise `UsageError` for an option of another format."""
    for option, formats in OPTIONS.items():
        if getattr(options, option) and options.format not in formats:
            name = FLAGS.get(option, option.replace("_", "-"))
            raise UsageError(f"--{name} is for {listed(formats)}, and not for {options.format}; leave it out")


def _scores(options: ExportOptions, graded: Graded) -> ExportResult:

    reports = [mark.report for mark in graded.marks if mark.report is not None]
    times = {mark.student: mark.final.handed_in for mark in graded.marks if mark.final is not None}
    exercises = [exercise.id for exercise in graded.course.exercises]
    absent = [mark.student for mark in graded.marks if mark.report is None]
    return write_text(options, scores_csv(reports, exercises, graded.policy, times, absent))


def _fill(options: ExportOptions, graded: Graded) -> ExportResult:

    if options.into is None:
        raise UsageError(f"course export {options.format} needs --into FILE, the file that was exported there")
    filled = fill(
        graded, cast("System", options.format), options.into, options.column, options.scale, options.overwrite
    )
    written = write_text(options, filled.text)
    return ExportResult([*written.lines, f"{plural(filled.placed, 'score')} filled in"], filled.notes, filled.unplaced)


def _nbgrader(options: ExportOptions, graded: Graded) -> ExportResult:
    from .nbgrader import write_gradebook

    name = options.assignment or graded.course.root.name
    written = write_gradebook(graded, options.to, name, options.course, options.autograded)
    new = f"{plural(written.students, 'student')}, {plural(written.submissions, 'submission')}"
    lines = [
        f"New in the gradebook: {new}, {plural(written.grades, 'grade')}; {plural(written.changed, 'row')} changed"
    ]
    if options.autograded is not None:
        lines.append(f"{plural(written.notebooks, 'notebook')} in {options.autograded}")
    return ExportResult(lines, written.notes)


def _gradescope(options: ExportOptions, graded: Graded) -> ExportResult:

    if options.metadata is not None:
        graded = handed_in(graded, options.metadata)
    visibility, checks = cast("Visibility", options.visibility or "visible"), options.check_visibility
    seen = Seen(visibility, cast("Visibility | None", checks))
    return _files(options, graded, gradescope(graded, seen), ".json")


def _classroom50(options: ExportOptions, graded: Graded) -> ExportResult:

    return _files(options, graded, classroom50(os.environ), ".json")


def _feedback(options: ExportOptions, graded: Graded) -> ExportResult:

    if options.platform is not None:
        return _archive(options, graded, options.platform)
    if options.into is not None or Path(options.to).suffix == ".zip":
        raise UsageError("course export feedback takes a zip and --into only with --for canvas or --for moodle")
    return _files(options, graded, feedback, ".html")


def _archive(options: ExportOptions, graded: Graded, platform: str) -> ExportResult:

    pages, without = write_archive(graded, platform, options.into, Path(options.to))
    can_answer = f"no .zip, .py or .ipynb of theirs in {options.into}, and Canvas takes a page for no other file"
    reason = can_answer if options.into else "no participant number in roster.csv (lms_id)"
    notes = [f"{plural(len(without), 'page')} left out: {named(without)}; {reason}"] if without else []
    line = f"Written: {Path(options.to)}, {plural(pages, 'page')} for {platform.capitalize()}"
    return ExportResult([line], notes, len(without))


def _gradescope_autograder(options: ExportOptions, course: Course) -> ExportResult:

    count = write_gradescope_autograder(course, Path(options.to), options.roster)
    return ExportResult(
        [f"Written: {options.to}, {plural(count, 'file')}; it holds the solutions, so give it to nobody else"]
    )


def _nbgrader_course(options: ExportOptions, course: Course) -> ExportResult:

    to, name = Path(options.to), options.assignment or course.root.name
    drawing = [exercise for exercise, drawings in load_suite(course).pictures.items() if drawings]
    made = write_course(course, to, name, options.course, drawing)
    source = to / "source" / name
    lines = [
        f"{plural(made.notebooks, 'notebook')} with the solutions in {source}{_replaced(made.replaced)}; "
        "give them to nobody else",
        f"Next: cd {to}, then nbgrader generate_assignment {name}",
    ]
    edited = f"{to / CONFIG} was changed since it was made, so it stays; delete it to have it made anew"
    return ExportResult(lines, [edited] if made.config_kept else [])


def _classroom50_autograder(options: ExportOptions, course: Course) -> ExportResult:

    return _public(options, course, write_classroom50_autograder)


def _prairielearn_grader(options: ExportOptions, course: Course) -> ExportResult:

    return _public(options, course, write_grader)


def _public(options: ExportOptions, course: Course, write: Callable[[Course, Path, Path], int]) -> ExportResult:
    """Write the files of a platform where everybody can read them: they have the student's kit, and no solution."""
    if options.kit is None:
        found = f"course export {options.format} needs --kit DIR, the kit that students have"
        raise UsageError(f"{found}; make one with course release DIR")
    to = Path(options.to)
    files = [file for file in to.rglob("*") if file.is_file() and not file.relative_to(to).parts[0].startswith(".")]
    before = {file: file.read_bytes() for file in files}
    count = write(course, options.kit, to)
    other = sum(file.read_bytes() != data for file, data in before.items())
    line = f"{plural(count, 'file')} in {options.to}{_replaced(other)}; nothing of the solutions is in them"
    return ExportResult([line])


def _each(module: str, make: str, suffix: str) -> Callable[[ExportOptions, Graded], ExportResult]:
    """Return the writer of a file for each student, with a function of a module that is loaded when it is needed."""
    name = f"{__package__}.{module}"
    return lambda options, graded: _files(options, graded, getattr(import_module(name), make), suffix)


def _workflow(make: str) -> Callable[[ExportOptions, Course], ExportResult]:
    name = f"{__package__}.workflows"
    return lambda options, course: write_text(options, getattr(import_module(name), make)(course))


def _files(options: ExportOptions, graded: Graded, make: Exporter, suffix: str) -> ExportResult:
    """Write a file for each student with a report; or the one file that is named, if there is one report."""
    to, marks = Path(options.to), graded.to_show
    if to.suffix == suffix:
        if len(marks) != 1:
            found = f"{to} is one file, and there are {plural(len(marks), 'report')}"
            raise UsageError(f"{found}; name a folder, or --student")
        return write_text(options, make(graded, marks[0]))
    to.mkdir(parents=True, exist_ok=True)
    other = sum(write_over(to / f"{mark.student}{suffix}", make(graded, mark)) for mark in marks)
    return ExportResult([f"{plural(len(marks), 'file')} in {to}{_replaced(other)}"])


def write_text(options: ExportOptions, text: str) -> ExportResult:
    """Write the one file that `--to` names. Raises OSError."""
    Path(options.to).parent.mkdir(parents=True, exist_ok=True)
    other = write_over(Path(options.to), text)
    return ExportResult([f"Written: {Path(options.to)}{', which had other content' if other else ''}"])


def _replaced(count: int) -> str:
    """Return how many of the files had other content before, or nothing."""
    return f", {count} of which had other content" if count else ""


OF_A_CLASS: Mapping[str, Callable[[ExportOptions, Graded], ExportResult]] = {
    "scores": _scores,
    "canvas": _fill,
    "moodle": _fill,
    "nbgrader": _nbgrader,
    "gradescope": _gradescope,
    "classroom50": _classroom50,
    "prairielearn": _each("prairielearn", "prairielearn", ".json"),
    "junit": _each("junit", "junit", ".xml"),
    "markdown": _each("markdown", "markdown", ".md"),
    "annotations": _each("workflows", "annotations", ".txt"),
    "code-quality": _each("workflows", "code_quality", ".json"),
    "feedback": _feedback,
}
"""The formats made of graded reports."""

OF_A_COURSE: Mapping[str, Callable[[ExportOptions, Course], ExportResult]] = {
    "gradescope-autograder": _gradescope_autograder,
    "nbgrader-course": _nbgrader_course,
    "classroom50-autograder": _classroom50_autograder,
    "prairielearn-grader": _prairielearn_grader,
    "github-actions": _workflow("github_actions"),
    "gitlab-ci": _workflow("gitlab_ci"),
}
"""The formats made of the course alone."""

OF_A_KIT = ("github-actions", "gitlab-ci")
"""Those of them that need no solutions, so that a kit can write them too."""
