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
        f"{report.submission['student']} costs {each.max_score - each.score} hundredths in {each.id}"
        for report in reports
        for each in report.exercises
        if each.score < each.max_score
    ]


def _submissions(suite: Suite) -> Iterator[tuple[Submission, list[Exercise]]]:
    """Yield the solutions with one misconception in them, and the exercises that build on its exercise."""
    course = suite.course
    solutions = {each.file: (course.solutions_dir / each.file).read_bytes() for each in course.exercises}
    for exercise in suite.exercises:
        later = [each for each in suite.exercises if each != exercise and exercise in course.with_needs(each)]
        if not later:
            continue
        text = solutions[exercise.file].decode("utf-8")
        for misconception in catalogue_of(suite, exercise):
            sources = {**solutions, exercise.file: patched(text, misconception).encode()}
            yield Submission(misconception.id, course.files, sources, digest(sources), ()), later
