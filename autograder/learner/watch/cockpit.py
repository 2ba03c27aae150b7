"""`course watch` on a terminal: one screen, drawn in place, with the verdict or an answer, the state and the keys."""

import io
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress

from rich.console import Console
from rich.text import Text

from autograder.course import Course
from autograder.learner.progress import Progress, Standing
from autograder.learner.watch.keyboard import BACK, DOWN, PAGE_DOWN, PAGE_UP, REDRAW, UP
from autograder.learner.watch.screen import BEFORE_EDIT, KEYS, Screen, count_done, opening_sentences
from autograder.report.glyphs import UNICODE
from autograder.report.layout import NARROWEST, SECONDARY, Page, apart, packed
from autograder.report.printable import one_line
from autograder.report.quantities import duration, seconds
from autograder.results import ExerciseResult

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
        """Show the next hint in the verdict."""
        if self._verdict is not None:
            self._verdict = (*self._verdict[:2], progress)
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
        named = [*back, *((key, KEYS[key][0]) for key in self.useful_keys()), ("?", "keys")]
        return [Text.assemble((key, "bold cyan"), " ", page.text(word)) for key, word in named]


class _Terminal(io.TextIOWrapper):
    """A stream in memory that claims to be a terminal, so that what is written has colours."""

    def isatty(self) -> bool:
        return True
