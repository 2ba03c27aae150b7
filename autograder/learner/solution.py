"""The reference solution of an exercise: when a learner may see it, and its code."""

from autograder.course import Course, Exercise
from autograder.course.names import UsageError
from autograder.course.storage import read_text
from autograder.learner.hints import failure_texts
from autograder.learner.progress import Standing
from autograder.learner.progress.standing import UNTRIED

LAST_HINT = 3
"""A learner who has seen this many hints may see the solution."""

_MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def read_solution(course: Course, exercise: Exercise) -> str:
    """Return the source of the reference solution. Raises `UsageError` if this kit has none."""
    try:
        return read_text(course.solutions_dir / exercise.file)
    except FileNotFoundError:
        raise UsageError(
            f"this kit does not carry the solution of {exercise.id}; ask the person who gave it to you"
        ) from None


def require_attempt(course: Course, exercise: Exercise, standing: Standing, what: str = "see the solution of") -> None:
    """Raise `UsageError` if the learner should try something else before they see a solution.

    `what` is what they want to do with the exercise: it completes "you may" and "before you".
    """
    number = exercise.number
    if not standing.runs or standing.status in UNTRIED:
        raise UsageError(f"before you {what} {exercise.id}, write it and run `course check {number}`")
    _, hints = failure_texts(course, exercise, standing)
    seen = max([standing.hints_shown, *standing.levels.values()])
    if hints and seen < min(LAST_HINT, len(hints)):
        raise UsageError(
            f"you may {what} {exercise.id} after a pass or the last hint; "
            f"`course hint {number}` shows hint {seen + 1} of {len(hints)}"
        )


def code_lines(solution: str) -> list[str]:
    """Return the lines of code of a solution, without its lesson and the marks of its regions."""
    lines: list[str] = []
    prose = False
    for line in solution.splitlines():
        if line.startswith("# %%"):
            prose = "[markdown]" in line
        elif not prose and line.strip() not in _MARKS and not line.strip().startswith("# TODO ex"):
            lines.append(line)
    text = "\n".join(lines).strip("\n")
    while "\n\n\n\n" in text:  # what was cut out leaves gaps
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text.split("\n")
