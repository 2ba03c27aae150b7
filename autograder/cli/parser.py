"""The parser of the command line."""

import os
from argparse import SUPPRESS, Namespace
from collections.abc import Sequence

from autograder import __version__
from autograder.cli.arguments import Commands, HelpFormatter, Parser, add_json, add_rendering, command
from autograder.cli.instructor_commands import add_instructor_commands
from autograder.cli.learner_commands import add_learner_commands
from autograder.course.names import UsageError

USAGE = "course [--plain] [--no-color] [--json FILE] [COMMAND ...]"
INTRODUCTION = """
{title}: write the exercises, and have each one checked.

Without a command it shows where you are and what to do next.
`course COMMAND --help` explains a command.
"""


def parse(arguments: Sequence[str]) -> Namespace:
    """Return the options; call `command` with them. Raises `UsageError` if they make no sense."""
    typed = next((word for word in arguments if not word.startswith("-")), None)
    if typed is None or _HELP & set(arguments):
        return _parsed(arguments, None)
    try:
        return _parsed(arguments, typed)
    except UsageError:  # the word is an argument of an option, or no command: the whole program says what is wrong
        return _parsed(arguments, None)


_HELP = {"-h", "--help"}


def _parsed(arguments: Sequence[str], only: str | None) -> Namespace:
    """Return the options, read by a parser of all commands, or of one."""
    parser = Parser(prog="course", usage=USAGE, formatter_class=HelpFormatter)
    parser.add_argument("--version", action="version", version=f"course {__version__}")
    add_rendering(parser)
    add_json(parser)
    parser.set_defaults(
        plain=bool(os.environ.get("ACCESSIBLE")),
        no_color=False,
        json=None,
        has_keys=False,
        command=command("overview.show_overview"),
    )
    subparsers = parser.add_subparsers(metavar="COMMAND", dest="name_of_command", prog="course", help=SUPPRESS)
    title, names = _course() if _HELP & set(arguments) else ("", [])
    commands = Commands(subparsers, names, only)
    add_learner_commands(commands)
    add_instructor_commands(commands)
    parser.description = f"{INTRODUCTION.format(title=title)}\n{commands.listing()}"
    options, others = parser.parse_known_args(arguments)
    options.others = others
    if others and not hasattr(options, "activity"):  # those of an activity are in course.toml
        subparsers.choices.get(options.name_of_command, parser).refuse(others)
    return options


def _course() -> tuple[str, list[str]]:
    """Return the title of the course around the working folder, and what its first exercise can be called.

    They are for the help. Without a course the title is a general one, and there are no names.
    """
    from autograder.course import CourseError, find_course, read_course
    from autograder.course.names import names_of

    try:
        course = read_course(find_course())
    except CourseError:
        return "A course", []
    return course.title, names_of(course.exercises[0])
