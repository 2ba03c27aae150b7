"""The cards that a notebook shows: one HTML element each, without script or network, readable without style too."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import dedent

from autograder.report.html_bars import bars_svg
from autograder.report.html_failure import code, failure_parts, table, text
from autograder.report.html_grid import grid_svg
from autograder.report.html_style import NAME, style
from autograder.report.passing import MOST_PICTURES
from autograder.report.picture_words import is_whole, sentence
from autograder.report.why import WhyPage
from autograder.report.words import (
    STATES,
    achieved,
    bonus_left,
    checks_pass,
    number,
    opened,
    points_of,
    reference_parts,
    spoken,
)
from autograder.results.model import CheckResult, ExerciseResult, Picture

Command = tuple[str, str]
"""What to type next, and what it does."""

SIGNS = {"passed": "✓", "failed": "✗", "waiting": "·", "problem": "!"}
_KINDS = {"passed": "pass", "failed": "fail", "waiting": "wait", "problem": "problem"}
_SAID = {"passed": "passes: ", "failed": "fails: ", "waiting": "waits: ", "problem": "could not be checked: "}


def exercise_card(
    exercise: ExerciseResult,
    *,
    log: str = "",
    hints_shown: int = 1,
    attempt: int | None = None,
    unused_hints: Sequence[str] = (),
    notes: Sequence[str] = (),
    next_commands: Sequence[Command] = (),
    styled: bool = True,
) -> str:
    """Return the card of one exercise: what was achieved when it passes, else its first failure.

    `notes` are sentences about what was checked; a page that has the style once leaves it out of its cards. The other
    arguments are those of `render_exercise`.
    """
    state = STATES[exercise.status]
    passes = exercise.status == "pass"
    beside = achieved(exercise, attempt) if passes else _count(exercise)
    parts = _passing(exercise, unused_hints) if passes else _failing(exercise, hints_shown, log)
    return _card(
        _KINDS[state.mark],
        _top(f"{SIGNS[state.mark]} {state.word}", f"{number(exercise.id)} {exercise.title}", beside),
        [*parts, *(f'<p class="soft">{text(each)}</p>' for each in notes), *_next(next_commands)],
        styled,
    )


def why_card(page: WhyPage, next_commands: Sequence[Command] = ()) -> str:
    """Return the page of a misconception as a card."""
    name = opened(page.name, "\n".join((*page.wrong, *page.right)))
    labelled = (("Why it tempts", page.tempting), ("A question", page.hint), ("Lesson", page.lesson))
    parts = [f"<p>{text(page.explanation)}</p>"]
    parts += [_code_block(said, lines) for said, lines in (("✗ wrong", page.wrong), ("✓ right", page.right)) if lines]
    parts += [f"<p><strong>{head}</strong> {text(said)}</p>" for head, said in labelled if said.strip()]
    experiment = page.experiment.strip("\n").split("\n")
    if len(experiment) > 1:
        parts.append(_code_block("To see it", experiment))
    elif page.experiment.strip():
        parts.append(f"<p><strong>To see it</strong> {text(page.experiment)}</p>")
    return _card("wait", _top("", name, page.exercise), [*parts, *_next(next_commands)])


def note_card(
    title: str, sentences: Sequence[str], *, kind: str = "wait", next_commands: Sequence[Command] = ()
) -> str:
    """Return a card of a title and some sentences; `kind` is pass, fail, problem or wait."""
    return _card(kind, _top("", title, ""), [*(f"<p>{text(each)}</p>" for each in sentences), *_next(next_commands)])


def hint_card(title: str, hints: Sequence[str], everything: int, notes: Sequence[str] = ()) -> str:
    """Return the hints given so far as a card, the last one open."""
    shown = [
        f"<details{' open' if place == len(hints) else ''}><summary>Hint {place} of {everything}</summary>"
        f"{text(each)}</details>"
        for place, each in enumerate(hints, 1)
    ]
    return _card("wait", _top("", title, ""), [*shown, *(f'<p class="soft">{text(each)}</p>' for each in notes)])


def table_card(
    title: str, beside: str, head: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str]
) -> str:
    """Return a card of a table whose cells are words."""
    cells = [[text(each) for each in row] for row in rows]
    parts = [table([text(each) for each in head], cells, words="words"), *(f"<p>{text(each)}</p>" for each in below)]
    return _card("wait", _top("", title, beside), parts)


def _card(kind: str, top: str, parts: Iterable[str], styled: bool = True) -> str:
    look = f"<style>{style()}</style>" if styled else ""
    return f'<div class="{NAME} {kind}">{look}{top}{"".join(parts)}</div>'


def _top(state: str, title: str, beside: str) -> str:
    said = f'<span class="state">{text(state)}</span>' if state else ""
    aside = f'<span class="soft">{text(beside)}</span>' if beside else ""
    head = f'<span class="title" role="heading" aria-level="3">{said} {text(title)}</span>'
    return f'<div class="top">{head} {aside}</div>'


def _count(exercise: ExerciseResult) -> str:
    if exercise.status == "grader_error":
        return ""  # what was not judged is no zero
    earned = points_of(exercise.score, exercise.max_score)
    return ", ".join(filter(None, (checks_pass(exercise.checks), earned)))


def _failing(exercise: ExerciseResult, hints_shown: int, log: str) -> Iterator[str]:
    first = exercise.first_failure
    if exercise.status not in ("missing", "not_started"):
        yield f'<ul class="checks">{"".join(_check(each, each is first) for each in exercise.checks)}</ul>'
    if said := reference_parts(exercise):
        yield f'<p class="soft">{text(said)}</p>'
    if first is None:
        yield f"<p>{text(STATES[exercise.status].meaning)}</p>"
    else:
        yield from failure_parts(first, hints_shown, log)


def _check(check: CheckResult, first: bool) -> str:
    mark = STATES[check.status].mark
    sign = f'<b aria-hidden="true">{SIGNS[mark]}</b><span class="unseen">{_SAID[mark]}</span>'
    name = f'<span class="first">{text(spoken(check.id))}</span>' if first else text(spoken(check.id))
    return f'<li class="{mark}" title="{text(check.title)}">{sign} {name}</li>'


def _passing(exercise: ExerciseResult, unused_hints: Sequence[str]) -> Iterator[str]:
    if exercise.built:
        yield f"<p><strong>{text(exercise.built)}</strong></p>"
    if said := reference_parts(exercise):
        yield f'<p class="soft">{text(said)}</p>'
    yield from (f'<p class="soft">Still open: {text(each)}</p>' for each in bonus_left(exercise))
    pictures = [_picture(each) for each in exercise.pictures[:MOST_PICTURES] if is_whole(each)]
    if pictures:
        yield f'<div class="shown">{"".join(pictures)}</div>'
    if unused_hints:
        hints = "".join(f"<p>{text(each)}</p>" for each in unused_hints)
        yield f"<details><summary>Hints you did not need</summary>{hints}</details>"


def _picture(picture: Picture) -> str:
    said, names = sentence(picture), (("rows", picture.rows), ("columns", picture.columns))
    if picture.bars:
        drawing = bars_svg(picture.values[0], said, labels=picture.column_labels)
        names = (("height", picture.rows), ("bars", picture.columns))
    else:
        drawing = grid_svg(picture.values, said, row_labels=picture.row_labels, column_labels=picture.column_labels)
    axes = ", ".join(f"{word}: {text(name)}" for word, name in names if name)
    return (
        f"<figure><figcaption><strong>{text(picture.title)}</strong></figcaption>{drawing}"
        f"<figcaption>{axes}</figcaption></figure>"
    )


def _code_block(head: str, lines: Sequence[str]) -> str:
    shown = dedent("\n".join(lines)).split("\n")
    return (
        f'<figure class="place"><figcaption>{text(head)}</figcaption>'
        f"<pre>{chr(10).join(code(each) for each in shown)}</pre></figure>"
    )


def _next(commands: Sequence[Command]) -> list[str]:
    if not commands:
        return []
    said = "; ".join(f"<code>{text(command)}</code> {text(does)}".strip() for command, does in commands)
    return [f'<p class="next">Next: {said}</p>']
