"""What several commands share: how a command is added, the texts of common options, and types of values."""

import argparse
import importlib
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from autograder.course import UsageError, nearest, unknown
from autograder.report import folded, wrapped

if TYPE_CHECKING:
    from autograder.gradebook import Shard


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
    from autograder.gradebook import read_shard

    try:
        return read_shard(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# The commands of a learner, and their options.

COURSE_SEED = "the seed of course.toml"

NAMING = "Every command that takes an exercise accepts its number, its name, the beginning of its name, or its id."


def _naming(commands: Commands) -> str:
    """Return how an exercise is named, with the names of one as an example."""
    *others, last = commands.names or [""]
    return f"{NAMING[:-1]}:\n{', '.join(others)} and {last} all name {last}." if others else NAMING


def add_learner_commands(commands: Commands) -> None:
    """Add the commands to learn with."""
    commands.group = "Write and check"
    _add_try(commands)
    _add_check(commands)
    _add_watch(commands)
    _add_lsp(commands)
    commands.group = "Get help"
    _add_hint(commands)
    _add_why(commands)
    _add_diff(commands)
    _add_solution(commands)
    commands.group = "Practise"
    _add_hunt(commands)
    _add_arrange(commands)
    _add_review(commands)
    commands.group = "Find your way"
    _add_next(commands)
    _add_list(commands)
    _add_status(commands)
    _add_report(commands)
    _add_reset(commands)
    commands.group = "Hand in and use"
    _add_submit(commands)
    _add_play(commands)
    commands.group = "This machine"
    _add_doctor(commands)
    _add_trust(commands)


def _add_try(commands: Commands) -> None:
    parser = commands.add(
        "try",
        "try_out.show_try",
        "run the example of the lesson on your code, before any check",
        "It shows your numbers beside those that the lesson computes on paper. It gives no points, and your progress "
        "does not change.",
    )
    add_exercise(commands, parser)
    does = "run the example on the files in a folder or a zip, not on your exercises/; they run with your rights"
    parser.add_argument("--submission", type=Path, metavar="DIR", help=does)
    add_json(parser)


def _add_check(commands: Commands) -> None:
    parser = commands.add(
        "check",
        "check.check",
        "run the checks of your exercise, and explain the first failure",
        "Without EX it checks the exercise you are on. The result is saved as your progress, unless you name a "
        f"--submission.\n\n{_naming(commands)}\n\n"
        "Exit status: 0 if all pass, 1 if not, 2 for a wrong option or course, 3 if this machine cannot run checks, 4 "
        "if the grader itself failed.",
    )
    parser.add_argument("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: the one you are on)")
    parser.add_argument("--all", action="store_true", help="check every exercise")
    does = "check the files in a folder or a zip, not your exercises/; they run with your rights"
    parser.add_argument("--submission", type=Path, metavar="DIR", help=does)
    does = "do not ask what a corrected mistake was (also: questions = false in course.toml)"
    parser.add_argument("--no-questions", action="store_true", help=does)
    add_run(parser, COURSE_SEED)
    add_json(parser)


def _add_watch(commands: Commands) -> None:
    parser = commands.add(
        "watch",
        "watch.watch",
        "check your exercise each time you save it",
        "Keys show a hint, the mistake, the measurements or the list, and move on; ? lists them, and q quits. "
        "With --plain, press Enter after a key.",
    )
    add_exercise(commands, parser)
    add_run(parser, COURSE_SEED)


def _add_lsp(commands: Commands) -> None:
    commands.add(
        "lsp",
        "lsp.run_server",
        "check at every save, and show the wrong line in your editor",
        "An editor starts this language server and talks to it over stdin and stdout. It needs pygls.",
    )


def _add_hint(commands: Commands) -> None:
    parser = commands.add(
        "hint",
        "hint.show_hint",
        "show the next hint for your last failure",
        "Hints go from a question to the step. After the first one, the next hint comes when you have edited "
        "your file, or with --now.",
    )
    add_exercise(commands, parser)
    parser.add_argument("--now", action="store_true", help="show the next hint without an edit")
    add_json(parser)


def _add_why(commands: Commands) -> None:
    parser = commands.add(
        "why",
        "why.show_why",
        "explain the mistake behind your last failure",
        "It shows what is wrong, your line, why the mistake is tempting, and an experiment. After a pass it shows the "
        "line of the solution too.",
    )
    does = "a misconception by its id, or an exercise for its last failure (default: your last failure)"
    parser.add_argument("id", nargs="?", metavar="ID", help=does)
    add_json(parser)


def _add_diff(commands: Commands) -> None:
    parser = commands.add(
        "diff",
        "diff.show_diff",
        "show every measurement of your last failure",
        "Your values stand beside the expected ones. Nothing runs again.",
    )
    add_exercise(commands, parser)
    add_json(parser)


def _add_solution(commands: Commands) -> None:
    parser = commands.add(
        "solution",
        "solution.show_solution",
        "show the reference solution, after a pass or the last hint",
        "Before a pass it asks you to confirm. Your progress records that you saw the solution. A student's kit "
        "has no solutions.",
    )
    add_exercise(commands, parser, "the one you worked on last")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_hunt(commands: Commands) -> None:
    parser = commands.add(
        "hunt",
        "hunt.hunt",
        "find, name and repair the fault in a program",
        "It writes a program with one fault to hunt/. It asks what the program gives, which line is wrong, and what "
        "the mistake is. Repair it in the file, then run `course hunt --check`.",
    )
    add_exercise(commands, parser)
    does = "1: one file; 2: a file for each exercise that EX needs too, with the fault in one of them"
    parser.add_argument("--level", type=int, choices=(1, 2), default=1, metavar="N", help=does)
    parser.add_argument("--seed", type=int, metavar="N", help="draw another program (default: one not solved yet)")
    parser.add_argument("--new", action="store_true", help="draw again, although a hunt is open")
    parser.add_argument("--predict", metavar="N", help="answer what the program gives")
    parser.add_argument("--line", metavar="LINE", help="answer which line is wrong: 41, or ex05:41 with several files")
    parser.add_argument("--name", metavar="N", help="answer what the mistake is")
    parser.add_argument("--check", action="store_true", help="run the checks on your repair")
    parser.add_argument("--answer", action="store_true", help="give up, and show the answer")
    does = "write tests of EX instead: they must pass right programs, and find wrong ones"
    parser.add_argument("--tests", action="store_true", help=does)
    add_json(parser)


def _add_arrange(commands: Commands) -> None:
    parser = commands.add(
        "arrange",
        "arrange.arrange",
        "put the lines of a right program in order, after the last hint",
        "It writes the lines of a right program like yours to arrange/, in another order and with some wrong ones. "
        "Order them, then run `course arrange EX --check`.",
    )
    add_exercise(commands, parser)
    parser.add_argument("--check", action="store_true", help="run the checks on your order")
    add_json(parser)


def _add_review(commands: Commands) -> None:
    parser = commands.add(
        "review",
        "review.review",
        "answer some questions on earlier mistakes: two minutes",
        "The questions are on mistakes that you made and on exercises that passed long ago. A question that you "
        "answer comes back later, a missed one sooner.",
    )
    parser.add_argument("--answer", metavar="N", help="answer the first question that is due")
    add_json(parser)


def _add_next(commands: Commands) -> None:
    parser = commands.add(
        "next",
        "next.show_next",
        "move on to the next exercise, or to the one you name",
        "No exercise is locked: you may move to any of them at any time. Without EX it stays with an exercise that "
        "does not pass yet, except with --skip. It prints the beginning of the lesson.",
    )
    add_exercise(commands, parser, "the following one")
    parser.add_argument("--skip", action="store_true", help="leave an exercise that does not pass yet")
    add_json(parser)


def _add_list(commands: Commands) -> None:
    parser = commands.add("list", "overview.show_list", "list the exercises with their last results")
    only = parser.add_mutually_exclusive_group()
    for choice, which in (("failing", "that fail"), ("done", "that pass"), ("open", "that do not pass yet")):
        does = f"list only exercises {which}"
        only.add_argument(f"--{choice}", action="store_const", const=choice, dest="only", help=does)
    parser.add_argument("--author", action="store_true", help="list the size of each answer key in a kit, for authors")
    add_json(parser)


def _add_status(commands: Commands) -> None:
    summary = "show your progress in numbers: exercises, points, runs and hints"
    add_json(commands.add("status", "overview.show_status", summary))


def _add_report(commands: Commands) -> None:
    parser = commands.add(
        "report",
        "report.show_report",
        "show your progress as one text or HTML page",
        "It contains none of your code and no name.",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report to FILE as one HTML page")
    add_json(parser)


def _add_reset(commands: Commands) -> None:
    parser = commands.add(
        "reset",
        "reset.reset",
        "put the stub of an exercise back, and keep a copy of your file",
        "It asks you to confirm. The copy goes to .course/backups.",
    )
    parser.add_argument("exercise", metavar="EX", help=commands.exercise)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_submit(commands: Commands) -> None:
    parser = commands.add(
        "submit",
        "submit.submit",
        "pack your exercises into one zip to hand in",
        "It lists what is in the zip, and the digest that the report on it will have. "
        "Exit status: 1 if you have not started any exercise.",
    )
    does = "the zip to write (default: submission.zip in the course's folder)"
    parser.add_argument("--out", type=Path, metavar="FILE", help=does)
    add_json(parser)


def _add_play(commands: Commands) -> None:
    """The options belong to the activities, which only the course knows; so `--help` does too."""
    parser = commands.add("play", "play.play", "train and use what you have built", add_help=False)
    parser.add_argument("activity", nargs="?", metavar="ACTIVITY")


def _add_doctor(commands: Commands) -> None:
    parser = commands.add(
        "doctor",
        "doctor.show_doctor",
        "examine this machine, and print a block to copy into a question",
        "Exit status: 3 if something must be fixed.",
    )
    add_json(parser)


def _add_trust(commands: Commands) -> None:
    parser = commands.add(
        "trust",
        "program.trust_course",
        "allow the code of a course to run on this machine with your rights",
        "A course that you have not used before asks for this once.",
    )
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="the course (default: the one you are in)")
    parser.add_argument("--undo", action="store_true", help="ask again before its code runs")


# The commands of instructors and authors, and their options.

KINDS = ("points", "add", "excused", "extension", "handed_in", "comment", "withdraw")
EXPORTS = (
    *("scores", "canvas", "moodle", "nbgrader", "nbgrader-course", "gradescope", "gradescope-autograder"),
    *("classroom50", "classroom50-autograder", "prairielearn", "prairielearn-grader"),
    *("github-actions", "gitlab-ci", "annotations", "code-quality", "markdown", "junit", "feedback"),
)
VISIBILITY = ("visible", "after_due_date", "after_published", "hidden")
ONE_STUDENT = "only this student; repeatable"


def add_instructor_commands(commands: Commands) -> None:
    """Add the commands to grade a class and to write a course."""
    commands.group = "Grade a class"
    _add_grade(commands)
    _add_accept(commands)
    _add_adjust(commands)
    _add_merge(commands)
    _add_export(commands)
    _add_dashboard(commands)
    _add_name(commands)
    commands.group = "Write a course"
    _add_init(commands)
    _add_new(commands)
    _add_build(commands)
    _add_validate(commands)
    _add_mutate(commands)
    _add_release(commands)


def _add_grade(commands: Commands) -> None:
    parser = commands.add(
        "grade",
        "early.grade",
        "grade every submission in a folder or a zip",
        "It writes one report per student and the table scores.csv. A report whose submission and course have not "
        "changed is kept, so a second run grades only the rest.\n\nExit status: 0 if every submission has a score, "
        "2 for a mistake in the command, the course or the roster, 3 if this machine cannot grade, 4 if the run was "
        "stopped, or if some submissions are held, were left out, or the grader failed on them.",
    )
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="the submissions: a folder, or a zip of one")
    add("--out", type=Path, required=True, metavar="DIR", help="where to write the reports and scores.csv")
    add("--course", type=Path, metavar="DIR", help="the course to grade by (default: the one you are in)")
    add("--layout", choices=LAYOUTS, help=LAYOUT)
    add("--roster", type=Path, metavar="FILE", help=ROSTER)
    add("--assignment", metavar="ID", help="grade this one of the [[assignments]] (default: the whole course)")
    add("--take", action="append", metavar="NAME", help="grade only this part or exercise; repeatable")
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--student", action="append", dest="students", metavar="NAME", help=f"grade {ONE_STUDENT}")
    does = "go on without the submission of this student, which was taken out since the last run; repeatable"
    add("--leave-out", action="append", dest="left_out", metavar="NAME", help=does)
    add("--force", action="store_true", help="keep no report: grade unchanged submissions again")
    add("--retry-errors", action="store_true", help="grade only submissions that the grader failed on")
    add("--scheduler", type=address, metavar="ADDRESS", help="grade on the cluster of this Dask scheduler")
    add("--shard", type=shard, metavar="I/N", help="grade part I of N; `course merge` joins the parts")
    does = "sandbox confines each submission (default); process runs code that you trust, with your rights"
    add("--isolation", choices=["process", "sandbox"], default="sandbox", help=does)
    add("--sandbox", type=shlex.split, metavar="COMMAND", help="a command that runs the worker in a container")
    add_run(parser, "a secret one, made once and kept in .course")


