"""`course new`: add a new exercise, to fill in."""

import argparse

from autograder.authoring.new import new_exercise
from autograder.cli.screen import say
from autograder.course import Course, find_course, read_course
from autograder.course.kit_files import refuse_kit
from autograder.exits import PASS


def new(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course(), empty=True)
    refuse_kit(course, "new")
    *files, changed = new_exercise(course, options.name)
    for file in files:
        say(f"made {file.relative_to(course.root)}")
    number = files[0].stem[2:4]
    say(f"added {files[0].stem} to {changed.name}{_part_of(course)}")
    say(f"Now fill them in, then run `course build {number}` and `course validate {number}`.")
    return PASS


def _part_of(course: Course) -> str:
    """Return the words about the part of a course that a new exercise belongs to, if the course has parts."""
    if not course.parts:
        return ""
    last = course.parts[-1]
    words = f', in the last part, {last.id}: "{last.title}"'
    if course.grading and last.exercises and set(last.exercises) <= set(course.grading.bonus):
        words += ".\nThe other exercises of this part are bonus; if the new one is too, add it to bonus in [grading]"
    return words
