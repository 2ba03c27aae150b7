"""Where a finding points: file and line, the source around it, and a caret under what is wrong there."""

from pathlib import Path
from textwrap import dedent

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from autograder.report.layout import SECONDARY, Page
from autograder.report.printable import one_line, printable
from autograder.report.words import AGREES, RETURNED, circumstance, function, line_of
from autograder.results.model import Finding, Place, Status

_LONGEST_LINE = 500  # longer than any page is wide
_WRONG = "bold red"


def place_lines(
    page: Page, status: Status, finding: Finding | None, file_path: Path | None, before: int = 2, after: int = 1
) -> list[Text]:
    """Return the file and line, and so many lines of source around it with a marker."""
    if finding is None or finding.place is None:
        return []
    place = finding.place
    at = f":{place.line}" if place.cell is None else f", {line_of(place)}"
    where = Text.assemble(_file(page, place, file_path), page.text(at))
    within = f"in {function(finding)}()" if function(finding) else ""
    words = [_joint(within, circumstance(status, finding, short)) for short in (False, True)]
    if words[1].endswith(RETURNED) and "probably" not in words[1]:
        words.append(_joint(within, ""))  # that it returns there shows in the line itself
    fitting = (each for each in words if where.cell_len + cell_len(each) + 2 <= page.width)
    where.append_text(page.text(next(fitting, words[-1]), SECONDARY))
    return [*page.wrap(where), *_source(page, finding, place, before, after)]


def _joint(within: str, what: str) -> str:
    words = ", ".join(filter(None, (within, what)))
    return f"  {words}" if words else ""


def _file(page: Page, place: Place, file_path: Path | None) -> Text:
    name = page.text(one_line(place.file), Style(underline=True))
    if file_path is not None and file_path.name == place.file and page.console.is_terminal:
        name.stylize(Style(link=file_path.absolute().as_uri()))
    return name


def _source(page: Page, finding: Finding, place: Place, before: int, after: int) -> list[Text]:
    near = [each for each in finding.source if -before <= each[0] - place.line <= after]
    while near and near[-1][0] > place.line and not near[-1][1].strip():
        near.pop()
    digits = max((len(str(number)) for number, _ in near), default=0)
    room = page.width - digits - 7
    code = [_shown(text).rstrip() for _, text in near]
    margin = _margin(code) if any(cell_len(each) > room for each in code) else 0
    agrees = {number for number, _ in near} & set(finding.agrees) - {place.line}
    lines: list[Text] = []
    said = False
    for (number, text), shown in zip(near, code, strict=True):
        wrong = number == place.line
        line = page.cut(Text(shown[margin:], "bold" if wrong else SECONDARY), room)
        if number in agrees and not said and line.cell_len + 2 + len(AGREES) <= room:
            line.append_text(page.text(f"  {AGREES}", "green"))
            said = True
        lines.append(_joined(_gutter(page, f"{number:>{digits}}", wrong, number in agrees), line))
        if wrong:
            empty = Text.assemble(" " * (digits + 5), page.text(page.glyphs.gutter, SECONDARY))
            lines += [_joined(empty, each) for each in _caret(page, finding, place, text, margin, room)]
    legend = page.wrap(page.text(f"{page.glyphs.passed} {AGREES}", "green")) if agrees and not said else []
    return lines + legend


def _gutter(page: Page, number: str, wrong: bool, agrees: bool) -> Text:
    mark = page.glyphs.marker if wrong else page.glyphs.passed if agrees else " "
    rest = page.text(f" {number} {page.glyphs.gutter}", SECONDARY)
    return Text.assemble("  ", page.text(mark, _WRONG if wrong else "green" if agrees else ""), rest)


def _caret(page: Page, finding: Finding, place: Place, text: str, margin: int, room: int) -> list[Text]:
    """Return a line of carets under the place's characters, and what is wrong there beside or below them."""
    label = page.text(one_line(finding.label or ""), _WRONG)
    start, length = span(text, place)
    start -= margin
    if not 0 <= start < room - 3 or length < 1:
        indent = max(0, min(cell_len(_shown(text)) - cell_len(_shown(text).lstrip()) - margin, room // 2))
        return _below(page, label, indent, room)
    carets = Text.assemble(" " * start, ("^" * min(length, room - start), _WRONG))
    if carets.cell_len + 2 + label.cell_len <= room:
        return [Text.assemble(carets, "  " if label.plain else "", label)]
    return [carets, *_below(page, label, start, room)]


def span(text: str, place: Place) -> tuple[int, int]:
    """Return where the carets of a place begin in its line as it is shown, and how many there are."""
    if place.column is None:
        return 0, 0
    column = max(place.column, 0)
    end = len(text.rstrip()) if place.end is None or place.end <= column else place.end
    start = cell_len(_shown(text[:column]))
    return start, cell_len(_shown(text[:end]).rstrip()) - start


def _below(page: Page, label: Text, indent: int, room: int) -> list[Text]:
    """Return the label on lines of its own, as far right as it takes no more of them for it."""
    if not label.plain:
        return []
    start = max(0, min(indent, room - label.cell_len))
    start = start if room - start >= room // 2 else 0
    return [Text.assemble(" " * start, line) for line in label.wrap(page.console, room - start)]


def _joined(gutter: Text, code: Text) -> Text:
    line = Text.assemble(gutter, " ", code)
    line.rstrip()
    return line


def _shown(text: str) -> str:
    return printable(text[:_LONGEST_LINE]).replace("\n", " ")


def _margin(code: list[str]) -> int:
    """Return how many columns of white space all lines begin with."""
    together = "\n".join(code)
    widest = max(together.split("\n"), key=len)
    return len(widest) - max(len(each) for each in dedent(together).split("\n"))
