"""Resource limits a worker sets for itself before it runs a student's code. The judge enforces others from outside.

The kernel enforces memory and CPU time on Linux and macOS. On Windows only the judge's limit on wall time holds.
"""

import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STUCK = 86
"""The exit status of a worker that ran out of time and could still report where."""

FILE_BYTES = 16 << 20


class ResourceLimits:
    """Limits CPU time for each trial and memory for the whole process; does nothing without `limits`.

    When the CPU time is used up, `on_stuck` is called with the running frame.
    """

    def __init__(self, limits: Mapping[str, int] | None, on_stuck: Callable[[FrameType | None], None]) -> None:
        self.limits = limits
        self.on_stuck = on_stuck

    def confine(self, *, device: str) -> None:
        """Limit memory, core dumps and the size of written files. Memory not with CUDA: it reserves too much."""
        if resource is None or self.limits is None:
            return
        signal.signal(signal.SIGXCPU, lambda _signal, frame: self.on_stuck(frame))
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
        size = _recorded or _address_space()
        if size is not None and not device.startswith("cuda"):
            # What torch itself takes is not the student's, so the limit comes on top of it.
            _lower(resource.RLIMIT_AS, size + (self.limits["memory_mib"] << 20))

    def start(self, *, importing: bool = False) -> None:
        """Start the CPU time of the next trial; the kernel sends SIGXCPU when it is used up.

        An import may use as much as its wall time: libraries that draw take seconds to load.
        """
        if resource is None or self.limits is None:
            return
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        seconds = self.limits["wall_seconds" if importing else "cpu_seconds"]
        until = math.ceil(time.process_time() + seconds)  # the kernel counts since process start
        if hard != resource.RLIM_INFINITY:
            until = min(until, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


@contextmanager
def interrupted_after(seconds: float | None) -> Iterator[None]:
    """Raise `TimeoutError` in the code that runs if it takes longer, unless it is in a call of a library.

    That keeps the worker, but code that catches every error goes on: a limit it is not. Does nothing without `seconds`,
    and on Windows.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def interrupt(*_: object) -> None:
        raise TimeoutError(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


_recorded: int | None = None


def record_address_space() -> None:
    """Record the address space in use, for a process that will soon have no /proc to read it from."""
    global _recorded
    _recorded = _address_space()


def _lower(which: int, most: int) -> None:
    """Lower a limit for good, unless it is lower already."""
    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(which, (most, most))


def _address_space() -> int | None:
    """Return the bytes of address space in use; None without /proc."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return None
