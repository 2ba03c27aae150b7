"""The commands and their options."""

import argparse
import importlib
import os
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from autograder import __version__
from autograder.instructor.grading.shards import Shard, read_shard

ROSTER = "who is in the class (default: roster.csv beside the course)"
LAYOUTS = ("plain", "canvas", "moodle", "classroom", "nbgrader")
EXERCISE = "an exercise: 5, 05, ex05, attention and ex05_attention all name ex05_attention"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options; `command` is the function to call with them. Exits with 2 where they make no sense."""
    parser = argparse.ArgumentParser(prog="course", description="Build a Transformer, and have it checked.")
    parser.add_argument("--version", action="version", version=f"course {__version__}")
    _rendering(parser)
    _json(parser)
    parser.set_defaults(
        plain=bool(os.environ.get("ACCESSIBLE")),
        no_color=False,
        json=None,
        command=_command("overview", "show_overview"),
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    learner = (_check, _watch, _hint, _why, _diff, _next, _list, _status, _reset, _solution, _report, _submit, _play)
    teacher = (_grade, _merge, _export, _dashboard, _name, _validate, _build, _release, _new)
    for add in (*learner, _doctor, _trust, *teacher):
        add(commands)
    options, others = parser.parse_known_args(arguments)
    options.others = others
    if others and not hasattr(options, "activity"):
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    return options


def _command(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    def run(options: argparse.Namespace) -> int:
        return int(getattr(importlib.import_module(f"autograder.cli.{module}"), function)(options))

    return run


EXPORTS = (
    *("scores", "canvas", "moodle", "nbgrader", "nbgrader-course", "gradescope", "gradescope-autograder"),
    *("classroom", "classroom-workflow", "exercism", "junit", "feedback"),
)
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _add(commands: Commands, name: str, does: str, module: str, function: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=does, description=does[0].upper() + does[1:] + ".", add_help=name != "play")
    parser.set_defaults(command=_command(module, function))
    _rendering(parser)
    return parser


def _rendering(parser: argparse.ArgumentParser) -> None:
    """These may stand before and behind the name of a command, so no command has defaults of its own for them."""
    unsaid = argparse.SUPPRESS
    plain = "sentences, one fact a line; also ACCESSIBLE=1"
    parser.add_argument("--plain", action="store_true", default=unsaid, help=plain)
    parser.add_argument("--no-color", action="store_true", default=unsaid, help="no colours; also NO_COLOR=1")


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
    _one(parser)
    parser.add_argument("--now", action="store_true", help="show it although the file has not changed since the last")
    _json(parser)


def _why(commands: Commands) -> None:
    parser = _add(commands, "why", "explain the misconception behind the last failure, or one named", "why", "show_why")
    parser.add_argument("id", nargs="?", metavar="ID", help="a misconception, as a failure names it")
    _json(parser)


def _diff(commands: Commands) -> None:
    parser = _add(commands, "diff", "show all that was measured of the last failure", "diff", "show_diff")
    _one(parser)
    _json(parser)


def _next(commands: Commands) -> None:
    parser = _add(commands, "next", "move on to the next exercise, or to the one named", "next", "show_next")
    _one(parser)
    _json(parser)


def _list(commands: Commands) -> None:
    parser = _add(commands, "list", "list the exercises and where you are", "overview", "show_list")
    only = parser.add_mutually_exclusive_group()
    for choice, which in (("failing", "that fail"), ("done", "that pass"), ("open", "that do not pass yet")):
        does = f"only the exercises {which}"
        only.add_argument(f"--{choice}", action="store_const", const=choice, dest="only", help=does)
    _json(parser)


def _status(commands: Commands) -> None:
    _json(_add(commands, "status", "say how much is done", "overview", "show_status"))


def _reset(commands: Commands) -> None:
    parser = _add(commands, "reset", "put the stub of an exercise back, and keep what you wrote", "reset", "reset")
    parser.add_argument("exercise", metavar="EX", help=EXERCISE)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _solution(commands: Commands) -> None:
    does = "show how the course does it, after a pass or the last hint"
    parser = _add(commands, "solution", does, "solution", "show_solution")
    parser.add_argument("exercise", metavar="EX", help=EXERCISE)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _report(commands: Commands) -> None:
    parser = _add(commands, "report", "show your progress as one text or page", "report", "show_report")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write it there as one page")
    _json(parser)


def _submit(commands: Commands) -> None:
    parser = _add(commands, "submit", "pack what is to be handed in, and say what it is", "submit", "submit")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the zip to write (default: submission.zip)")
    _json(parser)


def _play(commands: Commands) -> None:
    """What is said of an activity stands in course.toml, so its options, and help, are read once that is."""
    parser = _add(commands, "play", "train and use what you have built", "play", "play")
    parser.add_argument("activity", nargs="?", metavar="ACTIVITY")


def _trust(commands: Commands) -> None:
    parser = _add(commands, "trust", "let the code of a course run on this machine, as you", "trust", "trust_course")
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="the course (default: the one you are in)")
    parser.add_argument("--undo", action="store_true", help="ask again before its code runs")


def _doctor(commands: Commands) -> None:
    does = "say what this machine has and lacks, to copy into a question"
    _json(_add(commands, "doctor", does, "doctor", "show_doctor"))


def _one(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EX", help=EXERCISE)


def _grade(commands: Commands) -> None:
    parser = _add(commands, "grade", "grade every submission in a folder", "early", "grade")
    parser.add_argument("folder", type=Path, metavar="DIR", help="the submissions: a folder, or a zip of one")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where reports and scores.csv go")
    parser.add_argument("--course", type=Path, metavar="DIR", help="the course to grade by (default: where you are)")
    parser.add_argument("--layout", choices=LAYOUTS, help="the layout of DIR (default: what all entries have)")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)
    parser.add_argument("--jobs", type=_positive, metavar="N", help="submissions at a time (default: one a core)")
    parser.add_argument(
        "--student", action="append", dest="students", metavar="NAME", help="only this one's; may be given again"
    )
    parser.add_argument("--force", action="store_true", help="keep nothing: grade again what has not changed")
    parser.add_argument("--retry-errors", action="store_true", help="grade only those that the grader failed on")
    parser.add_argument("--scheduler", type=_address, metavar="ADDRESS", help="grade on this Dask scheduler's cluster")
    parser.add_argument("--shard", type=_shard, metavar="I/N", help="only part I of N, to be merged by course merge")
    parser.add_argument(
        "--isolation",
        choices=["process", "sandbox"],
        default="sandbox",
        help="sandbox confines what nobody can trust (default); process runs what you trust, as you",
    )
    parser.add_argument(
        "--sandbox", type=shlex.split, metavar="COMMAND", help="a command that runs the worker in a container"
    )
    _running(parser)


def _merge(commands: Commands) -> None:
    parser = _add(commands, "merge", "make one folder of the shards that course grade wrote", "merge", "merge_shards")
    parser.add_argument("out", type=Path, metavar="OUT", help="where reports and scores.csv go")
    parser.add_argument("shards", type=Path, nargs="+", metavar="SHARD", help="what course grade --shard wrote")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)


def _export(commands: Commands) -> None:
    parser = _add(commands, "export", "write scores in the format of a gradebook", "export", "export")
    parser.add_argument("format", choices=EXPORTS, metavar="FORMAT", help=", ".join(EXPORTS))
    parser.add_argument("out", type=Path, nargs="?", metavar="OUT", help="what course grade wrote, or one report")
    parser.add_argument("--to", required=True, metavar="PATH", help="the file or folder to write; for nbgrader a URL")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)
    parser.add_argument(
        "--student", action="append", dest="students", metavar="NAME", help="only this one's; may be given again"
    )
    into = parser.add_argument_group("canvas, moodle")
    into.add_argument("--into", type=Path, metavar="FILE", help="the file that was exported there, to be filled in")
    into.add_argument("--column", metavar="TITLE", help="the column of the scores (default: the only one there is)")
    into.add_argument("--scale", action="store_true", help="turn the scores to the maximum that is set there")
    nbgrader = parser.add_argument_group("nbgrader, nbgrader-course")
    nbgrader.add_argument("--assignment", metavar="NAME", help="its name there (default: the course's folder)")
    nbgrader.add_argument("--course", metavar="NAME", help="the course there (default: the only one there is)")
    does = "write there the notebooks feedback is made of"
    nbgrader.add_argument("--autograded", type=Path, metavar="DIR", help=does)
    gradescope = parser.add_argument_group("gradescope")
    when = ("visible", "after_due_date", "after_published", "hidden")
    gradescope.add_argument("--visibility", choices=when, help="when students see their results (default: visible)")
    gradescope.add_argument("--check-visibility", choices=when, help="when they see the single checks")
    gradescope.add_argument("--metadata", type=Path, metavar="FILE", help="submission_metadata.json: who, and when")


def _dashboard(commands: Commands) -> None:
    parser = _add(commands, "dashboard", "make the page of a class that was graded", "dashboard", "dashboard")
    parser.add_argument("out", type=Path, metavar="OUT", help="what course grade wrote; class.html goes there")
    parser.add_argument("--names", action="store_true", help="say who is who; without it everybody has a pseudonym")
    _handed_in(parser, "the submissions; with them, similar ones are looked for")


def _name(commands: Commands) -> None:
    parser = _add(commands, "name", "write what a group of students got wrong into the catalogue", "name", "name")
    parser.add_argument("out", type=Path, metavar="OUT", help="what course grade wrote")
    _handed_in(parser, "the submissions", needed=True)
    parser.add_argument("group", metavar="GROUP", help="a group of failures, as the class page calls it")


def _handed_in(parser: argparse.ArgumentParser, told: str, *, needed: bool = False) -> None:
    parser.add_argument("folder", type=Path, nargs=None if needed else "?", metavar="DIR", help=told)
    parser.add_argument("--layout", choices=LAYOUTS, help="the layout of DIR (default: what all entries have)")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)


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
    parser.add_argument(
        "--places",
        type=_positive,
        nargs="?",
        const=1,
        metavar="N",
        help="measure also how often the place of a mistake is right; with N, for every Nth misconception",
    )
    parser.add_argument("exercises", nargs="*", metavar="EX", help=EXERCISE)
    parser.add_argument("--sizes", type=Path, metavar="FILE", help="take the sizes of the axes from another file")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write there which check catches which misconception")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="workers at a time (default: one a core)")
    parser.add_argument("--seed", type=int, metavar="N", help="draw other inputs and weights")
    _json(parser)


def _build(commands: Commands) -> None:
    parser = _add(commands, "build", "make the stubs and notebooks from the solutions", "build", "build")
    parser.add_argument("--check", action="store_true", help="write nothing; say which files are stale")
    parser.add_argument("--force", action="store_true", help="write over files that were edited")


def _new(commands: Commands) -> None:
    parser = _add(commands, "new", "make the files of a new exercise", "new", "new")
    parser.add_argument("name", metavar="exNN_NAME", help="what the exercise is called, like ex15_cache")


def _release(commands: Commands) -> None:
    parser = _add(commands, "release", "make the student's kit, without the solutions", "release", "release")
    parser.add_argument("folder", type=Path, metavar="DIR", help="where it goes: new, empty, or an earlier kit")
    parser.add_argument("--check", action="store_true", help="write nothing; say what of the solutions is in DIR")


def _running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps")
    parser.add_argument("--seed", type=int, metavar="N", help="draw other inputs and weights")


def _json(parser: argparse.ArgumentParser) -> None:
    told = "write what was found there; - is stdout, and nothing else is shown"
    parser.add_argument("--json", metavar="FILE", default=argparse.SUPPRESS, help=told)


def _address(text: str) -> str:
    if not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?[^/\s]+:\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address, expected one like tcp://10.0.0.7:8786")
    return text


def _shard(text: str) -> Shard:
    try:
        return read_shard(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)
