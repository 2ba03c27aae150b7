"""What a card shows of the first check that fails: finding, place, numbers, hints, in this order."""

from collections.abc import Iterator, Sequence
from html import escape

from autograder.report.evidence import apart_by, is_alike, is_values
from autograder.report.failure import sentences_of
from autograder.report.heat import Grid, greatest, where_differs
from autograder.report.html_grid import grid_svg
from autograder.report.maps import alike, leaks
from autograder.report.printable import one_line, printable
from autograder.report.words import (
    AGREES,
    STATES,
    circumstance,
    explanation,
    function,
    line_of,
    message_of,
    was_asked,
)
from autograder.results.model import CheckResult, Evidence, Finding, Maps, Place

BEFORE, AFTER = 2, 1
MOST_WITNESSES, MOST_VALUES, MOST_PRINTED = 6, 6, 8
_LONGEST_LINE = 500


def failure_parts(check: CheckResult, hints_shown: int, log: str) -> Iterator[str]:
    """Yield the parts of a failure."""
    finding = check.finding
    first, *others = sentences_of(message_of(check.status, finding))
    yield f"<p><strong>{text(first)}</strong> {text(' '.join(others))}</p>"
    if explained := explanation(check.status, finding).strip():
        yield f"<p>{'<br>'.join(text(each) for each in explained.splitlines()[:MOST_PRINTED])}</p>"
    if was_asked(check):
        yield f'<p class="soft">Check: {text(check.title)}</p>'
    if finding is not None:
        if finding.place is not None:
            yield _place(check, finding, finding.place)
        if finding.evidence is not None:
            yield from _evidence(finding.evidence)
    if log.strip():
        yield _printed(log)
    yield from _hints(check, hints_shown)


def text(words: str) -> str:
    """Return words of ours, or of a student, on one line and safe inside HTML."""
    return escape(one_line(words))


def code(line: str) -> str:
    """Return a piece of code as it is, safe inside HTML."""
    return escape(printable(line[:_LONGEST_LINE]).replace("\n", " "))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "", words: str = "") -> str:
    """Return a table of cells that are safe already; the first of each row names it."""
    titled = f"<caption>{caption}</caption>" if caption else ""
    heads = "".join(f'<th scope="col">{each}</th>' for each in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{each}</td>" for each in others)}</tr>'
        for first, *others in rows
    )
    named = f' class="{words}"' if words else ""
    reached = "" if words else ' tabindex="0"'  # so that who has no mouse can move a table that is too wide
    whole = f"<table{named}>{titled}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide"{reached}>{whole}</div>'


def _place(check: CheckResult, finding: Finding, place: Place) -> str:
    within = f"in {function(finding)}()" if function(finding) else ""
    said = ", ".join(filter(None, (place.file, line_of(place), within, circumstance(check.status, finding))))
    near = [each for each in finding.source if -BEFORE <= each[0] - place.line <= AFTER]
    digits = max((len(str(number)) for number, _ in near), default=0)
    lines = "".join(_line(finding, place, number, line, digits) for number, line in near)
    agrees = {number for number, _ in near} & set(finding.agrees) - {place.line}
    legend = f'<span class="soft">✓ {AGREES}</span>' if agrees else ""
    source = f"<pre>{lines}</pre>{legend}" if lines else ""
    return f'<figure class="place"><figcaption>{text(said)}</figcaption>{source}</figure>'


def _line(finding: Finding, place: Place, number: int, line: str, digits: int) -> str:
    wrong, agrees = number == place.line, number in finding.agrees and number != place.line
    mark = "▸" if wrong else "✓" if agrees else " "
    kind = "wrong" if wrong else "agrees" if agrees else ""
    shown = _marked(finding, place, line.rstrip()) if wrong else code(line.rstrip())
    return f'<span class="{kind}"><i>{mark} {number:>{digits}}  </i>{shown}\n</span>'


def _marked(finding: Finding, place: Place, line: str) -> str:
    """Return the line that is wrong, its characters underlined, and what is wrong with them."""
    label = f"   <em>{text(finding.label)}</em>" if finding.label else ""
    if place.column is None or not 0 <= place.column < len(line):
        return code(line) + label
    end = place.end if place.end is not None and place.end > place.column else len(line)
    return f"{code(line[: place.column])}<u>{code(line[place.column : end])}</u>{code(line[end:])}{label}"


