"""`course`, `course list` and `course status`: where you are, and the one next command."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.cli.hint import failure_texts
from autograder.cli.screen import Command, Screen
from autograder.cli.written import write_json
from autograder.course import Course, Exercise, find_course, read_course
from autograder.exits import PASS
from autograder.learner.progress import Progress, Standing, read_progress
from autograder.learner.progress.digests import exercise_version
from autograder.learner.progress.standing import UNTRIED
from autograder.report.words import STATES, plural, points

BROKEN, RECHECK = "BROKEN AGAIN", "RE-CHECK"


@dataclass(frozen=True)
class Row:
    """One exercise in the list, and the word, mark and colour for where it stands."""

    exercise: Exercise
    standing: Standing
    recheck: bool

    @property
    def word(self) -> str:
        if self.recheck:
            return RECHECK
        return BROKEN if self.standing.broken else self._state.word

    @property
    def mark(self) -> str:
        if self.recheck:
            return "waiting"
        return "problem" if self.standing.broken else self._state.mark

    @property
    def style(self) -> str:
        return "yellow" if self.recheck or self.standing.broken else self._state.style

    @property
    def _state(self) -> Any:
        return STATES.get(self.standing.status, STATES["not_started"])  # type: ignore[call-overload]

    @property
    def checks(self) -> str:
        standing = self.standing
        return f"{standing.passing} of {plural(standing.checks, 'check')}" if standing.checks else ""

    @property
    def points(self) -> str:
        return f"{points(self.standing.score)} of {points(self.exercise.points)} points"

    def to_json(self) -> dict[str, Any]:
        standing = self.standing
        return {
            "id": self.exercise.id,
            "title": self.exercise.title,
            "status": standing.status,
            "first_passed": standing.first_passed,
            "passes_now": standing.passes_now,
            "recheck": self.recheck,
            "passing": standing.passing,
            "checks": standing.checks,
            "score": standing.score,
            "max_score": self.exercise.points,
            "runs": standing.runs,
            "hints_taken": standing.hints_taken,
        }


def rows_of(course: Course, progress: Progress) -> list[Row]:
    """Return a row for each exercise of the course."""
    return [_row(course, each, progress.of(each)) for each in course.exercises]


def _row(course: Course, exercise: Exercise, standing: Standing) -> Row:
    recheck = bool(standing.runs) and standing.stale(exercise_version(course, exercise))
    return Row(exercise, standing, recheck)


def show_overview(options: argparse.Namespace) -> int:
    """Say where you are, what came of the last check, and what to do next."""
    course, progress, rows = _read()
    if write_json(options, _data(course, progress, rows)):
        return PASS
    screen = Screen.of(options)
    _top(screen, course, progress, rows)
    current = progress.current(course)
    _table(screen, [each for each in rows if each.exercise is current], current)
    _end(screen, course, progress, rows)
    return PASS


def show_list(options: argparse.Namespace) -> int:
    """List every exercise with its last verdict, or those that were asked for."""
    course, progress, rows = _read()
    rows = [each for each in rows if _wanted(each, options)]
    if write_json(options, _data(course, progress, rows)):
        return PASS
    screen = Screen.of(options)
    _top(screen, course, progress, rows_of(course, progress))
    if not rows:
        screen.line("  There is no such exercise.")
    _table(screen, rows, progress.current(course))
    screen.gap()
    screen.next([_next_command(course, progress, rows)])
    return PASS


def show_status(options: argparse.Namespace) -> int:
    """Say how much is done, in numbers."""
    course, progress, rows = _read()
    if write_json(options, _data(course, progress, rows)):
        return PASS
    screen = Screen.of(options)
    _top(screen, course, progress, rows)
    score = sum(each.standing.score for each in rows)
    screen.text(f"{points(score)} of {points(sum(each.points for each in course.exercises))} points")
    words = [each.word for each in rows]
    for word in dict.fromkeys(words):
        screen.text(f"{word}: {', '.join(each.exercise.number for each in rows if each.word == word)}")
    screen.text(effort(rows))
    current = progress.current(course)
    _table(screen, [each for each in rows if each.exercise is current], current)
    _end(screen, course, progress, rows)
    return PASS


def effort(rows: Sequence[Row]) -> str:
    """Say how many runs and hints it took so far, and between which days."""
    runs = sum(each.standing.runs for each in rows)
    hints = sum(each.standing.hints_taken for each in rows)
    days = sorted(at[:10] for row in rows for at in (row.standing.first_at, row.standing.last_at) if at)
    span = "" if not days else f", {days[0]}" if days[0] == days[-1] else f", {days[0]} to {days[-1]}"
    return f"{plural(runs, 'run')}, {plural(hints, 'hint')} asked for{span}"


def _read() -> tuple[Course, Progress, list[Row]]:
    course = read_course(find_course())
    progress = read_progress(course)
    return course, progress, rows_of(course, progress)


def _wanted(row: Row, options: argparse.Namespace) -> bool:
    passes = row.standing.passes_now and not row.recheck
    if options.only == "failing":
        return bool(row.standing.runs) and not passes and row.standing.status != "not_started"
    if options.only == "done":
        return passes
    return options.only != "open" or not passes


def _data(course: Course, progress: Progress, rows: Sequence[Row]) -> dict[str, Any]:
    current = progress.current(course)
    return {
        "course": course.title,
        "passed": progress.passed(course),
        "current": current.id if current else None,
        "next": _next_command(course, progress, rows_of(course, progress))[0],
        "exercises": [each.to_json() for each in rows],
    }


def _top(screen: Screen, course: Course, progress: Progress, rows: Sequence[Row]) -> None:
    everything = plural(len(course.exercises), "exercise")
    screen.text(f"{course.title}: {progress.passed(course)} of {everything} passed", indent=0, style="bold")
    broken = [each.exercise.number for each in rows if each.standing.broken and not each.recheck]
    if broken:
        screen.text(f"Broken since: {', '.join(broken)}. What once passed still counts, and is to pass in the end.")
    recheck = [each.exercise.number for each in rows if each.recheck]
    if recheck:
        screen.text(f"The checks of {', '.join(recheck)} have changed since your last run: check them again.")


def _table(screen: Screen, rows: Sequence[Row], current: Exercise | None) -> None:
    if screen.plain:
        for row in rows:
            facts = "".join(f" {each}." for each in (row.checks, row.points) if each)
            here = "You are here: " if row.exercise is current else ""
            screen.line(f"{here}Exercise {row.exercise.number}, {row.exercise.title}: {row.word}.{facts}")
        return
    titles = max((len(each.exercise.title) for each in rows), default=0)
    words = max((len(each.word) for each in rows), default=0)
    checks = max((len(each.checks) for each in rows), default=0)
    room = screen.width - 9 - words
    shown = [width for width in (checks, 18) if width]
    while shown and room < titles + sum(shown) + 2 * len(shown):
        shown.pop()
    for row in rows:
        beside = [row.checks.ljust(checks), row.points][-2 if checks else -1 :][: len(shown)]
        title = row.exercise.title
        width = min(titles, room)
        if len(title) > width:
            ellipsis = screen.glyphs.ellipsis
            title = title[: max(width - len(ellipsis), 1)] + ellipsis
        screen.line(
            f"{screen.glyphs.marker if row.exercise is current else ' '} ",
            (getattr(screen.glyphs, row.mark), row.style),
            f" {row.exercise.number} {title.ljust(width)}  ",
            (row.word.ljust(words), row.style),
            "".join(f"  {each}" for each in beside),
        )


def _end(screen: Screen, course: Course, progress: Progress, rows: Sequence[Row]) -> None:
    current = progress.current(course)
    if current is not None and progress.of(current).check and progress.of(current).status not in UNTRIED:
        title, _ = failure_texts(course, current, progress.of(current))
        screen.text(title, label="First failure")
    screen.gap()
    screen.next([_next_command(course, progress, rows)])


def _next_command(course: Course, progress: Progress, rows: Sequence[Row]) -> Command:
    current = progress.current(course)
    if current is None:
        stale = any(each.recheck for each in rows)
        return "course check --all", "the checks have changed" if stale else "see it all pass once more"
    check = f"course check {current.number}"
    if progress.of(current).status == "not_started":
        return f"edit {course.exercises_dir.name}/{current.file}, then: {check}", ""
    return check, ""
