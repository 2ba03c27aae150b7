"""The commands and their options."""

import argparse
import importlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from autograder import __version__

EXERCISE = "an exercise: 5, 05, ex05, attention and ex05_attention all name ex05_attention"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options; `command` is the function to call with them. Exits with 2 where they make no sense."""
    parser = argparse.ArgumentParser(prog="course", description="Build a Transformer, and have it checked.")
    parser.add_argument("--version", action="version", version=f"course {__version__}")
    _rendering(parser)
    parser.set_defaults(command=_command("overview", "show_overview"))
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    for add in (_check, _watch, _hint, _list, _grade, _validate, _build, _new):
        add(commands)
    return parser.parse_args(arguments)


def _command(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        return int(getattr(importlib.import_module(f"autograder.cli.{module}"), function)(options))

    return run


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _add(commands: Commands, name: str, does: str, module: str, function: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=does, description=does[0].upper() + does[1:] + ".")
    parser.set_defaults(command=_command(module, function))
    _rendering(parser)
    return parser


def _rendering(parser: argparse.ArgumentParser) -> None:
    accessible = bool(os.environ.get("ACCESSIBLE"))
    parser.add_argument(
        "--plain", action="store_true", default=accessible, help="sentences, one fact a line; also ACCESSIBLE=1"
    )
    parser.add_argument("--no-color", action="store_true", help="no colours; also NO_COLOR=1")


def _check(commands: Commands) -> None:
    parser = _add(commands, "check", "check the exercise you are on, or those named", "check", "check")
    parser.add_argument("exercises", nargs="*", metavar="EX", help=EXERCISE)
    parser.add_argument("--all", action="store_true", help="check every exercise")
    parser.add_argument("--submission", type=Path, metavar="DIR", help="a folder or a zip to check, not exercises/")
    _running(parser)
    _json(parser)


def _watch(commands: Commands) -> None:
    parser = _add(commands, "watch", "check an exercise at every save", "watch", "watch")
    parser.add_argument("exercise", nargs="?", metavar="EX", help=EXERCISE)
    _running(parser)


def _hint(commands: Commands) -> None:
    parser = _add(commands, "hint", "show the next hint for the last failure", "hint", "show_hint")
    parser.add_argument("exercise", nargs="?", metavar="EX", help=EXERCISE)


def _list(commands: Commands) -> None:
    _add(commands, "list", "list the exercises and where you are", "overview", "show_list")


def _grade(commands: Commands) -> None:
    parser = _add(commands, "grade", "grade every submission in a folder", "grade", "grade")
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder with a folder or a zip for each student")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where reports and scores.csv go")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="submissions at a time (default: one a core)")
    parser.add_argument(
        "--isolation", choices=["process", "sandbox"], default="process", help="how submissions are kept apart"
    )
    _running(parser)


def _validate(commands: Commands) -> None:
    parser = _add(commands, "validate", "prove the course, or the exercises named", "validate", "prove")
    parser.add_argument(
        "--once",
        type=_positive,
        nargs="?",
        const=1,
        metavar="N",
        help="prove also that a mistake costs points in one exercise only; with N, for every Nth misconception",
    )
    parser.add_argument("exercises", nargs="*", metavar="EX", help=EXERCISE)
    parser.add_argument("--sizes", type=Path, metavar="FILE", help="take the sizes of the axes from another file")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write there which check catches which misconception")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="workers at a time (default: one a core)")
    parser.add_argument("--seed", type=int, metavar="N", help="draw other inputs and weights")
    _json(parser)


def _build(commands: Commands) -> None:
    parser = _add(commands, "build", "make the stubs from the solutions", "build", "build")
    parser.add_argument("--check", action="store_true", help="write nothing; say which stubs are stale")
    parser.add_argument("--force", action="store_true", help="write stubs over files that were edited")


def _new(commands: Commands) -> None:
    parser = _add(commands, "new", "make the files of a new exercise", "new", "new")
    parser.add_argument("name", metavar="exNN_NAME", help="what the exercise is called, like ex15_cache")


def _running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps")
    parser.add_argument("--seed", type=int, metavar="N", help="draw other inputs and weights")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help="write the report there; - is stdout, and nothing else is shown")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)
