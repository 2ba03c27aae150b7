"""The program `course`: find a command, run it, and turn every error into a sentence and an exit status.

A command is a module `command_NAME.py` of an application. Its docstring is the help: the first line is the summary, the
rest says more. `add_options(parser)` adds its options, and `run(options)` runs it and returns the exit status.
"""

import argparse
import ast
import contextlib
import errno
import gc
import importlib
import io
import os
import re
import shutil
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

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
    nearest,
    new_notes,
    notes,
    read_course,
    unknown,
)
from autograder.ending import ENVIRONMENT, GRADER, INTERRUPTED, USAGE
from autograder.report import folded, wrapped

from .screen import say, warn

GROUPS = {
    "Write and check": ("try", "check", "watch", "lsp"),
    "Get help": ("hint", "why", "diff", "solution", "mcp"),
    "Practise": ("quiz", "hunt", "arrange", "review"),
    "Find your way": ("start", "next", "list", "status", "report", "reset"),
    "Hand in and use": ("submit", "play"),
    "This machine": ("doctor", "trust"),
    "Grade a class": ("grade", "accept", "adjust", "desk", "merge", "export", "dashboard", "name", "archive", "forget"),
    "Write a course": ("init", "new", "import", "build", "validate", "mutate", "release"),
}
"""The commands in the order of `course --help`. One whose application is not installed is left out."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)
OVERVIEW = "overview"
"""What `course` alone runs; it is no word to type."""

ENGINE = Path(__file__).parents[1]

DEVICE = "where your code runs: cpu, cuda or mps (default: cpu)"
DIFFERENT_SEED = "use different inputs and weights"
ROSTER = "the list of the class, also for later commands (default: the last one, or roster.csv beside course.toml)"
JOBS = "run N at a time (default: one per core)"
LAYOUT = "the layout of DIR (default: recognised from its entries)"
LAYOUTS = ("plain", "canvas", "moodle", "clones", "nbgrader")
GRADES = "the folder that `course grade` wrote"
ONE_STUDENT = "only this student; repeatable"
COURSE_SEED = "the seed of course.toml"

_MISSING = "the following arguments are required: "
"""How argparse begins its message about missing arguments."""


def file_of(name: str) -> Path | None:
    """Return the module of a command; None if its application is not installed."""
    return next(ENGINE.glob(f"*/command_{name}.py"), None)


def command(name: str) -> ModuleType:
    """Return the module of a command. Raises `UsageError` if its application is not installed."""
    file = file_of(name)
    if file is None:
        raise UsageError(f"`course {name}` is not part of this installation; `course --help` lists all commands")
    return importlib.import_module(f"autograder.{file.parent.name}.{file.stem}")


def summary_of(name: str) -> str:
    """Return the summary of a command. Its module is read, not imported: the list of all commands is there at once."""
    file = file_of(name)
    text = (ast.get_docstring(ast.parse(file.read_bytes())) if file is not None else None) or ""
    first = text.split("\n", 1)[0]
    return f"{first[:1].lower()}{first[1:]}".removesuffix(".")


class HelpFormatter(argparse.HelpFormatter):
    """Wraps each paragraph of a description; lines that begin with a space stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002 - argparse calls it
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join(
            paragraph if paragraph.startswith(" ") else "\n".join(self._split_lines(paragraph, width))
            for paragraph in paragraphs
        )

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrapped(" ".join(text.split()), width)


