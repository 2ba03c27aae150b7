"""Show your progress as one text or HTML page.

It contains none of your code and no name.
"""

import argparse
from collections.abc import Sequence
from html import escape
from pathlib import Path

from autograder.cli import CommandParser, Screen, add_json, say
from autograder.course import Course, find_course, read_course, write_atomically
from autograder.ending import PASS
from autograder.progress import (
    Progress,
    ProgressLine,
    read_last,
    read_progress,
    report_json,
    rows_of,
    summary,
    write_json,
)
from autograder.report import style, whole_page

# The progress as one HTML page.

COLUMNS = ("exercise", "state", "checks", "points", "runs", "hints", "first passed", "worked on")


def progress_page(course: Course, progress: Progress, lines: Sequence[ProgressLine]) -> str:
    """Return the page."""
    rows = "\n".join(_html_row(line) for line in lines)
    heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in COLUMNS)
    sentences = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in summary(course, progress, lines))
    title = escape(f"{course.title}: my progress")
    cards = _cards(course, lines)
    built = f"<h2>What you have built</h2>\n{''.join(cards)}" if cards else ""
    rules = f"{_STYLE}\n{style()}" if cards else _STYLE
    return whole_page(title, rules, _BODY.format(title=title, summary=sentences, heads=heads, rows=rows, built=built))


def _cards(course: Course, lines: Sequence[ProgressLine]) -> list[str]:
    """Return the cards of exercises that passed in their last check and have pictures."""
    from autograder.report import exercise_card

    cards = []
    for line in lines:
        last = read_last(course, line.row.exercise) if line.row.mark == "passed" else None
        if last is not None and last.result.status == "pass" and last.result.pictures:
            cards.append(exercise_card(last.result, styled=False))
    return cards


def _html_row(line: ProgressLine) -> str:
    first, state, *others = map(escape, line.cells)
    kind = {"passed": "pass", "failed": "fail", "problem": "fail"}.get(line.row.mark, "open")
    cells = "".join(f"<td>{cell}</td>" for cell in others)
    return f'<tr><th scope="row">{first}</th><td class="{kind}">{state}</td>{cells}</tr>'


_STYLE = """\
:root { color-scheme: light dark; --ink: #1c1e22; --paper: #fff; --line: #c8ccd2; --pass: #17692a; --fail: #a3201d }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dee0e4; --paper: #16181c; --line: #454a52; --pass: #7fd48f; --fail: #ff9a94 }
}
body { color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; padding: .5rem 0 }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
thead th, td.open, td.pass, td.fail { white-space: nowrap }
td.pass { color: var(--pass); font-weight: bold }
td.fail { color: var(--fail); font-weight: bold }
@media print {
  :root { --ink: #000; --paper: #fff; --pass: #000; --fail: #000 }
  body { margin: 0; max-width: none; font-size: 10pt }
  tr { break-inside: avoid }
}"""

_BODY = """\
<main>
<h1>{title}</h1>
{summary}
<div class="wide" tabindex="0" role="region" aria-label="Exercises">
<table>
<caption>A run is one check of an exercise; a hint is one that you asked for.</caption>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
{built}
</main>"""


# The command.


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the report to FILE as one HTML page")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    lines = [ProgressLine(row) for row in rows_of(course, progress)]
    if options.html is not None:
        write_atomically(options.html, progress_page(course, progress, lines))
        say(f"Your progress is in {options.html}")
        return PASS
    if write_json(options.json, report_json(course, progress, lines)):
        return PASS
    screen = Screen.of(options)
    screen.text(f"{course.title}: my progress", indent=0, style="bold")
    for sentence in summary(course, progress, lines):
        screen.text(sentence)
    screen.gap()
    for line in lines:
        screen.text(line.sentence)
    return PASS
