"""Fork the workers of a program from the zygote of the tests, so that none has to load torch.

Python imports this module at its start where PYTHONPATH has this folder. The variable `FORKS` names the socket on which
the tests lend a zygote (`lending` in tests/support/forks.py). A worker that needs other libraries than those that the
zygote has loaded is started as always.
"""

import importlib.util
import os
import socket
import sys
import threading
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

LIBRARIES = ("torch",)
"""What the zygote has loaded."""


class Lender:
    """The process of the tests, as a channel sees the process of a zygote."""

    def poll(self) -> None:
        """Say that it runs: a zygote that ends closes its channel."""

    def kill(self) -> None:
        """Leave it alone: the zygote ends when its channel is closed."""


class Workers:
    """Starts the workers of this program. Several threads may call it."""

    def __init__(self, spawned: Any) -> None:
        self._spawned = spawned
        self._lock = threading.Lock()
        self._zygote: Any = None

    def __call__(self, libraries: Iterable[str] = ()) -> Any:
        """Return a worker which has these libraries loaded."""
        from autograder.sandbox.isolation import request

        if tuple(libraries) != LIBRARIES:
            return self._spawned(libraries)
        with self._lock:
            if self._zygote is None:
                self._zygote = borrowed()
        return self._zygote.fork(request(("session", "descriptors")))


def borrowed() -> Any:
    """Return a zygote that was split off that of the tests."""
    from autograder.sandbox.channels import SocketChannel
    from autograder.sandbox.isolation import Zygote

    ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.connect(os.environ["FORKS"])
    return Zygote(SocketChannel(ours, Lender()))


class Finder:
    """Finds the module that starts workers, once, and has it fork them."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the specification of that module, and None of others."""
        if name != "autograder.runner.process":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        execute = spec.loader.exec_module

        def execute_and_patch(module: ModuleType) -> None:
            execute(module)
            module.SpawnedWorker = Workers(module.SpawnedWorker)  # type: ignore[attr-defined]

        spec.loader.exec_module = execute_and_patch  # type: ignore[method-assign]
        return spec


# As in tests/autograder/conftest.py: jupytext takes seconds to load with it, and does without it.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

if "FORKS" in os.environ:
    sys.meta_path.insert(0, Finder())
