"""The text that `write` trains on: the tales of the kit or a file, with the last tenth held out."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from autograder.course import UsageError
from play.tales.telling import tales

TALES_SEED = "tales"
"""The tales are the same for every seed of a training."""

LEAST = 20_000
"""Characters. A shorter text is too little to train on."""

UNKNOWN = "\ufffd"
"""Replaces every character that the training part does not have."""


@dataclass(frozen=True)
class Source:
    """A text in two parts, one after the other: `held_out` is for testing only."""

    name: str
    training: str
    held_out: str

    @property
    def digest(self) -> str:
        """Return a short digest of the text."""
        return hashlib.sha256(f"{len(self.training)} {self.training}{self.held_out}".encode()).hexdigest()[:12]


def read_tales(characters: int) -> Source:
    """Return the tales of the kit. Each tale is whole, and in one part only."""
    every = tales(TALES_SEED, characters)
    cut = len(every) * 9 // 10
    name = f"{len(every):,} tales of the kit"
    return _source(name, "".join(f"{tale}\n" for tale in every[:cut]), "\n".join(every[cut:]))


def read_file(file: Path) -> Source:
    """Return the text of a file, split at the end of a line. Raises `UsageError` if it is not a text."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read ({error.strerror or error}); expected a plain text file") from None
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file} is no text in UTF-8 (byte {error.start} is {data[error.start]:#04x}); expected a plain text file"
        ) from None
    if len(text) < LEAST:
        raise UsageError(f"{file} has {len(text):,} characters; expected at least {LEAST:,} to train on")
    near = len(text) * 9 // 10
    cut = text.find("\n", near, near + len(text) // 50) + 1 or near
    return _source(file.name, text[:cut], text[cut:])


def _source(name: str, training: str, held_out: str) -> Source:
    """Return a text whose second part has no character that the first part lacks."""
    alphabet = set(training)
    return Source(name, training, "".join(letter if letter in alphabet else UNKNOWN for letter in held_out))
