"""The messages between worker and judge: plain values in length-checked frames."""

from autograder.protocol.frames import Frames, Limits, read_frame, split_frame, write_all, write_frame
from autograder.protocol.values import Array, Opaque, ProtocolError, TooLarge, Value, decode, encode

__all__ = [
    "Array",
    "Frames",
    "Limits",
    "Opaque",
    "ProtocolError",
    "TooLarge",
    "Value",
    "decode",
    "encode",
    "read_frame",
    "split_frame",
    "write_all",
    "write_frame",
]
