"""`course new`: add a new exercise, to fill in."""

import argparse

from autograder.authoring import new_course, new_exercise
from autograder.course import Course, find_course, read_course, refuse_kit, trust_folder
from autograder.exits import PASS

from .screen import say


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


# `course init`: begin a course of your own.


def init(options: argparse.Namespace) -> int:
    """Run the command. The new course is trusted: all its code is the kit's."""
    files = new_course(options.folder, tensors=options.torch, title=options.title)
    trust_folder(options.folder)
    say(f"made {len(files)} files in {options.folder}: a course with one exercise")
    say(f"Next: cd {options.folder}, then `course build` and `course validate`. Its README.md goes on from there.")
    return PASS
