"""`course name`: add the common mistake of a group of students to the catalogue."""

import argparse

from autograder.course import find_course, read_course
from autograder.exits import PASS
from autograder.instructor import add_misconception

from .screen import say, warn


def name(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` if there is no such group, or no patch that makes its program."""
    course = read_course(find_course())
    added = add_misconception(
        course, options.out, options.folder, options.group, layout=options.layout, roster_file=options.roster
    )
    for warning in added.warnings:
        warn(warning)
    say(added.entry.strip("\n"))
    number = added.exercise.number
    say(f"\nAdded to {added.file.relative_to(course.root)}. Write its texts, then run `course validate {number}`")
    return PASS
