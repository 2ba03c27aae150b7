"""The class page: one file that asks nothing of any network, and its tables as CSV files beside it."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from autograder.instructor.dashboard import sections
from autograder.instructor.dashboard.cards import similar_cards, why_cards
from autograder.instructor.dashboard.clusters import Cluster
from autograder.instructor.dashboard.gathered import Class
from autograder.instructor.dashboard.matrix import legend, matrix, matrix_csv
from autograder.instructor.dashboard.similar import Pair
from autograder.instructor.dashboard.statistics import Figures, Share, median
from autograder.instructor.dashboard.strips import SAID
from autograder.instructor.dashboard.stuck import Stuck
from autograder.instructor.dashboard.style import SCRIPT, style
from autograder.instructor.dashboard.tables import Table, percent
from autograder.instructor.dashboard.why import Why
from autograder.report.html_failure import text
from autograder.report.html_page import whole_page
from autograder.report.words import plural, points

FOLDER = "class"
"""Beside the page: its tables."""

SIMILAR = "similar.csv"
"""The one table that is not always made."""

SHOWN_CLUSTERS = 100

HOW_CHECKS = (
    "Difficulty is the mean score of all with a score, so high is easy. Discrimination is the correlation of the score "
    "of a check with that of all other checks: near 0 or below, it does not tell who can from who cannot, or asks for "
    "something else. Fifths are the same by groups: they should rise from left to right. Unexplained is the author's "
    "list: failures of which neither a misconception nor a pattern is known."
)
HOW_CLUSTERS = (
    "Each line is one mistake by the look of its results: equal up to rounding, or the same exception. "
    "`course name OUT DIR GROUP` writes it into the catalogue as a misconception, a patch of the solution. You give it "
    "its words; then `course grade` names it."
)
HOW_SIMILAR = (
    "Likeness is no proof of anything: exercises this short are alike by nature, and people who learn together write "
    "alike. Names, comments and the order of functions do not count, nor what was handed out, nor what many have in "
    "common. Read the lines, and ask."
)


@dataclass(frozen=True)
class Findings:
    """All that the page tells. `pairs` is None where submissions were not compared; `notes` are said at the top."""

    room: Class
    stuck: Sequence[Stuck]
    why: Sequence[Why]
    figures: Sequence[Figures]
    clusters: Sequence[Cluster]
    pairs: Sequence[Pair] | None
    not_compared: str
    notes: Sequence[str]


def tables(found: Findings) -> Mapping[str, str]:
    """Return the CSV files of the page by name."""
    made = [
        sections.stuck_table(found.stuck),
        sections.exercises_table(found.room),
        sections.why_table(found.why),
        sections.quality_table(found.figures),
        sections.clusters_table(found.room, found.clusters),
        *([sections.similar_table(found.room.names, found.pairs)] if found.pairs is not None else []),
    ]
    return {**{f"{table.name}.csv": table.csv() for table in made}, "matrix.csv": matrix_csv(found.room)}


def page(found: Findings) -> str:
    """Return the page."""
    room = found.room
    parts = (
        ("stuck", "Who is stuck", _stuck(found)),
        ("where", "On what", _where(room)),
        ("why", "Why", _why(found)),
        ("checks", "Is each check good", _checks(found)),
        ("unnamed", "Failures without a name", _unnamed(found)),
        ("similar", "Similar submissions", _similar(found)),
    )
    links = "".join(f'<li><a href="#{name}">{head}</a></li>' for name, head, _ in parts)
    body = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-head"><h2 id="{name}-head">{head}</h2>\n{part}\n</section>'
        for name, head, part in parts
    )
    sheet = style()
    title = text(f"{room.title}: the class")
    whole = _BODY.format(
        title=title,
        summary=_summary(found),
        links=links,
        body=body,
        students=_data([room.name(report) for report in room.reports]),
        said=_data(SAID),
        script=SCRIPT,
    )
    return whole_page(title, sheet, whole, f"style-src '{_hash(sheet)}'; script-src '{_hash(SCRIPT)}'")


def _summary(found: Findings) -> str:
    room = found.room
    scores = [room.reports[at].score for at in room.counted]
    tiles = [(str(len(room.reports)), "submissions")]
    if room.missing:
        tiles.append((str(len(room.missing)), "handed in nothing"))
    if scores:
        tiles.append((f"{points(round(median(scores)))} of {points(room.maximum)}", "points, the median"))
        full = Share(sum(0 < room.maximum <= score for score in scores), len(scores))
        tiles.append((percent(full.value or 0), f"have full marks, {full.count} of {full.of}"))
    tiles.append((str(len(found.stuck)), "are stuck"))
    tiles.append((str(len(found.why)), "misconceptions met"))
    shown = "".join(f"<div><dt>{text(head)}</dt><dd>{text(value)}</dd></div>" for value, head in tiles)
    failed = len(room.reports) - len(room.counted)
    notes = [*found.notes, *filter(None, (sections.few(room),))]
    if failed:
        notes.append(
            f"The grader failed on {plural(failed, 'submission')}; they count in no score. Run course grade again."
        )
    said = "".join(f'<p class="note">{text(note)}</p>' for note in notes)
    return f'<dl class="tiles">{shown}</dl>{said}'


def _stuck(found: Findings) -> str:
    note = (
        '<p class="soft">How often and how long somebody tried is in their own .course folder, and not in a report.</p>'
    )
    return f"{_table(sections.stuck_table(found.stuck), 'Nobody: every exercise that is written passes.')}{note}"


def _where(room: Class) -> str:
    link = f'<p>Every verdict: <a href="{FOLDER}/matrix.csv">as CSV</a>. Point at a strip to see whose it is.</p>'
    table = sections.exercises_table(room).html(FOLDER)
    return f"{legend()}{table}<h3>Checks by students</h3>{link}{matrix(room, FOLDER)}"


def _why(found: Findings) -> str:
    empty = "No failure of this class has a name."
    return f"{_table(sections.why_table(found.why), empty)}{why_cards(found.why)}"


def _checks(found: Findings) -> str:
    return f"<p>{text(HOW_CHECKS)}</p>{_table(sections.quality_table(found.figures), 'There are no checks.')}"


def _unnamed(found: Findings) -> str:
    if not found.clusters:
        return "<p>None: every failure has a name.</p>"
    shown = found.clusters[:SHOWN_CLUSTERS]
    more = len(found.clusters) - len(shown)
    left = f"<p>{text(f'{more} smaller groups are in the CSV file only.')}</p>" if more else ""
    how = "".join(f"<code>{part}</code>" if at % 2 else escape(part) for at, part in enumerate(HOW_CLUSTERS.split("`")))
    return f"<p>{how}</p>{sections.clusters_table(found.room, shown).html(FOLDER)}{left}"


def _similar(found: Findings) -> str:
    if found.pairs is None:
        return f"<p>{text(found.not_compared)}</p>"
    table = _table(sections.similar_table(found.room.names, found.pairs), "No two are more alike than others.")
    return f"<p>{text(HOW_SIMILAR)}</p>{table}{similar_cards(found.room.names, found.pairs)}"


def _table(table: Table, empty: str) -> str:
    return table.html(FOLDER) if table.rows else f"<p>{text(empty)}</p>"


def _data(value: object) -> str:
    """Return JSON that ends no element."""
    return json.dumps(value).replace("<", "\\u003c").replace("&", "\\u0026")


def _hash(inline: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}"


_BODY = """\
<header>
<h1>{title}</h1>
{summary}
</header>
<nav aria-label="Questions"><ul>{links}</ul></nav>
<main>
{body}
</main>
<div id="point" role="presentation" hidden></div>
<script type="application/json" id="students">{students}</script>
<script type="application/json" id="said">{said}</script>
<script>{script}</script>"""
