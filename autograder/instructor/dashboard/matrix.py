"""The checks of a class by its students: a strip for each check, and every status as CSV."""

from autograder.instructor.dashboard.charts import MEANINGS, strip
from autograder.instructor.dashboard.cohort import WRONG, Cohort
from autograder.instructor.dashboard.statistics import passing
from autograder.instructor.dashboard.table import CHART, Cell, Column, Table, csv_of, share_cell
from autograder.report.exercise_summary import number, spoken
from autograder.report.html_failure import text


def matrix(cohort: Cohort, folder: str) -> str:
    """Return the checks by students, a part for each exercise; the part with most failures is open."""
    failures = {
        exercise: sum(status in WRONG for status in cohort.of_exercise(exercise)) for exercise, _ in cohort.exercises
    }
    hardest = max(failures, key=lambda exercise: failures[exercise], default="")
    return "\n".join(_part(cohort, folder, *exercise, exercise[0] == hardest) for exercise in cohort.exercises)


def _part(cohort: Cohort, folder: str, exercise: str, title: str, is_open: bool) -> str:
    heads = (
        Column("check", words=True),
        Column("students, best score first", words=True, kind=CHART),
        Column("pass"),
    )
    checks = [(spoken(item.check), cohort.verdicts[item.key]) for item in cohort.items if item.exercise == exercise]
    checks.sort(key=lambda check: passing(check[1]).value or 0.0)
    rows = [
        (Cell(check), Cell("", markup=strip(statuses, check)), share_cell(passing(statuses)))
        for check, statuses in checks
    ]
    table = Table("matrix", f"Checks of {number(exercise)} {title}, hardest first.", heads, rows).html(folder)
    share = passing(cohort.of_exercise(exercise))
    passed = f"{share.count} of {share.of} pass every check"
    summary = f'<summary>{text(f"{number(exercise)} {title}")} <span class="soft">{text(passed)}</span></summary>'
    return f"<details{' open' if is_open else ''}>{summary}{table}</details>"


def matrix_csv(cohort: Cohort) -> str:
    """Return every status: a row for each check, a column for each student."""
    heads = ["exercise", "check", "title", *(cohort.name(report) for report in cohort.reports)]
    rows = [[item.exercise, item.check, item.title, *cohort.verdicts[item.key]] for item in cohort.items]
    return csv_of(heads, rows)


def legend() -> str:
    """Return the meaning of the colours of the strips."""
    items = (
        f'<li><svg aria-hidden="true" viewBox="0 0 8 8" preserveAspectRatio="none">'
        f'<rect class="{kind}" width="8" height="8"/></svg>{text(meaning)}</li>'
        for kind, meaning in MEANINGS.items()
    )
    return f'<ul class="legend">{"".join(items)}</ul>'
