"""The misconceptions of a class: how many students hold each of them, with the lines of one student."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.course import Course
from autograder.course.misconceptions import Described, describe
from autograder.instructor.dashboard.cohort import TRIED, Cohort, checks_of, student_of
from autograder.instructor.dashboard.statistics import Share
from autograder.report.printable import one_line
from autograder.results import Finding

Hide = Callable[[str, str], str]
"""Takes a student id and a text of that student; returns the text without the student's names."""

_COMMENT = re.compile(r"""^((?:[^#'"]|'[^']*'|"[^"]*")*)#.*$""")


@dataclass(frozen=True)
class HeldMisconception:
    """A misconception in a class; each student counts once.

    `share` is the proportion of the students who tried the exercise. `example` has numbered lines of one student, and
    `wrong` is the number of the faulty line. `described` has the texts of the catalogue.
    """

    id: str
    name: str
    exercise: str
    share: Share
    checks: tuple[str, ...]
    example: tuple[tuple[int, str], ...]
    wrong: int | None
    described: Described | None


def misconceptions_of(cohort: Cohort, course: Course, hide: Hide) -> tuple[HeldMisconception, ...]:
    """Return the misconceptions of a class, the most frequent first."""
    holders: dict[str, dict[str, Finding]] = defaultdict(dict)
    checks: dict[str, dict[str, None]] = defaultdict(dict)
    exercises: dict[str, str] = {}
    for report in cohort.reports:
        for exercise, check in checks_of(report):
            finding = check.finding
            if finding is not None and finding.kind == "misconception":
                exercises.setdefault(finding.id, exercise.id)
                checks[finding.id][check.id] = None
                holders[finding.id].setdefault(student_of(report), finding)
    order = {item.check: position for position, item in reversed([*enumerate(cohort.items)])}
    misconceptions = []
    for id_, findings in holders.items():
        exercise_id = exercises[id_]
        tried = sum(status in TRIED for status in cohort.of_exercise(exercise_id))
        example, wrong = _example([*findings.items()], hide)
        name = one_line(next(iter(findings.values())).name or id_)
        share = Share(len(findings), max(tried, len(findings)))
        failing = tuple(sorted(checks[id_], key=order.__getitem__))
        described = describe(course, id_)
        misconceptions.append(HeldMisconception(id_, name, exercise_id, share, failing, example, wrong, described))
    return tuple(sorted(misconceptions, key=lambda held: (-held.share.count, held.id)))


def _example(findings: Sequence[tuple[str, Finding]], hide: Hide) -> tuple[tuple[tuple[int, str], ...], int | None]:
    """Return the lines of the student with the surest location and the shortest lines, without comments."""
    located = [(student, finding) for student, finding in findings if finding.source and finding.place is not None]
    if not located:
        return (), None
    student, finding = min(
        located, key=lambda pair: (not pair[1].certain, sum(len(line) for _, line in pair[1].source))
    )
    lines = tuple((number, hide(student, without_comment(line))) for number, line in finding.source)
    return lines, finding.place.line if finding.place is not None else None


def without_comment(line: str) -> str:
    """Return a line of code without its comment, since students write names there."""
    match = _COMMENT.match(line)
    return match[1].rstrip() if match else line
