"""Run `course watch` in a terminal of its own, save files and press keys, and read screen by screen what it draws."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support import tiny

PATIENCE = 120.0
"""Seconds until a test gives up: no test depends on anything shorter."""

FRAME_BEGIN, FRAME_END = "\x1b[?25l\x1b[H", "\x1b[?25h"
"""What is written before and after each screen: the cursor is hidden and goes to the top, then it is shown again."""

SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x1b\x07]*(?:\x1b\\|\x07)")


class Program:
    """A Python program in a pseudo-terminal of its own. A test reads its screens one by one, and misses none."""

    def __init__(self, course: Path, *arguments: str, rows: int = 40, columns: int = 100, **env: str) -> None:
        self.course = course
        self._main, terminal = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self._main)
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=course,
            env=tiny.environment({"TERM": "xterm", **env}),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(terminal)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end within a character
        self._unread = ""
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._main)

    def until(self, mark: str, end: str = "[^\n]*\n") -> str:
        """Return the output up to a mark and the end of its line."""
        until = time.monotonic() + PATIENCE
        while not (found := re.search(re.escape(mark) + end, self._unread)):
            assert time.monotonic() < until, f"{mark!r} did not appear, but:\n{self._unread}"
            part = self._read(1.0)
            assert part is not None, f"it ended before {mark!r} appeared:\n{self._unread}"
            self._unread += part
        text, self._unread = self._unread[: found.end()], self._unread[found.end() :]
        self.shown += text
        return text

    def line(self, mark: str) -> str:
        """Return the output of a log up to a mark and the end of its line, without colours."""
        return SEQUENCES.sub("", self.until(mark)).replace("\r", "")

    def _read(self, seconds: float) -> str | None:
        if not select.select([self._main], [], [], seconds)[0]:
            return ""
        try:
            return self._decoder.decode(os.read(self._main, 1 << 16))
        except OSError:
            return None

    def frame(self, mark: str, without: str = "") -> str:
        """Return the next screen that shows a mark, as lines without colours; `without` must not be on it."""
        while True:
            _, begun, drawn = self.until(FRAME_END, "").rpartition(FRAME_BEGIN)
            text = SEQUENCES.sub("", drawn).replace("\r", "")
            if begun and mark in text and not (without and without in text):
                return text

    def verdict(self) -> str:
        """Return the screen with the next result."""
        return self.frame("checked in")

    def press(self, keys: str) -> None:
        """Type keys, without Enter."""
        os.write(self._main, keys.encode())

    def save(self, source: str, file: str = tiny.FILES[0]) -> None:
        """Save as most editors do: write another file, and replace the old one by it."""
        saved(self.course, source, file)

    def resize(self, rows: int, columns: int) -> None:
        """Resize the window."""
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def echoes(self) -> bool:
        """Whether the terminal is as in a shell: it echoes keys, and waits for whole lines."""
        flags = termios.tcgetattr(self._main)[3]
        return bool(flags & termios.ECHO and flags & termios.ICANON)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program."""
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._main)
        self._main = os.open(os.devnull, os.O_RDONLY)

    def ended(self) -> int:
        """Read on until the program ends, and return its exit status."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < until, f"it did not end:\n{self._unread}"
            self._unread += self._read(0.05) or ""
        while part := self._read(0.05):
            self._unread += part
        self.shown += self._unread
        assert "Traceback" not in self.shown, self.shown
        return self.process.returncode


class Watching(Program):
    """`course watch` in a pseudo-terminal."""

    def __init__(self, course: Path, *arguments: str, rows: int = 40, columns: int = 100, **env: str) -> None:
        super().__init__(course, "-m", "autograder", "watch", *arguments, rows=rows, columns=columns, **env)


def saved(course: Path, source: str, file: str = tiny.FILES[0]) -> None:
    """Replace a file by a program, at once."""
    temporary = course / "exercises" / f".{file}.swp"
    temporary.write_text(source, "utf-8")
    temporary.replace(course / "exercises" / file)
