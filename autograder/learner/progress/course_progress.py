"""The progress of a learner in a course: the standings in its exercises, the sum of all events so far."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autograder.course import Course, Exercise
from autograder.learner.progress.changes import changed
from autograder.learner.progress.events import Event, Snapshot, seconds_of
from autograder.learner.progress.standing import Standing, standings_of

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
            return _from_snapshot(event)
        before = self.standings.get(event.exercise, Standing())
        standing = changed(before, event)
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


def _from_snapshot(snapshot: Snapshot) -> Progress:
    here = snapshot.here if isinstance(snapshot.here, str) else None
    at = snapshot.at if isinstance(snapshot.at, str) else None
    return Progress(standings_of(snapshot.exercises), here, at)