class Parser(argparse.ArgumentParser):
    """Reports every wrong use as a `UsageError`: sentences that say what to type."""

    def format_help(self) -> str:
        """Return the help, with no line wider than the terminal."""
        width = shutil.get_terminal_size().columns  # as argparse: stdout is redirected while the help is made
        return "\n".join(part for line in super().format_help().split("\n") for part in folded(line, width) or [""])

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError`; a message about missing arguments says what they are."""
        if message.startswith(_MISSING):
            raise UsageError(self._missing(message.removeprefix(_MISSING).split(", ")))
        raise UsageError(f"{message.removeprefix('argument ')}. {self._help()}")

    def refuse(self, others: Sequence[str]) -> None:
        """Raise `UsageError` if there are words that this command does not take."""
        if not others:
            return
        word = others[0].split("=")[0]
        if not word.startswith("-"):
            raise UsageError(f"`{self.prog}` does not take {word!r}. {self._help()}")
        options = {option.lstrip("-"): option for action in self._actions for option in action.option_strings}
        near = nearest(word.lstrip("-"), options)
        raise UsageError(unknown("option", word, [near and options[near]], more=self._help()))

    def _check_value(self, action: argparse.Action, value: str) -> None:
        """Raise `UsageError` if a value is not one of the choices."""
        if action.choices is None or value in action.choices:
            return
        near = nearest(value, action.choices)
        if isinstance(action, argparse._SubParsersAction):
            more = f"`{self.prog} --help` lists all commands."
            raise UsageError(unknown("command", value, [near and f"{self.prog} {near}"], more=more))
        more = f"Choose from {', '.join(action.choices)}."
        raise UsageError(unknown(action.dest.replace("_", " "), value, [near], more=more))

    def _missing(self, names: Sequence[str]) -> str:
        required = {_name(action): action for action in self._actions if action.required}
        needs = "; ".join(f"`{name}`, {required[name].help}" for name in names if name in required)
        typed = (f"{name} {action.metavar}" if action.option_strings else name for name, action in required.items())
        return f"`{self.prog}` needs {needs}. Write `{' '.join((self.prog, *typed))}`."

    def _help(self) -> str:
        return f"`{self.prog} --help` explains its options."


def _name(action: argparse.Action) -> str:
    """Return the name that argparse's messages give to an argument."""
    return "/".join(action.option_strings) or str(action.metavar or action.dest)


class CommandParser(Parser):
    """The parser of one command: it imports the module, and adds the options, when it is used."""

    def __init__(self, *, command: str, names: Sequence[str], **options: Any) -> None:
        super().__init__(formatter_class=HelpFormatter, add_help=False, **options)
        self.command = command
        self.names = names
        self.is_complete = False

    @property
    def exercise(self) -> str:
        """How an exercise is named, for the help of an argument: by an example, where there is a course."""
        *others, last = self.names or ("its number", "name", "id")
        return f"an exercise: {', '.join(others)} or {last}"

    def complete(self) -> None:
        """Add the options of the command."""
        if self.is_complete:
            return
        self.is_complete = True
        module = command(self.command)
        self.description = (module.__doc__ or "").rstrip("\n")
        self.set_defaults(command=module.run)
        if getattr(module, "ADD_HELP", True):
            self.add_argument("-h", "--help", action="help", help="show this help message and exit")
        add_rendering(self)
        if hasattr(module, "add_options"):
            module.add_options(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words as argparse does."""
        self.complete()
        return super().parse_known_args(args, namespace)


def listing() -> str:
    """Return the commands in their groups, for `course --help`."""
    blocks = []
    for group, names in GROUPS.items():
        lines = [f"   {name.ljust(10)} {summary_of(name)}" for name in names if file_of(name) is not None]
        if lines:
            blocks.append("\n".join([f" {group}:", *lines]))
    return "\n\n".join(blocks)


def add_rendering(parser: argparse.ArgumentParser) -> None:
    """Add the options that may stand before or after the name of a command: only the program has their defaults."""
    add = parser.add_argument
    plain = "print sentences, one fact per line, without colours (also: ACCESSIBLE=1)"
    add("--plain", action="store_true", default=argparse.SUPPRESS, help=plain)
    add("--no-color", action="store_true", default=argparse.SUPPRESS, help="print no colours (also: NO_COLOR=1)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    does = "write the result to FILE as JSON too; - is stdout, and nothing else is printed"
    parser.add_argument("--json", metavar="FILE", default=argparse.SUPPRESS, help=does)


def add_exercise(parser: CommandParser, default: str = "the one you are on") -> None:
    """Add one exercise, which may be left out."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help=f"{parser.exercise} (default: {default})")


def add_run(parser: argparse.ArgumentParser, seed: str) -> None:
    """Add the device and the seed of a run; `seed` says what the default seed is."""
    parser.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)
    parser.add_argument("--seed", type=int, metavar="N", help=f"{DIFFERENT_SEED} (default: {seed})")


def add_brief(parser: argparse.ArgumentParser) -> None:
    """Add the length of a verdict, which is kept."""
    does = "show a failure as its sentence, its line and the next step; kept for later checks until --no-brief"
    parser.add_argument("--brief", action=argparse.BooleanOptionalAction, help=does)


def add_submissions(parser: argparse.ArgumentParser, does: str, *, required: bool) -> None:
    """Add the folder of the submissions, its layout and the roster."""
    parser.add_argument("folder", type=Path, nargs=None if required else "?", metavar="DIR", help=does)
    parser.add_argument("--layout", choices=LAYOUTS, help=LAYOUT)
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)


def positive(text: str) -> int:
    """Return a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def address(text: str) -> str:
    """Return the address of a Dask scheduler."""
    if not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?[^/\s]+:\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address, expected one like tcp://10.0.0.7:8786")
    return text


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
