"""The class page: one file that loads nothing from a network, and its tables as CSV files."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from autograder.report import DARK, LIGHT, code, listed, number, plural, points, spoken, text, whole_page, why_held

from .statistics import (
    FEWEST,
    OPEN,
    STOPPED,
    CheckStatistics,
    Cluster,
    Cohort,
    HeldMisconception,
    Lines,
    Pair,
    Share,
    StuckStudent,
    passing_share,
    student_of,
)
from .table import (
    CHART,
    INTERVAL,
    MEANINGS,
    Cell,
    Column,
    Table,
    bar,
    columns,
    interval_cell,
    interval_text,
    legend,
    matrix,
    matrix_csv,
    percent,
    share_cell,
    strip,
)

# The tables of the class page.

MOST_CHECKS, MOST_STUDENTS = 5, 4
"""A cell names this many checks or students; the CSV has all."""

EARNED = "What the checks gave, before lateness and decisions"
OF_JUDGED = "Shares are of the students whose work was judged."

WILSON = "Wilson's 95 % confidence interval: the likely share in a much larger class"


def stuck_table(rows: Sequence[StuckStudent]) -> Table:
    """Return the table of stuck students."""
    heads = (
        Column("student"),
        Column("points", EARNED, title="points earned"),
        Column("stuck on", words=True),
        Column("why", words=True),
        Column("verdict", words=True),
        Column("exercises passed"),
        Column("exercises that fail"),
    )
    cells = [
        (
            Cell(row.name),
            Cell(row.score / 100, points(row.score)),
            Cell(spoken(row.exercise)),
            Cell(row.why),
            Cell(row.state),
            Cell(row.passed, f"{row.passed} of {row.exercises}"),
            Cell(row.failing),
        )
        for row in rows
    ]
    caption = "The first exercise that each student started and does not pass, and why. Lowest score first."
    return Table("stuck", caption, heads, cells)


def looks_table(looks: Sequence[tuple[str, str]]) -> Table:
    """Return the table of the submissions that a person should look at, and why."""
    heads = (Column("student"), Column("why", words=True))
    caption = "Submissions that are held or unusual, and what is known about them. Those without a score come first."
    return Table("look", caption, heads, [(Cell(name), Cell(why)) for name, why in looks])


def exercises_table(cohort: Cohort) -> Table:
    """Return the table of exercises with the progress of the class."""
    heads = (
        Column("exercise"),
        Column("students, best score first", words=True, kind=CHART),
        Column("pass"),
        Column("95 % interval", WILSON, kind=INTERVAL),
        Column("fail"),
        Column("stopped", "Time-outs and memory limits"),
        Column("not written", "Not started, missing, or waiting for an earlier part", title="open"),
    )
    rows = []
    for exercise, title in cohort.exercises:
        statuses = cohort.of_exercise(exercise)
        share = passing_share(statuses)
        label = f"{number(exercise)} {title}"
        rows.append(
            (
                Cell(exercise, markup=text(label)),
                Cell("", markup=strip(statuses, label)),
                share_cell(share),
                interval_cell(share),
                Cell(sum(status in ("fail", "error") for status in statuses)),
                Cell(sum(status in STOPPED for status in statuses)),
                Cell(sum(status in OPEN for status in statuses)),
            )
        )
    return Table("exercises", f"Progress of the class, by exercise. {OF_JUDGED}", heads, rows)


def misconceptions_table(misconceptions: Sequence[HeldMisconception]) -> Table:
    """Return the table of the misconceptions in the class."""
    heads = (
        Column("misconception", words=True),
        Column("students"),
        Column("share of those who tried", words=True, kind=CHART),
        Column("share"),
        Column("95 % interval", WILSON, kind=INTERVAL),
        Column("exercise", words=True),
        Column("id", words=True),
    )
    rows = [
        (
            Cell(held.name),
            Cell(held.share.count),
            Cell("", markup=bar(held.share.count, held.share.of)),
            Cell(round(held.share.value or 0, 4), f"{percent(held.share.value or 0)} of {held.share.of}"),
            interval_cell(held.share),
            Cell(spoken(held.exercise)),
            Cell(held.id, markup=f"<code>{text(held.id)}</code>"),
        )
        for held in misconceptions
    ]
    caption = "Misconceptions in this class. Each student counts once per misconception."
    return Table("misconceptions", caption, heads, rows)


def quality_table(rows: Sequence[CheckStatistics]) -> Table:
    """Return the table of the checks with their quality."""
    tried = "Share that passes, among students whose code ran"
    fifths = "Mean score in each fifth of the class, weakest first"
    heads = (
        Column("check", words=True),
        Column("exercise", words=True),
        Column("difficulty", "Mean score of all students with a score, from 0 to 100 %: high means easy"),
        Column("95 % interval", WILSON, kind=INTERVAL),
        Column("of who wrote it", tried, title="pass rate of those who tried"),
        Column("discrimination", "Correlation of this check's score with the score of all other checks"),
        Column("by fifths", fifths, title="quintiles"),
        Column("unexplained", "Failures that match neither a misconception nor a pattern"),
        Column("its 95 % interval", WILSON, kind=INTERVAL, title="95 % interval"),
        Column("stopped", "Time-outs and memory limits"),
        Column("grader problems"),
        Column("look at", words=True),
    )
    return Table("checks", "Every check of the course.", heads, [_quality(row) for row in rows])


def clusters_table(cohort: Cohort, clusters: Sequence[Cluster]) -> Table:
    """Return the table of the failures without a name."""
    heads = (
        Column("group"),
        Column("students"),
        Column("exercise", words=True),
        Column("fails", words=True),
        Column("what is known", words=True),
        Column("unexplained", words=True),
        Column("who", words=True),
    )
    rows = []
    for cluster in clusters:
        names = [cohort.names[student] for student in cluster.students]
        more = f" and {len(names) - MOST_STUDENTS} more" if len(names) > MOST_STUDENTS else ""
        rows.append(
            (
                Cell(cluster.id, markup=f"<code>{text(cluster.id)}</code>"),
                Cell(len(cluster.students)),
                Cell(spoken(cluster.exercise)),
                Cell(listed([spoken(check) for check in cluster.checks]), check_list(cluster.checks)),
                Cell(cluster.message),
                Cell("yes" if cluster.unexplained else "no"),
                Cell(", ".join(names), ", ".join(names[:MOST_STUDENTS]) + more),
            )
        )
    return Table("unnamed", "Failures that match no misconception, grouped by equal results.", heads, rows)


def similar_table(names: Mapping[str, str], pairs: Sequence[Pair]) -> Table:
    """Return the table of the pairs of similar submissions."""
    own = "Share of this student's own code, in the most similar file"
    heads = (
        Column("student"),
        Column("and", words=True),
        Column("characters alike", "Characters of shared code; each name counts as one character"),
        Column("of the one's own", own, title="share of the first"),
        Column("of the other's own", own, title="share of the second"),
        Column("exercises", words=True),
    )
    rows = []
    for pair in pairs:
        files = listed([spoken(alike.file.removesuffix(".py")) for alike in pair.files])
        shares = [Cell(round(share, 4), percent(share)) for share in pair.files[0].shares]
        one, other = (names[student] for student in pair.students)
        rows.append((Cell(one), Cell(other), Cell(pair.shared), *shares, Cell(files)))
    return Table("similar", "Pairs of submissions that share more code than others.", heads, rows)


def check_list(checks: Sequence[str]) -> str:
    """Return the first few checks by name, and the number of the others."""
    names = [spoken(check) for check in checks]
    more = [f"{len(names) - MOST_CHECKS} more"] if len(names) > MOST_CHECKS else []
    return listed([*names[:MOST_CHECKS], *more])


def small_class_note(cohort: Cohort) -> str:
    """Return a note about the statistics that a small class does not have; empty for a large class."""
    if len(cohort.scored) >= FEWEST:
        return ""
    return (
        f"Discrimination and quintiles need at least {FEWEST} students; this class has "
        f"{plural(len(cohort.scored), 'student')} with a score. The intervals show how uncertain the shares are."
    )


def _quality(row: CheckStatistics) -> Sequence[Cell]:
    name = spoken(row.item.check)
    bonus = " (bonus)" if row.item.bonus else ""
    unexplained = row.unexplained
    return (
        Cell(name, markup=f'<span title="{text(row.item.title)}">{text(name + bonus)}</span>'),
        Cell(spoken(row.item.exercise)),
        share_cell(row.difficulty),
        interval_cell(row.difficulty),
        share_cell(row.tried),
        _correlation(row.discrimination),
        _quintiles(row.quintiles),
        Cell(unexplained.value and round(unexplained.value, 4), f"{unexplained.count} of {unexplained.of}"),
        interval_cell(unexplained),
        Cell(row.stopped),
        Cell(row.grader),
        Cell(row.remark),
    )


def _correlation(value: float | None) -> Cell:
    # Adding 0.0 turns -0.0 into 0.0.
    return Cell(None) if value is None else Cell(round(value, 3), f"{round(value, 2) + 0.0:.2f}".replace("-", "−"))


def _quintiles(shares: Sequence[float]) -> Cell:
    if not shares:
        return Cell(None)
    label = f"quintiles, weakest first: {', '.join(map(percent, shares))}"
    return Cell(" ".join(f"{share:.2f}" for share in shares), markup=columns(shares, label))


# The parts of the class page that open: misconceptions with their code, and similar submissions side by side.

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


# The style sheet and the script of the class page, which loads nothing and is readable without the script.
#
# Every text has a contrast of at least 4.5 in both themes. The meaning of each colour is also written in words.

_KINDS = {
    "light": {
        "yes": "#b9d4e6",
        "no": "#b3400a",
        "cut": "#5c1f5c",
        "open": "#ffffff",
        "kit": "#e0a800",
        "bar": "#2f6f97",
    },
    "dark": {
        "yes": "#27485c",
        "no": "#ff9a5c",
        "cut": "#d79be0",
        "open": "#17191f",
        "kit": "#ffe08a",
        "bar": "#6fb4de",
    },
}

_RULES = """\
* { box-sizing: border-box }
html { scroll-padding-top: 3.2rem }
body { margin: 0; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
main { max-width: 84rem; margin: 0 auto; padding: 0 1.2rem 4rem }
header { max-width: 84rem; margin: 0 auto; padding: 1.4rem 1.2rem .4rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .3rem; text-wrap: balance }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .3rem }
h3 { font-size: 1rem; margin: 1.2rem 0 .2rem }
p { margin: .35rem 0; max-width: 62rem }
a { color: var(--key) }
.soft, caption, figcaption, thead th { color: var(--soft) }
.note { border-left: 4px solid var(--warn); padding: .1rem .8rem }
nav { position: sticky; top: 0; z-index: 2; background: var(--paper); border-bottom: 1px solid var(--line) }
nav ul { max-width: 84rem; margin: 0 auto; padding: .5rem 1.2rem; list-style: none; display: flex; flex-wrap: wrap;
  gap: .1rem 1.4rem }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem 2.6rem; margin: .8rem 0; padding: 0 }
