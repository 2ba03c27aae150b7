"""Show the reference solution, after a pass or the last hint.

Before a pass it asks you to confirm. Your progress records that you saw the solution. A student's kit has no
solutions.
"""

import argparse
import shutil
import sys

from autograder.cli import CommandParser, Screen, add_exercise, confirmed, say, warn
from autograder.course import find_course, read_course, resolve_exercise
from autograder.ending import FAIL, PASS
from autograder.progress import Event, code_lines, now, read_progress, read_solution, require_attempt, save_events


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser, "the one you worked on last")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options: argparse.Namespace) -> int:
    """Run the command. The progress records that you saw the solution."""
    course = read_course(find_course())
    progress = read_progress(course)
    last = next((exercise for exercise in course.exercises if exercise.id == progress.here), course.exercises[0])
    exercise = resolve_exercise(course, options.exercise) if options.exercise else last
    standing = progress.of(exercise)
    source = read_solution(course, exercise)
    if not standing.ever_passed and not standing.solution_shown:
        require_attempt(course, exercise, standing)
        if not options.yes and not confirmed(f"Show the solution of {exercise.number} {exercise.title}?"):
            say("The solution was not shown.")
            return FAIL
    warn(save_events(course, [Event(now(), "solution", exercise.id, "solution")]).warning)
    screen = Screen.of(options)
    screen.text(f"{exercise.number} {exercise.title}: the reference solution", indent=0, style="bold")
    screen.gap()
    _show_paged(screen, code_lines(source))
    screen.gap()
    screen.next([("course next", "") if standing.passes_now else (f"course check {exercise.number}", "")])
    return PASS


def _show_paged(screen: Screen, lines: list[str]) -> None:
    """Print lines; on a terminal that is too short for them, one screenful at a time."""
    rows = shutil.get_terminal_size().lines - 2
    interactive = not screen.plain and sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty()
    for at, line in enumerate(lines):
        if interactive and at and rows > 2 and at % rows == 0:
            say(f"Enter shows more, q ends ({len(lines) - at} lines left)", end=" ")
            if sys.stdin.readline().strip().lower().startswith("q"):
                return
        screen.line(line)
