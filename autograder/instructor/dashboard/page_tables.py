"""The tables of the class page."""

from collections.abc import Mapping, Sequence

from autograder.instructor.dashboard.charts import bar, columns, strip
from autograder.instructor.dashboard.clusters import Cluster
from autograder.instructor.dashboard.cohort import OPEN, STOPPED, Cohort
from autograder.instructor.dashboard.misconceptions import HeldMisconception
from autograder.instructor.dashboard.similar import Pair
from autograder.instructor.dashboard.statistics import FEWEST, CheckStatistics, passing
from autograder.instructor.dashboard.stuck import StuckStudent
from autograder.instructor.dashboard.table import (
    CHART,
    INTERVAL,
    Cell,
    Column,
    Table,
    interval_cell,
    percent,
    share_cell,
)
from autograder.report.exercise_summary import number, spoken
from autograder.report.html_failure import text
from autograder.report.quantities import listed, plural, points

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
        share = passing(statuses)
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
