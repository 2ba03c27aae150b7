"""What commands print: lines on stdout without a library to load, warnings on stderr, and a question."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO, TypeAlias

from autograder.course import storage
from autograder.course.names import UsageError
from autograder.report.glyphs import ASCII, Glyphs, glyphs_for
from autograder.report.printable import (
    NARROWEST,
    USUAL,
    cells,
    columns_of,
    ended,
    folded,
    folds,
    hang_of,
    next_rows,
    printable,
    wrapped,
)

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.learner.next_commands import Command

WIDEST = 100
"""Columns. Longer lines of prose are hard to read."""

Part: TypeAlias = str | tuple[str, str]
"""A text, or a text and its style."""

_CODES = {
    "bold": "1",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "bright_black": "90",
}


class Screen:
    """The standard output: its width, whether it has colours, and the marks it can show.

    With `plain`, and on a terminal of less than 40 columns, it prints sentences: one fact a line. No line is wider than
    the terminal: what does not fit goes on in the next line. In a file or a pipe, a plain line is whole.
    """

    def __init__(self, *, plain: bool, color: bool | None = None, has_keys: bool = False) -> None:
        self.columns = columns_of(sys.stdout)
        columns = self.columns or USUAL
        self.plain = plain or columns < NARROWEST
        self.has_keys = has_keys
        self.width = min(columns, WIDEST)
        self.color = not self.plain and (_wants_color() if color is None else color)
        self.glyphs: Glyphs = glyphs_for(sys.stdout.encoding or "ascii")

    @classmethod
    def of(cls, options: argparse.Namespace) -> "Screen":
        """Return the screen for the options of a command."""
        return cls(plain=options.plain, color=False if options.no_color else None, has_keys=options.has_keys)

    def spell(self, text: str) -> str:
        """Replace the characters that this output cannot show."""
        return (ASCII if self.plain else self.glyphs).spell(printable(text))

    def line(self, *parts: Part) -> None:
        """Print one line, as several lines if it is wider than the terminal."""
        styled = [(self.spell(part), "") if isinstance(part, str) else (self.spell(part[0]), part[1]) for part in parts]
        whole = "".join(text for text, _ in styled)
        rows = [(0, 0, len(whole))]
        if self.columns is not None and cells(whole.rstrip()) > self.columns:
            rows = folds(whole, self.columns, hang_of(whole))
        for indent, start, end in rows:
            line, at = " " * indent, 0
            for text, style in styled:
                line += self._styled(text[max(start - at, 0) : max(end - at, 0)], style)
                at += len(text)
            print(line.rstrip())

    def text(self, text: str, *, label: str = "", indent: int = 2, style: str = "") -> None:
        """Print a paragraph, after a label if it has one."""
        if self.plain:
            line = " ".join(text.split())
            self.line(f"{label}: {line}" if label else line)
            return
        first = f"{label}  " if label else ""
        for at, line in enumerate(wrapped(first + " ".join(self.spell(text).split()), self.width - indent) or [""]):
            head = label if not at and label and line.startswith(label) else ""
            self.line(" " * indent, (head, "cyan"), (line[len(head) :], style))

    def choices(self, question: str, answers: Sequence[str]) -> None:
        """Print a question, and the answers to choose from."""
        self.text(question, indent=0, style="bold")
        for number, answer in enumerate(answers, 1):
            self.text(answer, label=str(number))

    def gap(self) -> None:
        """Print an empty line; plain output has none."""
        if not self.plain:
            print()

    def next(self, commands: "Sequence[Command]") -> None:
        """Print the commands to run next, unless there are keys. Call it last: a terminal's bottom is seen first."""
        if self.has_keys:
            return
        if self.plain:
            for command, does in commands:
                self.line(f"Next: {command}" + (f": {ended(does)}" if does else ""))
            return
        spelled = [(self.spell(command), self.spell(does)) for command, does in commands]
        for head, command, does in next_rows(spelled, self.width):
            self.line((head, "cyan"), (command, "cyan"), (does, "bright_black"))

    def _styled(self, text: str, style: str) -> str:
        codes = ";".join(_CODES[name] for name in style.split())
        return f"\x1b[{codes}m{text}\x1b[0m" if self.color and codes and text.strip() else text


def _wants_color() -> bool:
    """Return whether to use colours, by the rules of https://no-color.org and of rich."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("TERM", "").lower() in ("dumb", "unknown") or not sys.stdout.isatty():
        return False
    return sys.platform != "win32" or bool(os.environ.get("WT_SESSION") or os.environ.get("TERM"))


def is_somebody_there() -> bool:
    """Return whether somebody can answer a question on a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def say(text: str = "", *, end: str = "\n", stream: TextIO | None = None) -> None:
    """Print lines on stdout, or on another stream. On a terminal none is wider, and no word is broken at its end."""
    stream = stream or sys.stdout
    columns = columns_of(stream)
    lines = text.split("\n")
    if columns is not None:
        lines = [part for line in lines for part in folded(line, columns) or [""]]
    print("\n".join(lines), end=end, file=stream, flush=not end.endswith("\n"))


def typed(prompt: str) -> str:
    """Return the line that somebody types behind a prompt."""
    say(prompt, end=" ")
    return sys.stdin.readline().strip()


def chosen(text: str, answers: Sequence[str]) -> int:
    """Return the index of the answer with this number. Raises `UsageError` if there is none."""
    if not text.isdecimal() or not 1 <= int(text) <= len(answers):
        raise UsageError(f"{text!r} is no answer; choose from 1 to {len(answers)}")
    return int(text) - 1


def confirmed(question: str) -> bool:
    """Ask a question, and return whether somebody typed `yes`."""
    say(f"{question} Type yes:", end=" ")
    answer = sys.stdin.readline() if sys.stdin is not None else ""
    if not answer.endswith("\n") or not sys.stdin.isatty():
        print()  # nobody pressed Enter on this screen
    return answer.strip().lower() == "yes"


def warn(sentence: str) -> None:
    """Print a sentence to stderr; nothing if it is empty. On a terminal no word is broken at the end of a line."""
    if sentence and sys.stderr is not None:
        storage.notes.update((note, True) for note in storage.new_notes() if note in sentence)
        say(printable(f"course: {sentence}"), stream=sys.stderr)


def make_console(options: argparse.Namespace) -> "Console":
    """Return the rich console for the options of a command."""
    from autograder.report import console

    return console.make_console(plain=options.plain, color=False if options.no_color else None)
