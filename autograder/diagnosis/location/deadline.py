"""How much of the judge's processor time may go into finding the places of mistakes: help must not hold up marks."""

import time

EXERCISE_SECONDS = 2.0
SUBMISSION_SECONDS = 6.0
"""Of one exercise, and of all of a submission. Honest ones take an eighth on a busy machine (benchmarks/hostile.py)."""

MOST_CULPRITS = 100
"""So many steps are looked at for one mistake: several times as many as honest programs have."""


class OutOfTime(Exception):
    """The time for this is used up."""


class Deadline:
    """So much processor time of the thread that made it. Waiting, and what other threads do, is not counted."""

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
