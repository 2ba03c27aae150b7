"""What `course watch` prints: which file changed, what runs, the result, and the keys."""

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autograder.course import Course, Exercise
from autograder.learner.overview import state_of_standing
from autograder.learner.progress import Progress, Standing
from autograder.learner.start import edit_place
from autograder.report.glyphs import glyphs_for
from autograder.report.layout import SECONDARY, Page, apart, packed
from autograder.report.plain import show
from autograder.report.printable import one_line
from autograder.report.terminal import Command, render_exercise
from autograder.report.todo_view import todo_view
from autograder.report.words import seconds
from autograder.results import ExerciseResult

FOOTER_LINES = 3
KEYS = {"h": "hint", "w": "why", "d": "diff", "l": "list", "n": "next", "r": "run", "q": "quit"}


class Screen:
    """The console, written to line by line. `keys` says whether somebody can press keys."""

    def __init__(self, console: Console, course: Course, *, plain: bool, keys: bool) -> None:
        self.console = console
        self.course = course
        self.plain = plain
        self.keys = keys
        self.glyphs = glyphs_for(console.encoding)

    def say(self, sentence: str, style: str = "") -> None:
        """Print one line."""
        if self.plain:
            show(self.console, [sentence])
            return
        page = Page.on(self.console, self.glyphs)
        page.show(page.wrap(page.text(one_line(sentence), style), 0))

    def opening(self, file: str, needed: Sequence[str], standing: Standing) -> None:
        """Print which files are watched, and the last result."""
        folder = os.path.relpath(self.course.exercises_dir)
        uses = f", and what it uses: {', '.join(needed)}" if needed else ""
        self.say(f"Watching {Path(folder, file)}{uses}")
        if standing.checks:
            state = state_of_standing(standing)
            count = f"{standing.passing} of {standing.checks} checks pass"
            first = f"; first failure: {standing.title}" if standing.title and standing.status != "pass" else ""
            self.say(f"Last time: {state.word}, {count}{first}")
        self.say("Checking it now. Then each save checks it again.")

    def saved(self, files: Sequence[str], *, again: bool) -> None:
        """Print at once that a file was saved."""
        what = files[0] if len(files) == 1 else f"{len(files)} files"
        does = "starting over" if again else "checking"
        self.say(f"{_clock()} {what} changed, {does}...", SECONDARY)

    def restarted(self) -> None:
        """Print at once that the key for a run was pressed."""
        self.say(f"{_clock()} checking...", SECONDARY)

    def running(self, activity: str, elapsed: float) -> None:
        """Print what takes so long."""
        self.say(f"{activity}, {elapsed:.0f} s so far", SECONDARY)

    def waiting(self, file: str, problem: str) -> None:
        """Print why there is nothing to check."""
        self.say(f"{_clock()} {file} {problem}; waiting until it can be read")

    def result(self, result: ExerciseResult, file: str, progress: Progress, took: float, log: str) -> None:
        """Print the result of a check of a file or notebook, and below it the keys."""
        self._make_room()
        self.console.height = max(_terminal_rows() - FOOTER_LINES, 1)
        render_exercise(
            self.console,
            result,
            file_path=self.course.exercises_dir / f"{result.id}.py",
            next_commands=self._next(result, file, progress),
            glyphs=self.glyphs,
            plain=self.plain,
            log=log,
        )
        self._footer(result, progress, took)

    def _make_room(self) -> None:
        """Begin at the top of the screen. Earlier lines stay above it, to scroll back to."""
        console = self.console
        if self.plain or not console.is_interactive or console.legacy_windows:
            return
        console.file.write("\n" * _terminal_rows() + "\x1b[H")

    def _next(self, result: ExerciseResult, file: str, progress: Progress) -> list[Command]:
        exercise = self.course.exercise(result.id)
        shown = Path(os.path.relpath(self.course.exercises_dir), file)
        if result.status == "pass":
            following = progress.current(self.course)
            if following is None:
                return [("course check --all", "see them all pass once more")]
            command = "n" if self.keys else f"course watch {following.number}"
            return [(command, f"goes on with {following.number} {following.title}")]
        if result.in_progress or result.status == "not_started":
            return self._to_write(exercise, result, shown)
        return [*_edit(result, shown), *self._help(exercise, result, progress.of(exercise))]

    def _to_write(self, exercise: Exercise, result: ExerciseResult, shown: Path) -> list[Command]:
        view = todo_view(result)
        if view is None:
            return [(f"edit {shown}", "each TODO says what to write; a save checks it")]
        hint = "h" if self.keys else f"course hint {exercise.number}"
        edit = f"edit {edit_place(self.course, view.next)}"
        return [(edit, "a save checks it"), (hint, f"how to begin {view.next.name}")]

    def _help(self, exercise: Exercise, result: ExerciseResult, standing: Standing) -> list[Command]:
        finding = result.first_failure.finding if result.first_failure else None
        commands = []
        if standing.hints_shown < len(standing.hints):
            command = "h" if self.keys else f"course hint {exercise.number}"
            commands.append((command, f"hint {standing.hints_shown + 1} of {len(standing.hints)}"))
        if finding is not None and finding.kind == "misconception":
            commands.append(("w" if self.keys else f"course why {finding.id}", f"why: {finding.name or finding.id}"))
        return commands

    def _footer(self, result: ExerciseResult, progress: Progress, took: float) -> None:
        done = sum(progress.of(exercise).status == "pass" for exercise in self.course.exercises)
        facts = f"checked in {seconds(took)}   {done} of {len(self.course.exercises)} done"
        shown = {key: word for key, word in KEYS.items() if key != "n" or result.status == "pass"}
        if self.plain:
            names = ", ".join(f"{key} {word}" for key, word in shown.items())
            keys = [f"Keys, each with Enter: {names}."] if self.keys else []
            show(self.console, [f"Checked in {seconds(took)}. {done} of {len(self.course.exercises)} done.", *keys])
            return
        page = Page.on(self.console, self.glyphs)
        items = [Text.assemble((key, "bold cyan"), f" {word}") for key, word in shown.items()] if self.keys else []
        right = page.text(facts, SECONDARY)
        lines = packed(items, page.width)
        together = apart(lines[0] if lines else Text(), right, page.width) if len(lines) < 2 else None
        page.show([Text(), *([together] if together else [*lines, right])])


def _edit(result: ExerciseResult, file: Path) -> list[Command]:
    first = result.first_failure
    place = first.finding.place if first and first.finding else None
    line = f":{place.line}" if place and place.cell is None and place.file == file.name else ""
    return [(f"edit {file}{line}", "a save checks it again")]


def _clock() -> str:
    return time.strftime("%H:%M:%S")


def _terminal_rows() -> int:
    return shutil.get_terminal_size().lines
