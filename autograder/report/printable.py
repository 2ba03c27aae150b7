"""Make text from a student's program safe to show: unchanged, or visibly escaped."""

import re

_CONTROL_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def printable(text: str) -> str:
    """Return text that a terminal shows unchanged, in lines ended by `\\n`.

    ANSI control sequences are dropped; any other character that is invisible, or moves the cursor, or reorders its
    neighbours, is shown as its escape (`\\x07`, `\\u202e`).
    """
    text = _CONTROL_SEQUENCE.sub("", text.replace("\r\n", "\n")).expandtabs(4)
    return text if text.isprintable() else "".join(map(_escaped, text))


def one_line(text: str) -> str:
    """Return printable text with every run of white space as one space."""
    return " ".join(printable(text).split())


def _escaped(character: str) -> str:
    if character == "\n" or character.isprintable():
        return character
    if character.isspace() and ord(character) > 0x9F and character not in "\u2028\u2029":
        return " "
    return character.encode("unicode_escape").decode("ascii")


def ended(sentence: str) -> str:
    """Return the sentence with a mark at its end."""
    return sentence if sentence.endswith((".", "?", "!", ":")) else f"{sentence}."
