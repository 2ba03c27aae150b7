"""Findings in what was a notebook: their places are told by its cells."""

import re
from collections.abc import Mapping
from dataclasses import replace

from autograder.results import ExerciseResult, Finding
from autograder.submission.notebook import Cells, cell_of
from autograder.submission.submission import notebook_of

_LINE = re.compile(r"\bline (\d+)\b")


def in_cells(result: ExerciseResult, cells: Mapping[str, Cells]) -> ExerciseResult:
    """Return a result whose places are cells of the notebook, for each source that was made of one."""
    checks = [replace(each, finding=_in_cell(each.finding, cells)) if each.finding else each for each in result.checks]
    return replace(result, checks=tuple(checks))


def _in_cell(finding: Finding, cells_of: Mapping[str, Cells]) -> Finding:
    place = finding.place
    cells = cells_of.get(place.file, ()) if place else ()
    found = cell_of(cells, place.line) if place else None
    if place is None or found is None:
        return finding
    cell, line = found
    before = place.line - line
    near = [(number, text) for number, text in finding.source if _is_in(cells, number, cell)]
    return replace(
        finding,
        place=replace(place, file=notebook_of(place.file), line=line, cell=cell),
        source=tuple((number - before, text) for number, text in near),
        agrees=tuple(number - before for number in finding.agrees if _is_in(cells, number, cell)),
        message=_told(finding.message, cells, cell).replace(place.file, notebook_of(place.file)),
        label=_told(finding.label, cells, cell) if finding.label else finding.label,
    )


def _is_in(cells: Cells, line: int, cell: int) -> bool:
    found = cell_of(cells, line)
    return found is not None and found[0] == cell


def _told(text: str, cells: Cells, cell: int) -> str:
    """Return a text whose lines are those of the cell, or of another one that is then named."""

    def line(match: re.Match[str]) -> str:
        found = cell_of(cells, int(match[1]))
        if found is None:
            return match[0]
        return f"line {found[1]}" if found[0] == cell else f"line {found[1]} of cell {found[0]}"

    return _LINE.sub(line, text)
