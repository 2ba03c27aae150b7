"""The class page: one file that loads nothing from a network, and its tables as CSV files."""

import base64
import hashlib
import re
import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from urllib.parse import quote

from autograder import gradebook
from autograder.course import Course, Exercise, UsageError, load_suite, write_atomically
from autograder.report import (
    ended,
    number,
    one_line,
    plural,
    points,
    render,
    spoken,
    text,
)
from autograder.results import Status, joined
from autograder.runner import EnvironmentProblem
from autograder.submission import Submission, handout_of

from .statistics import (
    FEWEST,
    OPEN,
    STOPPED,
    WRONG,
    CheckStatistics,
    Cluster,
    Cohort,
    HeldMisconception,
    MarkSummary,
    Pair,
    Share,
    StuckStudent,
    check_statistics,
    clusters_of,
    code_digest,
    cohort_of,
    find_cluster,
    mark_summaries,
    misconceptions_of,
    pairs_of,
    passing_share,
    stuck_students,
    student_of,
)

# A table, as it is sorted on the page and as CSV.

EMPTY = "–"
INTERVAL = "interval"
CHART = "chart"
"""The kind of a column with charts; the style sheet and the script of the page know it by this name."""

Value = str | int | float | tuple[float, float] | None


@dataclass(frozen=True)
class Cell:
    """One cell: its `value`, for the CSV and for sorting, and how it is shown.

    `shown` replaces the value, and the drawing `svg` replaces both. None is an empty cell. Two numbers are an interval,
    sorted by the lower one.
    """

    value: Value
    shown: str | None = None
    svg: str = ""
    tooltip: str = ""

    @property
    def text(self) -> str:
        """What is shown."""
        return self.shown if self.shown is not None else EMPTY if self.value is None else str(self.value)

    @property
    def order(self) -> str | None:
        """What the script of the page sorts by, if that is not the text."""
        value = self.value[0] if isinstance(self.value, tuple) else self.value
        key = "" if value is None else str(value)
        return key if self.svg or key != (self.shown or key) else None


@dataclass(frozen=True)
class Column:
    """A column: its name in the CSV, a `tooltip`, whether its cells are words or code, and its `title` on the page.

    Its `kind` may be `INTERVAL`, which is two columns of the CSV, or `CHART`, which is none.
    """

    name: str
    tooltip: str = ""
    words: bool = False
    kind: str = ""
    title: str = ""
    is_code: bool = False

    @property
    def in_csv(self) -> tuple[str, ...]:
        """The names of its columns in the CSV."""
        if self.kind == INTERVAL:
            return f"{self.name} from", f"{self.name} to"
        return () if self.kind == CHART else (self.name,)

    @property
    def classes(self) -> str:
        """The classes of its cells on the page."""
        return " ".join(filter(None, ("words" if self.words else "", self.kind)))


@dataclass(frozen=True)
class Table:
    """A table: its name, its caption, its columns, and rows with a cell per column. The first cell names the row."""

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    @property
    def label(self) -> str:
        """The first sentence of the caption."""
        return self.caption.split(". ")[0].rstrip(".")

    def csv(self) -> str:
        """Return the table as CSV, with numbers unrounded and empty cells for None."""
        heads = [name for column in self.columns for name in column.in_csv]
        rows = [
            [value for column, cell in zip(self.columns, row, strict=True) for value in _values(column, cell)]
            for row in self.rows
        ]
        return csv_of(heads, rows)


