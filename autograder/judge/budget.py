"""How long the search for a proof may take. It stands alone because most checks need no search."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """How many edits a search may try, and for how many seconds."""

    edits: int
    seconds: float


SELF_CHECK = Budget(240, 4.0)
"""An edit takes 5 to 10 ms on a warm worker, so that a learner hardly notices the search after the verdict.

The number of edits ends it, so that the same program gets the same answer. The time ends it on a slow machine, and
where the edits are tried once more, on other checks.
"""
