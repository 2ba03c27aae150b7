"""Make the stubs, notebooks and reference parts from their sources.

It makes the files that are missing. It replaces one that differs only if you say --force.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.answer_key import CatalogueError, read_catalogue
from autograder.cli import CommandParser, say, warn
from autograder.course import (
    COURSE_FILE,
    Course,
    Exercise,
    StubError,
    UsageError,
    find_course,
    left_out,
    load_suite,
    make_stub,
    read_course,
    read_text,
    refuse_kit,
    require_texts,
    resolve_exercise,
    write_atomically,
)
from autograder.ending import FAIL, PASS
from autograder.report import plural
from autograder.results import joined
from autograder.submission import notebook_file, notebook_of_text

from .naming import with_patches
from .oversights import made_leftovers, stale_stubs
from .reference_parts import PartError, stale_parts

# Find the stubs, notebooks and reference parts that no longer match their sources, and write them.


@dataclass(frozen=True)
class StaleFiles:
    """The stale files with their new texts: those that are handed out, and the reference parts."""

    handed_out: Mapping[Path, str]
    parts: Mapping[Path, str]

    @property
    def names(self) -> list[str]:
        return [file.name for file in (*self.handed_out, *self.parts)]

    @property
    def missing(self) -> list[str]:
        """The names of the files that plain `course build` makes: those that do not exist, and the reference parts."""
        return [file.name for file in (*self.new, *self.parts)]

    @property
    def new(self) -> dict[Path, str]:
        """The files that do not exist yet."""
        return {file: text for file, text in self.handed_out.items() if not file.exists()}

    @property
    def edited(self) -> list[Path]:
        """The files that exist: somebody may have edited them."""
        return [file for file in self.handed_out if file.exists()]


def find_stale(course: Course, exercises: Sequence[Exercise] | None = None, *, write_parts: bool) -> StaleFiles:
    """Return what is stale, of all exercises or of some. With `write_parts`, the reference parts are written first.

    Raises `UsageError` if a source is missing or has a mistake.
    """
    try:
        parts = stale_parts(course, exercises)
        if write_parts:
            write_files(parts)  # first: a suite with a part of an older format cannot be loaded
        drawing = [exercise for exercise, drawings in load_suite(course, exercises).pictures.items() if drawings]
        return StaleFiles({**stale_stubs(course, exercises), **stale_notebooks(course, drawing, exercises)}, parts)
    except (StubError, PartError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be read ({error.strerror}); put it there, then build again"
        ) from error


def stale_notebooks(
    course: Course, drawing: Sequence[str], exercises: Sequence[Exercise] | None = None
) -> dict[Path, str]:
    """Return the content of the notebooks that are out of date, by file; of all exercises, or of some.

    `drawing` are the ids of the exercises that have pictures.
    """
    stale = {}
    for exercise in course.exercises if exercises is None else exercises:
        solution = (course.solutions_dir / exercise.file).read_text("utf-8")
        book = notebook_of_text(make_stub(solution, exercise), exercise, draws=exercise.id in drawing)
        file = notebook_file(course, exercise)
        if not file.is_file() or file.read_text("utf-8") != book:
            stale[file] = book
    return stale


def write_files(files: Mapping[Path, str]) -> None:
    """Write each file whole, with its folder. Raises OSError."""
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text)


# The command.


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("exercises", nargs="*", metavar="EX", help=f"{parser.exercise} (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; list stale files, and exit with 1 if any")
    parser.add_argument("--force", action="store_true", help="replace files that were edited")
    does = "rewrite first the patches of misconceptions that a reworded solution has in other words"
    parser.add_argument("--repair", action="store_true", help=does)


def run(options: argparse.Namespace) -> int:
    """Run the command. Only `--force` replaces a stub or a notebook that exists; missing ones are always written."""
    course = read_course(find_course())
    refuse_kit(course, "build")
    warn(left_out(course))
    named = [resolve_exercise(course, word) for word in options.exercises]
    exercises = [exercise for exercise in course.exercises if not named or exercise in named]
    require_texts(course, exercises)
    if options.repair:
        if options.check:
            raise UsageError("--check writes nothing, and --repair rewrites patches; leave one of them out")
        for exercise in exercises:
            repair(course, exercise)
    stale = find_stale(course, exercises if named else None, write_parts=not options.check)
    left_over = [] if named else made_leftovers(course)
    if left_over:
        warn(
            f"{', '.join(left_over)}: of no exercise in {COURSE_FILE}; remove {'it' if len(left_over) == 1 else 'them'}"
        )
    if not stale.names:
        if left_over and options.check:
            return FAIL
        say(f"{_contents(course, exercises)} are up to date")
        return PASS
    if options.check:
        if stale.missing:
            say(f"missing or old: {', '.join(stale.missing)}; run `{_command(named)}`")
        if stale.edited:
            say(f"stale: {', '.join(_names(stale.edited))}; run `{_command(named)} --force`")
        return FAIL
    written, left = (stale.handed_out, []) if options.force else (stale.new, stale.edited)
    write_files(written)
    if written or stale.parts:
        say(f"made {', '.join(_names((*written, *stale.parts)))}")
    if left:
        names = ", ".join(_names(left))
        differs, them = ("differs", "it") if len(left) == 1 else ("differ", "them")
        given = "what the solutions give"
        raise UsageError(f"{names} {differs} from {given}: `{_command(named)} --force` replaces {them}")
    return PASS


def repair(course: Course, exercise: Exercise) -> None:
    """Rewrite the patches of an exercise that its solution has in other words, and say which.

    Those that have no place stay: `course validate` names them.
    """
    file = course.catalogue_file(exercise)
    try:
        entries = read_catalogue(file, read_text(course.solutions_dir / exercise.file), unfit=[])
    except CatalogueError as error:
        raise UsageError(str(error)) from error
    moved = [entry for entry in entries if entry.moved]
    if moved:
        text = read_text(file)
        for entry in moved:
            text = with_patches(text, entry.id, entry.patches)
        write_atomically(file, text)
        say(f"rewrote in {file.relative_to(course.root)}: {', '.join(entry.id for entry in moved)}")


def _command(named: Sequence[Exercise]) -> str:
    return " ".join(["course build", *(exercise.number for exercise in named)])


def _names(files: Iterable[Path]) -> list[str]:
    return [file.name for file in files]


def _contents(course: Course, exercises: Sequence[Exercise]) -> str:
    count = len(exercises)
    parts = [exercise for exercise in exercises if (course.reference_parts_dir / f"{exercise.id}.json").is_file()]
    kinds = [plural(count, "stub"), plural(count, "notebook")]
    return joined([*kinds, plural(len(parts), "reference part")] if parts else kinds)
