"""What is known of the reports in a folder, so that a run with nothing new reads neither them nor the submissions.

The reports are the truth. The index is made from them, and made again where it is missing or damaged.
"""

import contextlib
import hashlib
import json
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.instructor.grading.reports import Stored, without_checks
from autograder.results import Report
from autograder.results.reading import from_json
from autograder.submission import Entry

FORM = 1
COMMIT_SECONDS = 1.0

TABLE = (
    "CREATE TABLE reports"
    " (student TEXT PRIMARY KEY, stamp TEXT, file TEXT, basis TEXT, failed INT, text TEXT, seal TEXT) WITHOUT ROWID"
)


@dataclass(frozen=True)
class Row:
    """What is known of one report: whose it is, whether the grader `failed` on some of it, and its JSON without checks.

    `stamp` tells the submission from another state of it, and is empty where it has not been seen; `file` tells the
    report file from another state of it; `basis` is the digest of the conditions under which it was graded.
    """

    student: str
    stamp: str
    file: str
    basis: str
    failed: bool
    text: str

    @property
    def summary(self) -> Report:
        """The report without its checks."""
        return from_json(json.loads(self.text))


def row_of(stored: Stored, *, stamp: str, file: str, basis: str) -> Row:
    """Return what is to be known of a report."""
    text = json.dumps(without_checks(stored.report).to_json())
    return Row(str(stored.report.submission["student"]), stamp, file, basis, stored.failed, text)


class Index:
    """The rows of a folder, by student. For one thread. Where its file cannot be used it is kept in memory alone."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._committed = time.monotonic()
        try:
            self._database = _opened(file)
        except sqlite3.Error:
            self._start_again()

    def get(self, student: str) -> Row | None:
        """Return what is known of a student's report; None where nothing is, or nothing that is sound."""
        try:
            query = "SELECT student, stamp, file, basis, failed, text, seal FROM reports WHERE student = ?"
            found = self._database.execute(query, (student,)).fetchone()
        except sqlite3.Error:
            self._start_again()
            return None
        if found is None or found[-1] != _digest(found[:-1]):
            return None
        student, stamp, state, basis, failed, text, _ = found
        return Row(student, stamp, state, basis, bool(failed), text)

    def put(self, row: Row) -> None:
        """Note a report. It is on the disk soon, or at `close`."""
        parts = (row.student, row.stamp, row.file, row.basis, int(row.failed), row.text)
        try:
            self._database.execute(
                "INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?, ?, ?, ?)", (*parts, _digest(parts))
            )
            if time.monotonic() - self._committed > COMMIT_SECONDS:
                self._database.commit()
                self._committed = time.monotonic()
        except sqlite3.Error:
            self._start_again()

    def close(self) -> None:
        """Put everything on the disk."""
        with contextlib.suppress(sqlite3.Error):
            self._database.commit()
        with contextlib.suppress(sqlite3.Error):
            self._database.close()

    def _start_again(self) -> None:
        """Go on with an empty index: what is missing in it is read from the reports."""
        with contextlib.suppress(sqlite3.Error, AttributeError):
            self._database.close()
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
        try:
            self._database = _opened(self._file)
        except sqlite3.Error:
            self._database = _opened(Path(":memory:"))


def stamp_of(entry: Entry, intake: str) -> str:
    """Return what tells a submission, and how it is read, from another state of both."""
    return _digest((intake, entry.stamp()))


def state_of(file: Path) -> str:
    """Return what tells a report file from another state of it; nothing where there is none."""
    try:
        found = file.stat()
    except OSError:
        return ""
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _opened(file: Path) -> sqlite3.Connection:
    """Open the index, or make it; raises sqlite3.Error where the file is no index."""
    database = sqlite3.connect(file, isolation_level="DEFERRED")
    try:
        (form,) = database.execute("PRAGMA user_version").fetchone()
        if form != FORM:
            database.execute("DROP TABLE IF EXISTS reports")
            database.execute(TABLE)
            database.execute(f"PRAGMA user_version = {FORM}")
            database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database


def _digest(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
