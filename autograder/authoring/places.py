"""Measure locations: how many findings point to the faulty line of a misconception, or to the next statement."""

import ast
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from autograder.authoring.grading import OnProgress, grade_each
from autograder.authoring.programs import wrong_submissions
from autograder.course import Exercise
from autograder.course.suite import Suite, load_suite
from autograder.protocol.statements import statements
from autograder.results import ExerciseResult
from autograder.submission import Submission

Placed = Literal["right", "elsewhere", "nowhere"]


def measure_locations(
    suite: Suite,
    *,
    seed: int,
    jobs: int,
    every: int = 1,
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Counter[Placed]:
    """Return how many misconceptions, of `every` Nth one, have the right location in their first failure."""
    wrong = list(wrong_submissions(suite))[::every]
    programs = [(submission, [exercise]) for exercise, submission in wrong]
    needed = {other.id for exercise in suite.exercises for other in suite.course.with_needs(exercise)}
    whole = load_suite(suite.course, [exercise for exercise in suite.course.exercises if exercise.id in needed])
    reports = grade_each(whole, programs, seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
    solutions = {
        exercise.file: (suite.course.solutions_dir / exercise.file).read_text("utf-8") for exercise in suite.exercises
    }
    return Counter(
        _placed(report.exercises[0], exercise, faulty_lines(solutions[exercise.file], _text(submission, exercise)))
        for report, (exercise, submission) in zip(reports, wrong, strict=True)
    )


def _text(submission: Submission, exercise: Exercise) -> str:
    return submission.sources[exercise.file].decode("utf-8")


def _placed(result: ExerciseResult, exercise: Exercise, faulty: frozenset[int]) -> Placed:
    failure = result.first_failure
    place = failure.finding.place if failure is not None and failure.finding is not None else None
    if place is None:
        return "nowhere"
    return "right" if place.file == exercise.file and place.line in faulty else "elsewhere"


def faulty_lines(solution: str, wrong: str) -> frozenset[int]:
    """Return the right locations in a wrong program: its changed lines, and the next statement.

    The next statement counts, since a removed line has no line of its own. A changed line inside a statement also
    counts for the first line of that statement.
    """
    spans = [(first, last) for _, first, last in statements(ast.parse(wrong))]
    changed = list(_changed(solution.splitlines(), wrong.splitlines(), [first for first, _ in spans]))
    return frozenset(changed + [first for first, last in spans if any(first <= line <= last for line in changed)])


def _changed(right: list[str], wrong: list[str], starts: list[int]) -> Iterator[int]:
    for kind, _, _, first, last in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from range(first + 1, last + 1)
            yield next((start for start in starts if start > last), last)
