"""The screen of a session in an editor: it keeps the last result of each exercise, and announces what changed."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from rich.console import Console

from autograder.course import Course, Exercise
from autograder.judge.shapes import Shapes
from autograder.learner.checking import encouragement
from autograder.learner.progress import Progress
from autograder.learner.watch.screen import BEFORE_EDIT, Screen
from autograder.report.quantities import duration
from autograder.results import ExerciseResult


@dataclass(frozen=True)
class ExerciseState:
    """The last result of an exercise, the text that was checked, and the shapes that its lines made.

    `problem` says why the work cannot be read; then there is no result. `name` is the file or notebook that counts.
    """

    name: str
    text: str
    result: ExerciseResult | None = None
    shapes: Shapes = field(default_factory=dict)
    problem: str = ""


class Listener(Protocol):
    """Takes the news of a session. All methods are called in the thread of the session."""

    def log(self, sentence: str) -> None:
        """Add a line to the editor's log."""

    def busy(self, activity: str) -> None:
        """Show what a check does; "" if none runs."""

    def failed(self, problem: str) -> None:
        """Show why no exercise can be checked any more."""

    def changed(self, exercise: Exercise, news: str) -> None:
        """Show what is now known of an exercise; `news` has what became right."""


class EditorScreen(Screen):
    """Passes the news of a session to an editor. `known` has what is known of each exercise, by its id."""

    shows_shapes = True

    def __init__(self, course: Course, listener: Listener, read: Callable[[Exercise], str]) -> None:
        super().__init__(Console(file=io.StringIO()), course, plain=True, keys=False)
        self.listener = listener
        self.read = read
        self.known: dict[str, ExerciseState] = {}

    def say(self, sentence: str, style: str = "") -> None:  # noqa: ARG002 - a log has no colours
        """Add a line to the editor's log."""
        self.listener.log(sentence)

    def saved(self, files: object, does: str) -> None:  # noqa: ARG002 - the editor knows what it saved
        """Show that a check begins."""
        self.listener.busy("checking")

    def begun(self, activity: str) -> None:
        """Show that a check begins."""
        self.listener.busy(activity)

    def running(self, activity: str, elapsed: float) -> None:
        """Show what takes so long."""
        self.listener.busy(f"{activity}, {duration(elapsed)} so far")

    def waiting(self, file: str, problem: str) -> None:
        """Show why there is nothing to check."""
        super().waiting(file, problem)
        exercise = next(one for one in self.course.exercises if one.file.removesuffix(".py") in file)
        self.known[exercise.id] = ExerciseState(file, "", problem=f"{file} {problem}.")
        self.listener.busy("")
        self.listener.changed(exercise, "")

    def result(
        self,
        result: ExerciseResult,
        file: str,
        progress: Progress,
        took: float,  # noqa: ARG002 - an editor needs no count of seconds
        *,
        earlier: str | None = None,
    ) -> None:
        """Show a result, at the lines of the text that it is about."""
        exercise = self.course.exercise(result.id)
        self.known[result.id] = ExerciseState(file, self.read(exercise) if earlier is None else earlier, result)
        self.listener.busy("")
        self.listener.changed(exercise, encouragement(progress.of(exercise)))
        if earlier is not None:
            self.listener.log(f"{exercise.id}: this verdict is {BEFORE_EDIT}")

    def proved(self, result: ExerciseResult, file: str, progress: Progress) -> None:  # noqa: ARG002
        """Show where the mistake is, once that is proved."""
        self.known[result.id] = replace(self.known[result.id], result=result)
        self.listener.changed(self.course.exercise(result.id), "")

    def shapes(self, exercise: Exercise, shapes: Shapes) -> None:
        """Show the shapes that a check found."""
        before = self.known.get(exercise.id)
        if before is not None and before.result is not None:
            self.known[exercise.id] = replace(before, shapes=shapes)
            self.listener.changed(exercise, "")
