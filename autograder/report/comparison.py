"""The evidence of a failure as it is shown: values, a table, maps and single elements."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from autograder.report.grids import Grid, greatest, where_differs, where_not_zero
from autograder.report.printable import one_line
from autograder.results.model import Evidence, Maps

Row = tuple[str, str, str]
"""A label, the expected value and yours."""

_MOST_VALUES = 6
_LIKE_RATIOS = 0.01  # ratios that differ by less are one factor, up to the rounding of the numbers shown
_MOST_DECIMALS = 5  # a difference with more of them is written with an exponent
_FEW_ZEROS = 0.1  # a smaller share of expected zeros may be chance, and is no mask


@dataclass(frozen=True)
class Values:
    """Variables of the student's code and what they held, `(name, value)`."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Comparison:
    """Measurements of one result: expected and yours. The last row is the most telling one."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class MapPair:
    """The same slice of expected and yours.

    `marked` are the elements to look at, empty if that is none or all of them: those where 0 is expected and yours is
    another number if `leaks`, else those that differ. `largest` is the end of the common scale.
    """

    caption: str
    expected: Grid
    yours: Grid
    marked: tuple[tuple[bool, ...], ...]
    leaks: bool
    largest: float

    @property
    def size(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self.expected), len(self.expected[0])


@dataclass(frozen=True)
class Witnesses:
    """Single elements that show what the message says.

    `axes` names the parts of an index, `within` the slice that it counts in. `gaps` has, for each row, the ratio or
    the difference of yours and expected, as `gap` says; both may be empty.
    """

    title: str
    axes: str
    within: str
    rows: tuple[Row, ...]
    gap: str
    gaps: tuple[str, ...]


def values(evidence: Evidence | None) -> Values | None:
    """Return the values of evidence that has nothing to compare with."""
    if evidence is None or not _has_only_values(evidence):
        return None
    rows = tuple((one_line(name), one_line(value)) for name, _, value in evidence.rows[:_MOST_VALUES])
    return Values(one_line(evidence.name), rows)


def comparison(evidence: Evidence | None, even_if_same: bool = False) -> Comparison | None:
    """Return the table of the evidence; None if nothing in it differs, unless `even_if_same`."""
    if evidence is None or not evidence.rows or _has_only_values(evidence):
        return None
    if not even_if_same and all(expected == yours for _, expected, yours in evidence.rows):
        return None
    return Comparison(one_line(evidence.name), _rows(evidence.rows))


def map_pair(maps: Maps) -> MapPair | None:
    """Return two maps that can be compared; None if they differ in shape, or are empty."""
    sizes = {len(row) for grid in (maps.expected, maps.yours) for row in grid}
    if not len(maps.expected) == len(maps.yours) > 0 or len(sizes) != 1 or sizes == {0}:
        return None
    leaking = where_not_zero(maps.expected, maps.yours)
    leaks = sum(map(sum, leaking)) > _FEW_ZEROS * sum(map(len, leaking))
    marked = leaking if leaks else where_differs(maps.expected, maps.yours)
    is_telling = any(map(any, marked)) and not all(map(all, marked))
    return MapPair(
        caption=one_line(maps.caption).rstrip("."),
        expected=maps.expected,
        yours=maps.yours,
        marked=tuple(map(tuple, marked)) if is_telling else (),
        leaks=leaks,
        largest=greatest(maps.expected, maps.yours),
    )


def witnesses(evidence: Evidence) -> Witnesses | None:
    """Return the single elements of the evidence."""
    if not evidence.witnesses or _has_only_values(evidence):
        return None
    gap, gaps = gap_of(evidence.witnesses)
    within = one_line(evidence.maps.caption) if evidence.maps and _is_within_slice(evidence) else ""
    rows = _rows(evidence.witnesses)
    return Witnesses(one_line(evidence.witness_title), one_line(evidence.axes), within, rows, gap, tuple(gaps))


def gap_of(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """Return `ratio` or `diff`, and its value for each row: a ratio if all rows have the same one.

    Nothing for what cannot be subtracted, and for whole numbers, which count or name something.
    """
    if not any("." in text or "e" in text for _, *pair in rows for text in pair):
        return "", []
    pairs = [(_decimal(expected), _decimal(yours)) for _, expected, yours in rows]
    numbers = [(expected, yours) for expected, yours in pairs if expected is not None and yours is not None]
    if not numbers or len(numbers) < len(pairs):
        return "", []
    ratios = [float(yours / expected) for expected, yours in numbers if expected]
    if len(ratios) == len(pairs) > 1 and max(ratios) - min(ratios) <= _LIKE_RATIOS * abs(max(ratios, key=abs)):
        return "ratio", [f"{ratio:.3g}" for ratio in ratios]
    decimals = max(map(_decimals, numbers))
    form = f"+.{decimals}f" if decimals <= _MOST_DECIMALS else "+.3g"
    return "diff", [format(yours - expected, form) for expected, yours in numbers]


def _has_only_values(evidence: Evidence) -> bool:
    return bool(evidence.rows) and not any(expected for _, expected, _ in evidence.rows)


def _is_within_slice(evidence: Evidence) -> bool:
    """Return whether the index of an element counts in one slice of many, the one that the maps show."""
    shape = next((expected for label, expected, _ in evidence.rows if label == "shape"), "")
    one_of_many = evidence.maps is not None and "," in evidence.maps.caption
    return one_of_many and shape.count(",") > 1 and all(at.count(",") == 1 for at, _, _ in evidence.witnesses)


def _rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple((one_line(label), one_line(expected), one_line(yours)) for label, expected, yours in rows)


def _decimals(pair: tuple[Decimal, Decimal]) -> int:
    """Return the decimals of a difference: four digits of the larger number, and no more than that number shows."""
    shown = max(len(f"{number:f}".partition(".")[2]) for number in pair)
    return max(min(3 - max(pair, key=abs).adjusted(), shown), 0)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
