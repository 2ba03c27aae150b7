"""Read and write times with time zones."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_TIME = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)\s*"
    r"(?:(?P<utc>Z|UTC|GMT)|(?P<offset>[+-]\d\d:?\d\d)|(?P<zone>[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+){0,3}))?\s*",
    re.ASCII,
)
YEARS = range(1971, 3000)
"""Years of submissions, far from the limits of datetime, so that no deadline overflows."""


def parse_time(text: str, zone: tzinfo) -> datetime | None:
    """Return the UTC time of a text like `2026-03-01 23:59`, with optional seconds and zone; None if it is not one.

    Without a zone of its own it is a time in `zone`. If clocks show it twice, or never, the later moment counts.
    """
    match = _TIME.fullmatch(text[:80])
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(digits or 0) for digits in match.groups()[:6])
    try:
        own = _zone(match) or zone
        wall = datetime(year, month, day, hour, minute, second, int((match[7] or "0")[:6].ljust(6, "0")))
        return to_utc(wall, own) if year in YEARS else None
    except (ValueError, OverflowError, OSError, LookupError):
        return None


def to_utc(wall: datetime, zone: tzinfo) -> datetime:
    """Return the UTC time at which the clocks of a zone show a time; the later if they show it twice or never.

    So a deadline in the hour that the clocks repeat ends with its second pass.
    """
    return max(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def format_time(time: datetime | None, zone: tzinfo = UTC) -> str:
    """Return a UTC time as text in a zone, to the second, with its offset from UTC."""
    return time.astimezone(zone).isoformat(sep=" ", timespec="seconds") if time else ""


def _zone(match: re.Match[str]) -> tzinfo | None:
    if match["utc"]:
        return UTC
    if match["offset"]:
        sign = -1 if match["offset"][0] == "-" else 1
        digits = match["offset"][1:].replace(":", "")
        return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
    return ZoneInfo(match["zone"]) if match["zone"] else None
