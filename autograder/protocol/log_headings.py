"""Headings in the log of a worker: each says which trial of a check, or which import, printed what follows."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_HEADING = re.compile(rb"\x1e([^ \x1e]{1,400}) ([^ \x1e]{1,400}) (\d{1,9})\x1e")
_CUT_HEADING = re.compile(rb"\x1e[^\x1e\n]*\Z")


class Section(NamedTuple):
    """What was printed below one heading; `check` is "" for the import of the exercise."""

    exercise: str
    check: str
    trial: int
    text: str


def heading(exercise: str, check: str = "", trial: int = 0) -> bytes:
    """Return the heading of what a trial prints, or of what the import of an exercise prints."""
    return f"\x1e{exercise} {check or '-'} {trial}\x1e".encode()


def sections(log: bytes) -> Iterator[Section]:
    """Yield the sections of a log. What was printed before the first heading belongs to no program."""
    _, *parts = _HEADING.split(log)
    parts[-1:] = [_CUT_HEADING.sub(b"", text) for text in parts[-1:]]
    for exercise, check, trial, text in zip(*(parts[at::4] for at in range(4)), strict=True):
        names = [name.decode("utf-8", "replace") for name in (exercise, check)]
        yield Section(names[0], names[1].removeprefix("-"), int(trial), text.decode("utf-8", "replace"))
