"""Counts, points, times and lists in words."""

from collections.abc import Sequence


def points(hundredths: int) -> str:
    """Return whole hundredths as points: 2350 as `23.5`."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def points_of(score: int, max_score: int) -> str:
    """Return `3 of 8 points`, or `3 points` if there is no maximum, as for a bonus."""
    of = f" of {points(max_score)}" if max_score else ""
    return f"{points(score)}{of} {'point' if (max_score or score) == 100 else 'points'}"


def plural(count: int, word: str) -> str:
    """Return `1 check`, `7 checks`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def ordinal(count: int) -> str:
    """Return `1st`, `2nd`, `11th`."""
    ending = "th" if count // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def seconds(duration: float) -> str:
    """Return a measured time with as many digits as are worth reading."""
    return f"{duration:.0f} s" if duration >= 10 else f"{duration:.1f} s" if duration >= 1 else f"{duration:.2f} s"


def duration(seconds: float) -> str:
    """Return a time as people say it: `45 s`, `4 min`, `2 h 7 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return " ".join(filter(None, (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "")))


def kilobytes(size: int) -> str:
    """Return a number of bytes in thousands: `92 kB`; a kilobyte that has begun counts."""
    return f"{-(-size // 1000)} kB"


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
