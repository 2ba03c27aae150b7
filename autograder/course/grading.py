"""Read the [grading] of course.toml: when work is due, the penalty for late work, and the bonus exercises."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

from autograder.course.model import Grading
from autograder.course.nearest import nearest
from autograder.course.section import Section, as_integer, as_number, as_text, as_texts, quoted

KEYS = ("due", "time_zone", "grace_minutes", "late_percent", "late_of", "late_most", "late_days", "bonus")
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
    zone = _zone(section)
    due = _due(section, zone)
    for key in ("grace_minutes", "late_percent", "late_of", "late_most", "late_days"):
        if key in section.table and "due" not in section.table:
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
        bonus=_bonus(section, ids, taken),
    )


def _zone(section: Section) -> tzinfo | None:
    expected = "the name of a time zone, like Europe/Berlin (pip install tzdata, if this machine knows none)"
    return section.value("time_zone", expected, _as_zone, required=False)


def _due(section: Section, zone: tzinfo | None) -> datetime | None:
    """Return the local time of the zone at which work is due."""
    expected = "a date and a time, like 2026-03-01T23:59:00"
    due = section.value("due", expected, _as_time, required=False)
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
    for exercise in bonus:
        if exercise not in ids:
            near = nearest(exercise, ids)
            hint = f"did you mean {near}?" if near else "expected the id of an exercise"
            section.note("bonus", f"bonus lists {quoted(exercise)}, which is not an exercise; {hint}")
    if taken and set(bonus) >= set(taken):
        section.note("bonus", "bonus lists every exercise, so the maximum would be 0; remove at least one")
    return bonus


def _as_zone(value: object) -> tzinfo | None:
    name = as_text(value)
    try:
        return None if name is None else UTC if name == "UTC" else ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return None


def _as_time(value: object) -> datetime | None:
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
