"""The grading policy as pure functions: what exercises count, late penalties, points added by hand, the curve."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_DOWN, Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

from autograder.course import Course, Grading, UsageError, assigned, find_assignment
from autograder.report import number, plural, points
from autograder.results import NOT_JUDGED, ExerciseResult, Report, joined

from .decisions import EVERYBODY, WHOLE, Adjustment, Adjustments, unlisted
from .roster import Roster, Student, named, to_utc

ACCEPTED = "accepted"
"""The key of run.json for the students of whom only accepted files are there, and no submission."""

BY_HAND = "points by hand"
"""What the points of the roster are called."""

CHECKS = "checks"
"""What the sum of the checks is called."""


@dataclass(frozen=True, eq=False)
class Policy:
    """The rules of a course for a class. `worth` are the points of each exercise, in hundredths and in order.

    `maximum` is their sum without bonus exercises: the one maximum of every table, page and export.
    """

    grading: Grading = field(default_factory=Grading)
    maximum: int = 10_000
    roster: Roster = field(default_factory=Roster)
    adjustments: Adjustments = field(default_factory=Adjustments)
    worth: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Lateness:
    """How many days late a submission is (None if unknown), the penalty in hundredths, and the reason."""

    days: int | None
    penalty: int
    sentence: str = ""


@dataclass(frozen=True)
class Final:
    """The final score for the gradebook, in hundredths; None, which is not zero, if there is none.

    There is none if the grader failed, nothing could be read, nothing was handed in, or everything is `excused`.
    `steps` lead from the checks to the score: what changes it, and by how much; they add up to it. `said` are notes
    that repeat a step in other words. `adjustments` are those of the student that count.
    """

    score: int | None
    handed_in: datetime | None
    lateness: Lateness
    notes: tuple[str, ...]
    steps: tuple[tuple[str, int], ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    excused: bool = False
    said: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether there is no score, and nobody has decided that there should be none."""
        return self.score is None and not self.excused


def policy_of(course: Course, roster: Roster, adjustments: Adjustments | None = None) -> Policy:
    """Return the policy of a course; without [grading] and adjustments it changes no score."""
    grading = course.grading or Grading()
    worth = {exercise.id: exercise.points for exercise in course.exercises}
    maximum = sum(points for id_, points in worth.items() if id_ not in grading.bonus)
    if course.assignments:
        _check_roster(roster)
    return Policy(grading, maximum, roster, (adjustments or Adjustments()).within(course), worth)


def _check_roster(roster: Roster) -> None:
    """Refuse agreements of the roster in a course with assignments: they would hold for each of them."""
    for row in roster.students:
        columns = {"due": row.due, "handed_in": row.handed_in, "points": row.points}
        if given := [name for name, value in columns.items() if value]:
            found = f"the roster has {given[0]} for {row.student}, which would hold for every assignment"
            raise UsageError(f"{found}; say for which one: course adjust {row.student} ASSIGNMENT KIND VALUE")


def final_of(policy: Policy, student: str, handed_in: datetime | None, report: Report | None) -> Final:
    """Return the final score of a report, or of a student without one.

    In this order: the exercises, as graded or as adjusted; what is excused or dropped leaves, and the rest is scaled to
    the maximum; bonus exercises; the late penalty; points for the whole; the curve. Each step gives whole hundredths,
    halves in favour of the student.
    """
    counted = count(policy, student, report)
    own, handed_in = _at_time_of_group(policy, student, handed_in, report)
    if report is None and counted.score is None and not counted.excused and _is_given(policy.roster[student], own):
        counted = Count(0, ((CHECKS, 0),))
    decided = next((row.due for row in _of_kind(own, "handed_in")), None)
    made = final_score(policy, student, decided or handed_in, counted.score, nothing=report is None)
    steps = [*counted.steps, *made.steps[1:]] if counted.score is not None else []
    score = made.score
    for row in (row for row in (*_of_kind(own, "points"), *_of_kind(own, "add")) if row.is_whole):
        before = 0 if score is None else score
        if row.kind == "points" or score is not None:
            score = row.amount if row.kind == "points" else before + row.amount
            steps.append((row.sentence, score - before))
    if score is not None and policy.grading.curve:
        curved = on_curve(policy, score)
        steps.append(("curve", curved - score))
        made = replace(made, notes=(*made.notes, f"{score / 100:.2f} before the curve"))
        score = curved
    notes = (*made.notes, *counted.notes, *(row.sentence for row in own))
    excused = counted.excused and score is None
    return replace(made, score=score, notes=notes, steps=tuple(steps), adjustments=own, excused=excused)


