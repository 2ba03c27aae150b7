"""Store progress in `.course/progress.json`, a view of the events in `.course/events.jsonl`.

The view records how many events it includes. A reader adds later ones, so two processes at once lose nothing. A view
that is damaged or missing is rebuilt from the events.
"""

import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import (
    FOLDER,
    Course,
    Exercise,
    folder_lock,
    open_plain,
    read_plain,
    remove,
    set_aside,
    state_folder,
    write_atomically,
)
from autograder.formats import Unreadable, decode, read_json
from autograder.results import ExerciseResult, from_json

from .events import (
    MOST_BYTES,
    MOST_READ,
    Event,
    Progress,
    Snapshot,
    append,
    name_or_none,
    newest_events,
    now,
    read_lines,
    replay,
    standing_of,
)

if TYPE_CHECKING:
    from autograder.results import Report


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
    append(folder / EVENTS, [*first, *events])
    progress = _with(replay(events, before.progress), texts)
    if _size(folder / EVENTS) > MOST_BYTES:
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
            events, read = read_lines(file, view.read)
            return replace(view, progress=replay(events, view.progress), read=read)
        events, read = read_lines(file)
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
        data = read_json(dict[str, Any], read_plain(folder / VIEW))
        stored = decode(Snapshot, data)
        standings = {name: standing_of(standing) for name, standing in stored.exercises.items()}
        place = decode(dict[str, int], data.get("events") or {})
        known = ("version", "exercises", "here", "at", "events")
        unknown = {name: value for name, value in data.items() if name not in known}
        progress = Progress(standings, stored.here, stored.at)
        return View(progress, max(place.get("read", 0), 0), place.get("opening", 0), unknown)
    except (OSError, Unreadable):
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
    events, _ = read_lines(folder / EVENTS)
    if _size(folder / EVENTS) > MOST_READ:
        set_aside(folder / EVENTS)
    old, newest = newest_events(events)
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


# What a learner chose, in `.course/choices.json`.

CHOICES = "choices.json"


@dataclass(frozen=True)
class Choices:
    """The part that a learner began with, whether an editor opens the folder, and whether verdicts are brief.

    The editor is None if nobody was asked. Which one it is is not kept: a folder of somebody else's must start nothing.
    """

    part: str | None = None
    editor: bool | None = None
    brief: bool = False


def read_choices(course: Course) -> Choices:
    """Return what a learner chose; nothing if it is not there or cannot be read."""
    try:
        return read_json(Choices, read_plain(course.root / FOLDER / CHOICES))
    except (OSError, Unreadable):
        return Choices()


def write_choices(course: Course, choices: Choices) -> None:
    """Store what a learner chose. Raises OSError."""
    write_atomically(state_folder(course.root) / CHOICES, json.dumps({"version": 1, **asdict(choices)}) + "\n")


def keep_brief(course: Course, wanted: bool | None) -> tuple[bool, str]:
    """Return whether verdicts are brief, and a warning. What is `wanted` is kept for later, if it is not None."""
    choices = read_choices(course)
    if wanted in (None, choices.brief):
        return choices.brief, ""
    try:
        write_choices(course, replace(choices, brief=bool(wanted)))
    except OSError as error:
        return bool(wanted), f"--brief could not be kept: {error.strerror or error}"
    return bool(wanted), ""


# What was wrong, in the learner's own words, in `.course/diary.json`.

DIARY = "diary.json"
LONGEST_WORDS = 300
"""Characters of one entry: a sentence or two."""


@dataclass(frozen=True)
class DiaryEntry:
    """What a learner wrote when an exercise passed: the title of the check that had failed, and their words."""

    at: str
    exercise: str
    check: str
    words: str


def read_diary(course: Course) -> tuple[DiaryEntry, ...]:
    """Return the diary; nothing if there is none, or it cannot be read."""
    try:
        return read_json(tuple[DiaryEntry, ...], read_plain(course.root / FOLDER / DIARY))
    except (OSError, Unreadable):
        return ()


def write_in_diary(course: Course, entry: DiaryEntry) -> str:
    """Add an entry, and return a warning if that could not be saved. A file that cannot be read is set aside."""
    try:
        folder = state_folder(course.root)
        with folder_lock(folder):
            before = read_diary(course)
            if not before:
                set_aside(folder / DIARY)
            entries = [asdict(one) for one in (*before, replace(entry, words=entry.words[:LONGEST_WORDS]))]
            write_atomically(folder / DIARY, json.dumps(entries, indent=1) + "\n")
    except OSError as error:
        return f"your diary could not be saved: {error.strerror or error}"
    return ""


# Store the last report on each exercise in `.course/last/`, for `course diff`.
#
# These files stay on this machine: they have lines of the learner's code.


@dataclass(frozen=True)
class LastReport:
    """A report on one exercise as JSON, with its time, the digest of the file, and checksums of its lines."""

    report: Mapping[str, Any]
    at: str
    file: str | None
    lines: tuple[int, ...]

    @property
    def exercise(self) -> Mapping[str, Any]:
        """The exercise's own part of the report."""
        exercise: Mapping[str, Any] = self.report["exercises"][0]
        return exercise

    @property
    def result(self) -> ExerciseResult:
        """The result of the exercise; raises ValueError if the report is of another version."""
        return from_json(self.report).exercises[0]

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """The check to look at first, as in the report; None if every check passes."""
        first = self.result.first_failure
        return next((check for check in self.exercise["checks"] if first and check["id"] == first.id), None)


