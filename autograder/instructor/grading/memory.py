"""What the C library keeps of the memory that a long run has given back."""

import contextlib
import ctypes
import sys

_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD
_LARGE = 256 << 10


def give_back_large_blocks() -> None:
    """Have glibc return each large block to the system: else one large answer raises what it keeps, for good.

    Left alone, it takes the largest block it has seen for usual. Source: mallopt(3). Elsewhere nothing is done.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
