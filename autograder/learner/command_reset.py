"""Put the stub of an exercise back, and keep a copy of your file.

It asks you to confirm. The copy goes to .course/backups.
"""

import argparse

from autograder.cli import CommandParser, Screen, confirmed, say, warn
from autograder.course import find_course, read_course, resolve_exercise
from autograder.ending import FAIL, PASS
from autograder.progress import edit_command

from .own_files import read_stub, read_work, reset_exercise


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("exercise", metavar="EX", help=parser.exercise)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(options: argparse.Namespace) -> int:
    """Run the command. It asks first, and copies your file before it replaces it."""
    course = read_course(find_course())
    exercise = resolve_exercise(course, options.exercise)
    stub = read_stub(course, exercise)
    work = read_work(course, exercise)
    file = f"{course.exercises_dir.name}/{exercise.file}"
    screen = Screen.of(options)
    if work == stub:
        screen.text(f"{file} is the stub already: there is nothing to reset.", indent=0)
        return PASS
    if work is not None and not options.yes:
        screen.text(f"{file} becomes the stub again. A copy of your file is kept.", indent=0)
        if not confirmed(f"Reset {exercise.number} {exercise.title}?"):
            say("Nothing was changed.")
            return FAIL
    done = reset_exercise(course, exercise, stub, work)
    warn(done.warning)
    if done.backup is not None:
        screen.text(f"A copy of your file is in {done.backup.relative_to(course.root).as_posix()}", indent=0)
    screen.text(f"{file} is the stub again.", indent=0)
    screen.next([edit_command(course, exercise, f"then course check {exercise.number}")])
    return PASS
