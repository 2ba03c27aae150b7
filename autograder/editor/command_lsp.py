"""Check at every save, and show the wrong line in your editor.

An editor starts this language server and talks to it over stdin and stdout. It needs pygls.
"""

import argparse
import os
import re
from typing import BinaryIO, cast

from autograder.cli import warn
from autograder.course import UsageError
from autograder.ending import PASS
from autograder.report import one_line

LENGTH = re.compile(rb"Content-Length: (\d{1,10})\r\n")
MOST_LINE, MOST_MESSAGE = 4096, 64 << 20
"""Bytes of a line of a header, and of a message: no editor sends a file that is nearly as large."""


def run(options: argparse.Namespace) -> int:  # noqa: ARG001 - every command takes its options
    """Run the command until the editor ends it. Only messages of the protocol go to stdout."""
    try:
        import pygls.lsp.server  # noqa: F401
    except ImportError:
        raise UsageError(
            "the language server needs pygls: install it with `pip install pygls`, or the extra `lsp` of this kit"
        ) from None
    from .server import serve  # after pygls was found

    if os.isatty(0):
        warn("an editor starts this server and talks to it; docs/editors.md says how. Ctrl-C ends it")
    with os.fdopen(os.dup(0), "rb") as stdin, os.fdopen(os.dup(1), "wb") as stdout:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)  # nothing else may write into the protocol
        serve(cast("BinaryIO", BoundedInput(stdin)), stdout)
    return PASS


class BoundedInput:
    """The stream from the editor. It raises `UsageError` for a header that is wrong or asks for too much memory."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._has_length = False

    def readline(self) -> bytes:
        """Return the next line of a header; b"" at the end."""
        line = self._stream.readline(MOST_LINE)
        length = LENGTH.fullmatch(line)
        if length is not None and 0 < int(length[1]) <= MOST_MESSAGE:
            self._has_length = True
        elif length or line.lower().startswith(b"content-length") or (line and not line.endswith(b"\n")):
            raise self._problem(f"the header {one_line(line[:60].decode('utf-8', 'replace'))!r}")
        elif line and not line.strip() and not self._has_length:
            raise self._problem("no header Content-Length")
        return line

    def read(self, size: int) -> bytes:
        """Return a whole message; b"" if the editor ended in the middle of it."""
        self._has_length = False
        message = self._stream.read(size)
        return message if len(message) == size else b""

    def _problem(self, found: str) -> UsageError:
        expected = f"expected `Content-Length: ` and a number of bytes, from 1 to {MOST_MESSAGE}"
        return UsageError(f"the editor sent a message with {found}; {expected}")
