"""What commands print: lines on stdout without a library to load, warnings on stderr, and a question."""

import argparse
import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO, TypeAlias

from autograder.course import UsageError, new_notes, notes
from autograder.report import (
    ASCII,
    NARROWEST,
    USUAL,
    Glyphs,
    cells,
    columns_of,
    cut,
    ended,
    folded,
    folds,
    glyphs_for,
    hang_of,
    next_rows,
    number,
    padded,
    plural,
    printable,
    wrapped,
)

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.checks import Check
    from autograder.progress import Command
    from autograder.results import Status


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
        for at, answer in enumerate(answers, 1):
            self.text(answer, label=str(at))

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
        notes.update((note, True) for note in new_notes() if note in sentence)
        say(printable(f"course: {sentence}"), stream=sys.stderr)


def make_console(options: argparse.Namespace) -> "Console":
    """Return the rich console for the options of a command."""
    from autograder.report import report_console  # rich, which other output does not need

    return report_console(plain=options.plain, color=False if options.no_color else None)


# A line that counts on stderr: redrawn on a terminal, and a new line now and then in a log.

LOG_SECONDS = 10.0
"""A log, of a batch job say, gets at most one line in this time, and none of work that is done sooner."""

_last_line = [time.monotonic()]


def is_due() -> bool:
    """Return whether a log may get a line now; if so, the next one has to wait."""
    now = time.monotonic()
    if now - _last_line[0] < LOG_SECONDS:
        return False
    _last_line[0] = now
    return True


def show_count(text: str, *, last: bool) -> None:
    """Redraw a line on a terminal; elsewhere print one now and then."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty():
        room = (columns_of(sys.stderr) or USUAL) - 1  # in the last column, a terminal may begin a new line
        print(f"\r{padded(cut(text, room), min(room, 60))}", end="\n" if last else "", file=sys.stderr, flush=True)
    elif not last and is_due():
        say(text, stream=sys.stderr)


def show_keys(done: int, total: int) -> None:
    """Show how many answer keys of a course are there."""
    show_count(f"{done} of {total} answer keys, made once", last=done == total)


def show_programs(done: int, total: int) -> None:
    """Show how many programs to practise on were run, while they are made."""
    show_count(f"making programs to practise on, once per exercise: {done} of {total}", last=done == total)


def show_tried(number: int, is_found: bool) -> None:
    """Show how many programs were run while one to hunt in is looked for."""
    show_count(f"looking for a program with one fault: {plural(number, 'program')} run", last=is_found)


def show_tested(done: int, total: int) -> None:
    """Show on how many programs a learner's tests were run."""
    show_count(f"running your tests on programs: {done} of {total}", last=done == total)


# Progress of a check: its first run on an exercise runs every misconception of the catalogue once.
#
# That may take minutes, and only names the mistakes. Which checks pass and fail is shown before, where it can be taken
# away again: the verdict may differ.

QUIET_SECONDS = 2.0
"""A sentence cannot be taken back, so `--plain` prints it only if the wait is noticeable."""

EVERY_SECONDS = 0.1
"""A line that changes more often is unreadable."""


MOST_NAMED = 8
"""Checks that are listed by name."""


CAN_GO_BACK = os.name != "nt"
"""Whether lines that were printed can be taken away again."""


