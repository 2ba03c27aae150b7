"""A CSV file that somebody else exported, kept as it is to the byte, but for the cells that are filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.instructor.gradebook.graded import ExportError
from autograder.instructor.gradebook.text import csv_text
from autograder.submission.found import printable

_BOM = "\ufeff"
_CELLS = {
    separator: re.compile(
        rf'("[^"]*(?:""[^"]*)*"[^{separator}\r\n]*|[^"{separator}\r\n][^{separator}\r\n]*|)({separator}|\r\n|\r|\n|\Z)'
    )
    for separator in (",", ";", "\t")
}


@dataclass(frozen=True)
class Cell:
    """One cell: where it begins and ends in the text, and what it says."""

    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Sheet:
    """A file's text with its byte order mark, its separator, and its cells; line breaks may lie inside cells."""

    text: str
    separator: str
    rows: tuple[tuple[Cell, ...], ...]

    def value(self, row: int, column: int | None) -> str:
        """Return what a cell says, stripped; nothing where the row has no such cell."""
        if column is None or column >= len(self.rows[row]):
            return ""
        return self.rows[row][column].value.strip()

    def column(self, column: int | None) -> list[str]:
        """Return what the cells below the header say."""
        return [self.value(row, column) for row in range(1, len(self.rows))]

    @property
    def header(self) -> list[str]:
        return [cell.value.strip() for cell in self.rows[0]]

    def filled(self, cells: Mapping[tuple[int, int], str]) -> str:
        """Return the text with new values in cells, by row and column, quoted where they need it or were before."""
        parts, at = [], 0
        for (row, column), value in sorted(cells.items()):
            cell = self.rows[row][column]
            quoted = self.text[cell.start : cell.end].startswith('"') or re.search(r'[",;\t\r\n]', value)
            parts += [self.text[at : cell.start], '"' + value.replace('"', '""') + '"' if quoted else value]
            at = cell.end
        return "".join((*parts, self.text[at:]))


def read_sheet(file: Path) -> Sheet:
    """Return the sheet in a file. Raises `ExportError` where it is none, or in no UTF-8."""
    again = "export it again, and do not save it in between"
    text = csv_text(file, ExportError, expected="the CSV file of a class as it was exported", mend=again)
    first = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
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
            raise ExportError(f"{printable(file.name)}:{line}: this is no CSV; export the file again")
        row.append(Cell(at, found.end(1), _value(found[1])))
        at = found.end()
        if found[2] != separator:
            rows.append(tuple(row))
            row = []
    if not rows:
        raise ExportError(f"{printable(file)} is empty, expected an exported CSV file")
    return rows


def _value(raw: str) -> str:
    """Return what a cell says."""
    if not raw.startswith('"'):
        return raw
    end = raw.rindex('"')
    return raw[1:end].replace('""', '"') + raw[end + 1 :]
