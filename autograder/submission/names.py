"""Whose a submission is: what its name in a download says, and ids that do as names of reports."""

import unicodedata
from dataclasses import dataclass
from typing import Protocol

from autograder.submission.found import SubmissionError, printable

NAME_BYTES = 200
"""A student's id becomes the name of a report, and file systems allow 255 bytes."""

_REFUSED = frozenset('/\\:*?"<>|')


@dataclass(frozen=True)
class Clue:
    """What is known of who handed something in; `own` is the id it has where no roster knows it."""

    own: str
    name: str | None = None
    login: str | None = None
    lms_id: str | None = None
    logins: tuple[str, ...] = ()


class Students(Protocol):
    """The students of a class."""

    def find(self, clue: Clue) -> tuple[str, ...]:
        """Return the ids of the students a clue fits: one, none, or several where it does not decide."""

    def owns(self, student: str, clue: Clue) -> bool:
        """Say whether the number or the login of a clue is the one that this student's row has."""

    def has(self, student: str) -> bool:
        """Say whether somebody has this id, or one that differs in upper and lower case only."""


def checked_id(name: str, where: object) -> str:
    """Return a student's id in its one spelling (NFC); raise `SubmissionError` where no report can be named so."""
    name = unicodedata.normalize("NFC", name)
    printed = name.isprintable() and not _REFUSED & set(name)
    if not name.strip(" .") or not printed or len(name.encode(errors="replace")) > NAME_BYTES:
        wanted = f"printable letters, none of {''.join(sorted(_REFUSED))}, {NAME_BYTES} bytes at most"
        raise SubmissionError(f"{printable(where)} has a name that cannot be a student's, expected {wanted}; rename it")
    return name


def folded(name: str) -> str:
    """Return a name as file systems that ignore case and accents' encoding compare it, for reports must not collide."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