def csv_of(heads: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    """Return rows as CSV that no spreadsheet takes for formulas; None is an empty cell."""
    return gradebook.as_csv([_plain(value) for value in row] for row in (heads, *rows))


def percent(share: float) -> str:
    """Return a share as whole percent."""
    return f"{100 * share:.0f} %"


def share_cell(share: Share) -> Cell:
    """Return a share as a cell, like `40 % (8 of 20)`; sorted by the share."""
    if share.value is None:
        return Cell(None)
    return Cell(round(share.value, 4), f"{percent(share.value)} ({share.count} of {share.of})")


def interval_cell(share: Share) -> Cell:
    """Return the confidence interval of a share as a cell."""
    interval = share.interval
    return Cell(interval and (round(interval[0], 4), round(interval[1], 4)), interval_text(share))


def interval_text(share: Share) -> str:
    """Return the confidence interval of a share as text, like `24–61 %`."""
    if share.interval is None:
        return EMPTY
    low, high = share.interval
    return f"{100 * low:.0f}–{100 * high:.0f} %"


def _values(column: Column, cell: Cell) -> Sequence[Value]:
    if column.kind == INTERVAL:
        return cell.value if isinstance(cell.value, tuple) else (None, None)
    return () if column.kind == CHART else (cell.value,)


def _plain(value: Value) -> Value:
    if value is None:
        return ""
    return gradebook.harmless(one_line(value)) if isinstance(value, str) else value


# Small charts as inline SVG: a strip of statuses, a bar of counts, columns of shares.

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


# The checks of a class by its students: a strip for each check, and every status as CSV.


def matrix(cohort: Cohort) -> Iterator[tuple[str, str, Table, bool]]:
    """Yield the checks by students for each exercise: its title, how many students pass it, and whether it is open.

    The exercise with most failures is open.
    """
    statuses = {exercise: cohort.of_exercise(exercise) for exercise, _ in cohort.exercises}
    failures = {exercise: sum(status in WRONG for status in found) for exercise, found in statuses.items()}
    for exercise, title in cohort.exercises:
        name, share = f"{number(exercise)} {title}", passing_share(statuses[exercise])
        passed = f"{share.count} of {share.of} pass every check"
        yield name, passed, _checks(cohort, exercise, name), exercise == max(failures, key=lambda key: failures[key])


def _checks(cohort: Cohort, exercise: str, name: str) -> Table:
    heads = (
        Column("check", words=True),
        Column("students, best score first", words=True, kind=CHART),
        Column("pass"),
    )
    checks = [(spoken(item.check), cohort.verdicts[item.key]) for item in cohort.items if item.exercise == exercise]
    checks.sort(key=lambda check: passing_share(check[1]).value or 0.0)
    rows = [
        (Cell(check), Cell("", svg=strip(statuses, check)), share_cell(passing_share(statuses)))
        for check, statuses in checks
    ]
    return Table("matrix", f"Checks of {name}, hardest first.", heads, rows)


def matrix_csv(cohort: Cohort) -> str:
    """Return every status: a row for each check, a column for each student."""
    heads = ["exercise", "check", "title", *(cohort.name(report) for report in cohort.reports)]
    rows = [[item.exercise, item.check, item.title, *cohort.verdicts[item.key]] for item in cohort.items]
    return csv_of(heads, rows)


# What each table of the class page has.

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


def marks_table(summaries: Sequence[MarkSummary]) -> Table:
    """Return the table of the final marks, of everybody and of some of them."""
    quartiles = "A share of the students has at most this mark, between two marks in a straight line"
    heads = (
        Column("students", words=True),
        Column("count", title="number"),
        Column("marks", "Students with a final mark", title="with a mark"),
        Column("from 0 to the maximum", "Students in each tenth of the maximum", words=True, kind=CHART),
        Column("mean"),
        Column("lowest"),
        *(Column(name, quartiles) for name in ("lower quartile", "median", "upper quartile")),
        Column("highest"),
    )
    rows = []
    for one in summaries:
        figures = (one.mean, *(one.quantile(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)))
        cells = [
            Cell(None) if value is None else Cell(round(value / 100, 4), f"{value / 100:.2f}") for value in figures
        ]
        label = f"{one.label}: {', '.join(map(str, one.counts))} students in the tenths of the maximum, lowest first"
        chart = columns([count / max(one.counts) for count in one.counts], label) if one.marks else ""
        rows.append((Cell(one.label), Cell(one.students), Cell(len(one.marks)), Cell("", svg=chart), *cells))
    caption = "Final marks, after lateness and decisions. A student without a mark counts in none of the figures."
    return Table("marks", caption, heads, rows)


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
                Cell(exercise, label),
                Cell("", svg=strip(statuses, label)),
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
        Column("shown", "Students whose code has what the name says; the others have equal results"),
        Column("share of those who tried", words=True, kind=CHART),
        Column("share"),
        Column("95 % interval", WILSON, kind=INTERVAL),
        Column("exercise", words=True),
        Column("id", words=True, is_code=True),
    )
    rows = [
        (
            Cell(held.name),
            Cell(held.share.count),
            Cell(held.shown),
            Cell("", svg=bar(held.share.count, held.share.of)),
            Cell(round(held.share.value or 0, 4), f"{percent(held.share.value or 0)} of {held.share.of}"),
            interval_cell(held.share),
            Cell(spoken(held.exercise)),
            Cell(held.id),
        )
        for held in misconceptions
    ]
    caption = (
        "Programs with the results of a misconception. Each student counts once per misconception. It is shown if the "
        "code has what its name says."
    )
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
        Column("group", is_code=True),
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
                Cell(cluster.id),
                Cell(len(cluster.students)),
                Cell(spoken(cluster.exercise)),
                Cell(joined([spoken(check) for check in cluster.checks]), check_list(cluster.checks)),
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
        Column("also alike", "Students who are alike with one of this group", words=True),
        Column("characters alike", "Characters of shared code; each name counts as one character"),
        Column("of the one's own", own, title="share of the first"),
        Column("of the other's own", own, title="share of the second"),
        Column("exercises", words=True),
    )
    rows = []
    for pair in pairs:
        files = joined([spoken(alike.file.removesuffix(".py")) for alike in pair.files])
        shares = [Cell(round(share, 4), percent(share)) for share in pair.files[0].shares]
        one, other = (names[student] for student in pair.students)
        also = ", ".join(names[student] for student in pair.others)
        rows.append((Cell(one), Cell(other), Cell(also), Cell(pair.shared), *shares, Cell(files)))
    return Table("similar", "Groups of submissions that share more code than others.", heads, rows)