def _at_time_of_group(
    policy: Policy, student: str, handed_in: datetime | None, report: Report | None
) -> tuple[tuple[Adjustment, ...], datetime | None]:
    """Return the adjustments that count for a student, and the time (UTC) of the hand-in that counts.

    A time on the roster overrides the time of the download. In a group both are those of the member who handed in, and
    a time that is decided too. If the hand-in has the name of the group, or no time is known, it is of all members.
    """
    own, row = policy.adjustments.of(student), policy.roster[student]
    by = report.submission.get("handed_in_by") if report is not None else None
    if not isinstance(by, str):
        return own, row.handed_in or handed_in
    members = policy.roster.in_group(row.group) or (student,)
    handing_in = (by,) if by in policy.roster else members
    known = max(filter(None, (policy.roster[one].handed_in for one in handing_in)), default=handed_in)
    decided = _times(policy, handing_in) or (_times(policy, members) if known is None else [])
    return (*(one for one in own if one.kind != "handed_in"), *decided[-1:]), known


def _times(policy: Policy, students: Iterable[str]) -> list[Adjustment]:
    """Return the times that were decided about students, those for everybody first, then by time."""
    found = (row for one in students for row in policy.adjustments.of(one) if row.kind == "handed_in" and row.due)
    return sorted(found, key=lambda row: (not row.is_for_everybody, row.due or datetime.min.replace(tzinfo=UTC)))


@dataclass(frozen=True)
class Count:
    """The exercises of a student together, before lateness; no score if one that counts was not judged.

    `excused` says that no exercise is left to count.
    """

    score: int | None
    steps: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    excused: bool = False


def count(policy: Policy, student: str, report: Report | None) -> Count:
    """Return what the exercises of a report are worth together, by adjustments, `drop_lowest` and bonus.

    A report of `course check` may have some of the exercises only: then only those count. An exercise that is worth
    nothing, as it belongs to an earlier assignment, changes nothing. If a student who handed in nothing got points for
    an exercise, the others are worth 0.
    """
    own = policy.adjustments.of(student)
    void = [row for row in own if row.kind == "void"]
    if not (void and policy.grading.drop_lowest):
        return _count(policy, own, report)
    # More points may change which exercise is dropped, and then make the sum smaller: such a void check stays out.
    rest = [row for row in own if row.kind != "void"]
    made = _count(policy, rest, report)
    for row in void:
        tried = _count(policy, [*rest, row], report)
        if tried.score is None or made.score is None or tried.score >= made.score:
            rest, made = [*rest, row], tried
    return made


def _count(policy: Policy, own: Sequence[Adjustment], report: Report | None) -> Count:
    results = {exercise.id: exercise for exercise in report.exercises} if report is not None else {}
    all_worth = policy.worth or {id_: exercise.max_score for id_, exercise in results.items()}
    worth = {id_: most for id_, most in all_worth.items() if report is None or id_ in results}
    excused = {WHOLE if row.is_whole else row.exercise for row in own if row.kind == "excused"}
    bonus = policy.grading.bonus
    counting = [id_ for id_ in worth if worth[id_] and id_ not in excused and id_ not in bonus]
    if excused and (WHOLE in excused or not counting):
        return Count(None, excused=True)
    steps = [(CHECKS, report.score if report is not None else 0)]
    given = report is None and any(_gives(row) and row.exercise in worth for row in own)
    judged = {id_: one.score for id_, one in results.items() if one.status not in NOT_JUDGED}
    graded = {id_: 0 if given else judged.get(id_) for id_ in worth}
    voided = {id_: _with_void_checks(graded[id_], own, results.get(id_), steps) for id_ in worth}
    scores = {id_: _exercise_score(voided[id_], own, id_, steps) for id_ in worth}
    extra = [id_ for id_ in worth if worth[id_] and id_ not in excused and id_ in bonus]
    known = {id_: score for id_ in (*counting, *extra) if (score := scores[id_]) is not None}
    if len(known) < len(counting) + len(extra) or (report is None and not known):
        return Count(None)
    dropped = lowest({id_: known[id_] for id_ in counting}, worth, policy.grading.drop_lowest)
    kept = [id_ for id_ in counting if id_ not in dropped]
    score, possible = sum(known[id_] for id_ in kept), sum(worth[id_] for id_ in kept)
    full = sum(most for id_, most in worth.items() if id_ not in bonus)
    if possible not in (0, full):
        score = _half_up(Fraction(score * full, possible))
    score += sum(known[id_] for id_ in extra)
    if change := score - sum(delta for _, delta in steps):
        why = " and ".join([*(["excused"] if excused else []), *(["dropped"] if dropped else [])])
        steps.append((f"without the {why} exercises, scaled to {points(full)} points", change))
    left = joined([f"exercise {number(id_)}" for id_ in worth if id_ in dropped])
    return Count(score, tuple(steps), (f"the lowest does not count: {left}",) if dropped else ())


