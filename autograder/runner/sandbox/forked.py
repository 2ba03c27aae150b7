"""Processes that a zygote has forked, as the judge sees them: another zygote, or a confined worker with its pipes."""

import contextlib
import errno
import math
import os
import signal
import threading
from io import FileIO
from typing import IO

from autograder import ending
from autograder.runner.sandbox.channels import Signal

_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ


class ForkedProcess:
    """A process whose end the zygote reports. `lost` is set if it ended because the zygote did."""

    lost = False

    def __init__(self, number: int, send: Signal, cpu_seconds: float = math.inf) -> None:
        """`cpu_seconds` is its limit, at which the kernel kills it."""
        self.number = number
        self._send = send
        self._cpu_seconds = cpu_seconds
        self._ended = threading.Event()
        self._status: int | None = None

    def signal(self, number: int) -> None:
        if not self._ended.is_set():
            self._send(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        return self.wait(0)

    def wait(self, seconds: float | None = None) -> int | None:
        return self._status if self._ended.wait(seconds) else None

    def end(self, status: int, cpu_seconds: float = 0.0) -> None:
        """Record the end of the process and the CPU time it used."""
        if status == -signal.SIGKILL and cpu_seconds > self._cpu_seconds - 1:
            status = -signal.SIGXCPU  # the kernel kills at the limit, but the message should say that time ran out
        self._status = status
        self._ended.set()
        self._send(0)
        ending.forget(self)


class ForkedWorker(ForkedProcess):
    """A confined worker process that a zygote has forked."""

    fresh = False

    def __init__(self, number: int, send: Signal, ends: tuple[int, int, int], cpu_seconds: int) -> None:
        super().__init__(number, send, cpu_seconds)
        self.jobs: IO[bytes] = FileIO(ends[0], "w")
        self.answers: IO[bytes] = FileIO(ends[1], "r")
        self.log: IO[bytes] = FileIO(ends[2], "r")

    def close(self) -> None:
        self.kill()
        for stream in (self.jobs, self.answers, self.log):
            with contextlib.suppress(OSError, ValueError):
                stream.close()


def pipes() -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return the ends of a worker's pipes for jobs, answers and log: those of the judge, then those of the worker."""
    jobs, answers, log = _large_pipe(), _large_pipe(), os.pipe()
    return (jobs[1], answers[0], log[0]), (jobs[0], answers[1], log[1])


def _large_pipe() -> tuple[int, int]:
    """Return a pipe that holds a large answer, if the system allows it, so that the worker need not wait."""
    import fcntl

    ends = os.pipe()
    try:
        fcntl.fcntl(ends[1], _SET_PIPE_SIZE, _PIPE_BYTES)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EINVAL, errno.EBUSY):
            raise
    return ends
