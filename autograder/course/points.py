"""The points of the exercises: shares of a total, in whole hundredths that add up to it."""

from collections.abc import Sequence
from decimal import Decimal

from autograder.course.section import Section, as_number, quoted

TOTAL = Decimal(100)
"""The points of a course that does not say how many it has."""

MOST = Decimal(10_000)
"""The largest total: more digits than a gradebook shows."""

LARGEST_SHARE = Decimal(1_000_000)
"""The largest number of points that an exercise may name; only the ratio to the other exercises counts."""


def read_points(top: Section, sections: Sequence[Section]) -> list[int]:
    """Return the hundredths of a point that each exercise is worth; 0 for each if one of them is not valid.

    The numbers in course.toml are shares: they are scaled so that all together are the total of the course.
    """
    total = _total(top)
    shares = [_share(section) for section in sections]
    valid = [share for share in shares if share is not None]
    if total is None or len(valid) < len(shares):
        return [0] * len(shares)
    points = split(int(total * 100), valid)
    for section, worth in zip(sections, points, strict=True):
        if not worth:
            found = f"points is {quoted(section.table['points'])}, which is less than 0.01 of {total}"
            section.note("points", f"{found} when all points are scaled to that total; use a larger number")
    return points


def split(total: int, shares: Sequence[Decimal] | Sequence[float]) -> list[int]:
    """Return whole numbers in the ratio of the shares that add up to the total.

    Rounding loses nothing: the largest remainders get one more.
    """
    whole_of = sum(shares)
    exact = [total * share / whole_of for share in shares]  # type: ignore[operator]
    whole = [int(number) for number in exact]
    by_remainder = sorted(range(len(whole)), key=lambda place: whole[place] - exact[place])
    for place in by_remainder[: total - sum(whole)]:
        whole[place] += 1
    return whole


def _total(top: Section) -> Decimal | None:
    """Return the points of the course, None if they are not valid."""
    if "points" not in top.table:
        return TOTAL
    total = top.value("points", f"a number above 0 and at most {MOST}", _as_total)
    if total is not None and total != total.quantize(Decimal("0.01")):
        top.note("points", f"points is {quoted(total)}, expected at most two decimals")
        return None
    return total


def _share(section: Section) -> Decimal | None:
    share = section.value("points", "a number above 0", as_number)
    if share is not None and share > LARGEST_SHARE:
        section.note("points", f"points is {quoted(share)}, expected at most {LARGEST_SHARE}")
        return None
    return share


def _as_total(value: object) -> Decimal | None:
    total = as_number(value)
    return total if total is not None and total <= MOST else None
