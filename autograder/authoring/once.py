"""Proves that one mistake costs its points once: a submission that is right but for one misconception loses points in
the exercise that holds it, and in no other."""

from collections.abc import Iterator
from pathlib import Path

from autograder.answer_key.catalogue import patched
from autograder.authoring.grading import Told, grade_each
from autograder.authoring.validate import catalogue_of
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.submission import Submission
from autograder.submission.submission import digest


def prove_once(
    suite: Suite,
    *,
    seed: int,
    jobs: int,
    every: int = 1,
    cache: Path | None = None,
    on_progress: Told = lambda *_: None,
) -> list[str]:
    """Return a sentence for each misconception that costs points in a later exercise, trying every Nth of them.

    `on_progress` hears of the progress.
    """
    programs = list(_submissions(suite))[::every]
    reports = grade_each(suite, programs, seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
    return [
        f"{report.submission['student']} costs {exercise.max_score - exercise.score} hundredths in {exercise.id}"
        for report in reports
        for exercise in report.exercises
        if exercise.score < exercise.max_score
    ]


def _submissions(suite: Suite) -> Iterator[tuple[Submission, list[Exercise]]]:
    """Yield the solutions with one misconception in them, and the exercises that build on its exercise."""
    course = suite.course
    solutions = {exercise.file: (course.solutions_dir / exercise.file).read_bytes() for exercise in course.exercises}
    for exercise in suite.exercises:
        later = [other for other in suite.exercises if other != exercise and exercise in course.with_needs(other)]
        if not later:
            continue
        text = solutions[exercise.file].decode("utf-8")
        for misconception in catalogue_of(suite, exercise):
            sources = {**solutions, exercise.file: patched(text, misconception).encode()}
            yield Submission(misconception.id, course.files, sources, digest(sources), ()), later
