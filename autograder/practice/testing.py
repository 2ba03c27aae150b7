"""Test the tests of a learner: they must pass every right program, and fail as many wrong ones as they can."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder import ending
from autograder.course import Course, Exercise, HuntFile, UsageError, describe, make_folder, read_text, write_atomically
from autograder.protocol import outline_of

from .hunting import HUNT_FOLDER, MOST_BYTES

PACKAGE = Path(__file__).parents[2]

TEMPLATE = '''\
"""Tests of {id}. Each gets a program as a module, and fails with an assert. Which wrong programs do they find?"""

import torch


def test_something(module):
    # result = module.NAME(...)
    # assert result.shape == (2, 3)
    pass
'''


@dataclass(frozen=True)
class Caught:
    """How many of the wrong programs with a misconception the tests find."""

    misconception: str
    name: str
    found: int
    programs: int


@dataclass(frozen=True)
class TestScore:
    """What tests find. `unfair` has the tests that fail a right program: the program and the text of the exception.

    They do not count. `problem` says why no test could run.
    """

    tests: tuple[str, ...]
    right: int
    unfair: dict[str, tuple[str, str]]
    caught: tuple[Caught, ...]
    problem: str = ""

    @property
    def found_programs(self) -> int:
        """The number of wrong programs that the tests find."""
        return sum(one.found for one in self.caught)

    @property
    def programs(self) -> int:
        """The number of wrong programs."""
        return sum(one.programs for one in self.caught)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of `course hunt --tests`."""
        return {**asdict(self), "found": self.found_programs, "programs": self.programs}


def tests_file(course: Course, exercise: Exercise) -> Path:
    """Return the file of the learner's tests of an exercise."""
    return course.root / HUNT_FOLDER / f"test_{exercise.file}"


def write_template(course: Course, exercise: Exercise) -> Path | None:
    """Write a file to begin with, and return it; None if there is one."""
    file = tests_file(course, exercise)
    make_folder(file.parent, below=course.root)
    if os.path.lexists(file):
        return None
    write_atomically(file, TEMPLATE.format(id=exercise.id), below=course.root)
    return file


def score_tests(
    course: Course, exercise: Exercise, programs: HuntFile, on_progress: Callable[[int, int], None]
) -> TestScore:
    """Run the learner's tests on all programs, each in a process of its own with the learner's rights.

    `on_progress(done, total)` is called for each program. Raises `UsageError` if the tests cannot be read.
    """
    text = _read(course, tests_file(course, exercise))
    names = tuple(function.name for function in outline_of(text).functions if function.name.startswith("test_"))
    if not names:
        raise UsageError(f"{HUNT_FOLDER}/test_{exercise.file} has no function whose name begins with test_")
    sources = [*programs.right.values(), *(hunt.source for hunt in programs.hunts)]
    failed = _run(course, exercise, text, sources, on_progress)
    problem = next((one[""] for one in failed[: len(programs.right)] if "" in one), "")
    unfair: dict[str, tuple[str, str]] = {}
    for program, one in zip(programs.right, failed, strict=False):
        for name, error in one.items():
            if name:
                unfair.setdefault(name, (program, error))
    found: dict[str, list[bool]] = {}
    for hunt, one in zip(programs.hunts, failed[len(programs.right) :], strict=True):
        found.setdefault(hunt.misconception, []).append(bool(set(one) - set(unfair)) and not problem)
    caught = [_caught(course, name, results) for name, results in sorted(found.items())]
    return TestScore(names, len(programs.right), unfair, tuple(caught), problem)


def _caught(course: Course, misconception: str, results: Sequence[bool]) -> Caught:
    known = describe(course, misconception)
    return Caught(misconception, known.name if known else misconception, sum(results), len(results))


def _read(course: Course, file: Path) -> str:
    try:
        text = read_text(file, MOST_BYTES, below=course.root)
        compile(text, file.name, "exec", dont_inherit=True)
    except OSError as error:
        raise UsageError(f"{HUNT_FOLDER}/{file.name} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"{HUNT_FOLDER}/{file.name} cannot be read: {error}") from None
    except SyntaxError as error:
        raise UsageError(f"{HUNT_FOLDER}/{file.name}, line {error.lineno}: {error.msg}") from None
    return text


def _run(
    course: Course, exercise: Exercise, text: str, sources: Sequence[str], on_progress: Callable[[int, int], None]
) -> list[dict[str, str]]:
    """Return for each program which tests fail on it. Earlier exercises come from the solutions, or are your own."""
    needed = course.solutions_dir if course.solutions_dir.is_dir() else course.exercises_dir
    request = {"path": [str(needed)], "libraries": course.libraries, "module": exercise.id, "tests": text}
    process = ending.started(
        lambda: subprocess.Popen(
            [sys.executable, "-m", "autograder.practice.trials"],
            env={**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
    )
    failed: list[dict[str, str]] = []
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({**request, "programs": sources}))
        process.stdin.close()
        for line in process.stdout:
            failed.append(json.loads(line))
            on_progress(len(failed), len(sources))
        process.stdout.close()
        process.wait()
    finally:
        process.kill()
        ending.forget(process)
    if len(failed) < len(sources):
        raise UsageError("the process that runs your tests ended too early; look at its message above")
    return failed
