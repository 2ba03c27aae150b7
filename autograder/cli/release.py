"""`course release`: the student's kit, with nothing of the solutions in it; refused where anything of them is."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder.answer_key.keys import Keys
from autograder.authoring.leaks import Gate, Leak, files_in, files_of
from autograder.authoring.leaks_secrets import SHORTEST_SEED, CatalogueError, StubError, grading_seed, secrets_of
from autograder.authoring.release import ReleaseError, kit_of, write_kit
from autograder.cli.waiting import Waiting
from autograder.course import Course, find_course, read_course
from autograder.course.handed_out import KEY_FOLDER, refuse_kit
from autograder.course.names import UsageError
from autograder.course.suite import load_suite
from autograder.exits import FAIL, PASS

MOST_TOLD = 20


def release(options: argparse.Namespace) -> int:
    """Run the command. Nothing is written where something must not be handed out."""
    course = read_course(find_course())
    refuse_kit(course, "release")
    try:
        gate = Gate(secrets_of(course))
        _note_seed(course)
        if options.check:
            if not options.folder.is_dir():
                raise UsageError(f"{options.folder} is no folder; give the kit that is to be looked through")
            return _told(gate.leaks(files_in(options.folder)), f"nothing of the solutions is in {options.folder}")
        suite = load_suite(course)
        waiting = Waiting(plain=options.plain)
        try:
            with Keys(suite, seed=course.seed, on_progress=waiting.on_progress) as keys:
                files = kit_of(course, suite, keys)
        finally:
            waiting.close()
        leaks = gate.leaks(files_of(files, options.folder))
        if not leaks:
            write_kit(files, options.folder)
    except (ReleaseError, StubError, CatalogueError) as error:
        raise UsageError(str(error)) from error
    return _told(leaks, _summary(files, options.folder))


def _note_seed(course: Course) -> None:
    seed = grading_seed(course)
    if seed is not None and (len(seed) < SHORTEST_SEED or seed == str(course.seed)):
        print(
            f"course: the seed of grading, {seed}, is no secret: remove .course/grading_seed, and `course grade` makes "
            "another one",
            file=sys.stderr,
        )


def _told(leaks: Sequence[Leak], otherwise: str) -> int:
    if not leaks:
        print(otherwise)
        return PASS
    for leak in leaks[:MOST_TOLD]:
        print(f"course: {leak.sentence}", file=sys.stderr)
    more = f", {len(leaks) - MOST_TOLD} of them not shown" if leaks[MOST_TOLD:] else ""
    files = "file has" if len(leaks) == 1 else "files have"
    print(f"course: {len(leaks)} {files} what students must not get{more}; take it out of there", file=sys.stderr)
    return FAIL


def _summary(files: dict[str, bytes], folder: Path) -> str:
    keys = _size(data for name, data in files.items() if name.startswith(f"{KEY_FOLDER}/"))
    return (
        f"{folder}: {len(files)} files, {_size(files.values())}, of which {keys} are the answer key; "
        "nothing of the solutions is in them. How to begin is in its README.md"
    )


def _size(parts: Iterable[bytes]) -> str:
    return f"{sum(map(len, parts)) / 1e6:.1f} MB"
