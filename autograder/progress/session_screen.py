"""The terminal of `course watch`: the keys it reads, and what it prints: which file changed, and the result."""

import contextlib
import io
import os
import select
import shutil
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Self

from rich.console import Console
from rich.text import Text

from autograder import ending
from autograder.course import Course, Exercise
from autograder.diagnosis import decides
from autograder.judge import Shapes
from autograder.report import (
    NARROWEST,
    SECONDARY,
    UNICODE,
    Command,
    Page,
    apart,
    duration,
    failure_view,
    glyphs_for,
    one_line,
    packed,
    render_exercise,
    seconds,
    show,
    todo_view,
)
from autograder.results import ExerciseResult, Finding, Place

from .checking import encouragement
from .events import Progress, Standing
from .next_steps import edit_place, way_on
from .overview import state_of_standing

QUIT = "q"
REDRAW = "\x0c"
BACK = "\x1b"
UP, DOWN, PAGE_UP, PAGE_DOWN = "↑", "↓", "⇞", "⇟"
_SEQUENCES = {
    b"\x1b": BACK,
    b"\x1b[A": UP,
    b"\x1bOA": UP,
    b"\x1b[B": DOWN,
    b"\x1bOB": DOWN,
    b"\x1b[5~": PAGE_UP,
    b"\x1b[6~": PAGE_DOWN,
}
"""What terminals send for keys without a letter; every other sequence is ignored."""


class Keyboard:
    """A keyboard without keys, for a standard input that is no terminal: it only waits."""

    def __init__(self) -> None:
        self._woken = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __bool__(self) -> bool:
        return False

    def wait(self, seconds: float) -> str:
        """Return the keys pressed as soon as there are some; "" after that time, or after `wake`."""
        self._woken.wait(seconds)
        self._woken.clear()
        return ""

    def wake(self) -> None:
        """End the wait of another thread."""
        self._woken.set()


class Lines(Keyboard):
    """Reads the first letter of each line: with `--plain`, a key is a letter and Enter."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._letters: deque[str] = deque()
        threading.Thread(target=self._read, daemon=True).start()

    def __bool__(self) -> bool:
        return True

    def wait(self, seconds: float) -> str:
        super().wait(0 if self._letters else seconds)
        return self._letters.popleft() if self._letters else ""

    def _read(self) -> None:
        """Read the descriptor: a thread in `sys.stdin` would hold its lock when the program ends."""
        rest = b""
        with contextlib.suppress(OSError):
            while part := os.read(self._descriptor, 1024):
                *lines, rest = (rest + part).split(b"\n")
                self._letters.extend(line.strip().decode("utf-8", "replace")[:1] or "?" for line in lines)
                self.wake()
        self._letters.append(QUIT)
        self.wake()


if sys.platform == "win32":
    import msvcrt

    class Terminal(Keyboard):
        """Reads the keys of a Windows console as they are pressed."""

        def __init__(self, _descriptor: int) -> None:
            super().__init__()

        def __bool__(self) -> bool:
            return True

        def wait(self, seconds: float) -> str:
            until = time.monotonic() + seconds
            while True:
                if msvcrt.kbhit():
                    key = msvcrt.getwch()
                    if key in "\0\xe0":  # an arrow or a function key, in two parts
                        return {"H": UP, "P": DOWN, "I": PAGE_UP, "Q": PAGE_DOWN}.get(msvcrt.getwch(), "")
                    if key == "\x03":
                        raise KeyboardInterrupt
                    return key
                # Short enough that a key seems to act at once, long enough to use no processor time.
                if self._woken.wait(0.01) or time.monotonic() >= until:
                    self._woken.clear()
                    return ""

else:
    import termios
    import tty

    class Terminal(Keyboard):
        """Reads the keys of a terminal as they are pressed, without echo, and restores its settings at the end.

        It also restores them while the program is stopped (Ctrl-Z) or in the background: the terminal is the shell's.
        """

        def __init__(self, descriptor: int) -> None:
            self._descriptor = descriptor
            self._before = termios.tcgetattr(descriptor)
            self._awake, self._waker = os.pipe()
            os.set_blocking(self._waker, False)
            self._handlers: dict[int, Any] = {}
            self._continued = False

        def __bool__(self) -> bool:
            return True

        def __enter__(self) -> Self:
            self._handlers = {
                signal.SIGTSTP: signal.signal(signal.SIGTSTP, self._stop),
                signal.SIGCONT: signal.signal(signal.SIGCONT, self._continue),
            }
            self._ending = ending.leaving(self._release)
            self._ending.__enter__()
            self._acquire()
            return self

        def __exit__(self, *_: object) -> None:
            self._ending.__exit__(None, None, None)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            self._release()
            for descriptor in (self._awake, self._waker):
                os.close(descriptor)

        def wait(self, seconds: float) -> str:
            typed_in = [self._descriptor] if self._in_foreground() else []
            ready, _, _ = select.select([self._awake, *typed_in], [], [], seconds)
            if self._awake in ready:
                os.read(self._awake, 1024)
            if self._continued:
                self._continued = False
                return REDRAW
            if self._descriptor not in ready:
                return ""
            try:
                typed = os.read(self._descriptor, 1024)
            except OSError:
                return QUIT
            if not typed:
                return QUIT
            return _SEQUENCES.get(typed, "") if typed.startswith(b"\x1b") else typed.decode("utf-8", "ignore")

        def wake(self) -> None:
            with contextlib.suppress(OSError):
                os.write(self._waker, b".")

        def _stop(self, _signal: int, _frame: FrameType | None) -> None:
            self._release()
            os.kill(os.getpid(), signal.SIGSTOP)

        def _continue(self, _signal: int, _frame: FrameType | None) -> None:
            self._acquire()
            self._continued = True
            self.wake()

        def _acquire(self) -> None:
            if self._in_foreground():
                with contextlib.suppress(termios.error):
                    tty.setcbreak(self._descriptor, termios.TCSANOW)

        def _release(self) -> None:
            if self._in_foreground():
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)

        def _in_foreground(self) -> bool:
            """Return whether the terminal is ours: the system stops a background program that reads or changes it."""
            try:
                return os.tcgetpgrp(self._descriptor) == os.getpgrp()
            except OSError:
                return True


def keyboard(*, plain: bool) -> Keyboard:
    """Return the keyboard of this program's standard input."""
    try:
        descriptor = sys.stdin.fileno()
        if not os.isatty(descriptor):
            return Keyboard()
        return Lines(descriptor) if plain else Terminal(descriptor)
    except (AttributeError, OSError, ValueError):
        return Keyboard()


