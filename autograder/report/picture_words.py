"""A picture in words: for readers who cannot see it, and for plain output."""

from collections.abc import Iterable, Sequence

from autograder.report.grids import finite
from autograder.report.printable import one_line
from autograder.results.model import Picture

MOST_SPOKEN = 32
"""A picture with more rows or bars is described by its size and range alone: nobody listens to so many numbers."""


def is_whole(picture: Picture) -> bool:
    """Return whether a picture has numbers, the same count in each row; bars have one row."""
    rows = picture.values
    return bool(rows and rows[0]) and len({len(row) for row in rows}) == 1 and (not picture.bars or len(rows) == 1)


def in_words(picture: Picture) -> str:
    """Describe a picture: its size, its range and its content.

    The content is every number of bars, the places of the ones in a picture of 0 and 1, and else the largest number
    of each row that has a label.
    """
    numbers = list(finite(picture.values))
    if not is_whole(picture) or not numbers:
        return ""
    description = _bars(picture, numbers) if picture.bars else _grid(picture, numbers)
    return f"Picture: {one_line(picture.title).rstrip('.')}: {description}."


def _bars(picture: Picture, numbers: Sequence[float]) -> str:
    count = len(picture.values[0])
    size = f"{count} bars{_of(picture.columns)}, heights{_of(picture.rows)} from {_range(numbers)}"
    if count > MOST_SPOKEN:
        return f"{size}; {_largest(picture)}"
    names = picture.column_labels
    labels = (f"{one_line(names[index])} " if index < len(names) else "" for index in range(count))
    bars = (f"{label}{_number(height)}" for label, height in zip(labels, picture.values[0], strict=True))
    return f"{size}; {', '.join(bars)}"


def _grid(picture: Picture, numbers: Sequence[float]) -> str:
    rows, columns = len(picture.values), len(picture.values[0])
    size = f"{rows} rows{_of(picture.rows)} and {columns} columns{_of(picture.columns)}"
    if set(numbers) == {0.0, 1.0} and rows <= MOST_SPOKEN:
        return (
            f"{size}, 1 in these columns and 0 in the others: {'; '.join(_ones(picture, row) for row in range(rows))}"
        )
    extent = f"{size}, values from {_range(numbers)}"
    if any(picture.row_labels) and rows <= MOST_SPOKEN:
        return f"{extent}; the largest of each row: {'; '.join(_peaks(picture))}"
    return f"{extent}; {_largest(picture)}"


def _ones(picture: Picture, row: int) -> str:
    """Return the columns of a row that hold 1, neighbours as a range."""
    ranges: list[list[int]] = []
    for column in (index for index, value in enumerate(picture.values[row]) if value == 1):
        if ranges and column == ranges[-1][-1] + 1:
            ranges[-1] = [ranges[-1][0], column]
        else:
            ranges.append([column])
    columns = (" to ".join(_label(picture.column_labels, end) for end in ends) for ends in ranges)
    return f"{_label(picture.row_labels, row)}: {', '.join(columns) or 'none'}"


def _peaks(picture: Picture) -> Iterable[str]:
    """Yield for each row of numbers which column holds the largest."""
    for row, line in enumerate(picture.values):
        numbers = [(value, -column) for column, value in enumerate(line) if value is not None]
        if numbers:
            value, column = max(numbers)
            at = _label(picture.column_labels, -column) if picture.column_labels else f"column {-column}"
            yield f"{_label(picture.row_labels, row)}: {at} ({_number(value)})"


def _largest(picture: Picture) -> str:
    _, row, column = max(
        (value, -row, -column)
        for row, line in enumerate(picture.values)
        for column, value in enumerate(line)
        if value is not None
    )
    if picture.bars:
        return f"the largest is bar {1 - column}"
    at = f"row {_name(picture.row_labels, -row)}, column {_name(picture.column_labels, -column)}"
    return f"the largest is in {at}"


def _name(labels: Sequence[str], index: int) -> str:
    return f"{index}" if index >= len(labels) else f"{index} ({one_line(labels[index])})"


def _label(labels: Sequence[str], index: int) -> str:
    return f"{index}" if index >= len(labels) else one_line(labels[index])


def _of(axis: str) -> str:
    return f" ({one_line(axis)})" if axis else ""


def _range(numbers: Sequence[float]) -> str:
    return f"{_number(min(numbers))} to {_number(max(numbers))}"


def _number(value: float | None) -> str:
    return "not finite" if value is None else f"{value:.3g}"
