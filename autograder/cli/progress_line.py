"""A line that counts on stderr: redrawn on a terminal, and a new line now and then in a log."""

import sys
import time
from typing import TYPE_CHECKING

from autograder.cli.screen import say, warn
from autograder.report.printable import USUAL, columns_of, cut, padded
from autograder.report.quantities import plural

if TYPE_CHECKING:
    from autograder.instructor.grading.rate import Rate

LOG_SECONDS = 10.0
"""A log, of a batch job say, gets at most one line in this time, and none of work that is done sooner."""

_last_line = [time.monotonic()]


def is_due() -> bool:
    """Return whether a log may get a line now; if so, the next one has to wait."""
    now = time.monotonic()
    if now - _last_line[0] < LOG_SECONDS:
        return False
    _last_line[0] = now
    return True


def show_count(text: str, *, last: bool) -> None:
    """Redraw a line on a terminal; elsewhere print one now and then."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty():
        room = (columns_of(sys.stderr) or USUAL) - 1  # in the last column, a terminal may begin a new line
        print(f"\r{padded(cut(text, room), min(room, 60))}", end="\n" if last else "", file=sys.stderr, flush=True)
    elif not last and is_due():
        say(text, stream=sys.stderr)


def show_keys(done: int, total: int) -> None:
    """Show how many answer keys of a course are there."""
    show_count(f"{done} of {total} answer keys, made once", last=done == total)


def show_programs(done: int, total: int) -> None:
    """Show how many programs to practise on were run, while they are made."""
    show_count(f"making programs to practise on, once per exercise: {done} of {total}", last=done == total)


def show_tried(number: int, is_found: bool) -> None:
    """Show how many programs were run while one to hunt in is looked for."""
    show_count(f"looking for a program with one fault: {plural(number, 'program')} run", last=is_found)


def show_tested(done: int, total: int) -> None:
    """Show on how many programs a learner's tests were run."""
    show_count(f"running your tests on programs: {done} of {total}", last=done == total)


class GradingProgress:
    """Prints on stderr how far the grading of a class is."""

    def notify(self, sentence: str) -> None:
        """Print a sentence."""
        warn(sentence)

    def on_keys(self, found: int, total: int) -> None:
        """Show how many answer keys are there."""
        show_count(f"answer keys for this seed: {found} of {total}, made once", last=found == total)

    def on_graded(self, rate: "Rate") -> None:
        """Show how many submissions are graded, how fast, and how long the rest takes."""
        show_count(str(rate), last=rate.done == rate.total)
