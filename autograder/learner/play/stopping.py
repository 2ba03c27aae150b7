"""Stop an activity at Ctrl-C, or at a signal from `course play`: after a step, with its checkpoint saved."""

import os
import signal
import threading
from types import FrameType
from typing import Any

from autograder.ending import SIGNALS

INTERRUPTED = 128 + signal.SIGINT


class Stopping:
    """Makes a signal set an event, and a second Ctrl-C end the process at once.

    Other second signals are ignored: `course play` sends SIGTERM after a Ctrl-C that both processes may have got, and
    kills this one if it takes too long.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._is_stopping = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Stopping":
        self._before = {number: signal.signal(number, self._set) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handlers; after a first signal, a second Ctrl-C must still end the process."""
        if self._is_stopping:
            return
        for number, before in self._before.items():
            signal.signal(number, before)

    def _set(self, number: int, _frame: FrameType | None) -> None:
        """Set the event and write, no more: the interrupted code may hold a lock. Files are whole at any moment."""
        if not self._is_stopping:
            self._is_stopping = True
            self._stop.set()
            os.write(2, b"\ncourse: stopping after this step; press Ctrl-C again to stop at once\n")
        elif number == signal.SIGINT:
            os._exit(INTERRUPTED)
