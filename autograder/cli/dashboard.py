"""`course dashboard`: make the page of a graded class, and its tables as CSV files."""

import argparse

from autograder.course import UsageError, find_course, read_course
from autograder.exits import PASS
from autograder.gradebook import read_graded, read_roster
from autograder.instructor import make_class_page, read_submissions
from autograder.report import plural

from .screen import say, warn


def dashboard(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` if nothing was graded there."""
    course = read_course(find_course())
    if options.out.is_file():
        raise UsageError(f"{options.out} is one file, expected the folder that course grade wrote")
    roster = read_roster(course, options.roster)
    graded = read_graded(course, roster, options.out)
    submissions = None
    if options.folder is not None:
        read = read_submissions(options.folder, options.layout, roster, graded)
        submissions = read.by_student
        for warning in read.warnings:
            warn(warning)
    made = make_class_page(graded.course, graded, options.out, names=options.names, submissions=submissions)
    warn(made.problem)
    for note in graded.notes:
        warn(note)
    say(f"The page is {made.file}, its {plural(made.tables, 'table')} are in {made.folder}")
    return PASS
