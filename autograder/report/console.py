"""The console that reports are shown on."""

import io
import sys

from rich.console import Console

from autograder.report.printable import USUAL, columns_of


def make_console(*, plain: bool = False, color: bool | None = None) -> Console:
    """Return the console on stdout, which never raises for a character it cannot show.

    `color` forces colour on or off; without it the terminal, NO_COLOR and FORCE_COLOR decide.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(
        no_color=True if plain else None if color is None else not color,
        force_terminal=False if plain else (color or None),
        color_system=None if plain else "standard" if color else "auto",
        markup=False,
        highlight=False,
        emoji=False,
    )
    if console.is_dumb_terminal or console.width < 1:  # rich takes 80 columns there, and COLUMNS=0 as it is
        console.width = columns_of(sys.stdout) or USUAL
    return console
