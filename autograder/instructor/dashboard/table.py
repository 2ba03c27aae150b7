"""A table of the class page, as sortable HTML and as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.instructor.dashboard.statistics import Share
from autograder.instructor.gradebook.csv_text import as_csv
from autograder.instructor.gradebook.scores import harmless
from autograder.report.html_failure import text
from autograder.report.printable import one_line

EMPTY = "–"
INTERVAL = "interval"
CHART = "chart"
"""The kind of a column with charts; the style sheet and the script of the page know it by this name."""

Value = str | int | float | tuple[float, float] | None


@dataclass(frozen=True)
class Cell:
    """One cell: its `value`, for the CSV and for sorting, and how it is shown.

    `markup`, which is safe HTML, replaces `shown`, and `shown` replaces the value. None is an empty cell. Two numbers
    are an interval, sorted by the lower one.
    """

    value: Value
    shown: str | None = None
    markup: str | None = None

    @property
    def html(self) -> str:
        if self.markup is not None:
            return self.markup
        return text(self.shown if self.shown is not None else EMPTY if self.value is None else str(self.value))


@dataclass(frozen=True)
class Column:
    """A column: its name in the CSV, a `tooltip`, whether its cells are words, and its `title` on the page.

    Its `kind` may be `INTERVAL`, which is two columns of the CSV, or `CHART`, which is none.
    """

    name: str
    tooltip: str = ""
    words: bool = False
    kind: str = ""
    title: str = ""

    @property
    def in_csv(self) -> tuple[str, ...]:
        """The names of its columns in the CSV."""
        if self.kind == INTERVAL:
            return f"{self.name} from", f"{self.name} to"
        return () if self.kind == CHART else (self.name,)


@dataclass(frozen=True)
class Table:
    """A table: its name, its caption, its columns, and rows with a cell per column. The first cell names the row."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def html(self, folder: str) -> str:
        """Return the table with a link to its CSV file in `folder`."""
        heads = "".join(_title_cell(column) for column in self.columns)
        body = "\n".join(_row(self.columns, row) for row in self.rows)
        link = f'<a href="{text(folder)}/{self.name}.csv">as CSV</a>'
        caption = f"<caption>{text(self.caption)} <span>{link}</span></caption>"
        label = text(self.caption.split(". ")[0].rstrip("."))
        return (
            f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table class="sorts">{caption}'
            f"<thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
        )

    def csv(self) -> str:
        """Return the table as CSV, with numbers unrounded and empty cells for None."""
        heads = [name for column in self.columns for name in column.in_csv]
        rows = [
            [value for column, cell in zip(self.columns, row, strict=True) for value in _values(column, cell)]
            for row in self.rows
        ]
        return csv_of(heads, rows)


def csv_of(heads: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return rows as CSV that no spreadsheet takes for formulas; None is an empty cell."""
    return as_csv([_plain(value) for value in row] for row in (heads, *rows))


def percent(share: float) -> str:
    """Return a share as whole percent."""
    return f"{100 * share:.0f} %"


def share_cell(share: Share) -> Cell:
    """Return a share as a cell, like `40 % (8 of 20)`; sorted by the share."""
    if share.value is None:
        return Cell(None)
    return Cell(round(share.value, 4), f"{percent(share.value)} ({share.count} of {share.of})")


def interval_cell(share: Share) -> Cell:
    """Return the confidence interval of a share as a cell."""
    interval = share.interval
    return Cell(interval and (round(interval[0], 4), round(interval[1], 4)), interval_text(share))


def interval_text(share: Share) -> str:
    """Return the confidence interval of a share as text, like `24–61 %`."""
    if share.interval is None:
        return EMPTY
    low, high = share.interval
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _values(column: Column, cell: Cell) -> Sequence[Value]:
    if column.kind == INTERVAL:
        return cell.value if isinstance(cell.value, tuple) else (None, None)
    return () if column.kind == CHART else (cell.value,)


def _title_cell(column: Column) -> str:
    tooltip = f' title="{text(column.tooltip)}"' if column.tooltip else ""
    return f'<th scope="col"{tooltip}{_class(column)}>{text(column.title or column.name)}</th>'


def _class(column: Column) -> str:
    kinds = " ".join(filter(None, ("words" if column.words else "", column.kind)))
    return f' class="{kinds}"' if kinds else ""


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    cells = []
    for position, (column, cell) in enumerate(zip(columns, row, strict=True)):
        tag, scope = ("th", ' scope="row"') if position == 0 else ("td", "")
        value = cell.value[0] if isinstance(cell.value, tuple) else cell.value
        key = "" if value is None else str(value)
        # The script sorts by the text of a cell unless it differs from the value.
        order = f' data-by="{text(key)}"' if key != (cell.shown or key) or cell.markup is not None else ""
        cells.append(f"<{tag}{scope}{_class(column)}{order}>{cell.html}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _plain(value: Value) -> Value:
    if value is None:
        return ""
    return harmless(one_line(value)) if isinstance(value, str) else value
