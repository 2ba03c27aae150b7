"""What a class makes of a score: lateness, bonus exercises, points given by hand. All of it pure functions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_HALF_DOWN, Decimal

from autograder.course import Course, Grading
from autograder.instructor.gradebook.roster import Roster
from autograder.submission.times import moment


@dataclass(frozen=True, eq=False)
class Policy:
    """The rules of a course for a class. `maximum` is what the exercises that are no bonus are worth, in hundredths."""

    grading: Grading = field(default_factory=Grading)
    maximum: int = 10_000
    roster: Roster = field(default_factory=Roster)


@dataclass(frozen=True)
class Lateness:
    """How many days late a submission is, None where that is not known, what it costs in hundredths, and why."""

    days: int | None
    penalty: int
    sentence: str = ""


@dataclass(frozen=True)
class Final:
    """What goes into a gradebook, in hundredths; `score` is None where the grader failed: no honest zero."""

    score: int | None
    handed_in: datetime | None
    lateness: Lateness
    notes: tuple[str, ...]


def policy_of(course: Course, roster: Roster) -> Policy:
    """Return the policy of a course; one without [grading] changes no score."""
    grading = course.grading or Grading()
    return Policy(
        grading, sum(exercise.points for exercise in course.exercises if exercise.id not in grading.bonus), roster
    )


def late(policy: Policy, student: str, handed_in: datetime | None, score: int) -> Lateness:
    """Return how late a submission is and what of its score, in hundredths, that costs.

    A penalty is rounded to a whole hundredth, a half in favour of the student, and never more than the score.
    """
    grading = policy.grading
    if deadline(policy, student, 0) is None:
        return Lateness(0, 0)
    if handed_in is None:
        return Lateness(None, 0, "when it was handed in is not known, so nothing is taken off")
    days = days_late(policy, student, handed_in)
    if days == 0:
        return Lateness(0, 0)
    told = f"{days} {'day' if days == 1 else 'days'} late"
    if grading.late_days is not None and days > grading.late_days:
        return Lateness(days, max(score, 0), f"{told}, and nothing counts after {grading.late_days}")
    if not grading.late_percent:
        return Lateness(days, 0, told)
    percent = min(grading.late_percent * days, grading.late_most)
    base = policy.maximum if grading.late_of == "max" else score
    exact = max(Decimal(base), Decimal(0)) * percent / 100
    penalty = min(int(exact.quantize(Decimal(1), ROUND_HALF_DOWN)), max(score, 0))
    of = "the maximum" if grading.late_of == "max" else "the score"
    return Lateness(days, penalty, f"{told}: {percent.normalize():f} % of {of} taken off")


def final(policy: Policy, student: str, handed_in: datetime | None, score: int | None) -> Final:
    """Return what a score becomes: less what lateness costs, and with the points that were given by hand.

    `score` is None where the grader failed. A time on the roster counts before one of the download.
    """
    row = policy.roster[student]
    handed_in = row.handed_in or handed_in
    lateness = late(policy, student, handed_in, score or 0)
    notes = [lateness.sentence] if lateness.sentence else []
    if policy.roster and student not in policy.roster:
        notes.append("not on the roster")
    if row.points:
        notes.append(f"{row.points / 100:+.2f} points by hand")
    if score is None:
        return Final(None, handed_in, Lateness(lateness.days, 0, lateness.sentence), tuple(notes))
    return Final(score - lateness.penalty + row.points, handed_in, lateness, tuple(notes))


def deadline(policy: Policy, student: str, days: int) -> datetime | None:
    """Return the moment (UTC) up to which a submission is no more than so many days late, None without a due date.

    Days are days of the calendar where the course is: each ends at the hour of the due date on the clocks there,
    so that one on which clocks change has 23 or 25 hours.
    """
    grading, row = policy.grading, policy.roster[student]
    if row.due is not None:
        wall = row.due.astimezone(grading.zone).replace(tzinfo=None)
    elif grading.due is not None:
        wall = grading.due + timedelta(days=row.extension_days)
    else:
        return None
    return moment(wall + timedelta(days=days), grading.zone) + timedelta(minutes=grading.grace_minutes)


def days_late(policy: Policy, student: str, handed_in: datetime) -> int:
    """Return the number of days started after the deadline, 0 in time."""
    first = deadline(policy, student, 0)
    if first is None or handed_in <= first:
        return 0
    days = max((handed_in - first).days - 2, 0)  # zones shift by hours, so this is never too many
    while (end := deadline(policy, student, days)) is not None and end < handed_in:
        days += 1
    return days


def missing(policy: Policy, students: Iterable[str]) -> tuple[str, ...]:
    """Return who is on the roster and has handed in nothing, in its order."""
    there = set(students)
    return tuple(student.student for student in policy.roster.students if student.student not in there)
