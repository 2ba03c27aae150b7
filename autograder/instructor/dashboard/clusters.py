"""Failures that no misconception names, grouped by equal result: each group is a mistake an author could name."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass

from autograder.course.names import UsageError
from autograder.diagnosis.location.locating import UNEXPLAINED
from autograder.instructor.dashboard.gathered import Class, checks_of, student_of
from autograder.report.words import message_of
from autograder.results import CheckResult, ExerciseResult

NAMED = ("misconception", "forbidden")
CAN_BE_NAMED = ("fail", "error")
NO_PROGRAM = ("SyntaxError", "IndentationError", "TabError")
_ID = 8


@dataclass(frozen=True)
class Cluster:
    """Students who fail alike: with one result in the first of `checks`, and all of them in each of the others.

    `id` is what `course name` knows it by; `unexplained` where nothing but a place is known. `students` are ids.
    """

    id: str
    exercise: str
    checks: tuple[str, ...]
    students: tuple[str, ...]
    message: str
    unexplained: bool


def is_unexplained(check: CheckResult) -> bool:
    """Say whether a check fails, and neither a misconception nor a pattern says why; a place alone is no reason."""
    finding = check.finding
    if check.status != "fail" or finding is None:
        return check.status == "fail"
    return finding.kind == "place" or (finding.kind == "pattern" and finding.id in UNEXPLAINED)


def clusters_of(room: Class) -> tuple[Cluster, ...]:
    """Return the groups, the largest first; checks that the same students fail alike are one group."""
    groups: dict[tuple[str, str, str], list[tuple[str, CheckResult]]] = defaultdict(list)
    for report in room.reports:
        for exercise, check in checks_of(report):
            if _is_nameless(check):
                groups[exercise.id, check.id, _told_by(exercise, check)].append((student_of(report), check))
    together: dict[tuple[str, tuple[str, ...]], list[tuple[str, str]]] = defaultdict(list)
    for (exercise_id, check_id, told), members in groups.items():
        together[exercise_id, tuple(sorted(student for student, _ in members))].append((check_id, told))
    order = {item.key: at for at, item in enumerate(room.items)}
    found = []
    for (exercise_id, students), checks in together.items():
        checks.sort(key=lambda pair: order[exercise_id, pair[0]])
        results = [groups[exercise_id, check, told][0][1] for check, told in checks]
        unexplained = [result for result in results if is_unexplained(result)]
        said = (unexplained or results)[0]
        names = tuple(check for check, _ in checks)
        message = message_of(said.status, said.finding)
        found.append(Cluster(checks[0][1][:_ID], exercise_id, names, students, message, bool(unexplained)))
    return tuple(
        sorted(
            found,
            key=lambda cluster: (
                -len(cluster.students),
                not cluster.unexplained,
                order[cluster.exercise, cluster.checks[0]],
            ),
        )
    )


def find_cluster(clusters: tuple[Cluster, ...], word: str) -> Cluster:
    """Return the group of that id; raises `UsageError` where there is none."""
    found = [cluster for cluster in clusters if cluster.id == word.strip().lower()]
    if not found:
        some = ", ".join(cluster.id for cluster in clusters[:3])
        hint = f"expected one of the class page, like {some}" if some else "every failure has a name, or is none"
        raise UsageError(f"no group of failures is called {word!r}; {hint}")
    return found[0]


def _is_nameless(check: CheckResult) -> bool:
    finding = check.finding
    named = finding is not None and (finding.kind in NAMED or finding.id in NO_PROGRAM)
    return check.status in CAN_BE_NAMED and not named


def _told_by(exercise: ExerciseResult, check: CheckResult) -> str:
    """Return what the result is told by: what came out, else what was raised and how it was put."""
    if check.output is not None:
        return check.output
    finding = check.finding
    words = (finding.kind, finding.id, finding.message) if finding is not None else ()
    return hashlib.sha256(repr((exercise.id, check.id, words)).encode("utf-8", "surrogatepass")).hexdigest()
