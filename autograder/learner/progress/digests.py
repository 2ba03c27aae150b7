"""What tells one state of a file from another, without keeping what is in it."""

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Sequence

from autograder.course import Course, Exercise

LENGTH = 16
MOST_LINES = 5000


def digest_of(data: bytes) -> str:
    """Return the digest of a file's bytes."""
    return hashlib.sha256(data).hexdigest()[:LENGTH]


def exercise_version(course: Course, exercise: Exercise) -> str:
    """Return the digest of what a verdict is about: the checks, their sizes and what course.toml asks for.

    The title and the hints may change without a verdict losing its meaning.
    """
    try:
        checks = course.checks_file(exercise).read_bytes()
    except OSError:
        checks = b""
    asked = [exercise.points, list(exercise.needs), list(exercise.forbidden), [dict(each) for each in course.sizes]]
    return digest_of(checks + b"\0" + json.dumps(asked, sort_keys=True).encode())


def line_digests(data: bytes) -> list[int]:
    """Return a number for each line, from which no line can be read."""
    return [zlib.crc32(line.strip()) for line in data.split(b"\n")[:MOST_LINES]]


def lines_edited(before: Sequence[int], after: Sequence[int]) -> int:
    """Return how many lines are other ones; one that only moved is not."""
    old, new = Counter(before), Counter(after)
    return max((new - old).total(), (old - new).total())
