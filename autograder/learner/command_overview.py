"""Show where you are, the last failure, and the next command: `course` alone."""

import argparse

from autograder.cli import Screen
from autograder.ending import PASS
from autograder.progress import next_command, overview_json, write_json

from .command_list import read_rows, show_current, show_title


def run(options: argparse.Namespace) -> int:
    """Print where you are, the last failure, and the next command."""
    course, progress, rows = read_rows()
    command = next_command(course, progress, rows)
    if write_json(options.json, overview_json(course, progress, command[0], rows)):
        return PASS
    screen = Screen.of(options)
    show_title(screen, course, progress, rows)
    show_current(screen, course, progress, rows, command)
    return PASS