KEYS = {
    "h": ("hint", "show the next hint"),
    "w": ("why", "explain the mistake"),
    "d": ("diff", "show every measurement, and all that your code printed"),
    "m": ("more", "show all of a brief verdict, or three lines of a whole one"),
    "t": ("try", "run the lesson's example on your code"),
    "l": ("list", "list the exercises"),
    "n": ("next", "go on to the next exercise, after a pass"),
    "r": ("run", "run the checks again"),
    "q": ("quit", "leave"),
}
"""What each key does, in a word and in a sentence."""


CHECKING, STARTING_OVER, AFTERWARDS = "checking", "starting over", "checking it after this run"
"""What a save begins."""

BEFORE_EDIT = "of the code before your edit"
"""Marks a verdict that is not about the newest code."""


class Screen:
    """The console, written to line by line. `keys` says whether somebody can press keys."""

    shows_shapes = False
    brief = False
    """Whether a failure is its sentence, its line and the next step alone."""

    def __init__(self, console: Console, course: Course, *, plain: bool, keys: bool) -> None:
        self.console = console
        self.course = course
        self.plain = plain
        self.keys = keys
        self.glyphs = glyphs_for(console.encoding)
        self.shown: ExerciseResult | None = None

    def say(self, sentence: str, style: str = "") -> None:
        """Print one line."""
        if self.plain:
            show(self.console, [sentence])
            return
        page = Page.on(self.console, self.glyphs)
        page.show(page.wrap(page.text(one_line(sentence), style), 0))

    def opening(self, file: str, needed: Sequence[str], standing: Standing) -> None:
        """Print which files are watched, and the last result."""
        for sentence in opening_sentences(self.course, file, needed, standing):
            self.say(sentence)

    def saved(self, files: Sequence[str], does: str) -> None:
        """Print at once that a file was saved."""
        what = files[0] if len(files) == 1 else f"{len(files)} files"
        self.say(f"{_clock()} {what} changed, {does}...", SECONDARY)

    def begun(self, activity: str) -> None:
        """Print at once what a key has started."""
        self.say(f"{_clock()} {activity}...", SECONDARY)

    def running(self, activity: str, elapsed: float) -> None:
        """Print what takes so long."""
        self.say(f"{activity}, {duration(elapsed)} so far", SECONDARY)

    def waiting(self, file: str, problem: str) -> None:
        """Print why there is nothing to check."""
        self.say(f"{_clock()} {file} {problem}; waiting until it can be read")

    def result(
        self, result: ExerciseResult, file: str, progress: Progress, took: float, *, earlier: str | None = None
    ) -> None:
        """Print the result of a check of a file or notebook, and below it the keys.

        `earlier` is the text that was checked, if the file has another one now.
        """
        self.shown = result
        if earlier is not None:
            self.say(f"This verdict is {BEFORE_EDIT}.")
        self.render(result, file, progress)
        done = f"{count_done(self.course, progress, self.course.exercise(result.id))} done"
        if self.plain:
            show(self.console, self._problem(result), are_whole=True)
            show(self.console, [f"Checked in {seconds(took)}. {done}."])
        else:
            self.say(f"checked in {seconds(took)}   {done}", SECONDARY)
        if self.keys:
            self.show_keys()

    def proved(self, result: ExerciseResult, file: str, progress: Progress) -> None:  # noqa: ARG002 - a drawn one needs it
        """Print where the mistake is, once that is proved."""
        self.shown = result
        place = result.first_failure.finding.place if result.first_failure and result.first_failure.finding else None
        if place is not None:
            self.say(decides(place))

    def shapes(self, exercise: Exercise, shapes: Shapes) -> None:
        """Show the shapes that a check found, if this screen `shows_shapes`."""

    def render(self, result: ExerciseResult, file: str, progress: Progress) -> None:
        """Print the result as `course check` does."""
        standing = progress.of(self.course.exercise(result.id))
        self._encourage(encouragement(standing))
        render_exercise(
            self.console,
            result,
            file_path=self.course.exercises_dir / f"{result.id}.py",
            next_commands=self._next(result, file, progress),
            glyphs=self.glyphs,
            plain=self.plain,
            hints_shown=max(standing.hints_shown, 1),
            attempt=standing.attempts,
            unused_hints=standing.hints[standing.hints_shown :],
            brief=self.brief,
        )

    def switch_length(self, file: str, progress: Progress) -> None:
        """Show the rest of a brief verdict, or hide it."""
        self.brief = not self.brief
        if self.shown is not None:
            self.render(self.shown, file, progress)

    def _encourage(self, news: str) -> None:
        """Print what became right since the check before."""
        if news and self.plain:
            show(self.console, [f"{news}."])
        elif news:
            page = Page.on(self.console, self.glyphs)
            page.show(page.wrap(Text.assemble(page.text(self.glyphs.passed, "green"), " ", page.text(news)), 0))

    def hint(self, sentence: str, progress: Progress) -> None:  # noqa: ARG002 - a screen that draws again needs it
        """Print the next hint."""
        self.say(sentence)

    def run(self, command: Callable[[], None], activity: str = "") -> None:
        """Run a command that prints; one that takes long is announced by its activity."""
        if activity:
            self.begun(activity)
        command()

    def show_keys(self) -> None:
        """Print which key does what."""
        names = ", ".join(f"{key} {self._word(key)}" for key in self.useful_keys())
        self.say(f"Keys, each with Enter: {names}.")

    def _word(self, key: str) -> str:
        return "less" if key == "m" and not self.brief else KEYS[key][0]

    def useful_keys(self) -> list[str]:
        """Return the keys that do something now."""
        result = self.shown
        failure = result.first_failure if result is not None else None
        finding = failure.finding if failure is not None else None
        is_useful = {
            "h": failure is not None,
            "m": failure is not None,
            "w": finding is not None and finding.known_as is not None,
            "d": (finding is not None and finding.evidence is not None) or bool(result and result.prints),
            "n": result is not None and result.status == "pass",
        }
        return [key for key in KEYS if is_useful.get(key, True)]

    def press(self, key: str) -> bool:  # noqa: ARG002 - a screen that scrolls needs it
        """Return whether the key belongs to the screen, and obey it."""
        return False

    def refresh(self) -> None:
        """Adapt to the size of the window."""

    def close(self) -> None:
        """Leave the screen to the shell."""

    def _problem(self, result: ExerciseResult) -> list[str]:
        """Return the first failure as compilers print theirs, for editors that read the output; none without a line."""
        failure, todos = result.first_failure, todo_view(result)
        if failure is None:
            return []
        place, kind = failure.finding.place if failure.finding else None, "error"
        if place is None and todos is not None and failure.status == "not_started":
            place, kind = todos.next.place, "info"
        if place is None or place.cell is not None:
            return []
        file = os.path.relpath(self.course.exercises_dir / place.file)
        column = _first_column(place, failure.finding)
        return [f"{file}:{place.line}:{column + 1}: {kind}: {failure_view(failure, todos=todos).message}"]

    def _next(self, result: ExerciseResult, file: str, progress: Progress) -> list[Command]:
        exercise = self.course.exercise(result.id)
        shown = Path(os.path.relpath(self.course.exercises_dir), file)
        if result.status == "pass":
            following = progress.following(self.course, exercise)
            if following is None:
                return [("course check --all", "see them all pass once more")]
            command = "n" if self.keys else f"course watch {following.number}"
            return [(command, f"goes {way_on(self.course, progress, exercise, following)}")]
        if result.in_progress or result.status == "not_started":
            return self._to_write(exercise, result, shown)
        help_ = [] if self.keys else self._help(exercise, result, progress.of(exercise))
        return [*_edit(result, shown), *help_]

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
            commands.append((f"course hint {exercise.number}", "the next hint"))
        if finding is not None and finding.known_as is not None:
            commands.append((f"course why {finding.id}", f"why: {finding.name or finding.id}"))
        return commands


