"""What a format of `course export` is: a platform's module lists its own in `FORMATS`, and the command finds them."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.course import Course, UsageError, write_over
from autograder.gradebook import Exporter, Graded, scores_csv
from autograder.report import listed, plural


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
    submissions: Path | None = None
    sheet: str | None = None
    isolation: str | None = None


@dataclass(frozen=True)
class ExportResult:
    """What an export reports: lines, warnings, and how many scores have no place in the format."""

    lines: Sequence[str]
    warnings: Sequence[str] = ()
    unplaced: int = 0


@dataclass(frozen=True)
class Format:
    """One format: made of the marks of a class, or of the course alone.

    A student's kit can write one that needs no solutions. `options` are those of the command line that not every format
    takes. `of_a_term` tells whether all assignments can be exported together.
    """

    name: str
    of_class: Callable[[ExportOptions, Graded], ExportResult] | None = None
    of_course: Callable[[ExportOptions, Course], ExportResult] | None = None
    needs_solutions: bool = True
    options: Sequence[str] = ()
    of_a_term: bool = False


FLAGS: Mapping[str, str] = {"platform": "for"}
"""The options whose name on the command line is another one than here."""


@cache
def find_formats() -> dict[str, Format]:
    """Return the formats of all platforms by name, in the order of the alphabet."""
    files = [file for file in sorted(Path(__file__).parent.glob("*.py")) if b"\nFORMATS = " in file.read_bytes()]
    modules = [importlib.import_module(f"{__package__}.{file.stem}") for file in files]
    every = [form for module in modules for form in getattr(module, "FORMATS", ())]
    return {form.name: form for form in sorted(every, key=lambda form: form.name)}


def check_options(options: ExportOptions) -> None:
    """Raise `UsageError` for an option of another format."""
    formats = find_formats().values()
    for option in sorted({option for form in formats for option in form.options}):
        takers = [form.name for form in formats if option in form.options]
        if getattr(options, option) and options.format not in takers:
            name = FLAGS.get(option, option.replace("_", "-"))
            raise UsageError(f"--{name} is for {listed(takers)}, and not for {options.format}; leave it out")


def write_each(options: ExportOptions, graded: Graded, make: Exporter, suffix: str) -> ExportResult:
    """Write a file for each student with a report; or the one file that is named, if there is one report."""
    to, marks = Path(options.to), graded.to_show
    if to.suffix == suffix:
        if len(marks) != 1:
            found = f"{to} is one file, and there are {plural(len(marks), 'report')}"
            raise UsageError(f"{found}; name a folder, or --student")
        return write_text(options, make(graded, marks[0]))
    to.mkdir(parents=True, exist_ok=True)
    other = sum(write_over(to / f"{mark.student}{suffix}", make(graded, mark)) for mark in marks)
    return ExportResult([f"{plural(len(marks), 'file')} in {to}{replaced(other)}"])


def each(make: Exporter, suffix: str) -> Callable[[ExportOptions, Graded], ExportResult]:
    """Return the writer of a file for each student."""
    return lambda options, graded: write_each(options, graded, make, suffix)


def write_text(options: ExportOptions, text: str) -> ExportResult:
    """Write the one file that `--to` names. Raises OSError."""
    Path(options.to).parent.mkdir(parents=True, exist_ok=True)
    other = write_over(Path(options.to), text)
    return ExportResult([f"Written: {Path(options.to)}{', which had other content' if other else ''}"])


def replaced(count: int) -> str:
    """Return how many of the files had other content before, or nothing."""
    return f", {count} of which had other content" if count else ""


def write_public(options: ExportOptions, course: Course, write: Callable[[Course, Path, Path], int]) -> ExportResult:
    """Write the files of a platform where everybody can read them: they have the student's kit, and no solution."""
    if options.kit is None:
        found = f"course export {options.format} needs --kit DIR, the kit that students have"
        raise UsageError(f"{found}; make one with course release DIR")
    to = Path(options.to)
    files = [file for file in to.rglob("*") if file.is_file() and not file.relative_to(to).parts[0].startswith(".")]
    before = {file: file.read_bytes() for file in files}
    count = write(course, options.kit, to)
    other = sum(file.read_bytes() != data for file, data in before.items())
    line = f"{plural(count, 'file')} in {options.to}{replaced(other)}; nothing of the solutions is in them"
    return ExportResult([line])


def _scores(options: ExportOptions, graded: Graded) -> ExportResult:
    reports = [mark.report for mark in graded.marks if mark.report is not None]
    times = {mark.student: mark.final.handed_in for mark in graded.marks if mark.final is not None}
    exercises = [exercise.id for exercise in graded.course.exercises]
    absent = [mark.student for mark in graded.marks if mark.report is None]
    return write_text(options, scores_csv(reports, exercises, graded.policy, times, absent))


FORMATS = (Format("scores", _scores, of_a_term=True),)
