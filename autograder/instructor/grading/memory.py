"""Memory use of long runs: a setting of the C library."""

import contextlib
import ctypes
import sys

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD
_LARGE = 256 << 10


def give_back_large_blocks() -> None:
    """Make glibc return every freed block of 256 KiB or more to the system. Does nothing on other platforms.

    By default glibc raises this threshold to the largest block it has freed, up to 32 MiB, and keeps smaller blocks:
    one large answer of a worker would increase memory use for the rest of the run. Source: mallopt(3).
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
