"""Packets: many pipes over one pair of streams. A packet is a header (child, channel, length) and its bytes.

Channel 0 carries the zygote's JSON requests and events, and a job to warm it up where `child` is not 0. Channel 1
carries a child's jobs, 2 its answers, 3 its log. An empty packet closes the channel of that child.
"""

import struct
from collections.abc import Callable

from autograder.protocol.frames import write_all

HEADER = struct.Struct(">IBI")
CONTROL, JOBS, ANSWERS, LOG = range(4)
MOST_BYTES = 64 << 20
"""The longest packet that either side accepts."""


def write_packet(write: Callable[[memoryview], int], child: int, channel: int, body: bytes) -> None:
    """Write a packet to one of the two streams."""
    write_all(write, HEADER.pack(child, channel, len(body)) + body)
