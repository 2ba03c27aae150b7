"""The program `course`. It handles signals first, and imports a module only when a command needs it."""

import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit with its status."""
    from autograder import ending
    from autograder.exits import GRADER

    words = sys.argv[1:] if arguments is None else list(arguments)
    ending.install(GRADER if "grade" in words else None)  # before the options are parsed: that takes time
    status = run(words)
    ending.hold()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command, and return its exit status. Every error that a user can cause becomes a sentence."""
    from .program import run_command

    return run_command(arguments)
