"""A table of the class page, as sortable HTML and as CSV."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from autograder.gradebook import as_csv, harmless
from autograder.report import number, one_line, spoken, text
from autograder.results import Status

from .statistics import WRONG, Cohort, Share, passing_share

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


# Small charts as inline SVG: a strip of statuses, a bar of counts, columns of shares.

KINDS: dict[Status, str] = {
    "pass": "yes",
    "fail": "no",
    "error": "no",
    "timeout": "cut",
    "memory": "cut",
    "waits": "open",
    "not_started": "open",
    "missing": "open",
    "held": "kit",
    "grader_error": "kit",
}
MEANINGS = {
    "yes": "passes",
    "no": "fails",
    "cut": "was stopped: time or memory limit",
    "open": "is missing, not started, or waits for an earlier part",
    "kit": "could not be graded",
}
"""The meaning of each kind, in the order of the legend."""

HEIGHT = 16
MOST_GAPS = 80
"""Above this many students the gaps between them would hide the colours."""


def strip(statuses: Sequence[Status], name: str) -> str:
    """Return the statuses from left to right as one strip; `name` labels it.

    Equal neighbours share one path, so that a large class needs few elements.
    """
    paths: dict[str, list[str]] = defaultdict(list)
    at = 0
    for kind, run in groupby(KINDS[status] for status in statuses):
        width = sum(1 for _ in run)
        paths[kind].append(f"M{at} 0h{width}v{HEIGHT}h-{width}z")
        at += width
    counts = {kind: sum(KINDS[status] == kind for status in statuses) for kind in MEANINGS}
    summary = ", ".join(f"{count} {MEANINGS[kind]}" for kind, count in counts.items() if count)
    drawing = "".join(f'<path class="{kind}" d="{"".join(paths[kind])}"/>' for kind in MEANINGS if kind in paths)
    if at <= MOST_GAPS:
        drawing += f'<path class="gaps" d="{"".join(f"M{student} 0v{HEIGHT}" for student in range(1, at))}"/>'
    return (
        f'<svg class="strip" role="img" aria-label="{text(f"{name}: {summary}")}" viewBox="0 0 {max(at, 1)} {HEIGHT}" '
        f'preserveAspectRatio="none" data-of="{text(name)}">{drawing}</svg>'
    )


def bar(count: int, of: int) -> str:
    """Return a count as the filled part of a bar."""
    parts = (("yes", 0, count), ("open", count, of - count))
    rects = "".join(
        f'<rect class="{kind}" x="{at}" width="{width}" height="{HEIGHT}"/>' for kind, at, width in parts if width
    )
    return (
        f'<svg class="bar one" role="img" aria-label="{count} of {of}" viewBox="0 0 {max(of, 1)} {HEIGHT}" '
        f'preserveAspectRatio="none">{rects}</svg>'
    )


def columns(shares: Sequence[float], label: str) -> str:
    """Return shares from 0 to 1 as columns side by side; `label` describes them in words."""
    rects = "".join(
        f'<rect class="yes" x="{at * 9}" y="{HEIGHT - height:.1f}" width="7" height="{height:.1f}"/>'
        # A share of 0 is drawn half a pixel high, so that its column can be seen.
        for at, height in enumerate(max(share * HEIGHT, 0.5) for share in shares)
    )
    width = 9 * len(shares) - 2
    return (
        f'<svg class="columns" role="img" aria-label="{text(label)}" width="{width}" height="{HEIGHT}" '
        f'viewBox="0 0 {width} {HEIGHT}"><path class="base" d="M0 {HEIGHT}h{width}"/>{rects}</svg>'
    )


# The checks of a class by its students: a strip for each check, and every status as CSV.


def matrix(cohort: Cohort, folder: str) -> str:
    """Return the checks by students, a part for each exercise; the part with most failures is open."""
    failures = {
        exercise: sum(status in WRONG for status in cohort.of_exercise(exercise)) for exercise, _ in cohort.exercises
    }
    hardest = max(failures, key=lambda exercise: failures[exercise], default="")
    return "\n".join(_part(cohort, folder, *exercise, exercise[0] == hardest) for exercise in cohort.exercises)


def _part(cohort: Cohort, folder: str, exercise: str, title: str, is_open: bool) -> str:
    heads = (
        Column("check", words=True),
        Column("students, best score first", words=True, kind=CHART),
        Column("pass"),
    )
    checks = [(spoken(item.check), cohort.verdicts[item.key]) for item in cohort.items if item.exercise == exercise]
    checks.sort(key=lambda check: passing_share(check[1]).value or 0.0)
    rows = [
        (Cell(check), Cell("", markup=strip(statuses, check)), share_cell(passing_share(statuses)))
        for check, statuses in checks
    ]
    table = Table("matrix", f"Checks of {number(exercise)} {title}, hardest first.", heads, rows).html(folder)
    share = passing_share(cohort.of_exercise(exercise))
    passed = f"{share.count} of {share.of} pass every check"
    summary = f'<summary>{text(f"{number(exercise)} {title}")} <span class="soft">{text(passed)}</span></summary>'
    return f"<details{' open' if is_open else ''}>{summary}{table}</details>"


def matrix_csv(cohort: Cohort) -> str:
    """Return every status: a row for each check, a column for each student."""
    heads = ["exercise", "check", "title", *(cohort.name(report) for report in cohort.reports)]
    rows = [[item.exercise, item.check, item.title, *cohort.verdicts[item.key]] for item in cohort.items]
    return csv_of(heads, rows)


def legend() -> str:
    """Return the meaning of the colours of the strips."""
    items = (
        f'<li><svg aria-hidden="true" viewBox="0 0 8 8" preserveAspectRatio="none">'
        f'<rect class="{kind}" width="8" height="8"/></svg>{text(meaning)}</li>'
        for kind, meaning in MEANINGS.items()
    )
    return f'<ul class="legend">{"".join(items)}</ul>'
