"""Add a new exercise: its files, and its entry in course.toml.

The files are a small exercise that `course validate` proves. You replace it by your own.
"""

import argparse

from autograder.cli import CommandParser, say
from autograder.course import Course, find_course, read_course, refuse_kit
from autograder.ending import PASS

from .new import new_exercise, rescaled_points


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", help="a name like averages, or with a free number: ex99_averages")
    does = "the part that it belongs to, in a course with parts (default: the last one)"
    parser.add_argument("--part", metavar="ID", help=does)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course(), empty=True)
    refuse_kit(course, "new")
    *files, changed = new_exercise(course, options.name, options.part)
    for file in files:
        say(f"made {file.relative_to(course.root)}")
    number = files[0].stem[2:4]
    say(f"added {files[0].stem} to {changed.name}{_part_of(course, options.part)}")
    id_ = files[0].stem
    say(f"`course build {number}` will make exercises/{id_}.py and exercises/notebooks/{id_}.ipynb from the solution.")
    say(f"`course validate {number}` will write solutions/misconceptions/{id_}.json. Now fill them in, then run both.")
    for sentence in rescaled_points(read_course(course.root)):
        say(f"Points are shares: {sentence}")
    return PASS


def _part_of(course: Course, name: str | None) -> str:
    """Return the words about the part of a course that a new exercise belongs to, if the course has parts."""
    if not course.parts:
        return ""
    last = next(part for part in reversed(course.parts) if name in (None, part.id))
    words = f', in {"the part" if name else "the last part"}, {last.id}: "{last.title}"'
    if course.grading and last.exercises and set(last.exercises) <= set(course.grading.bonus):
        words += ".\nThe other exercises of this part are bonus; if the new one is too, add it to bonus in [grading]"
    return words