def _add_accept(commands: Commands) -> None:
    parser = commands.add(
        "accept",
        "accept.accept_file",
        "use a corrected or renamed file of one student",
        "The file is copied to accepted/ beside course.toml, and accepted/log.csv says who, when and why. The next "
        "`course grade` uses it instead of the student's own. What was handed in stays as it is.",
    )
    add = parser.add_argument
    add("student", nargs="?", metavar="STUDENT", help="the id of the student")
    add("file", type=Path, nargs="?", metavar="FILE", help="a file of the course, or a whole hand-in: folder or zip")
    add("--reason", metavar="TEXT", help="why: the student reads it")
    add("--as", dest="name", metavar="NAME", help="the file of the course that it is (default: its own name)")
    add("--by", metavar="NAME", help="who accepts it (default: git's user.name, or your login)")
    add("--assignment", metavar="ID", help="only for this assignment (default: all)")
    add("--withdraw", action="store_true", help="from now on, the student's own hand-in counts again")
    add("--list", action="store_true", help="list what is accepted, and do nothing")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


def _add_adjust(commands: Commands) -> None:
    parser = commands.add(
        "adjust",
        "adjust.adjust",
        "note a decision about a mark: points, excused, time, a comment",
        f"KIND is one of: {', '.join(KINDS)}. EXERCISE may be an assignment, or * for all together. The row is "
        "added to adjustments.csv beside course.toml, which counts when marks are read: nothing is graded again. "
        "A later row of the same student and exercise replaces an earlier one. Rows of add and comment count beside "
        "each other.",
    )
    add = parser.add_argument
    add("student", nargs="?", metavar="STUDENT", help="the id of the student")
    add("exercise", nargs="?", metavar="EX", help=f"{commands.exercise}, or * for all together")
    add("kind", nargs="?", metavar="KIND", help="what is decided")
    add("value", nargs="?", metavar="VALUE", help="points; days or a time of an extension; the time handed in")
    add("--text", metavar="TEXT", help="why: the student reads it")
    add("--by", metavar="NAME", help="who decides (default: git's user.name, or your login)")
    add("--list", action="store_true", help="list what counts, of all or of one student, and do nothing")
    add("--merge", type=Path, metavar="FILE", help="add the rows of another grader's adjustments.csv")
    add("--keep", choices=("mine", "theirs"), help="what counts where --merge finds two decisions")
    add("--from-nbgrader", metavar="URL", help="take over what people entered in nbgrader's database")
    add("--assignment", metavar="NAME", help="its name in nbgrader (default: the course's folder)")
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


