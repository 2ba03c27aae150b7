"""Store progress in `.course/progress.json`, a view of the events in `.course/events.jsonl`.

The view records how many events it includes. A reader adds later ones, so two processes at once lose nothing. A view
that is damaged or missing is rebuilt from the events.
"""

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.course.storage import (
    FOLDER,
    folder_lock,
    open_plain,
    read_plain,
    set_aside,
    state_folder,
    write_atomically,
)
from autograder.learner.progress import events as lines
from autograder.learner.progress.course_progress import Progress, replay
from autograder.learner.progress.events import Event, Snapshot
from autograder.learner.progress.standing import standing_of

VERSION = 1
VIEW, EVENTS = "progress.json", "events.jsonl"
_OPENING_BYTES = 64


@dataclass(frozen=True)
class View:
    """The view from disk. It includes the first `read` bytes of the events file; `opening` identifies that file."""

    progress: Progress = field(default_factory=Progress)
    read: int = 0
    opening: int = 0
    unknown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SaveResult:
    """The progress after new events. `problem` is the error if they could not be saved."""

    progress: Progress
    problem: OSError | None = None

    @property
    def warning(self) -> str:
        """Say why the progress could not be saved; "" if it was."""
        if self.problem is None:
            return ""
        where = f" ({self.problem.filename})" if self.problem.filename else ""
        return f"your progress could not be saved: {self.problem.strerror or self.problem}{where}"


Texts = Mapping[str, tuple[str | None, tuple[str, ...]]]
"""The title and the hints of the check that each exercise fails first."""


def read_progress(course: Course) -> Progress:
    """Return the stored progress of a course; an empty one if there is none, or it cannot be read."""
    return _caught_up(course.root / FOLDER).progress


def save_events(course: Course, events: Sequence[Event], texts: Texts | None = None) -> SaveResult:
    """Append events, and return the new progress, which is correct even if it cannot be saved."""
    try:
        folder = state_folder(course.root)
        with folder_lock(folder):
            return SaveResult(_append(folder, events, texts or {}))
    except OSError as error:
        return SaveResult(_with(replay(events, read_progress(course)), texts or {}), error)


def _append(folder: Path, events: Sequence[Event], texts: Texts) -> Progress:
    before = _caught_up(folder)
    first: list[Event | Snapshot] = []
    if not _size(folder / EVENTS) and before.progress.standings:
        first = [_snapshot(before.progress)]  # a view that is older than events files
    lines.append(folder / EVENTS, [*first, *events])
    progress = _with(replay(events, before.progress), texts)
    if _size(folder / EVENTS) > lines.MOST_BYTES:
        _shorten(folder)
    read = _size(folder / EVENTS)
    if _read_view(folder) is None:
        set_aside(folder / VIEW)
    _write_view(folder, View(progress, read, _opening(folder / EVENTS), before.unknown))
    return progress


def _with(progress: Progress, texts: Texts) -> Progress:
    for exercise, (title, hints) in texts.items():
        progress = progress.with_texts(exercise, title, hints)
    return progress


def _caught_up(folder: Path) -> View:
    """Return the view with the events that it does not include yet."""
    view = _read_view(folder)
    file = folder / EVENTS
    try:
        if not _size(file):
            return view or View()
        fits = view is not None and view.opening == _opening(file) and view.read <= _size(file)
        if view is not None and fits:
            events, read = lines.read_lines(file, view.read)
            return replace(view, progress=replay(events, view.progress), read=read)
        events, read = lines.read_lines(file)
        rebuilt = replay(events)
        progress = _merged(rebuilt, view.progress) if view else rebuilt
        return View(progress, read, _opening(file), view.unknown if view else {})
    except OSError:
        return view or View()


def _merged(rebuilt: Progress, view: Progress) -> Progress:
    """Add to the events' progress what only the view has, if the events file started anew: a pass stays a pass."""
    standings = dict(rebuilt.standings)
    for name, old in view.standings.items():
        new = standings.get(name)
        if new is None:
            standings[name] = old
        elif old.ever_passed and not new.ever_passed:
            standings[name] = replace(new, first_passed=old.first_passed)
    return Progress(standings, rebuilt.here or view.here, rebuilt.at or view.at)


def _read_view(folder: Path) -> View | None:
    """Return the view; None if it is missing or damaged."""
    try:
        data = json.loads(read_plain(folder / VIEW))
        standings = {str(name): standing_of(standing) for name, standing in data["exercises"].items()}
        here, at = (data.get(name) if isinstance(data.get(name), str) else None for name in ("here", "at"))
        place = data.get("events") or {}
        unknown = {
            name: value for name, value in data.items() if name not in ("version", "exercises", "here", "at", "events")
        }
        progress = Progress(standings, here, at)
        return View(progress, max(int(place.get("read", 0)), 0), int(place.get("opening", 0)), unknown)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None


def _write_view(folder: Path, view: View) -> None:
    data = {
        **view.unknown,
        "version": VERSION,
        "here": view.progress.here,
        "at": view.progress.at,
        "events": {"read": view.read, "opening": view.opening},
        "exercises": {name: standing.to_json() for name, standing in view.progress.standings.items()},
    }
    write_atomically(folder / VIEW, json.dumps(data, indent=1) + "\n")


def _shorten(folder: Path) -> None:
    """Replace old events by one line with the standings they led to; the newest stay."""
    events, _ = lines.read_lines(folder / EVENTS)
    if _size(folder / EVENTS) > lines.MOST_READ:
        set_aside(folder / EVENTS)
    old, newest = lines.newest(events)
    lines_kept = [_snapshot(replay(old)), *newest]
    write_atomically(folder / EVENTS, b"".join(event.line for event in lines_kept).decode("ascii"))


def _snapshot(progress: Progress) -> Snapshot:
    return Snapshot(
        {name: standing.to_json() for name, standing in progress.standings.items()}, progress.here, progress.at
    )


def _size(file: Path) -> int:
    """Return the size of a file, 0 if it is missing. Raises OSError."""
    try:
        descriptor = open_plain(file)
    except FileNotFoundError:
        return 0
    with os.fdopen(descriptor, "rb") as stream:
        return os.fstat(stream.fileno()).st_size


def _opening(file: Path) -> int:
    """Return a checksum of the beginning of the events file, which differs for another file."""
    with os.fdopen(open_plain(file), "rb") as stream:
        return zlib.crc32(stream.read(_OPENING_BYTES).split(b"\n")[0])
