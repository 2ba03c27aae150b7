"""Show every character of an untrusted text: what could hide, move the cursor or reorder others becomes an escape."""

import re
import unicodedata

MOST_MARKS = 8
"""Combining marks on one letter that are shown. The languages of the world use fewer; the rest becomes `…`."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)
"""Letters, marks and symbols that Python calls printable, or may do so one day, and that fonts show as nothing."""

_STYLES = "\ufe0e\ufe0f"
"""They choose between text and colour for the symbol before them."""


def visible(text: str) -> str:
    """Return a text of which every character can be seen; line ends become escapes too."""
    if text.isascii():
        return text if text.isprintable() else "".join(map(_seen, text))
    seen: list[str] = []
    before, marks = "", 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if character in _STYLES and unicodedata.category(before or "a") in ("So", "Sm", "Po", "Nd"):
            seen.append(character)
        elif marks <= MOST_MARKS or _seen(character) != character:
            seen.append(_seen(character))
        elif marks == MOST_MARKS + 1:
            seen.append("…")
        before = character
    return "".join(seen)


def _seen(character: str) -> str:
    if character.isprintable() and not _INVISIBLE.match(character):
        return character
    if character.isspace() and ord(character) > 0x9F and character not in "\u2028\u2029":
        return " "
    return character.encode("unicode_escape").decode("ascii")
