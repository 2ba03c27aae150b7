"""Digests that distinguish the versions of a file without storing its contents."""

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Sequence

from autograder.course import Course, Exercise
from autograder.course.storage import read_plain

LENGTH = 16
"""Hexadecimal digits: enough to tell apart the versions of one file."""

MOST_LINES = 5000
"""A longer file is compared by its beginning, so that the stored report stays small."""


def digest_of(data: bytes) -> str:
    """Return the digest of a file's bytes."""
    return hashlib.sha256(data).hexdigest()[:LENGTH]


def exercise_version(course: Course, exercise: Exercise) -> str:
    """Return the digest of what a result depends on: the checks, their sizes and the requirements of course.toml.

    It does not depend on the title, the hints and the points: verdicts do not change with them.
    """
    try:
        checks = read_plain(course.checks_file(exercise))
    except OSError:
        checks = b""
    sizes = [dict(column) for column in course.sizes_of(exercise)]
    required = [list(exercise.needs), list(exercise.forbidden), sizes]
    return digest_of(checks + b"\0" + json.dumps(required, sort_keys=True).encode())


def line_digests(data: bytes) -> list[int]:
    """Return a checksum for each line, from which the line cannot be recovered."""
    return [zlib.crc32(line.strip()) for line in data.split(b"\n")[:MOST_LINES]]


def lines_edited(before: Sequence[int], after: Sequence[int]) -> int:
    """Return how many lines differ; a line that only moved does not count."""
    old, new = Counter(before), Counter(after)
    return max((new - old).total(), (old - new).total())
