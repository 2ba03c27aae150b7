"""What several commands share: how a command is added, the texts of common options, and types of values."""

import argparse
import importlib
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from autograder.course.names import UsageError
from autograder.course.nearest import nearest, unknown
from autograder.report.printable import folded, wrapped

if TYPE_CHECKING:
    from autograder.instructor.grading.shards import Shard

DEVICE = "where your code runs: cpu, cuda or mps (default: cpu)"
DIFFERENT_SEED = "use different inputs and weights"
ROSTER = "the list of the class (default: roster.csv in the course's folder)"
JOBS = "run N at a time (default: one per core)"
LAYOUT = "the layout of DIR (default: recognised from its entries)"
LAYOUTS = ("plain", "canvas", "moodle", "clones", "nbgrader")
GRADES = "the folder that `course grade` wrote"

Subparsers: TypeAlias = "argparse._SubParsersAction[Parser]"

_MISSING = "the following arguments are required: "
"""How argparse begins its message about missing arguments."""


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


class _NotMade(Parser):
    """The parser of a command that was not typed: it takes options, and keeps none."""

    def __init__(self) -> None:
        pass

    def add_argument(self, *_: object, **__: object) -> argparse.Action:
        return argparse.Action((), "")

    def add_mutually_exclusive_group(self, **_: object) -> "_NotMade":  # type: ignore[override]
        return self

    def add_argument_group(self, *_: object, **__: object) -> "_NotMade":  # type: ignore[override]
        return self


@dataclass
class Commands:
    """The commands of the program, by the group that `course --help` lists them in.

    `names` are what the first exercise of the course can be called. Without them, the help says which kinds there are.
    With `only`, the options of that command alone are made, which takes a third of the time.
    """

    subparsers: Subparsers
    names: Sequence[str] = ()
    only: str | None = None
    group: str = ""
    groups: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, name: str, target: str, summary: str, details: str = "", *, add_help: bool = True) -> Parser:
        """Add a command that calls `target`, a `module.function` of the package cli."""
        self.groups.setdefault(self.group, []).append((name, summary))
        if self.only not in (None, name):
            return _NotMade()
        description = f"{summary[0].upper()}{summary[1:]}.\n\n{details}"
        parser = self.subparsers.add_parser(
            name, description=description, formatter_class=HelpFormatter, add_help=add_help
        )
        parser.set_defaults(command=command(target))
        add_rendering(parser)
        return parser

    @property
    def exercise(self) -> str:
        """How an exercise is named, for the help of an argument."""
        *others, last = self.names or ("its number", "name", "id")
        return f"an exercise: {', '.join(others)} or {last}"

    def listing(self) -> str:
        """Return the commands in their groups, for `course --help`."""
        blocks = (
            "\n".join([f" {group}:", *(f"   {name.ljust(10)} {summary}" for name, summary in commands)])
            for group, commands in self.groups.items()
        )
        return "\n\n".join(blocks)


def command(target: str) -> Callable[[argparse.Namespace], int]:
    """Return a function that imports its module when it is called: each command loads only what it needs."""
    module, function = target.split(".")

    def run(options: argparse.Namespace) -> int:
        return int(getattr(importlib.import_module(f"autograder.cli.{module}"), function)(options))

    return run


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


def add_exercise(commands: Commands, parser: argparse.ArgumentParser, default: str = "the one you are on") -> None:
    """Add one exercise, which may be left out."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help=f"{commands.exercise} (default: {default})")


def add_run(parser: argparse.ArgumentParser, seed: str) -> None:
    """Add the device and the seed of a run; `seed` says what the default seed is."""
    parser.add_argument("--device", default="cpu", metavar="NAME", help=DEVICE)
    parser.add_argument("--seed", type=int, metavar="N", help=f"{DIFFERENT_SEED} (default: {seed})")


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


def shard(text: str) -> "Shard":
    """Return a part of a class, like 2/8."""
    from autograder.instructor.grading.shards import read_shard

    try:
        return read_shard(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
