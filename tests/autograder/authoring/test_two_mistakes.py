"""Whole courses with two mistakes each, written by somebody who had not seen the catalogue: both cost points, no more.

Every fourth is graded, without the catalogue, whose programs take minutes to run once. All of them, with their names:

    TWO_MISTAKES=all pytest tests/autograder/authoring/test_two_mistakes.py
"""

import os
import shutil
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.course import Suite, load_suite, read_course, taking
from autograder.judge import Grader
from autograder.results import Report
from autograder.runner import Runner
from autograder.submission import Submission, digest

COURSE = taking(read_course(Path(__file__).parents[3]), ["one"])
SOLUTIONS = COURSE.solutions_dir
STYLES = {"solutions": SOLUTIONS, **{file.name: file for file in (SOLUTIONS / "accepted" / "whole").iterdir()}}
ALL = os.environ.get("TWO_MISTAKES") == "all"


@dataclass(frozen=True)
class Mistake:
    """One fault in one file, `wrong` in a sentence; `named` is the misconception it is, if the catalogue has it."""

    exercise: str
    wrong: str
    find: str
    replace: str
    named: str | None = None


@dataclass(frozen=True)
class TwoMistakes:
    """A right course in one of the accepted styles, but for two mistakes in two of its exercises."""

    id: str
    base: str
    mistakes: tuple[Mistake, ...]

    def submission(self) -> Submission:
        """Return its files, each mistake in its place."""
        sources = {file: (STYLES[self.base] / file).read_bytes() for file in COURSE.files}
        for mistake in self.mistakes:
            file = COURSE.exercise(mistake.exercise).file
            text = sources[file].decode("utf-8")
            assert text.count(mistake.find) == 1, f"{file} of {self.base}: {mistake.find!r}"
            sources[file] = text.replace(mistake.find, mistake.replace).encode("utf-8")
        return Submission(self.id, COURSE.files, sources, digest(sources), ())


def read_all() -> Iterator[TwoMistakes]:
    """Yield what the folder beside this file holds, a file for each style."""
    for file in sorted((Path(__file__).parent / "two_mistakes").glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        for submission in table["submissions"]:
            yield TwoMistakes(
                submission["id"], table["base"], tuple(Mistake(**mistake) for mistake in submission["mistakes"])
            )


COURSES = tuple(read_all())


def without_catalogues(suite: Suite, root: Path) -> Suite:
    """Return the suite on a copy of its course in which no misconception is known."""
    shutil.copyfile(COURSE.root / "course.toml", root / "course.toml")
    shutil.copytree(SOLUTIONS, root / "solutions", ignore=shutil.ignore_patterns("misconceptions", "accepted", "__*"))
    return replace(suite, course=replace(COURSE, root=root))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Submission], Report]]:
    """One grader and one worker for all of them."""
    suite = load_suite(COURSE)
    if not ALL:
        suite = without_catalogues(suite, tmp_path_factory.mktemp("course"))
    with Runner(suite, seed=COURSE.seed, shared=True) as runner, Grader(suite, seed=COURSE.seed) as grader:
        yield lambda submission: grader.report(submission, suite.exercises, runner)


@pytest.mark.worker
@pytest.mark.parametrize(
    "wrong",
    [
        COURSES[0],
        *(pytest.param(course, marks=pytest.mark.slow) for course in COURSES[1 if ALL else 4 :: 1 if ALL else 4]),
    ],
    ids=lambda wrong: wrong.id,
)
def test_two_mistakes_cost_points_in_their_exercises_and_in_no_other(
    graded: Callable[[Submission], Report], wrong: TwoMistakes
) -> None:
    results = {exercise.id: exercise for exercise in graded(wrong.submission()).exercises}
    failing = {id_ for id_, result in results.items() if result.status != "pass"}
    assert failing == {mistake.exercise for mistake in wrong.mistakes}
    for mistake in wrong.mistakes:
        found = [check.finding for check in results[mistake.exercise].checks if check.status != "pass"]
        assert all(finding is not None for finding in found), "a lost check has no finding"
        names = {finding.id for finding in found if finding is not None and finding.kind == "misconception"}
        assert names == ({mistake.named} if ALL and mistake.named else set())


def test_every_exercise_and_every_style_has_its_share() -> None:
    assert {mistake.exercise for course in COURSES for mistake in course.mistakes} == {*COURSE.parts[0].exercises}
    styles = ("solutions", "einsum_style", "fused_style", "plain_style")
    assert Counter(course.base for course in COURSES) == dict.fromkeys(styles, 5)
    for course in COURSES:
        course.submission()
