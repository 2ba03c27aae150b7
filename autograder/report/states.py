"""How each status is shown: its word, its mark, its colour and its meaning."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.course import exercise_numbers
from autograder.results import (
    NOT_JUDGED,
    CheckResult,
    ExerciseResult,
    Finding,
    Flag,
    Report,
    Status,
    function_name,
    joined,
)

from .escaping import ended, one_line

Mark = Literal["passed", "failed", "waiting", "problem"]


@dataclass(frozen=True)
class State:
    """How a status is shown. `short` is the word in narrow tables; `meaning` is a sentence for the learner."""

    word: str
    short: str
    mark: Mark
    style: str
    meaning: str


STATES: dict[Status, State] = {
    "pass": State("PASS", "PASS", "passed", "green", "Every check passes."),
    "fail": State("FAIL", "FAIL", "failed", "red", "Your result differs from the expected one."),
    "error": State("ERROR", "ERROR", "failed", "red", "Your code raised an exception."),
    "timeout": State("TIMEOUT", "TIME", "failed", "red", "Your code was stopped: it ran longer than its time limit."),
    "memory": State("MEMORY", "MEM", "failed", "red", "Your code was stopped: it used more memory than its limit."),
    "waits": State("WAITS", "WAITS", "waiting", "bright_black", "This waits until an earlier part passes."),
    "not_started": State("NOT STARTED", "NEW", "waiting", "bright_black", "You have not written this part yet."),
    "missing": State("MISSING", "MISS", "failed", "red", "The submission does not contain its file."),
    "held": State(
        "HELD",
        "HELD",
        "problem",
        "yellow",
        "No file could be read, or the work is in another file, so nothing was judged. Your teacher decides.",
    ),
    "grader_error": State(
        "GRADER PROBLEM",
        "GRADER",
        "problem",
        "yellow",
        "The grader failed here, not your code. Run the command again. If it fails again, report it.",
    ),
}

COURSE_PROBLEM = State(
    "COURSE PROBLEM",
    "COURSE",
    "problem",
    "yellow",
    "A file of this course is wrong, so your code was not judged. Only the author of the course can mend it.",
)
DECIDED = State(
    "NOT JUDGED",
    "NONE",
    "waiting",
    "bright_black",
    "No file could be read, or the work is in another file, so nothing was judged. Your teacher decided on the score.",
)
NOT_RUN = State("NOT RUN", "SKIP", "waiting", "bright_black", "An earlier check was stopped, so this one was not run.")
IN_PROGRESS = State("IN PROGRESS", "PART", "waiting", "cyan", "A part is written, and another part is not yet.")


def check_state(check: CheckResult) -> State:
    """Return how the status of a check is shown."""
    return shown_as(check.status, check.finding)


def shown_as(status: Status, finding: Finding | None) -> State:
    """Return how a status with this finding is shown."""
    match (status, finding.id if finding else ""):
        case _, "not_run":
            return NOT_RUN  # left out after others were stopped
        case "held", "decided":
            return DECIDED
        case "grader_error", "course_file":
            return COURSE_PROBLEM
    return STATES[status]


def state_of(exercise: ExerciseResult) -> State:
    """Return how the status of an exercise is shown: one that is written in part, without a failure, is in progress."""
    if exercise.in_progress:
        return IN_PROGRESS
    first = exercise.checks[0] if exercise.checks else None
    not_judged = first is not None and exercise.status == first.status and exercise.status in NOT_JUDGED
    return check_state(first) if not_judged and first is not None else STATES[exercise.status]


# Counts, points, times and lists in words.


def points(hundredths: int) -> str:
    """Return whole hundredths as points: 2350 as `23.5`."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def points_of(score: int, max_score: int) -> str:
    """Return `3 of 8 points`, or `3 points` if there is no maximum, as for a bonus."""
    of = f" of {points(max_score)}" if max_score else ""
    return f"{points(score)}{of} {'point' if (max_score or score) == 100 else 'points'}"


