"""The events of a learner, one per line of `.course/events.jsonl`: append-only, and the source of all progress.

It contains no code, no name of a person and no path. A line that cannot be read is skipped, so a merge by git, a full
disk or a later version does no harm.
"""

import contextlib
import hashlib
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

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

if TYPE_CHECKING:
    from autograder.results import Report


Kind: TypeAlias = Literal["check", "hint", "next", "solution", "reset", "question", "quiz"]

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
    to begin that TODO. `alike` says that the finding names a mistake by equal results alone. `seconds` is the duration.
    Of the `todos` of the stub, `written` have code; `in_progress` says that what is written does not fail. `right` are
    the ids of the checks that pass, with spaces between them.
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
    alike: bool | None = None

    @property
    def line(self) -> bytes:
        """The event as a line of the file, without unknown values."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(known, ensure_ascii=True).encode() + b"\n"


@dataclass(frozen=True)
class Snapshot:
    """The standings that earlier events led to, as JSON, and the time of the last one."""

    exercises: dict[str, Any]
    here: str | None = None
    at: str | None = None

    @property
    def line(self) -> bytes:
        return (
            json.dumps({"kind": CARRIED, "exercises": self.exercises, "here": self.here, "at": self.at}).encode()
            + b"\n"
        )


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
        data = read_json(dict[str, Any], line)
        return decode(Snapshot, data) if data.get("kind") == CARRIED else decode(Event, data)
    except Unreadable:
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


def newest_events(events: Sequence[Event | Snapshot]) -> tuple[list[Event | Snapshot], list[Event | Snapshot]]:
    """Return the older events, and the newest ones, which stay when a file is shortened."""
    at = max(len(events) - LINES_KEPT, 0)
    return list(events[:at]), list(events[at:])


# The standing of a learner in one exercise: its last result, its hints, and the work on it.

UNTRIED = ("not_started", "missing")


@dataclass(frozen=True)
class Standing:
    """The last result of one exercise, its first failure, and how many of that failure's hints were shown.

    `first_passed` is the time of the first pass, "" if unknown; `status` is the result now. `version` is the digest of
    the exercise, `file` that of the learner's file, and `hint_file` that of the file at the last hint. `attempts`
    counts runs of a changed file. `pausing` says to advise a pause, and `in_progress` that some TODOs are open, and
    that what is written does not fail. `right` are the checks that pass, `newly_right` those of them that did not in
    the check before. `seconds_worked` is the time between commands, without long gaps. `answers` says how the question
    on each corrected misconception was answered, and `quiz_right` how many of the `quiz_asked` questions about the own
    program were answered right.
    """

    status: str = "not_started"
    score: int = 0
    max_score: int = 0
    passing: int = 0
    checks: int = 0
    first_passed: str | None = None
    version: str | None = None
    check: str | None = None
    title: str | None = None
    finding: str | None = None
    is_alike: bool = False
    hints: tuple[str, ...] = ()
    hints_shown: int = 0
    file: str | None = None
    hint_file: str | None = None
    first_at: str | None = None
    last_at: str | None = None
    runs: int = 0
    attempts: int = 0
    hints_taken: int = 0
    hints_now: int = 0
    solution_shown: str | None = None
    resets: int = 0
    same_runs: int = 0
    pausing: bool = False
    in_progress: bool = False
    seconds_worked: int = 0
    right: tuple[str, ...] = ()
    newly_right: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    quiz_asked: int = 0
    quiz_right: int = 0
    recent: tuple[tuple[float, int], ...] = ()
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passes_now(self) -> bool:
        """Whether the last check passed."""
        return self.status == "pass"

    @property
    def ever_passed(self) -> bool:
        """Whether it passed once, even if it fails again."""
        return self.first_passed is not None

    @property
    def broken(self) -> bool:
        """Whether it passed once, and fails now."""
        return self.ever_passed and not self.passes_now

    def stale(self, version: str) -> bool:
        """Return whether the result is about another version of the exercise."""
        return self.runs > 0 and self.version not in (None, version) and self.status not in UNTRIED

    def to_json(self) -> dict[str, Any]:
        """Return the standing as JSON data, with values that a later version wrote."""
        data = asdict(self)
        unknown = data.pop("unknown")
        return {**unknown, **data, "passes_now": self.passes_now}


_KNOWN = {field.name for field in fields(Standing)} - {"unknown"}
_DERIVED = ("passes_now", "ever_passed")


def standing_of(data: Mapping[str, Any]) -> Standing:
    """Return a standing from its JSON, also of an earlier version. Raises `Unreadable`."""
    data = decode(dict[str, Any], data)
    known = {**data, "unknown": {name: value for name, value in data.items() if name not in (*_KNOWN, *_DERIVED)}}
    if data.get("ever_passed") is True and data.get("first_passed") is None:
        known["first_passed"] = ""
    return decode(Standing, known)


def standings_of(data: Mapping[str, Any]) -> dict[str, Standing]:
    """Return standings from their JSON; entries that are none are skipped."""
    standings = {}
    for name, standing in data.items():
        with contextlib.suppress(Unreadable):
            standings[name] = standing_of(standing)
    return standings


# What each event changes in the standing of an exercise.

OFFER_AFTER = 4
"""After this many runs with the same finding, the second hint is shown without a request."""

BURST, BURST_SECONDS = 5, 60
"""This many runs in this many seconds, with ever smaller edits, look like guessing: advise a pause."""

LEVELS_KEPT = 20
"""Failures whose hint levels are stored; older ones are forgotten."""


def changed(before: Standing, event: Event) -> Standing:
    """Return the standing after an event of its exercise."""
    return _CHANGES[event.kind](before, event)


def _touched(before: Standing, event: Event) -> Standing:
    return replace(before, first_at=before.first_at or event.at, last_at=event.at)


def _after_check(before: Standing, event: Event) -> Standing:
    """Add a check. A failure shows its first hint; a pass keeps the hints, to show those that were not needed."""
    same = event.check is not None and (before.check, before.finding) == (event.check, event.finding)
    key = f"{event.check}:{event.finding or ''}"
    seen = before.levels.get(key, before.hints_shown if same else 0)
    shown = max(seen, 1) if event.hints else 0
    passes = event.result == "pass"
    standing = replace(
        _touched(before, event),
        status=event.result or "fail",
        score=event.score or 0,
        max_score=event.max_score or 0,
        passing=event.passing or 0,
        checks=event.checks or 0,
        first_passed=event.at if passes and not before.ever_passed else before.first_passed,
        version=event.version,
        check=event.check,
        title=before.title if same else None,
        finding=event.finding,
        is_alike=bool(event.alike),
        hints=before.hints if same or passes else (),
        hints_shown=before.hints_shown if passes else shown,
        hint_file=before.hint_file if seen else event.file if shown else None,
        levels=_levels(before.levels, key, shown),
        file=event.file,
        runs=before.runs + 1,
        attempts=before.attempts + (event.file is None or event.file != before.file),
        in_progress=bool(event.in_progress),
        right=tuple((event.right or "").split()),
        newly_right=_newly_right(before, event),
    )
    if same and event.file is not None and event.file == before.file:
        return standing  # the same code gets the same advice
    return _with_advice(standing, before, event, same)


def _newly_right(before: Standing, event: Event) -> tuple[str, ...]:
    """Return the checks that pass, and did not in the check before; none if that is not known."""
    if not before.runs or len(before.right) != before.passing:
        return ()
    return tuple(check for check in (event.right or "").split() if check not in before.right)


def _with_advice(standing: Standing, before: Standing, event: Event, same: bool) -> Standing:
    """Add what the runs so far suggest: the second hint, or a pause."""
    if event.check is None or event.result in UNTRIED:
        return replace(standing, same_runs=0, recent=(), pausing=False)
    at = seconds_of(event.at) or 0.0
    recent = tuple((time, edited) for time, edited in before.recent if 0 <= at - time <= BURST_SECONDS)
    recent = (*recent, (at, event.edited or 0))[-BURST:]
    edits = [edited for _, edited in recent[1:]]
    pausing = len(recent) == BURST and edits == sorted(edits, reverse=True)
    runs = before.same_runs + 1 if same else 1
    if runs >= OFFER_AFTER and standing.hints_shown == 1 and (event.hints or 0) > 1:
        key = f"{event.check}:{event.finding or ''}"
        levels = _levels(standing.levels, key, 2)
        standing = replace(standing, hints_shown=2, hint_file=event.file, levels=levels)
    return replace(standing, same_runs=runs, recent=() if pausing else recent, pausing=pausing)


def _levels(levels: Mapping[str, int], key: str, shown: int) -> Mapping[str, int]:
    if not shown:
        return levels
    others = {name: level for name, level in levels.items() if name != key}
    return dict([*others.items(), (key, shown)][-LEVELS_KEPT:])


def _after_hint(before: Standing, event: Event) -> Standing:
    if event.todo is not None:
        levels = _levels(before.levels, f"todo:{event.todo}", event.hint or 0)
        return replace(_touched(before, event), hints_taken=before.hints_taken + 1, levels=levels)
    shown = max(before.hints_shown, event.hint or 0)
    return replace(
        _touched(before, event),
        hints_shown=shown,
        hint_file=event.file,
        hints_taken=before.hints_taken + 1,
        hints_now=before.hints_now + bool(event.now),
        levels=_levels(before.levels, f"{before.check}:{before.finding or ''}", shown),
    )


def _after_solution(before: Standing, event: Event) -> Standing:
    return replace(_touched(before, event), solution_shown=before.solution_shown or event.at)


def _after_reset(before: Standing, event: Event) -> Standing:
    """Forget the result of the old file; a first pass and the hints shown still count."""
    return Standing(
        first_passed=before.first_passed,
        first_at=before.first_at,
        last_at=event.at,
        runs=before.runs,
        attempts=before.attempts,
        hints_taken=before.hints_taken,
        hints_now=before.hints_now,
        solution_shown=before.solution_shown,
        resets=before.resets + 1,
        levels=before.levels,
        answers=before.answers,
        quiz_asked=before.quiz_asked,
        quiz_right=before.quiz_right,
        unknown=before.unknown,
    )


def _after_question(before: Standing, event: Event) -> Standing:
    answers = {**before.answers, event.finding or "": event.result or "skipped"}
    return replace(_touched(before, event), answers=dict([*answers.items()][-LEVELS_KEPT:]))


def _after_quiz(before: Standing, event: Event) -> Standing:
    right = before.quiz_right + (event.result == "right")
    return replace(before, quiz_asked=before.quiz_asked + 1, quiz_right=right)


def _after_next(before: Standing, _: Event) -> Standing:
    return before


_CHANGES = {
    "check": _after_check,
    "hint": _after_hint,
    "next": _after_next,
    "question": _after_question,
    "quiz": _after_quiz,
    "solution": _after_solution,
    "reset": _after_reset,
}


# The progress of a learner in a course: the standings in its exercises, the sum of all events so far.

ALL_AT_ONCE = "check --all"
"""The command that does not show which exercise a learner works on."""

LONGEST_GAP = 600
"""Seconds. A longer time between two commands is a pause, and does not count as work."""


@dataclass(frozen=True)
class Progress:
    """The standings by exercise, the current exercise, and the time of the last command.

    Exercises of another course stay in it.
    """

    standings: Mapping[str, Standing] = field(default_factory=dict)
    here: str | None = None
    at: str | None = None

    def of(self, exercise: Exercise) -> Standing:
        """Return the standing of an exercise; an empty one if the learner has not worked on it."""
        return self.standings.get(exercise.id, Standing())

    def current(self, course: Course) -> Exercise | None:
        """Return the exercise to work on; None if all pass. It is the last worked on, or the next if that passes."""
        here = next((exercise for exercise in course.exercises if exercise.id == self.here), None)
        if here is not None and not self.of(here).passes_now:
            return here
        return self.following(course, here)

    def following(self, course: Course, exercise: Exercise | None) -> Exercise | None:
        """Return the exercise to work on after one that was passed or left; None if there is no other.

        It is the next of the same part that never passed, then an earlier one of that part, then one of another part.
        If all have passed, it is the first in this order that fails now.
        """
        part = course.section_of(exercise)[1]
        after = part.index(exercise) + 1 if exercise in part else 0
        ordered = [one for one in (*part[after:], *part[:after], *course.exercises) if one != exercise]
        never = (one for one in ordered if not self.of(one).ever_passed)
        broken = (one for one in ordered if not self.of(one).passes_now)
        return next(never, next(broken, None))

    def passed(self, course: Course) -> int:
        """Return how many exercises pass or have passed."""
        return self.passed_among(course.exercises)

    def passed_among(self, exercises: Sequence[Exercise]) -> int:
        """Return how many of these exercises pass or have passed."""
        return sum(self.of(exercise).ever_passed for exercise in exercises)

    def after(self, event: Event | Snapshot) -> "Progress":
        """Return the progress after one more event."""
        if isinstance(event, Snapshot):
            return Progress(standings_of(event.exercises), event.here, event.at)
        before = self.standings.get(event.exercise, Standing())
        standing = changed(before, event)
        if event.command == ALL_AT_ONCE or event.kind == "quiz":
            return Progress({**self.standings, event.exercise: standing}, self.here, event.at)
        worked = before.seconds_worked + self._seconds_until(event.at)
        standings = {**self.standings, event.exercise: replace(standing, seconds_worked=worked)}
        return Progress(standings, event.exercise, event.at)

    def _seconds_until(self, at: str) -> int:
        """Return the time since the last command; 0 for a pause."""
        before, now = seconds_of(self.at or ""), seconds_of(at)
        gap = now - before if before is not None and now is not None else 0.0
        return round(gap) if 0 < gap <= LONGEST_GAP else 0

    def with_texts(self, exercise: str, title: str | None, hints: tuple[str, ...]) -> "Progress":
        """Return the progress with the texts of a failure. They are the course's, so the events do not have them."""
        standing = self.standings.get(exercise, Standing())
        return replace(self, standings={**self.standings, exercise: replace(standing, title=title, hints=hints)})


def replay(events: Iterable[Event | Snapshot], start: Progress | None = None) -> Progress:
    """Return the progress after these events."""
    progress = start or Progress()
    for event in events:
        progress = progress.after(event)
    return progress


# Store progress in `.course/progress.json`, a view of the events in `.course/events.jsonl`.
#
# The view records how many events it includes. A reader adds later ones, so two processes at once lose nothing. A view
# that is damaged or missing is rebuilt from the events.

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