def _add_merge(commands: Commands) -> None:
    parser = commands.add(
        "merge",
        "merge.merge_shards",
        "join the parts of a class that `course grade --shard` wrote",
        "A second run changes nothing.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="where to write the reports and scores.csv")
    parser.add_argument("shards", type=Path, nargs="+", metavar="SHARD", help="a folder of `course grade --shard`")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)


def _add_export(commands: Commands) -> None:
    parser = commands.add(
        "export",
        "export.export",
        "write the scores of a class in the format of a gradebook",
        f"FORMAT is one of: {', '.join(EXPORTS)}.\n\nExit status: 4 if a score could not be exported or "
        "a time of submission is in doubt.",
    )
    add = parser.add_argument
    add("format", choices=EXPORTS, metavar="FORMAT", help="the format to write")
    add("out", type=Path, nargs="?", metavar="OUT", help=f"{GRADES}, or one report")
    add("--to", required=True, metavar="PATH", help="the file or folder to write; for nbgrader the URL of its database")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)
    add("--student", action="append", dest="students", metavar="NAME", help=f"export {ONE_STUDENT}")
    _add_gradebook_options(parser)


def _add_gradebook_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that are for some formats only."""
    add = parser.add_argument_group("canvas, moodle").add_argument
    add("--into", type=Path, metavar="FILE", help="the file that you exported there, to be filled in")
    add("--column", metavar="TITLE", help="the column for the scores (default: the only one there is)")
    add("--scale", action="store_true", help="scale the scores to the maximum that is set there")
    add("--overwrite", action="store_true", help="replace grades and comments there that differ")
    add = parser.add_argument_group("nbgrader, nbgrader-course").add_argument
    add("--assignment", metavar="NAME", help="the name of the assignment (default: the course's folder)")
    add("--course", metavar="NAME", help="the name of the course (default: the only one there is)")
    add("--autograded", type=Path, metavar="DIR", help="where to write the notebooks that feedback is made of")
    add = parser.add_argument_group("gradescope").add_argument
    add("--visibility", choices=VISIBILITY, help="when students see their results (default: visible)")
    add("--check-visibility", choices=VISIBILITY, help="when students see each check (default: with the results)")
    add("--metadata", type=Path, metavar="FILE", help="the submission_metadata.json with the student and the time")
    add = parser.add_argument_group("classroom50-autograder, prairielearn-grader").add_argument
    add("--kit", type=Path, metavar="DIR", help="the kit that students have, made by course release")
    add = parser.add_argument_group("feedback").add_argument
    platforms = ("canvas", "moodle")
    add(
        "--for", dest="platform", choices=platforms, help="one zip to upload there; canvas needs --into submissions.zip"
    )


def _add_dashboard(commands: Commands) -> None:
    parser = commands.add(
        "dashboard",
        "dashboard.dashboard",
        "make a page about a class: common mistakes, similar submissions",
        "The page is OUT/class.html. Its tables are CSV files beside it.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help=GRADES)
    parser.add_argument("--names", action="store_true", help="show names (default: pseudonyms)")
    add_submissions(parser, "the submissions, to look for similar ones too", required=False)


def _add_name(commands: Commands) -> None:
    parser = commands.add(
        "name",
        "name.name",
        "add the common mistake of a group of students to the catalogue",
        "You write the texts of the new misconception, and `course validate` proves it.",
    )
    parser.add_argument("out", type=Path, metavar="OUT", help=GRADES)
    add_submissions(parser, "the submissions", required=True)
    parser.add_argument("group", metavar="GROUP", help="the id of the group, as the class page shows it")


def _add_init(commands: Commands) -> None:
    parser = commands.add(
        "init",
        "new.init",
        "begin a course of your own, with one exercise",
        "The new course passes `course validate`. Its README.md lists the commands to go on with.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write it: a new or empty folder")
    parser.add_argument("--torch", action="store_true", help="students use PyTorch (default: plain Python)")
    parser.add_argument("--title", metavar="TEXT", help="the title of the course (default: the name of the folder)")


def _add_new(commands: Commands) -> None:
    parser = commands.add(
        "new",
        "new.new",
        "add a new exercise: its files, and its entry in course.toml",
        "The files are a small exercise that `course validate` proves. You replace it by your own.",
    )
    parser.add_argument("name", metavar="NAME", help="a name like averages, or with a free number: ex99_averages")


def _add_build(commands: Commands) -> None:
    parser = commands.add(
        "build",
        "build.build",
        "make the stubs, notebooks and reference parts from their sources",
        "It makes the files that are missing. It replaces one that differs only if you say --force.",
    )
    parser.add_argument("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; list stale files, and exit with 1 if any")
    parser.add_argument("--force", action="store_true", help="replace files that were edited")


def _add_validate(commands: Commands) -> None:
    parser = commands.add(
        "validate",
        "validate.prove",
        "prove that solutions, misconceptions and checks fit together",
        "Exit status: 0 if they do, 1 if not.",
    )
    add = parser.add_argument
    add("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: all)")
    does = "prove too that a mistake costs points in one exercise only; with N, for every Nth misconception"
    add("--once", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "measure too how often the location of a mistake is right; with N, for every Nth misconception"
    add("--places", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "calibrate too: wrong programs made of the accepted variants, with --once their points; with N, every Nth"
    add("--styles", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "calibrate too: misconceptions in whole accepted courses, with --once their points; with N, every Nth"
    add("--ported", type=positive, nargs="?", const=1, metavar="N", help=does)
    add("--sizes", type=Path, metavar="FILE", help="take the sizes of the axes from FILE (default: course.toml)")
    add("--page", type=Path, metavar="FILE", help="write to FILE which check catches which misconception")
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--device", default="cpu", metavar="NAME", help="where the programs run: cpu, cuda or mps (default: cpu)")
    add("--seed", type=int, metavar="N", help="use different inputs and weights (default: the seed of course.toml)")
    add_json(parser)


def _add_mutate(commands: Commands) -> None:
    parser = commands.add(
        "mutate",
        "mutate.mutate",
        "find small mistakes in a solution that no check notices",
        "It changes the solution in hundreds of ways. A mutant that passes every check is a survivor. Make a check "
        "stricter, or list the survivor as equivalent with a reason. A run that was stopped goes on where it ended."
        "\n\nExit status: 0 if every mutant is caught or listed with a reason that holds, 1 if not.",
    )
    add = parser.add_argument
    add("exercises", nargs="*", metavar="EX", help=f"{commands.exercise} (default: all)")
    add("--minutes", type=positive, metavar="N", help="begin no mutant after N minutes; the next run does the rest")
    does = "look for a difference in N more trials of each check (default: 10)"
    add("--search", type=positive, default=10, metavar="N", help=does)
    add("--doubt", action="store_true", help="look for a difference of the listed mutants, too")
    add("--force", action="store_true", help="run all mutants again, also those of an earlier run")
    add("--draft", metavar="ID", help="add the survivor ID to the misconceptions, with texts to fill in")
    does = "add a misconception, with its texts, for each standard check that none fails"
    add("--standard", action="store_true", help=does)
    does = "list the survivors as equivalent; needs --reason; may be repeated"
    add("--equivalent", nargs="+", action="extend", metavar="ID", help=does)
    add("--reason", metavar="TEXT", help="why no check can catch these survivors")
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--seed", type=int, metavar="N", help="use different inputs and weights (default: the seed of course.toml)")
    add_json(parser)


def _add_release(commands: Commands) -> None:
    parser = commands.add(
        "release",
        "release.release",
        "make the kit for students, without the solutions",
        "It writes nothing if a file would leak a solution or a secret, and exits with 1.",
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write: a new or empty folder, or an old kit")
    parser.add_argument("--check", action="store_true", help="write nothing; look for leaks in DIR, a finished kit")
    does = "release only this part or exercise, as `take` of course.toml; may be repeated"
    parser.add_argument("--take", action="append", metavar="NAME", help=does)
    does = "let students practise on programs of this exercise, nearly solutions; may be repeated"
    parser.add_argument("--hunt", action="append", metavar="EX", help=does)
    parser.add_argument("--assignment", metavar="ID", help="release this assignment, and all before it")