def read_last(course: Course, exercise: Exercise) -> LastReport | None:
    """Return the last report on an exercise; None if there is none, it cannot be read, or it is of another version."""
    try:
        last = read_json(LastReport, read_plain(_file(course.root / FOLDER / "last", exercise)))
        return last if last.result.id == exercise.id else None
    except (OSError, ValueError, IndexError):
        return None


def save_last(course: Course, exercise: Exercise, last: LastReport) -> None:
    """Store a report as the last one on an exercise. Raises OSError."""
    data = {"version": 1, "at": last.at, "file": last.file, "lines": last.lines, "report": last.report}
    write_atomically(_file(state_folder(course.root, "last"), exercise), json.dumps(data) + "\n")


def delete_last(course: Course, exercise: Exercise) -> None:
    """Delete the last report on an exercise: its file was reset."""
    remove(_file(course.root / FOLDER / "last", exercise))


def _file(folder: Path, exercise: Exercise) -> Path:
    return folder / f"{exercise.id}.json"


# Digests that distinguish the versions of a file without storing its contents.

LENGTH = 16
"""Hexadecimal digits: enough to tell apart the versions of one file."""

MOST_LINES = 5000
"""A longer file is compared by its beginning, so that the stored report stays small."""


def digest_of(data: bytes) -> str:
    """Return the digest of a file's bytes."""
    return hashlib.sha256(data).hexdigest()[:LENGTH]


def exercise_version(course: Course, exercise: Exercise) -> str:
    """Return the digest of what a result depends on: the checks, their sizes and the requirements of course.toml.

    It does not depend on the title, the hints and the points: verdicts do not change with them.
    """
    try:
        checks = read_plain(course.checks_file(exercise))
    except OSError:
        checks = b""
    sizes = [dict(column) for column in course.sizes_of(exercise)]
    required = [list(exercise.needs), list(exercise.forbidden), sizes]
    return digest_of(checks + b"\0" + json.dumps(required, sort_keys=True).encode())


def line_digests(data: bytes) -> tuple[int, ...]:
    """Return a checksum for each line, from which the line cannot be recovered."""
    return tuple(zlib.crc32(line.strip()) for line in data.split(b"\n")[:MOST_LINES])


def lines_edited(before: Sequence[int], after: Sequence[int]) -> int:
    """Return how many lines differ; a line that only moved does not count."""
    old, new = Counter(before), Counter(after)
    return max((new - old).total(), (old - new).total())


# Save a report on the learner's own files: an event per exercise, and the report itself for `course diff`.


def record(course: Course, report: "Report", sources: Mapping[str, bytes], *, command: str) -> SaveResult:
    """Save the results of a check of the learner's own files, except those that the grader itself failed on."""
    results = [result for result in report.exercises if result.status != "grader_error"]
    at = now()
    lasts = {result.id: _last(report, result, sources.get(f"{result.id}.py"), at) for result in results}
    events = [_event(course, result, lasts[result.id], command) for result in results]
    texts = {result.id: _texts(result) for result in results if result.status != "pass"}
    saved = save_events(course, events, texts)
    try:
        for exercise_id, last in lasts.items():
            save_last(course, course.exercise(exercise_id), last)
    except OSError as error:
        return SaveResult(saved.progress, saved.problem or error)
    return saved


def _last(report: "Report", result: "ExerciseResult", source: bytes | None, at: str) -> LastReport:
    alone = replace(report, exercises=(result,)).to_json()
    return LastReport(alone, at, digest_of(source) if source is not None else None, line_digests(source or b""))


def _event(course: Course, result: "ExerciseResult", last: LastReport, command: str) -> Event:
    exercise = course.exercise(result.id)
    failure = result.first_failure
    return Event(
        at=last.at,
        kind="check",
        exercise=result.id,
        command=command,
        result=result.status,
        check=failure.id if failure else None,
        finding=name_or_none(failure.finding.id) if failure and failure.finding else None,
        alike=(failure is not None and failure.is_alike) or None,
        file=last.file,
        edited=_edited(course, exercise, last),
        version=exercise_version(course, exercise),
        passing=sum(check.status == "pass" for check in result.checks),
        checks=len(result.checks),
        score=result.score,
        max_score=result.max_score,
        hints=len(failure.hints) if failure else 0,
        seconds=round(sum(check.seconds for check in result.checks), 3),
        in_progress=result.in_progress,
        todos=len(result.todos),
        written=sum(todo.is_written for todo in result.todos),
        right=" ".join(check.id for check in result.checks if check.status == "pass"),
    )


def _edited(course: Course, exercise: Exercise, last: LastReport) -> int | None:
    before = read_last(course, exercise)
    return lines_edited(before.lines, last.lines) if before and last.file is not None else None


def _texts(result: "ExerciseResult") -> tuple[str | None, tuple[str, ...]]:
    failure = result.first_failure
    return (failure.title, failure.hints) if failure else (None, ())