.tiles div { display: flex; flex-direction: column-reverse }
.tiles dt { color: var(--soft); font-size: .9rem }
.tiles dd { margin: 0; font-size: 1.45rem; line-height: 1.2; font-weight: 600 }
.wide { overflow: auto; max-height: 34rem; margin: .6rem 0; border: 1px solid var(--line); border-radius: 4px }
.wide:focus-visible, summary:focus-visible, a:focus-visible, button:focus-visible { outline: 2px solid var(--key);
  outline-offset: 1px }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13.5px;
  font-variant-numeric: tabular-nums }
caption { text-align: left; padding: .4rem .7rem; max-width: 62rem }
caption span { white-space: nowrap }
th, td { padding: .22rem .7rem; text-align: right; vertical-align: baseline; font-weight: 400;
  border-top: 1px solid var(--line) }
thead th { position: sticky; top: 0; z-index: 1; background: var(--paper); border-top: 0; white-space: nowrap;
  border-bottom: 1px solid var(--line); vertical-align: bottom }
tbody th { font-weight: 600 }
th:first-child, .words { text-align: left }
td:not(.words) { white-space: nowrap }
td.words { min-width: 11rem; overflow-wrap: anywhere }
th.words[scope=row] { min-width: 8rem; max-width: 24rem }
th[scope=row]:not(.words) { white-space: nowrap }
#why th.words[scope=row] { min-width: 16rem }
#why td.chart, #why th.chart { width: 20%; min-width: 7rem }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer;
  text-align: inherit }
