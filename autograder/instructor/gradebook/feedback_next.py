"""What a student should do next: the exercise to begin with, and why that one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.course import Course
from autograder.report.exercise_summary import number
from autograder.report.failure_view import Command
from autograder.report.quantities import listed, points
from autograder.report.states import state_of
from autograder.results import ExerciseResult

MOST_NAMED = 5
UNWRITTEN = ("missing", "not_started", "waits")


@dataclass(frozen=True)
class Next:
    """The exercise to begin with, why, the commands that help, and the exercises after it, in course order."""

    exercise: ExerciseResult
    why: tuple[str, ...]
    commands: tuple[Command, ...]
    after: tuple[ExerciseResult, ...]


def next_of(
    course: Course, exercises: Sequence[ExerciseResult], can_earn: Callable[[str], bool] = lambda _: True
) -> Next | None:
    """Return what to begin with: the first exercise that fails, else the first not complete; None if all pass.

    `can_earn` says by the id of an exercise whether its points can still be earned. An exercise that the grader failed
    on is left out: the student can do nothing about it.
    """
    failing = [exercise for exercise in exercises if _is_wrong(exercise)]
    unwritten = [exercise for exercise in exercises if exercise.in_progress or exercise.status in UNWRITTEN]
    order = [*failing, *unwritten]
    if not order:
        return None
    first, *after = order
    left = _left(first) if can_earn(first.id) else ""
    why = (_reason(first, failing, unwritten, len(exercises)), left, _builds(course, first))
    return Next(first, tuple(filter(None, why)), _commands(first), tuple(after))


def named(exercises: Sequence[ExerciseResult]) -> str:
    """Return the first few exercises by number and title, and how many more there are."""
    names = [f"{number(exercise.id)} {exercise.title}" for exercise in exercises[:MOST_NAMED]]
    more = len(exercises) - len(names)
    return listed([*names, *([f"{more} more"] if more else [])])


def _is_wrong(exercise: ExerciseResult) -> bool:
    return exercise.status != "missing" and state_of(exercise).mark == "failed"


def _reason(
    first: ExerciseResult, failing: Sequence[ExerciseResult], unwritten: Sequence[ExerciseResult], total: int
) -> str:
    if len(unwritten) == total and not any(exercise.in_progress for exercise in unwritten):
        return "You have not written anything yet."
    if not _is_wrong(first):
        others = f"the first of the {len(unwritten)}" if len(unwritten) > 1 else "the only one"
        return f"Everything you have written passes. This is {others} you have not completed yet."
    if len(failing) > 1:
        return f"It is the first of the {len(failing)} exercises that fail."
    return "It is the only exercise that fails."


def _left(exercise: ExerciseResult) -> str:
    left = exercise.max_score - exercise.score
    return f"You can still earn {points(left)} of its {points(exercise.max_score)} points." if left > 0 else ""


def _builds(course: Course, first: ExerciseResult) -> str:
    """Return which exercises build on it, directly or not."""
    known = {exercise.id: exercise for exercise in course.exercises}
    if first.id not in known:
        return ""
    needed = known[first.id]
    others = (exercise for exercise in course.exercises if exercise is not needed)
    numbers = [exercise.number for exercise in others if needed in course.with_needs(exercise)]
    if not numbers:
        return ""
    one = len(numbers) == 1
    return f"Exercise{'' if one else 's'} {listed(numbers)} build{'s' if one else ''} on it."


def _commands(exercise: ExerciseResult) -> tuple[Command, ...]:
    name, check = number(exercise.id), exercise.first_failure
    commands = [(f"course check {name}", "checks it, and also shows the numbers")]
    if not _is_wrong(exercise) or check is None:
        return tuple(commands)
    if check.hints:
        commands.append((f"course hint {name}", "gives the next hint"))
    if check.finding is not None and check.finding.known_as:
        commands.append((f"course why {check.finding.id}", f"explains the {check.finding.known_as}"))
    return tuple(commands)
