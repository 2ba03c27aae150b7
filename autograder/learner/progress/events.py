"""The events of a learner, one per line of `.course/events.jsonl`: append-only, and the source of all progress.

It contains no code, no name of a person and no path. A line that cannot be read is skipped, so a merge by git, a full
disk or a later version does no harm.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from autograder.course.storage import open_plain

Kind: TypeAlias = Literal["check", "hint", "next", "solution", "reset", "question"]
KINDS: tuple[Kind, ...] = ("check", "hint", "next", "solution", "reset", "question")

Answer: TypeAlias = Literal["right", "wrong", "skipped"]
"""How a question on a corrected mistake was answered: the `result` of its event."""

CARRIED = "carried"
"""The kind of the line that replaces all earlier ones: it has the standings that they led to."""

MOST_BYTES = 1 << 20
"""A longer events file, about 4000 runs, is shortened to its newest lines."""

LINES_KEPT = 1000
LONGEST_LINE = 64 << 10
"""Bytes. The kit writes no longer line, apart from that of the carried standings."""

MOST_READ = 4 * MOST_BYTES
"""Bytes. Of a larger file, which the kit did not write, only the end is read."""

_NAME = re.compile(r"[\w.-]{1,80}")


@dataclass(frozen=True)
class Event:
    """An action of a learner in one exercise.

    `check` is the first check that failed, and `finding` its reason. `file` is the digest of the learner's file,
    `edited` the number of lines that changed since the last check, and `version` the digest of the exercise. `hint` is
    the level shown, out of `hints`; `now` says that the learner did not edit before, and `todo` that the hint says how
    to begin that TODO. `seconds` is the duration. Of the `todos` of the stub, `written` have code; `in_progress` says
    that what is written does not fail. `right` are the ids of the checks that pass, with spaces between them.
    """

    at: str
    kind: Kind
    exercise: str
    command: str
    result: str | None = None
    check: str | None = None
    finding: str | None = None
    file: str | None = None
    edited: int | None = None
    version: str | None = None
    passing: int | None = None
    checks: int | None = None
    score: int | None = None
    max_score: int | None = None
    hint: int | None = None
    hints: int | None = None
    now: bool | None = None
    seconds: float | None = None
    in_progress: bool | None = None
    todos: int | None = None
    written: int | None = None
    todo: str | None = None
    right: str | None = None

    @property
    def line(self) -> bytes:
        """The event as a line of the file, without unknown values."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(known, ensure_ascii=True).encode() + b"\n"


@dataclass(frozen=True)
class Snapshot:
    """The standings that earlier events led to, as JSON, and the time of the last one."""

    exercises: dict[str, Any]
    here: str | None
    at: str | None = None

    @property
    def line(self) -> bytes:
        return (
            json.dumps({"kind": CARRIED, "exercises": self.exercises, "here": self.here, "at": self.at}).encode()
            + b"\n"
        )


_NUMBERS = (
    "edited",
    "passing",
    "checks",
    "score",
    "max_score",
    "hint",
    "hints",
    "now",
    "in_progress",
    "todos",
    "written",
)
_TYPES: dict[str, tuple[type, ...]] = {
    field.name: (int,) if field.name in _NUMBERS else (int, float) if field.name == "seconds" else (str,)
    for field in fields(Event)
}


def now() -> str:
    """Return the current time in the format of events."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def seconds_of(at: str) -> float | None:
    """Return a time in seconds, or None if it is no time."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime.fromisoformat(at).timestamp()
    return None


def name_or_none(name: str | None) -> str | None:
    """Return an id that may be stored, or None: an exception may have any text as its name."""
    return name if name is not None and _NAME.fullmatch(name) else None


def read_lines(file: Path, position: int = 0) -> tuple[list[Event | Snapshot], int]:
    """Return the events after a position, and the end of the last whole line. Raises OSError."""
    with os.fdopen(open_plain(file), "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(position, size - MOST_READ))
        data = stream.read(MOST_READ)
    end = data.rfind(b"\n") + 1
    parsed = (_parse(line) for line in data[:end].split(b"\n") if line.strip())
    return [event for event in parsed if event is not None], max(position, size - MOST_READ) + end


def _parse(line: bytes) -> Event | Snapshot | None:
    if len(line) > LONGEST_LINE and b'"carried"' not in line[:40]:
        return None
    try:
        data = json.loads(line)
        if data["kind"] == CARRIED:
            return Snapshot(dict(data["exercises"]), data.get("here"), data.get("at"))
        known = {name: data[name] for name in _TYPES if data.get(name) is not None}
        right = all(isinstance(value, _TYPES[name]) for name, value in known.items())
        return Event(**known) if right and known["kind"] in KINDS else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def append(file: Path, events: Iterable[Event | Snapshot]) -> None:
    """Append each event in one write, so that two processes cannot mix their lines. Raises OSError."""
    descriptor = open_plain(file, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        torn = _is_torn(descriptor)
        for event in events:
            _write(descriptor, b"\n" + event.line if torn else event.line)
            torn = False
    finally:
        os.close(descriptor)


def _is_torn(descriptor: int) -> bool:
    """Return whether the last line has no end, because the disk was full or the process was killed."""
    if not os.lseek(descriptor, 0, os.SEEK_END):
        return False
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) != b"\n"


def _write(descriptor: int, line: bytes) -> None:
    written = os.write(descriptor, line)
    while written < len(line):
        written += os.write(descriptor, line[written:])


def newest(events: Sequence[Event | Snapshot]) -> tuple[list[Event | Snapshot], list[Event | Snapshot]]:
    """Return the older events, and the newest ones, which stay when a file is shortened."""
    at = max(len(events) - LINES_KEPT, 0)
    return list(events[:at]), list(events[at:])
