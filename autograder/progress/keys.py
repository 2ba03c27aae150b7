"""Read single keys from a terminal, lines with Enter, or nothing if stdin is no terminal."""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections import deque
from types import FrameType
from typing import Any, Self

from autograder import ending

QUIT = "q"
REDRAW = "\x0c"
BACK = "\x1b"
UP, DOWN, PAGE_UP, PAGE_DOWN = "↑", "↓", "⇞", "⇟"
_SEQUENCES = {
    b"\x1b": BACK,
    b"\x1b[A": UP,
    b"\x1bOA": UP,
    b"\x1b[B": DOWN,
    b"\x1bOB": DOWN,
    b"\x1b[5~": PAGE_UP,
    b"\x1b[6~": PAGE_DOWN,
}
"""What terminals send for keys without a letter; every other sequence is ignored."""


class Keyboard:
    """A keyboard without keys, for a standard input that is no terminal: it only waits."""

    def __init__(self) -> None:
        self._woken = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __bool__(self) -> bool:
        return False

    def wait(self, seconds: float) -> str:
        """Return the keys pressed as soon as there are some; "" after that time, or after `wake`."""
        self._woken.wait(seconds)
        self._woken.clear()
        return ""

    def wake(self) -> None:
        """End the wait of another thread."""
        self._woken.set()


class Lines(Keyboard):
    """Reads the first letter of each line: with `--plain`, a key is a letter and Enter."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._letters: deque[str] = deque()
        threading.Thread(target=self._read, daemon=True).start()

    def __bool__(self) -> bool:
        return True

    def wait(self, seconds: float) -> str:
        super().wait(0 if self._letters else seconds)
        return self._letters.popleft() if self._letters else ""

    def _read(self) -> None:
        """Read the descriptor: a thread in `sys.stdin` would hold its lock when the program ends."""
        rest = b""
        with contextlib.suppress(OSError):
            while part := os.read(self._descriptor, 1024):
                *lines, rest = (rest + part).split(b"\n")
                self._letters.extend(line.strip().decode("utf-8", "replace")[:1] or "?" for line in lines)
                self.wake()
        self._letters.append(QUIT)
        self.wake()


if sys.platform == "win32":
    import msvcrt

    class Terminal(Keyboard):
        """Reads the keys of a Windows console as they are pressed."""

        def __init__(self, _descriptor: int) -> None:
            super().__init__()

        def __bool__(self) -> bool:
            return True

        def wait(self, seconds: float) -> str:
            until = time.monotonic() + seconds
            while True:
                if msvcrt.kbhit():
                    key = msvcrt.getwch()
                    if key in "\0\xe0":  # an arrow or a function key, in two parts
                        return {"H": UP, "P": DOWN, "I": PAGE_UP, "Q": PAGE_DOWN}.get(msvcrt.getwch(), "")
                    if key == "\x03":
                        raise KeyboardInterrupt
                    return key
                # Short enough that a key seems to act at once, long enough to use no processor time.
                if self._woken.wait(0.01) or time.monotonic() >= until:
                    self._woken.clear()
                    return ""

else:
    import termios
    import tty

    class Terminal(Keyboard):
        """Reads the keys of a terminal as they are pressed, without echo, and restores its settings at the end.

        It also restores them while the program is stopped (Ctrl-Z) or in the background: the terminal is the shell's.
        """

        def __init__(self, descriptor: int) -> None:
            self._descriptor = descriptor
            self._before = termios.tcgetattr(descriptor)
            self._awake, self._waker = os.pipe()
            os.set_blocking(self._waker, False)
            self._handlers: dict[int, Any] = {}
            self._continued = False

        def __bool__(self) -> bool:
            return True

        def __enter__(self) -> Self:
            self._handlers = {
                signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._stop),
                signal.SIGCONT: signal.signal(signal.SIGCONT, self._continue),
            }
            self._ending = ending.leaving(self._release)
            self._ending.__enter__()
            self._acquire()
            return self

        def __exit__(self, *_: object) -> None:
            self._ending.__exit__(None, None, None)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            self._release()
            for descriptor in (self._awake, self._waker):
                os.close(descriptor)

        def wait(self, seconds: float) -> str:
            typed_in = [self._descriptor] if self._in_foreground() else []
            ready, _, _ = select.select([self._awake, *typed_in], [], [], seconds)
            if self._awake in ready:
                os.read(self._awake, 1024)
            if self._continued:
                self._continued = False
                return REDRAW
            if self._descriptor not in ready:
                return ""
            try:
                typed = os.read(self._descriptor, 1024)
            except OSError:
                return QUIT
            if not typed:
                return QUIT
            return _SEQUENCES.get(typed, "") if typed.startswith(b"\x1b") else typed.decode("utf-8", "ignore")

        def wake(self) -> None:
            with contextlib.suppress(OSError):
                os.write(self._waker, b".")

        def _stop(self, _signal: int, _frame: FrameType | None) -> None:
            self._release()
            os.kill(os.getpid(), signal.SIGSTOP)

        def _continue(self, _signal: int, _frame: FrameType | None) -> None:
            self._acquire()
            self._continued = True
            self.wake()

        def _acquire(self) -> None:
            if self._in_foreground():
                with contextlib.suppress(termios.error):
                    tty.setcbreak(self._descriptor, termios.TCSANOW)

        def _release(self) -> None:
            if self._in_foreground():
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)

        def _in_foreground(self) -> bool:
            """Return whether the terminal is ours: the system stops a background program that reads or changes it."""
            try:
                return os.tcgetpgrp(self._descriptor) == os.getpgrp()
            except OSError:
                return True


def keyboard(*, plain: bool) -> Keyboard:
    """Return the keyboard of this program's standard input."""
    try:
        descriptor = sys.stdin.fileno()
        if not os.isatty(descriptor):
            return Keyboard()
        return Lines(descriptor) if plain else Terminal(descriptor)
    except (AttributeError, OSError, ValueError):
        return Keyboard()
