"""The numbers behind a finding: a table that sheds columns where the page is narrow, maps, and single elements."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from rich.text import Text

from autograder.report.layout import SECONDARY, Page, beside, breadth, columns, indented
from autograder.report.maps import drawn
from autograder.report.printable import one_line
from autograder.results.model import Evidence

WRONG = "bold red"
_FEWEST, _MOST_VALUES = 3, 6
_BROAD = 60
_LIKE_RATIOS = 0.01
_MOST_DECIMALS = 5
_LONGEST_NAME = 12
Row = tuple[str, str, str]


def evidence_table(page: Page, evidence: Evidence) -> list[Text]:
    """Return expected above yours, a column for each row of the evidence; on its side where that is too wide."""
    last = len(evidence.rows) - 1
    shown = [
        row
        for place, row in enumerate(evidence.rows)
        if page.width >= _BROAD or row[0] not in ("mean", "std") or place == last
    ]
    while shown:
        lines = _across(page, evidence.name, shown)
        if breadth(lines) <= page.width:
            return lines
        if len(shown) <= _FEWEST:
            return _down(page, evidence.name, shown)
        shown.remove(_least_telling(shown))
    return []


def elements(page: Page, evidence: Evidence, map_lines: int, most: int) -> list[Text]:
    """Return the maps and the single elements, side by side where both fit."""
    table = _witness_lines(page, evidence, most)
    maps = drawn(page, evidence.maps, map_lines) if evidence.maps else None
    if maps is None or evidence.maps is None:
        one_of_many = evidence.maps is not None and "," in evidence.maps.caption and within_slice(evidence)
        slice_ = evidence.maps.caption if table and evidence.maps and one_of_many else ""
        return [*table, *page.wrap(_cell(page, slice_, SECONDARY))] if slice_ else table
    caption = page.wrap(page.text(maps.caption, SECONDARY))
    apart = 4 if page.width >= 100 else 2
    tall = len(evidence.maps.expected) <= min(len(table), map_lines)  # so that maps and table are as high
    for cell, gap in ((2, 2), (2, 1), (1, 2)):
        flush = [line[2:] for line in _witness_lines(page, evidence, most, gap)]
        narrower = drawn(page, evidence.maps, map_lines, cell, tall)
        if narrower and breadth(narrower.lines) + apart + breadth(flush) <= page.width:
            return [*beside(narrower.lines, flush, apart), *caption]
    return [*maps.lines, *caption, *([Text()] if table else []), *table]


def is_values(evidence: Evidence) -> bool:
    """Return whether there is nothing to compare with: these are values that stood in the student's code."""
    return bool(evidence.rows) and not any(expected for _, expected, _ in evidence.rows)


def is_alike(evidence: Evidence) -> bool:
    """Return whether its rows have nothing that differs."""
    return all(expected == yours for _, expected, yours in evidence.rows)


def value_lines(page: Page, evidence: Evidence, most: int = _MOST_VALUES) -> list[Text]:
    """Return the names and what they held, under what they are."""
    rows = [[_cell(page, label, SECONDARY), _cell(page, value)] for label, _, value in evidence.rows[:most]]
    lines = [page.cut(indented(line, 4), page.width) for line in columns(rows, (False, False))]
    return [*page.wrap(_cell(page, evidence.name[:1].upper() + evidence.name[1:], SECONDARY)), *lines]


def apart_by(witnesses: Sequence[Row]) -> tuple[str, list[str]]:
    """Return what sets yours apart from expected, and its value for each: a ratio where all have the same one.

    Nothing where they cannot be subtracted, or are whole numbers, which count or name something.
    """
    if not any("." in text or "e" in text for _, *both in witnesses for text in both):
        return "", []
    pairs = [(_decimal(expected), _decimal(yours)) for _, expected, yours in witnesses]
    numbers = [(one, other) for one, other in pairs if one is not None and other is not None]
    if not numbers or len(numbers) < len(pairs):
        return "", []
    ratios = [float(other / one) for one, other in numbers if one]
    if len(ratios) == len(pairs) > 1 and max(ratios) - min(ratios) <= _LIKE_RATIOS * abs(max(ratios, key=abs)):
        return "ratio", [f"{each:.3g}" for each in ratios]
    decimals = max(map(_decimals, numbers))
    form = f"+.{decimals}f" if decimals <= _MOST_DECIMALS else "+.3g"
    return "diff", [format(other - one, form) for one, other in numbers]


