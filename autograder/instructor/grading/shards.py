"""A part of a class, the same on every machine, chosen by a hash of the student id."""

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """Part `part` of `parts`, from 1."""

    part: int
    parts: int

    def has(self, student: str) -> bool:
        """Return whether a student belongs to this part; every student belongs to exactly one part."""
        number = int.from_bytes(hashlib.sha256(student.encode()).digest()[:8], "big")
        return number % self.parts == self.part - 1

    def __str__(self) -> str:
        return f"{self.part}/{self.parts}"


def read_shard(text: str) -> Shard:
    """Return the shard written as `2/4`. Raises ValueError with a sentence."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{text!r} is not a shard, expected I/N with I from 1 to N, like 2/4")
    return Shard(int(match[1]), int(match[2]))
