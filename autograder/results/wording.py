"""The parts of a sentence about a fact, and the message made of them."""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
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


# One element of a tensor in words: its position along named axes, and its value.

DIGITS = 4

Position = tuple[tuple[str, int], ...]
"""The name of an axis and an index along it, for each axis that counts something."""


def unnamed(axis: int) -> str:
    """Return the name of an axis that has no word."""
    return f"axis {axis}"


def is_named(name: str) -> bool:
    """Whether an axis has a word."""
    return not name.startswith("axis ")


def item(name: str, index: int) -> str:
    """Return one index along an axis: `head 2`, or `index 2 of axis 1`."""
    return f"{name} {index}" if is_named(name) else f"index {index} of {name}"


def one_of(name: str) -> str:
    """Return what an axis counts, in the singular: `head`, or `index of axis 1`."""
    return name if is_named(name) else f"index of {name}"


def position(pairs: Position) -> str:
    """Return a position in words: `query 0, feature 1`, or `[0, 1]` where no axis has a word."""
    if not any(is_named(name) for name, _ in pairs):
        return str([index for _, index in pairs])
    return ", ".join(item(name, index) for name, index in pairs)


def element(value: float, dtype: str) -> str:
    """Return one element of a tensor as text."""
    if math.isnan(value):
        return "NaN"
    if dtype == "bool" and value in (0, 1):
        return str(bool(value))
    if is_integral(dtype) and float(value).is_integer():
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def is_integral(dtype: str) -> bool:
    """Whether a dtype holds ids, counts, or true and false."""
    return dtype == "bool" or "int" in dtype


def joined(words: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def span(low: float, high: float) -> str:
    """Return `0.5 to 1.2`."""
    return f"{low:.3g} to {high:.3g}"
