"""Make the kit for students, without the solutions.

It writes nothing if a file would leak a solution or a secret, and exits with 1.
"""

import argparse
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from autograder.cli import CommandParser, say, show_keys, show_programs, warn
from autograder.course import (
    Assignment,
    Course,
    UsageError,
    find_assignment,
    find_course,
    left_out,
    read_course,
    refuse_kit,
    require_texts,
    resolve_exercise,
    resolve_take,
    taking,
)
from autograder.ending import FAIL, PASS
from autograder.report import plural

from .leaks import Leak
from .oversights import unfinished_texts
from .release import examine_kit, license_warning, megabytes, release_kit, require_folder, require_project, seed_warning

MOST_SHOWN = 20
"""More leaks have one cause, mostly: a solution in the wrong folder."""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to write: a new or empty folder, or an old kit")
    does = "write a wheel to DIR: the engine with the kit in it, which `course start` lays out"
    parser.add_argument("--wheel", action="store_true", help=does)
    parser.add_argument("--check", action="store_true", help="write nothing; look for leaks in DIR, a finished kit")
    does = "release only this part or exercise, as `take` of course.toml; may be repeated"
    parser.add_argument("--take", action="append", metavar="NAME", help=does)
    does = "let students practise on programs of this exercise, nearly solutions; may be repeated"
    parser.add_argument("--hunt", action="append", metavar="EX", help=does)
    parser.add_argument("--assignment", metavar="ID", help="release this assignment, and all before it")


def run(options: argparse.Namespace) -> int:
    """Run the command. A kit with a leak is not written."""
    course = read_course(find_course())
    refuse_kit(course, "release")
    warn(left_out(course))
    require_texts(course, course.every)
    if options.take and options.assignment:
        raise UsageError("--take and --assignment both choose exercises; leave one of them out")
    if options.assignment:
        assignment = find_assignment(course, options.assignment)
        if warning := _too_early(assignment):
            warn(warning)
        course = _up_to(course, assignment)
    if options.take:
        course = taking(course, resolve_take(course, options.take))
    if options.wheel and options.check:
        raise UsageError("--check looks through a finished kit, and --wheel makes one; leave one of them out")
    if options.wheel:
        require_project()
    elif not options.check:
        require_folder(options.folder)
    if not options.check:
        warn(license_warning(course))
    warn(seed_warning(course))
    for exercise in course.exercises:
        for sentence in unfinished_texts(course, exercise):
            warn(f"students would read this: {sentence}")
    folder = options.folder
    hunted = [resolve_exercise(course, name) for name in options.hunt or ()]
    if options.check:
        return _show(examine_kit(course, folder, hunted), f"nothing of the solutions is in {folder}")
    programs = []
    if hunted:
        from autograder.practice import programs_for  # an application beside this one

        programs = [programs_for(course, exercise, show_programs) for exercise in hunted]
    jobs = os.cpu_count() or 1
    kit = release_kit(course, folder, jobs=jobs, on_keys=show_keys, hunted=programs, in_wheel=options.wheel)
    if kit.wheel is not None:
        contents = f"{megabytes(kit.wheel.stat().st_size)}, the engine with a kit of {plural(len(kit.files), 'file')}"
        advice = "nothing of the solutions is in it. To begin, install it and run `course start`"
        return _show(kit.leaks, f"{kit.wheel}: {contents}; {advice}")
    contents = f"{plural(len(kit.files), 'file')}, {kit.size}, of which {kit.key_size} are the answer key"
    advice = "nothing of the solutions is in them. How to begin is in its README.md"
    return _show(kit.leaks, f"{folder}: {contents}; {advice}")


def _show(leaks: Sequence[Leak], success: str) -> int:
    """Print the leaks, or a sentence if there are none. Return the exit status."""
    if not leaks:
        say(success)
        return PASS
    for leak in leaks[:MOST_SHOWN]:
        warn(leak.sentence)
    more = f", {len(leaks) - MOST_SHOWN} of them not shown" if leaks[MOST_SHOWN:] else ""
    count = len({leak.file for leak in leaks})
    files = "file has" if count == 1 else "files have"
    warn(f"{count} {files} what students must not get{more}; take it out of there")
    return FAIL


def _up_to(course: Course, assignment: Assignment) -> Course:
    """Return the course with the exercises of an assignment and of those before it: what a class has by then."""
    until = course.assignments.index(assignment) + 1
    return taking(course, tuple(id_ for one in course.assignments[:until] for id_ in one.exercises))


def _too_early(assignment: Assignment) -> str:
    """Return a warning if an assignment is not yet to be released, else ""."""
    zone = assignment.grading.zone
    if assignment.release is None or datetime.now(zone).replace(tzinfo=None) >= assignment.release:
        return ""
    return f"{assignment.id} is to be released at {assignment.release:%Y-%m-%d %H:%M}, and that is still to come"
