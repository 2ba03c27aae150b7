"""Prove that a mistake costs points only once: a submission with one misconception loses points in one exercise."""

from collections.abc import Iterator
from pathlib import Path

from autograder.answer_key.catalogue import patched
from autograder.authoring.grading import OnProgress, grade_each
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
    on_progress: OnProgress = lambda *_: None,
) -> list[str]:
    """Return a sentence for each misconception that costs points in a later exercise, of `every` Nth one."""
    programs = list(_submissions(suite))[::every]
    reports = grade_each(suite, programs, seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
    return [
        f"the misconception {report.submission['student']} also costs "
        f"{(exercise.max_score - exercise.score) / 100:g} points in {exercise.id}"
        for report in reports
        for exercise in report.exercises
        if exercise.score < exercise.max_score
    ]


def _submissions(suite: Suite) -> Iterator[tuple[Submission, list[Exercise]]]:
    """Yield the solutions with one misconception, and the exercises that need its exercise."""
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
