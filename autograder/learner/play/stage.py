"""What an activity is given: the student's modules, a screen, a checkpoint, and a way to name what is wrong."""

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
from autograder.learner.play.live import Live
from autograder.report.glyphs import glyphs_for
from autograder.report.printable import one_line


class Astray(Exception):
    """An activity cannot go on: an exercise is not right. The message says what was seen."""

    def __init__(self, exercise: str, message: str) -> None:
        super().__init__(message)
        self.exercise = exercise


class Stopped(Exception):
    """Somebody stopped the activity, and its checkpoint is kept."""


@dataclass
class Stage:
    """What one run of an activity works with.

    `steps` is None where the activity decides; `say` has what is to be answered instead of what is typed. `options`
    has its own ones by name. `wrong` has what is known to be wrong, an exercise and a sentence each: there is something
    in it only where the student said `--anyway`, or had said so when the training that is gone on with began.
    `checkpoint` is its own, `checkpoint_of` that of another activity.
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
    wrong: list[tuple[str, str]] = field(default_factory=list)

    def own(self, exercise: str) -> Any:
        """Return the student's module of an exercise: `stage.own("ex05_attention").scaled_dot_product_attention`.

        Raises `Astray` where there is none, which only happens with `--anyway`.
        """
        try:
            return importlib.import_module(exercise)
        except ModuleNotFoundError as error:
            if error.name != exercise:
                raise
            raise Astray(exercise, f"there is no {exercise}.py, and it cannot go on without it") from None

    def tell(self, text: str, style: str = "") -> None:
        """Show one line or paragraph; what a student's code made of it is safe to show."""
        self.console.print(Text(self.spell(text), style), soft_wrap=self.plain)

    def spell(self, text: str) -> str:
        """Return a text in letters that this terminal has."""
        return glyphs_for("ascii" if self.plain else self.console.encoding).spell(one_line(text))

    def astray(self, exercise: str, message: str) -> None:
        """Say that an exercise is not right: raises `Astray`, or with `--anyway` notes it and goes on."""
        if not self.anyway:
            raise Astray(exercise, message)
        self.wrong.append((exercise, message))
        self.tell(f"{self.course.exercise(exercise).number} {self.course.exercise(exercise).title}: {message}", "red")

    def live(self, steps: int) -> Live:
        """Return the display of a training of so many steps, to be used in `with`."""
        return Live(self.console, steps, plain=self.plain, spell=self.spell)

    def stopped(self) -> NoReturn:
        """End because somebody asked for it, after the checkpoint was kept."""
        raise Stopped

    def asked(self, prompt: str) -> Iterator[str]:
        """Yield what is to be answered: the texts of `--say`, or line after line that is typed, up to an empty one."""
        if self.say:
            yield from self.say
            return
        if sys.stdin is None:
            return
        if sys.stdin.isatty():
            _with_history()
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
    """Let a signal end what waits for a line, which has no step after which it could stop."""
    before = {each: signal.signal(each, signal.default_int_handler) for each in SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _with_history() -> None:
    """Make input() a line that can be edited, where the system knows how."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return
