"""The output folder of grading: one writer at a time, complete reports, an index made from them, and scores.csv."""

import contextlib
import csv
import hashlib
import io
import json
import os
import re
import socket
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from autograder.course import TEMPORARY, UsageError, try_lock, write_atomically
from autograder.formats import Unreadable, read_json
from autograder.report import plural
from autograder.results import NOT_JUDGED, ExerciseResult, Report, from_json
from autograder.submission import printable

from .class_folder import Entry
from .class_table import Facts, facts_of, held_sentence
from .policy import Final, Policy, final_of, missing
from .roster import as_csv, format_time

# Report files: written atomically with a digest of their result, and read back only if the digest matches.

LEVELS_IN_LINES = 4
"""The levels of nesting with a line per item, so that each check of a report has a line of its own."""


@dataclass(frozen=True)
class Stored:
    """A report and the digests stored with it.

    `run` is the digest of everything the report depends on. `exercises` has a digest for each exercise, without its
    points. The file also has a digest of the result, without the seconds.
    """

    report: Report
    run: str
    exercises: Mapping[str, str]

    @property
    def failed(self) -> bool:
        """Whether the grader failed on a part of the submission, so that it has no score."""
        return "grader_error" in self.report.statuses

    def text(self) -> str:
        """Return the JSON of the file."""
        data = {**self.report.to_json(), "run": {"digest": self.run, "exercises": dict(self.exercises)}}
        data["run"]["result"] = result_digest(data)
        return _json(data, LEVELS_IN_LINES) + "\n"


def _json(value: Any, levels: int, indent: str = "\n") -> str:
    """Return JSON with a line per item in the first `levels`; the encoder's own indent is many times slower."""
    if not levels or not value or not isinstance(value, dict | list | tuple):
        return json.dumps(value)
    inner = f"{indent} "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_json(item, levels - 1, inner)}" for key, item in value.items()]
    else:
        lines = [_json(item, levels - 1, inner) for item in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}{inner}{f',{inner}'.join(lines)}{indent}{last}"


def write_stored(file: Path, stored: Stored) -> None:
    """Write a report atomically. Raises OSError that names the file."""
    write_file(file, stored.text())


def write_file(file: Path, text: str) -> None:
    """Write a file atomically and durably if its content is new. Raises OSError that names the file."""
    try:
        if file.is_file() and file.read_bytes() == text.encode():
            return
        write_atomically(file, text, durable=True)
    except OSError as error:
        error.filename = str(file)
        raise


def read_stored(file: Path) -> Stored | None:
    """Return the report in a file; None if it is missing, damaged or changed."""
    try:
        return stored_in(file.read_bytes())
    except OSError:
        return None


