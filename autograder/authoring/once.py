"""Prove that a mistake costs points only once: a submission with one mistake loses points in one exercise."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.grading import OnProgress, grade_each
from autograder.authoring.programs import WHOLE, wrong_submissions
from autograder.authoring.styles import wrong_programs
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.submission import Submission


@dataclass(frozen=True)
class Losses:
    """What mistakes cost in later exercises: a sentence for each exercise that lost points.

    `by_helpers` are those of an exercise that uses more of the wrong one than its reference part replaces.
    """

    mistakes: int
    unexpected: tuple[str, ...]
    by_helpers: tuple[str, ...]


def prove_once(
    suite: Suite,
    *,
    seed: int,
    jobs: int,
    every: int = 1,
    in_styles: bool = False,
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Losses:
    """Return what every Nth misconception costs in later exercises.

    With `in_styles`, the mistakes are changes of whole accepted courses. One that its own exercise does not catch is
    not counted.
    """
    programs = list(_in_styles(suite) if in_styles else _misconceptions(suite))[::every]
    reports = grade_each(suite, programs, seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
    mistakes = 0
    unexpected: list[str] = []
    by_helpers: list[str] = []
    for report in reports:
        own, *later = report.exercises
        if all(check.status == "pass" for check in own.checks):
            continue
        mistakes += 1
        for exercise in later:
            if exercise.score < exercise.max_score:
                lost = (exercise.max_score - exercise.score) / 100
                sentence = f"the mistake {report.submission['student']} also costs {lost:g} points in {exercise.id}"
                (by_helpers if exercise.helpers else unexpected).append(sentence)
    return Losses(mistakes, tuple(unexpected), tuple(by_helpers))


def _misconceptions(suite: Suite) -> Iterator[tuple[Submission, list[Exercise]]]:
    later = _later(suite)
    for exercise, wrong in wrong_submissions(suite):
        if later[exercise.id]:
            yield wrong, [exercise, *later[exercise.id]]


def _in_styles(suite: Suite) -> Iterator[tuple[Submission, list[Exercise]]]:
    later = _later(suite)
    for program in wrong_programs(suite, variants=WHOLE):
        sources = program.submission.sources
        if following := [other for other in later[program.exercise.id] if other.file in sources]:
            yield program.submission, [program.exercise, *following]


def _later(suite: Suite) -> dict[str, list[Exercise]]:
    return {
        exercise.id: [other for other in suite.exercises if exercise in suite.course.with_needs(other)[:-1]]
        for exercise in suite.exercises
    }
