"""The grading policy as pure functions: late penalties, bonus exercises, points added by hand."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_HALF_DOWN, Decimal

from autograder.course import Course, Grading
from autograder.instructor.gradebook.roster import Roster
from autograder.report.quantities import plural
from autograder.submission.times import to_utc


@dataclass(frozen=True, eq=False)
class Policy:
    """The rules of a course for a class; `maximum` is the sum of all exercises except bonus ones, in hundredths."""

    grading: Grading = field(default_factory=Grading)
    maximum: int = 10_000
    roster: Roster = field(default_factory=Roster)


@dataclass(frozen=True)
class Lateness:
    """How many days late a submission is (None if unknown), the penalty in hundredths, and the reason."""

    days: int | None
    penalty: int
    sentence: str = ""


@dataclass(frozen=True)
class Final:
    """The final score for the gradebook, in hundredths; None, which is not zero, if the grader failed."""

    score: int | None
    handed_in: datetime | None
    lateness: Lateness
    notes: tuple[str, ...]


def policy_of(course: Course, roster: Roster) -> Policy:
    """Return the policy of a course; without [grading] it changes no score."""
    grading = course.grading or Grading()
    return Policy(
        grading, sum(exercise.points for exercise in course.exercises if exercise.id not in grading.bonus), roster
    )


def late_penalty(policy: Policy, student: str, handed_in: datetime | None, score: int) -> Lateness:
    """Return how late a submission is, and the penalty for a score in hundredths.

    A penalty is rounded to a whole hundredth, halves in favour of the student, and never exceeds the score.
    """
    grading = policy.grading
    if deadline(policy, student, 0) is None:
        return Lateness(0, 0)
    if handed_in is None:
        return Lateness(None, 0, "the time of submission is unknown, so there is no late penalty")
    days = days_late(policy, student, handed_in)
    if days == 0:
        return Lateness(0, 0)
    late_by = f"{plural(days, 'day')} late"
    if grading.late_days is not None and days > grading.late_days:
        return Lateness(days, max(score, 0), f"{late_by}: no points after {plural(grading.late_days, 'day')}")
    if not grading.late_percent:
        return Lateness(days, 0, late_by)
    percent = min(grading.late_percent * days, grading.late_most)
    base = policy.maximum if grading.late_of == "max" else score
    exact = max(Decimal(base), Decimal(0)) * percent / 100
    penalty = min(int(exact.quantize(Decimal(1), ROUND_HALF_DOWN)), max(score, 0))
    of = "the maximum" if grading.late_of == "max" else "the score"
    return Lateness(days, penalty, f"{late_by}: {percent.normalize():f} % of {of} taken off")


def final_score(policy: Policy, student: str, handed_in: datetime | None, score: int | None) -> Final:
    """Return the final score: minus the late penalty, plus the points added by hand.

    `score` is None if the grader failed. A time on the roster overrides the time of the download.
    """
    row = policy.roster[student]
    handed_in = row.handed_in or handed_in
    lateness = late_penalty(policy, student, handed_in, score or 0)
    notes = [lateness.sentence] if lateness.sentence else []
    if policy.roster and student not in policy.roster:
        notes.append("not on the roster")
    if row.points:
        notes.append(f"{row.points / 100:+.2f} points by hand")
    if score is None:
        return Final(None, handed_in, Lateness(lateness.days, 0, lateness.sentence), tuple(notes))
    return Final(score - lateness.penalty + row.points, handed_in, lateness, tuple(notes))


def deadline(policy: Policy, student: str, days: int) -> datetime | None:
    """Return the moment (UTC) until which a submission is at most this many days late; None without a due date.

    Days are calendar days in the time zone of the course. Each ends at the hour of the due date on the local clock, so
    a day on which the clocks change has 23 or 25 hours.
    """
    grading, row = policy.grading, policy.roster[student]
    if row.due is not None:
        local = row.due.astimezone(grading.zone).replace(tzinfo=None)
    elif grading.due is not None:
        local = grading.due + timedelta(days=row.extension_days)
    else:
        return None
    return to_utc(local + timedelta(days=days), grading.zone) + timedelta(minutes=grading.grace_minutes)


def days_late(policy: Policy, student: str, handed_in: datetime) -> int:
    """Return the number of days started after the deadline, 0 if in time."""
    first = deadline(policy, student, 0)
    if first is None or handed_in <= first:
        return 0
    # A change of the clocks shifts a day by hours, so two days less is never too many to start from.
    days = max((handed_in - first).days - 2, 0)
    while (end := deadline(policy, student, days)) is not None and end < handed_in:
        days += 1
    return days


def missing(policy: Policy, students: Iterable[str]) -> tuple[str, ...]:
    """Return the students on the roster without a submission, in roster order."""
    submitted = set(students)
    return tuple(student.student for student in policy.roster.students if student.student not in submitted)
