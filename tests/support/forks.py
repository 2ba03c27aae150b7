"""Workers that are forked from one process which has loaded torch: each is fresh, and ready at once.

A worker that is started loads torch for a second or more. Where isolation is not the subject of a test, a forked one is
as good: it is a plain process, which sees what its user sees.
"""

import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from autograder.course import Suite
from autograder.runner import Runner, WorkerHandle
from autograder.sandbox import Isolation, Launch, process_isolation
from autograder.sandbox.channels import ForkedProcess, SocketChannel
from autograder.sandbox.isolation import ZygoteError, ZygotePool, request

OWN_SESSION = ("session", "descriptors")
"""A forked worker leads a process group and has three descriptors, as one that is started."""


class AsOurselves(Launch):
    """Starts the first process without bubblewrap and as the user who runs the tests."""

    def user(self) -> dict[str, Any]:
        """Change nothing."""
        return {}


class Forking(Isolation):
    """No isolation but a process for each submission."""

    @property
    def confined(self) -> bool:
        """Never."""
        return False

    def start(self) -> WorkerHandle:
        """Fork a worker."""
        assert self.zygotes is not None
        return self.zygotes.fork(request(OWN_SESSION))


@contextmanager
def forking(suite: Suite) -> Iterator[Isolation]:
    """Yield what starts workers by forking, or by starting them where the system cannot do that."""
    plain = process_isolation()
    if not sys.platform.startswith("linux"):
        yield plain
        return
    zygotes = ZygotePool(AsOurselves(outer=False), Runner(suite, seed=suite.course.seed).warm_up(), 1)
    with Forking(plain.level, plain.sentence, zygotes) as isolation:
        yield isolation


@contextmanager
def lending(zygotes: ZygotePool, address: Path) -> Iterator[Path]:
    """Listen on a socket, and lend each program that connects to it a zygote, split off one of these."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(address))
        listener.listen()
        threading.Thread(target=_lend, args=(listener, zygotes), daemon=True).start()
        yield address
        listener.shutdown(socket.SHUT_RDWR)


def _lend(listener: socket.socket, zygotes: ZygotePool) -> None:
    """Answer each program; runs in a thread of its own."""
    with suppress(OSError):
        while True:
            program, _ = listener.accept()
            with program, suppress(ZygoteError):  # the program then sees that nobody serves it
                zygote = zygotes.some()
                assert isinstance(zygote._channel, SocketChannel)
                reply = zygote._ask(partial(zygote._channel.split, program))
                zygote._register(ForkedProcess(reply["child"], reply["signal"]))
