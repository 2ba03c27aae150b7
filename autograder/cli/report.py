"""`course report`: a learner's progress as one text or page, with no code and no name in it.

The page has the pictures of what passed, too: they are kept from the last check, and nothing is run for them.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from autograder.cli.overview import Row, effort, rows_of
from autograder.cli.screen import Screen
from autograder.cli.written import write_json
from autograder.course import Course, find_course, read_course
from autograder.exits import PASS
from autograder.learner.progress import Progress, read_progress, write_whole
from autograder.learner.progress.last import read_last
from autograder.report.html_page import whole_page
from autograder.report.html_style import style
from autograder.report.words import plural, points
from autograder.results.reading import from_json

COLUMNS = ("exercise", "state", "checks", "points", "runs", "hints", "first passed", "worked on")


@dataclass(frozen=True)
class Line:
    """What is said about one exercise, as words."""

    row: Row

    @property
    def hints(self) -> str:
        standing = self.row.standing
        extra = [f"{standing.hints_now} without an edit"] if standing.hints_now else []
        extra += ["solution shown"] if standing.solution_shown else []
        return str(standing.hints_taken) + (f" ({', '.join(extra)})" if extra else "")

    @property
    def first_passed(self) -> str:
        passed = self.row.standing.first_passed
        return "no" if passed is None else passed[:10] or "yes"

    @property
    def span(self) -> str:
        first, last = ((at or "")[:10] for at in (self.row.standing.first_at, self.row.standing.last_at))
        return first if first == last else f"{first} to {last}"

    @property
    def sentence(self) -> str:
        row = self.row
        said = f"{row.exercise.number} {row.exercise.title}: {row.word}"
        if not row.standing.runs:
            return said
        passed = f"first passed: {self.first_passed}"
        facts = (row.checks, row.points, plural(row.standing.runs, "run"), f"hints: {self.hints}", passed, self.span)
        return f"{said}; {', '.join(filter(None, facts))}"

    @property
    def cells(self) -> tuple[str, ...]:
        row = self.row
        title = f"{row.exercise.number} {row.exercise.title}"
        score = f"{points(row.standing.score)} of {points(row.exercise.points)}"
        checks = row.checks.removesuffix("s").removesuffix(" check")
        counts = (checks, score, str(row.standing.runs), self.hints)
        return (title, row.word, *counts, self.first_passed, self.span)


def show_report(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    progress = read_progress(course)
    lines = [Line(each) for each in rows_of(course, progress)]
    if options.html is not None:
        write_whole(options.html, page(course, progress, lines))
        print(f"Your progress is in {options.html}")
        return PASS
    if write_json(options, _data(course, progress, lines)):
        return PASS
    screen = Screen.of(options)
    screen.text(f"{course.title}: my progress", indent=0, style="bold")
    for sentence in _summary(course, progress, lines):
        screen.text(sentence)
    screen.gap()
    for line in lines:
        screen.text(line.sentence)
    return PASS


def _data(course: Course, progress: Progress, lines: Sequence[Line]) -> dict[str, Any]:
    exercises = [
        {
            **each.row.to_json(),
            "hints_without_an_edit": each.row.standing.hints_now,
            "solution_shown": each.row.standing.solution_shown,
            "resets": each.row.standing.resets,
            "first_at": each.row.standing.first_at,
            "last_at": each.row.standing.last_at,
        }
        for each in lines
    ]
    return {"course": course.title, "passed": progress.passed(course), "exercises": exercises}


def _summary(course: Course, progress: Progress, lines: Sequence[Line]) -> list[str]:
    score = sum(each.row.standing.score for each in lines)
    most = sum(each.points for each in course.exercises)
    return [
        f"{progress.passed(course)} of {plural(len(course.exercises), 'exercise')} passed, "
        f"{points(score)} of {points(most)} points in the last checks",
        effort([each.row for each in lines]),
    ]


def page(course: Course, progress: Progress, lines: Sequence[Line]) -> str:
    """Return the progress as one HTML page: no script, nothing loaded, readable without its colours."""
    rows = "\n".join(_html_row(each) for each in lines)
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in COLUMNS)
    summary = "\n".join(f"<p>{escape(each)}</p>" for each in _summary(course, progress, lines))
    title = escape(f"{course.title}: my progress")
    cards = _cards(course, lines)
    built = f"<h2>What you have built</h2>\n{''.join(cards)}" if cards else ""
    look = f"{_STYLE}\n{style()}" if cards else _STYLE
    return whole_page(title, look, _BODY.format(title=title, summary=summary, heads=heads, rows=rows, built=built))


def _cards(course: Course, lines: Sequence[Line]) -> list[str]:
    """Return the cards of what passed in the last check of it, and has pictures."""
    from autograder.report.html import exercise_card

    found = []
    for line in lines:
        last = read_last(course, line.row.exercise) if line.row.mark == "passed" else None
        try:
            results = from_json(last.report).exercises if last is not None else ()
        except (KeyError, TypeError, ValueError, AttributeError):
            continue  # kept by another version: the next check writes it anew
        found += [exercise_card(each, styled=False) for each in results if each.status == "pass" and each.pictures]
    return found


def _html_row(line: Line) -> str:
    first, state, *others = map(escape, line.cells)
    kind = {"passed": "pass", "failed": "fail", "problem": "fail"}.get(line.row.mark, "open")
    cells = "".join(f"<td>{each}</td>" for each in others)
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
<caption>A run is one check of an exercise; a hint is one that was asked for.</caption>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
{built}
</main>"""
