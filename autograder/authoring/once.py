"""Prove that a mistake costs points only once: a submission with one misconception loses points in one exercise."""

from pathlib import Path

from autograder.authoring.grading import OnProgress, grade_each
from autograder.authoring.programs import wrong_submissions
from autograder.course.suite import Suite


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
    later = {
        exercise.id: [other for other in suite.exercises if exercise in suite.course.with_needs(other)[:-1]]
        for exercise in suite.exercises
    }
    programs = [(wrong, later[exercise.id]) for exercise, wrong in wrong_submissions(suite) if later[exercise.id]]
    reports = grade_each(suite, programs[::every], seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
    return [
        f"the misconception {report.submission['student']} also costs "
        f"{(exercise.max_score - exercise.score) / 100:g} points in {exercise.id}"
        for report in reports
        for exercise in report.exercises
        if exercise.score < exercise.max_score
    ]
