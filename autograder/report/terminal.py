"""A verdict in the terminal, drawn or as sentences: the failure or what was achieved; and `why`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from textwrap import dedent

from rich.console import Console
from rich.text import Text

from autograder.course import Described
from autograder.diagnosis import explained
from autograder.results import NOT_JUDGED, CheckResult, ExerciseResult, Report, joined

from . import states
from .escaping import NARROWEST, Glyphs, ended, one_line, printable
from .failures import (
    Command,
    FailureView,
    TodoView,
    failure_view,
    print_parts,
    todo_view,
)
from .pictures import (
    LABEL,
    MOST_PICTURES,
    SECONDARY,
    Page,
    apart,
    blocks,
    breadth,
    columns,
    in_words,
    indented,
    next_lines,
    packed,
    picture_lines,
    title_line,
    unused_lines,
)
from .terminal_failure import (
    NARROWEST_WITH_MAPS,
    SHORTEST,
    fact,
    failure_lines,
    failure_sentences,
    fitted_lines,
    next_sentences,
    print_lines,
    print_sentences,
    show,
)

# A verdict as labelled sentences.

_MOST_UNUSED = 3
_TODO_WORDS = {"passed": "Passes", "failed": "Fails", "waiting": "Written"}


def exercise_sentences(
    exercise: ExerciseResult,
    next_commands: Sequence[Command],
    hint: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
    *,
    brief: bool = False,
) -> list[str]:
    """Return one exercise: what was achieved if it passes, else its first failure."""
    if exercise.status != "pass":
        return _failing(exercise, next_commands, hint, brief=brief)
    unused = [fact("A hint you did not need", one_line(hint)) for hint in unused_hints[:_MOST_UNUSED]]
    printed = print_sentences(print_parts(exercise.prints))
    return [*_passing(exercise, attempt), *printed, *unused, *next_sentences(next_commands)]


def report_sentences(report: Report, next_commands: Sequence[Command], *, brief: bool = False) -> list[str]:
    """Return a sentence for each exercise, the first failure, the total and the next commands."""
    first = states.shown_first(report)
    lines = [f"Student: {states.student(report)}."] if states.student(report) else []
    lines += [summary_sentence(exercise) for exercise in report.exercises]
    lines += _failing(first, (), brief=brief) if first else []
    lines += [f"Total: {states.points_of(report.score, report.max_score)}."]
    others = [exercise for exercise in report.exercises if exercise is not first]
    lines += [f"Exercise {states.number(one.id)}: {flag}" for one in others for flag in states.flag_sentences(one)]
    return lines + [f"Note: {ended(note)}" for note in states.notes(report)] + next_sentences(next_commands)


def summary_sentence(exercise: ExerciseResult) -> str:
    """Return one exercise in one line."""
    score = "" if exercise.status in NOT_JUDGED else states.points_of(exercise.score, exercise.max_score)
    checks = "" if exercise.status == "held" else states.checks_pass(exercise.checks)
    facts = ", ".join(filter(None, (checks, score)))
    title = f"Exercise {states.number(exercise.id)}, {exercise.title}"
    return f"{title}: {states.state_of(exercise).word}.{f' {facts}.' if facts else ''}"


def _title(exercise: ExerciseResult) -> str:
    return f"{states.state_of(exercise).word}. Exercise {states.number(exercise.id)}, {exercise.title}."


def _passing(exercise: ExerciseResult, attempt: int | None) -> list[str]:
    built = fact("Built", one_line(exercise.built)) if exercise.built else ""
    pictures = (in_words(picture) for picture in exercise.pictures[:MOST_PICTURES])
    left = (f"Still open: {check}" for check in states.bonus_left(exercise))
    facts = filter(None, (states.reference_parts(exercise), *states.flag_sentences(exercise), built, *left, *pictures))
    return [f"{_title(exercise)} {states.achieved(exercise, attempt)}.", *facts]


def _failing(
    exercise: ExerciseResult, next_commands: Sequence[Command], hint: int = 1, *, brief: bool = False
) -> list[str]:
    state, check, todos = states.state_of(exercise), exercise.first_failure, todo_view(exercise)
    view = _view(exercise, hint, next_commands)
    if check is None or view is None:
        return [_title(exercise), ended(state.meaning), *next_sentences(next_commands)]
    first = "Begin with" if state.mark == "waiting" else "First failure"
    begin = f"{first}: check {exercise.checks.index(check) + 1}, {states.spoken(check.id)}."
    if brief:
        return failure_sentences(view.brief)
    count = states.count_of(exercise)
    top = [f"{_title(exercise)} {count[:1].upper()}{count[1:]}."]
    if states.have_run(exercise) and (todos is None or check.status != "not_started"):
        top.append(begin)
    return [
        " ".join(top),
        *_todo_sentences(todos),
        *filter(None, [states.reference_parts(exercise), *states.flag_sentences(exercise)]),
        *failure_sentences(view),
    ]


def _todo_sentences(todos: TodoView | None) -> list[str]:
    """Return what is known of each TODO that has code, and the names of the others."""
    if todos is None or not todos.items:
        return []
    known = [item for item in todos.items if item.fact and not item.is_left]
    left = [item.name for item in todos.items if item.is_left]
    sentences = [f"{_TODO_WORDS[item.mark]}: {item.name if item.mark == 'waiting' else item.text}." for item in known]
    return [*sentences, f"Left to write: {joined(left)}."]


# The top of a verdict: the state of the exercise, and of each of its checks.

UNJUDGED = "not judged yet"
"""What the mark says of a check that was not run."""

REQUIRES = "waits for another check"
"""What it says of a check that counts as soon as another one passes."""

_SHORTEST_RUN = 3  # fewer checks of one state are named, not counted


def top_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return the title, the checks in a row or two, the TODOs, and whether reference parts were used."""
    title, count = title_line(page, exercise), page.text(states.count_of(exercise))
    marks = _marks(page, exercise) if states.have_run(exercise) and exercise.status != "not_started" else []
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
    waiting = {check.status for check in exercise.checks if states.check_state(check).mark == "waiting"}
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
    """Return which of the student's parts were replaced by reference parts, and what a person will look at."""
    sentences = [*filter(None, [states.reference_parts(exercise)]), *states.flag_sentences(exercise)]
    return [line for sentence in sentences for line in page.wrap(page.text(sentence, SECONDARY))]


