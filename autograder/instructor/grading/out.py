"""The output folder of grading: one writer at a time, complete reports, and an index made from them."""

import json
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from autograder.course.storage import try_lock
from autograder.instructor.grading.index import Index
from autograder.instructor.grading.reports import write_file

LOCK_AT = 1 << 20
"""The offset of the lock on Windows: locked bytes cannot be read there, and others read the owner before it."""


class Busy(Exception):
    """Another process writes to the folder; the message names it."""


class Out:
    """The output folder, locked until it is closed: reports/, run.json, scores.csv, and index.sqlite, which is a cache.

    Raises `Busy` if another process holds the lock, and OSError if the folder is not writable.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.reports.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(root)
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
        """Return the folder of the reports."""
        return self.root / "reports"

    def report(self, student: str) -> Path:
        """Return the path of a student's report, written or not."""
        return self.reports / f"{student}.json"

    def keep_before(self, student: str, report: Path) -> None:
        """Keep the report from before a file was accepted, if there is one and none is kept yet. Raises OSError."""
        kept = before(self.root, student)
        if report.is_file() and not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            write_file(kept, report.read_text("utf-8"))

    def note_run(self, run: Mapping[str, object]) -> None:
        """Write run.json, which lists the students once all have reports. Raises OSError."""
        write_file(self.root / "run.json", json.dumps(run, indent=1) + "\n")

    def write_scores(self, table: str) -> Path:
        """Write scores.csv and return its path. Raises OSError."""
        file = self.root / "scores.csv"
        write_file(file, table)
        return file

    def _sweep(self) -> None:
        """Remove the half-written files of writers that were killed."""
        for folder, names in ((self.root, r"run\.json|scores\.csv"), (self.reports, ".+")):
            for file in folder.glob(".*"):
                # The names that an atomic write gives to its temporary files.
                if re.fullmatch(rf"\.({names})-[a-z0-9_]{{8}}", file.name):
                    file.unlink(missing_ok=True)


def before(root: Path, student: str) -> Path:
    """Return the path of the report that a student had before a file was accepted, written or not."""
    return root / "before" / f"{student}.json"


def read_run(root: Path) -> Mapping[str, Any] | None:
    """Return run.json of a folder; None if it is missing or damaged."""
    try:
        run = json.loads((root / "run.json").read_bytes())
    except (OSError, ValueError):
        return None
    return run if isinstance(run, dict) else None


def _locked(root: Path) -> IO[str]:
    """Return the lock file, locked and with the owner in it. The system unlocks it when the process ends."""
    stream = (root / "lock").open("a+", encoding="utf-8")
    try:
        if os.name == "nt":
            stream.seek(LOCK_AT)
        if not try_lock(stream.fileno()):
            stream.seek(0)
            owner = stream.read(200).strip() or "another process"
            raise Busy(
                f"{root} is in use by {owner}, expected a folder that no process writes to; "
                "wait until it ends, stop it, or choose another --out"
            )
        stream.seek(0)
        stream.truncate()
        stream.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        stream.flush()
    except BaseException:
        stream.close()
        raise
    return stream
