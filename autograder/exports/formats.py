"""What a format of `course export` is: a platform's module lists its own in `FORMATS`, and the command finds them."""

import importlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autograder.answer_key import file_digest, read_manifest
from autograder.course import MANIFEST, Course, UsageError, is_kit, read_course, write_atomically
from autograder.gradebook import Exporter, ExportError, Graded, scores_csv
from autograder.report import plural
from autograder.results import joined
from autograder.submission import printable


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
            raise UsageError(f"--{name} is for {joined(takers)}, and not for {options.format}; leave it out")


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


def write_over(file: Path, content: str | bytes) -> bool:
    """Write a file atomically, and return whether it had other content before. Raises OSError."""
    data = content.encode() if isinstance(content, str) else content
    other = file.is_file() and file.read_bytes() != data
    write_atomically(file, data)
    return other


def write_text(options: ExportOptions, text: str) -> ExportResult:
    """Write the one file that `--to` names. Raises OSError."""
    Path(options.to).parent.mkdir(parents=True, exist_ok=True)
    other = write_over(Path(options.to), text)
    return ExportResult([f"Written: {Path(options.to)}{', which had other content' if other else ''}"])


def replaced(count: int) -> str:
    """Return how many of the files had other content before, or nothing."""
    return f", {count} of which had other content" if count else ""


TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
"""An index with builds of torch without CUDA: they save gigabytes."""

# The student's kit, and scripts, for platforms that grade where everybody can read: nothing else may be in them.

MEGABYTE = 1 << 20


def public_kit(course: Course, kit: Path) -> dict[str, bytes]:
    """Return the files of a kit by their paths below `kit/`. Raises `ExportError` if it is no unchanged kit, or leaks.

    What was put beside the files of the release is left out.
    """
    where = printable(kit)
    if not (kit / "course.toml").is_file() or not is_kit(read := read_course(kit)):
        raise ExportError(f"{where} is not a kit, expected a folder that course release wrote")
    if {exercise.id for exercise in read.exercises} - {exercise.id for exercise in course.every}:
        raise ExportError(f"{where} is the kit of another course, expected one of {course.title}")
    files = {f"kit/{MANIFEST}": (kit / MANIFEST).read_bytes()}
    for name, digest in read_manifest(kit).files.items():
        file = kit / name
        data = file.read_bytes() if file.is_file() else b""
        if file_digest(data) != digest:
            raise ExportError(f"{where}/{printable(name)} is missing or changed; run course release into a new folder")
        files[f"kit/{name}"] = data
    from autograder.authoring import examine_kit  # an application beside this one

    leaks = [leak for leak in examine_kit(course, kit) if f"kit/{leak.file}" in files]
    if leaks:
        raise ExportError(f"{leaks[0].sentence}; nothing was written")
    return files


def write_files(to: Path, files: Mapping[str, bytes | str], most: int | None = None) -> int:
    """Write files below a folder, each atomically, and return their number. Scripts can be run.

    Raises `ExportError` if they are larger than `most` bytes when packed, or `to` is a file; and OSError.
    """
    if to.exists() and not to.is_dir():
        raise ExportError(f"{printable(to)} is a file, expected a folder; name another one")
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    size = sum(len(zlib.compress(data)) for data in contents.values())
    if most is not None and size > most:
        found = f"the files have {size / MEGABYTE:.1f} MB when packed, and the platform takes {most / MEGABYTE:g} MB"
        raise ExportError(f"{found}; release a part of the course with course release --take")
    for name, data in contents.items():
        file = to / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, data, mode=0o755 if name.endswith(".sh") else 0o644)
    return len(contents)


# The scripts and configurations that platforms run, each in a file of its own in scripts/.

_FOLDER = Path(__file__).parent / "scripts"


def script(name: str) -> str:
    """Return the text of a file in scripts/."""
    return (_FOLDER / name).read_text("utf-8")


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
