"""Limits the processor time for locating mistakes: that is help, and must not delay marks."""

import time

EXERCISE_SECONDS = 2.0
SUBMISSION_SECONDS = 6.0
"""Of one exercise, and of all of a submission. Honest ones take an eighth on a busy machine (benchmarks/hostile.py)."""

MOST_CULPRITS = 100
"""The most steps that are blamed for one mistake: several times as many as honest programs have."""


class OutOfTime(Exception):
    """The processor time is used up."""


class Deadline:
    """A limit on the processor time of this thread (s); waiting and other threads do not count."""

    def __init__(self, seconds: float) -> None:
        self._until = time.thread_time() + seconds

    def check(self) -> None:
        """Raise `OutOfTime` where the time is used up."""
        if time.thread_time() > self._until:
            raise OutOfTime

    @property
    def left(self) -> float:
        """Return the processor time that is left (s), negative where it is used up."""
        return self._until - time.thread_time()
