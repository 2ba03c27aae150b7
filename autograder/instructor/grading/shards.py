"""A part of a class, the same on every machine: by a hash of the student's name."""

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Shard:
    """Part `part` of `parts`, counted from 1."""

    part: int
    parts: int

    def has(self, student: str) -> bool:
        """Say whether a student belongs to this part; every student belongs to exactly one."""
        number = int.from_bytes(hashlib.sha256(student.encode()).digest()[:8], "big")
        return number % self.parts == self.part - 1

    def __str__(self) -> str:
        return f"{self.part}/{self.parts}"


def read_shard(text: str) -> Shard:
    """Read `2/4`. Raises ValueError with a sentence."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"{text!r} is no shard, expected I/N with I from 1 to N, like 2/4")
    return Shard(int(found[1]), int(found[2]))
