"""A picture of what a command prints in the terminal, for documents.

    python -m autograder.report.picture OUT.svg [--title TEXT] [--light] [--width 80] -- COMMAND ...

The SVG refers to nothing outside itself, fonts included. A PNG is made of it with Chromium, where that is installed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

CELL, LINE, SIZE = 9.03, 20, 15
MARGIN, BAR, BASELINE = 14, 38, 15
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--force-device-scale-factor=2", "--default-background-color=00000000"),
)
BLOCKS = {"▀": (0.5, 1.0), "█": (1.0, 1.0), "▓": (1.0, 0.75), "▒": (1.0, 0.5), "░": (1.0, 0.25)}
"""How much of a line's height these fill, and how densely: no font draws them without seams."""

_PIECE = re.compile(r"[\x20-\x7e]+|▀+|█+|▓+|▒+|░+|[^\x20-\x7e]")


@dataclass(frozen=True)
class Picture:
    """An SVG and its size in pixels."""

    svg: str
    width: int
    height: int


@dataclass(frozen=True)
class Theme:
    """The colours of a picture, and the sixteen of its terminal."""

    background: str
    foreground: str
    border: str
    colors: tuple[str, ...]

    def hex(self, color: Color | None) -> str:
        """Return a colour of the terminal as this theme shows it."""
        if color is None or color.is_default:
            return self.foreground
        if color.number is not None and color.number < len(self.colors):
            return self.colors[color.number]
        return color.get_truecolor(_ANY_THEME).hex


_ANY_THEME = TerminalTheme((0, 0, 0), (255, 255, 255), [(0, 0, 0)] * 8)
_DARK = ("#2a2d34", "#ff6b6b", "#7ccf7c", "#e5c07b", "#7aa8ff", "#d59cf0", "#4ec9d8", "#dee0e4", "#9096a1")
_LIGHT = ("#1c1e22", "#b00020", "#176f2c", "#8a5a00", "#1d4fbf", "#7a2f9e", "#00606f", "#dee0e4", "#5a5f69")
DARK = Theme("#16181d", "#dee0e4", "#30343c", (*_DARK, *_DARK[1:8]))
LIGHT = Theme("#ffffff", "#1c1e22", "#d5d8dd", (*_LIGHT, *_LIGHT[1:8]))


def terminal_output(command: Sequence[str], width: int, folder: Path | None = None) -> str:
    """Return what a command prints in a folder, on a colour terminal of that width, whatever its exit status."""
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(width)}
    encoding = {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=folder, env=kept | terminal | encoding, stdout=subprocess.PIPE, check=False)
    return done.stdout.decode("utf-8", errors="replace").strip("\n")


def draw(ansi: str, theme: Theme, width: int, title: str = "") -> Picture:
    """Return the picture of a terminal that shows this text."""
    lines = list(_cells(ansi, width))
    wide, high = round(width * CELL + 2 * MARGIN), BAR + len(lines) * LINE + MARGIN
    body = "\n".join(_line(line, position, theme) for position, line in enumerate(lines))
    frame = f'width="{wide - 1}" height="{high - 1}" rx="9" fill="{theme.background}" stroke="{theme.border}"'
    dots = "".join(
        f'<circle cx="{22 + 20 * place}" cy="20" r="6" fill="{fill}"/>'
        for place, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    caption = f'<text x="{wide // 2}" y="25" fill="{theme.colors[8]}" text-anchor="middle">{escape(title)}</text>'
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
        f' role="img" shape-rendering="crispEdges" aria-label="{escape(title or "terminal")}" '
        f'font-family="{FONTS}" font-size="{SIZE}">\n'
        f'<rect x="0.5" y="0.5" {frame}/>\n{dots}{caption if title else ""}\n{body}\n</svg>\n'
    )
    return Picture(picture, wide, high)


