"""The public answer key of a kit: the records of the course's own keys, compressed. Equal keys give equal bytes."""

import lzma

from autograder.answer_key.model import AnswerKey, to_record
from autograder.protocol import Value, split_frame, write_frame

SMALLEST_WINDOW = 4096


def packed_key(key: AnswerKey) -> bytes:
    """Return the key of an exercise for a kit."""
    return _packed(to_record(key), align=2)


def packed_traces(traced: Value) -> bytes:
    """Return the intermediate results of the solution under one check, for a kit."""
    return _packed(traced, align=0)


def _packed(record: Value, align: int) -> bytes:
    """Compress a record; `align` is the binary logarithm of the size in bytes of most of its numbers.

    Its text and its numbers are two streams, as they are of different kinds; a decompressor joins them.
    """
    text, numbers = split_frame(write_frame(record))
    return _compressed(text, literal=3, align=0) + _compressed(numbers, literal=0, align=align)


def _compressed(data: bytes, *, literal: int, align: int) -> bytes:
    filters = [
        {
            "id": lzma.FILTER_LZMA2,
            "preset": 9,
            "dict_size": max(len(data), SMALLEST_WINDOW),  # the preset's own takes 64 MB and most of the time
            "lc": literal,
            "lp": align,
            "pb": align,
        }
    ]
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)
