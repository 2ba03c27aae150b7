"""Limits a worker puts on itself before it runs any student's code. The judge holds others, from outside.

Memory and time by the kernel where it has them (Linux, macOS); on Windows only the judge's wall clock holds.
"""

import math
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STUCK = 86
"""The exit status of a worker that ran out of time and could still say where."""

FILE_BYTES = 16 << 20


class Watch:
    """CPU time for each trial, and memory for the whole process; without limits, neither."""

    def __init__(self, limits: Mapping[str, int] | None, on_stuck: Callable[[FrameType | None], None]) -> None:
        self.limits = limits
        self.on_stuck = on_stuck

    def confine(self, *, device: str) -> None:
        """Limit memory, core dumps and the size of written files. CUDA reserves address space freely, so not there."""
        if resource is None or self.limits is None:
            return
        signal.signal(signal.SIGXCPU, lambda _signal, frame: self.on_stuck(frame))
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
        size = _noted or _address_space()
        if size is not None and not device.startswith("cuda"):
            _lower(resource.RLIMIT_AS, size + (self.limits["memory_mib"] << 20))

    def start(self) -> None:
        """Give the next trial its CPU seconds; the kernel tells us when they are used up."""
        if resource is None or self.limits is None:
            return
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        until = math.ceil(time.process_time() + self.limits["cpu_seconds"])
        if hard != resource.RLIM_INFINITY:
            until = min(until, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


_noted: int | None = None


def note_address_space() -> None:
    """Remember the address space in use, for a process that will not see /proc any more."""
    global _noted
    _noted = _address_space()


def _lower(which: int, most: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(which, (most, most))


def _address_space() -> int | None:
    """Return the bytes of address space in use, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return None
