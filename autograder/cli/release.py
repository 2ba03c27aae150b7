"""`course release`: make the student's kit, or look for leaks in one."""

import argparse
import os
from collections.abc import Sequence

from autograder.authoring import Leak, examine_kit, release_kit, require_folder, seed_warning, unfinished_texts
from autograder.course import (
    UsageError,
    find_assignment,
    find_course,
    read_course,
    refuse_kit,
    require_texts,
    resolve_exercise,
    resolve_take,
    taking,
    too_early,
    up_to,
)
from autograder.exits import FAIL, PASS
from autograder.practice import programs_for
from autograder.report import plural

from .screen import say, show_keys, show_programs, warn

MOST_SHOWN = 20
"""More leaks have one cause, mostly: a solution in the wrong folder."""


def release(options: argparse.Namespace) -> int:
    """Run the command. A kit with a leak is not written."""
    course = read_course(find_course())
    refuse_kit(course, "release")
    require_texts(course, course.every)
    if options.take and options.assignment:
        raise UsageError("--take and --assignment both choose exercises; leave one of them out")
    if options.assignment:
        assignment = find_assignment(course, options.assignment)
        if warning := too_early(assignment):
            warn(warning)
        course = up_to(course, assignment)
    if options.take:
        course = taking(course, resolve_take(course, options.take))
    if not options.check:
        require_folder(options.folder)
    warn(seed_warning(course))
    for exercise in course.exercises:
        for sentence in unfinished_texts(course, exercise):
            warn(f"students would read this: {sentence}")
    folder = options.folder
    hunted = [resolve_exercise(course, name) for name in options.hunt or ()]
    if options.check:
        return _show(examine_kit(course, folder, hunted), f"nothing of the solutions is in {folder}")
    programs = [programs_for(course, exercise, show_programs) for exercise in hunted]
    kit = release_kit(course, folder, jobs=os.cpu_count() or 1, on_keys=show_keys, hunted=programs)
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
