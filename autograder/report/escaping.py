"""Make text from a student's program safe to show: unchanged, or visibly escaped."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import IO

from autograder.protocol import visible

USUAL = 80
"""Columns of what is drawn into a file or a pipe."""

NARROWEST = 40
"""Columns. A narrower terminal gets sentences, as with `--plain`."""

_CODE = re.compile(r"`[^`\n]+`")
_LEAST_ROOM = 24
"""Columns in which a text of several words is readable."""

_NEXT = "  Next  "

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


def columns_of(stream: IO[str]) -> int | None:
    """Return how wide a line of a stream may be; None for a file or a pipe, unless COLUMNS says it."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    if not stream.isatty():
        return None
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # a stream in memory that stands for the terminal
        columns = 0
    return columns or shutil.get_terminal_size().columns


def cells(text: str) -> int:
    """Return the columns that a line takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # most texts need no table of wide characters

    return cell_len(text)


def cut(text: str, width: int, ellipsis: str = "") -> str:
    """Return a line, shortened with an ellipsis if it is wider than `width`."""
    if cells(text) <= width:
        return text
    ellipsis = ellipsis[: max(width, 0)]
    room = width - cells(ellipsis)
    return text[: _fitting(text, 0, len(text), room)] + ellipsis if room > 0 else ellipsis


def padded(text: str, width: int) -> str:
    """Return a line with spaces behind it up to `width`."""
    return text + " " * (width - cells(text))


def _fitting(text: str, start: int, stop: int, room: int) -> int:
    """Return where a line of `room` columns ends that begins at `start`; it has at least one character."""
    if text.isascii():
        return min(stop, start + max(room, 1))
    used = 0
    for at in range(start, stop):
        # The selector \ufe0f makes the narrow character before it a wide one.
        used += 1 if text[at] == "\ufe0f" else cells(text[at])
        if used > room and at > start:
            return at
    return stop


def folds(text: str, width: int, hang: int = 0) -> list[tuple[int, int, int]]:
    """Return the lines of a text of any width: the indent of each, and where in the text it starts and ends.

    A line ends at white space. Only a word that is wider than a line is broken, a path after a `/`. `hang` indents all
    lines but the first.
    Every layout is made of this, so no line is wider than `width`, which may be any number.
    """
    width = max(width, 1)
    hang = min(hang, width // 2)
    indent = min(len(text) - len(text.lstrip()), width // 2)
    rows: list[tuple[int, int, int]] = []
    start = end = len(text) - len(text.lstrip())
    for word in re.finditer(r"\S+", text):
        stop = word.end()
        if end > start and _fitting(text, start, stop, width - indent) < stop:
            rows.append((indent, start, end))
            indent, start = hang, word.start()
        while (at := _fitting(text, start, stop, width - indent)) < stop:
            at = text.rfind("/", start, at) + 1 or at  # a path is easier to read in whole names
            rows.append((indent, start, at))
            indent, start = hang, at
        end = stop
    return [*rows, (indent, start, end)] if end > start else rows


def with_whole_code(text: str, width: int) -> str:
    """Return a text, as long as before, in which `code` between backticks is one word if it fits into a line."""
    return _CODE.sub(lambda code: code[0].replace(" ", _JOINT) if cells(code[0]) <= width else code[0], text)


def wrapped(text: str, width: int, hang: int = 0) -> list[str]:
    """Return the lines of a paragraph: no name, path or command in backticks is broken if it fits into a line."""
    text = text.replace("\n", " ")
    return [" " * indent + text[start:end] for indent, start, end in folds(with_whole_code(text, width), width, hang)]


def folded(line: str, width: int) -> list[str]:
    """Return a line as it is, or if it is wider than `width`, as several lines: the others stand below its text."""
    return [line] if cells(line) <= width else wrapped(line, width, hang_of(line))


def hang_of(line: str) -> int:
    """Return how far the rest of a line is indented that is too wide: further than its text, behind a number too."""
    start = re.match(r"\s*(?:(?:\d+ |→|->)\s+)?", line)
    indent = start.end() if start else 0
    return indent + 2 if indent else 0


def next_rows(commands: Sequence[tuple[str, str]], width: int) -> list[tuple[str, str, str]]:
    """Return the lines that propose commands: of each the label or the space at its left, a command, and what it does.

    What a command does stands beside it, or below it on a narrow page. A command without room beside the label stands
    below the label, so that it is not broken.
    """
    column = max((cells(command) for command, _ in commands), default=0) + 2
    space = " " * len(_NEXT)
    if len(_NEXT) + column - 2 > width:
        rows = [(_NEXT.rstrip(), "", "")]
        for command, does in commands:
            rows += [("  " if not at else "    ", part, "") for at, part in enumerate(wrapped(command, width - 4))]
            rows += [("    ", "", line) for line in wrapped(does, width - 4)]
        return rows
    fits = all(len(_NEXT) + column + least_room(does) <= width for _, does in commands)
    rows = []
    for command, does in commands:
        head = space if rows else _NEXT
        if fits:
            first, *others = wrapped(does, width - len(_NEXT) - column) or [""]
            rows.append((head, padded(command, column), first))
            rows += [(space + " " * column, "", line) for line in others]
        else:
            rows.append((head, command, ""))
            rows += [(f"{space}  ", "", line) for line in wrapped(does, width - len(space) - 2)]
    return rows


def least_room(text: str) -> int:
    """Return the columns that a text needs beside something else: for its longest name, and to be readable."""
    return max(min(cells(text), _LEAST_ROOM), *map(cells, text.split()), 0)


def ended(sentence: str) -> str:
    """Return the sentence with a mark at its end."""
    return sentence if sentence.endswith((".", "?", "!", ":")) else f"{sentence}."


# The glyphs of the output: one set for terminals that can show them, one in ASCII for all others.

_ASCII_SPELLING = str.maketrans(
    {
        "×": "x",
        "√": "sqrt ",
        "∞": "inf",
        "−": "-",
        "–": "-",
        "±": "+-",
        "≈": "~",
        "≠": "!=",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "²": "^2",
        "·": "*",
        "…": "...",
        "‖": "||",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "α": "alpha",
        "β": "beta",
        "γ": "gamma",
        "ε": "eps",
        "μ": "mu",
        "σ": "sigma",
        "π": "pi",
    }
)


@dataclass(frozen=True)
class Glyphs:
    """A set of glyphs. `passed`, `failed`, `waiting` and `problem` always have a word beside them.

    A map consists of `same` and `differs`, or in colour of `half`, the upper half of a cell. A picture without colour
    consists of `shades`, from the smallest number to the largest.
    """

    passed: str
    failed: str
    waiting: str
    problem: str
    marker: str
    gutter: str
    ellipsis: str
    same: str
    differs: str
    half: str
    shades: str

    def spell(self, text: str) -> str:
        """Return text of ours in the letters of this set: `√d` is `sqrt d` in ASCII."""
        return text.translate(_ASCII_SPELLING) if self is ASCII else text


UNICODE = Glyphs("✓", "✗", "·", "!", "▸", "│", "…", "·", "×", "▀", " ░▒▓█")
ASCII = Glyphs("+", "x", ".", "!", ">", "|", "...", ".", "x", "", " .:-=+*#%@")


def glyphs_for(encoding: str) -> Glyphs:
    """Return the Unicode set if the encoding has all of it, else the ASCII set."""
    try:
        "".join(getattr(UNICODE, field.name) for field in fields(Glyphs)).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
