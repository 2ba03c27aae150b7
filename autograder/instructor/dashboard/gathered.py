"""A graded class as the dashboard looks at it: a verdict for every student and check."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.instructor.gradebook.graded import Graded
from autograder.results import CheckResult, ExerciseResult, Report, Status

TRIED: frozenset[Status] = frozenset({"pass", "fail", "error", "timeout", "memory"})
"""The verdicts of what was written and run."""

WRONG: frozenset[Status] = TRIED - {"pass"}
STOPPED: frozenset[Status] = frozenset({"timeout", "memory"})
OPEN: frozenset[Status] = frozenset({"not_started", "missing", "waits"})

Key = tuple[str, str]
"""The id of an exercise and of one of its checks."""


@dataclass(frozen=True)
class Item:
    """One check as it stands in the reports."""

    exercise: str
    check: str
    title: str
    bonus: bool

    @property
    def key(self) -> Key:
        return self.exercise, self.check


@dataclass(frozen=True)
class Class:
    """The reports of a class, those with most points first; `names` are what students are called on the page.

    `maximum` is what the exercises that are no bonus are worth, in hundredths. `missing` handed in nothing. Reports the
    grader failed on are here too, and have no score to count.
    """

    title: str
    reports: tuple[Report, ...]
    names: Mapping[str, str]
    maximum: int
    missing: tuple[str, ...] = ()

    def name(self, report: Report) -> str:
        """Return what a student is called on the page."""
        return self.names[student_of(report)]

    @cached_property
    def exercises(self) -> tuple[tuple[str, str], ...]:
        """Ids and titles of the exercises, in the order of the course."""
        first = self.reports[0].exercises if self.reports else ()
        return tuple((exercise.id, exercise.title) for exercise in first)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The checks, in the order of the course."""
        found: dict[Key, Item] = {}
        for report in self.reports:
            for exercise, check in checks_of(report):
                found.setdefault((exercise.id, check.id), Item(exercise.id, check.id, check.title, check.bonus))
        place = {name: at for at, (name, _) in enumerate(self.exercises)}
        return tuple(sorted(found.values(), key=lambda item: place.get(item.exercise, len(place))))

    @cached_property
    def verdicts(self) -> Mapping[Key, tuple[Status, ...]]:
        """The verdicts on a check, one for each report in their order."""
        by_report = [
            {(exercise.id, check.id): check.status for exercise, check in checks_of(report)} for report in self.reports
        ]
        return {item.key: tuple(statuses.get(item.key, "missing") for statuses in by_report) for item in self.items}

    def of_exercise(self, name: str) -> tuple[Status, ...]:
        """Return the verdicts on an exercise as a whole, one for each report in their order."""
        found = ({exercise.id: exercise.status for exercise in report.exercises} for report in self.reports)
        return tuple(statuses.get(name, "missing") for statuses in found)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The places of the reports that have a score: the grader failed on none of it."""
        return tuple(at for at, report in enumerate(self.reports) if "grader_error" not in report.statuses)


def student_of(report: Report) -> str:
    """Return the id of a report's student."""
    return str(report.submission["student"])


def checks_of(report: Report) -> Iterator[tuple[ExerciseResult, CheckResult]]:
    """Yield every check of a report with its exercise."""
    for exercise in report.exercises:
        for check in exercise.checks:
            yield exercise, check


def gathered(graded: Graded, names: Mapping[str, str]) -> Class:
    """Return the class that was graded; `names` says what each of its students is to be called."""
    reports: Sequence[Report] = [mark.report for mark in graded.marks if mark.report is not None]
    ordered = sorted(reports, key=lambda report: (-report.score, names[student_of(report)]))
    missing = [names[mark.student] for mark in graded.marks if mark.report is None]
    return Class(graded.course.title, tuple(ordered), names, graded.policy.maximum, tuple(sorted(missing)))
