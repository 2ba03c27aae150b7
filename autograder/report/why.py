"""`course why`: the page of a misconception, what it is, why it tempts, and how to see it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import dedent

from rich.console import Console
from rich.text import Text

from autograder.report import plain as sentences
from autograder.report.glyphs import Glyphs
from autograder.report.layout import LABEL, NARROWEST, SECONDARY, Page, apart, blocks, indented, next_lines
from autograder.report.printable import one_line, printable
from autograder.report.words import opened

_MOST_CODE = 12


@dataclass(frozen=True)
class WhyPage:
    """What is known of one misconception. The code of both, and all below, may be absent.

    `wrong` and `right` are lines of code that belong to each other; `lesson` is the file that teaches the point.
    """

    id: str
    name: str
    explanation: str
    exercise: str
    tempting: str = ""
    wrong: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    hint: str = ""
    experiment: str = ""
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
        sentences.show(console, sentences_of_page(page, next_commands))
        return
    on = Page.on(console, glyphs)
    parts = (
        _top(on, page),
        on.wrap(on.text(one_line(page.explanation))),
        _labelled(on, "Why it tempts", page.tempting),
        _code(on, page.wrong, "wrong", glyphs.failed, "red"),
        _code(on, page.right, "right", glyphs.passed, "green"),
        _labelled(on, "A question", page.hint),
        _labelled(on, "To see it", page.experiment),
        _labelled(on, "Lesson", page.lesson),
        next_lines(on, next_commands),
    )
    on.show(blocks(parts))


def _top(on: Page, page: WhyPage) -> list[Text]:
    name = on.text(opened(one_line(page.name), "\n".join((*page.wrong, *page.right))), "bold")
    exercise = on.text(one_line(page.exercise), SECONDARY)
    together = apart(name, exercise, on.width)
    first = [together] if together else [*on.wrap(name, 0), *on.wrap(exercise, 0)]
    return [*first, *on.wrap(on.text(one_line(page.id), SECONDARY))]


def _labelled(on: Page, label: str, text: str) -> list[Text]:
    """Return a paragraph behind its label; lines of code stand below it as they are."""
    if not text.strip():
        return []
    if "\n" in text.strip():
        lines = (on.cut(on.text(f"    {each}"), on.width) for each in _lines(text.strip("\n").split("\n")))
        return [on.text(f"  {label}", LABEL), *lines]
    return on.wrap(Text.assemble(on.text(label, LABEL), "  ", on.text(one_line(text))))


def _code(on: Page, code: Sequence[str], word: str, mark: str, style: str) -> list[Text]:
    """Return lines of code behind a gutter, a long one on several lines: its end may be what matters."""
    if not code:
        return []
    gutter = Text.assemble("    ", on.text(on.glyphs.gutter, SECONDARY), " ")
    lines = [
        Text.assemble(gutter, part) for each in _lines(code) for part in _folded(on, each, on.width - gutter.cell_len)
    ]
    return [Text.assemble("  ", on.text(f"{mark} {word}", style)), *lines]


def _folded(on: Page, line: str, room: int) -> list[Text]:
    indent = len(line) - len(line.lstrip())
    first, *others = list(Text(line.lstrip()).wrap(on.console, max(room - indent - 4, 8)))
    parts = [indented(first, indent), *(indented(each, indent + 4) for each in others)]
    for each in parts:
        each.rstrip()
    return parts


def _lines(code: Iterable[str]) -> list[str]:
    shown = [printable(each).replace("\n", " ").rstrip() for each in code][:_MOST_CODE]
    return dedent("\n".join(shown)).split("\n")


def sentences_of_page(page: WhyPage, next_commands: Sequence[tuple[str, str]]) -> list[str]:
    """Return the page one fact a line."""
    facts = (
        ("Misconception", f"{page.name}. Its id: {page.id}"),
        ("Exercise", page.exercise),
        ("Explanation", page.explanation),
        ("Why it tempts", page.tempting),
    )
    code = (
        *(("Wrong line", each) for each in _lines(page.wrong)),
        *(("Right line", each) for each in _lines(page.right)),
    )
    seen = [("To see it", each) for each in _lines(page.experiment.strip("\n").split("\n"))]
    return [
        *(sentences.fact(label, one_line(text)) for label, text in facts if text.strip()),
        *(f"{label}: {one_line(text)}" for label, text in code if text.strip()),
        *([sentences.fact("A question", one_line(page.hint))] if page.hint else []),
        *(f"{label}: {one_line(text)}" for label, text in seen if text.strip()),
        *([sentences.fact("Lesson", one_line(page.lesson))] if page.lesson else []),
        *sentences.next_sentences(next_commands),
    ]
