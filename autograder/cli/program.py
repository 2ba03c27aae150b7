"""Run one command, and turn every error into a sentence and an exit status."""

import contextlib
import errno
import gc
import io
import os
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from autograder import __version__, ending
from autograder.course import (
    CourseError,
    StubError,
    SuiteError,
    Untrusted,
    UsageError,
    ask,
    find_course,
    names_of,
    new_notes,
    notes,
    read_course,
)
from autograder.ending import ENVIRONMENT, GRADER, INTERRUPTED, USAGE

from .commands import (
    COMMANDS,
    OVERVIEW,
    CommandParser,
    HelpFormatter,
    Parser,
    add_json,
    add_rendering,
    command,
    file_of,
    listing,
)
from .screen import say, warn

PACKAGES = {"torch": (2, 4), "numpy": (1, 26), "rich": (13, 7), "jinja2": (3, 1), "pytest": (8, 0)}
"""The packages that the kit needs, and the lowest version of each. torch is needed by courses that declare it."""

# The parser of the command line.

USAGE_TEXT = "course [--plain] [--no-color] [--json FILE] [COMMAND ...]"
INTRODUCTION = """
{title}: write the exercises, and have each one checked.

Without a command it shows where you are and what to do next.
`course COMMAND --help` explains a command.
"""


def parse(arguments: Sequence[str]) -> Namespace:
    """Return the options; call `command` with them. Raises `UsageError` if they make no sense."""
    typed = next((word for word in arguments if not word.startswith("-")), None)
    if typed not in COMMANDS or _HELP & set(arguments):
        return _parsed(arguments, COMMANDS)
    try:
        return _parsed(arguments, (typed,))
    except UsageError:  # the word is an argument of an option: the whole program says what is wrong
        return _parsed(arguments, COMMANDS)


_HELP = {"-h", "--help"}


def _parsed(arguments: Sequence[str], commands: Iterable[str]) -> Namespace:
    """Return the options, read by a parser that knows these commands."""
    wants_help = bool(_HELP & set(arguments))
    title, names = _course() if wants_help else ("", [])
    about = f"{INTRODUCTION.format(title=title)}\n{listing()}" if wants_help else ""
    parser = Parser(prog="course", usage=USAGE_TEXT, description=about, formatter_class=HelpFormatter)
    parser.add_argument("--version", action="version", version=f"course {__version__}")
    add_rendering(parser)
    add_json(parser)
    parser.set_defaults(
        plain=bool(os.environ.get("ACCESSIBLE")),
        no_color=False,
        json=None,
        has_keys=False,
        command=lambda options: command(OVERVIEW).run(options),
    )
    subparsers = parser.add_subparsers(
        metavar="COMMAND", dest="name_of_command", prog="course", help=SUPPRESS, parser_class=CommandParser
    )
    for name in commands:
        if file_of(name) is not None:
            subparsers.add_parser(name, command=name, names=names)
    options, others = parser.parse_known_args(arguments)
    options.others = others
    if others and not hasattr(options, "activity"):  # those of an activity are in course.toml
        subparsers.choices.get(options.name_of_command, parser).refuse(others)
    return options


def _course() -> tuple[str, list[str]]:
    """Return the title of the course around the working folder, and what its first exercise can be called.

    They are for the help. Without a course the title is a general one, and there are no names.
    """
    try:
        course = read_course(find_course())
    except CourseError:
        return "A course", []
    return course.title, names_of(course.exercises[0])


def run_command(arguments: Sequence[str]) -> int:
    """Run one command, and return its exit status."""
    gc.set_threshold(10_000)  # a command makes hardly any cycles, and looking for them takes time
    _open_streams()
    ask[:] = [ask_on_terminal]
    notes.clear()
    status = _status_of(arguments)
    for note in new_notes():
        warn(note)
    return status


def _status_of(arguments: Sequence[str]) -> int:
    """Run one command. Return its exit status, after a sentence for an error."""
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except (UsageError, CourseError) as error:
        return _fail(USAGE, str(error))
    except Untrusted as error:
        return _fail(ENVIRONMENT, str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ENVIRONMENT
    except KeyboardInterrupt:
        return _fail(INTERRUPTED, "stopped")
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _fail(ENVIRONMENT, _sentence_of(error))
    except Exception as error:
        return _report_engine_error(error)
    return status


_REMEDIES = {
    errno.ENOSPC: "free some space, then run the same command again",
    errno.EROFS: "copy the course into a folder that you may write to",
    errno.ENOENT: "set TMPDIR to a folder that you may write to",
}
if hasattr(errno, "EDQUOT"):  # the share of a user, on the disks of universities
    _REMEDIES[errno.EDQUOT] = _REMEDIES[errno.ENOSPC]


def _sentence_of(error: OSError) -> str:
    """Return what the system refused, where, and what to do where that is known."""
    what = f"{error.strerror or error}{f' ({error.filename})' if error.filename else ''}"
    known = error.errno != errno.ENOENT or "temporary directory" in what
    remedy = _REMEDIES.get(error.errno or 0) if known else None
    return f"{what}; {remedy}" if remedy else what


def _run(arguments: Sequence[str]) -> int:
    """Parse the options and call the command. Help is printed here: argparse ignores a stream that fails."""
    help_text = io.StringIO()
    try:
        with contextlib.redirect_stdout(help_text):
            options = parse(arguments)
    except SystemExit as ended:
        sys.stdout.write(help_text.getvalue())
        return int(ended.code or 0)
    return int(options.command(options))


def _open_streams() -> None:
    """Make the standard streams accept any text: they replace what they cannot encode; a closed one drops it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open until the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _report_engine_error(error: Exception) -> int:
    from autograder.answer_key import CatalogueError  # only for a failure
    from autograder.runner import CourseProblem, EnvironmentProblem, GraderProblem  # only for a failure
    from autograder.submission import SubmissionError  # only for a failure

    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("autograder."):
        return _fail(ENVIRONMENT, f"this installation has no {error.name}, which this needs; install the whole kit")
    if isinstance(error, ModuleNotFoundError) and error.name in PACKAGES:
        return _fail(ENVIRONMENT, f"{error.name} is not installed here; `course doctor` says how to install it")
    if isinstance(error, SubmissionError):
        return _fail(USAGE, str(error))
    if isinstance(error, EnvironmentProblem):
        return _fail(ENVIRONMENT, str(error))
    if isinstance(error, CatalogueError | CourseProblem | StubError | SuiteError):
        return _fail(USAGE, f"a file of this course is wrong: {error}")
    if isinstance(error, GraderProblem):
        return _fail(GRADER, f"the grader itself failed: {error}")
    if os.environ.get("COURSE_TRACEBACK"):
        raise error
    what = f"{type(error).__name__}: {error}"
    return _fail(GRADER, f"the grader itself failed ({what}); set COURSE_TRACEBACK=1 to see where, and report it")


def _fail(status: int, sentence: str) -> int:
    ending.hold()
    warn(sentence)
    return status


def ask_on_terminal(root: Path) -> bool:
    """Ask whether to trust a folder. Without a terminal the answer is no."""
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    say(f"You have not used the course in {root} before.", stream=sys.stderr)
    say("Its checks, exercises and solutions are programs, and they run with your rights.", stream=sys.stderr)
    say("Do you trust this folder? Type yes:", end=" ", stream=sys.stderr)
    return sys.stdin.readline().strip().lower() == "yes"
