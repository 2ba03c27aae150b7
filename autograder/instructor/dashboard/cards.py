"""The parts of the class page that open: misconceptions with their code, and similar submissions side by side."""

from collections.abc import Iterator, Mapping, Sequence

from autograder.instructor.dashboard.misconceptions import HeldMisconception
from autograder.instructor.dashboard.page_tables import check_list
from autograder.instructor.dashboard.similar import Lines, Pair
from autograder.instructor.dashboard.table import interval_text, percent
from autograder.report.exercise_summary import number
from autograder.report.html_failure import code, text
from autograder.report.quantities import plural

MOST_CARDS, MOST_PAIRS, MOST_FILES, MOST_LINES = 12, 12, 3, 60
"""The page shows the code of this many misconceptions and pairs, files and lines; the tables list all of them."""


def misconception_cards(misconceptions: Sequence[HeldMisconception]) -> str:
    """Return the most frequent misconceptions, each with an anonymous example; the first one is open."""
    cards = [_misconception(held, at == 0) for at, held in enumerate(misconceptions[:MOST_CARDS])]
    return "\n".join((*cards, *_cut(len(misconceptions), MOST_CARDS, "misconception")))


def similar_cards(names: Mapping[str, str], pairs: Sequence[Pair]) -> str:
    """Return the shared lines of the first pairs, side by side."""
    cards = [_pair(names, pair) for pair in pairs[:MOST_PAIRS]]
    return "\n".join((*cards, *_cut(len(pairs), MOST_PAIRS, "pair")))


def _cut(total: int, most: int, what: str) -> Iterator[str]:
    """Yield a note if there are more of something than the page shows the code of."""
    if total > most:
        yield f'<p class="soft">The code of the first {most} of {plural(total, what)} is shown.</p>'


def _misconception(held: HeldMisconception, is_open: bool) -> str:
    share = f"{held.share.count} of {held.share.of} students who tried it ({interval_text(held.share)})"
    described = held.described
    parts = [f'<p class="soft">{text(f"Exercise {number(held.exercise)}; fails {check_list(held.checks)}.")}</p>']
    sides = [_figure("One student's code, without comments", _example(held))] if held.example else []
    if described is None:
        return _details(held.name, share, "".join((*parts, _sides(sides))), is_open)
    marked = [*(("✗", line) for line in described.wrong), *(("✓", line) for line in described.right)]
    if marked:
        lines = "\n".join(f"<i>{mark} </i>{code(line)}" for mark, line in marked)
        sides.append(_figure("In the catalogue: ✗ wrong, ✓ right", lines))
    parts += [f"<p>{text(described.explanation)}</p>", _sides(sides)]
    labelled = {
        "Why it is tempting": described.tempting,
        "Question for the class": described.hint,
        "Experiment": described.experiment,
    }
    parts += [f"<p><strong>{label}:</strong> {text(words)}</p>" for label, words in labelled.items() if words.strip()]
    return _details(held.name, share, "".join(parts), is_open)


def _example(held: HeldMisconception) -> str:
    return "\n".join(
        f"<b><i>▸ {at:>3}  </i>{code(line)}</b>" if at == held.wrong else f"<i>  {at:>3}  </i>{code(line)}"
        for at, line in held.example
    )


def _pair(names: Mapping[str, str], pair: Pair) -> str:
    one, other = (names[student] for student in pair.students)
    parts = []
    for alike in pair.files[:MOST_FILES]:
        sides = [
            _figure(f"{name}: {percent(share)} of their own code is similar", _shared(lines))
            for name, share, lines in zip((one, other), alike.shares, alike.lines, strict=True)
        ]
        parts.append(f"<h3>{text(alike.file)}</h3>{_sides(sides)}")
    parts += _cut(len(pair.files), MOST_FILES, "file")
    return _details(f"{one} and {other}", plural(len(pair.files), "exercise"), "".join(parts), False)


def _shared(lines: Lines) -> str:
    rows, before = [], 0
    for at, line in lines[:MOST_LINES]:
        if before and at > before + 1:
            rows.append("<i>   …</i>")
        rows.append(f"<i>{at:>4}  </i>{code(line)}")
        before = at
    more = len(lines) - MOST_LINES
    return "\n".join([*rows, *([f"<i>   … {plural(more, 'more line')}</i>"] if more > 0 else [])])


def _sides(figures: Sequence[str]) -> str:
    return f'<div class="sides">{"".join(figures)}</div>' if figures else ""


def _figure(caption: str, lines: str) -> str:
    return f'<figure><figcaption>{text(caption)}</figcaption><pre tabindex="0">{lines}</pre></figure>'


def _details(title: str, aside: str, parts: str, is_open: bool) -> str:
    summary = f'<summary>{text(title)} <span class="soft">{text(aside)}</span></summary>'
    return f"<details{' open' if is_open else ''}>{summary}{parts}</details>"
