"""Read the [grading] of course.toml: when work is due, the penalty for late work, and the bonus exercises."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from itertools import pairwise

from .course import Assignment, Course, Grading, UsageError, left_out, resolve_exercise
from .toml import (
    Section,
    as_integer_to,
    as_line,
    as_list,
    as_match,
    as_number_to,
    as_tables,
    as_text,
    as_texts,
    quoted,
    suggestion,
)

GRADING_KEYS = (
    *("due", "time_zone", "grace_minutes", "late_percent", "late_of", "late_most", "late_days"),
    *("bonus", "drop_lowest", "curve", "drop_assignments"),
)

_LONGEST_GRACE = 7 * 24 * 60  # minutes: a week


def read_grading(top: Section, ids: Sequence[str], taken: Sequence[str]) -> Grading | None:
    """Return the settings of [grading], or None if the course has none.

    `ids` are the exercises of the course, and `taken` those that the class takes.
    """
    if "grading" not in top.table:
        return None
    section = top.section("grading")
    section.expect_keys(*GRADING_KEYS)
    if set(taken) < set(ids):
        section = Section(without_full_bonus(section.table, taken), section.path, section.label, section.problems)
    return grading_of(section, ids, taken, due_elsewhere="assignments" in top.table)


def without_full_bonus(table: Mapping[str, object], chosen: Sequence[str]) -> Mapping[str, object]:
    """Return rules without `bonus` if all chosen exercises of a course are a bonus: beside no others, they count."""
    is_full = bool(chosen) and set(as_texts(table.get("bonus")) or ()) >= set(chosen)
    return {key: value for key, value in table.items() if key != "bonus"} if is_full else table


def grading_of(section: Section, ids: Sequence[str], taken: Sequence[str], *, due_elsewhere: bool = False) -> Grading:
    """Return the rules in a table; `due_elsewhere` if assignments with due dates of their own inherit them."""
    known = "the name of a time zone, like Europe/Berlin (pip install tzdata, if this machine knows none)"
    zone = section.value("time_zone", known, _as_zone, required=False)
    due = _due(section, zone)
    for key in ("grace_minutes", "late_percent", "late_of", "late_most", "late_days"):
        if key in section.table and "due" not in section.table and not due_elsewhere:
            section.note(key, f"{key} has no effect without due; add due, or remove {key}")
    late_of = section.value("late_of", '"max" or "score"', as_match("max|score"), required=False)
    grace = section.value(
        "grace_minutes", f"an integer from 0 to {_LONGEST_GRACE}", as_integer_to(_LONGEST_GRACE), required=False
    )
    days = section.value("late_days", "an integer from 0 to 365", as_integer_to(365), required=False)
    return Grading(
        due=due,
        zone=zone or UTC,
        grace_minutes=grace or 0,
        late_percent=_percent(section, "late_percent") or Decimal(0),
        late_of="score" if late_of == "score" else "max",
        late_most=_percent(section, "late_most") or Decimal(100),
        late_days=days,
        bonus=(bonus := _bonus(section, ids, taken)),
        drop_lowest=_drop_lowest(section, len(set(taken or ids) - set(bonus))),
        curve=_curve(section),
        drop_assignments=section.value("drop_assignments", "a number, like 1", as_integer_to(365), required=False) or 0,
    )


def _due(section: Section, zone: tzinfo | None) -> datetime | None:
    expected = "a date and a time, like 2026-03-01T23:59:00"
    due = section.value("due", expected, as_time, required=False)
    if due is None:
        return None
    if due.tzinfo is not None:
        return due.astimezone(zone or UTC).replace(tzinfo=None)
    if "time_zone" not in section.table:
        section.note(
            "due", f"due is {quoted(due)}, expected time_zone beside it, or a time with its offset, like +01:00"
        )
    return due


def _percent(section: Section, key: str) -> Decimal | None:
    percent = section.value(key, "a number above 0 and at most 100", as_number_to(Decimal(100)), required=False)
    if percent is not None and percent != percent.quantize(Decimal("0.01")):
        section.note(key, f"{key} is {quoted(percent)}, expected at most two decimals")
    return percent


def _bonus(section: Section, ids: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    bonus = section.texts("bonus", "a list of exercise ids", required=False)
    section.expect_names("bonus", bonus, ids, "not an exercise", "expected the id of an exercise")
    if taken and set(bonus) >= set(taken):
        section.note("bonus", "bonus lists every exercise, so the maximum would be 0; remove at least one")
    return bonus


def _drop_lowest(section: Section, count: int) -> int:
    dropped = section.value("drop_lowest", "a number of exercises, like 1", as_integer_to(365), required=False) or 0
    if dropped >= max(count, 1):
        section.note("drop_lowest", f"drop_lowest is {dropped}, and {count} exercises count; expected fewer")
    return dropped


def _curve(section: Section) -> tuple[tuple[Decimal, Decimal], ...]:
    """Return the points of a curve; each score has one value, and a better score never has a lower one."""
    expected = "pairs of percent, from score to mark, like [[0, 0], [50, 60], [100, 100]]"
    curve = section.value("curve", expected, as_list(_as_pair, 2), required=False) or ()
    if curve:
        scores, marks = zip(*curve, strict=True)
        if scores[0] != 0 or scores[-1] != 100 or any(low >= high for low, high in pairwise(scores)):
            section.note("curve", "the scores of curve, the first of each pair, must rise from 0 to 100")
        if any(low > high for low, high in pairwise(marks)):
            section.note("curve", "a better score has a lower mark in curve; expected marks that never fall")
    return curve


def _as_pair(value: object) -> tuple[Decimal, Decimal] | None:
    pair = as_list(_as_share)(value) or ()
    return (pair[0], pair[1]) if len(pair) == 2 else None


def _as_share(value: object) -> Decimal | None:
    """Return a percentage from 0 to 200: a curve may lead above the maximum."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    share = Decimal(str(value))
    return share if 0 <= share <= 200 else None