def check_list(checks: Sequence[str]) -> str:
    """Return the first few checks by name, and the number of the others."""
    return joined([spoken(check) for check in checks], most=MOST_CHECKS)


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
        Cell(name, name + bonus, tooltip=row.item.title),
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
    return Cell(" ".join(f"{share:.2f}" for share in shares), svg=columns(shares, label))


# The page, and its tables as CSV.

FOLDER = "class"
"""The folder with the tables, beside the page; those of the page of a section begin like this."""

SIMILAR = "similar.csv"
"""The only table that is not always made."""


@dataclass(frozen=True)
class Findings:
    """The content of the page. `pairs` is None if submissions were not compared; `notes` are shown at the top.

    `looks` are the names of students, with why a person should look at the submission. `marks` are the final marks of
    everybody and of each section. `folder` is the name of the one with its tables.
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
    marks: Sequence[MarkSummary] = ()
    folder: str = FOLDER

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables by name."""
        tables = [
            looks_table(self.looks),
            stuck_table(self.stuck),
            marks_table(self.marks),
            exercises_table(self.room),
            misconceptions_table(self.why),
            quality_table(self.figures),
            clusters_table(self.room, self.clusters),
            *([similar_table(self.room.names, self.pairs)] if self.pairs is not None else []),
        ]
        return {table.name: table for table in tables}


def tables(content: Findings) -> Mapping[str, str]:
    """Return the CSV files of the page by name."""
    csv_files = {f"{name}.csv": table.csv() for name, table in content.tables.items()}
    return {**csv_files, "matrix.csv": matrix_csv(content.room)}


def page(content: Findings) -> str:
    """Return the page."""
    return render(
        "instructor/templates/class.html.j2",
        content=content,
        room=content.room,
        tiles=_tiles(content),
        notes=[*content.notes, *filter(None, [small_class_note(content.room)]), *_without_score(content.room)],
        tables=content.tables,
        folder=quote(content.folder),
        matrix=matrix(content.room),
        meanings=MEANINGS,
        students=[content.room.name(report) for report in content.room.reports],
        check_list=check_list,
        interval_text=interval_text,
        percent=percent,
        sheet=render("instructor/templates/class.css.j2"),
        script=Path(__file__).with_name("templates").joinpath("class.js").read_text("utf-8"),
        hash=_hash,
    )