class KeyProgress:
    """A line on a terminal's stderr that disappears at the end; a sentence now and then in a log, and with `plain`."""

    def __init__(self, *, plain: bool) -> None:
        self.plain = plain
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._last_shown = 0.0
        self._width = 0
        self._lines = 0
        self._has_printed = not plain
        self._closed = False
        self._moved_on = threading.Event()
        self._outcomes: dict[str, Sequence[tuple[Check, Status]]] = {}

    def start(self, exercises: Sequence[str]) -> None:
        """Show on a terminal that the checks of some exercises run."""
        with self._lock:
            if not self.plain and _is_terminal():
                which = f"{number(exercises[0])} " if len(exercises) == 1 else ""
                self._redraw(f"{which}running the checks")
                self._count(f"{which}running the checks")

    def _count(self, text: str) -> None:
        """Redraw a line with the seconds that passed, until there is another line."""
        self._moved_on.set()
        self._moved_on = moved_on = threading.Event()
        started = time.monotonic()

        def count() -> None:
            while not moved_on.wait(1.0):
                with self._lock:
                    if not moved_on.is_set():
                        self._redraw(f"{text}: {time.monotonic() - started:.0f} s")

        threading.Thread(target=count, daemon=True).start()

    def on_outcomes(self, exercise: str, statuses: "Sequence[tuple[Check, Status]]") -> None:
        """Note which checks pass and fail. A terminal shows them if their mistakes have to wait for a name."""
        with self._lock:
            self._outcomes.setdefault(exercise, statuses)

    def on_progress(self, exercise: str, done: int, total: int) -> None:
        """Show how far an answer key is. Any thread may call this."""
        with self._lock:
            if self._closed or sys.stderr is None:
                return
            if self.plain or not _is_terminal():
                self._print(exercise, done, total)
                return
            self._moved_on.set()
            lines = self._verdict(exercise, columns_of(sys.stderr) or USUAL)
            if lines and _can_go_back() and self._lines + len(lines) < shutil.get_terminal_size().lines - 1:
                self._clear()
                self._lines += len(lines)
                _write("".join(f"{line}\n" for line in lines))
            if done == total or time.monotonic() - self._last_shown > EVERY_SECONDS:
                self._redraw(f"{number(exercise)} comparing with known mistakes: {done} of {total}")

    def on_verdict(self, lines: Sequence[str]) -> None:
        """Show a verdict, on a terminal where it can be taken away again, while its place is searched for."""
        with self._lock:
            if self.plain or not (_is_terminal() and _can_go_back() and sys.stdout.isatty()):
                return
            self._take_away()
            self._lines = len(lines)
            _write("".join(f"{line}\n" for line in lines))
            searching = "looking for one change that mends it"
            self._redraw(searching)
            self._count(searching)

    def close(self) -> None:
        """Clear the line, and the checks that fail: the report follows in their place. Stop reporting."""
        with self._lock:
            self._closed = True
            self._moved_on.set()
            self._take_away()

    def _take_away(self) -> None:
        self._clear()
        _write("\x1b[F\x1b[2K" * self._lines)  # line by line: a terminal may keep a screen that is cleared at once
        self._lines = 0

    def _redraw(self, text: str) -> None:
        text = cut(text, (columns_of(sys.stderr) or USUAL) - 1)
        _write(f"\r{padded(text, self._width)}")
        self._width, self._last_shown = cells(text), time.monotonic()

    def _clear(self) -> None:
        if self._width:
            _write(f"\r{' ' * self._width}\r")
        self._width = 0

    def _verdict(self, exercise: str, width: int) -> list[str]:
        """Return lines, once for each exercise, that say which checks fail."""
        statuses, self._outcomes[exercise] = self._outcomes.get(exercise, ()), ()
        failing = [check.title for check, status in statuses if status == "fail"]
        if not failing:
            return []
        glyphs = glyphs_for(getattr(sys.stderr, "encoding", None) or "ascii")
        passed = sum(status == "pass" for _, status in statuses)
        fail = "1 fails" if len(failing) == 1 else f"{len(failing)} fail"
        head = f"Exercise {number(exercise)}: {passed} of {len(statuses)} checks pass, {fail}:"
        more = [f"  and {len(failing) - MOST_NAMED} more"] if len(failing) > MOST_NAMED else []
        named = [f"  {glyphs.failed} {glyphs.spell(title)}" for title in failing[:MOST_NAMED]]
        return [line for text in [head, *named, *more] for line in folded(text, width)]

    def _print(self, exercise: str, done: int, total: int) -> None:
        if not self._has_printed and time.monotonic() - self._started > QUIET_SECONDS:
            _write(f"Exercise {number(exercise)}: comparing with {total} known mistakes.\n")
            self._has_printed = True
        elif self._has_printed and is_due():
            _write(f"Exercise {number(exercise)}: {done} of {total} known mistakes compared.\n")


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _can_go_back() -> bool:
    return CAN_GO_BACK and os.environ.get("TERM") != "dumb"


def _write(text: str) -> None:
    """Write to stderr. A reader that went away must not stop the work on a key."""
    with contextlib.suppress(OSError, ValueError):
        print(text, end="", file=sys.stderr, flush=True)
