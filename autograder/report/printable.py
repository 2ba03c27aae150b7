"""Make text from a student's program safe to show: unchanged, or visibly escaped."""

import re
import textwrap

from autograder.protocol.visible import visible

_CODE = re.compile(r"`[^`\n]+`")
_LEAST_ROOM = 24
"""Columns in which a text of several words is readable."""

_JOINT = "\ue000"
"""Stands for a space at which a line does not end. It is never in printable text."""

_CONTROL_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


def printable(text: str) -> str:
    """Return text that a terminal shows unchanged, in lines ended by `\\n`.

    ANSI control sequences are dropped; any other character that is invisible, or moves the cursor, or reorders its
    neighbours, is shown as its escape (`\\x07`, `\\u202e`), and marks piled on one letter are cut.
    """
    text = _CONTROL_SEQUENCE.sub("", text.replace("\r\n", "\n")).expandtabs(4)
    return "\n".join(map(visible, text.split("\n")))


def one_line(text: str) -> str:
    """Return printable text with every run of white space as one space."""
    return " ".join(printable(text).split())


def with_whole_code(text: str, width: int) -> str:
    """Return a text in which `code` between backticks is one word, as far as it fits into a line."""
    return _CODE.sub(lambda code: code[0].replace(" ", _JOINT) if len(code[0]) <= width else code[0], text)


def with_spaces(text: str) -> str:
    """Return a part of the text that `with_whole_code` returned, as it was."""
    return text.replace(_JOINT, " ")


def wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph: no name, path or command in backticks is broken if it fits into a line."""
    lines = textwrap.wrap(with_whole_code(text, width), width, break_on_hyphens=False, break_long_words=False)
    return [with_spaces(line) for line in lines]


def least_room(text: str) -> int:
    """Return the columns that a text needs beside something else: for its longest name, and to be readable."""
    return max(min(len(text), _LEAST_ROOM), *(len(word) for word in text.split()), 0)


def ended(sentence: str) -> str:
    """Return the sentence with a mark at its end."""
    return sentence if sentence.endswith((".", "?", "!", ":")) else f"{sentence}."
