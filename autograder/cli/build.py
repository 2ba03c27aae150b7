"""`course build`: the stubs and the notebooks, made from the solutions."""

import argparse

from autograder.authoring.notebooks import stale_notebooks
from autograder.authoring.stubs import StubError, stale_stubs
from autograder.cli.exits import FAIL, PASS
from autograder.course import find_course, read_course
from autograder.course.handed_out import refuse_kit
from autograder.course.names import UsageError
from autograder.judge.suite import load_suite
from autograder.progress import write_whole
from autograder.report.words import plural


def build(options: argparse.Namespace) -> int:
    """Run the command. A stub or a notebook that somebody edited is written over only with `--force`."""
    course = read_course(find_course())
    refuse_kit(course, "build")
    drawing = [name for name, drawings in load_suite(course).pictures.items() if drawings]
    try:
        stale = {**stale_stubs(course), **stale_notebooks(course, drawing)}
    except StubError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(
            f"{error.filename} cannot be read ({error.strerror}); put it there, then build again"
        ) from error
    if not stale:
        count = len(course.exercises)
        print(f"{plural(count, 'stub')} and {plural(count, 'notebook')} are up to date")
        return PASS
    names = ", ".join(file.name for file in stale)
    if options.check:
        print(f"stale: {names}; run `course build --force`")
        return FAIL
    edited = [file for file in stale if file.exists()]
    if edited and not options.force:
        named = ", ".join(file.name for file in edited)
        raise UsageError(f"{named} differ from what the solutions give: --force writes over them")
    for file, text in stale.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    print(f"made {names}")
    return PASS
