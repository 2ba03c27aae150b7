"""Save a report on the learner's own files: an event per exercise, and the report itself for `course diff`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.course import Course, Exercise
from autograder.learner.progress.digests import digest_of, exercise_version, line_digests, lines_edited
from autograder.learner.progress.events import Event, name_or_none, now
from autograder.learner.progress.last import LastReport, read_last, save_last
from autograder.learner.progress.store import SaveResult, save_events

if TYPE_CHECKING:
    from autograder.results import ExerciseResult, Report


def record(course: Course, report: "Report", sources: Mapping[str, bytes], *, command: str) -> SaveResult:
    """Save the results of a check of the learner's own files, except those that the grader itself failed on."""
    results = [result for result in report.exercises if result.status != "grader_error"]
    at = now()
    lasts = {result.id: _last(report, result, sources.get(f"{result.id}.py"), at) for result in results}
    events = [_event(course, result, lasts[result.id], command) for result in results]
    texts = {result.id: _texts(result) for result in results if result.status != "pass"}
    saved = save_events(course, events, texts)
    try:
        for exercise_id, last in lasts.items():
            save_last(course, course.exercise(exercise_id), last)
    except OSError as error:
        return SaveResult(saved.progress, saved.problem or error)
    return saved


def _last(report: "Report", result: "ExerciseResult", source: bytes | None, at: str) -> LastReport:
    alone = replace(report, exercises=(result,)).to_json()
    return LastReport(alone, at, digest_of(source) if source is not None else None, line_digests(source or b""))


def _event(course: Course, result: "ExerciseResult", last: LastReport, command: str) -> Event:
    exercise = course.exercise(result.id)
    failure = result.first_failure
    return Event(
        at=last.at,
        kind="check",
        exercise=result.id,
        command=command,
        result=result.status,
        check=failure.id if failure else None,
        finding=name_or_none(failure.finding.id) if failure and failure.finding else None,
        file=last.file,
        edited=_edited(course, exercise, last),
        version=exercise_version(course, exercise),
        passing=sum(check.status == "pass" for check in result.checks),
        checks=len(result.checks),
        score=result.score,
        max_score=result.max_score,
        hints=len(failure.hints) if failure else 0,
        seconds=round(sum(check.seconds for check in result.checks), 3),
        in_progress=result.in_progress,
        todos=len(result.todos),
        written=sum(todo.is_written for todo in result.todos),
        right=" ".join(check.id for check in result.checks if check.status == "pass"),
    )


def _edited(course: Course, exercise: Exercise, last: LastReport) -> int | None:
    before = read_last(course, exercise)
    return lines_edited(before.lines, last.lines) if before and last.file is not None else None


def _texts(result: "ExerciseResult") -> tuple[str | None, tuple[str, ...]]:
    failure = result.first_failure
    return (failure.title, failure.hints) if failure else (None, ())
