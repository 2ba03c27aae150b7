"""The stored evidence of the last failure of an exercise, without another run."""

from typing import Any

from autograder.course import Course, Exercise
from autograder.course.names import UsageError
from autograder.learner.progress.digests import digest_of
from autograder.learner.progress.last import LastReport, read_last
from autograder.submission.own_work import is_missing, missing_sentence, own_source


def read_last_check(course: Course, exercise: Exercise | None) -> LastReport:
    """Return the last report on an exercise. Raises `UsageError` if there is none."""
    last = read_last(course, exercise) if exercise else None
    if last is None:
        if exercise is not None and is_missing(course, exercise):
            raise UsageError(missing_sentence(course, exercise))
        number = f" {exercise.number}" if exercise else " --all"
        own = f"it needs a check of your own files in {course.exercises_dir.name}/"
        raise UsageError(f"there is no failure to show: {own}; run `course check{number}` first")
    return last


def has_changed(course: Course, exercise: Exercise, last: LastReport) -> bool:
    """Return whether the learner's file has changed since its last check."""
    source = own_source(course, exercise)
    return (digest_of(source) if source is not None else None) != last.file


def evidence_json(last: LastReport, *, changed: bool) -> dict[str, Any]:
    """Return the last check for `--json`."""
    return {"exercise": last.exercise, "at": last.at, "changed_since": changed, "log": last.report.get("log", "")}
