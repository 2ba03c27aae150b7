"""The short ways to name an exercise on a command line."""

from collections.abc import Sequence

from autograder.course.model import Course, Exercise
from autograder.course.nearest import nearest


class UsageError(Exception):
    """A word on the command line means nothing here; the message is a sentence that says what would."""


def resolve_exercise(course: Course, word: str) -> Exercise:
    """Return the exercise that a word names: `5`, `05`, `ex05`, `attention`, `ex05_attention`, or a beginning.

    Raises `UsageError` where no exercise or several are meant.
    """
    asked = word.strip().lower().replace("-", "_")
    named = [each for each in course.exercises if asked in _names(each)]
    begun = [each for each in course.exercises if asked and any(name.startswith(asked) for name in _words(each))]
    meant = named or begun
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise UsageError(f"{word!r} could be {_listed(meant)}; write more of the name")
    near = _nearest(course, asked)
    hint = f"is {near.id} meant? " if near else ""
    raise UsageError(f"no exercise is called {word!r}; {hint}there are {_listed(course.exercises)}")


def _words(exercise: Exercise) -> tuple[str, str]:
    """Return the id and the id without its number."""
    return exercise.id, exercise.id.split("_", 1)[1]


def _names(exercise: Exercise) -> set[str]:
    digits = {exercise.number, str(int(exercise.number))}
    return {*_words(exercise), *digits, *(f"ex{each}" for each in digits)}


def _nearest(course: Course, asked: str) -> Exercise | None:
    words = {word: each for each in course.exercises for word in _words(each)}
    near = nearest(asked, words)
    return words[near] if near else None


def _listed(exercises: Sequence[Exercise]) -> str:
    return ", ".join(each.id for each in exercises)
