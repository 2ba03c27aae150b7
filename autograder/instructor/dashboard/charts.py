"""Small charts as inline SVG: a strip of statuses, a bar of counts, columns of shares."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

from autograder.report.html_failure import text
from autograder.results import Status

KINDS: dict[Status, str] = {
    "pass": "yes",
    "fail": "no",
    "error": "no",
    "timeout": "cut",
    "memory": "cut",
    "waits": "open",
    "not_started": "open",
    "missing": "open",
    "held": "kit",
    "grader_error": "kit",
}
MEANINGS = {
    "yes": "passes",
    "no": "fails",
    "cut": "was stopped: time or memory limit",
    "open": "is missing, not started, or waits for an earlier part",
    "kit": "could not be graded",
}
"""The meaning of each kind, in the order of the legend."""

HEIGHT = 16
MOST_GAPS = 80
"""Above this many students the gaps between them would hide the colours."""


def strip(statuses: Sequence[Status], name: str) -> str:
    """Return the statuses from left to right as one strip; `name` labels it.

    Equal neighbours share one path, so that a large class needs few elements.
    """
    paths: dict[str, list[str]] = defaultdict(list)
    at = 0
    for kind, run in groupby(KINDS[status] for status in statuses):
        width = sum(1 for _ in run)
        paths[kind].append(f"M{at} 0h{width}v{HEIGHT}h-{width}z")
        at += width
    counts = {kind: sum(KINDS[status] == kind for status in statuses) for kind in MEANINGS}
    summary = ", ".join(f"{count} {MEANINGS[kind]}" for kind, count in counts.items() if count)
    drawing = "".join(f'<path class="{kind}" d="{"".join(paths[kind])}"/>' for kind in MEANINGS if kind in paths)
    if at <= MOST_GAPS:
        drawing += f'<path class="gaps" d="{"".join(f"M{student} 0v{HEIGHT}" for student in range(1, at))}"/>'
    return (
        f'<svg class="strip" role="img" aria-label="{text(f"{name}: {summary}")}" viewBox="0 0 {max(at, 1)} {HEIGHT}" '
        f'preserveAspectRatio="none" data-of="{text(name)}">{drawing}</svg>'
    )


def bar(count: int, of: int) -> str:
    """Return a count as the filled part of a bar."""
    parts = (("yes", 0, count), ("open", count, of - count))
    rects = "".join(
        f'<rect class="{kind}" x="{at}" width="{width}" height="{HEIGHT}"/>' for kind, at, width in parts if width
    )
    return (
        f'<svg class="bar one" role="img" aria-label="{count} of {of}" viewBox="0 0 {max(of, 1)} {HEIGHT}" '
        f'preserveAspectRatio="none">{rects}</svg>'
    )


def columns(shares: Sequence[float], label: str) -> str:
    """Return shares from 0 to 1 as columns side by side; `label` describes them in words."""
    rects = "".join(
        f'<rect class="yes" x="{at * 9}" y="{HEIGHT - height:.1f}" width="7" height="{height:.1f}"/>'
        # A share of 0 is drawn half a pixel high, so that its column can be seen.
        for at, height in enumerate(max(share * HEIGHT, 0.5) for share in shares)
    )
    width = 9 * len(shares) - 2
    return (
        f'<svg class="columns" role="img" aria-label="{text(label)}" width="{width}" height="{HEIGHT}" '
        f'viewBox="0 0 {width} {HEIGHT}"><path class="base" d="M0 {HEIGHT}h{width}"/>{rects}</svg>'
    )