def _evidence(evidence: Evidence) -> Iterator[str]:
    name = text(evidence.name)
    if is_values(evidence):
        rows = [(text(label), f"<code>{text(value)}</code>") for label, _, value in evidence.rows[:MOST_VALUES]]
        yield table((name, "value"), rows, words="words")
        return
    if evidence.rows and not is_alike(evidence):
        yield _compared(evidence)
    shown = [*_maps(evidence.maps), *_witnesses(evidence)]
    if shown:
        yield f'<div class="shown">{"".join(shown)}</div>'


def _compared(evidence: Evidence) -> str:
    """Return expected above yours; what is the same is said in words."""
    last = len(evidence.rows) - 1
    head = [text(evidence.name), *(text(label) for label, _, _ in evidence.rows)]
    expected = ["expected", *(text(each) for _, each, _ in evidence.rows)]
    yours = ["yours"]
    for place, (_, one, other) in enumerate(evidence.rows):
        wrong = one != other and (place == last or place < 2)
        yours.append("same" if one == other else f"<em>{text(other)}</em>" if wrong else text(other))
    return table(head, [expected, yours])


def _maps(maps: Maps | None) -> Iterator[str]:
    """Yield expected and yours on one scale, with crosses on what says most: what a mask lets through, or differs."""
    if maps is None or not alike(maps):
        return
    most = greatest(maps.expected, maps.yours)
    marked = leaks(maps)
    words = "yours is not 0, expected 0" if marked else "yours differs"
    marked = marked or where_differs(maps.expected, maps.yours)
    if all(map(all, marked)):
        marked, words = [], "every number differs"
    caption = text(maps.caption).rstrip(".")
    for name, grid, crosses in (("expected", maps.expected, []), ("yours", maps.yours, marked)):
        said = f"{name}, {len(grid)} rows and {len(grid[0])} columns, {caption}; {_range(grid)}"
        beside = f" (× : {words})" if crosses else ""
        drawing = grid_svg(grid, said, most=most, marked=crosses)
        below = f'<br><span class="soft">{caption}</span>' if name == "expected" else f"<br>{_legend(maps)}"
        yield f"<figure>{drawing}<figcaption>{name}{beside}{below}</figcaption></figure>"


def _range(grid: Grid) -> str:
    numbers = [each for row in grid for each in row if each is not None]
    return f"values from {min(numbers):.3g} to {max(numbers):.3g}" if numbers else "no finite value"


def _legend(maps: Maps) -> str:
    numbers = [each for grid in (maps.expected, maps.yours) for row in grid for each in row]
    signs = (
        (any(each is not None and each > 0 for each in numbers), "orange +"),
        (any(each is not None and each < 0 for each in numbers), "blue −"),
        (None in numbers, "grey not finite"),
    )
    return f"one scale: {', '.join(word for there, word in signs if there) or 'all 0'}"


def _witnesses(evidence: Evidence) -> Iterator[str]:
    witnesses = evidence.witnesses[:MOST_WITNESSES]
    if not witnesses:
        return
    word, gaps = apart_by(witnesses)
    head = [text(evidence.axes), "expected", "yours", *([word] if gaps else [])]
    rows = [
        [text(at), text(one), text(other) if gaps else f"<em>{text(other)}</em>"]
        + ([f"<em>{text(gaps[place])}</em>"] if gaps else [])
        for place, (at, one, other) in enumerate(witnesses)
    ]
    yield table(head, rows, caption=text(evidence.witness_title))


def _printed(log: str) -> str:
    lines = printable(log[-10_000:]).strip("\n").split("\n")
    head = "Your code printed" if len(lines) <= MOST_PRINTED else "Your code printed, at the end"
    shown = "\n".join(code(each) for each in lines[-MOST_PRINTED:])
    return f'<figure class="place"><figcaption>{head}</figcaption><pre>{shown}</pre></figure>'


def _hints(check: CheckResult, shown: int) -> Iterator[str]:
    """Yield the hints that were given so far, the last one open; none where the student has yet to try."""
    if STATES[check.status].mark in ("waiting", "problem"):
        return
    last = min(shown, len(check.hints))
    for place, hint in enumerate(check.hints[:last], 1):
        opened = " open" if place == last else ""
        head = f"Hint {place} of {len(check.hints)}"
        yield f"<details{opened}><summary>{head}</summary>{text(hint)}</details>"
