"""The owner of a submission: clues from its name in a download, and ids that can be names of reports."""

import unicodedata
from dataclasses import dataclass
from typing import Protocol

from autograder.protocol.visible import visible
from autograder.submission.files import SubmissionError, printable

NAME_BYTES = 200
"""A student's id becomes the name of a report, and file systems allow 255 bytes."""

_REFUSED = frozenset('/\\:*?"<>|')


@dataclass(frozen=True)
class Clue:
    """Clues to the student who handed something in; `own` is the id that is used if no roster knows it."""

    own: str
    name: str | None = None
    login: str | None = None
    lms_id: str | None = None
    logins: tuple[str, ...] = ()


class Students(Protocol):
    """The students of a class."""

    def find(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students that a clue fits: one, none, or several if it is ambiguous."""

    def find_number(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students whose id or login is the same number, with other zeros before it."""

    def owns(self, student: str, clue: Clue) -> bool:
        """Say whether this student's row has the number or the login of a clue."""

    def has(self, student: str) -> bool:
        """Say whether a student has this id, or one that differs only in upper and lower case."""


def checked_id(name: str, where: object) -> str:
    """Return a student's id in normal form (NFC); raise `SubmissionError` if it cannot be the name of a report."""
    name = unicodedata.normalize("NFC", name)
    valid = visible(name) == name and not _REFUSED & set(name)
    if not name.strip(" .") or not valid or len(name.encode(errors="replace")) > NAME_BYTES:
        expected = f"printable letters, none of {''.join(sorted(_REFUSED))}, {NAME_BYTES} bytes at most"
        raise SubmissionError(
            f"{printable(where)} has a name that cannot be a student's, expected {expected}; rename it"
        )
    return name


def without_zeros(number: str) -> str:
    """Return a number without the zeros before it, as a spreadsheet writes it; empty for every other text."""
    return (number.lstrip("0") or "0") if number.isascii() and number.isdigit() else ""


def casefolded(name: str) -> str:
    """Return a name as case-insensitive file systems compare it: no two students may share a report's file name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
