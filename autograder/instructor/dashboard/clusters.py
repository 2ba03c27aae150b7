"""Failures without a name, grouped by equal results: each group is a mistake that an author could name."""

import hashlib
from collections import defaultdict
from dataclasses import dataclass

from autograder.course.names import UsageError
from autograder.diagnosis.location.locating import UNEXPLAINED
from autograder.instructor.dashboard.cohort import Cohort, checks_of, student_of
from autograder.report.exercise_summary import message_of
from autograder.results import CheckResult, ExerciseResult

NAMED = ("misconception", "convention", "forbidden")
CAN_BE_NAMED = ("fail", "error")
NO_PROGRAM = ("SyntaxError", "IndentationError", "TabError")
_ID_LENGTH = 8
"""Eight hexadecimal digits: short enough to type, and a class has far too few groups for two of them to collide."""


@dataclass(frozen=True)
class Cluster:
    """Students whose failures have equal results in each of `checks`.

    `course name` takes the `id`. `unexplained` means that no more than the location of the failure is known. `students`
    are ids.
    """

    id: str
    exercise: str
    checks: tuple[str, ...]
    students: tuple[str, ...]
    message: str
    unexplained: bool


def is_unexplained(check: CheckResult) -> bool:
    """Return whether a check fails and neither a misconception nor a pattern explains it; a location does not."""
    finding = check.finding
    if check.status != "fail" or finding is None:
        return check.status == "fail"
    return finding.kind == "place" or (finding.kind == "pattern" and finding.id in UNEXPLAINED)


def clusters_of(cohort: Cohort) -> tuple[Cluster, ...]:
    """Return the groups, the largest first; checks that the same students fail alike are one group."""
    failures: dict[tuple[str, str, str], list[tuple[str, CheckResult]]] = defaultdict(list)
    for report in cohort.reports:
        for exercise, check in checks_of(report):
            if _is_nameless(check):
                failures[exercise.id, check.id, _result(exercise, check)].append((student_of(report), check))
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, CheckResult]]] = defaultdict(list)
    for (exercise_id, _, result), members in failures.items():
        students = tuple(sorted(student for student, _ in members))
        groups[exercise_id, students].append((result, members[0][1]))
    order = {item.key: position for position, item in enumerate(cohort.items)}
    clusters = []
    for (exercise_id, students), results in groups.items():
        results.sort(key=lambda result: order[exercise_id, result[1].id])
        checks = [check for _, check in results]
        unexplained = [check for check in checks if is_unexplained(check)]
        first = (unexplained or checks)[0]
        ids = tuple(check.id for check in checks)
        message = message_of(first.status, first.finding)
        clusters.append(Cluster(results[0][0][:_ID_LENGTH], exercise_id, ids, students, message, bool(unexplained)))

    def rank(cluster: Cluster) -> tuple[int, bool, int]:
        return -len(cluster.students), not cluster.unexplained, order[cluster.exercise, cluster.checks[0]]

    return tuple(sorted(clusters, key=rank))


def find_cluster(clusters: tuple[Cluster, ...], word: str) -> Cluster:
    """Return the group with an id; raises `UsageError` if there is none."""
    cluster = next((cluster for cluster in clusters if cluster.id == word.strip().lower()), None)
    if cluster is None:
        some = ", ".join(cluster.id for cluster in clusters[:3])
        hint = f"expected a group of the class page, like {some}" if some else "every failure of this class has a name"
        raise UsageError(f"no group of failures is called {word!r}; {hint}")
    return cluster


def _is_nameless(check: CheckResult) -> bool:
    finding = check.finding
    named = finding is not None and (finding.kind in NAMED or finding.id in NO_PROGRAM)
    return check.status in CAN_BE_NAMED and not named


def _result(exercise: ExerciseResult, check: CheckResult) -> str:
    """Return a fingerprint of a failure: of its output, or else of the exception and its message."""
    if check.output is not None:
        return check.output
    finding = check.finding
    parts = (finding.kind, finding.id, finding.message) if finding is not None else ()
    return hashlib.sha256(repr((exercise.id, check.id, parts)).encode("utf-8", "surrogatepass")).hexdigest()
