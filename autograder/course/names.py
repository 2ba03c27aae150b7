"""Resolve the short names of exercises that people type on a command line."""

from collections.abc import Sequence

from autograder.course.model import Course, Exercise
from autograder.course.nearest import nearest, unknown

LONGEST_NUMBER = 6
"""Digits. Longer numbers are no slip of the keyboard."""

_LIST = "`course list` shows all exercises."


class UsageError(Exception):
    """A command was used in a way it does not support; the message says what to type instead."""


def resolve_exercise(course: Course, word: str) -> Exercise:
    """Return the exercise that a word names: `5`, `05`, `ex05`, `attention`, `ex05_attention`, or a prefix.

    Raises `UsageError` if the word fits no exercise, or several.
    """
    typed = word.strip().lower().replace("-", "_")
    exact = [exercise for exercise in course.exercises if typed in _names(exercise)]
    by_prefix = [
        exercise for exercise in course.exercises if typed and any(name.startswith(typed) for name in _words(exercise))
    ]
    matches = exact or by_prefix
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"{word!r} could be {_listed(matches)}; write more of the name")
    raise UsageError(_unknown_exercise(course, word, typed))


def is_number(word: str) -> bool:
    """Say whether a word is a number as exercises have them: `7`, `07` or `ex07`."""
    digits = word.strip().lower().removeprefix("ex")
    return digits.isdecimal() and len(digits) <= LONGEST_NUMBER


def _unknown_exercise(course: Course, word: str, typed: str) -> str:
    """Return the sentences for a word that names no exercise: for a number outside the course, its numbers."""
    numbers = [int(exercise.number) for exercise in course.exercises]
    is_whole = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[-1] + 1))
    if is_number(typed) and is_whole:
        count = f"There are {len(numbers)} exercises: {numbers[0]} to {numbers[-1]}."
        return unknown("exercise", word, more=f"{count} {_LIST}")
    near = _nearest(course, typed)
    return unknown("exercise", word, [near.id if near else None], more=_LIST)


def names_of(exercise: Exercise) -> list[str]:
    """Return what an exercise can be called, the shortest name first and its id last."""
    id_, name = _words(exercise)
    return [*sorted(_names(exercise) - {id_, name}, key=lambda word: (len(word), word)), name, id_]


def _words(exercise: Exercise) -> tuple[str, str]:
    """Return the id and the id without its number."""
    return exercise.id, exercise.id.split("_", 1)[1]


def _names(exercise: Exercise) -> set[str]:
    digits = {exercise.number, str(int(exercise.number))}
    return {*_words(exercise), *digits, *(f"ex{number}" for number in digits)}


def _nearest(course: Course, typed: str) -> Exercise | None:
    """Return the exercise with the nearest number if a number was typed, else the one with the most similar name."""
    if is_number(typed):
        number = int(typed.removeprefix("ex"))
        return min(course.exercises, key=lambda exercise: abs(int(exercise.number) - number), default=None)
    words = {word: exercise for exercise in course.exercises for word in _words(exercise)}
    near = nearest(typed, words)
    return words[near] if near else None


def _listed(exercises: Sequence[Exercise]) -> str:
    return ", ".join(exercise.id for exercise in exercises)
