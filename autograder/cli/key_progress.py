"""Progress of answer keys: the first check of an exercise runs every misconception of the catalogue once."""

import contextlib
import shutil
import sys
import threading
import time

from autograder.cli.progress_line import is_due
from autograder.report.exercise_summary import number

QUIET_SECONDS = 2.0
"""A sentence cannot be taken back, so `--plain` prints it only if the wait is noticeable."""

EVERY_SECONDS = 0.1
"""A line that changes more often is unreadable."""


class KeyProgress:
    """A line on a terminal's stderr that disappears at the end; a sentence now and then in a log, and with `plain`."""

    def __init__(self, *, plain: bool) -> None:
        self.plain = plain
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._last_shown = 0.0
        self._width = 0
        self._has_printed = not plain
        self._closed = False

    def on_progress(self, exercise: str, done: int, total: int) -> None:
        """Show how far an answer key is. Any thread may call this."""
        with self._lock:
            if self._closed or sys.stderr is None:
                return
            if self.plain or not sys.stderr.isatty():
                self._print(exercise, done, total)
            elif done == total or time.monotonic() - self._last_shown > EVERY_SECONDS:
                text = f"{number(exercise)} comparing with known mistakes: {done} of {total}, once per exercise"
                text = text[: shutil.get_terminal_size().columns - 1]
                _write(f"\r{text.ljust(self._width)}")
                self._width, self._last_shown = len(text), time.monotonic()

    def close(self) -> None:
        """Clear the line and stop reporting."""
        with self._lock:
            self._closed = True
            if self._width and sys.stderr is not None:
                _write(f"\r{' ' * self._width}\r")
            self._width = 0

    def _print(self, exercise: str, done: int, total: int) -> None:
        if not self._has_printed and time.monotonic() - self._started > QUIET_SECONDS:
            _write(f"Exercise {number(exercise)}: comparing with {total} known mistakes, once per exercise.\n")
            self._has_printed = True
        elif self._has_printed and is_due():
            _write(f"Exercise {number(exercise)}: {done} of {total} known mistakes compared.\n")


def _write(text: str) -> None:
    """Write to stderr. A reader that went away must not stop the work on a key."""
    with contextlib.suppress(OSError, ValueError):
        print(text, end="", file=sys.stderr, flush=True)