def _tiles(content: Findings) -> Iterator[tuple[str, str]]:
    """Yield the figures at the top, each with what it counts."""
    cohort = content.room
    scores = [cohort.reports[index].score for index in cohort.scored]
    yield str(len(cohort.reports)), "submissions"
    if cohort.missing:
        yield str(len(cohort.missing)), "missing"
    if scores:
        yield f"{points(round(median(scores)))} of {points(cohort.maximum)}", "points earned, the median"
        full = Share(sum(0 < cohort.maximum <= score for score in scores), len(scores))
        yield percent(full.value or 0), f"with full marks: {full.count} of {full.of}"
    yield str(len(content.stuck)), "stuck"
    yield str(len(content.why)), "misconceptions found"


def _without_score(cohort: Cohort) -> Iterator[str]:
    """Yield why reports have no score: a held hand-in needs a decision, and a failure of the grader another run."""
    reports = [report for report in cohort.reports if report.is_held and student_of(report) not in cohort.decided]
    if held := len(reports):
        one = held == 1
        yield (
            f"{plural(held, 'submission')} {'is' if one else 'are'} held, as {gradebook.why_held(reports)}, "
            f"and {'counts' if one else 'count'} in no score. Another run changes nothing: a person decides."
        )
    if failed := sum("grader_error" in report.statuses for report in cohort.reports):
        counts = "counts" if failed == 1 else "count"
        yield (
            f"The grader failed on {plural(failed, 'submission')}, which therefore {counts} in no score. "
            "Run `course grade` again."
        )


def _hash(inline: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}"


# Make the page of a graded class, with its tables as CSV files.

# Replace a student's name by their pseudonym wherever it stands in a text.

_SHORTEST, _SHORTEST_NUMBER = 3, 6
"""A shorter part of a name is an ordinary word of code, or an ordinary number."""


def keep_names(_student: str, text: str) -> str:
    """Return a text as it is."""
    return text


def hider(graded: gradebook.Graded, names: Mapping[str, str]) -> Callable[[str, str], str]:
    """Return a function that hides a student's name in their text, and the ids and full names of all others.

    `names` has the pseudonyms by student.
    """
    patterns = {mark.student: _pattern(mark.row, *re.findall(r"\w+", mark.row.name)) for mark in graded.marks}
    others: dict[str, list[tuple[re.Pattern[str], str]]] = defaultdict(list)
    for mark in graded.marks:
        for name in _names(mark.row):
            if (pattern := _pattern(gradebook.Student(name))) is not None:
                others[_words(name)[0]].append((pattern, names[mark.student]))
        if mark.row.group and (words := _words(mark.row.group)):
            pattern = re.compile(rf"(?:for )?group {re.escape(mark.row.group)}(?![^\W_])", re.IGNORECASE)
            others[words[0]].append((pattern, "for their group"))

    def hide(student: str, text: str) -> str:
        text = unicodedata.normalize("NFC", text)
        if (own := patterns.get(student)) is not None:
            text = own.sub(names[student], text)
        found = [one for word in dict.fromkeys(_words(text)) for one in others.get(word, ())]
        for pattern, name in sorted(found, key=lambda one: -len(one[0].pattern)):
            text = pattern.sub(name, text)
        return text

    return hide


def _names(row: gradebook.Student) -> tuple[str, ...]:
    """Return the names of a student that nobody else has, with a letter or digit."""
    return tuple(filter(_words, dict.fromkeys((row.student, row.name, row.login, row.email, row.lms_id))))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).casefold())


def _pattern(row: gradebook.Student, *parts_of_name: str) -> re.Pattern[str] | None:
    """Return a pattern of all names of a student, the longest first."""
    parts = {*_names(row), *parts_of_name}
    parts = {unicodedata.normalize("NFC", part) for part in parts}
    long_enough = (part for part in parts if len(part) >= (_SHORTEST_NUMBER if part.isdigit() else _SHORTEST))
    wanted = sorted(long_enough, key=lambda part: (-len(part), part))
    # In code an underscore separates words, so it is no letter here.
    pattern = rf"(?<![^\W_])(?:{'|'.join(map(re.escape, wanted))})(?![^\W_])"
    return re.compile(pattern, re.IGNORECASE) if wanted else None


