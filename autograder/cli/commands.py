"""Finds the commands, and holds what they share: the parser, the texts of common options, and types of values.

A command is a module `command_NAME.py` of an application. Its docstring is the help: the first line is the summary, the
rest says more. `add_options(parser)` adds its options, and `run(options)` runs it and returns the exit status.
"""

import argparse
import ast
import importlib
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from autograder.course import UsageError, nearest, unknown
from autograder.report import folded, wrapped

GROUPS = {
    "Write and check": ("try", "check", "watch", "lsp"),
    "Get help": ("hint", "why", "diff", "solution"),
    "Practise": ("quiz", "hunt", "arrange", "review"),
    "Find your way": ("start", "next", "list", "status", "report", "reset"),
    "Hand in and use": ("submit", "play"),
    "This machine": ("doctor", "trust"),
    "Grade a class": ("grade", "accept", "adjust", "merge", "export", "dashboard", "name"),
    "Write a course": ("init", "new", "build", "validate", "mutate", "release"),
}
"""The commands in the order of `course --help`. One whose application is not installed is left out."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)
OVERVIEW = "overview"
"""What `course` alone runs; it is no word to type."""

ENGINE = Path(__file__).parents[1]

DEVICE = "where your code runs: cpu, cuda or mps (default: cpu)"
DIFFERENT_SEED = "use different inputs and weights"
ROSTER = "the list of the class (default: roster.csv in the course's folder)"
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