th button::after { content: " ↕"; color: var(--soft) }
th[aria-sort=ascending] button::after { content: " ↑"; color: var(--ink) }
th[aria-sort=descending] button::after { content: " ↓"; color: var(--ink) }
th[aria-sort=ascending], th[aria-sort=descending] { color: var(--ink) }
td.chart, th.chart { text-align: left; width: 45% }
td.chart { min-width: 14rem; vertical-align: middle }
details td.chart, details th.chart { width: 75% }
svg { display: block }
.strip, .bar { width: 100%; height: 15px; shape-rendering: crispEdges; border: 1px solid var(--line) }
.yes { fill: var(--yes) } .no { fill: var(--no) } .cut { fill: var(--cut) } .open { fill: var(--open) }
.kit { fill: var(--kit) }
.gaps { stroke: var(--paper); stroke-width: 1px; vector-effect: non-scaling-stroke; fill: none; pointer-events: none }
.base { stroke: var(--line) }
.columns .yes, .bar.one .yes { fill: var(--bar) }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; list-style: none; margin: .4rem 0; padding: 0;
  font-size: 13.5px }
.legend svg { display: inline-block; width: 1.1em; height: .9em; border: 1px solid var(--soft); margin-right: .4em;
  vertical-align: -1px }
details { border: 1px solid var(--line); border-radius: 4px; margin: .5rem 0; padding: 0 .8rem }
details > .wide { border: 0; margin: 0 -.8rem }
summary { cursor: pointer; padding: .45rem 0; font-weight: 600 }
summary .soft { font-weight: 400 }
details[open] > :last-child { margin-bottom: .7rem }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: .3rem 1.2rem }
figure { margin: .4rem 0; min-width: 0 }
pre, code { font: 12.5px/1.55 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace }
pre { margin: .2rem 0; padding: .45rem .7rem; background: var(--code); border-radius: 4px; overflow-x: auto;
  white-space: pre }
