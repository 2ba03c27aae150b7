"""The top of a verdict: the state of the exercise, and of each of its checks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from rich.text import Text

from autograder.report.exercise_summary import number, reference_parts, spoken
from autograder.report.failure_view import count_of, have_run
from autograder.report.layout import SECONDARY, Page, apart, packed
from autograder.report.quantities import plural
from autograder.report.states import NOT_RUN, State, check_state, state_of
from autograder.report.todo_view import todo_view
from autograder.results.model import CheckResult, ExerciseResult

UNJUDGED = "not judged yet"
"""What the mark says of a check that was not run."""

REQUIRES = "waits for another check"
"""What it says of a check that counts as soon as another one passes."""

_SHORTEST_RUN = 3  # fewer checks of one state are named, not counted


def title_line(page: Page, exercise: ExerciseResult) -> Text:
    """Return mark, state and title of an exercise."""
    state = state_of(exercise)
    mark = page.text(f"{getattr(page.glyphs, state.mark)} ", state.style)
    word = page.text(state.word, f"bold {state.style}")
    return Text.assemble(mark, word, " ", page.text(f"{number(exercise.id)} {exercise.title}", "bold"))


def top_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return the title, the checks in a row or two, the TODOs, and whether reference parts were used."""
    title, count = title_line(page, exercise), page.text(count_of(exercise))
    marks = _marks(page, exercise) if have_run(exercise) and exercise.status != "not_started" else []
    if any(page.glyphs.waiting in line.plain.split() for line in marks):  # a TODO has words beside its mark
        legend = page.text(f"{page.glyphs.waiting} {_meaning(exercise)}", SECONDARY)
        explained = Text.assemble(count, ", ", legend)
        if apart(title, explained, page.width):
            count = explained
        else:
            marks = [*marks[:-1], *packed([marks[-1], Text.assemble("(", legend, ")")], page.width - 2)]
    together = apart(title, count, page.width)
    head = [together] if together else [*page.wrap(title, 0), *(page.wrap(count) if count else [])]
    return [
        *head,
        *(Text.assemble("  ", line) for line in (*marks, *_todo_lines(page, exercise))),
        *part_lines(page, exercise),
    ]


def _meaning(exercise: ExerciseResult) -> str:
    """Return what the mark of what waits means in this exercise."""
    waiting = {check.status for check in exercise.checks if check_state(check).mark == "waiting"}
    return REQUIRES if waiting == {"waits"} and todo_view(exercise) is None else UNJUDGED


def _todo_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return the TODOs of an exercise in a row or more, with what is known of each."""
    view = todo_view(exercise)
    items = []
    for item in view.items if view else ():
        style = {"passed": "green", "failed": "red"}.get(item.mark, SECONDARY)
        mark = page.text(getattr(page.glyphs, item.mark), style)
        items.append(Text.assemble(mark, " ", page.text(item.text)))
    room = replace(page, width=page.width - 2)
    return [line for row in packed(items, room.width) for line in room.wrap(row, 0)]


def part_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return which of the student's parts were replaced by reference parts."""
    sentence = reference_parts(exercise)
    return page.wrap(page.text(sentence, SECONDARY)) if sentence else []


def _marks(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return a mark for each check; if they take too many lines, runs of one state are counted instead."""
    first, most = exercise.first_failure, 2 if page.width >= 80 else 3
    lines = packed([_mark(page, check, check is first) for check in exercise.checks], page.width - 2)
    if len(lines) <= most:
        return lines
    return packed(list(_runs(page, exercise.checks, first)), page.width - 2)


def _runs(page: Page, checks: Sequence[CheckResult], first: CheckResult | None) -> Iterator[Text]:
    for _, group in groupby(checks, lambda check: (*_kind(check_state(check)), check is first)):
        run = list(group)
        state = check_state(run[0])
        if len(run) < _SHORTEST_RUN:
            yield from (_mark(page, check, check is first) for check in run)
        else:
            sign = page.text(getattr(page.glyphs, state.mark), state.style)
            yield Text.assemble(sign, " ", page.text(_count(run, state), SECONDARY if state.mark == "waiting" else ""))


def _kind(state: State) -> tuple[str, bool]:
    """Return what the states of checks that are counted together have in common."""
    return state.mark, state is NOT_RUN


def _count(run: Sequence[CheckResult], state: State) -> str:
    if state is NOT_RUN:
        return f"{len(run)} not run"
    return plural(len(run), "other" if state.mark == "failed" else "check")


def _mark(page: Page, check: CheckResult, first: bool) -> Text:
    state = check_state(check)
    waiting = state.mark == "waiting"
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    return Text.assemble(mark, " ", page.text(spoken(check.id), SECONDARY if waiting else "bold" if first else ""))
