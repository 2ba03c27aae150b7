"""The top of a verdict: what became of the exercise, and of each of its checks."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.text import Text

from autograder.report.layout import SECONDARY, Page, apart, packed
from autograder.report.words import STATES, checks_pass, number, plural, reference_parts, spoken
from autograder.results.model import CheckResult, ExerciseResult

_SHORTEST_RUN = 3


def title_line(page: Page, exercise: ExerciseResult) -> Text:
    """Return mark, state and title of an exercise."""
    state = STATES[exercise.status]
    mark = page.text(f"{getattr(page.glyphs, state.mark)} ", state.style)
    word = page.text(state.word, f"bold {state.style}")
    return Text.assemble(mark, word, " ", page.text(f"{number(exercise.id)} {exercise.title}", "bold"))


def top_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return the title, the checks in a row or two, and whether reference parts were used."""
    title, count = title_line(page, exercise), page.text(checks_pass(exercise.checks))
    together = apart(title, count, page.width)
    head = [together] if together else [*page.wrap(title, 0), *(page.wrap(count) if count else [])]
    marks = _marks(page, exercise) if exercise.status not in ("missing", "not_started") else []
    return [*head, *(Text.assemble("  ", line) for line in marks), *part_lines(page, exercise)]


def part_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return which parts of the student's were not used."""
    said = reference_parts(exercise)
    return page.wrap(page.text(said, SECONDARY)) if said else []


def _marks(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return a mark for each check; where they take too many lines, only a number of those that fare alike."""
    first, most = exercise.first_failure, 2 if page.width >= 80 else 3
    lines = packed([_mark(page, each, each is first) for each in exercise.checks], page.width - 2)
    if len(lines) <= most:
        return lines
    return packed(list(_runs(page, exercise.checks, first)), page.width - 2)


def _runs(page: Page, checks: Sequence[CheckResult], first: CheckResult | None) -> Iterator[Text]:
    for (mark, _), group in groupby(checks, lambda each: (STATES[each.status].mark, each is first)):
        run = list(group)
        if len(run) < _SHORTEST_RUN:
            yield from (_mark(page, each, each is first) for each in run)
        else:
            style = STATES[run[0].status].style
            word = "other" if mark == "failed" else "check"
            sign = page.text(getattr(page.glyphs, mark), style)
            yield Text.assemble(sign, " ", page.text(plural(len(run), word), SECONDARY if mark == "waiting" else ""))


def _mark(page: Page, check: CheckResult, first: bool) -> Text:
    state = STATES[check.status]
    waiting = state.mark == "waiting"
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    return Text.assemble(mark, " ", page.text(spoken(check.id), SECONDARY if waiting else "bold" if first else ""))