def _marks(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return a mark for each check; if they take too many lines, runs of one state are counted instead."""
    first, most = exercise.first_failure, 2 if page.width >= 80 else 3
    lines = packed([_mark(page, check, check is first) for check in exercise.checks], page.width - 2)
    if len(lines) <= most:
        return lines
    return packed(list(_runs(page, exercise.checks, first)), page.width - 2)


def _runs(page: Page, checks: Sequence[CheckResult], first: CheckResult | None) -> Iterator[Text]:
    for _, group in groupby(checks, lambda check: (*_kind(states.check_state(check)), check is first)):
        run = list(group)
        state = states.check_state(run[0])
        if len(run) < _SHORTEST_RUN:
            yield from (_mark(page, check, check is first) for check in run)
        else:
            sign = page.text(getattr(page.glyphs, state.mark), state.style)
            yield Text.assemble(sign, " ", page.text(_count(run, state), SECONDARY if state.mark == "waiting" else ""))


def _kind(state: states.State) -> tuple[str, bool]:
    """Return what the states of checks that are counted together have in common."""
    return state.mark, state is states.NOT_RUN


def _count(run: Sequence[CheckResult], state: states.State) -> str:
    if state is states.NOT_RUN:
        return f"{len(run)} not run"
    return states.plural(len(run), "other" if state.mark == "failed" else "check")


def _mark(page: Page, check: CheckResult, first: bool) -> Text:
    state = states.check_state(check)
    waiting = state.mark == "waiting"
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    return Text.assemble(
        mark, " ", page.text(states.spoken(check.id), SECONDARY if waiting else "bold" if first else "")
    )


TALLEST = 34
MOST_BONUS = 2
"""Bonus checks that are still open, below a pass."""

LINES_PRINTED_IN_A_PASS = 4
LOW = 30
"""A terminal with fewer lines shows no tables and no maps."""


def render_exercise(
    console: Console,
    exercise: ExerciseResult,
    *,
    file_path: Path | None,
    next_commands: Sequence[Command],
    glyphs: Glyphs,
    plain: bool = False,
    hints_shown: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
    brief: bool = False,
) -> None:
    """Show one exercise: what was achieved if it passes, else its first failure, in at most 34 lines of 80 columns.

    `file_path` is the student's file, for a link. `next_commands` are commands and what each does. A failure shows the
    last of the `hints_shown`; a pass shows the `attempt` and the `unused_hints`. If `brief`, a failure is its sentence,
    its line and the first of the commands alone.
    """
    if plain or console.width < NARROWEST:
        about = exercise_sentences(exercise, next_commands, hints_shown, attempt, unused_hints, brief=brief)
        show(console, about)
        return
    page = Page.on(console, glyphs)
    if exercise.status == "pass":
        last = next_lines(page, next_commands)
        page.show(blocks((_pass_lines(page, exercise, _rows(page) - len(last) - 1, attempt, unused_hints), last)))
        return
    view = _view(exercise, hints_shown, next_commands)
    last = [] if view else next_lines(page, next_commands)
    page.show(blocks((_failing_lines(page, exercise, view, file_path, brief=brief), last)))


def render_report(
    console: Console,
    report: Report,
    *,
    file_paths: Mapping[str, Path],
    next_commands: Sequence[Command],
    glyphs: Glyphs,
    plain: bool = False,
    brief: bool = False,
) -> None:
    """Show a line for each exercise, the first failure, and the total. `file_paths` are by file name.

    The failure is in full, or as `brief` as that of `render_exercise`.
    """
    if plain or console.width < NARROWEST:
        show(console, report_sentences(report, next_commands, brief=brief))
        return
    page = Page.on(console, glyphs)
    name = page.text(states.student(report), "bold")
    several = len(report.exercises) > 1
    parts = (
        [name] if name.plain else [],
        _list_lines(page, report) if several else [],
        _first_in_full(page, report, file_paths, brief=brief),
        _total_lines(page, report) if several else _note_lines(page, report),
        next_lines(page, next_commands),
    )
    page.show(blocks(parts))


def _view(exercise: ExerciseResult, hints_shown: int = 1, next_commands: Sequence[Command] = ()) -> FailureView | None:
    check = exercise.first_failure
    if check is None:
        return None
    todos, prints = todo_view(exercise), exercise.prints
    return failure_view(check, prints=prints, hints_shown=hints_shown, next_commands=next_commands, todos=todos)


def _failing_lines(
    page: Page, exercise: ExerciseResult, view: FailureView | None, file_path: Path | None, *, brief: bool
) -> list[Text]:
    """Return the header of an exercise, its checks, and its first failure; if `brief`, its first failure alone."""
    if view is not None and brief:
        return failure_lines(page, view.brief, file_path, SHORTEST)
    head = top_lines(page, exercise)
    if view is None:
        return blocks((head, page.wrap(page.text(states.state_of(exercise).meaning))))
    is_low = _height(page) < LOW
    return blocks((head, fitted_lines(page, view, file_path, _rows(page) - len(head) - 1, is_low)))


def _pass_lines(
    page: Page, exercise: ExerciseResult, rows: int, attempt: int | None, unused_hints: Sequence[str]
) -> list[Text]:
    """Return what was achieved in one line, what was built, pictures of it, and the hints left over."""
    unused = unused_lines(page, unused_hints)
    line = Text.assemble(title_line(page, exercise), "  ", page.text(states.achieved(exercise, attempt)))
    built = page.wrap(page.text(one_line(exercise.built))) if exercise.built else []
    open_checks = [f"{page.glyphs.waiting} {check}" for check in states.bonus_left(exercise)[:MOST_BONUS]]
    bonus = [line for check in open_checks for line in page.wrap(page.text(check, SECONDARY))]
    head = [*page.wrap(line, 0), *part_lines(page, exercise), *built, *bonus]
    printed = print_lines(page, print_parts(exercise.prints), LINES_PRINTED_IN_A_PASS)
    room = rows - len(head) - len(unused) - 2 - (len(printed) + 1 if printed else 0)
    pictures = picture_lines(page, exercise.pictures, room) if page.width >= NARROWEST_WITH_MAPS else []
    return blocks((head, printed, pictures, unused))


def _list_lines(page: Page, report: Report) -> list[Text]:
    """Return a line for each exercise: mark, title, state, checks and points, with fewer of them on a narrow page."""
    rows = [_summary(page, exercise) for exercise in report.exercises]
    for kept in ((0, 1, 2, 3), (0, 1, 3), (0, 3)):
        lines = columns([[row[column] for column in kept] for row in rows], [column == 3 for column in kept])
        if breadth(lines) <= page.width:
            break
    return [page.cut(line, page.width) for line in lines]


def _total_lines(page: Page, report: Report) -> list[Text]:
    """Return the points of a report together, and its notes."""
    done = sum(exercise.status == "pass" for exercise in report.exercises)
    verb = "passes" if len(report.exercises) == 1 else "pass"
    count = f"{done} of {states.plural(len(report.exercises), 'exercise')} {verb}"
    total = Text.assemble(
        page.text("Total", "bold"),
        f"  {states.points_of(report.score, report.max_score)}  ",
        page.text(count, SECONDARY),
    )
    first = states.shown_first(report)
    others = [exercise for exercise in report.exercises if exercise is not first]
    flags = [f"{states.number(exercise.id)}  {flag}" for exercise in others for flag in states.flag_sentences(exercise)]
    looks = [line for flag in flags for line in page.wrap(page.text(flag, SECONDARY))]
    return page.wrap(total) + looks + _note_lines(page, report)


def _note_lines(page: Page, report: Report) -> list[Text]:
    """Return what the intake noted about a submission."""
    return [line for note in states.notes(report) for line in page.wrap(page.text(f"Note  {note}"))]


def _first_in_full(page: Page, report: Report, file_paths: Mapping[str, Path], *, brief: bool) -> list[Text]:
    """Return the exercise to look at first; of a single exercise, what was achieved if it passes."""
    several = len(report.exercises) > 1
    first = states.shown_first(report) if several else next(iter(report.exercises), None)
    if first is None:
        return []
    if first.status == "pass":
        return _pass_lines(page, first, _rows(page), None, ())
    return _failing_lines(page, first, _view(first), file_paths.get(f"{first.id}.py"), brief=brief)


def _rows(page: Page) -> int:
    """Return how tall a failure may be: more lines on a narrow page, and never more than the terminal shows."""
    return min(TALLEST * 80 // min(page.width, 80), _height(page) - 1)


def _height(page: Page) -> int:
    """Return the lines of the terminal; a file or a pipe has no limit."""
    return page.console.height if page.console.file.isatty() else 1000


def _summary(page: Page, exercise: ExerciseResult) -> list[Text]:
    state = states.state_of(exercise)
    mark = page.text(getattr(page.glyphs, state.mark), state.style)
    title = Text.assemble(mark, " ", page.text(f"{states.number(exercise.id)} {exercise.title}"))
    count = (
        f"{states.passing(exercise.checks)} of {states.plural(len(exercise.checks), 'check')}"
        if exercise.checks
        else ""
    )
    earned = (
        f"{states.points(exercise.score)} of {states.points(exercise.max_score)}"
        if exercise.max_score
        else states.points(exercise.score)
    )
    return [title, page.text(state.word, state.style), page.text(count), page.text(earned)]


_MOST_CODE = 12  # lines


@dataclass(frozen=True)
class WhyPage(Described):
    """A misconception of the catalogue, with the learner's line as `wrong`, and the file that teaches the point."""

    lesson: str = ""


def render_why(
    console: Console,
    page: WhyPage,
    *,
    glyphs: Glyphs,
    plain: bool = False,
    next_commands: Sequence[tuple[str, str]] = (),
) -> None:
    """Show the page of a misconception."""
    if plain or console.width < NARROWEST:
        show(console, sentences_of_page(page, next_commands))
        return
    on = Page.on(console, glyphs)
    parts = (
        _top(on, page),
        on.wrap(on.text(one_line(explained(page.explanation, page.convention)))),
        _labelled(on, "Why it tempts", page.tempting),
        _code(on, page.wrong, "your line", glyphs.failed, "red"),
        _code(on, page.right, "right", glyphs.passed, "green"),
        _labelled(on, "A question", page.hint),
        _labelled(on, "To see it", page.experiment),
        _labelled(on, "Lesson", page.lesson),
        next_lines(on, next_commands),
    )
    on.show(blocks(parts))


def _top(on: Page, page: WhyPage) -> list[Text]:
    name = on.text(f"{_page_kind(page)}: {one_line(page.name)}", "bold")
    exercise = on.text(one_line(page.exercise), SECONDARY)
    together = apart(name, exercise, on.width)
    first = [together] if together else [*on.wrap(name, 0), *on.wrap(exercise, 0)]
    return [*first, *on.wrap(on.text(one_line(page.id), SECONDARY))]


def _page_kind(page: WhyPage) -> str:
    return "Convention" if page.convention else "Misconception"


def _labelled(on: Page, label: str, text: str) -> list[Text]:
    """Return a paragraph behind its label; lines of code stand below it, unchanged."""
    if not text.strip():
        return []
    if "\n" in text.strip():
        lines = (on.cut(on.text(f"    {line}"), on.width) for line in _lines(text.strip("\n").split("\n")))
        return [on.text(f"  {label}", LABEL), *lines]
    return on.wrap(Text.assemble(on.text(label, LABEL), "  ", on.text(one_line(text))))


def _code(on: Page, code: Sequence[str], word: str, mark: str, style: str) -> list[Text]:
    """Return lines of code behind a gutter; a long one is folded, because its end may be what matters."""
    if not code:
        return []
    gutter = Text.assemble("    ", on.text(on.glyphs.gutter, SECONDARY), " ")
    lines = [
        Text.assemble(gutter, part) for line in _lines(code) for part in _folded(on, line, on.width - gutter.cell_len)
    ]
    return [Text.assemble("  ", on.text(f"{mark} {word}", style)), *lines]


def _folded(on: Page, line: str, room: int) -> list[Text]:
    indent = len(line) - len(line.lstrip())
    first, *others = list(Text(line.lstrip()).wrap(on.console, max(room - indent - 4, 8)))
    parts = [indented(first, indent), *(indented(part, indent + 4) for part in others)]
    for part in parts:
        part.rstrip()
    return parts


def _lines(code: Iterable[str]) -> list[str]:
    lines = [printable(line).replace("\n", " ").rstrip() for line in code][:_MOST_CODE]
    return dedent("\n".join(lines)).split("\n")


def sentences_of_page(page: WhyPage, next_commands: Sequence[tuple[str, str]]) -> list[str]:
    """Return the page as sentences, one fact a line."""
    facts = (
        (_page_kind(page), f"{page.id}, {page.name}"),
        ("Exercise", page.exercise),
        ("Explanation", explained(page.explanation, page.convention)),
        ("Why it tempts", page.tempting),
    )
    code = (
        *(("Your line", line) for line in _lines(page.wrong)),
        *(("Right line", line) for line in _lines(page.right)),
    )
    experiment = [("To see it", line) for line in _lines(page.experiment.strip("\n").split("\n"))]
    return [
        *(fact(label, one_line(text)) for label, text in facts if text.strip()),
        *(f"{label}: {one_line(text)}" for label, text in code if text.strip()),
        *([fact("A question", one_line(page.hint))] if page.hint else []),
        *(f"{label}: {one_line(text)}" for label, text in experiment if text.strip()),
        *([fact("Lesson", one_line(page.lesson))] if page.lesson else []),
        *next_sentences(next_commands),
    ]
