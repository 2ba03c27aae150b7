"""The program `course`. Nothing is imported before it is needed, and all of it after signals are heard."""

import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit with its status."""
    from autograder import ending
    from autograder.exits import GRADER

    words = sys.argv[1:] if arguments is None else list(arguments)
    ending.install(GRADER if "grade" in words else None)  # known before the options are read
    status = run(words)
    ending.hold()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command; every error a user can cause becomes a sentence and an exit status."""
    from autograder.cli.program import run_command

    return run_command(arguments)
