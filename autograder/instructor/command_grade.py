"""Grade every submission in a folder or a zip.

It writes one report per student and the table scores.csv. A report whose submission and course have not changed is
kept, so a second run grades only the rest.

Exit status: 0 if every submission has a score, 2 for a mistake in the command, the course or the roster, 3 if this
machine cannot grade, 4 if the run was stopped, or if some submissions are held, were left out, or the grader failed
on them.
"""

import argparse
import shlex
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli import JOBS, LAYOUT, LAYOUTS, ONE_STUDENT, ROSTER, CommandParser, add_run, address, positive
from autograder.course import CourseError, find_course, read_course
from autograder.sandbox import Launch, prestarted_zygote

if TYPE_CHECKING:
    from autograder.gradebook import Shard


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
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
    does = "then search for proofs of the places of mistakes, for so long; a second run goes on"
    add("--prove", type=positive, metavar="MINUTES", help=does)
    add("--scheduler", type=address, metavar="ADDRESS", help="grade on the cluster of this Dask scheduler")
    add("--shard", type=_shard, metavar="I/N", help="grade part I of N; `course merge` joins the parts")
    does = "sandbox confines each submission (default); process runs code that you trust, with your rights"
    add("--isolation", choices=["process", "sandbox"], default="sandbox", help=does)
    add("--sandbox", type=shlex.split, metavar="COMMAND", help="a command that runs the worker in a container")
    add_run(parser, "a secret one, made once and kept in .course")


def run(options: argparse.Namespace) -> int:
    """Run the command. The sandbox starts first, if it will be used for sure."""
    with _sandbox(options):
        from .class_run import grade  # while the sandbox loads the libraries of the course

        return grade(options)


def _sandbox(options: argparse.Namespace) -> AbstractContextManager[None]:
    elsewhere = options.isolation != "sandbox" or options.sandbox or options.scheduler or options.device != "cpu"
    if elsewhere or not sys.platform.startswith("linux") or shutil.which("bwrap") is None:
        return nullcontext()
    if not options.folder.exists() or (options.out / "reports").exists():  # a second run may have nothing to grade
        return nullcontext()
    return prestarted_zygote(Launch(outer=True, libraries=_libraries(options)))


def _libraries(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the libraries of the course; none if the command is about to refuse it."""
    try:
        return read_course(find_course(options.course)).libraries
    except CourseError:
        return ()


def _shard(text: str) -> "Shard":
    """Return a part of a class, like 2/8."""
    from autograder.gradebook import read_shard  # not before the sandbox starts: it takes time to load

    try:
        return read_shard(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
