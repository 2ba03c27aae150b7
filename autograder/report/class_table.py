"""A class as a table: a line for each student, a column for each exercise, and a summary."""

from collections.abc import Sequence

from rich.text import Text

from autograder.report.class_summary import ClassSummary
from autograder.report.exercise_summary import number, student, total_of
from autograder.report.layout import SECONDARY, Page, blocks, breadth, columns
from autograder.report.quantities import points
from autograder.report.states import COURSE_PROBLEM, IN_PROGRESS, STATES, state_of
from autograder.results.model import NOT_JUDGED, ExerciseResult, Report

_MOST_NAMES = 5
_MOST_LOOKS = 20
_WIDE_NAME, _NARROW_NAME = 24, 18


def class_lines(page: Page, reports: Sequence[Report], summary: ClassSummary) -> list[Text]:
    """Return the table of the reports, and the summary of the whole class."""
    table = _table(page, reports, summary)
    if cut := summary.first_of(len(reports)):
        table += page.wrap(page.text(cut), 0)
    parts = (table, page.wrap(page.text(summary.sentence, "bold"), 0))
    return blocks((*parts, _misconceptions(page, summary), _looks(page, summary)))


def exercise_ids(reports: Sequence[Report]) -> list[str]:
    """Return the ids of all exercises in the reports, in order."""
    return sorted({exercise.id for report in reports for exercise in report.exercises})


def _table(page: Page, reports: Sequence[Report], summary: ClassSummary) -> list[Text]:
    """Return the table with whole words; on a narrow page with short words, or with marks, and a legend."""
    if not reports:
        return []
    ids = exercise_ids(reports)
    for short in (False, True):
        lines = _spread(page, reports, ids, short, summary)
        if breadth(lines) <= page.width:
            return lines + (_legend(page, reports, short=True) if short else [])
    return _compact(page, reports, ids, summary) + _legend(page, reports, short=False)


def _spread(
    page: Page, reports: Sequence[Report], ids: Sequence[str], short: bool, summary: ClassSummary
) -> list[Text]:
    head = [page.text(word, SECONDARY) for word in ("student", *map(number, ids), "total")]
    rows = []
    for report in reports:
        exercises = {exercise.id: exercise for exercise in report.exercises}
        cells = [_cell(page, exercises.get(key), short) for key in ids]
        rows.append([page.cut(page.text(student(report)), _WIDE_NAME), *cells, _total(page, report, summary)])
    best = [page.text(points(_best(reports, key)), SECONDARY) for key in ids]
    total = page.text(points(summary.max_score), SECONDARY)
    last = [page.text("of", SECONDARY), *best, total]
    return columns([head, *rows, last], (False, *(True for _ in ids), True))


def _total(page: Page, report: Report, summary: ClassSummary) -> Text:
    """Return the total of a report, or what a person gave for one that has none."""
    given = summary.decided.get(student(report))
    return page.text(total_of(report, of=False) if given is None else points(given), "bold")


def _compact(page: Page, reports: Sequence[Report], ids: Sequence[str], summary: ClassSummary) -> list[Text]:
    """Return a line for each student with a mark for each exercise."""
    head = [page.text(word, SECONDARY) for word in ("student", f"{number(ids[0])} to {number(ids[-1])}", "total")]
    rows = []
    for report in reports:
        exercises = {exercise.id: exercise for exercise in report.exercises}
        marks = Text.assemble(*(_sign(page, exercises.get(key)) for key in ids))
        rows.append([page.cut(page.text(student(report)), _NARROW_NAME), marks, _total(page, report, summary)])
    return columns([head, *rows], (False, False, True))


def _cell(page: Page, exercise: ExerciseResult | None, short: bool) -> Text:
    """Return the points, or the word of a state that earned none for another reason than a wrong result."""
    if exercise is None:
        return Text()
    state = state_of(exercise)
    earned_none = not exercise.score and exercise.status not in ("pass", "fail")
    if exercise.status in NOT_JUDGED or not exercise.max_score or earned_none:
        return page.text(state.short if short else state.word, state.style)
    return page.text(points(exercise.score), "green" if exercise.status == "pass" else "")


def _sign(page: Page, exercise: ExerciseResult | None) -> Text:
    if exercise is None:
        return page.text(" ")
    state = state_of(exercise)
    return page.text(getattr(page.glyphs, state.mark), state.style)


def _legend(page: Page, reports: Sequence[Report], short: bool) -> list[Text]:
    """Return the meaning of the marks, or of the short words that differ from the whole word."""
    used = {state_of(exercise) for report in reports for exercise in report.exercises}
    states = [state for state in (*STATES.values(), COURSE_PROBLEM, IN_PROGRESS) if state in used]
    if short:
        meanings = [f"{state.short} {state.word.lower()}" for state in states if state.short != state.word]
    else:
        marks = dict.fromkeys(state.mark for state in states)
        words = {"passed": "passes", "failed": "does not pass", "waiting": "not done", "problem": "not judged"}
        meanings = [f"{getattr(page.glyphs, mark)} {words[mark]}" for mark in marks]
    return page.wrap(page.text(", ".join(meanings), SECONDARY), 0) if meanings else []


def _best(reports: Sequence[Report], exercise_id: str) -> int:
    exercises = (exercise for report in reports for exercise in report.exercises)
    return max(exercise.max_score for exercise in exercises if exercise.id == exercise_id)


def _misconceptions(page: Page, summary: ClassSummary) -> list[Text]:
    if not summary.misconceptions:
        return []
    most = summary.misconceptions[:_MOST_NAMES]
    rows = [[Text(), page.text(str(count)), page.text(name), page.text(key, SECONDARY)] for name, key, count in most]
    lines = columns(rows, (False, True, False, False))
    if breadth(lines) > page.width:
        lines = columns([row[:3] for row in rows], (False, True, False))
    more = len(summary.misconceptions) - len(most)
    rest = [page.text(f"  and {more} more", SECONDARY)] if more else []
    return [page.text("Most frequent misconceptions", "bold"), *(page.cut(line, page.width) for line in lines), *rest]


def _looks(page: Page, summary: ClassSummary) -> list[Text]:
    if not summary.need_a_look:
        return []
    lines = [page.text("Need a look", "bold")]
    for name, why in summary.need_a_look[:_MOST_LOOKS]:
        lines += page.wrap(Text.assemble(page.text(name), "  ", page.text(why, SECONDARY)))
    more = len(summary.need_a_look) - _MOST_LOOKS
    return lines + ([page.text(f"  and {more} more")] if more > 0 else [])
