"""A location in the terminal: file and line, the source around it, and carets under what is wrong."""

from pathlib import Path
from textwrap import dedent

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from autograder.report.layout import SECONDARY, Page
from autograder.report.location import AGREES, LEGEND, RETURNED, Location, SourceLine

_WRONG = "bold red"


def location_lines(page: Page, location: Location, file_path: Path | None, before: int = 2) -> list[Text]:
    """Return the file and line, and the source from `before` lines above it, with a marker."""
    where = Text.assemble(_file(page, location, file_path), page.text(location.address))
    description = location.description
    if where.cell_len + cell_len(description) + 2 > page.width and location.circumstance == RETURNED:
        description = description.removesuffix(f", {RETURNED}")  # the line itself shows that it returns
    words = page.text(description, SECONDARY)
    together = Text.assemble(where, "  " if description else "", words)
    fits = together.cell_len + 2 <= page.width
    head = page.wrap(together) if fits else [*page.wrap(where), *page.wrap(words)]
    return [*head, *_source_lines(page, location, before)]


def _file(page: Page, location: Location, file_path: Path | None) -> Text:
    name = page.text(location.file, Style(underline=True))
    if file_path is not None and file_path.name == location.file and page.console.is_terminal:
        name.stylize(Style(link=file_path.absolute().as_uri()))
    return name


def _source_lines(page: Page, location: Location, before: int) -> list[Text]:
    first = location.wrong.number - before if location.wrong else 0
    source = [line for line in location.source if line.number >= first]
    digits = max((len(str(line.number)) for line in source), default=0)
    room = page.width - digits - 7
    margin = _margin([line.text for line in source]) if any(cell_len(line.text) > room for line in source) else 0
    has_legend = not any(line.agrees for line in source)
    lines: list[Text] = []
    for line in source:
        code = page.cut(Text(line.text[margin:], "bold" if line.is_wrong else SECONDARY), room)
        if line.agrees and not has_legend and code.cell_len + 2 + len(AGREES) <= room:
            code.append_text(page.text(f"  {AGREES}", "green"))
            has_legend = True
        lines.append(_joined(_gutter(page, line, digits), code))
        if line.is_wrong:
            empty = Text.assemble(" " * (digits + 5), page.text(page.glyphs.gutter, SECONDARY))
            lines += [_joined(empty, mark) for mark in _carets(page, line, location.label, margin, room)]
    return lines if has_legend else lines + page.wrap(page.text(f"{page.glyphs.passed} {LEGEND}", "green"))


def _gutter(page: Page, line: SourceLine, digits: int) -> Text:
    mark = page.glyphs.marker if line.is_wrong else page.glyphs.passed if line.agrees else " "
    rest = page.text(f" {line.number:>{digits}} {page.glyphs.gutter}", SECONDARY)
    return Text.assemble("  ", page.text(mark, _WRONG if line.is_wrong else "green" if line.agrees else ""), rest)


def _carets(page: Page, line: SourceLine, words: str, margin: int, room: int) -> list[Text]:
    """Return a line of carets under the characters that are wrong, and the label beside or below them."""
    label = page.text(words, _WRONG)
    start, length = cell_len(line.text[: line.start]) - margin, cell_len(line.marked)
    if not 0 <= start < room - 3 or length < 1:
        indent = max(0, min(cell_len(line.text) - cell_len(line.text.lstrip()) - margin, room // 2))
        return _below(page, label, indent, room)
    carets = Text.assemble(" " * start, ("^" * min(length, room - start), _WRONG))
    if carets.cell_len + 2 + label.cell_len <= room:
        return [Text.assemble(carets, "  " if label.plain else "", label)]
    return [carets, *_below(page, label, start, room)]


def _below(page: Page, label: Text, indent: int, room: int) -> list[Text]:
    """Return the label on lines of its own, as far right as it needs no more lines for it."""
    if not label.plain:
        return []
    start = max(0, min(indent, room - label.cell_len))
    start = start if room - start >= room // 2 else 0
    return [Text.assemble(" " * start, line) for line in label.wrap(page.console, room - start)]


def _joined(gutter: Text, code: Text) -> Text:
    line = Text.assemble(gutter, " ", code)
    line.rstrip()
    return line


def _margin(code: list[str]) -> int:
    """Return how many columns of white space all lines begin with."""
    together = "\n".join(code)
    widest = max(together.split("\n"), key=len)
    return len(widest) - max(len(line) for line in dedent(together).split("\n"))
