"""`course solution`: how the course does it, after a pass, or after the last hint and a typed yes."""

import argparse
import sys

from autograder.cli.hint import failure_texts
from autograder.cli.screen import Screen, confirmed
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.exits import FAIL, PASS
from autograder.learner.progress import Standing, keep, read_progress
from autograder.learner.progress.events import Event, now
from autograder.learner.progress.standing import UNTRIED

LAST_HINT = 3
_MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


def show_solution(options: argparse.Namespace) -> int:
    """Run the command. That the solution was shown is kept."""
    course = read_course(find_course())
    exercise = resolve_exercise(course, options.exercise)
    standing = read_progress(course).of(exercise)
    file = course.solutions_dir / exercise.file
    try:
        text = file.read_text("utf-8")
    except FileNotFoundError:
        raise UsageError(f"this kit does not carry the solution of {exercise.id}; ask whoever gave it to you") from None
    if not standing.ever_passed and not standing.solution_shown:
        _refuse_early(course, exercise, standing)
        if not options.yes and not confirmed(f"Show the solution of {exercise.number} {exercise.title}?"):
            print("The solution was not shown.")
            return FAIL
    kept = keep(course, [Event(now(), "solution", exercise.id, "solution")])
    if kept.problem:
        print(f"course: your progress could not be kept: {kept.problem.strerror}", file=sys.stderr)
    screen = Screen.of(options)
    screen.text(f"{exercise.number} {exercise.title}, as the course does it", indent=0, style="bold")
    screen.gap()
    _show_paged(screen, code_of(text))
    screen.gap()
    screen.next([("course next", "") if standing.passes_now else (f"course check {exercise.number}", "")])
    return PASS


def _refuse_early(course: Course, exercise: Exercise, standing: Standing) -> None:
    """Raise `UsageError` where there is still something to try before the solution."""
    number = exercise.number
    if not standing.runs or standing.status in UNTRIED:
        raise UsageError(f"write {exercise.id} first, and run `course check {number}`: its solution comes after that")
    _, hints = failure_texts(course, exercise, standing)
    most = max([standing.hints_shown, *standing.levels.values()])
    if hints and most < min(LAST_HINT, len(hints)):
        raise UsageError(
            f"the solution of {exercise.id} comes after a pass or the last hint; "
            f"`course hint {number}` shows hint {most + 1} of {len(hints)}"
        )


def code_of(solution: str) -> list[str]:
    """Return the lines of code of a solution, without its lesson and the marks of its regions."""
    lines: list[str] = []
    prose = False
    for line in solution.splitlines():
        if line.startswith("# %%"):
            prose = "[markdown]" in line
        elif not prose and line.strip() not in _MARKS and not line.strip().startswith("# TODO ex"):
            lines.append(line)
    text = "\n".join(lines).strip("\n")
    while "\n\n\n\n" in text:
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text.split("\n")


def _show_paged(screen: Screen, lines: list[str]) -> None:
    """Print lines; on a terminal that they do not fit on, a screenful at a time."""
    import shutil

    rows = shutil.get_terminal_size().lines - 2
    interactive = not screen.plain and sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty()
    for at, line in enumerate(lines):
        if interactive and at and rows > 2 and at % rows == 0:
            print(f"Enter shows more, q ends ({len(lines) - at} lines left) ", end="", flush=True)
            if sys.stdin.readline().strip().lower().startswith("q"):
                return
        screen.line(line)
