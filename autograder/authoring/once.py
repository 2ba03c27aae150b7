"""Prove that a mistake costs points only once: a submission with one mistake loses points in one exercise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.grading import OnProgress, grade_each
from autograder.authoring.mutation.mutants import mutants_of
from autograder.authoring.programs import wrong_submissions
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.results import ExerciseResult
from autograder.submission import Submission
from autograder.submission.submission import digest

_Program = tuple[Submission, list[Exercise]]


@dataclass(frozen=True)
class Losses:
    """Mistakes that cost points in a later exercise: a sentence for each.

    `by_helpers` are those of programs whose later exercise uses the author's own helper of the wrong exercise. No
    reference part can replace it, so these are expected.
    """

    programs: int
    unexpected: tuple[str, ...]
    by_helpers: tuple[str, ...] = ()


def prove_once(
    suite: Suite,
    *,
    seed: int,
    jobs: int,
    every: int = 1,
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Losses:
    """Return what the misconceptions cost in later exercises, for `every` Nth of them."""
    later = _later(suite)
    programs = [(wrong, later[exercise.id]) for exercise, wrong in wrong_submissions(suite) if later[exercise.id]]
    programs = programs[::every]
    reports = grade_each(suite, programs, seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
    return _losses([report.exercises for report in reports], programs)


def prove_once_in_styles(
    suite: Suite,
    *,
    seed: int,
    jobs: int,
    every: int = 1,
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Losses:
    """Return what one change of a whole accepted course costs in later exercises, for `every` Nth change.

    A change that costs nothing in its own exercise is no mistake there, so it is not counted.
    """
    programs = list(_wrong_styles(suite))[::every]
    reports = grade_each(suite, programs, seed=seed, jobs=jobs, cache=cache, on_progress=on_progress)
    wrong = [
        (program, report.exercises[1:])
        for program, report in zip(programs, reports, strict=True)
        if report.exercises[0].score < report.exercises[0].max_score
    ]
    return _losses([later for _, later in wrong], [program for program, _ in wrong])


def _later(suite: Suite) -> dict[str, list[Exercise]]:
    return {
        exercise.id: [other for other in suite.exercises if exercise in suite.course.with_needs(other)[:-1]]
        for exercise in suite.exercises
    }


def _wrong_styles(suite: Suite) -> Iterator[_Program]:
    course, later = suite.course, _later(suite)
    for folder in sorted((course.solutions_dir / "accepted" / "whole").glob("*/")):
        own = {file: (folder / file).read_bytes() for file in course.files if (folder / file).is_file()}
        for exercise in suite.exercises:
            following = [other for other in later[exercise.id] if other.file in own]
            if exercise.file not in own or not following:
                continue
            for mutant in mutants_of(own[exercise.file].decode("utf-8"), exercise.number):
                sources = {**own, exercise.file: mutant.source.encode()}
                name = f"{folder.name}/{exercise.file}/{mutant.id}"
                yield Submission(name, course.files, sources, digest(sources), ()), [exercise, *following]


def _losses(later: Sequence[Sequence[ExerciseResult]], programs: Sequence[_Program]) -> Losses:
    unexpected: list[str] = []
    by_helpers: list[str] = []
    for (submission, _), results in zip(programs, later, strict=True):
        for result in results:
            if result.score < result.max_score:
                lost = (result.max_score - result.score) / 100
                sentence = f"the misconception {submission.student} also costs {lost:g} points in {result.id}"
                (by_helpers if result.helpers else unexpected).append(sentence)
    return Losses(len(programs), tuple(unexpected), tuple(by_helpers))
