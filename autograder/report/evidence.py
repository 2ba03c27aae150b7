"""The numbers behind a finding, as a table that sheds columns where the page is narrow."""

from collections.abc import Sequence

from rich.text import Text

from autograder.report.layout import SECONDARY, Page, breadth, columns, indented
from autograder.report.model import Evidence

WRONG = "bold red"
_FEWEST, _MOST_VALUES = 3, 6
Row = tuple[str, str, str]


def evidence_table(page: Page, evidence: Evidence) -> list[Text]:
    """Return expected above yours, a column for each row of the evidence; on its side where that is too wide."""
    shown = list(evidence.rows)
    while shown:
        lines = _across(page, evidence.name, shown)
        if breadth(lines) <= page.width:
            return lines
        if len(shown) <= _FEWEST:
            return _down(page, evidence)
        shown.remove(_least_telling(shown))
    return []


def witness_table(page: Page, witnesses: Sequence[Row]) -> list[Text]:
    """Return single elements, one a line: where, expected, yours."""
    if not witnesses:
        return []
    head = [page.text(each, SECONDARY) for each in ("at", "expected", "yours")]
    rows = [[page.text(at), page.text(expected), page.text(yours, WRONG)] for at, expected, yours in witnesses]
    return [page.cut(indented(line, 2), page.width) for line in columns([head, *rows], (True, True, True))]


def is_values(evidence: Evidence) -> bool:
    """Return whether there is nothing to compare with: these are values that stood in the student's code."""
    return bool(evidence.rows) and not any(expected for _, expected, _ in evidence.rows)


def value_lines(page: Page, evidence: Evidence) -> list[Text]:
    """Return the names and what they held, under what they are."""
    shown = evidence.rows[:_MOST_VALUES]
    rows = [[page.text(label, SECONDARY), page.text(value)] for label, _, value in shown]
    lines = [page.cut(indented(line, 4), page.width) for line in columns(rows, (False, False))]
    return [*page.wrap(page.text(evidence.name[:1].upper() + evidence.name[1:], SECONDARY)), *lines]


def _across(page: Page, name: str, rows: Sequence[Row]) -> list[Text]:
    head = [page.text(name, SECONDARY), *(page.text(label, SECONDARY) for label, _, _ in rows)]
    expected = [page.text("expected"), *(page.text(each) for _, each, _ in rows)]
    yours = [page.text("yours"), *(page.text(row[2], _yours_style(row, row is rows[-1])) for row in rows)]
    remarks = [Text(), *(_remark(page, row) for row in rows)]
    right = [False, *(_is_number(row[1]) or _is_number(row[2]) for row in rows)]
    lines = columns([head, expected, yours, remarks], right)
    return [indented(line, 2) for line in (lines if lines[-1].plain else lines[:-1])]


def _least_telling(rows: Sequence[Row]) -> Row:
    """Return the row to leave out: of those after shape and dtype, and before the last, one that is the same."""
    between = rows[2:-1]
    return next((row for row in reversed(between) if row[1] == row[2]), between[-1])


def _down(page: Page, evidence: Evidence) -> list[Text]:
    head = [page.text(each, SECONDARY) for each in (evidence.name, "expected", "yours")]
    rows = [
        [
            page.text(row[0], SECONDARY),
            page.text(row[1]),
            _remark(page, row) if row[1] == row[2] else page.text(row[2], WRONG),
        ]
        for row in evidence.rows
    ]
    lines = [indented(line, 2) for line in columns([head, *rows], (False, False, False))]
    if breadth(lines) <= page.width:
        return lines
    sentences = (f"{label}: expected {expected}, yours {yours}" for label, expected, yours in evidence.rows)
    return [line for each in sentences for line in page.wrap(page.text(each))]


def _yours_style(row: Row, telling: bool) -> str:
    return WRONG if row[1] != row[2] and (telling or not _is_number(row[1])) else ""


def _remark(page: Page, row: Row) -> Text:
    """Say *same* in words; a number that differs speaks for itself."""
    if row[1] == row[2]:
        return page.text(f"{page.glyphs.passed} same", "green")
    return Text() if _is_number(row[1]) else page.text(f"{page.glyphs.failed} differs", WRONG)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
