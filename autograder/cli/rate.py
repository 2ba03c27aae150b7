"""How far a long run is, how fast it goes, and how long it still takes."""

import sys
import time
from collections import deque
from statistics import median

QUIET_SECONDS = 60.0
"""Where nobody watches, in a batch job's log say, a line is written this often."""

WINDOWS = 15


class Rate:
    """Counts what is done of `everything`; `at_once` are worked on at the same time.

    The rate is a median over the last windows of `at_once` each: one that hangs for minutes does not spoil it.
    """

    def __init__(self, everything: int, at_once: int) -> None:
        self.everything = everything
        self.done = 0
        self._at_once = at_once
        self._began = self._told = time.monotonic()
        self._windows: deque[float] = deque(maxlen=WINDOWS)

    def one_more(self) -> None:
        """Count one more, and tell of it where it is time to."""
        self.done += 1
        now = time.monotonic()
        if self.done % self._at_once == 0:
            self._windows.append((now - self._began) / self._at_once)
            self._began = now
        moving, last = sys.stderr.isatty(), self.done == self.everything
        if not moving and (last or now - self._told < QUIET_SECONDS):
            return
        self._told = now
        end = "\n" if last or not moving else ""
        print(f"{chr(13) if moving else ''}{self.line():<60}", end=end, file=sys.stderr, flush=True)

    def line(self) -> str:
        """Return how far it is, as a line."""
        text = f"graded {self.done:,} of {self.everything:,}"
        if self.done == self.everything or not self._windows:
            return text
        each = max(median(self._windows), 1e-6)
        return f"{text}, {_rate(each)}, about {_duration(each * (self.everything - self.done))} left"


def _rate(seconds: float) -> str:
    return f"{1 / seconds:.1f} a second" if seconds < 1 else f"{60 / seconds:.1f} a minute"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