def _is_given(row: Student, own: Iterable[Adjustment]) -> bool:
    """Say whether a person gave points for all exercises together."""
    return bool(row.points) or any(one.is_whole and _gives(one) for one in own)


def _gives(row: Adjustment) -> bool:
    """Say whether it gives points to a student who handed in nothing; what is added for everybody does not."""
    return row.kind == "points" or (row.kind == "add" and not row.is_for_everybody)


def _of_kind(own: Iterable[Adjustment], kind: str) -> list[Adjustment]:
    """Return the adjustments of a kind: those of the student before those for everybody."""
    return sorted((row for row in own if row.kind == kind), key=lambda row: row.is_for_everybody)


def _with_void_checks(
    score: int | None, own: Iterable[Adjustment], result: ExerciseResult | None, steps: list[tuple[str, int]]
) -> int | None:
    """Return the score of an exercise with the points of its void checks that do not pass, and add these steps."""
    if score is None or result is None:
        return score
    for row in own:
        if row.kind == "void" and row.exercise == result.id:
            lost = sum(max(check.max_score - check.score, 0) for check in result.checks if check.id == row.value)
            score += lost
            steps += [(row.sentence, lost)] if lost else []
    return score


def _exercise_score(score: int | None, own: Iterable[Adjustment], id_: str, steps: list[tuple[str, int]]) -> int | None:
    """Return the score of an exercise as graded, or as adjusted, and add the adjustments to the steps."""
    for row in (*_of_kind(own, "points"), *_of_kind(own, "add")):
        if row.exercise == id_ and (row.kind == "points" or score is not None):
            before = score or 0
            score = row.amount if row.kind == "points" else before + row.amount
            steps.append((row.sentence, score - before))
    return score


def lowest(scores: Mapping[str, int], worth: Mapping[str, int], number_of: int) -> frozenset[str]:
    """Return the exercises with the lowest share of their points, the later first of equals; never all of them."""
    order = list(scores)
    by_share = sorted(order, key=lambda id_: (Fraction(scores[id_], max(worth[id_], 1)), -order.index(id_)))
    return frozenset(by_share[: min(number_of, len(order) - 1)])


def on_curve(policy: Policy, score: int) -> int:
    """Return a score on the curve of the course. Beyond its ends it goes on with the same distance."""
    percent = Fraction(score * 100, max(policy.maximum, 1))
    curve = [(Fraction(low), Fraction(high)) for low, high in policy.grading.curve]
    if percent <= 0 or percent >= 100:
        at, mark = curve[0] if percent <= 0 else curve[-1]
        return _half_up((mark + percent - at) * policy.maximum / 100)
    (low, from_), (high, to) = next(pair for pair in pairwise(curve) if pair[0][0] <= percent <= pair[1][0])
    return _half_up((from_ + (percent - low) * (to - from_) / (high - low)) * policy.maximum / 100)


def _half_up(exact: Fraction) -> int:
    return floor(exact + Fraction(1, 2))


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


def can_earn(policy: Policy, student: str, now: datetime, exercise: str) -> bool:
    """Say whether all points of an exercise can still be earned: nothing is taken off yet, and nobody decided."""
    decided = (row for row in policy.adjustments.of(student) if row.kind in ("points", "excused", "void"))
    if any(row.is_whole or row.exercise == exercise for row in decided):
        return False
    return late_penalty(policy, student, now, policy.maximum).penalty == 0


def final_score(
    policy: Policy,
    student: str,
    handed_in: datetime | None,
    score: int | None,
    *,
    nothing: bool = False,
) -> Final:
    """Return the final score: minus the late penalty, plus the points added by hand.

    `score` is None if the grader failed. `nothing` says that nothing was handed in, so that no time is missing.
    """
    row = policy.roster[student]
    on_time = nothing and handed_in is None
    lateness = Lateness(0, 0) if on_time else late_penalty(policy, student, handed_in, score or 0)
    notes = [lateness.sentence] if lateness.sentence else []
    steps = [(CHECKS, score or 0)]
    if lateness.penalty:
        steps.append((lateness.sentence, -lateness.penalty))
    if policy.roster and student not in policy.roster:
        notes.append("not on the roster")
    if row.points:
        steps.append((BY_HAND, row.points))
    said = (f"{row.points / 100:+.2f} {BY_HAND}",) if row.points else ()
    notes += said
    if score is None:
        return Final(None, handed_in, Lateness(lateness.days, 0, lateness.sentence), tuple(notes))
    return Final(score - lateness.penalty + row.points, handed_in, lateness, tuple(notes), tuple(steps), said=said)


