"""`course build`: the stubs and notebooks, made from the solutions, and the reference parts, from their sources."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from autograder.authoring.notebooks import stale_notebooks
from autograder.authoring.parts import PartError, stale_parts
from autograder.course import find_course, read_course
from autograder.course.handed_out import refuse_kit
from autograder.course.names import UsageError
from autograder.course.stubs import StubError, stale_stubs
from autograder.course.suite import load_suite
from autograder.exits import FAIL, PASS
from autograder.learner.progress import write_whole
from autograder.report.words import listed, plural


def build(options: argparse.Namespace) -> int:
    """Run the command. A stub or a notebook that somebody edited is written over only with `--force`."""
    course = read_course(find_course())
    refuse_kit(course, "build")
    try:
        parts = stale_parts(course)
        if not options.check:
            _write(parts)  # first: a suite with a part of another format cannot be loaded
        drawing = [name for name, drawings in load_suite(course).pictures.items() if drawings]
        handed_out = {**stale_stubs(course), **stale_notebooks(course, drawing)}
    except (StubError, PartError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be read ({error.strerror}); put it there, then build again"
        ) from error
    stale = {**handed_out, **parts}
    if not stale:
        count, others = len(course.exercises), len([*course.reference_parts_dir.glob("*.json")])
        made = [
            plural(count, "stub"),
            plural(count, "notebook"),
            *([plural(others, "reference part")] if others else []),
        ]
        print(f"{listed(made)} are up to date")
        return PASS
    names = ", ".join(file.name for file in stale)
    if options.check:
        print(f"stale: {names}; run `course build --force`")
        return FAIL
    edited = [file for file in handed_out if file.exists()]
    if edited and not options.force:
        named = ", ".join(file.name for file in edited)
        raise UsageError(f"{named} differ from what the solutions give: --force writes over them")
    _write(handed_out)
    print(f"made {names}")
    return PASS


def _write(files: Mapping[Path, str]) -> None:
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
