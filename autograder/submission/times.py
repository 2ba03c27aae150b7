"""Times that others wrote, as moments."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_TIME = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)\s*"
    r"(?:(?P<utc>Z|UTC|GMT)|(?P<offset>[+-]\d\d:?\d\d)|(?P<zone>[A-Za-z]+(?:[/_+-][A-Za-z0-9_+-]+){0,3}))?\s*",
    re.ASCII,
)
YEARS = range(1971, 3000)
"""No submission is from another year, and no deadline leaves what datetime can count."""


def parse_time(text: str, zone: tzinfo) -> datetime | None:
    """Return the moment (UTC) of a text like `2026-03-01 23:59`, of seconds and a zone if it has them, or None.

    Without a zone of its own it is a time in `zone`; where clocks show it twice, or never, the later moment counts.
    """
    match = _TIME.fullmatch(text[:80])
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(each or 0) for each in match.groups()[:6])
    try:
        own = _zone(match) or zone
        wall = datetime(year, month, day, hour, minute, second, int((match[7] or "0")[:6].ljust(6, "0")))
        return moment(wall, own) if year in YEARS else None
    except (ValueError, OverflowError, OSError, LookupError):
        return None


def moment(wall: datetime, zone: tzinfo) -> datetime:
    """Return the moment (UTC) at which the clocks of a zone show a time; the later, where they show it twice or never.

    Whoever has to meet that time has the whole of it.
    """
    return max(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def told_time(time: datetime | None, zone: tzinfo = UTC) -> str:
    """Return a moment as the clocks of a zone show it, to the second, with its difference from UTC."""
    return time.astimezone(zone).isoformat(sep=" ", timespec="seconds") if time else ""


def _zone(match: re.Match[str]) -> tzinfo | None:
    if match["utc"]:
        return UTC
    if match["offset"]:
        sign = -1 if match["offset"][0] == "-" else 1
        digits = match["offset"][1:].replace(":", "")
        return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
    return ZoneInfo(match["zone"]) if match["zone"] else None
