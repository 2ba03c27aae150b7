"""The page of a misconception: what the catalogue says, and what was measured on the learner's own program."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.course import Course, Exercise
from autograder.course.misconceptions import Described, describe, nearest_ids
from autograder.course.names import UsageError
from autograder.course.nearest import unknown
from autograder.learner.progress import Progress
from autograder.learner.progress.last import read_last


def find_page(course: Course, progress: Progress, wanted: str | None) -> tuple[Described, Exercise | None]:
    """Return the page of a misconception, by default the one behind the last failure, and its exercise.

    The correct lines are on it only if the learner has passed the exercise. Raises `UsageError` if there is no page.
    """
    page = _find(course, progress, wanted or _last_misconception(course, progress))
    exercise = next((exercise for exercise in course.exercises if exercise.id == page.exercise), None)
    if exercise is None or not progress.of(exercise).ever_passed:
        page = replace(page, right=())
    return page, exercise


def _find(course: Course, progress: Progress, wanted: str) -> Described:
    reports = (_from_last_report(course, progress, exercise, wanted) for exercise in course.exercises)
    own = next((page for page in reports if page), None)
    page = describe(course, wanted)
    if page is not None:
        return replace(page, experiment=page.experiment or (own.experiment if own else ""))
    if own is not None:
        return own
    near = nearest_ids(course, wanted)
    raise UsageError(unknown("misconception", wanted, near, more="" if near else "Use the id that a failure shows."))


def _last_misconception(course: Course, progress: Progress) -> str:
    """Return the id of the misconception behind the last failure."""
    exercise = progress.current(course)
    last = read_last(course, exercise) if exercise else None
    failure = last.failure if last else None
    if exercise is None or failure is None:
        number = f" {exercise.number}" if exercise else ""
        raise UsageError(f"there is no failure to explain: run `course check{number}`, or name a misconception")
    finding = failure.get("finding") or {}
    if finding.get("kind") != "misconception":
        raise UsageError(
            f"the last failure of {exercise.id} is no misconception of the catalogue: "
            f"`course diff {exercise.number}` shows every measurement"
        )
    return str(finding["id"])


def _from_last_report(course: Course, progress: Progress, exercise: Exercise, wanted: str) -> Described | None:
    """Return what the last report on an exercise says of a misconception: a kit may have no catalogue."""
    if progress.of(exercise).finding != wanted:
        return None  # reports are large: open only the one that names it
    last = read_last(course, exercise)
    failure: Mapping[str, Any] | None = last.failure if last else None
    finding = (failure or {}).get("finding") or {}
    if failure is None or finding.get("kind") != "misconception" or finding.get("id") != wanted:
        return None
    hints = failure.get("hints") or [""]
    return Described(
        id=wanted,
        exercise=exercise.id,
        name=str(finding.get("name") or finding.get("message")),
        explanation=str(finding.get("detail") or finding.get("message")),
        hint=str(hints[0]),
        experiment=_experiment(exercise, finding),
    )


def _experiment(exercise: Exercise, finding: Mapping[str, Any]) -> str:
    """Return what was measured on the learner's own program."""
    witnesses = (finding.get("evidence") or {}).get("witnesses") or []
    if not witnesses:
        return f"course diff {exercise.number} shows what your program returned."
    at, expected, yours = witnesses[0]
    return f"At {at} your program returned {yours}, expected {expected}; course diff {exercise.number} shows more."
