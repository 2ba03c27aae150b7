"""Lines and places of a source that was made of a notebook, as those of its cells."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.results import Place
from autograder.submission.notebook import Cells, cell_of
from autograder.submission.submission import notebook_of

if TYPE_CHECKING:
    from autograder.messages.locations import Line


def name_of(cells: Mapping[str, Cells], file: str) -> str:
    """Return the name of the notebook that a file was made of, or of the file itself."""
    return notebook_of(file) if cells.get(file) else file


def place_in(cells: Mapping[str, Cells], place: Place) -> Place:
    """Return a place as one in a cell of the notebook, where its file was made of one."""
    found = cell_of(cells.get(place.file, ()), place.line)
    return replace(place, file=notebook_of(place.file), line=found[1], cell=found[0]) if found else place


def line_in(cells: Mapping[str, Cells], place: Place, number: int) -> "Line":
    """Return a line of a place's file for a sentence: with its cell where that is another one than the place's."""
    from autograder.messages.locations import Line

    own = cells.get(place.file, ())
    found, here = cell_of(own, number), cell_of(own, place.line)
    if found is None:
        return Line(number)
    return Line(found[1], None if here is not None and here[0] == found[0] else found[0])


def within(cells: Mapping[str, Cells], place: Place, lines: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """Return those lines of a place's file that are in its cell, by their numbers there."""
    own = cells.get(place.file, ())
    here = cell_of(own, place.line)
    if here is None:
        return tuple(lines)
    found = ((cell_of(own, number), text) for number, text in lines)
    return tuple((at[1], text) for at, text in found if at is not None and at[0] == here[0])
