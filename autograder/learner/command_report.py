"""Show your progress as one text or HTML page.

It contains none of your code and no name.
"""

import argparse
from pathlib import Path

from autograder.cli import CommandParser, Screen, add_json, say
from autograder.course import find_course, read_course, write_atomically
from autograder.exits import PASS
from autograder.progress import ProgressLine, read_progress, report_json, rows_of, summary, write_json

from .html_page import progress_page


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report to FILE as one HTML page")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    lines = [ProgressLine(row) for row in rows_of(course, progress)]
    if options.html is not None:
        write_atomically(options.html, progress_page(course, progress, lines))
        say(f"Your progress is in {options.html}")
        return PASS
    if write_json(options.json, report_json(course, progress, lines)):
        return PASS
    screen = Screen.of(options)
    screen.text(f"{course.title}: my progress", indent=0, style="bold")
    for sentence in summary(course, progress, lines):
        screen.text(sentence)
    screen.gap()
    for line in lines:
        screen.text(line.sentence)
    return PASS
