"""The results of a graded class: a status for every student and check."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.instructor.gradebook.graded import Graded
from autograder.results import CheckResult, ExerciseResult, Report, Status

TRIED: frozenset[Status] = frozenset({"pass", "fail", "error", "timeout", "memory"})
"""Statuses of code that was written and run."""

WRONG: frozenset[Status] = TRIED - {"pass"}
STOPPED: frozenset[Status] = frozenset({"timeout", "memory"})
OPEN: frozenset[Status] = frozenset({"not_started", "missing", "waits"})

Key = tuple[str, str]
"""The id of an exercise and the id of one of its checks."""


@dataclass(frozen=True)
class Item:
    """One check of the course, as the reports describe it."""

    exercise: str
    check: str
    title: str
    bonus: bool

    @property
    def key(self) -> Key:
        """Return the exercise and the check."""
        return self.exercise, self.check


@dataclass(frozen=True)
class Cohort:
    """The reports of a class, highest score first, and the `names` of its students on the page.

    `title` is that of the course, and of the assignment if there are several. `maximum` is the sum of the points of all
    exercises that are not a bonus, in hundredths. `missing` are the names of students without a submission, and
    `decided` the ids of those without a judged one about whom a person has decided. Reports with a grader error or a
    held hand-in are included, but they have no score.
    """

    title: str
    reports: tuple[Report, ...]
    names: Mapping[str, str]
    maximum: int
    missing: tuple[str, ...] = ()
    decided: frozenset[str] = frozenset()

    def name(self, report: Report) -> str:
        """Return the name of a student on the page."""
        return self.names[student_of(report)]

    @cached_property
    def exercises(self) -> tuple[tuple[str, str], ...]:
        """Ids and titles of the exercises, in course order."""
        first = self.reports[0].exercises if self.reports else ()
        return tuple((exercise.id, exercise.title) for exercise in first)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The checks, in course order."""
        items: dict[Key, Item] = {}
        for report in self.reports:
            for exercise, check in checks_of(report):
                items.setdefault((exercise.id, check.id), Item(exercise.id, check.id, check.title, check.bonus))
        order = {exercise: position for position, (exercise, _) in enumerate(self.exercises)}
        return tuple(sorted(items.values(), key=lambda item: order.get(item.exercise, len(order))))

    @cached_property
    def verdicts(self) -> Mapping[Key, tuple[Status, ...]]:
        """The statuses of each check, one per report, in the order of the reports."""
        by_report = [
            {(exercise.id, check.id): check.status for exercise, check in checks_of(report)} for report in self.reports
        ]
        return {item.key: tuple(statuses.get(item.key, "missing") for statuses in by_report) for item in self.items}

    def of_exercise(self, exercise_id: str) -> tuple[Status, ...]:
        """Return the statuses of an exercise, one per report, in the order of the reports."""
        by_report = ({exercise.id: exercise.status for exercise in report.exercises} for report in self.reports)
        return tuple(statuses.get(exercise_id, "missing") for statuses in by_report)

    @cached_property
    def scored(self) -> tuple[int, ...]:
        """The indices of the reports with a score, which are those that were judged."""
        return tuple(index for index, report in enumerate(self.reports) if report.has_score)


def student_of(report: Report) -> str:
    """Return the student id of a report."""
    return str(report.submission["student"])


def checks_of(report: Report) -> Iterator[tuple[ExerciseResult, CheckResult]]:
    """Yield every check of a report with its exercise."""
    for exercise in report.exercises:
        for check in exercise.checks:
            yield exercise, check


def cohort_of(graded: Graded, names: Mapping[str, str]) -> Cohort:
    """Return the results of a graded class; `names` has the name of each student on the page."""
    reports: Sequence[Report] = [mark.report for mark in graded.marks if mark.report is not None]
    ordered = sorted(reports, key=lambda report: (-report.score, names[student_of(report)]))
    missing = [names[mark.student] for mark in graded.marks if mark.report is None and not mark.is_decided]
    title, assignment = graded.course.title, graded.course.assignment
    title = f"{title}, {assignment.title}" if assignment else title
    decided = frozenset(mark.student for mark in graded.marks if mark.is_decided)
    return Cohort(title, tuple(ordered), names, graded.policy.maximum, tuple(sorted(missing)), decided)
