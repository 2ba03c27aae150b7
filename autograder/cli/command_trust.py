"""Allow the code of a course to run on this machine with your rights.

A course that you have not used before asks for this once.
"""

import argparse
from pathlib import Path

from autograder.course import distrust, find_course, read_course, trust_folder, trust_line
from autograder.ending import ENVIRONMENT, PASS

from .program import CommandParser
from .screen import say, warn


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="the course (default: the one you are in)")
    parser.add_argument("--undo", action="store_true", help="ask again before its code runs")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    root = read_course(find_course(options.folder)).root.resolve()
    if options.undo:
        say(f"No longer trusted: {root}" if distrust(root) else f"It was not trusted: {root}")
        return PASS
    file = trust_folder(root)
    if file is None:
        warn(f"the list of trusted folders cannot be written; instead, run: {trust_line(root)}")
        return ENVIRONMENT
    say(f"Trusted: {root}, until `course trust --undo`. The list is in {file}")
    return PASS
