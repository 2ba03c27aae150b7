"""Make a page about a class: common mistakes, similar submissions.

The page is OUT/class.html, and that of a section B is OUT/class-B.html. Its tables are CSV files beside it.
"""

import argparse
from pathlib import Path

from autograder.cli import GRADES, CommandParser, add_submissions, say, warn
from autograder.course import UsageError, find_course, read_course
from autograder.ending import PASS
from autograder.gradebook import find_roster, read_graded, read_submissions
from autograder.report import plural

from .page import make_class_page


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("out", type=Path, metavar="OUT", help=GRADES)
    parser.add_argument("--names", action="store_true", help="show names (default: pseudonyms)")
    parser.add_argument("--section", metavar="NAME", help="only the students of this section of the roster")
    add_submissions(parser, "the submissions, to look for similar ones too", required=False)


def run(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` if nothing was graded there."""
    course = read_course(find_course())
    if options.out.is_file():
        raise UsageError(f"{options.out} is one file, expected the folder that course grade wrote")
    roster = find_roster(course, options.roster)
    section = options.section
    students = roster.in_section(section) if section is not None else ()
    graded = read_graded(course, roster, options.out, students)
    submissions = None
    if options.folder is not None:
        read = read_submissions(options.folder, options.layout, graded)
        submissions = read.by_student
        for warning in read.warnings:
            warn(warning)
    made = make_class_page(
        graded.course, graded, options.out, names=options.names, submissions=submissions, section=section
    )
    warn(made.problem)
    for note in graded.notes:
        warn(note)
    say(f"The page is {made.file}, its {plural(made.tables, 'table')} are in {made.folder}")
    return PASS