def stored_in(text: bytes) -> Stored | None:
    """Return the report in the bytes of a file; None if they are not a complete, unchanged report."""
    try:
        data = json.loads(text)
        run = data["run"]
        if run.pop("result") != result_digest(data):
            return None
        return Stored(from_json(data), run["digest"], dict(run["exercises"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def result_digest(data: Mapping[str, Any]) -> str:
    """Return the digest of a report's JSON without the seconds, so that equal results have equal digests."""
    exercises = [
        {**exercise, "checks": [{**check, "seconds": 0} for check in exercise["checks"]]}
        for exercise in data["exercises"]
    ]
    text = json.dumps({**data, "exercises": exercises}, sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def with_points(result: ExerciseResult, points: Mapping[str, int]) -> ExerciseResult:
    """Return a result with other points for its checks, in hundredths; verdicts do not depend on points."""
    checks = tuple(
        replace(
            check,
            score=points[check.id] if check.status == "pass" else 0,
            max_score=0 if check.bonus else points[check.id],
        )
        for check in result.checks
    )
    score, most = sum(check.score for check in checks), sum(check.max_score for check in checks)
    return replace(result, score=score, max_score=most, checks=checks)


def without_checks(report: Report) -> Report:
    """Return a report without checks and log, as tables need it."""
    return replace(report, exercises=tuple(replace(exercise, checks=()) for exercise in report.exercises), log="")


def with_checks(summary: Report, file: Path, wanted: frozenset[tuple[str, str]]) -> Report:
    """Return a summary with the `wanted` checks of exercises, from the report in a file.

    Raises `UsageError` if the file is no report any more.
    """
    if not wanted:
        return summary
    stored = read_stored(file)
    if stored is None:
        raise UsageError(f"{file} was changed while it was read, expected the report of this run; run it again")
    return replace(
        stored.report,
        log="",
        exercises=tuple(
            replace(one, checks=tuple(check for check in one.checks if (one.id, check.id) in wanted))
            for one in stored.report.exercises
        ),
    )


# A cache of facts about the reports in a folder: a run with nothing new reads neither reports nor submissions.
#
# The reports are authoritative. A missing or damaged index is made again from them.

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
        for file in (*self.root.glob(".*"), *self.reports.glob(".*")):
            written = TEMPORARY.fullmatch(file.name)
            if written and (file.parent == self.reports or written[1] in ("run.json", "scores.csv")):
                file.unlink(missing_ok=True)


def before(root: Path, student: str) -> Path:
    """Return the path of the report that a student had before a file was accepted, written or not."""
    return root / "before" / f"{student}.json"


def read_run(root: Path) -> Mapping[str, Any] | None:
    """Return run.json of a folder; None if it is missing or damaged."""
    try:
        return read_json(dict[str, Any], (root / "run.json").read_bytes())
    except (OSError, Unreadable):
        return None


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


# A part of a class, the same on every machine, chosen by a hash of the student id.


@dataclass(frozen=True)
class Shard:
    """Part `part` of `parts`, from 1."""

    part: int
    parts: int

    def has(self, student: str) -> bool:
        """Return whether a student belongs to this part; every student belongs to exactly one part."""
        number = int.from_bytes(hashlib.sha256(student.encode()).digest()[:8], "big")
        return number % self.parts == self.part - 1

    def __str__(self) -> str:
        return f"{self.part}/{self.parts}"


def read_shard(text: str) -> Shard:
    """Return the shard written as `2/4`. Raises ValueError with a sentence."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{text!r} is not a shard, expected I/N with I from 1 to N, like 2/4")
    return Shard(int(match[1]), int(match[2]))


_AFTER_POLICY = ("handed_in", "days_late", "penalty", "final", "final_max")
NO_TIMES: Mapping[str, datetime | None] = {}


def scores_csv(
    reports: Sequence[Report],
    exercises: Sequence[str],
    policy: Policy | None = None,
    handed_in: Mapping[str, datetime | None] = NO_TIMES,
    absent: Sequence[str] | None = None,
) -> str:
    """Return the table as CSV text: the scores of the reports, and the final scores by the policy.

    A score is empty, not zero, if the grader failed on it or the submission is held. `absent` students are missing, and
    their row is empty; by default these are the students on the roster without a report.
    """
    policy = policy or Policy()
    if absent is None:
        absent = missing(policy, (str(report.submission["student"]) for report in reports))
    columns = ["student", "score", "max_score", *exercises, *_AFTER_POLICY, "notes"]
    rows = (_row(report, exercises, policy, handed_in) for report in reports)
    return as_csv([columns, *rows, *(_absent(student, len(columns), policy) for student in absent)])


def _absent(student: str, columns: int, policy: Policy) -> list[object]:
    """Return the row of a student without a submission: empty, unless somebody decided about it."""
    result = final_of(policy, student, None, None)
    has_result = result.excused or result.score is not None
    decided = _final(result, policy) if has_result else ["", ""]
    note = " | ".join(("missing: no submission", *(row.sentence for row in result.adjustments)))
    return [harmless(student), *[""] * (columns - 4), *decided, note]


def _final(result: Final, policy: Policy) -> list[str]:
    """Return the final score, and its maximum."""
    score = "excused" if result.excused else "" if result.score is None else _points(result.score)
    return [score, _points(policy.maximum)]


def _row(
    report: Report, exercises: Sequence[str], policy: Policy, handed_in: Mapping[str, datetime | None]
) -> list[object]:
    student = str(report.submission["student"])
    by_id = {exercise.id: exercise for exercise in report.exercises}
    failed = not report.has_score
    result = final_of(policy, student, handed_in.get(student), report)
    return [
        harmless(student),
        "" if failed else _points(report.score),
        _points(policy.maximum),
        *(_cell(by_id.get(exercise)) for exercise in exercises),
        format_time(result.handed_in, policy.grading.zone),
        "" if result.lateness.days is None else result.lateness.days,
        "" if result.score is None else _points(result.lateness.penalty),
        *_final(result, policy),
        harmless(" | ".join((*_held(report), *report.submission.get("notes", ()), *result.notes))),
    ]


def _held(report: Report) -> list[str]:
    return [held_sentence(report)] if report.is_held else []


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, with an apostrophe before it if needed."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def read_scores(file: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a scores.csv by student, in the order of the file.

    Raises OSError if there is no such file, and ValueError if it is no table with a row for each student.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))
    except csv.Error as error:
        raise ValueError(str(error)) from error
    if not {"student", "score", "max_score"} <= (rows[0] if rows else {}).keys():
        raise ValueError("no column for students, scores or their maximum")
    return {plain(str(row["student"])): row for row in rows}


def plain(cell: str) -> str:
    """Return the text that `harmless` was given."""
    return cell[1:] if cell[:1] == "'" and harmless(cell[1:]) == cell else cell


def _cell(exercise: ExerciseResult | None) -> str:
    """Return the points; nothing for what was not judged, or is worth nothing as it belongs to another assignment."""
    counts = exercise is not None and exercise.status not in NOT_JUDGED and exercise.max_score
    return _points(exercise.score) if exercise is not None and counts else ""


def _points(hundredths: int) -> str:
    return f"{hundredths / 100:.2f}"


# The pseudonyms of the class page.

PSEUDONYMS = "pseudonyms.csv"
"""The only file that maps pseudonyms to students; it stays in the folder of the reports."""

# No vowels, so that no pseudonym is a word; no 0 and 1, which look like letters.
LETTERS, DIGITS = "BCDFGHJKLMNPQRSTVWXZ", "23456789"
_FORM = re.compile(f"[{LETTERS}][{DIGITS}]([{LETTERS}][{DIGITS}])+")


def read_pseudonyms(file: Path) -> dict[str, str]:
    """Return the pseudonym of each student in the file; none if the file is missing or empty.

    Raises `UsageError` if the file is damaged.
    """
    known: dict[str, str] = {}
    try:
        text = file.read_text("utf-8-sig")
        table = csv.DictReader(io.StringIO(text, newline=""))
        if text.strip() and not {"pseudonym", "student"} <= set(table.fieldnames or ()):
            raise ValueError("its first line")
        for row in table:
            name, student = row["pseudonym"] or "", row["student"] or ""
            if not _FORM.fullmatch(name) or not student or name in known.values():
                raise ValueError(f"line {table.line_num}")
            known[plain(student)] = name
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, csv.Error) as error:
        where = "its letters" if isinstance(error, UnicodeDecodeError) else error
        raise UsageError(
            f"{printable(file)} is damaged ({where}), expected pseudonyms as an earlier page wrote them; "
            "restore the file, or move it away to get new pseudonyms"
        ) from None
    return known


# The marks that differ from those of the table before: what a regrade, a decision or a new hand-in changed.

MOST_LISTED = 20
"""More changes are counted: the table has them all."""

Marks = Mapping[str, tuple[str, str]]
"""The final score of each student as scores.csv has it, empty if there is none, and its maximum."""


def marks_of(table: Path) -> Marks:
    """Return the marks in a scores.csv; none if there is no such table, or it cannot be read."""
    try:
        rows = read_scores(table)
        return {student: (row["final"] or "", row["final_max"] or "") for student, row in rows.items()}
    except (OSError, ValueError, KeyError):
        return {}


def changed_marks(before: Marks, now: Marks) -> Iterator[str]:
    """Yield how many marks of students in both tables differ, and the first of them."""
    both = [student for student in before if student in now]
    changed = [student for student in both if _as_text(before[student]) != _as_text(now[student])]
    if not changed:
        return
    yield f"Changed since the last table: {plural(len(changed), 'mark')}"
    for student in changed[:MOST_LISTED]:
        yield f"  {printable(student)}  {_as_text(before[student])} → {_as_text(now[student])}"
    if len(changed) > MOST_LISTED:
        yield f"  and {len(changed) - MOST_LISTED} more"


def _as_text(mark: tuple[str, str]) -> str:
    score, most = mark
    return f"{score} of {most}" if score and score != "excused" else score or "no score"
