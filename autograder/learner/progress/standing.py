"""The standing of a learner in each exercise: the sum of all events so far."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from autograder.course import Course, Exercise
from autograder.learner.progress.events import Event, Snapshot, seconds_of

ALL_AT_ONCE = "check --all"
"""The command that does not show which exercise a learner works on."""

OFFER_AFTER = 4
"""After this many runs with the same finding, the second hint is shown without a request."""

BURST, BURST_SECONDS = 5, 60
"""This many runs in this many seconds, with ever smaller edits, look like guessing: advise a pause."""

LEVELS_KEPT = 20
"""Failures whose hint levels are stored; older ones are forgotten."""

LONGEST_GAP = 600
"""Seconds. A longer time between two commands is a pause, and does not count as work."""

UNTRIED = ("not_started", "missing")


@dataclass(frozen=True)
class Standing:
    """The last result of one exercise, its first failure, and how many of that failure's hints were shown.

    `first_passed` is the time of the first pass, "" if unknown; `status` is the result now. `version` is the digest of
    the exercise, `file` that of the learner's file, and `hint_file` that of the file at the last hint. `attempts`
    counts runs of a changed file. `offering` says to show the second hint, `pausing` to advise a pause. Of the `todos`,
    `written` have code; `in_progress` says that some are open, and that what is written does not fail. `right` are the
    checks that pass, `newly_right` those of them that did not in the check before. `seconds_worked` is the time between
    commands, without long gaps.
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
    offering: bool = False
    pausing: bool = False
    in_progress: bool = False
    todos: int = 0
    written: int = 0
    seconds_worked: int = 0
    right: tuple[str, ...] = ()
    newly_right: tuple[str, ...] = ()
    levels: Mapping[str, int] = field(default_factory=dict)
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


_KNOWN = {field.name: field.default for field in fields(Standing) if field.name != "unknown"}
_DERIVED = ("passes_now", "ever_passed")


def standing_of(data: Mapping[str, Any]) -> Standing:
    """Return a standing from its JSON, also of an earlier version. Raises ValueError or TypeError if it is none."""
    known = {name: data[name] for name in _KNOWN if name in data}
    if data.get("ever_passed") is True and known.get("first_passed") is None:
        known["first_passed"] = ""
    known["hints"] = tuple(str(hint) for hint in known.get("hints", ()))
    for name in ("right", "newly_right"):
        known[name] = tuple(str(check) for check in known.get(name, ()))
    known["recent"] = tuple((float(at), int(edited)) for at, edited in known.get("recent", ()))
    known["levels"] = {str(name): int(level) for name, level in dict(known.get("levels", {})).items()}
    unknown = {str(name): value for name, value in data.items() if name not in _KNOWN and name not in _DERIVED}
    standing = Standing(**known, unknown=unknown)
    for name, default in _KNOWN.items():
        value = getattr(standing, name)
        if isinstance(default, int) and not isinstance(value, int):
            raise ValueError(f"{name} is no number")
        if isinstance(default, str | None) and not isinstance(value, str | None):
            raise ValueError(f"{name} is no text")
    return standing


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
        """Return the exercise to work on; None if all pass.

        It is the last one worked on. If that passes, it is the first that never passed, else the first that fails now.
        """
        here = next((exercise for exercise in course.exercises if exercise.id == self.here), None)
        if here is not None and not self.of(here).passes_now:
            return here
        never = (exercise for exercise in course.exercises if not self.of(exercise).ever_passed)
        broken = (exercise for exercise in course.exercises if not self.of(exercise).passes_now)
        return next(never, next(broken, None))

    def passed(self, course: Course) -> int:
        """Return how many exercises pass or have passed."""
        return sum(self.of(exercise).ever_passed for exercise in course.exercises)

    def after(self, event: Event | Snapshot) -> "Progress":
        """Return the progress after one more event."""
        if isinstance(event, Snapshot):
            return _from_snapshot(event)
        before = self.standings.get(event.exercise, Standing())
        standing = _AFTER[event.kind](before, event)
        if event.command == ALL_AT_ONCE:
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


def standings_of(data: Mapping[str, Any]) -> dict[str, Standing]:
    """Return standings from their JSON; entries that are none are skipped."""
    standings = {}
    for name, standing in data.items():
        try:
            standings[str(name)] = standing_of(standing)
        except (ValueError, TypeError, AttributeError, KeyError):
            continue
    return standings


def _from_snapshot(snapshot: Snapshot) -> Progress:
    here = snapshot.here if isinstance(snapshot.here, str) else None
    at = snapshot.at if isinstance(snapshot.at, str) else None
    return Progress(standings_of(snapshot.exercises), here, at)


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
        hints=before.hints if same or passes else (),
        hints_shown=before.hints_shown if passes else shown,
        hint_file=before.hint_file if seen else event.file if shown else None,
        levels=_levels(before.levels, key, shown),
        file=event.file,
        runs=before.runs + 1,
        attempts=before.attempts + (event.file is None or event.file != before.file),
        in_progress=bool(event.in_progress),
        todos=event.todos or 0,
        written=event.written or 0,
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
        return replace(standing, same_runs=0, recent=(), offering=False, pausing=False)
    at = seconds_of(event.at) or 0.0
    recent = tuple((time, edited) for time, edited in before.recent if 0 <= at - time <= BURST_SECONDS)
    recent = (*recent, (at, event.edited or 0))[-BURST:]
    edits = [edited for _, edited in recent[1:]]
    pausing = len(recent) == BURST and edits == sorted(edits, reverse=True)
    runs = before.same_runs + 1 if same else 1
    offering = runs >= OFFER_AFTER and standing.hints_shown == 1 and (event.hints or 0) > 1
    if offering:
        key = f"{event.check}:{event.finding or ''}"
        levels = _levels(standing.levels, key, 2)
        standing = replace(standing, hints_shown=2, hint_file=event.file, levels=levels)
    return replace(standing, same_runs=runs, recent=() if pausing else recent, offering=offering, pausing=pausing)


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
        hints_taken=before.hints_taken + (shown > before.hints_shown),
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
        unknown=before.unknown,
    )


def _after_next(before: Standing, _: Event) -> Standing:
    return before


_AFTER = {
    "check": _after_check,
    "hint": _after_hint,
    "next": _after_next,
    "solution": _after_solution,
    "reset": _after_reset,
}
