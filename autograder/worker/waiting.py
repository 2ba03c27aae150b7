"""Wait for a coroutine without a socket, which the sandbox forbids and every loop of asyncio opens."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

_LONGEST_SECONDS = 0.05


class _Clock:
    """Takes the place of the selector of a loop: no file is ever ready, so it only lets time pass."""

    def select(self, seconds: float | None) -> list[Any]:
        time.sleep(_LONGEST_SECONDS if seconds is None else min(seconds, _LONGEST_SECONDS))
        return []


class _Loop(asyncio.BaseEventLoop):
    """A loop for timers and coroutines."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Clock()

    def _process_events(self, events: list[Any]) -> None:
        """Do nothing: there are no files."""

    def _write_to_self(self) -> None:
        """Do nothing: the clock wakes up by itself."""


def wait_for(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine to its end."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(coroutine)
