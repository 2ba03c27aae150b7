"""The output streams of a learner's code in a self-check: they say of each part of the log which trial printed it."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

from autograder.protocol import write_all
from autograder.protocol.log_headings import heading

PROMPT_BYTES = 1 << 16
"""After so many bytes the streams are buffered: a flood of prints would take most of its time in system calls."""


class LabelledLog:
    """Writes what is printed at once, so that nothing is lost if the process dies. A heading precedes each part."""

    def __init__(self, descriptor: int) -> None:
        self._heading = b""
        self._written = 0
        # As Python opens the standard streams, but without a buffer.
        self._stdout, self._stderr = (
            io.TextIOWrapper(_Stream(descriptor, self), "utf-8", errors, write_through=True)
            for errors in ("surrogateescape", "backslashreplace")
        )

    def begin(self, exercise: str, check: str = "", trial: int = 0) -> None:
        """Begin a part. Its heading is written only if something is printed."""
        self.finish()
        self._heading = heading(exercise, check, trial)

    def finish(self) -> None:
        """Write what is still buffered. A program may have closed a stream."""
        for stream in (self._stdout, self._stderr):
            with suppress(OSError, ValueError):
                stream.flush()

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Replace the standard streams within the block."""
        with redirect_stdout(self._stdout), redirect_stderr(self._stderr):
            try:
                yield
            finally:
                self.finish()

    def take_heading(self, written: int) -> bytes:
        """Return the heading to write before so many bytes, empty if it is written already."""
        first, self._heading = self._heading, b""
        self._written += written
        if self._written > PROMPT_BYTES:
            for stream in (self._stdout, self._stderr):
                with suppress(OSError, ValueError):
                    stream.reconfigure(write_through=False)
        return first


class _Stream(io.FileIO):
    """The descriptor of the log, for one of the two streams: each can be closed without the other."""

    def __init__(self, descriptor: int, log: LabelledLog) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._log = log

    def write(self, data: Any) -> int:
        """Write all of the data, below its heading. A log that was closed costs a program nothing but its prints."""
        with suppress(OSError):
            for part in filter(None, (self._log.take_heading(len(data)), data)):
                write_all(super().write, part)
        return len(data)
