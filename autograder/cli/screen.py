"""Lines on the standard output for commands that answer at once: no library is loaded to draw them."""

import argparse
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TypeAlias

from autograder.report.glyphs import ASCII, Glyphs, glyphs_for
from autograder.report.printable import printable

WIDEST = 100
NARROWEST = 40
_LEAST_ROOM = 24

Part: TypeAlias = str | tuple[str, str]
"""A text, or a text and its style."""

Command: TypeAlias = tuple[str, str]
"""A command to run next, and what it does."""

_CODES = {
    "bold": "1",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "bright_black": "90",
}


class Screen:
    """The standard output: its width, whether it is coloured, and the marks it can show.

    With `plain`, and on a terminal of less than 40 columns, everything is sentences: one fact a line.
    """

    def __init__(self, *, plain: bool, color: bool | None = None) -> None:
        columns = shutil.get_terminal_size().columns
        self.plain = plain or columns < NARROWEST
        self.width = min(columns, WIDEST)
        self.color = not self.plain and (_wants_color() if color is None else color)
        self.glyphs: Glyphs = glyphs_for(sys.stdout.encoding or "ascii")

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Screen":
        """Return the screen that the options of a command ask for."""
        return cls(plain=options.plain, color=False if options.no_color else None)

    def spell(self, text: str) -> str:
        """Return a text as it can be shown here."""
        return (ASCII if self.plain else self.glyphs).spell(printable(text))

    def line(self, *parts: Part) -> None:
        """Print one line."""
        print("".join(self._styled(*((each, "") if isinstance(each, str) else each)) for each in parts).rstrip())

    def text(self, text: str, *, label: str = "", indent: int = 2, style: str = "") -> None:
        """Print a paragraph, after a label where it has one."""
        if self.plain:
            said = " ".join(self.spell(text).split())
            print(f"{label}: {said}" if label else said)
            return
        room = max(self.width - indent, 20)
        first = f"{label}  " if label else ""
        for at, line in enumerate(_wrapped(first + " ".join(self.spell(text).split()), room) or [""]):
            head = label if not at and label and line.startswith(label) else ""
            self.line(" " * indent, (head, "cyan"), (line[len(head) :], style))

    def gap(self) -> None:
        """Print an empty line, which plain output does without."""
        if not self.plain:
            print()

    def next(self, commands: Sequence[Command]) -> None:
        """Print the commands to run next, always last: the bottom of a terminal is what is seen."""
        if self.plain:
            for command, does in commands:
                print(self.spell(f"Next: {command}" + (f": {_ended(does)}" if does else "")))
            return
        beside = max((len(command) for command, _ in commands), default=0) + 2
        if 8 + beside - 2 > self.width:
            self._next_below(commands)
            return
        fits = all(8 + beside + min(len(does), _LEAST_ROOM) <= self.width for _, does in commands)
        for at, (command, does) in enumerate(commands):
            head = ("  Next  ", "cyan") if not at else "        "
            if fits:
                first, *others = _wrapped(does, self.width - 8 - beside) or [""]
                self.line(head, (command.ljust(beside), "cyan"), (first, "bright_black"))
                rows = [" " * (8 + beside) + each for each in others]
            else:
                self.line(head, (command, "cyan"))
                rows = [" " * 10 + each for each in _wrapped(does, max(self.width - 10, 20))]
            for row in rows:
                self.line((row, "bright_black"))

    def _next_below(self, commands: Sequence[Command]) -> None:
        """Print commands that are too long to stand beside anything; a command is never broken."""
        self.line(("  Next", "cyan"))
        for command, does in commands:
            self.line((f"  {command}", "cyan"))
            for row in _wrapped(does, max(self.width - 4, 20)):
                self.line((f"    {row}", "bright_black"))

    def _styled(self, text: str, style: str) -> str:
        text = self.spell(text)
        codes = ";".join(_CODES[each] for each in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m" if self.color and codes and text.strip() else text


def _wants_color() -> bool:
    """Whether this output should be coloured: the rules of https://no-color.org and of rich."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("TERM", "").lower() in ("dumb", "unknown") or not sys.stdout.isatty():
        return False
    return sys.platform != "win32" or bool(os.environ.get("WT_SESSION") or os.environ.get("TERM"))


def _wrapped(text: str, width: int) -> list[str]:
    """Return the lines of a paragraph; a path or a command is never broken."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!", ":")) else f"{sentence}."


def confirmed(question: str) -> bool:
    """Ask, and return whether `yes` was typed; without anybody to answer it was not."""
    print(f"{question} Type yes: ", end="", flush=True)
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n") or not sys.stdin.isatty():
        print()  # nobody pressed Enter on the screen
    return answer.strip().lower() == "yes"
