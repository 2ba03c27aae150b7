"""Add the common mistake of a group of students to the catalogue.

You write the texts of the new misconception, and `course validate` proves it.
"""

import argparse
from pathlib import Path

from autograder.cli import GRADES, CommandParser, add_submissions, say, warn
from autograder.course import find_course, read_course
from autograder.ending import PASS

from .page import add_misconception


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("out", type=Path, metavar="OUT", help=GRADES)
    add_submissions(parser, "the submissions", required=True)
    parser.add_argument("group", metavar="GROUP", help="the id of the group, as the class page shows it")


def run(options: argparse.Namespace) -> int:
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
