"""What of the class page is opened to be read: misconceptions with their code, and pairs side by side."""

from collections.abc import Mapping, Sequence

from autograder.instructor.dashboard.sections import checks_told
from autograder.instructor.dashboard.similar import Lines, Pair
from autograder.instructor.dashboard.tables import interval_told, percent
from autograder.instructor.dashboard.why import Why
from autograder.report.html_failure import code, text
from autograder.report.words import number, plural

MOST_CARDS, MOST_PAIRS, MOST_FILES, MOST_LINES = 12, 12, 3, 60
"""So many misconceptions and pairs are shown with their code, of so many files and lines; the tables have all."""


def why_cards(whys: Sequence[Why]) -> str:
    """Return the first misconceptions with an anonymous example; the first of them is open."""
    return "\n".join(_why_card(each, at == 0) for at, each in enumerate(whys[:MOST_CARDS]))


def similar_cards(names: Mapping[str, str], pairs: Sequence[Pair]) -> str:
    """Return the shared lines of the first pairs, side by side."""
    return "\n".join(_pair(names, each) for each in pairs[:MOST_PAIRS])


def _why_card(each: Why, is_open: bool) -> str:
    told = f"{each.share.count} of {each.share.of} who wrote it ({interval_told(each.share)})"
    page = each.described
    parts = [f'<p class="soft">{text(f"Exercise {number(each.exercise)}; fails {checks_told(each.checks)}.")}</p>']
    parts += [f"<p>{text(page.explanation)}</p>"] if page is not None else []
    sides = []
    if each.example:
        lines = "\n".join(
            f"<b><i>▸ {at:>3}  </i>{code(line)}</b>" if at == each.wrong else f"<i>  {at:>3}  </i>{code(line)}"
            for at, line in each.example
        )
        sides.append(_figure("One student, comments left out", lines))
    if page is not None and (page.wrong or page.right):
        marked = (*(("✗", line) for line in page.wrong), *(("✓", line) for line in page.right))
        lines = "\n".join(f"<i>{mark} </i>{code(line)}" for mark, line in marked)
        sides.append(_figure("As the catalogue has it: ✗ wrong, ✓ right", lines))
    parts += [f'<div class="sides">{"".join(sides)}</div>'] if sides else []
    if page is not None:
        labelled = (("Why it tempts", page.tempting), ("To ask the class", page.hint), ("To see it", page.experiment))
        parts += [f"<p><strong>{head}:</strong> {text(said)}</p>" for head, said in labelled if said.strip()]
    return _details(each.name, told, "".join(parts), is_open)


def _pair(names: Mapping[str, str], pair: Pair) -> str:
    one, other = (names[each] for each in pair.students)
    parts = []
    for each in pair.files[:MOST_FILES]:
        sides = "".join(
            _figure(f"{name}: {percent(share)} of its own code is alike", _shared(lines))
            for name, share, lines in zip((one, other), each.shares, each.lines, strict=True)
        )
        parts.append(f'<h3>{text(each.file)}</h3><div class="sides">{sides}</div>')
    return _details(f"{one} and {other}", plural(len(pair.files), "exercise"), "".join(parts), False)


def _shared(lines: Lines) -> str:
    shown, before = [], 0
    for at, line in lines[:MOST_LINES]:
        if before and at > before + 1:
            shown.append("<i>   …</i>")
        shown.append(f"<i>{at:>4}  </i>{code(line)}")
        before = at
    more = len(lines) - MOST_LINES
    return "\n".join([*shown, *([f"<i>   … {plural(more, 'more line')}</i>"] if more > 0 else [])])


def _figure(head: str, lines: str) -> str:
    return f'<figure><figcaption>{text(head)}</figcaption><pre tabindex="0">{lines}</pre></figure>'


def _details(head: str, beside: str, parts: str, is_open: bool) -> str:
    summary = f'<summary>{text(head)} <span class="soft">{text(beside)}</span></summary>'
    return f"<details{' open' if is_open else ''}>{summary}{parts}</details>"
