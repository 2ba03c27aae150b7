"""A CSV file from another program, unchanged to the byte except for the cells that are filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.instructor.gradebook.csv_text import csv_text
from autograder.instructor.gradebook.graded import ExportError
from autograder.submission.files import printable

_BOM = "\ufeff"
_CELLS = {
    separator: re.compile(
        rf'("[^"]*(?:""[^"]*)*"[^{separator}\r\n]*|[^"{separator}\r\n][^{separator}\r\n]*|)({separator}|\r\n|\r|\n|\Z)'
    )
    for separator in (",", ";", "\t")
}


@dataclass(frozen=True)
class Cell:
    """One cell: its start and end in the text, and its value."""

    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Sheet:
    """The text of a file with its byte order mark, its separator, and its cells, which may contain line breaks."""

    text: str
    separator: str
    rows: tuple[tuple[Cell, ...], ...]

    def value(self, row: int, column: int | None) -> str:
        """Return the stripped value of a cell; empty if the row has no such cell."""
        if column is None or column >= len(self.rows[row]):
            return ""
        return self.rows[row][column].value.strip()

    def column(self, column: int | None) -> list[str]:
        """Return the values of a column below the header."""
        return [self.value(row, column) for row in range(1, len(self.rows))]

    @property
    def header(self) -> list[str]:
        """Return the names of the columns."""
        return [cell.value.strip() for cell in self.rows[0]]

    def filled(self, cells: Mapping[tuple[int, int], str]) -> str:
        """Return the text with new values by row and column, quoted if needed or if the old value was."""
        parts, at = [], 0
        for (row, column), value in sorted(cells.items()):
            cell = self.rows[row][column]
            quoted = self.text[cell.start : cell.end].startswith('"') or re.search(r'[",;\t\r\n]', value)
            parts += [self.text[at : cell.start], '"' + value.replace('"', '""') + '"' if quoted else value]
            at = cell.end
        return "".join((*parts, self.text[at:]))


def read_sheet(file: Path) -> Sheet:
    """Return the sheet in a file. Raises `ExportError` if it is not CSV in UTF-8."""
    again = "export it again, and do not open and save it before"
    text = csv_text(file, ExportError, expected="the exported CSV file of a class", fix=again)
    first = re.sub(r'"[^"]*"', "", text.partition("\n")[0])  # a quoted title may contain other separators
    separator = max(_CELLS, key=first.count)
    return Sheet(text, separator, tuple(_rows(file, text, separator)))


def _rows(file: Path, text: str, separator: str) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    row: list[Cell] = []
    at = len(_BOM) if text.startswith(_BOM) else 0
    while at < len(text) or row:
        found = _CELLS[separator].match(text, at)
        if found is None:
            line = text.count("\n", 0, at) + 1
            raise ExportError(f"{printable(file.name)}:{line}: this is not valid CSV; export the file again")
        row.append(Cell(at, found.end(1), _value(found[1])))
        at = found.end()
        if found[2] != separator:
            rows.append(tuple(row))
            row = []
    if not rows:
        raise ExportError(f"{printable(file)} is empty, expected an exported CSV file")
    return rows


def _value(raw: str) -> str:
    """Return the value of a cell without its quotes."""
    if not raw.startswith('"'):
        return raw
    end = raw.rindex('"')
    return raw[1:end].replace('""', '"') + raw[end + 1 :]
