"""Many pipes over one pair of streams: a packet is a header (child, channel, length) and its bytes.

Channel 0 carries the zygote's JSON (a job to warm it, where the child is not 0), 1 a child's jobs, 2 its answers, 3 its
log; an empty packet ends one.
"""

import struct

HEADER = struct.Struct(">IBI")
CONTROL, JOBS, ANSWERS, LOG = range(4)
MOST_BYTES = 64 << 20
"""The longest packet that is taken."""
