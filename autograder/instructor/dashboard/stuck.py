"""Stuck students: the first exercise of each that was started and does not pass, and why."""

from dataclasses import dataclass

from autograder.instructor.dashboard.cohort import WRONG, Cohort
from autograder.report.exercise_summary import message_of, passing
from autograder.report.states import STATES, state_of
from autograder.results import Report


@dataclass(frozen=True)
class StuckStudent:
    """One student: the score, the first failing exercise with its state and reason, and the number of failing ones."""

    name: str
    score: int
    passed: int
    exercises: int
    exercise: str
    state: str
    why: str
    failing: int


def stuck_students(cohort: Cohort) -> tuple[StuckStudent, ...]:
    """Return the students with an exercise that was started and fails, lowest score first."""
    rows = [row for report in cohort.reports if (row := _stuck(cohort, report)) is not None]
    return tuple(sorted(rows, key=lambda row: (row.score, row.name)))


def _stuck(cohort: Cohort, report: Report) -> StuckStudent | None:
    failing = [exercise for exercise in report.exercises if exercise.status in WRONG]
    if not failing:
        return None
    first = failing[0]
    check = first.first_failure
    why = message_of(check.status, check.finding) if check is not None else STATES[first.status].meaning
    passed = sum(exercise.status == "pass" for exercise in report.exercises)
    state = f"{state_of(first).word.lower()}, {passing(first.checks)} of {len(first.checks)} checks pass"
    name = cohort.name(report)
    return StuckStudent(name, report.score, passed, len(report.exercises), first.id, state, why, len(failing))
