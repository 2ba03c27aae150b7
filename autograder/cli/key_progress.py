"""Progress of a check: its first run on an exercise runs every misconception of the catalogue once.

That may take minutes, and only names the mistakes. Which checks pass and fail is shown before.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.cli.progress_line import is_due
from autograder.report.exercise_summary import number
from autograder.report.glyphs import glyphs_for
from autograder.report.printable import USUAL, cells, columns_of, cut, folded, padded

if TYPE_CHECKING:
    from autograder.checks import Check
    from autograder.results import Status

QUIET_SECONDS = 2.0
"""A sentence cannot be taken back, so `--plain` prints it only if the wait is noticeable."""

EVERY_SECONDS = 0.1
"""A line that changes more often is unreadable."""


MOST_NAMED = 8
"""Checks that are listed by name."""

LOG_WIDTH = 100
"""Columns of a log."""


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
        self._moved_on = threading.Event()
        self._outcomes: dict[str, Sequence[tuple[Check, Status]]] = {}

    def start(self, exercises: Sequence[str]) -> None:
        """Show on a terminal that the checks of some exercises run."""
        with self._lock:
            if not self.plain and _is_terminal():
                which = f"{number(exercises[0])} " if len(exercises) == 1 else ""
                self._redraw(f"{which}running the checks")
                threading.Thread(target=self._count, args=(f"{which}running the checks",), daemon=True).start()

    def _count(self, text: str) -> None:
        """Redraw a line with the seconds that passed, until there is another line."""
        while not self._moved_on.wait(1.0):
            with self._lock:
                if not self._moved_on.is_set():
                    self._redraw(f"{text}: {time.monotonic() - self._started:.0f} s")

    def on_outcomes(self, exercise: str, statuses: "Sequence[tuple[Check, Status]]") -> None:
        """Note which checks pass and fail. They are shown if their mistakes have to wait for a name."""
        with self._lock:
            self._outcomes.setdefault(exercise, statuses)

    def on_progress(self, exercise: str, done: int, total: int) -> None:
        """Show how far an answer key is. Any thread may call this."""
        with self._lock:
            if self._closed or sys.stderr is None:
                return
            if self.plain or not _is_terminal():
                self._print(exercise, done, total)
                return
            self._moved_on.set()
            if self._outcomes.get(exercise):
                self._clear()
                _write("".join(f"{line}\n" for line in self._verdict(exercise, columns_of(sys.stderr) or USUAL)))
            if done == total or time.monotonic() - self._last_shown > EVERY_SECONDS:
                self._redraw(f"{number(exercise)} comparing with known mistakes: {done} of {total}, once per exercise")

    def close(self) -> None:
        """Clear the line and stop reporting."""
        with self._lock:
            self._closed = True
            self._moved_on.set()
            self._clear()

    def _redraw(self, text: str) -> None:
        text = cut(text, (columns_of(sys.stderr) or USUAL) - 1)
        _write(f"\r{padded(text, self._width)}")
        self._width, self._last_shown = cells(text), time.monotonic()

    def _clear(self) -> None:
        if self._width:
            _write(f"\r{' ' * self._width}\r")
        self._width = 0

    def _verdict(self, exercise: str, width: int) -> list[str]:
        """Return lines, once for each exercise, that say which checks fail."""
        statuses, self._outcomes[exercise] = self._outcomes.get(exercise, ()), ()
        failing = [check.title for check, status in statuses if status == "fail"]
        if not failing:
            return []
        glyphs = glyphs_for(getattr(sys.stderr, "encoding", None) or "ascii")
        passed = sum(status == "pass" for _, status in statuses)
        fail = "1 fails" if len(failing) == 1 else f"{len(failing)} fail"
        head = f"Exercise {number(exercise)}: {passed} of {len(statuses)} checks pass, {fail}:"
        more = [f"  and {len(failing) - MOST_NAMED} more"] if len(failing) > MOST_NAMED else []
        named = [f"  {glyphs.failed} {glyphs.spell(title)}" for title in failing[:MOST_NAMED]]
        return [line for text in [head, *named, *more] for line in folded(text, width)]

    def _print(self, exercise: str, done: int, total: int) -> None:
        if not self._has_printed and time.monotonic() - self._started > QUIET_SECONDS:
            self._print_verdict(exercise)
            _write(f"Exercise {number(exercise)}: comparing with {total} known mistakes, once per exercise.\n")
            self._has_printed = True
        elif self._has_printed and is_due():
            self._print_verdict(exercise)
            _write(f"Exercise {number(exercise)}: {done} of {total} known mistakes compared.\n")

    def _print_verdict(self, exercise: str) -> None:
        _write("".join(f"{line}\n" for line in self._verdict(exercise, LOG_WIDTH)))


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _write(text: str) -> None:
    """Write to stderr. A reader that went away must not stop the work on a key."""
    with contextlib.suppress(OSError, ValueError):
        print(text, end="", file=sys.stderr, flush=True)