def _first_column(place: Place, finding: Finding | None) -> int:
    """Return where the marked part of a line begins; without one, where its code begins."""
    if place.column is not None:
        return place.column
    text = dict(finding.source).get(place.line, "") if finding is not None else ""
    return len(text) - len(text.lstrip())


def _edit(result: ExerciseResult, file: Path) -> list[Command]:
    first = result.first_failure
    place = first.finding.place if first and first.finding else None
    line = f":{place.line}" if place and place.cell is None and place.file == file.name else ""
    return [(f"edit {file}{line}", "a save checks it again")]


def unexplained(result: ExerciseResult | None) -> str:
    """Return why there is no mistake to explain."""
    if result is None:
        return "There is no result yet, so there is no mistake to explain"
    if result.status == "pass":
        return "Every check passes: there is no mistake to explain"
    if result.in_progress or result.status == "not_started":
        return "Nothing fails yet: a part is not written. Press h to see how to begin it"
    return "w explains a known mistake; this failure is none of them. Press h for what to look at"


def opening_sentences(course: Course, file: str, needed: Sequence[str], standing: Standing) -> list[str]:
    """Return which files are watched, and the last result."""
    folder = os.path.relpath(course.exercises_dir)
    uses = f", and what it uses: {', '.join(needed)}" if needed else ""
    sentences = [f"Watching {Path(folder, file)}{uses}"]
    if standing.checks:
        state = state_of_standing(standing)
        count = f"{standing.passing} of {standing.checks} checks pass"
        first = f"; first failure: {standing.title}" if standing.title and standing.status != "pass" else ""
        sentences.append(f"Last time: {state.word}, {count}{first}")
    return [*sentences, "Checking it now. Then each save checks it again."]


