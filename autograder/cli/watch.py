"""`course watch`: checks an exercise at every save, with a worker that is warm before it is needed."""

import argparse
import signal
import sys

from autograder import ending
from autograder.cli.check import known_device, remember
from autograder.cli.parser import parse
from autograder.course import CourseError, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.course.suite import load_suite
from autograder.exits import PASS
from autograder.judge.grader import Grader
from autograder.learner.progress import read_progress
from autograder.learner.watch.keyboard import keyboard
from autograder.learner.watch.screen import Screen
from autograder.learner.watch.session import RunCommand, Session
from autograder.report.terminal import make_console
from autograder.submission import SubmissionError

KILLED = 128


def watch(options: argparse.Namespace) -> int:
    """Run the command, until `q` or Ctrl-C."""
    course = read_course(find_course())
    progress = read_progress(course)
    current = progress.current(course) or course.exercises[-1]
    exercise = resolve_exercise(course, options.exercise) if options.exercise else current
    seed = course.seed if options.seed is None else options.seed
    suite = load_suite(course)
    with (
        keyboard(plain=options.plain) as keys,
        Grader(suite, seed=seed, device=known_device(options.device), evidence=True, remember=True) as grader,
    ):
        console = make_console(plain=options.plain, color=False if options.no_color else None)
        screen = Screen(console, course, plain=options.plain, keys=bool(keys))
        session = Session(grader, screen, keys, remember, _commands(options))
        with ending.by_itself(session.leave):
            try:
                session.run(exercise)
            except KeyboardInterrupt:
                session.leave(signal.SIGINT)
            finally:
                session.close()
    if session.ended_by in (None, signal.SIGINT):
        return PASS
    return KILLED + session.ended_by


def _commands(options: argparse.Namespace) -> RunCommand:
    """Return what runs another command of the program, with this one's way of showing things."""
    shown = [name for name, wanted in (("--plain", options.plain), ("--no-color", options.no_color)) if wanted]

    def run(*words: str) -> None:
        try:
            chosen = parse([*words, *shown])
            chosen.command(chosen)
        except SystemExit:
            pass  # the parser has said what is wrong
        except (UsageError, CourseError, SubmissionError, OSError) as error:
            print(f"course: {error}", file=sys.stderr)
        sys.stdout.flush()

    return run
