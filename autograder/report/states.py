"""How each status is shown: its word, its mark, its colour and its meaning."""

from dataclasses import dataclass
from typing import Literal

from autograder.results.model import NOT_JUDGED, CheckResult, ExerciseResult, Finding, Status

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