# Random names for the students on the class page, the same every time.


def pseudonyms(file: Path, students: Iterable[str]) -> Mapping[str, str]:
    """Return a pseudonym for each student: the one in the file, or a new one that is added to the file.

    Raises `UsageError` if the file is damaged, and OSError if it cannot be written.
    """
    wanted = list(students)
    known = gradebook.read_pseudonyms(file)
    taken = set(known.values())
    for student in wanted:
        if student not in known:
            known[student] = _new(taken)
            taken.add(known[student])
    rows = ((name, gradebook.harmless(student)) for student, name in sorted(known.items(), key=lambda pair: pair[1]))
    write_atomically(file, gradebook.as_csv([("pseudonym", "student"), *rows]), mode=0o600)
    return {student: known[student] for student in wanted}


def own_names(graded: gradebook.Graded) -> Mapping[str, str]:
    """Return the name of each student in the roster, with the student id."""
    rows = {mark.student: one_line(mark.row.name) for mark in graded.marks}
    return {student: f"{name} ({one_line(student)})" if name else one_line(student) for student, name in rows.items()}


def _new(taken: set[str]) -> str:
    """Return a pseudonym that nobody has."""
    pairs = 2 if len(taken) < 5000 else 3  # there are 25,600 with two pairs: above a fifth of them, retries get many
    while True:
        name = "".join(secrets.choice(gradebook.LETTERS) + secrets.choice(gradebook.DIGITS) for _ in range(pairs))
        if name not in taken:
            return name


def page_name(section: str | None) -> str:
    """Return the name of the page of a class or of a section of it, and of the folder with its tables."""
    return FOLDER if section is None else f"{FOLDER}-{quote(section, safe='')}"


@dataclass(frozen=True)
class ClassPage:
    """The page and how many tables it has; `problem` says why submissions were not compared, or is ""."""

    file: Path
    folder: Path
    tables: int
    problem: str


def make_class_page(
    course: Course,
    graded: gradebook.Graded,
    out: Path,
    *,
    names: bool,
    submissions: Mapping[str, Submission] | None,
    section: str | None = None,
) -> ClassPage:
    """Write the page of the class in a folder of `course grade`, or of the section that `graded` has. Raises OSError.

    With `names` it has the students' names, else pseudonyms. Similar submissions are found among `submissions`.
    """
    name = page_name(section)
    students = [mark.student for mark in graded.marks]
    labels = own_names(graded) if names else pseudonyms(out / gradebook.PSEUDONYMS, students)
    room = cohort_of(graded, labels, section)
    hide = keep_names if names else hider(graded, labels)
    groups = {mark.student: mark.row.group for mark in graded.marks if mark.row.group}
    pairs, problem = _pairs(course, submissions, hide, groups) if submissions is not None else (None, "")
    not_compared = f"Only equal files are found: {problem[:1].lower()}{problem[1:]}." if problem else ""
    if submissions is None:
        not_compared = "Not looked for: `course dashboard OUT DIR` compares the submissions in DIR."
    hint = [] if names else [f"Names are pseudonyms; {gradebook.PSEUDONYMS} beside this page says who is who."]
    decisions = {mark.student: mark.score for mark in graded.marks if mark.is_decided}
    facts = [gradebook.facts_of(report) for report in room.reports]
    summary = gradebook.summary_of(facts, graded.policy.maximum, decisions)
    findings = Findings(
        folder=name,
        room=room,
        stuck=[replace(row, why=hide("", row.why)) for row in stuck_students(room)],
        why=misconceptions_of(room, course, hide),
        figures=check_statistics(room),
        clusters=[replace(one, message=hide("", one.message)) for one in clusters_of(room)],
        pairs=pairs,
        not_compared=not_compared,
        marks=mark_summaries(graded),
        looks=[(room.names[student], hide(student, why)) for student, why in summary.need_a_look],
        notes=[*hint, *(hide("", sentence) for sentence in _other(graded))],
    )
    folder, file = out / name, out / f"{name}.html"
    folder.mkdir(exist_ok=True)
    (folder / SIMILAR).unlink(missing_ok=True)  # that of an earlier page may have names
    made = tables(findings)
    for table, rows in made.items():
        write_atomically(folder / table, rows)
    write_atomically(file, page(findings))
    return ClassPage(file, folder, len(made), problem)


