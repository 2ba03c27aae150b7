"""How seeds and sizes of a draw follow from the seed of the run: the same on both sides."""

import hashlib
from collections.abc import Mapping, Sequence


def derived_seed(*parts: object) -> int:
    """Return a seed of 32 bits that depends on every part."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def sizes_of(
    columns: Sequence[Mapping[str, int]], seed: int, exercise: str, check: str, draw: int
) -> Mapping[str, int]:
    """Return the column of sizes a draw uses: consecutive ones, from a start that belongs to seed and check."""
    return columns[(derived_seed(seed, exercise, check) + draw) % len(columns)]
