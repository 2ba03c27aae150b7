"""Rules about time that cannot count: the time of a submission is unknown or cannot be true, or nothing is due."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from autograder.course import Course
from autograder.report import plural
from autograder.submission import to_utc

from .graded import Graded, named
from .policy import Final, Policy
from .shards import ACCEPTED


def of_class(graded: Graded) -> list[str]:
    """Return what to look at in a folder of `course grade`; a single report has no time of its own."""
    finals = {mark.student: mark.final for mark in graded.with_report if mark.final is not None}
    return times_to_look_at(graded.course, graded.policy, finals, graded.run) if graded.run else []


def times_to_look_at(course: Course, policy: Policy, finals: Mapping[str, Final], run: Mapping[str, Any]) -> list[str]:
    """Return what keeps the rules about late work from counting: times that are unknown, to come, or far too early.

    `run` is what run.json has: a student of whom there are only accepted files handed in nothing that could be late.
    """
    accepted = run.get(ACCEPTED) or ()
    about = f" to {course.assignment.id}" if course.assignment else ""
    word = course.assignment.id if course.assignment else "'*'"
    fix = f"course adjust STUDENT {word} handed_in TIME --text WHY"
    scored = {student: final for student, final in finals.items() if final.score is not None}
    unknown = [student for student, one in scored.items() if student not in accepted and _needs_time(policy, one)]
    times = {student: final.handed_in for student, final in finals.items() if final.handed_in is not None}
    later = [student for student, time in times.items() if time > datetime.now(UTC)]
    start = _start(course, policy)
    early = [student for student, time in times.items() if start is not None and time < start]
    found = []
    if unknown:
        count = f"{len(unknown)} of {plural(len(scored), 'submission')}{about}"
        have = "has" if len(unknown) == 1 else "have"
        how = f"add the times: {fix}, or see `Submission times` in docs/grading.md"
        found.append(f"no late penalty: {count} {have} no known time ({named(unknown)}); {how}")
    if later:
        count = f"{plural(len(later), 'submission')}{about}"
        found.append(f"{count} {'has' if len(later) == 1 else 'have'} a time in the future ({named(later)}); {fix}")
    if early and start is not None:
        count = f"{plural(len(early), 'submission')}{about}"
        has = "has" if len(early) == 1 else "have"
        when = f"{start.astimezone(policy.grading.zone):%Y-%m-%d}"
        found.append(f"{count} {has} a time before {when}, when work could begin ({named(early)}); {fix}")
    return found


def without_effect(policy: Policy) -> list[str]:
    """Return which rules and agreements change nothing, because the course lacks what they need."""
    found = []
    own = {student: policy.adjustments.of(student) for student in policy.adjustments.students}
    days = [row.student for row in policy.roster.students if row.extension_days]
    days += [student for student, rows in own.items() if any(row.kind == "extension" and not row.due for row in rows)]
    if policy.grading.due is None and days:
        students = list(dict.fromkeys(days))
        found.append(f"there is no due date, so more days change nothing for {named(students)}; add due to [grading]")
    counting = sum(bool(most) and id_ not in policy.grading.bonus for id_, most in policy.worth.items())
    if 0 < counting <= (dropped := policy.grading.drop_lowest):
        what = f"drop_lowest is {dropped}, and this run has {plural(counting, 'exercise')} that can be dropped"
        found.append(f"{what}; one is always kept")
    return found


def _needs_time(policy: Policy, final: Final) -> bool:
    """Say whether a penalty may be due, and nobody knows: without a time, and without a mark given for the whole.

    From 0 points nothing can be taken off.
    """
    rules = policy.grading.late_percent or policy.grading.late_days is not None
    given = any(row.is_whole and row.kind == "points" for row in final.adjustments)
    return bool(rules and final.score) and final.lateness.days is None and not given


def _start(course: Course, policy: Policy) -> datetime | None:
    """Return when work could begin: the release of the assignment, or a year before it is due."""
    release = course.assignment.release if course.assignment else None
    due = policy.grading.due
    local = release or (due - timedelta(days=366) if due is not None else None)
    return to_utc(local, policy.grading.zone) if local is not None else None
