"""Derive the seed and the sizes of each trial from the seed of the run.

A worker gets the derived values and never the seed of the run, so a program that sees the inputs of one trial cannot
compute those of another.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache

Key = tuple[str, int]
"""A check's id and the number of the trial."""


@lru_cache(maxsize=1 << 13, typed=True)
def derived_seed(*parts: object) -> int:
    """Return a seed of 32 bits that depends on every part, and reveals none of them."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def column_of(columns: int, seed: int, exercise: str, check: str, trial: int) -> int:
    """Return the column of sizes a trial uses: consecutive columns, from a start that depends on seed and check."""
    return (derived_seed(seed, exercise, check) + trial) % columns


def sizes_of(
    columns: Sequence[Mapping[str, int]], seed: int, exercise: str, check: str, trial: int
) -> Mapping[str, int]:
    """Return the column of sizes a trial uses."""
    return columns[column_of(len(columns), seed, exercise, check, trial)]