def _witness_lines(page: Page, evidence: Evidence, most: int, gap: int = 2) -> list[Text]:
    """Return single elements, one a line: where, expected, yours and what sets them apart."""
    witnesses = evidence.witnesses[:most]
    if not witnesses:
        return []
    word, gaps = apart_by(witnesses)
    head = [_cell(page, each, SECONDARY) for each in (evidence.axes, "expected", "yours", word)]
    rows = [
        [_cell(page, at), _cell(page, expected), _cell(page, yours, "" if gaps else WRONG), page.text(gap, WRONG)]
        for (at, expected, yours), gap in zip(witnesses, gaps or [""] * len(witnesses), strict=True)
    ]
    lines = columns([row if gaps else row[:3] for row in (head, *rows)], (True,) * (4 if gaps else 3), gap)
    if breadth(lines) + 2 > page.width and gaps:
        lines = columns([row[:3] for row in (head, *rows)], (True,) * 3)
    title = _cell(page, evidence.witness_title, SECONDARY)
    return [page.cut(indented(line, 2), page.width) for line in (title, *lines)]


def within_slice(evidence: Evidence) -> bool:
    """Return whether the single elements are told by their place in the slice that the maps show."""
    shape = next((expected for label, expected, _ in evidence.rows if label == "shape"), "")
    return shape.count(",") > 1 and all(at.count(",") == 1 for at, _, _ in evidence.witnesses)


def _across(page: Page, name: str, rows: Sequence[Row]) -> list[Text]:
    inside = len(name) <= _LONGEST_NAME
    head = [_cell(page, name if inside else "", SECONDARY), *(_cell(page, label, SECONDARY) for label, _, _ in rows)]
    expected = [page.text("expected"), *(_cell(page, each) for _, each, _ in rows)]
    yours = [page.text("yours"), *(_cell(page, row[2], _yours_style(row, row is rows[-1])) for row in rows)]
    remarks = [Text(), *(_remark(page, row, row is rows[-1]) for row in rows)]
    right = [False, *(_is_number(row[1]) or _is_number(row[2]) for row in rows)]
    lines = columns([head, expected, yours, remarks], right)
    title = [] if inside else [page.cut(_cell(page, name, SECONDARY), page.width - 2)]
    return [indented(line, 2) for line in (*title, *(lines if lines[-1].plain else lines[:-1]))]


def _least_telling(rows: Sequence[Row]) -> Row:
    """Return the row to leave out: of those after shape and dtype, and before the last, one that is the same."""
    between = rows[2:-1]
    return next((row for row in reversed(between) if row[1] == row[2]), between[-1])


def _down(page: Page, name: str, rows: Sequence[Row]) -> list[Text]:
    inside = len(name) <= _LONGEST_NAME
    title = [] if inside else [indented(page.cut(_cell(page, name, SECONDARY), page.width - 2), 2)]
    head = [_cell(page, each, SECONDARY) for each in (name if inside else "", "expected", "yours")]
    cells = [
        [
            _cell(page, row[0], SECONDARY),
            _cell(page, row[1]),
            _remark(page, row, False) if row[1] == row[2] else _cell(page, row[2], WRONG),
        ]
        for row in rows
    ]
    lines = [*title, *(indented(line, 2) for line in columns([head, *cells], (False, False, False)))]
    if breadth(lines) <= page.width:
        return lines
    sentences = (f"{label}: expected {expected}, yours {yours}" for label, expected, yours in rows)
    return [line for each in sentences for line in page.wrap(_cell(page, each))]


def _yours_style(row: Row, telling: bool) -> str:
    return WRONG if row[1] != row[2] and (telling or not _is_number(row[1])) else ""


def _remark(page: Page, row: Row, telling: bool) -> Text:
    """Say *same* in words, and by how much the telling number differs; another number speaks for itself."""
    if row[1] == row[2]:
        return page.text(f"{page.glyphs.passed} same", "green")
    if not _is_number(row[1]) or not _is_number(row[2]):
        return page.text(f"{page.glyphs.failed} differs", WRONG)
    expected, yours = float(row[1]), float(row[2])
    ratio = f"{yours / expected:.3g}" if telling and expected and 0.01 <= yours / expected <= 100 else "1"
    return page.text(f"× {ratio}", WRONG) if ratio != "1" else Text()


def _cell(page: Page, text: str, style: str = "") -> Text:
    return page.text(one_line(text), style)


def _decimals(pair: tuple[Decimal, Decimal]) -> int:
    """Return how many decimals a difference is worth: four digits of the larger number, and no more than are shown."""
    shown = max(len(f"{each:f}".partition(".")[2]) for each in pair)
    return max(min(3 - max(pair, key=abs).adjusted(), shown), 0)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
