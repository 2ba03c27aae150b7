"""What a notebook has besides Python: `display`, `get_ipython`, and `await` outside of a function."""

import inspect
import time
from collections.abc import Coroutine, Mapping
from types import CodeType
from typing import Any

_LONGEST_SECONDS = 0.05


class _Nothing:
    """Stands in for the shell of a notebook: every method may be called, and does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing


def _nothing(*_: object, **__: object) -> None:
    """Do nothing."""


OF_NOTEBOOKS: Mapping[str, Any] = {"display": _nothing, "get_ipython": _Nothing}
"""Names that a file may use as in a notebook; a script that Jupyter exports does so too."""


def run(code: CodeType, names: dict[str, Any]) -> None:
    """Run a file. If it awaits something outside of a function, wait for it, as Jupyter does."""
    waits = eval(code, names)
    if code.co_flags & inspect.CO_COROUTINE:
        _wait_for(waits)


class _Clock:
    """Takes the place of the selector of a loop: no file is ever ready, so it only lets time pass."""

    def select(self, seconds: float | None) -> list[Any]:
        time.sleep(_LONGEST_SECONDS if seconds is None else min(seconds, _LONGEST_SECONDS))
        return []


def _wait_for(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine without a socket, which the sandbox forbids and every loop of asyncio opens."""
    import asyncio  # which few files need

    class Loop(asyncio.BaseEventLoop):
        def __init__(self) -> None:
            super().__init__()
            self._selector = _Clock()

        def _process_events(self, events: list[Any]) -> None:
            """Do nothing: there are no files."""

        def _write_to_self(self) -> None:
            """Do nothing: the clock wakes up by itself."""

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(coroutine)
