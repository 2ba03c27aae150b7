"""What is kept of a training, so that it can go on: written whole, and refused where it belongs to something else."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from autograder import ending
from autograder.course.storage import part_of

SEED = "--seed"
"""What a checkpoint was seeded with stands among what made it."""


class CheckpointError(Exception):
    """A checkpoint that cannot be used: the message says what it is, and what to do.

    `found` is the first of both alone, `say` an option with which it could be used, empty where there is none.
    """

    def __init__(self, found: str, say: str = "") -> None:
        self.found, self.say = found, say
        instead = f"say {say}, or --fresh" if say else "--fresh"
        super().__init__(f"{found}; {instead} starts over and replaces it")


@dataclass(frozen=True)
class Checkpoint:
    """One file. `made_by` says, by name, what a training depends on: a checkpoint made by anything else is refused."""

    file: Path
    made_by: Mapping[str, str]

    def load(self, sizes: Mapping[str, int | float | str] | None = None) -> dict[str, Any] | None:
        """Return what was kept, None where nothing was. Raises `CheckpointError`, and OSError where it is not readable.

        `sizes` are the activity's own: those it was made with must be the same, where any are given.
        """
        if not self.file.exists():
            return None
        try:
            kept = torch.load(self.file, map_location="cpu", weights_only=True)
            made_by, made_with, data = dict(kept["made_by"]), dict(kept["sizes"]), dict(kept["data"])
        except OSError:
            raise
        except Exception as error:  # torch has many ways to say that a file is none of its own
            reason = (str(error).splitlines() or [type(error).__name__])[0][:80]
            raise CheckpointError(f"the checkpoint {self.file} cannot be read ({reason})") from None
        others = [name for name in {**made_by, **self.made_by} if made_by.get(name) != self.made_by.get(name)]
        if others == [SEED]:
            raise self._made_with(SEED, made_by.get(SEED), self.made_by.get(SEED))
        if others:
            changed = f"was made by other code: {', '.join(others)} changed since"
            raise CheckpointError(f"the checkpoint {self.file} {changed}")
        sizes = made_with if sizes is None else sizes
        for name in {**made_with, **sizes}:
            if made_with.get(name) != sizes.get(name):
                raise self._made_with(f"--{name}", made_with.get(name), sizes.get(name))
        return data

    def _made_with(self, option: str, made_with: object, this: object) -> CheckpointError:
        """Return the error of an option that is not what it was; a name and a digest are nothing to be said again."""
        found = f"the checkpoint {self.file} was made with {option} {made_with}, this is {option} {this}"
        value = str(made_with)
        return CheckpointError(found, "" if made_with is None or " " in value else f"{option} {value}")

    def save(self, data: Mapping[str, Any], sizes: Mapping[str, int | float | str]) -> None:
        """Write the file whole, or leave the one that is there. Raises OSError."""
        kept = {"made_by": dict(self.made_by), "sizes": dict(sizes), "data": dict(data)}
        with ending.temporary(lambda: part_of(self.file)) as temporary:
            torch.save(kept, temporary)
            temporary.replace(self.file)

    def remove(self) -> None:
        """Take the file away, if there is one."""
        self.file.unlink(missing_ok=True)


def rng_states(device: str) -> dict[str, Any]:
    """Return where the random streams of torch are, as data for a checkpoint."""
    states: dict[str, Any] = {"cpu": torch.get_rng_state()}
    if torch.device(device).type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_rng_states(states: Mapping[str, Any], device: str) -> None:
    """Put the random streams where they were."""
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and torch.device(device).type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)


def digest(data: bytes) -> str:
    """Return a short name for some bytes."""
    return hashlib.sha256(data).hexdigest()[:16]
