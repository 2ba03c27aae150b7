"""The exercises that a class takes: all of a course, some of its parts, or chosen exercises.

Only they are listed, checked, graded, counted, exported and released. What they build on beside them comes from
reference parts, as no student has a file of it.
"""

from collections.abc import Sequence
from dataclasses import replace

from autograder.course.model import Course
from autograder.course.names import UsageError, resolve_exercise
from autograder.course.section import Section, as_texts


def read_take(top: Section, course: Course) -> tuple[str, ...]:
    """Return the optional `take` of course.toml: ids of parts and of exercises."""
    expected = 'a list of parts and exercises by id, like ["two"]'
    take = top.value("take", expected, lambda value: as_texts(value) or None, required=False) or ()
    known = [*(part.id for part in course.parts), *(exercise.id for exercise in course.every)]
    otherwise = "expected the id of a part or of an exercise"
    top.expect_names("take", take, known, "no part and no exercise", otherwise)
    if take and set(take) <= set(known) and not taking(course, take).exercises:
        top.note("take", "take lists only parts without exercises, expected at least one exercise")
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
        raise UsageError("a part without exercises cannot be released; name another one")
    return take


def taking(course: Course, take: Sequence[str]) -> Course:
    """Return the course with only these parts and exercises, and the activities that need no others; all for none."""
    if not take:
        return course
    ids = {id_ for part in course.parts if part.id in take for id_ in part.exercises} | set(take)
    exercises = tuple(exercise for exercise in course.every if exercise.id in ids)
    play = tuple(activity for activity in course.play if ids.issuperset(activity.needs))
    return replace(course, exercises=exercises, everything=course.every, play=play, take=tuple(take))
