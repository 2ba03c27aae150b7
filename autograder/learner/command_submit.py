"""Pack your exercises into one zip to hand in.

It lists what is in the zip, and the digest that the report on it will have. Exit status: 1 if you have not started
any exercise.
"""

import argparse
import os
from pathlib import Path

from autograder.cli import CommandParser, Screen, add_json
from autograder.course import Course, find_course, read_course
from autograder.ending import FAIL, PASS
from autograder.progress import write_json
from autograder.report import plural

from .command_reset import SubmissionZip, pack_work


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    does = "the zip to write (default: submission.zip in the course's folder)"
    parser.add_argument("--out", type=Path, metavar="FILE", help=does)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. Exit with 0 if there is work to hand in, with 1 if nothing was started."""
    course = read_course(find_course())
    packed = pack_work(course, options.out)
    if not write_json(options.json, packed.to_json()):
        show = _show_packed if packed.started else _show_nothing
        show(Screen.of(options), course, packed)
    return PASS if packed.started else FAIL


def _show_nothing(screen: Screen, _course: Course, packed: SubmissionZip) -> None:
    which = "every file that can be read" if packed.submission.unread else "every file"
    screen.text(f"Nothing was packed: {which} is still the stub.", indent=0)
    for sentence in packed.submission.unread.values():
        screen.text(sentence)
    screen.next([("course", "where to begin")])


def _show_packed(screen: Screen, course: Course, packed: SubmissionZip) -> None:
    sources = packed.submission.sources
    contents = f"{plural(len(sources), 'file')}, {packed.size:,} bytes"
    screen.text(f"{os.path.relpath(packed.file)}: {contents}", indent=0, style="bold")
    for name in packed.started:
        screen.text(f"{name}  {plural(len(sources[name].splitlines()), 'line')}")
    if packed.untouched:
        screen.text(f"still the stub, worth nothing yet: {', '.join(packed.untouched)}")
    if packed.absent:
        screen.text(f"missing, so not packed: {', '.join(packed.absent)}")
    for note in packed.submission.notes:
        screen.text(note)
    screen.text(f"digest {packed.submission.digest}: your report will have the same", indent=0)
    screen.text(f"Hand in {packed.file.name} where {course.title} is collected.", indent=0)