pre i { font-style: normal; color: var(--soft); user-select: none }
pre b { font-weight: 600 }
#point { position: fixed; z-index: 3; pointer-events: none; background: var(--ink); color: var(--paper);
  padding: .15rem .5rem; border-radius: 3px; font-size: 13px; max-width: 24rem }
@media (max-width: 40rem) {
  body { font-size: 14px } main, header, nav ul { padding-left: .8rem; padding-right: .8rem }
  caption { max-width: calc(100vw - 1.8rem) } nav { position: static } html { scroll-padding-top: 0 }
  th, td { padding: .22rem .45rem } #why th.words[scope=row] { min-width: 11rem }
  .tiles { gap: .6rem 1.6rem } .tiles dd { font-size: 1.2rem }
}
@media print {
  @page { margin: 12mm; size: landscape }
  body { font-size: 10pt } main, header { max-width: none; padding: 0 }
  nav, caption span, #point { display: none }
  .wide { overflow: visible; max-height: none; border: 0 } table { font-size: 8.5pt }
  thead th { position: static; white-space: normal } th, td { padding: .15rem .4rem }
  tr, figure, pre { break-inside: avoid } h2, h3, summary { break-after: avoid }
  th button::after { content: none !important }
  td.words, #why th.words[scope=row] { min-width: 5rem; overflow-wrap: normal }
  td.chart { min-width: 7rem }
  details::details-content { content-visibility: visible; height: auto }
  pre { white-space: pre-wrap } a { color: inherit } .legend { break-inside: avoid }
  .strip, .bar, .columns { print-color-adjust: exact }
}
"""

SCRIPT = """\
"use strict";
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const by = (row, at) => row.cells[at].dataset.by ?? row.cells[at].textContent;
  heads.forEach((head, at) => {
    if (head.classList.contains("chart")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const words = head.classList.contains("words") || at === 0;
      const [first, second] = words ? ["ascending", "descending"] : ["descending", "ascending"];
      const order = head.getAttribute("aria-sort") === first ? second : first;
      for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const rows = [...body.rows].map(row => [by(row, at), row]);
      rows.sort(([a], [b]) => {
        if (a === "" || b === "") return (a === "") - (b === "");
        const gap = Number(a) - Number(b);
        return sign * (Number.isNaN(gap) ? a.localeCompare(b, undefined, { numeric: true }) : gap);
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
const names = JSON.parse(document.getElementById("students").textContent);
const meanings = JSON.parse(document.getElementById("meanings").textContent);
const point = document.getElementById("point");
document.addEventListener("pointermove", event => {
  const strip = event.target.closest?.("svg.strip");
  point.hidden = !strip;
  if (!strip) return;
  const box = strip.getBoundingClientRect();
  const at = Math.min(names.length - 1, Math.floor((event.clientX - box.left) / box.width * names.length));
  point.textContent = `${names[at]}: ${strip.dataset.of} ${meanings[event.target.getAttribute("class")] ?? ""}`;
  point.style.top = `${Math.min(event.clientY + 14, innerHeight - 60)}px`;
  point.style.left = `${Math.max(4, Math.min(event.clientX - 40, innerWidth - 240))}px`;
});
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(part => { part.open = true; }));
"""


def style() -> str:
    """Return the style sheet."""
    themes = [
        f":root {{ color-scheme: light; {_colors(LIGHT, 'light')} }}",
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {_colors(DARK, 'dark')} }} }}",
    ]
    return "\n".join((*themes, _RULES))


def _colors(theme: dict[str, str], name: str) -> str:
    return "; ".join(f"--{key}: {color}" for key, color in (theme | _KINDS[name]).items())


FOLDER = "class"
"""The folder with the tables, beside the page."""

SIMILAR = "similar.csv"
"""The only table that is not always made."""

MOST_CLUSTERS = 100
"""The page lists this many groups of failures, which is more than an author works through; the CSV has all."""

HOW_CHECKS = (
    "Difficulty is the mean score of a check: high means easy. Discrimination is the correlation of its score with the "
    "score of all other checks. Near 0 or below, the check does not separate strong students from weak ones. Quintiles "
    "are the mean scores in each fifth of the class: they should rise from left to right. Unexplained failures match "
    "neither a misconception nor a pattern: they are the author's list of things to do."
)
HOW_CLUSTERS = (
    "Each row is probably one mistake: its results are equal up to rounding, or its exceptions are the same. "
    "`course name OUT DIR GROUP` adds it to the catalogue of misconceptions, as a patch of the solution. You write its "
    "texts. From then on, `course grade` recognises it."
)
HOW_SIMILAR = (
    "Similarity proves nothing: these exercises are short, and people who learn together write similar code. Names, "
    "comments and the order of functions are ignored, and so is code that was handed out or that many students share. "
    "Read the lines, and ask the students."
)


@dataclass(frozen=True)
class Findings:
    """The content of the page. `pairs` is None if submissions were not compared; `notes` are shown at the top.

    `looks` are the names of students, with why a person should look at the submission.
    """

    room: Cohort
    stuck: Sequence[StuckStudent]
    why: Sequence[HeldMisconception]
    figures: Sequence[CheckStatistics]
    clusters: Sequence[Cluster]
    pairs: Sequence[Pair] | None
    not_compared: str
    notes: Sequence[str]
    looks: Sequence[tuple[str, str]] = ()


def tables(content: Findings) -> Mapping[str, str]:
    """Return the CSV files of the page by name."""
    cohort = content.room
    csv_tables = [
        looks_table(content.looks),
        stuck_table(content.stuck),
        exercises_table(cohort),
        misconceptions_table(content.why),
        quality_table(content.figures),
        clusters_table(cohort, content.clusters),
        *([similar_table(cohort.names, content.pairs)] if content.pairs is not None else []),
    ]
    return {**{f"{table.name}.csv": table.csv() for table in csv_tables}, "matrix.csv": matrix_csv(cohort)}


def page(content: Findings) -> str:
    """Return the page."""
    cohort = content.room
    sections = (
        ("look", "Need a look", _looks(content)),
        ("stuck", "Stuck students", _stuck(content)),
        ("where", "Exercises and checks", _exercises(cohort)),
        ("why", "Misconceptions", _misconceptions(content)),
        ("checks", "Quality of the checks", _checks(content)),
        ("unnamed", "Failures without a name", _unnamed(content)),
        ("similar", "Similar submissions", _similar(content)),
    )
    links = "".join(f'<li><a href="#{id_}">{label}</a></li>' for id_, label, _ in sections)
    body = "\n".join(
        f'<section id="{id_}" aria-labelledby="{id_}-head"><h2 id="{id_}-head">{label}</h2>\n{part}\n</section>'
        for id_, label, part in sections
    )
    sheet = style()
    title = text(f"{cohort.title}: the class")
    whole = _BODY.format(
        title=title,
        summary=_summary(content),
        links=links,
        body=body,
        students=_data([cohort.name(report) for report in cohort.reports]),
        meanings=_data(MEANINGS),
        script=SCRIPT,
    )
    return whole_page(title, sheet, whole, f"style-src '{_hash(sheet)}'; script-src '{_hash(SCRIPT)}'")


def _summary(content: Findings) -> str:
    cohort = content.room
    scores = [cohort.reports[index].score for index in cohort.scored]
    tiles = [(str(len(cohort.reports)), "submissions")]
    if cohort.missing:
        tiles.append((str(len(cohort.missing)), "missing"))
    if scores:
        tiles.append((f"{points(round(median(scores)))} of {points(cohort.maximum)}", "points earned, the median"))
        full = Share(sum(0 < cohort.maximum <= score for score in scores), len(scores))
        tiles.append((percent(full.value or 0), f"with full marks: {full.count} of {full.of}"))
    tiles.append((str(len(content.stuck)), "stuck"))
    tiles.append((str(len(content.why)), "misconceptions found"))
    figures = "".join(f"<div><dt>{text(label)}</dt><dd>{text(value)}</dd></div>" for value, label in tiles)
    notes = [*content.notes, *filter(None, (small_class_note(cohort),))]
    notes += _without_score(cohort)
    paragraphs = "".join(f'<p class="note">{text(note)}</p>' for note in notes)
    return f'<dl class="tiles">{figures}</dl>{paragraphs}'


def _without_score(cohort: Cohort) -> Iterator[str]:
    """Yield why reports have no score: a held hand-in needs a decision, and a failure of the grader another run."""
    reports = [report for report in cohort.reports if report.is_held and student_of(report) not in cohort.decided]
    if held := len(reports):
        one = held == 1
        yield (
            f"{plural(held, 'submission')} {'is' if one else 'are'} held, as {why_held(reports)}, "
            f"and {'counts' if one else 'count'} in no score. Another run changes nothing: a person decides."
        )
    if failed := sum("grader_error" in report.statuses for report in cohort.reports):
        counts = "counts" if failed == 1 else "count"
        yield (
            f"The grader failed on {plural(failed, 'submission')}, which therefore {counts} in no score. "
            "Run course grade again."
        )


def _looks(content: Findings) -> str:
    return _table(looks_table(content.looks), "No submission is unusual.")


def _stuck(content: Findings) -> str:
    table = _table(stuck_table(content.stuck), "Nobody is stuck: every exercise that was started passes.")
    note = "Attempts and working times are not in reports: they stay in each student's own .course folder."
    return f'{table}<p class="soft">{note}</p>'


def _exercises(cohort: Cohort) -> str:
    link = f'<p>All statuses: <a href="{FOLDER}/matrix.csv">as CSV</a>. Point at a strip to see the student.</p>'
    table = exercises_table(cohort).html(FOLDER)
    return f"{legend()}{table}<h3>Checks by students</h3>{link}{matrix(cohort, FOLDER)}"


def _misconceptions(content: Findings) -> str:
    empty = "No failure of this class matches a misconception."
    return f"{_table(misconceptions_table(content.why), empty)}{misconception_cards(content.why)}"


def _checks(content: Findings) -> str:
    table = _table(quality_table(content.figures), "There are no checks.")
    return f"<p>{text(HOW_CHECKS)}</p>{table}"


def _unnamed(content: Findings) -> str:
    if not content.clusters:
        return "<p>None: every failure has a name.</p>"
    table = clusters_table(content.room, content.clusters[:MOST_CLUSTERS]).html(FOLDER)
    more = len(content.clusters) - MOST_CLUSTERS
    rest = f"<p>{more} smaller groups are in the CSV file only.</p>" if more > 0 else ""
    how = re.sub("`(.*?)`", r"<code>\1</code>", text(HOW_CLUSTERS))
    return f"<p>{how}</p>{table}{rest}"


def _similar(content: Findings) -> str:
    if content.pairs is None:
        return f"<p>{text(content.not_compared)}</p>"
    names = content.room.names
    table = _table(similar_table(names, content.pairs), "No two submissions are unusually similar.")
    return f"<p>{text(HOW_SIMILAR)}</p>{table}{similar_cards(names, content.pairs)}"


def _table(table: Table, empty: str) -> str:
    return table.html(FOLDER) if table.rows else f"<p>{text(empty)}</p>"


def _data(value: object) -> str:
    """Return JSON that cannot end its script element."""
    return json.dumps(value).replace("<", "\\u003c").replace("&", "\\u0026")


def _hash(inline: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}"


_BODY = """\
<header>
<h1>{title}</h1>
{summary}
</header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main>
{body}
</main>
<div id="point" role="presentation" hidden></div>
<script type="application/json" id="students">{students}</script>
<script type="application/json" id="meanings">{meanings}</script>
<script>{script}</script>"""
