"""Open a page on which you read a graded class and decide about marks.

The page is on this machine only, and its address has a secret. What you decide is written to adjustments.csv and
accepted/ beside course.toml, as `course adjust` and `course accept` do. It needs starlette, uvicorn and
python-multipart. Ctrl-C ends it.
"""

import argparse
import signal
from pathlib import Path

from autograder import ending
from autograder.cli import GRADES, CommandParser, add_submissions, positive, say, warn
from autograder.course import UsageError, find_course, read_course, refuse_kit
from autograder.ending import PASS
from autograder.gradebook import author, find_roster, roster_file

from .worklist import Worklist


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("out", type=Path, metavar="OUT", help=f"{GRADES}, or a folder of such folders, one an assignment")
    add_submissions(parser, "the submissions, to show whole files; of a term, a folder an assignment", required=False)
    add("--claims", type=Path, metavar="PATH", help="what students ask: a folder of text files, or an mbox")
    add("--by", metavar="NAME", help="who decides (default: git's user.name, or your login)")
    add("--port", type=positive, metavar="N", help="the port of the page (default: a free one)")
    add("--no-browser", action="store_true", help="print the address, and open no browser")


def run(options: argparse.Namespace) -> int:
    """Run the command until Ctrl-C. Raises `UsageError` if nothing was graded there, or a package is missing."""
    try:
        import python_multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        names = "starlette uvicorn python-multipart"
        raise UsageError(
            f"the desk needs three packages: install them with `pip install {names}`, or the extra `desk` of this kit"
        ) from None
    from .app import serve  # after its packages were found

    course = read_course(find_course())
    refuse_kit(course, "desk")
    say(f"Reading {options.out}")
    roster = roster_file(course, options.roster)
    find_roster(course, options.roster)  # which keeps the choice for later commands
    worklist = Worklist(course.root, options.out, roster, options.folder, options.layout, options.claims)
    worklist.refresh()
    for note in worklist.notes:
        warn(note)
    serve(worklist, author(options.by), options.port or 0, say, browser=not options.no_browser)
    number = ending.asked()
    return PASS if number in (None, signal.SIGINT) else 128 + number
