"""Save and load a training, so that it can go on. A checkpoint of other code or sizes is refused."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from autograder.course.storage import exists, open_plain, remove, replacing

SEED = "--seed"
"""The seed is stored with the digests of what made a checkpoint, under this name."""


class CheckpointError(Exception):
    """A checkpoint cannot be used. The message says why, and what to do.

    `found` is the reason alone. `say` is an option with which the checkpoint could be used, or "".
    """

    def __init__(self, found: str, say: str = "") -> None:
        self.found, self.say = found, say
        instead = f"say {say} to use it, or --fresh" if say else "say --fresh"
        super().__init__(f"{found}; {instead} to start over and replace it")


@dataclass(frozen=True)
class Checkpoint:
    """A file. `made_by` has a digest of everything a training depends on; another checkpoint is refused."""

    file: Path
    made_by: Mapping[str, str]

    def load(self, sizes: Mapping[str, int | float | str] | None = None) -> dict[str, Any] | None:
        """Return the saved data, or None. Raises `CheckpointError`, and OSError if the file cannot be read.

        `sizes` are options of the activity. If given, they must equal those of the checkpoint.
        """
        if not exists(self.file):
            return None
        try:
            with os.fdopen(open_plain(self.file), "rb") as stream:
                kept = torch.load(stream, map_location="cpu", weights_only=True)
            made_by, made_with, data = dict(kept["made_by"]), dict(kept["sizes"]), dict(kept["data"])
        except OSError:
            raise
        except Exception as error:  # torch raises many types for a file that is not its own
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
        """Return the error for an option that differs. A value with a space is a name and a digest, not an option."""
        found = f"the checkpoint {self.file} was made with {option} {made_with}, this is {option} {this}"
        value = str(made_with)
        return CheckpointError(found, "" if made_with is None or " " in value else f"{option} {value}")

    def save(self, data: Mapping[str, Any], sizes: Mapping[str, int | float | str]) -> None:
        """Write the file whole, or keep the old one. Raises OSError."""
        kept = {"made_by": dict(self.made_by), "sizes": dict(sizes), "data": dict(data)}
        with replacing(self.file, 0o600) as stream:
            torch.save(kept, stream)

    def remove(self) -> None:
        """Delete the file, if there is one."""
        remove(self.file)


def rng_states(device: str) -> dict[str, Any]:
    """Return the states of the random generators of torch, for a checkpoint."""
    states: dict[str, Any] = {"cpu": torch.get_rng_state()}
    if torch.device(device).type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_rng_states(states: Mapping[str, Any], device: str) -> None:
    """Restore the random generators of torch."""
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and torch.device(device).type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)


def digest(data: bytes) -> str:
    """Return a short digest of some bytes."""
    return hashlib.sha256(data).hexdigest()[:16]
