"""Start the sandbox of `course grade` early: it loads libraries while this process imports its own modules."""

import argparse
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext


def grade(options: argparse.Namespace) -> int:
    """Run the command. The sandbox starts first, if it will be used for sure."""
    with _sandbox(options):
        from .grade import grade as run

        return run(options)


def _sandbox(options: argparse.Namespace) -> AbstractContextManager[None]:
    elsewhere = options.isolation != "sandbox" or options.sandbox or options.scheduler or options.device != "cpu"
    if elsewhere or not sys.platform.startswith("linux") or shutil.which("bwrap") is None:
        return nullcontext()
    if not options.folder.exists() or (options.out / "reports").exists():  # a second run may have nothing to grade
        return nullcontext()
    from autograder.sandbox import Launch, prestarted_zygote

    return prestarted_zygote(Launch(outer=True, libraries=_libraries(options)))


def _libraries(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the libraries of the course; none if the command is about to refuse it."""
    from autograder.course import CourseError, find_course, read_course

    try:
        return read_course(find_course(options.course)).libraries
    except CourseError:
        return ()
