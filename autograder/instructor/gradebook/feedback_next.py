"""What a student is told to do next: the exercise to begin with, and why that one."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.course import Course
from autograder.report.words import STATES, listed, number, points
from autograder.results import ExerciseResult

MOST_NAMED = 5

Command = tuple[str, str]
"""What to type, and what it does."""


@dataclass(frozen=True)
class Next:
    """The exercise to begin with, why, the commands that help, and what comes after it, in the course's order."""

    exercise: ExerciseResult
    why: tuple[str, ...]
    commands: tuple[Command, ...]
    after: tuple[ExerciseResult, ...]


def next_of(course: Course, exercises: Sequence[ExerciseResult]) -> Next | None:
    """Return what to begin with: the first exercise that fails, else the first that is not done; None without one.

    What the grader failed on is left out: there is nothing in it for a student to do.
    """
    failing = [each for each in exercises if _wrong(each)]
    unwritten = [each for each in exercises if each.status in ("missing", "not_started", "waits")]
    order = [*failing, *unwritten]
    if not order:
        return None
    first, *after = order
    reason = "Nothing is written yet." if len(unwritten) == len(exercises) else _first_of(first, failing, unwritten)
    why = (reason, _left(first), _builds(course, first))
    return Next(first, tuple(filter(None, why)), _commands(first), tuple(after))


def named(exercises: Sequence[ExerciseResult]) -> str:
    """Return the first few exercises by number and title, and how many more there are."""
    names = [f"{number(each.id)} {each.title}" for each in exercises[:MOST_NAMED]]
    more = len(exercises) - len(names)
    return listed([*names, *([f"{more} more"] if more else [])])


def _wrong(exercise: ExerciseResult) -> bool:
    return exercise.status != "missing" and STATES[exercise.status].mark == "failed"


def _first_of(first: ExerciseResult, failing: Sequence[ExerciseResult], unwritten: Sequence[ExerciseResult]) -> str:
    if not _wrong(first):
        others = "the first of those that are not written" if len(unwritten) > 1 else "the only one that is not written"
        return f"Nothing that you have written fails, and this is {others}."
    if len(failing) > 1:
        return f"It is the first of the {len(failing)} that are written and do not pass."
    return "It is the only one that is written and does not pass."


def _left(exercise: ExerciseResult) -> str:
    left = exercise.max_score - exercise.score
    return f"{points(left)} of its {points(exercise.max_score)} points are still to be had." if left > 0 else ""


def _builds(course: Course, first: ExerciseResult) -> str:
    """Say which exercises build on it, directly or not."""
    known = {each.id: each for each in course.exercises}
    if first.id not in known:
        return ""
    wanted = known[first.id]
    numbers = [each.number for each in course.exercises if each is not wanted and wanted in course.with_needs(each)]
    if not numbers:
        return ""
    one = len(numbers) == 1
    return f"Exercise{'' if one else 's'} {listed(numbers)} build{'s' if one else ''} on it."


def _commands(exercise: ExerciseResult) -> tuple[Command, ...]:
    name, check = number(exercise.id), exercise.first_failure
    found = [(f"course check {name}", "checks it, and shows the numbers as well")]
    if not _wrong(exercise) or check is None:
        return tuple(found)
    if check.hints:
        found.append((f"course hint {name}", "gives the next hint"))
    if check.finding is not None and check.finding.kind == "misconception":
        found.append((f"course why {check.finding.id}", "explains the mistake"))
    return tuple(found)