def write_png(picture: Picture, out: Path) -> None:
    """Write a picture as PNG, twice as large; exits with a sentence where there is no Chromium."""
    browser = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if browser is None:
        raise SystemExit(f"A PNG needs Chromium, and there is no {' or '.join(CHROMIUMS)}. Name an .svg file instead.")
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder, "page.html"), Path(folder, "shot.png")
        page.write_text(f'<!doctype html><meta charset="utf-8"><body style="margin:0">{picture.svg}', encoding="utf-8")
        size = f"--window-size={picture.width},{picture.height}"
        options = (f"--user-data-dir={folder}/profile", size, f"--screenshot={shot}")
        subprocess.run([browser, *CHROMIUM_OPTIONS, *options, page.as_uri()], capture_output=True, timeout=120)
        if not shot.is_file():
            raise SystemExit(f"{browser} made no picture.")
        shutil.copyfile(shot, out)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and write its picture."""
    parser = argparse.ArgumentParser(prog="python -m autograder.report.picture", description=__doc__)
    parser.add_argument("out", type=Path, help="the picture to write, .svg or .png")
    parser.add_argument("--title", default="", help="what the window is called")
    parser.add_argument("--light", action="store_true", help="dark on light")
    parser.add_argument("--width", type=int, default=80, help="columns of the terminal")
    parser.add_argument("command", nargs="+", help="the command, after --")
    options = parser.parse_args(arguments)
    if options.out.suffix not in (".svg", ".png"):
        parser.error(f"{options.out} is neither .svg nor .png")
    if shutil.which(options.command[0]) is None:
        parser.error(f"there is no command {options.command[0]}")
    output = terminal_output(options.command, options.width)
    picture = draw(output, LIGHT if options.light else DARK, options.width, options.title)
    if options.out.suffix == ".png":
        write_png(picture, options.out)
    else:
        options.out.write_text(picture.svg, encoding="utf-8")
    return 0


def _cells(ansi: str, width: int) -> Iterator[list[Segment]]:
    console = Console(width=width, color_system="truecolor", force_terminal=True, legacy_windows=False)
    for line in console.render_lines(Text.from_ansi(ansi), pad=False):
        yield [each for each in line if not each.control]


def _line(line: Sequence[Segment], position: int, theme: Theme) -> str:
    """Return one line: a background where there is one, and its pieces, each at its own column.

    A character outside ASCII stands alone: another font may draw it, with another width.
    """
    top, column = BAR + position * LINE, 0
    boxes, pieces = [], []
    for segment in line:
        style = segment.style or Style.null()
        if style.bgcolor is not None and not style.bgcolor.is_default:
            box = f'x="{_x(column):.2f}" y="{top}" width="{segment.cell_length * CELL:.2f}" height="{LINE}"'
            boxes.append(f'<rect {box} fill="{theme.hex(style.bgcolor)}"/>')
        for piece in _PIECE.findall(segment.text):
            wide = cell_len(piece)
            if piece[0] in BLOCKS:
                boxes.append(_block(piece[0], column, wide, top, theme.hex(style.color)))
            else:
                pieces.append(_piece(piece, column, style, theme))
            column += wide
    return f'{"".join(boxes)}<text y="{top + BASELINE}" xml:space="preserve">{"".join(pieces)}</text>'


def _block(block: str, column: int, wide: int, top: int, fill: str) -> str:
    height, dense = BLOCKS[block]
    box = f'x="{_x(column):.2f}" y="{top}" width="{wide * CELL:.2f}" height="{height * LINE:g}"'
    thin = f' fill-opacity="{dense}"' if dense < 1 else ""
    return f'<rect {box} fill="{fill}"{thin}/>'


def _piece(piece: str, column: int, style: Style, theme: Theme) -> str:
    text = piece.strip(" ") if piece.isprintable() else "\N{REPLACEMENT CHARACTER}"
    if not text:
        return ""
    start = column + len(piece) - len(piece.lstrip(" "))
    look = f' fill="{theme.hex(style.color)}"'
    look += ' font-weight="bold"' if style.bold else ""
    look += ' text-decoration="underline"' if style.underline else ""
    length = f' textLength="{len(text) * CELL:.2f}" lengthAdjust="spacingAndGlyphs"' if text.isascii() else ""
    return f'<tspan x="{_x(start):.2f}"{length}{look}>{escape(text, quote=False)}</tspan>'


def _x(column: int) -> float:
    return MARGIN + column * CELL


if __name__ == "__main__":
    sys.exit(main())
