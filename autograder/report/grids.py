"""Two-dimensional numbers: their scale, and where two grids differ. None stands for a number that is not finite."""

from collections.abc import Iterable, Iterator, Sequence

Grid = Sequence[Sequence[float | None]]

_SOFT = 0.7  # an exponent below 1, so that a small number beside a large one is not white
_NOTICEABLE = 1e-4  # smaller differences, measured against the largest number, come from rounding


def finite(grid: Grid) -> Iterator[float]:
    """Yield the finite numbers."""
    return (number for row in grid for number in row if number is not None)


def greatest(*grids: Grid) -> float:
    """Return the largest magnitude of any finite number."""
    return max((abs(number) for grid in grids for number in finite(grid)), default=0.0)


def strength(value: float, most: float) -> float:
    """Return how strong the colour of a number is, from 0 to 1, on a scale up to `most`."""
    return float(min(abs(value) / most, 1.0) ** _SOFT) if most else 0.0


def legend(grids: Iterable[Grid]) -> list[str]:
    """Return what the colours mean that occur in these grids."""
    numbers = [number for grid in grids for row in grid for number in row]
    signs = (
        (any(number is not None and number > 0 for number in numbers), "orange +"),
        (any(number is not None and number < 0 for number in numbers), "blue −"),
        (None in numbers, "grey not finite"),
    )
    return [words for occurs, words in signs if occurs]


def cut_from(part: Sequence[Sequence[object]], whole: Grid) -> str:
    """Return which rows and columns are in the part; nothing if all are."""
    sizes = ((len(part), len(whole), "rows"), (len(part[0]), len(whole[0]), "columns"))
    return ", ".join(f"first {some} of {total} {word}" for some, total, word in sizes if some < total)


def where_differs(expected: Grid, yours: Grid) -> list[list[bool]]:
    """Return for each number whether yours differs, on the scale of both grids."""
    least = _NOTICEABLE * greatest(expected, yours)
    return [
        [
            (one is None) != (other is None) or (one is not None and other is not None and abs(one - other) > least)
            for one, other in zip(*rows, strict=False)
        ]
        for rows in zip(expected, yours, strict=False)
    ]


def where_not_zero(expected: Grid, yours: Grid) -> list[list[bool]]:
    """Return for each number whether 0 is expected and yours is not 0: what a mask lets through."""
    differs = where_differs(expected, yours)
    return [
        [apart and one == 0 for apart, one in zip(*rows, strict=True)] for rows in zip(differs, expected, strict=True)
    ]
