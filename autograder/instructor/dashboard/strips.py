"""A row of verdicts, one student beside the other, as inline SVG: a few paths, however many students there are."""

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
    "grader_error": "kit",
}
SAID = {
    "yes": "passes",
    "no": "fails",
    "cut": "was stopped: too slow, or too much memory",
    "open": "is not written, not handed in, or waits for an earlier part",
    "kit": "could not be graded",
}
"""What a kind means, in the order of the legend."""

HIGH = 16


def strip(verdicts: Sequence[Status], name: str) -> str:
    """Return the verdicts from left to right; `name` says what they are on. Its width is that of its place."""
    runs: dict[str, list[str]] = defaultdict(list)
    at = 0
    for kind, run in groupby(KINDS[verdict] for verdict in verdicts):
        long = sum(1 for _ in run)
        runs[kind].append(f"M{at} 0h{long}v{HIGH}h-{long}z")
        at += long
    counts = {kind: sum(KINDS[verdict] == kind for verdict in verdicts) for kind in SAID}
    told = ", ".join(f"{count} {SAID[kind]}" for kind, count in counts.items() if count)
    paths = "".join(f'<path class="{kind}" d="{"".join(runs[kind])}"/>' for kind in SAID if kind in runs)
    gaps = (
        '<path class="gaps" d="' + "".join(f"M{place} 0v{HIGH}" for place in range(1, at)) + '"/>' if at <= 80 else ""
    )
    label = text(f"{name}: {told}")
    return (
        f'<svg class="strip" role="img" aria-label="{label}" viewBox="0 0 {max(at, 1)} {HIGH}" '
        f'preserveAspectRatio="none" data-of="{text(name)}">{paths}{gaps}</svg>'
    )


def bar(parts: Sequence[tuple[str, int]], label: str) -> str:
    """Return counts of kinds as one bar, longest possible; `label` says them in words."""
    everything = max(sum(count for _, count in parts), 1)
    at, rects = 0, []
    for kind, count in parts:
        if count:
            rects.append(f'<rect class="{kind}" x="{at}" width="{count}" height="{HIGH}"/>')
        at += count
    return (
        f'<svg class="bar" role="img" aria-label="{text(label)}" viewBox="0 0 {everything} {HIGH}" '
        f'preserveAspectRatio="none">{"".join(rects)}</svg>'
    )


def columns(shares: Sequence[float], label: str) -> str:
    """Return shares from 0 to 1 as columns side by side; `label` says them in words."""
    rects = "".join(
        f'<rect class="yes" x="{at * 9}" y="{HIGH - max(share * HIGH, 0.5):.1f}" width="7" '
        f'height="{max(share * HIGH, 0.5):.1f}"/>'
        for at, share in enumerate(shares)
    )
    wide = 9 * len(shares) - 2
    return (
        f'<svg class="columns" role="img" aria-label="{text(label)}" width="{wide}" height="{HIGH}" '
        f'viewBox="0 0 {wide} {HIGH}"><path class="base" d="M0 {HIGH}h{wide}"/>{rects}</svg>'
    )
