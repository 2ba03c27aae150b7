"""Find the stubs, notebooks and reference parts that no longer match their sources, and write them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course import (
    Course,
    Exercise,
    StubError,
    UsageError,
    load_suite,
    stale_stubs,
    write_atomically,
)
from autograder.submission import stale_notebooks

from .reference_parts import PartError, stale_parts


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


def write_files(files: Mapping[Path, str]) -> None:
    """Write each file whole, with its folder. Raises OSError."""
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text)
