"""Check your exercise each time you save it.

Keys show a hint, the mistake, the measurements or the list, and move on; ? lists them, and q quits. With --plain,
press Enter after a key.
"""

import argparse
import signal
import sys
from collections.abc import Mapping

from autograder import ending
from autograder.cli import COURSE_SEED, CommandParser, add_brief, add_exercise, add_run, make_console, parse, warn
from autograder.course import Course, CourseError, UsageError, find_course, left_out, load_suite, read_course
from autograder.ending import PASS
from autograder.judge import SELF_CHECK, Grader
from autograder.progress import (
    Cockpit,
    Keyboard,
    Progress,
    RunCommand,
    Screen,
    Session,
    exercise_meant,
    is_large_enough,
    keep_brief,
    keyboard,
    normalize_device,
    read_progress,
    record,
)
from autograder.results import Report
from autograder.runner import EnvironmentProblem, GraderProblem
from autograder.submission import SubmissionError

SIGNAL_STATUS = 128
"""What a shell adds to the number of the signal that ended a program."""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_exercise(parser)
    add_brief(parser)
    add_run(parser, COURSE_SEED)


def run(options: argparse.Namespace) -> int:
    """Run the command, until `q` or Ctrl-C."""
    course = read_course(find_course())
    warn(left_out(course))
    progress = read_progress(course)
    exercise = exercise_meant(course, progress, options.exercise)
    seed = course.seed if options.seed is None else options.seed
    suite = load_suite(course)
    with (
        keyboard(plain=options.plain) as keys,
        Grader(
            suite,
            seed=seed,
            device=normalize_device(options.device),
            evidence=True,
            remember=True,
            budget=SELF_CHECK,
        ) as grader,
    ):
        screen = _screen(options, course, keys)
        screen.brief, warning = keep_brief(course, options.brief)
        warn(warning)
        session = Session(grader, screen, keys, _save_result, _commands(options))
        with ending.by_itself(session.leave):
            try:
                session.run(exercise)
            except KeyboardInterrupt:
                session.leave(signal.SIGINT)
            finally:
                session.close()
    if session.ended_by in (None, signal.SIGINT):
        return PASS
    return SIGNAL_STATUS + session.ended_by


def _screen(options: argparse.Namespace, course: Course, keys: Keyboard) -> Screen:
    """Return the screen that is drawn in place on a terminal with keys, else one that is written line by line."""
    console = make_console(options)
    drawn = bool(keys) and not options.plain and console.is_terminal and not console.is_dumb_terminal
    if drawn and not console.legacy_windows and is_large_enough(console):
        return Cockpit(console, course)
    return Screen(console, course, plain=options.plain, keys=bool(keys))


def _save_result(course: Course, report: Report, sources: Mapping[str, bytes]) -> Progress:
    saved = record(course, report, sources, command="watch")
    warn(saved.warning)
    return saved.progress


def _commands(options: argparse.Namespace) -> RunCommand:
    """Return a function that runs another command with the same `--plain` and `--no-color`.

    The command suggests no other ones: there are keys for them.
    """
    rendering = [name for name, wanted in (("--plain", options.plain), ("--no-color", options.no_color)) if wanted]

    def run(*words: str) -> None:
        try:
            chosen = parse([*words, *rendering])
            chosen.has_keys = True
            chosen.command(chosen)
        except SystemExit:
            pass  # argparse has printed what is wrong
        except (UsageError, CourseError, SubmissionError, EnvironmentProblem, GraderProblem, OSError) as error:
            warn(str(error))
        sys.stdout.flush()

    return run
