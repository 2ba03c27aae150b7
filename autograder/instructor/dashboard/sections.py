"""The tables of the class page."""

from collections.abc import Mapping, Sequence

from autograder.instructor.dashboard.clusters import Cluster
from autograder.instructor.dashboard.gathered import OPEN, STOPPED, Class
from autograder.instructor.dashboard.similar import Pair
from autograder.instructor.dashboard.statistics import FEWEST, Figures, Share, passing
from autograder.instructor.dashboard.strips import bar, columns, strip
from autograder.instructor.dashboard.stuck import Stuck
from autograder.instructor.dashboard.tables import (
    DRAWN,
    INTERVAL,
    Cell,
    Column,
    Table,
    counted,
    interval,
    percent,
)
from autograder.instructor.dashboard.why import Why
from autograder.report.html_failure import text
from autograder.report.words import listed, number, plural, points, spoken

MOST_NAMED = 5
WILSON = "Wilson's: where the share of many more such students may lie"


def stuck_table(rows: Sequence[Stuck]) -> Table:
    """Who is stuck."""
    heads = (
        Column("student"),
        Column("points"),
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
    caption = "The first exercise of each that was written and does not pass, and why; fewest points first."
    return Table("stuck", caption, heads, cells)


def exercises_table(room: Class) -> Table:
    """How far the class is."""
    heads = (
        Column("exercise"),
        Column("students, best score first", words=True, kind=DRAWN),
        Column("pass"),
        Column("95 % interval", WILSON, kind=INTERVAL),
        Column("fail"),
        Column("stopped"),
        Column("not written"),
    )
    rows = []
    for name, title in room.exercises:
        verdicts = room.of_exercise(name)
        share = passing(verdicts)
        label = f"{number(name)} {title}"
        rows.append(
            (
                Cell(name, markup=text(label)),
                Cell("", markup=strip(verdicts, label)),
                counted(share),
                interval(share),
                Cell(sum(verdict in ("fail", "error") for verdict in verdicts)),
                Cell(sum(verdict in STOPPED for verdict in verdicts)),
                Cell(sum(verdict in OPEN for verdict in verdicts)),
            )
        )
    return Table("exercises", "How far the class is, by exercise.", heads, rows)


def why_table(whys: Sequence[Why]) -> Table:
    """The misconceptions of the class."""
    heads = (
        Column("misconception", words=True),
        Column("students"),
        Column("of who wrote it", words=True, kind=DRAWN),
        Column("share"),
        Column("95 % interval", WILSON, kind=INTERVAL),
        Column("exercise", words=True),
        Column("id", words=True),
    )
    rows = [
        (
            Cell(held.name),
            Cell(held.share.count),
            Cell("", markup=_one_bar(held.share)),
            Cell(round(held.share.value or 0, 4), f"{percent(held.share.value or 0)} of {held.share.of}"),
            interval(held.share),
            Cell(spoken(held.exercise)),
            Cell(held.id, markup=f"<code>{text(held.id)}</code>"),
        )
        for held in whys
    ]
    return Table("misconceptions", "Named misconceptions; a student counts once for each.", heads, rows)


def quality_table(rows: Sequence[Figures]) -> Table:
    """How good the checks are."""
    heads = (
        Column("check", words=True),
        Column("exercise", words=True),
        Column("difficulty", "The mean score, from 0 to 100 %, of all with a score: high is easy"),
        Column("95 % interval", WILSON, kind=INTERVAL),
        Column("of who wrote it", "The share that passes of those whose code was run"),
        Column("discrimination", "Correlation of this check's score with that of all other checks"),
        Column("by fifths", "Mean score in each fifth of the class, the weakest left", kind="fifths"),
        Column("unexplained", "Failures of which neither a misconception nor a pattern is known"),
        Column("its 95 % interval", WILSON, kind=INTERVAL),
        Column("stopped", "Time-outs, and too much memory"),
        Column("grader problems"),
        Column("look at", words=True),
    )
    return Table("checks", "Every check of the course.", heads, [_quality(row) for row in rows])


def clusters_table(room: Class, clusters: Sequence[Cluster]) -> Table:
    """Failures without a name."""
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
        who = [room.names[student] for student in cluster.students]
        more = f" and {len(who) - 4} more" if len(who) > 4 else ""
        rows.append(
            (
                Cell(cluster.id, markup=f"<code>{text(cluster.id)}</code>"),
                Cell(len(cluster.students)),
                Cell(spoken(cluster.exercise)),
                Cell(listed([spoken(one) for one in cluster.checks]), checks_told(cluster.checks)),
                Cell(cluster.message),
                Cell("yes" if cluster.unexplained else "no"),
                Cell(", ".join(who), ", ".join(who[:4]) + more),
            )
        )
    return Table("unnamed", "Failures that no misconception names, together where the results are equal.", heads, rows)


def similar_table(names: Mapping[str, str], pairs: Sequence[Pair]) -> Table:
    """Pairs of submissions."""
    heads = (
        Column("student"),
        Column("and", words=True),
        Column("characters alike", "Of the code, every name counted as one character"),
        Column("of the one's own", "The share of what is the student's own, in the file that is most alike"),
        Column("of the other's own"),
        Column("exercises", words=True),
    )
    rows = []
    for pair in pairs:
        first = pair.files[0]
        files = listed([spoken(file.file.removesuffix(".py")) for file in pair.files])
        shares = [Cell(round(share, 4), percent(share)) for share in first.shares]
        one, other = (names[student] for student in pair.students)
        rows.append((Cell(one), Cell(other), Cell(pair.shared), *shares, Cell(files)))
    return Table("similar", "Pairs that have more in common than others.", heads, rows)


def _signed(found: float | None) -> Cell:
    return Cell(None) if found is None else Cell(round(found, 3), f"{round(found, 2) + 0.0:.2f}".replace("-", "−"))


def checks_told(checks: Sequence[str]) -> str:
    """Return the first few checks by name, and how many more there are."""
    names = [spoken(check) for check in checks]
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return listed([*names[:MOST_NAMED], *more])


def _one_bar(share: Share) -> str:
    told = f"{share.count} of {share.of}"
    return bar((("yes", share.count), ("open", share.of - share.count)), told).replace('"bar"', '"bar one"')


def _quality(figures: Figures) -> Sequence[Cell]:
    worth = " (bonus)" if figures.item.bonus else ""
    fifths = Cell(None)
    if figures.fifths:
        told = f"by fifths, the weakest first: {', '.join(percent(share) for share in figures.fifths)}"
        fifths = Cell(" ".join(f"{share:.2f}" for share in figures.fifths), markup=columns(figures.fifths, told))
    return (
        Cell(
            spoken(figures.item.check),
            markup=f'<span title="{text(figures.item.title)}">{text(spoken(figures.item.check) + worth)}</span>',
        ),
        Cell(spoken(figures.item.exercise)),
        counted(figures.difficulty),
        interval(figures.difficulty),
        counted(figures.tried),
        _signed(figures.discrimination),
        fifths,
        Cell(
            None if not figures.unexplained.of else round(figures.unexplained.value or 0, 4),
            f"{figures.unexplained.count} of {figures.unexplained.of}",
        ),
        interval(figures.unexplained),
        Cell(figures.stopped),
        Cell(figures.grader),
        Cell(figures.remark),
    )


def few(room: Class) -> str:
    """Return what is not told of so small a class; nothing where all is told."""
    if len(room.counted) >= FEWEST:
        return ""
    have = plural(len(room.counted), "student")
    return (
        f"{have} with a score: too few for discrimination and fifths, which are told from {FEWEST} on. "
        "The intervals say how little the shares mean."
    )