def _as_zone(value: object) -> tzinfo | None:
    from zoneinfo import ZoneInfo  # few courses name a zone

    name = as_text(value)
    try:
        return None if name is None else UTC if name == "UTC" else ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def as_time(value: object) -> datetime | None:
    """Return a date and time between the years 1971 and 3000; None for anything else."""
    return value if isinstance(value, datetime) and 1971 <= value.year < 3000 else None


# The exercises that a class takes: all of a course, some of its parts, or chosen exercises.
#
# Only they are listed, checked, graded, counted, exported and released. What they build on beside them comes from
# reference parts, as no student has a file of it.


def read_take(top: Section, course: Course) -> tuple[str, ...]:
    """Return the optional `take` of course.toml: ids of parts and of exercises."""
    expected = 'a list of parts and exercises by id, like ["two"]'
    take = top.value("take", expected, lambda value: as_texts(value) or None, required=False) or ()
    known = [*(part.id for part in course.parts), *(exercise.id for exercise in course.every)]
    otherwise = "expected the id of a part or of an exercise"
    top.expect_names("take", take, known, "no part and no exercise", otherwise)
    if take and set(take) <= set(known) and not taking(course, take).exercises:
        empty = "take lists only parts without exercises, expected at least one exercise"
        top.note("take", left_out(taking(course, take)) or empty)
    return take


