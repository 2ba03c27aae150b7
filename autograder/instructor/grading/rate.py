"""Estimate how fast a long run is, and how long it still takes."""

import time
from collections import deque
from statistics import median

from autograder.report.quantities import duration

WINDOWS = 15
"""Enough windows for a steady median, few enough to notice a change of speed."""


class Rate:
    """Counts the finished items of `total`, of which `at_once` are worked on at the same time.

    The rate is a median over the last windows of `at_once` items: one item that hangs for minutes does not change it.
    """

    def __init__(self, total: int, at_once: int) -> None:
        self.total = total
        self.done = 0
        self._at_once = at_once
        self._started = time.monotonic()
        self._windows: deque[float] = deque(maxlen=WINDOWS)

    def count(self) -> None:
        """Count one more item."""
        self.done += 1
        if self.done % self._at_once == 0:
            now = time.monotonic()
            self._windows.append((now - self._started) / self._at_once)
            self._started = now

    def __str__(self) -> str:
        text = f"graded {self.done:,} of {self.total:,}"
        if self.done == self.total or not self._windows:
            return text
        seconds = max(median(self._windows), 1e-6)
        return f"{text}, {_rate(seconds)}, about {duration(seconds * (self.total - self.done))} left"


def _rate(seconds: float) -> str:
    return f"{1 / seconds:.1f} a second" if seconds < 1 else f"{60 / seconds:.1f} a minute"
