"""What a notebook has besides Python: `display`, `get_ipython`, and `await` outside of a function."""

import inspect
from collections.abc import Mapping
from types import CodeType
from typing import Any


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
        from autograder.worker.waiting import wait_for

        wait_for(waits)
