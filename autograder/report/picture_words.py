"""What a picture shows, in words: for who cannot see it, and where nothing is drawn."""

from collections.abc import Iterable, Sequence

from autograder.report.printable import one_line
from autograder.results.model import Picture

MOST_TOLD = 32
"""A picture of more rows, or bars, is told by its size and range alone: nobody listens to so many numbers."""


def is_whole(picture: Picture) -> bool:
    """Return whether a picture has numbers, and as many in each row; bars have one row."""
    rows = picture.values
    return bool(rows and rows[0]) and len({len(row) for row in rows}) == 1 and (not picture.bars or len(rows) == 1)


def sentence(picture: Picture) -> str:
    """Return in words what a picture shows: its size, its range, and what there is to see in it.

    That is every number of bars, where the ones are in a picture of noughts and ones, and else what is largest in each
    row that has a name.
    """
    numbers = [each for row in picture.values for each in row if each is not None]
    if not is_whole(picture) or not numbers:
        return ""
    said = _bars(picture, numbers) if picture.bars else _grid(picture, numbers)
    return f"Picture: {one_line(picture.title).rstrip('.')}: {said}."


def _bars(picture: Picture, numbers: Sequence[float]) -> str:
    count = len(picture.values[0])
    size = f"{count} bars{_of(picture.columns)}, heights{_of(picture.rows)} from {_range(numbers)}"
    if count > MOST_TOLD:
        return f"{size}; {_largest(picture)}"
    names = picture.column_labels
    told = (f"{one_line(names[place])} " if place < len(names) else "" for place in range(count))
    return f"{size}; {', '.join(f'{name}{_number(each)}' for name, each in zip(told, picture.values[0], strict=True))}"


def _grid(picture: Picture, numbers: Sequence[float]) -> str:
    rows, columns = len(picture.values), len(picture.values[0])
    size = f"{rows} rows{_of(picture.rows)} and {columns} columns{_of(picture.columns)}"
    if set(numbers) == {0.0, 1.0} and rows <= MOST_TOLD:
        return (
            f"{size}, 1 in these columns and 0 in the others: {'; '.join(_ones(picture, row) for row in range(rows))}"
        )
    told = f"{size}, values from {_range(numbers)}"
    if any(picture.row_labels) and rows <= MOST_TOLD:
        return f"{told}; the largest of each row: {'; '.join(_peaks(picture))}"
    return f"{told}; {_largest(picture)}"


def _ones(picture: Picture, row: int) -> str:
    """Return the columns of a row that hold 1, those beside each other as a range."""
    there = [column for column, each in enumerate(picture.values[row]) if each == 1]
    ranges: list[list[int]] = []
    for column in there:
        if ranges and column == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], column]
        else:
            ranges.append([column])
    told = (" to ".join(_short(picture.column_labels, each) for each in ends) for ends in ranges)
    return f"{_short(picture.row_labels, row)}: {', '.join(told) or 'none'}"


def _peaks(picture: Picture) -> Iterable[str]:
    """Yield for each row of numbers which column holds the largest."""
    for row, line in enumerate(picture.values):
        there = [(each, -column) for column, each in enumerate(line) if each is not None]
        if there:
            value, column = max(there)
            at = _short(picture.column_labels, -column) if picture.column_labels else f"column {-column}"
            yield f"{_short(picture.row_labels, row)}: {at} ({_number(value)})"


def _largest(picture: Picture) -> str:
    values = ((each, -row, -column) for row, line in enumerate(picture.values) for column, each in enumerate(line))
    _, row, column = max(each for each in values if each[0] is not None)
    if picture.bars:
        return f"the largest is bar {1 - column}"
    at = f"row {_name(picture.row_labels, -row)}, column {_name(picture.column_labels, -column)}"
    return f"the largest is in {at}"


def _name(labels: Sequence[str], place: int) -> str:
    return f"{place}" if place >= len(labels) else f"{place} ({one_line(labels[place])})"


def _short(labels: Sequence[str], place: int) -> str:
    return f"{place}" if place >= len(labels) else one_line(labels[place])


def _of(axis: str) -> str:
    return f" ({one_line(axis)})" if axis else ""


def _range(numbers: Sequence[float]) -> str:
    return f"{_number(min(numbers))} to {_number(max(numbers))}"


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.3g}"
