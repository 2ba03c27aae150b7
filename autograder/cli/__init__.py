"""The program `course`: it finds the commands of the applications, reads options, prints, and ends with a status.

It handles signals first, and imports a module only when a command needs it.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from autograder import ending
from autograder.ending import GRADER
from autograder.faces import face

if TYPE_CHECKING:
    from .local_page import HOST, MOST_FORM, Access, Guard, LocalServer, is_same, listen
    from .program import (
        COURSE_SEED,
        DEVICE,
        DIFFERENT_SEED,
        GRADES,
        JOBS,
        LAYOUT,
        LAYOUTS,
        ONE_STUDENT,
        PACKAGES,
        ROSTER,
        CommandParser,
        Parser,
        add_brief,
        add_exercise,
        add_json,
        add_run,
        add_submissions,
        address,
        parse,
        positive,
    )
    from .screen import (
        KeyProgress,
        Part,
        Screen,
        chosen,
        confirmed,
        is_somebody_there,
        make_console,
        say,
        show_count,
        show_keys,
        show_programs,
        show_tested,
        show_tried,
        typed,
        warn,
    )

__getattr__ = face(__name__)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program and exit with its status."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    ending.install(GRADER if "grade" in words else None)  # before the options are parsed: that takes time
    status = run(words)
    ending.hold()
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command, and return its exit status. Every error that a user can cause becomes a sentence."""
    from .program import run_command  # after the signals are handled

    return run_command(arguments)
