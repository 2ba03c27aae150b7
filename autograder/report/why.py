"""`course why`: the page of a misconception: what it is, why it tempts, and how to see it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import dedent

from rich.console import Console
from rich.text import Text

from autograder.course import Described
from autograder.diagnosis import explained

from .escaping import NARROWEST, Glyphs, one_line, printable
from .layout import LABEL, SECONDARY, Page, apart, blocks, indented, next_lines
from .plain import fact, next_sentences, show

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
    name = on.text(f"{_kind(page)}: {one_line(page.name)}", "bold")
    exercise = on.text(one_line(page.exercise), SECONDARY)
    together = apart(name, exercise, on.width)
    first = [together] if together else [*on.wrap(name, 0), *on.wrap(exercise, 0)]
    return [*first, *on.wrap(on.text(one_line(page.id), SECONDARY))]


def _kind(page: WhyPage) -> str:
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
        (_kind(page), f"{page.id}, {page.name}"),
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
