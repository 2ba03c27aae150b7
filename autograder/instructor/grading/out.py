"""The folder grading writes to: one writer at a time, reports that are whole, and an index made from them."""

import json
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from autograder.course.storage import locked
from autograder.instructor.grading.index import Index
from autograder.instructor.grading.reports import write_file

LOCK_AT = 1 << 20
"""Where in the lock file the lock lies on Windows, where nobody can read what is locked."""


class Busy(Exception):
    """Somebody else writes to the folder; the message says who."""


class Out:
    """OUT, held until it is closed: reports/, run.json, scores.csv, and index.sqlite, which can be made again.

    Raises `Busy` where another process holds it, and OSError where it cannot be written to.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.reports.mkdir(parents=True, exist_ok=True)
        self._lock = _hold(root)
        try:
            self._sweep()
            self.index = Index(root / "index.sqlite")
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> "Out":
        return self

    def __exit__(self, *_: object) -> None:
        self.index.close()
        self._lock.close()

    @property
    def reports(self) -> Path:
        return self.root / "reports"

    def report(self, student: str) -> Path:
        """Return where a student's report is, or will be."""
        return self.reports / f"{student}.json"

    def note_run(self, run: Mapping[str, object]) -> None:
        """Write run.json; it names the students once all of them have their reports. Raises OSError."""
        write_file(self.root / "run.json", json.dumps(run, indent=1, ensure_ascii=False) + "\n")

    def write_scores(self, table: str) -> Path:
        """Write scores.csv and return where it is. Raises OSError."""
        file = self.root / "scores.csv"
        write_file(file, table)
        return file

    def _sweep(self) -> None:
        """Take away what writers that were killed have left half-written."""
        for folder, names in ((self.root, r"run\.json|scores\.csv"), (self.reports, ".+")):
            for file in folder.glob(".*"):
                if re.fullmatch(rf"\.({names})-[a-z0-9_]{{8}}", file.name):
                    file.unlink(missing_ok=True)


def read_run(root: Path) -> Mapping[str, Any] | None:
    """Return what run.json in a folder says; None where there is none to read."""
    try:
        run = json.loads((root / "run.json").read_bytes())
    except (OSError, ValueError):
        return None
    return run if isinstance(run, dict) else None


def _hold(root: Path) -> IO[str]:
    """Take the lock and write who has it. The system lets go of it when the process ends, however it ends."""
    stream = (root / "lock").open("a+", encoding="utf-8")
    try:
        if os.name == "nt":
            stream.seek(LOCK_AT)
        if not locked(stream.fileno()):
            stream.seek(0)
            who = stream.read(200).strip() or "another process"
            raise Busy(
                f"{root} is being written by {who}, expected a folder nobody writes to; "
                "wait until that has ended, stop it, or give another --out"
            )
        stream.seek(0)
        stream.truncate()
        stream.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        stream.flush()
    except BaseException:
        stream.close()
        raise
    return stream