def count_done(course: Course, progress: Progress, exercise: Exercise) -> str:
    """Return how many exercises pass or have passed, as `course list` counts them, of the part with this exercise."""
    _, exercises = course.section_of(exercise)
    return f"{progress.passed_among(exercises)} of {len(exercises)}"


def _clock() -> str:
    return time.strftime("%H:%M:%S")


# `course watch` on a terminal: one screen, drawn in place, with the verdict or an answer, the state and the keys.

NOTE_LINES = 2
FEWEST_LINES = 12

TYPED = {"j": DOWN, "k": UP, " ": PAGE_DOWN, "b": PAGE_UP}
"""Letters that do what a key without a letter does."""


def is_large_enough(console: Console) -> bool:
    """Return whether a verdict and the keys have room on the screen; a smaller one gets a log."""
    return console.width >= NARROWEST and console.height >= FEWEST_LINES


class Cockpit(Screen):
    """A screen of a terminal, always drawn whole: the body may be scrolled, and the foot always stays.

    The body is the last verdict, or in front of it a panel: the answer to a key.
    """

    def __init__(self, console: Console, course: Course) -> None:
        super().__init__(console, course, plain=False, keys=True)
        self._opening: list[str] = []
        self._verdict: tuple[ExerciseResult, str, Progress] | None = None
        self._panel: list[Text] | None = None
        self._first = 0
        self._state = ""
        self._done = ""
        self._is_busy = False
        self._is_old = False
        self._note = ""
        self._size: tuple[int, int] | None = None
        self._room = 1

    def say(self, sentence: str, style: str = "") -> None:  # noqa: ARG002 - a note has one style
        """Show a note above the state, until something else happens."""
        self._note = sentence
        self.draw()

    def opening(self, file: str, needed: Sequence[str], standing: Standing) -> None:
        """Show which files are watched, and the last result, until there is a new one."""
        self._opening = opening_sentences(self.course, file, needed, standing)
        self.shown = self._verdict = self._panel = None
        self._is_old = False
        self._begin("checking")

    def saved(self, files: Sequence[str], does: str) -> None:
        """Show at once that a file was saved. The last verdict stays until there is a new one."""
        self._is_old = self._verdict is not None
        what = files[0] if len(files) == 1 else f"{len(files)} files"
        self._begin(f"{what} changed, {does}")

    def begun(self, activity: str) -> None:
        """Show at once what a key has started."""
        self._begin(activity)

    def running(self, activity: str, elapsed: float) -> None:
        """Show what takes so long."""
        self._state = f"{activity}, {duration(elapsed)} so far"
        self.draw()

    def waiting(self, file: str, problem: str) -> None:
        """Show why there is nothing to check, in place of a verdict on what the file held before."""
        self._opening = [f"{file} {problem}; waiting until it can be read"]
        self.shown = self._verdict = self._panel = None
        self._begin("waiting", busy=False)

    def result(
        self, result: ExerciseResult, file: str, progress: Progress, took: float, *, earlier: str | None = None
    ) -> None:
        """Show the result of a check, from its beginning, and whether the file has another text now."""
        self.shown = result
        self._verdict = (result, file, progress)
        self._done = count_done(self.course, progress, self.course.exercise(result.id))
        self._begin(f"checked in {seconds(took)}, at {time.strftime('%H:%M:%S')}", busy=False)
        if earlier is not None:
            self._is_old = True

    def proved(self, result: ExerciseResult, file: str, progress: Progress) -> None:
        """Show the verdict with the line that is proved, where the reader is."""
        self.shown = result
        self._verdict = (result, file, progress)
        self.draw()

    def hint(self, sentence: str, progress: Progress) -> None:  # noqa: ARG002 - the verdict has it
        """Show the next hint in the verdict, which must be whole for that."""
        self.brief = False
        if self._verdict is not None:
            self._verdict = (*self._verdict[:2], progress)
        self._show_panel(None)

    def switch_length(self, file: str, progress: Progress) -> None:  # noqa: ARG002 - the verdict has them
        """Show the rest of a brief verdict, or hide it."""
        self.brief = not self.brief
        self._show_panel(None)

    def run(self, command: Callable[[], None], activity: str = "") -> None:
        """Show what a command prints, instead of the verdict, and its activity until then."""
        before = self._state, self._is_busy
        if activity:
            self.begun(activity)
        stream = _Terminal(io.BytesIO(), self.console.encoding, errors="replace", newline="")
        with redirect_stdout(stream), redirect_stderr(stream):
            command()
        stream.seek(0)
        text = stream.read().replace("\r\n", "\n").strip("\n")
        self._state, self._is_busy = before
        self._show_panel([Text.from_ansi(line) for line in text.split("\n")])

    def show_keys(self) -> None:
        """Show what each key does."""
        page = Page.on(self.console, self.glyphs)
        keys = [*((key, does) for key, (_, does) in KEYS.items()), ("space ↑ ↓", "scroll"), ("esc", "back")]
        wide = max(len(key) for key, _ in keys)
        lines = [Text.assemble("  ", (key.ljust(wide), "bold cyan"), "  ", page.text(does)) for key, does in keys]
        self._show_panel([page.text("Keys", "bold"), *lines])

    def press(self, key: str) -> bool:
        """Scroll, go back to the verdict, or draw again; return whether the key does that."""
        key = TYPED.get(key, key)
        page = max(self._room - 1, 1)
        steps = {DOWN: 1, UP: -1, PAGE_DOWN: page, PAGE_UP: -page, REDRAW: 0}
        if key in steps:
            self._first += steps[key]
            self.draw()
        elif key == BACK:
            self._show_panel(None)
        return key in steps or key == BACK

    def refresh(self) -> None:
        """Draw again if the size of the window has changed."""
        if self._size not in (None, shutil.get_terminal_size()):
            self.draw()

    def close(self) -> None:
        """Leave the body on the screen, and the cursor below it."""
        if self._size is not None:
            with suppress(OSError, ValueError):
                self.console.file.write(f"\x1b[{self._room + 1};1H\x1b[J")
                self.console.file.flush()

    def draw(self) -> None:
        """Draw the whole screen at once."""
        columns, rows = size = shutil.get_terminal_size()
        stream = self.console.file
        if self._size is None:
            stream.write("\n" * rows)  # what was on the screen stays above it, to scroll back to
        self._size = size
        self.console.width = columns
        page = Page.on(self.console, self.glyphs)
        foot = self._foot(page)
        self._room = max(rows - len(foot), 1)
        body = self._body(page)
        self._first = min(self._first, max(len(body) - self._room, 0))
        self._first = max(self._first, 0)
        shown = body[self._first : self._first + self._room]
        where = f"lines {self._first + 1} to {self._first + len(shown)} of {len(body)}: space"
        words = [BEFORE_EDIT] if self._is_old else []
        foot[0] = self._rule(page, ", ".join([*words, *([where] if len(body) > self._room else [])]))
        lines = [*shown, *[Text()] * (self._room - len(shown)), *foot]
        with self.console.capture() as captured:
            page.show(page.cut(line, columns) for line in lines[:rows])
        drawn = "\n".join(f"\x1b[2K{line}" for line in captured.get().rstrip("\n").split("\n"))
        stream.write(f"\x1b[?25l\x1b[H{drawn}\x1b[?25h")
        stream.flush()

    def _begin(self, state: str, *, busy: bool = True) -> None:
        self._state, self._is_busy, self._note = state, busy, ""
        if not busy:
            self._panel, self._first, self._is_old = None, 0, False
        self.draw()

    def _show_panel(self, lines: list[Text] | None) -> None:
        self._panel, self._first, self._note = lines, 0, ""
        self.draw()

    def _body(self, page: Page) -> list[Text]:
        if self._panel is not None:
            return self._panel
        if self._verdict is None:
            return [line for sentence in self._opening for line in page.wrap(page.text(sentence), 0)]
        self.console.height = self._room + 1
        with self.console.capture() as captured:
            self.render(*self._verdict)
        return [Text.from_ansi(line) for line in captured.get().strip("\n").split("\n")]

    def _foot(self, page: Page) -> list[Text]:
        notes = page.wrap(page.text(one_line(self._note), "yellow"), 0)[:NOTE_LINES] if self._note else []
        right = page.text(f"{self._done} done" if self._done else "", SECONDARY)
        state = page.text(one_line(self._state), "yellow" if self._is_busy else SECONDARY)
        state = page.cut(state, page.width - right.cell_len - 2)
        together = apart(state, right, page.width)
        return [self._rule(page), *notes, together or state, *packed(self._key_items(page), page.width)]

    def _rule(self, page: Page, words: str = "") -> Text:
        line = "─" if self.glyphs is UNICODE else "-"
        return page.text(f"{line * 2} {words} ".ljust(page.width, line) if words else line * page.width, SECONDARY)

    def _key_items(self, page: Page) -> list[Text]:
        back = [("esc", "back")] if self._panel is not None else []
        named = [*back, *((key, self._word(key)) for key in self.useful_keys()), ("?", "keys")]
        return [Text.assemble((key, "bold cyan"), " ", page.text(word)) for key, word in named]


class _Terminal(io.TextIOWrapper):
    """A stream in memory that claims to be a terminal, so that what is written has colours."""

    def isatty(self) -> bool:
        return True
