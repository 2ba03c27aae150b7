"""What an activity gets: the student's modules, the screen, a checkpoint, and a way to report a faulty exercise."""

import importlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any, NoReturn, TextIO

from rich.console import Console
from rich.text import Text

from autograder.course import Course
from autograder.course.model import Activity, Value
from autograder.ending import SIGNALS
from autograder.learner.play.checkpoint import Checkpoint
from autograder.learner.play.live import LiveDisplay
from autograder.report.glyphs import glyphs_for
from autograder.report.layout import show_sentence
from autograder.report.printable import one_line


class FaultyExercise(Exception):
    """An activity cannot go on, because an exercise is faulty. The message says what was observed."""

    def __init__(self, exercise: str, message: str) -> None:
        super().__init__(message)
        self.exercise = exercise


class Stopped(Exception):
    """Somebody stopped the activity. Its checkpoint is saved."""


@dataclass
class Stage:
    """The surroundings of one run of an activity.

    `steps` is None if the activity decides. `say` has texts to answer instead of typed lines. `options` are the
    activity's own. `faults` has the exercises known to be faulty, each with a sentence; it is empty unless the student
    said `--anyway`, now or when the training started. `checkpoint_of` returns the checkpoint of another activity.
    """

    course: Course
    activity: Activity
    console: Console
    stdout: TextIO
    checkpoint: Checkpoint
    checkpoint_of: Callable[[str], Checkpoint]
    device: str
    seed: int
    steps: int | None
    say: Sequence[str]
    options: Mapping[str, Value]
    plain: bool
    anyway: bool
    stop: threading.Event
    faults: list[tuple[str, str]] = field(default_factory=list)

    def own(self, exercise: str) -> Any:
        """Return the student's module of an exercise: `stage.own("ex05_attention").scaled_dot_product_attention`.

        Raises `FaultyExercise` if it does not exist, which only happens with `--anyway`.
        """
        try:
            return importlib.import_module(exercise)
        except ModuleNotFoundError as error:
            if error.name != exercise:
                raise
            raise FaultyExercise(exercise, f"{exercise}.py does not exist, and this activity needs it") from None

    def print(self, text: str, style: str = "") -> None:
        """Print one line or paragraph. It is safe for texts that a student's code made."""
        line = Text(self.spell(text), style)
        if self.plain:
            show_sentence(self.console, line)
        else:
            self.console.print(line)

    def spell(self, text: str) -> str:
        """Replace the characters that this terminal cannot show."""
        return glyphs_for("ascii" if self.plain else self.console.encoding).spell(one_line(text))

    def report_fault(self, exercise: str, message: str) -> None:
        """Report that an exercise is faulty: raises `FaultyExercise`; with `--anyway` prints it and goes on."""
        if not self.anyway:
            raise FaultyExercise(exercise, message)
        self.faults.append((exercise, message))
        self.print(f"{self.course.exercise(exercise).number} {self.course.exercise(exercise).title}: {message}", "red")

    def live(self, steps: int, *, stoppable: bool = False) -> LiveDisplay:
        """Return the display of a training of so many steps, for `with`.

        If `stoppable`, the activity must end the training as soon as `enough` of the display is set.
        """
        return LiveDisplay(self.console, steps, plain=self.plain, spell=self.spell, stoppable=stoppable)

    def stopped(self) -> NoReturn:
        """End the activity at a signal, after the checkpoint was saved."""
        raise Stopped

    def inputs(self, prompt: str) -> Iterator[str]:
        """Yield the texts to answer: those of `--say`, or typed lines up to an empty one."""
        if self.say:
            yield from self.say
            return
        if sys.stdin is None:
            return
        if sys.stdin.isatty():
            _enable_line_editing()
        while not self.stop.is_set():
            try:
                with redirect_stdout(self.stdout), _interruptible():
                    line = input(prompt if sys.stdin.isatty() else "").strip()
            except (EOFError, KeyboardInterrupt):
                return
            if not line:
                return
            yield line


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a signal interrupt `input`: there is no step after which it could stop."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _enable_line_editing() -> None:
    """Make `input` a line that can be edited, if the system can."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
