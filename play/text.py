"""A text to learn to write from: the tales of the kit or a file, its last tenth held out."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from autograder.course.names import UsageError
from play.tales.telling import tales

TALES_SEED = "tales"
"""The text is always the same one, whatever the training is seeded with."""

LEAST = 20_000
"""A shorter text has too little to learn from."""

UNKNOWN = "\ufffd"
"""Stands for every character that the learned part does not have."""


@dataclass(frozen=True)
class Source:
    """A text in two parts, one after the other: nothing is learnt from `held_out`."""

    name: str
    learned: str
    held_out: str

    @property
    def digest(self) -> str:
        """Return a short name for what is in it."""
        return hashlib.sha256(f"{len(self.learned)} {self.learned}{self.held_out}".encode()).hexdigest()[:12]


def told(characters: int) -> Source:
    """Return the tales of the kit, whole ones in either part and no tale in both."""
    every = tales(TALES_SEED, characters)
    cut = len(every) * 9 // 10
    name = f"{len(every):,} tales that the kit tells"
    return _source(name, "".join(f"{each}\n" for each in every[:cut]), "\n".join(every[cut:]))


def read(file: Path) -> Source:
    """Return the text of a file, cut at the end of a line. Raises `UsageError` where it is none."""
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
        raise UsageError(f"{file} has {len(text):,} characters; expected at least {LEAST:,} to learn from")
    near = len(text) * 9 // 10
    cut = text.find("\n", near, near + len(text) // 50) + 1 or near
    return _source(file.name, text[:cut], text[cut:])


def _source(name: str, learned: str, held_out: str) -> Source:
    """Return a text of which the second part has no character that the first one lacks."""
    alphabet = set(learned)
    return Source(name, learned, "".join(each if each in alphabet else UNKNOWN for each in held_out))