def deadline(policy: Policy, student: str, days: int) -> datetime | None:
    """Return the moment (UTC) until which a submission is at most this many days late; None without a due date.

    Days are calendar days in the time zone of the course. Each ends at the hour of the due date on the local clock, so
    a day on which the clocks change has 23 or 25 hours.
    """
    grading, row = policy.grading, policy.roster[student]
    given = next(iter(_of_kind(policy.adjustments.of(student), "extension")), None)
    due = given.due if given is not None else row.due
    if due is not None:
        local = due.astimezone(grading.zone).replace(tzinfo=None)
    elif grading.due is not None:
        local = grading.due + timedelta(days=given.amount if given is not None else row.extension_days)
    else:
        return None
    return to_utc(local + timedelta(days=days), grading.zone) + timedelta(minutes=grading.grace_minutes)


def due_date(policy: Policy, student: str) -> datetime | None:
    """Return the moment (UTC) that students know as the due date: without the minutes of grace. None without one."""
    last = deadline(policy, student, 0)
    return last - timedelta(minutes=policy.grading.grace_minutes) if last is not None else None


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
    """Return the students without a submission: those on the roster, in its order, or those with a decision."""
    submitted = set(students)
    listed = (student.student for student in policy.roster.students)
    own = () if policy.roster else policy.adjustments.students  # who is not on the roster has left
    decided = (one for one in own if not final_of(policy, one, None, None).is_open)
    return tuple(student for student in dict.fromkeys((*listed, *decided)) if student not in submitted)


# Rules about time that cannot count: the time of a submission is unknown or cannot be true, or nothing is due.


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
    found = list(filter(None, [unlisted(policy.roster, policy.adjustments.rows)]))
    own = {student: policy.adjustments.of(student) for student in (*policy.adjustments.students, EVERYBODY)}
    days = [row.student for row in policy.roster.students if row.extension_days]
    days += [student for student, rows in own.items() if any(row.kind == "extension" and not row.due for row in rows)]
    if policy.grading.due is None and days:
        students = ["everybody" if student == EVERYBODY else student for student in dict.fromkeys(days)]
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


# What is unusual about a decision, and may be meant.


def warnings_about(course: Course, row: Adjustment) -> tuple[str, ...]:
    """Return what a person should know who has just added a row: it gives more than there is, or changes nothing."""
    warnings = (_above_maximum(course, row), _without_due_date(course, row), _in_no_assignment(course, row))
    return tuple(filter(None, warnings))


def _above_maximum(course: Course, row: Adjustment) -> str:
    """Return a warning if somebody gets more points than there are, which may be meant; else ""."""
    if row.kind not in ("points", "add") or row.amount <= (most := _maximum(course, row)):
        return ""
    given = f"{points(row.amount)} points for {row.subject} are more than its {points(most)}"
    return f"{row.who}: {given}, and they count; if that is a mistake, add another row"


def _without_due_date(course: Course, row: Adjustment) -> str:
    """Return a warning if more days or a time change nothing, because nothing is due; else ""."""
    grading = course.grading
    if row.kind not in ("extension", "handed_in") or (row.kind == "extension" and row.due is not None):
        return ""
    if row.exercise == WHOLE:
        is_due = bool(grading and grading.due) or any(one.grading.due for one in course.assignments)
    else:
        is_due = find_assignment(course, row.exercise).grading.due is not None
    found = f"{row.subject} has no due date, so this changes nothing"
    return "" if is_due else f"{row.who}: {found}; add due to course.toml"


def _in_no_assignment(course: Course, row: Adjustment) -> str:
    """Return a warning if an exercise is in none of the assignments, so that its mark is nowhere; else ""."""
    if row.is_whole or not course.assignments or any(row.exercise in one.exercises for one in course.assignments):
        return ""
    return f"{row.who}: {row.subject} is in no assignment, so this changes nothing; correct the number of the exercise"


def _maximum(course: Course, row: Adjustment) -> int:
    """Return the points of what a row is about, in hundredths."""
    if not row.is_whole:
        return course.exercise(row.exercise).points
    whole = course if row.exercise == WHOLE else assigned(course, find_assignment(course, row.exercise))
    return policy_of(whole, Roster()).maximum
