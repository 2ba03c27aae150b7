"""The evidence of a failure in the terminal: a table that drops columns on a narrow page, maps, single elements."""

from collections.abc import Sequence

from rich.text import Text

from autograder.report.comparison import Comparison, MapPair, Row, Values, Witnesses
from autograder.report.layout import SECONDARY, Page, beside, breadth, columns, indented
from autograder.report.terminal_maps import map_lines

WRONG = "bold red"
_FEWEST = 3  # columns; a table with less room is turned on its side
_BROAD = 60  # a narrower page has no mean and std unless they are the telling row
_LONGEST_NAME = 12  # a longer name stands above the table
_TELLING_RATIOS = (0.01, 100)  # a ratio outside says less than the numbers


def comparison_lines(page: Page, table: Comparison) -> list[Text]:
    """Return expected above yours, a column for each row of the table; turned on its side if that is too wide."""
    rows = [row for row in table.rows if page.width >= _BROAD or row[0] not in ("mean", "std") or row is table.rows[-1]]
    while rows:
        lines = _across(page, table.name, rows)
        if breadth(lines) <= page.width:
            return lines
        if len(rows) <= _FEWEST:
            return _down(page, table.name, rows)
        rows.remove(_least_telling(rows))
    return []


def element_lines(page: Page, witnesses: Witnesses | None, maps: MapPair | None, height: int, most: int) -> list[Text]:
    """Return the maps and `most` single elements, side by side if both fit."""
    table = _witness_lines(page, witnesses, most)
    found = map_lines(page, maps, height) if maps else None
    if found is None or maps is None:
        within = witnesses.within if witnesses and table else ""
        return [*table, *page.wrap(page.text(within, SECONDARY))] if within else table
    caption = page.wrap(page.text(found.caption, SECONDARY))
    apart = 4 if page.width >= 100 else 2
    tall = len(maps.expected) <= min(len(table), height)  # so that maps and table are as high
    for cell, gap in ((2, 2), (2, 1), (1, 2)):
        flush = [line[2:] for line in _witness_lines(page, witnesses, most, gap)]
        narrower = map_lines(page, maps, height, cell, tall)
        if narrower and breadth(narrower.lines) + apart + breadth(flush) <= page.width:
            return [*beside(narrower.lines, flush, apart), *caption]
    return [*found.lines, *caption, *([Text()] if table else []), *table]


def value_lines(page: Page, values: Values) -> list[Text]:
    """Return the names and what they held, below their title."""
    rows = [[page.text(name, SECONDARY), page.text(value)] for name, value in values.rows]
    lines = [page.cut(indented(line, 4), page.width) for line in columns(rows, (False, False))]
    return [*page.wrap(page.text(values.title, SECONDARY)), *lines]


def _witness_lines(page: Page, witnesses: Witnesses | None, most: int, gap: int = 2) -> list[Text]:
    """Return single elements, one a line: index, expected, yours, and their ratio or difference."""
    if witnesses is None or most < 1:
        return []
    gaps = witnesses.gaps or ("",) * len(witnesses.rows)
    head = [page.text(word, SECONDARY) for word in (witnesses.axes, "expected", "yours", witnesses.gap)]
    rows = [
        [page.text(at), page.text(expected), page.text(yours, "" if between else WRONG), page.text(between, WRONG)]
        for (at, expected, yours), between in zip(witnesses.rows[:most], gaps, strict=False)
    ]
    for width in (4, 3) if witnesses.gaps else (3,):
        lines = columns([row[:width] for row in (head, *rows)], (True,) * width, gap)
        if breadth(lines) + 2 <= page.width:
            break
    return [page.cut(indented(line, 2), page.width) for line in (page.text(witnesses.title, SECONDARY), *lines)]


def _across(page: Page, name: str, rows: Sequence[Row]) -> list[Text]:
    inside = len(name) <= _LONGEST_NAME
    head = [page.text(word, SECONDARY) for word in (name if inside else "", *(label for label, _, _ in rows))]
    expected = [page.text("expected"), *(page.text(value) for _, value, _ in rows)]
    yours = [page.text("yours"), *(page.text(row[2], _style(row, row is rows[-1])) for row in rows)]
    remarks = [Text(), *(_remark(page, row, row is rows[-1]) for row in rows)]
    right = [False, *(_is_number(row[1]) or _is_number(row[2]) for row in rows)]
    lines = columns([head, expected, yours, remarks], right)
    title = [] if inside else [page.cut(page.text(name, SECONDARY), page.width - 2)]
    return [indented(line, 2) for line in (*title, *(lines if lines[-1].plain else lines[:-1]))]


def _least_telling(rows: Sequence[Row]) -> Row:
    """Return the row to leave out: of those after shape and dtype, and before the last, one that is the same."""
    between = rows[2:-1]
    return next((row for row in reversed(between) if row[1] == row[2]), between[-1])


def _down(page: Page, name: str, rows: Sequence[Row]) -> list[Text]:
    inside = len(name) <= _LONGEST_NAME
    title = [] if inside else [indented(page.cut(page.text(name, SECONDARY), page.width - 2), 2)]
    head = [page.text(word, SECONDARY) for word in (name if inside else "", "expected", "yours")]
    cells = [
        [
            page.text(row[0], SECONDARY),
            page.text(row[1]),
            _remark(page, row, False) if row[1] == row[2] else page.text(row[2], WRONG),
        ]
        for row in rows
    ]
    lines = [*title, *(indented(line, 2) for line in columns([head, *cells], (False, False, False)))]
    if breadth(lines) <= page.width:
        return lines
    sentences = (f"{label}: expected {expected}, yours {yours}" for label, expected, yours in rows)
    return [line for sentence in sentences for line in page.wrap(page.text(sentence))]


def _style(row: Row, telling: bool) -> str:
    return WRONG if row[1] != row[2] and (telling or not _is_number(row[1])) else ""


def _remark(page: Page, row: Row, telling: bool) -> Text:
    """Return *same*, or by how much the telling number differs; another number speaks for itself."""
    if row[1] == row[2]:
        return page.text(f"{page.glyphs.passed} same", "green")
    if not _is_number(row[1]) or not _is_number(row[2]):
        return page.text(f"{page.glyphs.failed} differs", WRONG)
    expected, yours = float(row[1]), float(row[2])
    low, high = _TELLING_RATIOS
    ratio = f"{yours / expected:.3g}" if telling and expected and low <= yours / expected <= high else "1"
    return page.text(f"× {ratio}", WRONG) if ratio != "1" else Text()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
