"""Prove that a mistake costs points only once: a submission with one mistake loses points in one exercise."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.grading import OnProgress, grade_each
from autograder.authoring.styles import Wrong
from autograder.course import Exercise
from autograder.course.suite import Suite


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
    programs: Iterable[Wrong],
    *,
    seed: int,
    jobs: int,
    every: int = 1,
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Losses:
    """Return what every Nth wrong program costs in the later exercises of its submission.

    One that its own exercise does not catch is not counted.
    """
    needing = _later(suite)
    followed = []
    for program in programs:
        after = [other for other in needing[program.exercise.id] if other.file in program.submission.sources]
        if after:
            followed.append((program.submission, [program.exercise, *after]))
    reports = grade_each(suite, followed[::every], seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
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


def _later(suite: Suite) -> dict[str, list[Exercise]]:
    return {
        exercise.id: [other for other in suite.exercises if exercise in suite.course.with_needs(other)[:-1]]
        for exercise in suite.exercises
    }
