"""The checks of a class by its students: a strip for each check, and all of it as CSV."""

from autograder.instructor.dashboard.gathered import WRONG, Class
from autograder.instructor.dashboard.statistics import passing
from autograder.instructor.dashboard.strips import SAID, strip
from autograder.instructor.dashboard.tables import DRAWN, Cell, Column, Table, counted, csv_of
from autograder.report.html_failure import text
from autograder.report.words import number, spoken


def matrix(room: Class, folder: str) -> str:
    """Return the checks by students, a part for each exercise; that with most failures is open."""
    failures = {name: sum(status in WRONG for status in room.of_exercise(name)) for name, _ in room.exercises}
    hardest = max(failures, key=lambda name: failures[name], default="")
    return "\n".join(_part(room, folder, name, title, name == hardest) for name, title in room.exercises)


def _part(room: Class, folder: str, name: str, title: str, opened: bool) -> str:
    heads = (
        Column("check", words=True),
        Column("students, best score first", words=True, kind=DRAWN),
        Column("pass"),
    )
    checks = [(spoken(item.check), room.verdicts[item.key]) for item in room.items if item.exercise == name]
    checks.sort(key=lambda row: passing(row[1]).value or 0.0)
    rows = [
        (Cell(check), Cell("", markup=strip(verdicts, check)), counted(passing(verdicts))) for check, verdicts in checks
    ]
    table = Table("matrix", f"Checks of {number(name)} {title}, hardest first.", heads, rows).html(folder)
    whole = room.of_exercise(name)
    told = f"{whole.count('pass')} of {len(whole)} pass all of it"
    summary = f'<summary>{text(f"{number(name)} {title}")} <span class="soft">{text(told)}</span></summary>'
    return f"<details{' open' if opened else ''}>{summary}{table}</details>"


def matrix_csv(room: Class) -> str:
    """Return every verdict: a row for each check, a column for each student."""
    heads = ["exercise", "check", "title", *(room.name(report) for report in room.reports)]
    rows = [[item.exercise, item.check, item.title, *room.verdicts[item.key]] for item in room.items]
    return csv_of(heads, rows)


def legend() -> str:
    """Return what the colours of the strips mean."""
    drawn = (
        f'<li><svg aria-hidden="true" viewBox="0 0 8 8" preserveAspectRatio="none">'
        f'<rect class="{kind}" width="8" height="8"/></svg>{text(said)}</li>'
        for kind, said in SAID.items()
    )
    return f'<ul class="legend">{"".join(drawn)}</ul>'
