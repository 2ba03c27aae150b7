"""The hints for a learner's last failure: one after the other, from a question to the step."""

from dataclasses import dataclass

from autograder.course import Course, Exercise
from autograder.course.names import UsageError
from autograder.learner.progress import Progress, Standing, save_events
from autograder.learner.progress.events import Event, now
from autograder.learner.progress.last import read_last
from autograder.learner.progress.standing import UNTRIED
from autograder.messages.advice import advice
from autograder.report.states import STATES
from autograder.submission.own_work import is_missing, missing_sentence


@dataclass(frozen=True)
class HintSequence:
    """The hints shown so far, the newest last, out of `total`, and the title of the check they are about.

    `waits_for_edit` says that the next hint needs an edit first. `warning` says why this could not be saved, or "".
    """

    title: str
    hints: tuple[str, ...]
    total: int
    waits_for_edit: bool
    warning: str = ""


def take_hint(
    course: Course, exercise: Exercise, standing: Standing, digest: str | None, *, at_once: bool
) -> HintSequence:
    """Show the next hint, and record it. After the first, the file must have changed, unless `at_once`.

    `digest` is that of the learner's file now. Raises `UsageError` if no check has failed.
    """
    title, hints = failure_texts(course, exercise, standing)
    if not hints:
        raise UsageError(_no_hint(exercise, standing))
    before = min(max(standing.hints_shown, 0), len(hints))
    unchanged = digest == standing.hint_file
    waits = 0 < before < len(hints) and unchanged and not at_once
    level = before if waits else min(before + 1, len(hints))
    warning = ""
    if level > before:
        forced = True if at_once and unchanged else None
        event = Event(now(), "hint", exercise.id, "hint", file=digest, hint=level, hints=len(hints), now=forced)
        warning = save_events(course, [event]).warning
    return HintSequence(title, tuple(hints[:level]), len(hints), waits, warning)


def _no_hint(exercise: Exercise, standing: Standing) -> str:
    """Return why there is no hint: nothing failed yet, or the failure is about a name, a call or an exception."""
    number = exercise.number
    if standing.runs and standing.status not in UNTRIED:
        reason = f"its message says what is wrong; `course check {number}` shows it again"
        return f"no hint for the last failure of {exercise.id}: {reason}"
    return f"no hint for {exercise.id} yet: run `course check {number}` first; hints explain a failure"


def no_hint_reason(course: Course, progress: Progress, exercise: Exercise | None) -> list[str]:
    """Return sentences on why there is nothing to hint at; none if there may be a hint."""
    if exercise is None:
        return ["Every exercise passes: there is nothing to hint at."]
    standing = progress.of(exercise)
    if standing.status == "pass":
        return [f"{exercise.number} {exercise.title} passes: there is nothing to hint at."]
    if is_missing(course, exercise):
        return [missing_sentence(course, exercise)]
    return _advice(course, exercise, standing)


def _advice(course: Course, exercise: Exercise, standing: Standing) -> list[str]:
    """Return what failed and what to look at, where the last failure has no hints; none if it may have some."""
    last = read_last(course, exercise)
    failure = last.failure if last else None
    is_hinted = failure is None or standing.status in UNTRIED or standing.in_progress
    if is_hinted or failure_texts(course, exercise, standing)[1] or failure is None:
        return []
    if failure["status"] in ("grader_error", *UNTRIED, "waits"):
        return []
    finding = failure.get("finding") or {}
    place = finding.get("place") or {}
    what = str(finding.get("message") or STATES[failure["status"]].meaning)
    where = [f"See line {place['line']} of {place['file']}."] if place.get("line") and place.get("cell") is None else []
    kind, id_, quoted = (str(finding.get(name) or "") for name in ("kind", "id", "detail"))
    return [what, *where, advice(failure["status"], kind, id_, what, quoted)]


def failure_texts(course: Course, exercise: Exercise, standing: Standing) -> tuple[str, tuple[str, ...]]:
    """Return the title of the check that failed first, and its hints.

    They are stored with the progress. If that was rebuilt, they come from the last report, or from course.toml.
    """
    if standing.hints or not standing.check:
        return standing.title or "", standing.hints
    last = read_last(course, exercise)
    failure = last.failure if last else None
    if failure and failure["id"] == standing.check:
        return str(failure.get("title", "")), tuple(str(hint) for hint in failure.get("hints") or ())
    hints = exercise.hints.get(standing.check, ()) if standing.hints_shown else ()
    return standing.title or standing.check.replace("_", " "), tuple(hints)
