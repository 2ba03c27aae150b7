"""The parts of a sentence about a fact, and the message made of them."""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import dataclass_transform

LONGEST = 160
"""A message in characters: two lines of a terminal."""

LARGEST = "largest differences"


@dataclass(frozen=True)
class Wording:
    """A fact in words: `says` what is wrong, `also` gives evidence where there is room, `asks` leads to the cause.

    `witnesses` is the title above the numbers that show the fact. A `whole` sentence names its own subject.
    """

    says: str
    also: tuple[str, ...] = ()
    asks: str = ""
    witnesses: str = LARGEST
    whole: bool = False


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Fact(ABC):
    """What was found out about a submission: each subclass is a frozen dataclass, without a decorator.

    Two trials show the same fact if their values are equal; fields with `compare=False` belong to one trial alone.
    """

    def __init_subclass__(cls) -> None:
        """Make the subclass a frozen dataclass."""
        dataclass(frozen=True)(cls)

    @property
    @abstractmethod
    def id(self) -> str:
        """The id of the finding in a report."""

    @abstractmethod
    def wording(self) -> Wording:
        """Put the fact into words."""


def headline(subject: str, wording: Wording) -> str:
    """Return what is wrong, and nothing else."""
    return sentence(_start(subject, wording))


def message(subject: str, wording: Wording, reason: str = "", then: str = "") -> str:
    """Return what is wrong with its evidence and its reason, as much of them as has room before the sentence `then`."""
    clauses = [*wording.also, *filter(None, [reason])]
    room = LONGEST - len(f" {then}".rstrip())
    while clauses and len("; ".join([_start(subject, wording), *clauses])) >= room:
        clauses.pop()
    return f"{sentence('; '.join([_start(subject, wording), *clauses]), room)} {then}".rstrip()


def _start(subject: str, wording: Wording) -> str:
    return wording.says if wording.whole else f"{subject or 'Your result'}: {wording.says}"


def sentence(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line that ends like a sentence, cut where it is too long."""
    text = " ".join(text.split())
    text = text if text.endswith((".", "?", "!", "…")) else f"{text}."
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_CODE = re.compile(r"[_.()\[\]=\d]")


def opened(text: str, names: Collection[str] = ()) -> str:
    """Return an author's text with a capital first letter, unless it begins with code or with one of these names.

    A single letter other than the article is a variable or a symbol of a formula.
    """
    first = text.split(" ", 1)[0].rstrip(".:,?")
    is_symbol = len(first) == 1 and first != "a"
    return text if is_symbol or _CODE.search(first) or first in names else text[:1].upper() + text[1:]
