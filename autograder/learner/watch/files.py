"""Poll the files of an exercise. Polling works on every file system; change notifications do not."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.submission.files import Caps, FileError
from autograder.submission.folder import read_plain, reason

COARSE_SECONDS = 3.0
"""A changed file is read again at every poll for this long: some file systems store times in whole seconds."""


def missing(name: str) -> str:
    """Return the problem of an exercise's file that is missing."""
    return f"is missing: in another terminal, `course reset {name[2:4]}` restores the stub"


@dataclass(frozen=True)
class Content:
    """The content of a file. If it cannot be read, `problem` completes a sentence that begins with its name."""

    source: bytes = b""
    problem: str | None = None


class Files:
    """Some files of a folder and their contents. Other files in the folder are ignored."""

    def __init__(self, folder: Path, names: Iterable[str], caps: Caps) -> None:
        self.folder = folder
        self.names = tuple(names)
        self.caps = caps
        self._stamps: dict[str, object] = {}
        self._unsure_until: dict[str, float] = {}
        self._contents = {name: Content() for name in self.names}
        self.changed()

    def __getitem__(self, name: str) -> Content:
        return self._contents[name]

    def changed(self) -> tuple[str, ...]:
        """Poll once, and return the names of files whose content has changed."""
        return tuple(name for name in self.names if self._has_changed(name))

    def _has_changed(self, name: str) -> bool:
        now, stamp = time.monotonic(), self._stamp(name)
        if stamp != self._stamps.get(name):
            self._stamps[name] = stamp
            self._unsure_until[name] = now + COARSE_SECONDS
        elif now > self._unsure_until[name]:
            return False
        content = self._read(name)
        before, self._contents[name] = self._contents[name], content
        return content != before

    def _stamp(self, name: str) -> object:
        """Return the metadata that change with the file."""
        try:
            status = (self.folder / name).lstat()
        except (OSError, ValueError) as error:
            return reason(error)
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode

    def _read(self, name: str) -> Content:
        try:
            return Content(read_plain(self.folder / name, self.caps.source_bytes))
        except FileError as error:
            return Content(problem=str(error) if os.path.lexists(self.folder / name) else missing(name))
