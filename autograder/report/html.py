"""The cards that a notebook shows: one HTML element each, without script or network, readable without style too."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from autograder.report.exercise_summary import achieved, bonus_left, number, reference_parts, spoken
from autograder.report.failure_view import Command as Command
from autograder.report.failure_view import count_of, failure_view, have_run
from autograder.report.html_bars import bars_svg
from autograder.report.html_failure import failure_parts, prints_html
from autograder.report.html_grid import grid_svg
from autograder.report.html_style import NAME, style
from autograder.report.html_text import code, table, text
from autograder.report.passing import MOST_PICTURES
from autograder.report.picture_words import in_words, is_whole
from autograder.report.prints import print_parts
from autograder.report.quantities import points_of
from autograder.report.states import check_state, state_of
from autograder.report.todo_view import TodoItem, todo_view
from autograder.report.why import WhyPage
from autograder.results.model import NOT_JUDGED, CheckResult, ExerciseResult, Picture

SIGNS = {"passed": "✓", "failed": "✗", "waiting": "·", "problem": "!"}
_KINDS = {"passed": "pass", "failed": "fail", "waiting": "wait", "problem": "problem"}
_SPOKEN = {"passed": "passes: ", "failed": "fails: ", "waiting": "waits: ", "problem": "could not be checked: "}


def exercise_card(
    exercise: ExerciseResult,
    *,
    hints_shown: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
    notes: Sequence[str] = (),
    next_commands: Sequence[Command] = (),
    styled: bool = True,
) -> str:
    """Return the card of one exercise: what was achieved if it passes, else its first failure.

    `notes` are sentences about what was checked. A page that contains the style wants cards that are not `styled`. The
    other arguments are those of `render_exercise`.
    """
    state = state_of(exercise)
    passes = exercise.status == "pass"
    beside = achieved(exercise, attempt) if passes else _count(exercise)
    parts = _passing(exercise, unused_hints) if passes else _failing(exercise, hints_shown)
    return _card(
        _KINDS[state.mark],
        _top(f"{SIGNS[state.mark]} {state.word}", f"{number(exercise.id)} {exercise.title}", beside),
        [*parts, *(f'<p class="soft">{text(note)}</p>' for note in notes), *_next(next_commands)],
        styled,
    )


def why_card(page: WhyPage, next_commands: Sequence[Command] = ()) -> str:
    """Return the page of a misconception as a card."""
    labelled = (("Why it tempts", page.tempting), ("A question", page.hint), ("Lesson", page.lesson))
    parts = [f"<p>{text(page.explanation)}</p>"]
    parts += [
        _code_block(head, lines) for head, lines in (("✗ your line", page.wrong), ("✓ right", page.right)) if lines
    ]
    parts += [f"<p><strong>{head}</strong> {text(words)}</p>" for head, words in labelled if words.strip()]
    experiment = page.experiment.strip("\n").split("\n")
    if len(experiment) > 1:
        parts.append(_code_block("To see it", experiment))
    elif page.experiment.strip():
        parts.append(f"<p><strong>To see it</strong> {text(page.experiment)}</p>")
    return _card("wait", _top("", f"Misconception: {page.name}", page.exercise), [*parts, *_next(next_commands)])


def note_card(
    title: str, sentences: Sequence[str], *, kind: str = "wait", next_commands: Sequence[Command] = ()
) -> str:
    """Return a card with a title and some sentences; `kind` is pass, fail, problem or wait."""
    parts = (f"<p>{text(sentence)}</p>" for sentence in sentences)
    return _card(kind, _top("", title, ""), [*parts, *_next(next_commands)])


def hint_card(title: str, hints: Sequence[str], everything: int, notes: Sequence[str] = ()) -> str:
    """Return the hints given so far as a card, the last one open."""
    parts = [
        f"<details{' open' if level == len(hints) else ''}><summary>Hint {level} of {everything}</summary>"
        f"{text(hint)}</details>"
        for level, hint in enumerate(hints, 1)
    ]
    return _card("wait", _top("", title, ""), [*parts, *(f'<p class="soft">{text(note)}</p>' for note in notes)])


def table_card(
    title: str, beside: str, head: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str]
) -> str:
    """Return a card of a table whose cells are words."""
    cells = [[text(cell) for cell in row] for row in rows]
    sentences = (f"<p>{text(sentence)}</p>" for sentence in below)
    parts = [table([text(cell) for cell in head], cells, words="words"), *sentences]
    return _card("wait", _top("", title, beside), parts)


def _card(kind: str, top: str, parts: Iterable[str], styled: bool = True) -> str:
    look = f"<style>{style()}</style>" if styled else ""
    return f'<div class="{NAME} {kind}">{look}{top}{"".join(parts)}</div>'


def _top(state: str, title: str, beside: str) -> str:
    word = f'<span class="state">{text(state)}</span>' if state else ""
    aside = f'<span class="soft">{text(beside)}</span>' if beside else ""
    head = f'<span class="title" role="heading" aria-level="3">{word} {text(title)}</span>'
    return f'<div class="top">{head} {aside}</div>'


def _count(exercise: ExerciseResult) -> str:
    if exercise.status in NOT_JUDGED:
        return ""  # an exercise that was not judged has no score, not zero
    return ", ".join(filter(None, (count_of(exercise), points_of(exercise.score, exercise.max_score))))


def _failing(exercise: ExerciseResult, hints_shown: int) -> Iterator[str]:
    first, todos = exercise.first_failure, todo_view(exercise)
    if exercise.status != "not_started" and have_run(exercise):
        yield f'<ul class="checks">{"".join(_check(check, check is first) for check in exercise.checks)}</ul>'
    if todos is not None and todos.items:
        yield f'<ul class="checks">{"".join(map(_todo, todos.items))}</ul>'
    if sentence := reference_parts(exercise):
        yield f'<p class="soft">{text(sentence)}</p>'
    if first is None:
        yield f"<p>{text(state_of(exercise).meaning)}</p>"
    else:
        view = failure_view(first, prints=exercise.prints, hints_shown=hints_shown, todos=todos)
        yield from failure_parts(view)


def _check(check: CheckResult, first: bool) -> str:
    mark = check_state(check).mark
    sign = f'<b aria-hidden="true">{SIGNS[mark]}</b><span class="unseen">{_SPOKEN[mark]}</span>'
    name = f'<span class="first">{text(spoken(check.id))}</span>' if first else text(spoken(check.id))
    return f'<li class="{mark}" title="{text(check.title)}">{sign} {name}</li>'


def _todo(item: TodoItem) -> str:
    sign = f'<b aria-hidden="true">{SIGNS[item.mark]}</b>'
    spoken_mark = f'<span class="unseen">{_SPOKEN[item.mark] if item.mark != "waiting" else ""}</span>'
    return f'<li class="{item.mark}">{sign}{spoken_mark} {text(item.text)}</li>'


def _passing(exercise: ExerciseResult, unused_hints: Sequence[str]) -> Iterator[str]:
    if exercise.built:
        yield f"<p><strong>{text(exercise.built)}</strong></p>"
    if sentence := reference_parts(exercise):
        yield f'<p class="soft">{text(sentence)}</p>'
    yield from (f'<p class="soft">Still open: {text(check)}</p>' for check in bonus_left(exercise))
    yield from prints_html(print_parts(exercise.prints))
    pictures = [_picture(picture) for picture in exercise.pictures[:MOST_PICTURES] if is_whole(picture)]
    if pictures:
        yield f'<div class="shown">{"".join(pictures)}</div>'
    if unused_hints:
        hints = "".join(f"<p>{text(hint)}</p>" for hint in unused_hints)
        yield f"<details><summary>Hints you did not need</summary>{hints}</details>"


def _picture(picture: Picture) -> str:
    alt, names = in_words(picture), (("rows", picture.rows), ("columns", picture.columns))
    if picture.bars:
        drawing = bars_svg(picture.values[0], alt, labels=picture.column_labels)
        names = (("height", picture.rows), ("bars", picture.columns))
    else:
        drawing = grid_svg(picture.values, alt, row_labels=picture.row_labels, column_labels=picture.column_labels)
    axes = ", ".join(f"{word}: {text(name)}" for word, name in names if name)
    return (
        f"<figure><figcaption><strong>{text(picture.title)}</strong></figcaption>{drawing}"
        f"<figcaption>{axes}</figcaption></figure>"
    )


def _code_block(head: str, lines: Sequence[str]) -> str:
    block = dedent("\n".join(lines)).split("\n")
    return (
        f'<figure class="place"><figcaption>{text(head)}</figcaption>'
        f"<pre>{chr(10).join(map(code, block))}</pre></figure>"
    )


def _next(commands: Sequence[Command]) -> list[str]:
    if not commands:
        return []
    items = "; ".join(f"<code>{text(command)}</code> {text(effect)}".strip() for command, effect in commands)
    return [f'<p class="next">Next: {items}</p>']
