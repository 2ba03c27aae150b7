"""A table of the class page, once as HTML that can be sorted and once as CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.instructor.dashboard.statistics import Share
from autograder.instructor.gradebook.scores import harmless
from autograder.report.html_failure import text
from autograder.report.printable import one_line

NOT_TOLD = "–"
INTERVAL = "interval"
DRAWN = "drawn"

Value = str | int | float | tuple[float, float] | None


@dataclass(frozen=True)
class Cell:
    """One cell: its `value`, which goes to the CSV and which the column is sorted by, and how it is shown.

    `markup`, which is safe HTML, is shown in place of `shown`; without either the value is. None is not told, and two
    numbers are an interval, sorted by the lower one.
    """

    value: Value
    shown: str | None = None
    markup: str | None = None

    @property
    def html(self) -> str:
        if self.markup is not None:
            return self.markup
        return text(self.shown if self.shown is not None else NOT_TOLD if self.value is None else str(self.value))


@dataclass(frozen=True)
class Column:
    """A column: its title, what it tells (shown where one points), and whether its cells are words.

    Its `kind` may be `INTERVAL`: two columns of the CSV; or `DRAWN`: a picture, which the CSV leaves out.
    """

    title: str
    told: str = ""
    words: bool = False
    kind: str = ""

    @property
    def in_csv(self) -> tuple[str, ...]:
        """The titles of its columns in the CSV."""
        if self.kind == INTERVAL:
            return f"{self.title} from", f"{self.title} to"
        return () if self.kind == DRAWN else (self.title,)


@dataclass(frozen=True)
class Table:
    """A table called `name`, of `columns`, whose rows have a cell for each. The first cell of a row names it."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def html(self, folder: str) -> str:
        """Return the table with a link to its CSV file in `folder`."""
        heads = "".join(_titled(column) for column in self.columns)
        body = "\n".join(_row(self.columns, row) for row in self.rows)
        link = f'<a href="{text(folder)}/{self.name}.csv">as CSV</a>'
        caption = f"<caption>{text(self.caption)} <span>{link}</span></caption>"
        label = text(self.caption.split(". ")[0].rstrip("."))
        return (
            f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table class="sorts">{caption}'
            f"<thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
        )

    def csv(self) -> str:
        """Return the table as CSV: numbers as they are, and what is not told empty."""
        heads = [name for column in self.columns for name in column.in_csv]
        rows = [
            [value for column, cell in zip(self.columns, row, strict=True) for value in _values(column, cell)]
            for row in self.rows
        ]
        return csv_of(heads, rows)


def csv_of(heads: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return rows as CSV that no spreadsheet takes for formulas; None is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_plain(value) for value in row] for row in (heads, *rows))
    return out.getvalue()


def percent(share: float) -> str:
    """Return a share as whole percents."""
    return f"{100 * share:.0f} %"


def counted(share: Share) -> Cell:
    """Return a share as a cell: in percent, and of how many; sorted by the share."""
    if share.value is None:
        return Cell(None)
    return Cell(round(share.value, 4), f"{percent(share.value)} ({share.count} of {share.of})")


def interval(share: Share) -> Cell:
    """Return the interval of a share as a cell."""
    found = share.interval
    return Cell(found and (round(found[0], 4), round(found[1], 4)), interval_told(share))


def interval_told(share: Share) -> str:
    """Return the interval of a share in words: `24–61 %`."""
    if share.interval is None:
        return NOT_TOLD
    low, high = share.interval
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _values(column: Column, cell: Cell) -> Sequence[Value]:
    if column.kind == INTERVAL:
        return cell.value if isinstance(cell.value, tuple) else (None, None)
    return () if column.kind == DRAWN else (cell.value,)


def _titled(column: Column) -> str:
    told = f' title="{text(column.told)}"' if column.told else ""
    return f'<th scope="col"{told}{_class(column)}>{text(column.title)}</th>'


def _class(column: Column) -> str:
    kinds = " ".join(filter(None, ("words" if column.words else "", column.kind)))
    return f' class="{kinds}"' if kinds else ""


def _row(columns: Sequence[Column], row: Sequence[Cell]) -> str:
    cells = []
    for at, (column, cell) in enumerate(zip(columns, row, strict=True)):
        tag, scope = ("th", ' scope="row"') if at == 0 else ("td", "")
        value = cell.value[0] if isinstance(cell.value, tuple) else cell.value
        by = "" if value is None else str(value)
        order = f' data-by="{text(by)}"' if by != (cell.shown or by) or cell.markup is not None else ""
        cells.append(f"<{tag}{scope}{_class(column)}{order}>{cell.html}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _plain(value: Value) -> Value:
    if value is None:
        return ""
    return harmless(one_line(value)) if isinstance(value, str) else value
