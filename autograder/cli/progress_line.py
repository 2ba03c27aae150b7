"""A line that counts on stderr: redrawn on a terminal, once a minute in a log."""

import sys
import time

from autograder.cli.screen import warn
from autograder.instructor.grading.rate import Rate

QUIET_SECONDS = 60.0
"""A log, of a batch job say, gets a line this often."""


def show_count(text: str, *, last: bool) -> None:
    """Redraw a line on a terminal; print nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r{text:<60}", end="\n" if last else "", file=sys.stderr, flush=True)


class GradingProgress:
    """Prints on stderr how far the grading of a class is."""

    def __init__(self) -> None:
        self._last_line = time.monotonic()

    def notify(self, sentence: str) -> None:
        """Print a sentence."""
        warn(sentence)

    def on_keys(self, found: int, total: int) -> None:
        """Show how many answer keys are there."""
        show_count(f"answer keys: {found} of {total}", last=found == total)

    def on_graded(self, rate: Rate) -> None:
        """Show how many submissions are graded, how fast, and how long the rest takes."""
        last = rate.done == rate.total
        if sys.stderr.isatty():
            show_count(str(rate), last=last)
        elif not last and time.monotonic() - self._last_line >= QUIET_SECONDS:
            self._last_line = time.monotonic()
            print(rate, file=sys.stderr, flush=True)