def plural(count: int, word: str) -> str:
    """Return `1 check`, `7 checks`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def ordinal(count: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    ending = "th" if count // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def seconds(duration: float) -> str:
    """Return a measured time with as many digits as are worth reading."""
    return f"{duration:.0f} s" if duration >= 10 else f"{duration:.1f} s" if duration >= 1 else f"{duration:.2f} s"


def duration(seconds: float) -> str:
    """Return a time as people say it: `45 s`, `4 min`, `2 h 7 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join(filter(None, (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "")))


def kilobytes(size: int) -> str:
    """Return a number of bytes in thousands: `92 kB`; a kilobyte that has begun counts."""
    return f"{-(-size // 1000)} kB"


# An exercise, a check and a report in a few words: numbers, titles, and how many checks pass.

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


def function_of(finding: Finding) -> str:
    """Return the function a finding points into, with its class; the top level of a file has none."""
    return one_line(function_name(finding.place.function or "")) if finding.place else ""


def has_run(check: CheckResult) -> bool:
    """Return whether the check has run: without a readable file no check does."""
    finding = check.finding
    if finding is not None and (finding.kind, finding.id) == ("structure", "unread"):
        return False
    at_import = finding is not None and finding.kind == "exception" and finding.place and not function_of(finding)
    return check.status not in ("missing", "held", "grader_error") and not at_import


def have_run(exercise: ExerciseResult) -> bool:
    """Say whether any check of an exercise has run: none does if its file is missing or held, or cannot be imported.

    None runs if a file of the course is wrong, either.
    """
    if state_of(exercise) is COURSE_PROBLEM:
        return False
    first = exercise.first_failure
    passes = any(check.status == "pass" for check in exercise.checks)
    return first is None or passes or exercise.status == "grader_error" or has_run(first)


def count_of(exercise: ExerciseResult) -> str:
    """Return how many checks of an exercise pass."""
    return checks_pass(exercise.checks) if have_run(exercise) else "no check was run"


def reference_parts(exercise: ExerciseResult) -> str:
    """Return which of the student's parts were replaced by reference parts, or nothing."""
    if exercise.parts == "own":
        return ""
    if not exercise.stood_in:
        return "What it builds on does not pass. Reference parts took its place, so its mistakes cost nothing here."
    one, names = len(exercise.stood_in) == 1, exercise_numbers([number(id_) for id_ in exercise.stood_in])
    if not have_run(exercise):
        return f"Your {names} {'does' if one else 'do'} not pass either."
    place = "A reference part took its place" if one else "Reference parts took their place"
    begin = f"Your {names} {'does' if one else 'do'} not pass. {place}"
    if exercise.helpers and exercise.status != "pass":
        parted = (name.partition(".") for name in exercise.helpers)
        helpers = joined([f"{helper} of {module}.py" for module, _, helper in parted])
        return f"{begin}. {'It does' if one else 'They do'} not replace {helpers}, which your code also uses."
    return f"{begin}, so {'its' if one else 'their'} mistakes cost nothing here."


MOST_FLAGS = 3
"""Flags of an exercise that its student sees: the others are like them."""


def flag_sentences(exercise: ExerciseResult) -> list[str]:
    """Return what a person will look at in an exercise, and that it costs nothing."""
    shown = [
        f"A person will look at `{one_line(flag.found)}` on {place_of_flag(flag, exercise)}: "
        f"{ended(one_line(flag.why))} This costs no points."
        for flag in exercise.flags[:MOST_FLAGS]
    ]
    left = len(exercise.flags) - len(shown)
    return [*shown, *([f"They will look at {plural(left, 'other place')} too."] if left else [])]


def place_of_flag(flag: Flag, exercise: ExerciseResult) -> str:
    """Return the line of a flag, with its cell or its file where that is needed."""
    cell = f"cell {flag.place.cell}, " if flag.place.cell is not None else ""
    file = "" if flag.place.file == f"{exercise.id}.py" else f" of {one_line(flag.place.file)}"
    return f"{cell}line {flag.place.line}{file}"


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


def notes(report: Report, which: str = "notes") -> list[str]:
    """Return what the intake noted about a submission, or which of it is `ordinary` or `of_time`."""
    entries = report.submission.get(which) or ()
    return [one_line(str(note)) for note in ([entries] if isinstance(entries, str) else entries)]
