"""What Ctrl-C, or a signal from `course play`, does to an activity: it stops after a step and keeps what it learned."""

import os
import signal
import threading
from types import FrameType
from typing import Any

from autograder.ending import SIGNALS

INTERRUPTED = 128 + signal.SIGINT


class Stopping:
    """While it lasts, a signal sets an event; a second Ctrl-C ends the process at once.

    A second signal of another kind changes nothing: `course play` sends SIGTERM after a Ctrl-C that both may have got,
    and kills what takes too long.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Stopping":
        self._before = {each: signal.signal(each, self._set) for each in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        """Let signals do what they did before; but if one has come, a second Ctrl-C still ends the process."""
        if self._asked:
            return
        for each, before in self._before.items():
            signal.signal(each, before)

    def _set(self, number: int, _frame: FrameType | None) -> None:
        """Only set and write: the interrupted code may hold a lock. Files are whole at any moment."""
        if not self._asked:
            self._asked = True
            self._stop.set()
            os.write(2, b"\ncourse: stopping; once more stops at once\n")
        elif number == signal.SIGINT:
            os._exit(INTERRUPTED)
