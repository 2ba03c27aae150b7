"""The page of a misconception: what the catalogue says, and what was measured on the learner's own program."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.course import Course, Exercise
from autograder.course.misconceptions import Described, describe, nearest_ids
from autograder.course.names import UsageError, is_number, resolve_exercise
from autograder.course.nearest import unknown
from autograder.learner.progress import Progress
from autograder.learner.progress.last import read_last
from autograder.results.model import KNOWN_AS
from autograder.submission.own_work import is_missing, missing_sentence


def find_page(course: Course, progress: Progress, wanted: str | None) -> tuple[Described, Exercise | None]:
    """Return the page of a misconception, by default the one behind the last failure, and its exercise.

    `wanted` is its id, or an exercise: then it is the one behind the last failure of that exercise. The correct lines
    are on it only if the learner has passed the exercise. The wrong line is that of the learner's own last failure: the
    catalogue's is a line that nobody wrote. Raises `UsageError` if there is no page.
    """
    page = _find(course, progress, _meant(course, progress, wanted))
    exercise = next((exercise for exercise in course.exercises if exercise.id == page.exercise), None)
    if exercise is None or not progress.of(exercise).ever_passed:
        page = replace(page, right=())
    return replace(page, wrong=_own_line(course, progress, exercise, page.id) if exercise else ()), exercise


def _meant(course: Course, progress: Progress, wanted: str | None) -> str:
    """Return the id of the misconception that is meant: an exercise stands for the one behind its last failure."""
    if wanted is None:
        return _last_misconception(course, progress, progress.current(course))
    if describe(course, wanted) is not None:
        return wanted
    try:
        exercise = resolve_exercise(course, wanted)
    except UsageError:
        if is_number(wanted):
            raise
        return wanted
    return _last_misconception(course, progress, exercise)


def _own_line(course: Course, progress: Progress, exercise: Exercise, misconception: str) -> tuple[str, ...]:
    """Return the learner's line that the last failure points to, if it is about this misconception."""
    finding = _last_finding(course, progress, exercise, misconception)
    place = finding.get("place") or {}
    if not finding.get("certain", True):
        return ()
    return tuple(str(text) for line, text in finding.get("source") or () if line == place.get("line"))


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


def _last_misconception(course: Course, progress: Progress, exercise: Exercise | None) -> str:
    """Return the id of the misconception behind the last failure of an exercise."""
    last = read_last(course, exercise) if exercise else None
    failure = last.failure if last else None
    if exercise is not None and is_missing(course, exercise):
        raise UsageError(missing_sentence(course, exercise))
    if exercise is None or failure is None:
        number = f" {exercise.number}" if exercise else ""
        before = _named_before(course, progress, exercise)
        raise UsageError(f"there is no failure to explain: run `course check{number}`, or name a misconception{before}")
    if failure["status"] == "not_started":
        raise UsageError(
            f"nothing fails in {exercise.id}, a part is not written yet: "
            f"`course hint {exercise.number}` says how to begin"
        )
    finding = failure.get("finding") or {}
    if finding.get("kind") not in KNOWN_AS:
        raise UsageError(
            f"the last failure of {exercise.id} is no misconception of the catalogue: "
            f"`course diff {exercise.number}` shows every measurement{_named_before(course, progress, exercise)}"
        )
    return str(finding["id"])


def _named_before(course: Course, progress: Progress, exercise: Exercise | None) -> str:
    """Return a sentence with the misconceptions of an exercise that were named for the learner; "" without any."""
    names = [key.partition(":")[2] for key in progress.of(exercise).levels] if exercise else []
    commands = [f"`course why {name}`" for name in dict.fromkeys(names) if name and describe(course, name) is not None]
    return f". It explains earlier mistakes too: {', '.join(commands)}." if commands else ""


def _from_last_report(course: Course, progress: Progress, exercise: Exercise, wanted: str) -> Described | None:
    """Return what the last report on an exercise says of a misconception: a kit may have no catalogue."""
    finding = _last_finding(course, progress, exercise, wanted)
    if not finding:
        return None
    hints = progress.of(exercise).hints or ("",)
    return Described(
        id=wanted,
        exercise=exercise.id,
        name=str(finding.get("name") or finding.get("message")),
        explanation=str(finding.get("detail") or finding.get("message")),
        hint=str(hints[0]),
        experiment=_experiment(finding),
    )


def _last_finding(course: Course, progress: Progress, exercise: Exercise, misconception: str) -> Mapping[str, Any]:
    """Return the finding of the last failure of an exercise, if it names this misconception."""
    if progress.of(exercise).finding != misconception:
        return {}  # reports are large: open only the one that names it
    last = read_last(course, exercise)
    finding = ((last.failure if last else None) or {}).get("finding") or {}
    is_it = finding.get("kind") in KNOWN_AS and finding.get("id") == misconception
    return finding if is_it else {}


def _experiment(finding: Mapping[str, Any]) -> str:
    """Return what was measured on the learner's own program; "" without a number of it."""
    witnesses = (finding.get("evidence") or {}).get("witnesses") or []
    if not witnesses:
        return ""
    at, expected, yours = witnesses[0]
    return f"At {at} your program returned {yours}, expected {expected}."
