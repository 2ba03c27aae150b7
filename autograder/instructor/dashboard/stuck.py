"""Who is stuck, on what: the first exercise of each student that does not pass, and what its report says."""

from dataclasses import dataclass

from autograder.instructor.dashboard.gathered import WRONG, Class
from autograder.report.words import STATES, message_of, passing
from autograder.results import Report


@dataclass(frozen=True)
class Stuck:
    """One student: how far, and what is in the way. `failing` counts the exercises that are written and do not pass."""

    name: str
    score: int
    passed: int
    exercises: int
    exercise: str
    state: str
    why: str
    failing: int


def stuck(room: Class) -> tuple[Stuck, ...]:
    """Return who has an exercise that was written and fails, those with least points first."""
    found = [row for report in room.reports if (row := _stuck(room, report)) is not None]
    return tuple(sorted(found, key=lambda row: (row.score, row.name)))


def _stuck(room: Class, report: Report) -> Stuck | None:
    failing = [exercise for exercise in report.exercises if exercise.status in WRONG]
    if not failing:
        return None
    first = failing[0]
    check = first.first_failure
    why = message_of(check.status, check.finding) if check is not None else STATES[first.status].meaning
    passed = sum(exercise.status == "pass" for exercise in report.exercises)
    told = STATES[first.status].word.lower()
    state = f"{told}, {passing(first.checks)} of {len(first.checks)} checks pass"
    return Stuck(room.name(report), report.score, passed, len(report.exercises), first.id, state, why, len(failing))
