"""Read the [grading] of course.toml: when work is due, the penalty for late work, and the bonus exercises."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from itertools import pairwise

from autograder.course.model import Grading
from autograder.course.section import Section, as_integer, as_number, as_text, as_texts, quoted

KEYS = (
    *("due", "time_zone", "grace_minutes", "late_percent", "late_of", "late_most", "late_days"),
    *("bonus", "drop_lowest", "curve", "drop_assignments"),
)
"""The keys of [grading] in course.toml."""

_LONGEST_GRACE = 7 * 24 * 60  # minutes: a week


def read_grading(top: Section, ids: Sequence[str], taken: Sequence[str]) -> Grading | None:
    """Return the settings of [grading], or None if the course has none.

    `ids` are the exercises of the course, and `taken` those that the class takes.
    """
    if "grading" not in top.table:
        return None
    section = top.section("grading")
    section.expect_keys(*KEYS)
    if set(taken) < set(ids):
        section = Section(without_full_bonus(section.table, taken), section.path, section.label, section.problems)
    return grading_of(section, ids, taken, due_elsewhere="assignments" in top.table)


def without_full_bonus(table: Mapping[str, object], chosen: Sequence[str]) -> Mapping[str, object]:
    """Return rules without `bonus` if all chosen exercises of a course are a bonus: beside no others, they count."""
    is_full = bool(chosen) and set(as_texts(table.get("bonus")) or ()) >= set(chosen)
    return {key: value for key, value in table.items() if key != "bonus"} if is_full else table


def grading_of(section: Section, ids: Sequence[str], taken: Sequence[str], *, due_elsewhere: bool = False) -> Grading:
    """Return the rules in a table; `due_elsewhere` if assignments with due dates of their own inherit them."""
    zone = _zone(section)
    due = _due(section, zone)
    for key in ("grace_minutes", "late_percent", "late_of", "late_most", "late_days"):
        if key in section.table and "due" not in section.table and not due_elsewhere:
            section.note(key, f"{key} has no effect without due; add due, or remove {key}")
    late_of = section.value("late_of", '"max" or "score"', _as_base, required=False)
    grace = section.value("grace_minutes", f"an integer from 0 to {_LONGEST_GRACE}", _as_minutes, required=False)
    days = section.value("late_days", "an integer from 0 to 365", _as_days, required=False)
    return Grading(
        due=due,
        zone=zone or UTC,
        grace_minutes=grace or 0,
        late_percent=_percent(section, "late_percent") or Decimal(0),
        late_of="score" if late_of == "score" else "max",
        late_most=_percent(section, "late_most") or Decimal(100),
        late_days=days,
        bonus=(bonus := _bonus(section, ids, taken)),
        drop_lowest=_drop_lowest(section, len(set(taken or ids) - set(bonus))),
        curve=_curve(section),
        drop_assignments=section.value("drop_assignments", "a number, like 1", _as_days, required=False) or 0,
    )


def _zone(section: Section) -> tzinfo | None:
    expected = "the name of a time zone, like Europe/Berlin (pip install tzdata, if this machine knows none)"
    return section.value("time_zone", expected, _as_zone, required=False)


def _due(section: Section, zone: tzinfo | None) -> datetime | None:
    """Return the local time of the zone at which work is due."""
    expected = "a date and a time, like 2026-03-01T23:59:00"
    due = section.value("due", expected, as_time, required=False)
    if due is None:
        return None
    if due.tzinfo is not None:
        return due.astimezone(zone or UTC).replace(tzinfo=None)
    if "time_zone" not in section.table:
        section.note(
            "due", f"due is {quoted(due)}, expected time_zone beside it, or a time with its offset, like +01:00"
        )
    return due


def _percent(section: Section, key: str) -> Decimal | None:
    percent = section.value(key, "a number above 0 and at most 100", _as_percent, required=False)
    if percent is not None and percent != percent.quantize(Decimal("0.01")):
        section.note(key, f"{key} is {quoted(percent)}, expected at most two decimals")
    return percent


def _bonus(section: Section, ids: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    bonus = section.value("bonus", "a list of exercise ids", as_texts, required=False) or ()
    section.expect_names("bonus", bonus, ids, "not an exercise", "expected the id of an exercise")
    if taken and set(bonus) >= set(taken):
        section.note("bonus", "bonus lists every exercise, so the maximum would be 0; remove at least one")
    return bonus


def _drop_lowest(section: Section, count: int) -> int:
    dropped = section.value("drop_lowest", "a number of exercises, like 1", _as_days, required=False) or 0
    if dropped >= max(count, 1):
        section.note("drop_lowest", f"drop_lowest is {dropped}, and {count} exercises count; expected fewer")
    return dropped


def _curve(section: Section) -> tuple[tuple[Decimal, Decimal], ...]:
    """Return the points of a curve; each score has one value, and a better score never has a lower one."""
    expected = "pairs of percent, from score to mark, like [[0, 0], [50, 60], [100, 100]]"
    curve = section.value("curve", expected, _as_pairs, required=False) or ()
    if curve:
        scores, marks = zip(*curve, strict=True)
        if scores[0] != 0 or scores[-1] != 100 or any(low >= high for low, high in pairwise(scores)):
            section.note("curve", "the scores of curve, the first of each pair, must rise from 0 to 100")
        if any(low > high for low, high in pairwise(marks)):
            section.note("curve", "a better score has a lower mark in curve; expected marks that never fall")
    return curve


def _as_pairs(value: object) -> tuple[tuple[Decimal, Decimal], ...] | None:
    if not isinstance(value, list) or len(value) < 2 or any(not isinstance(pair, list) for pair in value):
        return None
    pairs = [tuple(map(_as_share, pair)) for pair in value]
    return tuple((a, b) for a, b in pairs if a is not None and b is not None) if _whole(pairs) else None


def _whole(pairs: Sequence[tuple[Decimal | None, ...]]) -> bool:
    return all(len(pair) == 2 and None not in pair for pair in pairs)


def _as_share(value: object) -> Decimal | None:
    """Return a percentage from 0 to 200: a curve may lead above the maximum."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    share = Decimal(str(value))
    return share if 0 <= share <= 200 else None


def _as_zone(value: object) -> tzinfo | None:
    from zoneinfo import ZoneInfo  # few courses name a zone

    name = as_text(value)
    try:
        return None if name is None else UTC if name == "UTC" else ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def as_time(value: object) -> datetime | None:
    """Return a date and time between the years 1971 and 3000; None for anything else."""
    return value if isinstance(value, datetime) and 1971 <= value.year < 3000 else None


def _as_base(value: object) -> str | None:
    return value if value in ("max", "score") and isinstance(value, str) else None


def _as_minutes(value: object) -> int | None:
    minutes = as_integer(value)
    return minutes if minutes is not None and 0 <= minutes <= _LONGEST_GRACE else None


def _as_days(value: object) -> int | None:
    days = as_integer(value)
    return days if days is not None and 0 <= days <= 365 else None


def _as_percent(value: object) -> Decimal | None:
    percent = as_number(value)
    return percent if percent is not None and percent <= 100 else None