def _other(graded: gradebook.Graded) -> list[str]:
    """Return what is decided for everybody, and a note that final scores differ from the points on the page."""
    sentences = [row.sentence for row in graded.policy.adjustments.of(gradebook.EVERYBODY)]
    decided = [ended(f"{sentence[:1].upper()}{sentence[1:]}") for sentence in sentences]
    earned = {mark.student: mark.report.score for mark in graded.marks if mark.report and mark.report.has_score}
    other = sum(mark.final is not None and mark.score != earned.get(mark.student) for mark in graded.marks)
    if not other:
        return decided
    why = "lateness, decisions or the rules of the course. This page shows the points earned."
    return [*decided, f"{plural(other, 'final score')} in scores.csv {'differs' if other == 1 else 'differ'} by {why}"]


def _pairs(
    course: Course,
    submissions: Mapping[str, Submission],
    hide: Callable[[str, str], str],
    groups: Mapping[str, str],
) -> tuple[Sequence[Pair], str]:
    """Return pairs of similar submissions, with no name in their lines; and why they were not compared, or "".

    Without the library these are the files that differ at most in comments and blank lines.
    """
    handout = handout_of(course)
    own = {
        student: {file: source for file, source in submission.sources.items() if not handout.is_stub(file, source)}
        for student, submission in submissions.items()
    }
    sources = {
        student: {file: hide(student, source.decode("utf-8", "replace")) for file, source in files.items()}
        for student, files in own.items()
    }
    digests = {
        student: {file: code_digest(source.decode("utf-8", "replace")) for file, source in files.items()}
        for student, files in own.items()
    }
    stubs = {file: text.decode("utf-8", "replace") for file, text in handout.files.items() if file.endswith(".py")}
    try:
        return pairs_of(sources, stubs, digests, groups), ""
    except EnvironmentProblem as problem:
        return pairs_of(sources, stubs, digests, groups, equal_alone=True), str(problem)


# Add the common mistake of a group of students to the catalogue, as a misconception without texts.


@dataclass(frozen=True)
class NewMisconception:
    """The entry as TOML, the catalogue it was added to, and warnings on submissions that were left out."""

    exercise: Exercise
    entry: str
    file: Path
    warnings: list[str]


def add_misconception(
    course: Course, out: Path, folder: Path, group: str, *, layout: str | None, roster_file: Path | None
) -> NewMisconception:
    """Write the patch that makes a group's program from the solution into the catalogue.

    Raises `UsageError` if there is no such group, or no patch.
    """
    roster = gradebook.find_roster(course, roster_file)
    graded = gradebook.read_graded(course, roster, out)
    room = cohort_of(graded, {mark.student: mark.student for mark in graded.marks})
    cluster = find_cluster(clusters_of(room), group)
    exercise = course.exercise(cluster.exercise)
    solution = course.solutions_dir / exercise.file
    if not solution.is_file():
        raise UsageError(f"{solution} is not there, and a misconception is a patch of it; run this in the course")
    read = gradebook.read_submissions(folder, layout, graded)
    sources = [
        read.by_student[student].sources[exercise.file] for student in cluster.students if student in read.by_student
    ]
    count = plural(len(cluster.students), "student")
    if not sources:
        raise UsageError(f"none of the {count} of {cluster.id} is in {folder}")
    checks = load_suite(course).checks[exercise.id]
    parts = [check.of for check in checks if check.id in cluster.checks and check.of]
    shortest = min(sources, key=lambda source: (len(source), source))
    from autograder.authoring import append_entry, entry_of, patches_of  # an application beside this one

    patches = patches_of(solution.read_text("utf-8"), shortest, parts)
    name = f"{exercise.id[5:].replace('_', '-')}-{cluster.id}"
    entry = entry_of(exercise, name, f"{count} failed alike with this.", patches)
    return NewMisconception(exercise, entry, append_entry(course, exercise, name, entry), read.warnings)
