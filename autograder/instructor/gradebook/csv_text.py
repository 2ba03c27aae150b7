"""The text and the rows of CSV files: those that a person or another program wrote, and our own."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.course.nearest import nearest
from autograder.submission.files import printable, printable_name

MOST_BYTES = 16 << 20
"""A class of 100,000 students needs less; a larger file is not a table of a class."""

MOST_MISTAKES = 20
"""A file with more mistakes is the wrong file; one screen of them is enough."""


def csv_text(file: Path, error: type[Exception], *, expected: str, fix: str) -> str:
    """Return the text with its byte order mark. Raises `error`; `fix` tells what to do about another encoding."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise error(f"{printable(file)} has more than {MOST_BYTES >> 20} MiB, expected {expected}")
        return file.read_bytes().decode("utf-8")
    except OSError as problem:
        raise error(f"{printable(file)} cannot be read ({problem.strerror}); expected {expected}") from None
    except ValueError:
        raise error(f"{printable(file)} is not UTF-8; {fix}") from None


def csv_rows(
    file: Path, columns: Sequence[str], error: type[Exception], *, what: str, all_needed: bool = False
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a table that people write, each with its line from 1 and every column; others are ignored.

    The first column must be there, and with `all_needed` all of them. Raises `error`; `what` says whose columns they
    are.
    """
    text = csv_text(file, error, expected=f"a CSV file with a column {columns[0]}", fix="save it as CSV UTF-8")
    text = text.removeprefix("\ufeff")
    first = text.partition("\n")[0]  # spreadsheets in some languages separate by semicolons or tabs
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        _check_columns(file, header, columns, error, what, all_needed=all_needed)
        rows: list[tuple[int, dict[str, str]]] = []
        for row in reader:
            if any(cell.strip() for cell in row):
                cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
                rows.append((reader.line_num, {name: cells.get(name, "") for name in columns}))
    except csv.Error as problem:
        raise error(
            f"{at_line(file, reader.line_num)} this is not valid CSV ({problem}); save it as CSV UTF-8"
        ) from None
    return rows


def all_mistakes(mistakes: Sequence[str]) -> str:
    """Return the first mistakes of a file, one a line, and the number of the others."""
    more = len(mistakes) - MOST_MISTAKES
    return "\n".join([*mistakes[:MOST_MISTAKES], *([f"and {more:,} more mistakes"] if more > 0 else [])])


def at_line(file: Path, line: int) -> str:
    """Return how a sentence about a line of a file begins."""
    return f"{printable(file)}:{line}:"


def row_text(values: Mapping[str, str], columns: Sequence[str]) -> str:
    """Return one row as CSV text."""
    return as_csv([[values[name] for name in columns]])


def as_csv(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV text; None is an empty cell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _check_columns(
    file: Path, header: Sequence[str], columns: Sequence[str], error: type[Exception], what: str, *, all_needed: bool
) -> None:
    """Refuse a header without a column that is needed, with a repeated or with a misspelled one."""
    for needed in columns if all_needed else columns[:1]:
        if needed not in header:
            found = ", ".join(map(printable_name, header)) or "nothing"
            expected = f"expected a column {needed} (of {', '.join(columns)})"
            raise error(f"{at_line(file, 1)} the first line has {found}, {expected}")
    for name in header:
        if name in columns and header.count(name) > 1:
            raise error(f"{at_line(file, 1)} the column {name} appears twice, expected once")
        near = nearest(name, columns) if name and name not in columns else None
        if near and near not in header:
            raise error(f"{at_line(file, 1)} {printable_name(name)} is not a column of {what}; did you mean {near}?")