def resolve_take(course: Course, words: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the parts and exercises that somebody typed. Raises `UsageError` for other words."""
    parts = [part.id for part in course.parts]
    whole = replace(course, exercises=course.every)
    try:
        take = tuple(word if word in parts else resolve_exercise(whole, word).id for word in words)
    except UsageError as error:
        more = f" A part is also possible: {', '.join(parts)}." if parts else ""
        raise UsageError(f"{error}{more}") from None
    if not taking(course, take).exercises:
        raise UsageError(left_out(course) or "a part without exercises cannot be released; name another one")
    return take


def taking(course: Course, take: Sequence[str]) -> Course:
    """Return the course with only these parts and exercises, and the activities that need no others; all for none.

    An exercise whose own libraries are not installed here is never taken.
    """
    ids = {id_ for part in course.parts if part.id in take for id_ in part.exercises} | set(take)
    wanted = [exercise for exercise in course.every if exercise.id in ids] if take else course.exercises
    exercises = tuple(exercise for exercise in wanted if not exercise.missing)
    if not take and exercises == course.exercises:
        return course
    ids = {exercise.id for exercise in exercises}
    play = tuple(activity for activity in course.play if ids.issuperset(activity.needs))
    return replace(course, exercises=exercises, everything=course.every, play=play, take=tuple(take))


# Read the [[assignments]] of course.toml: which exercises are handed in together, when, and by which rules.
#
# A class with assignments hands in, and is graded, several times in a term. Without any, the course is one
# assignment.

OWN_GRADING = tuple(key for key in GRADING_KEYS if key not in ("time_zone", "drop_assignments"))
ASSIGNMENT_KEYS = ("id", "title", "exercises", "release", "builds_on", "weight", *OWN_GRADING)


def read_assignments(top: Section, course: Course) -> tuple[Assignment, ...]:
    """Return the assignments in their order. Each exercise belongs to one at most, and none needs a later one."""
    assignments: list[Assignment] = []
    owner: dict[str, str] = {}
    for section in top.tables("assignments", "at least one [[assignments]] table", as_tables):
        assignment = _assignment(top, section, course)
        if assignment.id in [earlier.id for earlier in assignments]:
            section.note("id", f"an earlier assignment already has the id {assignment.id}, choose another")
        for exercise in assignment.exercises:
            if exercise in owner:
                section.note("exercises", f"{exercise} is in {owner[exercise]} already; an exercise is handed in once")
            owner.setdefault(exercise, assignment.id)
        assignments.append(assignment)
    _note_order(top, course, assignments, owner)
    return tuple(assignments)


def find_assignment(course: Course, word: str) -> Assignment:
    """Return the assignment with that id. Raises `UsageError`."""
    ids = [assignment.id for assignment in course.assignments]
    if word in ids:
        return course.assignments[ids.index(word)]
    if not ids:
        raise UsageError("the course has no [[assignments]] in course.toml; leave --assignment out")
    hint = suggestion(word, ids, f"expected one of {', '.join(ids)}")
    raise UsageError(f"there is no assignment {quoted(word)}; {hint}")


def assigned(course: Course, assignment: Assignment) -> Course:
    """Return the course as one assignment: its exercises, with its due date and rules.

    If it builds on the students' own work, the exercises before it that it needs are run too, and are worth nothing.
    """
    own = set(assignment.exercises)
    wanted = own
    if assignment.builds_on == "own":
        every = replace(course, exercises=course.every)
        wanted = {needed.id for id_ in own for needed in every.with_all_needs(course.exercise(id_))}
    taken = taking(course, tuple(exercise.id for exercise in course.every if exercise.id in wanted))
    exercises = tuple(one if one.id in own else replace(one, points=0) for one in taken.exercises)
    return replace(taken, exercises=exercises, grading=assignment.grading, assignment=assignment)


def _assignment(top: Section, section: Section, course: Course) -> Assignment:
    section.expect_keys(*ASSIGNMENT_KEYS)
    id_ = section.value("id", "a name in lower case, like week1", as_match(r"(?!ex\d)[a-z][a-z0-9_-]*")) or ""
    if id_ in {part.id for part in course.parts}:
        section.note("id", f"{id_} is the id of a part already, choose another")
    builds_on = section.value("builds_on", '"own" or "reference"', as_match("own|reference"), required=False)
    exercises = _exercises(section, course)
    base = top.section("grading").table
    bonus = [one for one in as_texts(base.get("bonus")) or () if one in exercises]
    inherited = {**base, "bonus": bonus} if bonus else {key: base[key] for key in base if key != "bonus"}
    own = {key: section.table[key] for key in OWN_GRADING if key in section.table}
    rules = Section({**without_full_bonus(inherited, exercises), **own}, section.path, section.label, section.problems)
    grading = grading_of(rules, [exercise.id for exercise in course.every], exercises, due_elsewhere=True)
    return Assignment(
        id=id_,
        title=section.value("title", "one line that names the assignment", as_line) or "",
        exercises=exercises,
        grading=grading,
        release=_release(section, grading.due),
        builds_on="reference" if builds_on == "reference" else "own",
        weight=section.value("weight", "a number above 0", as_number_to(Decimal(10_000)), required=False),
    )


def _exercises(section: Section, course: Course) -> tuple[str, ...]:
    names = section.texts("exercises", "a list of exercise ids, or of parts")
    parts = {part.id: part.exercises for part in course.parts}
    ids = [exercise.id for exercise in course.every]
    otherwise = "expected the id of an exercise or of a part"
    section.expect_names("exercises", names, [*ids, *parts], "neither", otherwise)
    wanted = {id_ for name in names for id_ in parts.get(name, (name,))}
    return tuple(id_ for id_ in ids if id_ in wanted)


def _note_order(top: Section, course: Course, assignments: Sequence[Assignment], owner: Mapping[str, str]) -> None:
    """Record an assignment that needs an exercise of a later one: students do not have it yet."""
    order = [assignment.id for assignment in assignments]
    for at, assignment in enumerate(assignments):
        for id_ in assignment.exercises:
            for needed in course.exercise(id_).needs:
                if needed in owner and order.index(owner[needed]) > at:
                    section = Section(top.table, ("assignments", at), f"assignments {assignment.id}", top.problems)
                    section.note(
                        "exercises", f"{id_} needs {needed}, which the later {owner[needed]} has; reorder them"
                    )


def _release(section: Section, due: datetime | None) -> datetime | None:
    release = section.value("release", "a date and a time, like 2026-03-01T09:00:00", as_time, required=False)
    if release is not None and due is not None and release.replace(tzinfo=None) >= due:
        section.note("release", "release is not before due; correct one of them")
    return release.replace(tzinfo=None) if release is not None else None
