"""The class page: one file that loads nothing from a network, and its tables as CSV files."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from autograder.instructor.dashboard import page_tables
from autograder.instructor.dashboard.cards import misconception_cards, similar_cards
from autograder.instructor.dashboard.charts import MEANINGS
from autograder.instructor.dashboard.clusters import Cluster
from autograder.instructor.dashboard.cohort import Cohort, student_of
from autograder.instructor.dashboard.matrix import legend, matrix, matrix_csv
from autograder.instructor.dashboard.misconceptions import HeldMisconception
from autograder.instructor.dashboard.similar import Pair
from autograder.instructor.dashboard.statistics import CheckStatistics, Share
from autograder.instructor.dashboard.stuck import StuckStudent
from autograder.instructor.dashboard.style import SCRIPT, style
from autograder.instructor.dashboard.table import Table, percent
from autograder.report.exercise_summary import why_held
from autograder.report.html_failure import text
from autograder.report.html_page import whole_page
from autograder.report.quantities import plural, points

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
        page_tables.looks_table(content.looks),
        page_tables.stuck_table(content.stuck),
        page_tables.exercises_table(cohort),
        page_tables.misconceptions_table(content.why),
        page_tables.quality_table(content.figures),
        page_tables.clusters_table(cohort, content.clusters),
        *([page_tables.similar_table(cohort.names, content.pairs)] if content.pairs is not None else []),
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
    notes = [*content.notes, *filter(None, (page_tables.small_class_note(cohort),))]
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
    return _table(page_tables.looks_table(content.looks), "No submission is unusual.")


def _stuck(content: Findings) -> str:
    table = _table(page_tables.stuck_table(content.stuck), "Nobody is stuck: every exercise that was started passes.")
    note = "Attempts and working times are not in reports: they stay in each student's own .course folder."
    return f'{table}<p class="soft">{note}</p>'


def _exercises(cohort: Cohort) -> str:
    link = f'<p>All statuses: <a href="{FOLDER}/matrix.csv">as CSV</a>. Point at a strip to see the student.</p>'
    table = page_tables.exercises_table(cohort).html(FOLDER)
    return f"{legend()}{table}<h3>Checks by students</h3>{link}{matrix(cohort, FOLDER)}"


def _misconceptions(content: Findings) -> str:
    empty = "No failure of this class matches a misconception."
    return f"{_table(page_tables.misconceptions_table(content.why), empty)}{misconception_cards(content.why)}"


def _checks(content: Findings) -> str:
    table = _table(page_tables.quality_table(content.figures), "There are no checks.")
    return f"<p>{text(HOW_CHECKS)}</p>{table}"


def _unnamed(content: Findings) -> str:
    if not content.clusters:
        return "<p>None: every failure has a name.</p>"
    table = page_tables.clusters_table(content.room, content.clusters[:MOST_CLUSTERS]).html(FOLDER)
    more = len(content.clusters) - MOST_CLUSTERS
    rest = f"<p>{more} smaller groups are in the CSV file only.</p>" if more > 0 else ""
    how = re.sub("`(.*?)`", r"<code>\1</code>", text(HOW_CLUSTERS))
    return f"<p>{how}</p>{table}{rest}"


def _similar(content: Findings) -> str:
    if content.pairs is None:
        return f"<p>{text(content.not_compared)}</p>"
    names = content.room.names
    table = _table(page_tables.similar_table(names, content.pairs), "No two submissions are unusually similar.")
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
