"""A cache of facts about the reports in a folder: a run with nothing new reads neither reports nor submissions.

The reports are authoritative. A missing or damaged index is made again from them.
"""

import contextlib
import hashlib
import json
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.instructor.grading.reports import Stored, without_checks
from autograder.report.class_summary import Facts, facts_of
from autograder.results import Report
from autograder.results.reading import from_json
from autograder.submission.class_entry import Entry

FORM = 2
COMMIT_SECONDS = 1.0
"""A commit waits for the disk, so it is done at most this often; a crash loses only cached rows."""

TABLE = (
    "CREATE TABLE reports"
    " (student TEXT PRIMARY KEY, stamp TEXT, file TEXT, basis TEXT, failed INT, text TEXT, seal TEXT) WITHOUT ROWID"
)


@dataclass(frozen=True)
class Row:
    """The facts about one report: its student, whether the grader `failed` on a part of it, its JSON without checks.

    The JSON also has what the report adds to the summary of the class.

    `stamp` and `file` identify the state of the submission and of the report file; `stamp` is empty if the submission
    was not read. `basis` is the digest of the grading conditions.
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

    @property
    def facts(self) -> Facts:
        """What the report adds to the summary of the class."""
        return Facts(**json.loads(self.text)["facts"])


def row_of(stored: Stored, *, stamp: str, file: str, basis: str) -> Row:
    """Return the facts about a report."""
    text = json.dumps({**without_checks(stored.report).to_json(), "facts": vars(facts_of(stored.report))})
    return Row(str(stored.report.submission["student"]), stamp, file, basis, stored.failed, text)


class Index:
    """The rows of a folder by student, for one thread. If its file is unusable, they are kept in memory."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._committed = time.monotonic()
        try:
            self._database = _opened(file)
        except sqlite3.Error:
            self._start_again()

    def get(self, student: str) -> Row | None:
        """Return the row of a student; None if there is none or it is damaged."""
        try:
            query = "SELECT student, stamp, file, basis, failed, text, seal FROM reports WHERE student = ?"
            values = self._database.execute(query, (student,)).fetchone()
        except sqlite3.Error:
            self._start_again()
            return None
        # SQLite finds damaged pages only sometimes, so each row has a digest.
        if values is None or values[-1] != _digest(values[:-1]):
            return None
        student, stamp, state, basis, failed, text, _ = values
        return Row(student, stamp, state, basis, bool(failed), text)

    def put(self, row: Row) -> None:
        """Store a row; it is on disk within about a second, or after `close`."""
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
        """Write everything to disk."""
        with contextlib.suppress(sqlite3.Error):
            self._database.commit()
        with contextlib.suppress(sqlite3.Error):
            self._database.close()

    def _start_again(self) -> None:
        """Continue with an empty index; missing rows are made again from the reports."""
        with contextlib.suppress(sqlite3.Error, AttributeError):
            self._database.close()
        with contextlib.suppress(OSError):
            self._file.unlink(missing_ok=True)
        try:
            self._database = _opened(self._file)
        except sqlite3.Error:
            self._database = _opened(Path(":memory:"))


def stamp_of(entry: Entry, intake: str) -> str:
    """Return a digest that changes with the submission or with the way it is read."""
    return _digest((intake, entry.stamp()))


def state_of(file: Path) -> str:
    """Return a text that changes with a report file; empty if the file is missing."""
    try:
        stat = file.stat()
    except OSError:
        return ""
    return f"{stat.st_ino} {stat.st_size} {stat.st_mtime_ns}"


def _opened(file: Path) -> sqlite3.Connection:
    """Open or create the index; raises sqlite3.Error if the file is not a database."""
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
