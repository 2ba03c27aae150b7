"""`course build`: the stubs, made from the solutions."""

import argparse

from autograder.authoring.stubs import StubError, stale_stubs
from autograder.cli.exits import FAIL, PASS
from autograder.course import find_course, read_course
from autograder.course.names import UsageError
from autograder.progress import write_whole


def build(options: argparse.Namespace) -> int:
    """Run the command. A stub that somebody edited is written over only with `--force`."""
    course = read_course(find_course())
    try:
        stale = stale_stubs(course)
    except (StubError, OSError) as error:
        raise UsageError(str(error)) from error
    if not stale:
        print(f"{len(course.exercises)} stubs are up to date")
        return PASS
    names = ", ".join(file.name for file in stale)
    if options.check:
        print(f"stale: {names}; run `course build --force`")
        return FAIL
    edited = [file for file in stale if file.exists()]
    if edited and not options.force:
        named = ", ".join(file.name for file in edited)
        raise UsageError(f"{named} differ from what the solutions give: --force writes over them")
    course.exercises_dir.mkdir(exist_ok=True)
    for file, text in stale.items():
        write_whole(file, text)
    print(f"made {names}")
    return PASS
