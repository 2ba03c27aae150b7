"""An exercise, a check and a report in a few words: numbers, titles, and how many checks pass."""

import re
from collections.abc import Sequence

from autograder.report.printable import one_line
from autograder.report.quantities import listed, ordinal, plural, points, points_of
from autograder.report.states import shown_as, state_of
from autograder.results.model import CheckResult, ExerciseResult, Finding, Report, Status

_MOST_CHARACTERS = 1000  # of a message: more than any renderer shows, and quick to lay out


def number(exercise_id: str) -> str:
    """Return `05` of `ex05_attention`; an id of another form is its own number."""
    match = re.match(r"ex(\d+)_", exercise_id)
    return match[1] if match else one_line(exercise_id)


def spoken(identifier: str) -> str:
    """Return an id as words: `split_heads` as `split heads`."""
    return one_line(identifier).replace("_", " ")


def message_of(status: Status, finding: Finding | None) -> str:
    """Return the message of a failure. A problem of the grader never blames the student."""
    if finding is None or status == "grader_error" or not finding.message:
        return shown_as(status, finding).meaning
    return one_line(finding.message[:_MOST_CHARACTERS])


def passing(checks: Sequence[CheckResult]) -> int:
    """Return how many checks pass."""
    return sum(check.status == "pass" for check in checks)


def checks_pass(checks: Sequence[CheckResult]) -> str:
    """Return `3 of 7 checks pass`, or nothing if there are no checks."""
    if not checks:
        return ""
    return f"{passing(checks)} of {plural(len(checks), 'check')} {'passes' if len(checks) == 1 else 'pass'}"


def reference_parts(exercise: ExerciseResult) -> str:
    """Return which of the student's parts were replaced by reference parts, or nothing."""
    if exercise.parts == "own":
        return ""
    names = listed([f"exercise {number(exercise_id)}" for exercise_id in exercise.stood_in])
    if not names:
        return "What it builds on does not pass yet. Reference parts took its place, so its mistakes cost nothing here."
    one = len(exercise.stood_in) == 1
    place = "A reference part took its place" if one else "Reference parts took their place"
    begin = f"Your {names} {'does' if one else 'do'} not pass yet. {place}"
    if exercise.helpers and exercise.status != "pass":
        parted = (name.partition(".") for name in exercise.helpers)
        helpers = listed([f"{helper} of {module}.py" for module, _, helper in parted])
        return f"{begin}. {'It does' if one else 'They do'} not replace {helpers}, which your code also uses."
    return f"{begin}, so {'its' if one else 'their'} mistakes cost nothing here."


def achieved(exercise: ExerciseResult, attempt: int | None = None) -> str:
    """Return the checks, points and attempt of a pass."""
    total = len(exercise.checks)
    count = passing(exercise.checks)
    checks = plural(total, "check") if count == total else f"{count} of {plural(total, 'check')}"
    score = points_of(exercise.score, 0 if exercise.score == exercise.max_score else exercise.max_score)
    attempts = [f"{ordinal(attempt)} attempt"] if attempt is not None and attempt > 0 else []
    return ", ".join((checks, score, *attempts))


def bonus_left(exercise: ExerciseResult) -> list[str]:
    """Return the bonus checks of a passed exercise that do not pass, and why."""
    left = [check for check in exercise.checks if check.bonus and check.status not in ("pass", "waits")]
    return [f"bonus check {spoken(check.id)}: {message_of(check.status, check.finding)}" for check in left]


def shown_first(report: Report) -> ExerciseResult | None:
    """Return the exercise to look at first: the first that fails, else one in progress, else the first not done."""
    unfinished = [exercise for exercise in report.exercises if exercise.status != "pass"]
    failing = (
        exercise for exercise in unfinished if state_of(exercise).mark != "waiting" and exercise.status != "missing"
    )
    begun = (exercise for exercise in unfinished if exercise.in_progress)
    return next(failing, next(begun, next(iter(unfinished), None)))


def student(report: Report) -> str:
    """Return the student's name, or nothing for a self-check."""
    return one_line(str(report.submission.get("student") or ""))


def total_of(report: Report, *, of: bool = True) -> str:
    """Return the points of a report, of how many; `no score` if a part was not judged: that is not zero."""
    if not report.has_score:
        return "no score"
    return points_of(report.score, report.max_score) if of else points(report.score)


def held_sentence(report: Report) -> str:
    """Return what was found in a submission of which nothing could be read, or which exercises are held."""
    if not report.is_unread:
        held = [number(exercise.id) for exercise in report.exercises if exercise.status == "held"]
        return f"held, no score for exercise{'' if len(held) == 1 else 's'} {listed(held)}"
    found = [one_line(str(name)) for name in report.submission.get("found") or ()]
    return f"held, no score: {', '.join(found) or 'it is empty'}"


def why_held(reports: Sequence[Report]) -> str:
    """Return why these reports are held, as the end of a sentence."""
    if all(report.is_unread for report in reports):
        return "no file of the assignment could be read"
    return "no file could be read, or another file has the work"


def notes(report: Report) -> list[str]:
    """Return what the intake noted about a submission."""
    entries = report.submission.get("notes") or ()
    return [one_line(str(note)) for note in ([entries] if isinstance(entries, str) else entries)]
