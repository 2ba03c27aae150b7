"""What is said while answer keys are made: the first check of an exercise runs every known mistake, once."""

import contextlib
import shutil
import sys
import threading
import time

from autograder.report.words import number

QUIET_SECONDS = 2.0
EVERY_SECONDS = 0.1


class Waiting:
    """A line on a terminal's standard error that goes away again; with `plain` one sentence, after two seconds."""

    def __init__(self, *, plain: bool) -> None:
        self.plain = plain
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._width = 0
        self._said = False
        self._over = False

    def on_progress(self, exercise: str, done: int, everything: int) -> None:
        """Hear how far an answer key is; called from any thread."""
        with self._lock:
            if self._over or sys.stderr is None:
                return
            if self.plain:
                self._say(exercise, everything)
            elif sys.stderr.isatty() and (done == everything or time.monotonic() - self._drawn > EVERY_SECONDS):
                text = f"{number(exercise)} comparing with known mistakes: {done} of {everything}, once per exercise"
                text = text[: shutil.get_terminal_size().columns - 1]
                _tell(f"\r{text.ljust(self._width)}")
                self._width, self._drawn = len(text), time.monotonic()

    def close(self) -> None:
        """Take the line away, and say nothing any more."""
        with self._lock:
            self._over = True
            if self._width and sys.stderr is not None:
                _tell(f"\r{' ' * self._width}\r")
            self._width = 0

    def _say(self, exercise: str, everything: int) -> None:
        if not self._said and time.monotonic() - self._begun > QUIET_SECONDS:
            _tell(f"Exercise {number(exercise)}: comparing with {everything} known mistakes, once per exercise.\n")
            self._said = True


def _tell(text: str) -> None:
    """Write to the standard error; a reader that went away must not stop the making of a key."""
    with contextlib.suppress(OSError, ValueError):
        print(text, end="", file=sys.stderr, flush=True)
