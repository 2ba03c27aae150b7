"""Begin a course of your own, with one exercise.

The new course passes `course validate`. Its README.md lists the commands to go on with.
"""

import argparse
from pathlib import Path

from autograder.cli import CommandParser, say
from autograder.course import trust_folder
from autograder.ending import PASS

from .command_new import EXAMPLE, files_to_come, new_course


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write it: a new or empty folder")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--numpy", action="store_true", help="students use NumPy (default: plain Python)")
    kinds.add_argument("--torch", action="store_true", help="students use PyTorch (default: plain Python)")
    parser.add_argument("--title", metavar="TEXT", help="the title of the course (default: the name of the folder)")


def run(options: argparse.Namespace) -> int:
    """Run the command. The new course is trusted: all its code is the kit's."""
    kind = "torch" if options.torch else "numpy" if options.numpy else "plain"
    files = new_course(options.folder, kind, title=options.title)
    trust_folder(options.folder)
    for file in files:
        say(f"made {options.folder / file.relative_to(options.folder.resolve())}")
    say("It is a course with one exercise.")
    for sentence in files_to_come(EXAMPLE):
        say(sentence)
    say(f"Next: cd {options.folder}, then `course build` and `course validate`. Its README.md goes on from there.")
    return PASS
