"""Read the [[assignments]] of course.toml: which exercises are handed in together, when, and by which rules.

A class with assignments hands in, and is graded, several times in a term. Without any, the course is one assignment.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from autograder.course.grading import KEYS as GRADING
from autograder.course.grading import as_time, grading_of, without_full_bonus
from autograder.course.model import Assignment, Course
from autograder.course.names import UsageError
from autograder.course.nearest import suggestion
from autograder.course.section import Section, as_line, as_number, as_tables, as_text, as_texts, quoted
from autograder.course.taking import taking

ZERO = timedelta()
OWN_GRADING = tuple(key for key in GRADING if key not in ("time_zone", "drop_assignments"))
KEYS = ("id", "title", "exercises", "release", "builds_on", "weight", *OWN_GRADING)
"""The keys of an assignment in course.toml."""


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


def up_to(course: Course, assignment: Assignment) -> Course:
    """Return the course with the exercises of an assignment and of those before it: what a class has by then."""
    until = course.assignments.index(assignment) + 1
    return taking(course, tuple(id_ for one in course.assignments[:until] for id_ in one.exercises))


def too_early(assignment: Assignment) -> str:
    """Return a warning if an assignment is not yet to be released, else ""."""
    zone = assignment.grading.zone
    if assignment.release is None or datetime.now(zone).replace(tzinfo=None) >= assignment.release:
        return ""
    return f"{assignment.id} is to be released at {assignment.release:%Y-%m-%d %H:%M}, and that is still to come"


def due_sentences(course: Course, now: datetime) -> list[str]:
    """Return what is due next: the assignments whose due date is to come, in their order. `now` has a time zone."""
    sentences = []
    for one in course.assignments:
        due = one.grading.due
        taken = any(exercise.id in one.exercises for exercise in course.exercises)
        if due is not None and taken and (left := due - now.astimezone(one.grading.zone).replace(tzinfo=None)) > ZERO:
            days = f"{left.days} days left" if left.days > 1 else f"{left.days * 24 + left.seconds // 3600} hours left"
            sentences.append(f"{one.title}: due {due:%Y-%m-%d %H:%M} ({one.grading.zone}), {days}")
    return sentences


def _assignment(top: Section, section: Section, course: Course) -> Assignment:
    section.expect_keys(*KEYS)
    id_ = section.value("id", "a name in lower case, like week1", _as_id) or ""
    if id_ in {part.id for part in course.parts}:
        section.note("id", f"{id_} is the id of a part already, choose another")
    builds_on = section.value("builds_on", '"own" or "reference"', _as_builds_on, required=False)
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
        weight=section.value("weight", "a number above 0", _as_weight, required=False),
    )


def _exercises(section: Section, course: Course) -> tuple[str, ...]:
    """Return the exercises that an assignment lists, by id or as a part."""
    names = section.value("exercises", "a list of exercise ids, or of parts", as_texts) or ()
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


def _as_id(value: object) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"(?!ex\d)[a-z][a-z0-9_-]*", value) else None


def _as_builds_on(value: object) -> str | None:
    return value if as_text(value) in ("own", "reference") and isinstance(value, str) else None


def _as_weight(value: object) -> Decimal | None:
    weight = as_number(value)
    return weight if weight is not None and 0 < weight <= 10_000 else None
