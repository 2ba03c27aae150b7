"""Why a class fails: how many students hold each misconception, with the lines of one of them."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.course import Course
from autograder.course.misconceptions import Described, describe
from autograder.instructor.dashboard.gathered import OPEN, Class, checks_of, student_of
from autograder.instructor.dashboard.statistics import Share
from autograder.report.printable import one_line
from autograder.results import ExerciseResult, Finding

Hide = Callable[[str, str], str]
"""Returns a text of a student, given as id and text, without what names the student."""

_COMMENT = re.compile(r"""^((?:[^#'"]|'[^']*'|"[^"]*")*)#.*$""")


@dataclass(frozen=True)
class Why:
    """A misconception and who holds it; each student counts once. `example` are lines with their numbers.

    `share` is of those who wrote the exercise. `wrong` is the number of the line it is in, `described` its page.
    """

    id: str
    name: str
    exercise: str
    share: Share
    checks: tuple[str, ...]
    example: tuple[tuple[int, str], ...]
    wrong: int | None
    described: Described | None


def why(room: Class, course: Course, hide: Hide) -> tuple[Why, ...]:
    """Return the misconceptions of a class, those that most students hold first."""
    held: dict[str, list[tuple[str, Finding]]] = defaultdict(list)
    checks: dict[str, set[str]] = defaultdict(set)
    order = {item.check: at for at, item in reversed(list(enumerate(room.items)))}
    of: dict[str, str] = {}
    for report in room.reports:
        mine = set()
        for exercise, check in checks_of(report):
            finding = check.finding
            if finding is None or finding.kind != "misconception":
                continue
            checks[finding.id].add(check.id)
            of.setdefault(finding.id, exercise.id)
            if finding.id not in mine:
                mine.add(finding.id)
                held[finding.id].append((student_of(report), finding))
    tried = {name: sum(_wrote(report.exercises, name) for report in room.reports) for name, _ in room.exercises}
    found = []
    for name, members in held.items():
        example, wrong = _example(members, hide)
        failing = tuple(sorted(checks[name], key=order.__getitem__))
        share = Share(len(members), max(tried.get(of[name], 0), len(members)))
        titled = one_line(members[0][1].name or name)
        found.append(
            Why(
                name,
                titled,
                of[name],
                share,
                failing,
                example,
                wrong,
                describe(course, name),
            )
        )
    return tuple(sorted(found, key=lambda held: (-held.share.count, held.id)))


def _wrote(exercises: Sequence[ExerciseResult], name: str) -> bool:
    return any(exercise.id == name and exercise.status not in OPEN for exercise in exercises)


def _example(members: Sequence[tuple[str, Finding]], hide: Hide) -> tuple[tuple[tuple[int, str], ...], int | None]:
    """Return the lines of the student whose place is surest and whose lines are shortest, without comments."""
    placed = [holder for holder in members if holder[1].source and holder[1].place is not None]
    if not placed:
        return (), None
    student, finding = min(
        placed, key=lambda holder: (not holder[1].certain, sum(len(line) for _, line in holder[1].source))
    )
    lines = tuple((number, hide(student, without_comment(line))) for number, line in finding.source)
    return lines, finding.place.line if finding.place is not None else None


def without_comment(line: str) -> str:
    """Return a line of code without the comment at its end: names are written there."""
    found = _COMMENT.match(line)
    return found[1].rstrip() if found else line
