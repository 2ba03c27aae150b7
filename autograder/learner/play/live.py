"""Display a training: a block that is redrawn on a terminal, or one line per report."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from autograder.learner.watch.keyboard import QUIT, Keyboard, keyboard
from autograder.report.layout import show_sentence
from autograder.report.quantities import duration

DRAW_SECONDS = 0.25
"""How often a terminal is redrawn."""

LINE_SECONDS = 10.0
"""How often a log gets a line."""

MEASURE_SECONDS, MEASURE_STEPS = 3.0, 5
"""An estimate needs so much time and so many steps, after the first one, which is slow."""

WORTH_SECONDS = 20.0
"""A shorter training needs no estimate."""

CURVE = "▁▂▃▄▅▆▇█"

Row = tuple[str, str, bool | None]
"""A sample: the input, the output, and whether the output is correct, or None if unknown."""


class LiveDisplay:
    """The display of a training of so many steps, for `with`. Call `show` at every step: it draws now and then.

    Once it has measured a few steps, it says how long the rest takes. If `stoppable`, the key `q` sets `enough`.
    """

    def __init__(
        self, console: Console, steps: int, *, plain: bool, spell: Callable[[str], str], stoppable: bool = False
    ) -> None:
        self._console = console
        self._steps = steps
        self._spell = spell
        self._redraws = console.is_terminal and not plain
        self._rows: Sequence[Row] = ()
        self._curve: list[float] = []
        self._drawn = self._started = time.monotonic()
        self._first: int | None = None
        self._measured: float | None = None
        self._has_estimate = False
        self._keys = keyboard(plain=False) if stoppable else Keyboard()
        self.enough = False
        self._stack = ExitStack()
        self._live: Live | None = None

    def __enter__(self) -> "LiveDisplay":
        self._stack.enter_context(self._keys)
        if self._redraws:
            self._live = self._stack.enter_context(
                Live(console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, where)

    def show(
        self, step: int, figures: Mapping[str, str], *, curve: float | None = None, rows: Sequence[Row] | None = None
    ) -> None:
        """Show a step: its figures by name, and new samples if `rows` is given; old ones stay.

        `curve` is the figure to plot over time.
        """
        if self._first is None:
            self._first = step - 1
        if self._keys and QUIT in self._keys.wait(0):
            self.enough = True
        self._estimate(step)
        if curve is not None:
            self._curve.append(curve)
        now = time.monotonic()
        due = now - self._drawn >= (DRAW_SECONDS if self._live else LINE_SECONDS)
        if not due and rows is None and step < self._steps:
            return
        self._drawn = now
        if self._live:
            self._rows = self._rows if rows is None else rows
            self._live.update(self._block(step, figures), refresh=True)
            return
        values = "; ".join(f"{name} {value}" for name, value in figures.items())
        self._print(f"Step {step} of {self._steps}: {values}.")
        for source, answer, _ in rows or ():
            self._print(f"  {source} -> {answer}")

    def _estimate(self, step: int) -> None:
        """Print once how long the rest takes, by the steps after the first."""
        if self._has_estimate or self._first is None:
            return
        now = time.monotonic()
        if self._measured is None:
            self._measured = now
            return
        done, passed = step - self._first - 1, now - self._measured
        if done < MEASURE_STEPS or passed < MEASURE_SECONDS:
            return
        self._has_estimate = True
        left = (self._steps - step) * passed / done
        if left > WORTH_SECONDS:
            stops = " Press q to stop earlier, and use what the model has learned." if self._keys else ""
            self._print(f"The training takes about {duration(left)} on this machine.{stops}")

    def _print(self, text: str) -> None:
        show_sentence(self._console, Text(self._spell_line(text)))

    def _spell_line(self, text: str) -> str:
        indent = len(text) - len(text.lstrip())
        return " " * indent + self._spell(text)

    def _block(self, step: int, figures: Mapping[str, str]) -> RenderableType:
        passed = time.monotonic() - self._started
        done = step - (self._first or 0)
        left = (self._steps - step) * passed / max(done, 1)
        head = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=self._steps, completed=step, width=24)
        head.add_row(f"step {step:,} of {self._steps:,}", bar, f"{duration(passed)}, about {duration(left)} left")
        values = Text(self._spell(", ".join(f"{name} {value}" for name, value in figures.items())))
        parts: list[RenderableType] = [head, values]
        if curve := self._curve_text(min(self._console.width - 2, 60)):
            parts.append(Text(curve, "cyan"))
        if self._rows:
            parts += [Text(), self._table()]
        return Group(*parts)

    def _curve_text(self, width: int) -> str:
        """Return the figure over time as bars, each a mean; "" if the terminal cannot show them."""
        if len(self._curve) < 2 or self._spell("…") != "…":
            return ""
        parts = min(width, len(self._curve))
        cuts = [len(self._curve) * at // parts for at in range(parts + 1)]
        means = [sum(self._curve[a:b]) / (b - a) for a, b in pairwise(cuts)]
        low, high = min(means), max(means)
        size = (high - low) or 1.0
        return "".join(CURVE[round((mean - low) / size * (len(CURVE) - 1))] for mean in means)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        marks = {True: ("✓", "green"), False: ("✗", "red"), None: ("", "")}
        for source, answer, right in self._rows:
            mark, style = marks[right]
            table.add_row(
                Text(self._spell(source)),
                Text(self._spell(answer), overflow="ellipsis", no_wrap=True),
                Text(mark, style),
            )
        return table
