"""The page of a misconception."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from autograder.report import UNICODE, Glyphs, WhyPage, render_why
from tests.support import report_examples as examples
from tests.support.screens import assert_as_read

NEXT = (("course check 5", "after your next edit"),)
WHOLE = WhyPage(
    id="attention-not-scaled",
    name="dot products that are not scaled",
    explanation=examples.UNSCALED.detail or "",
    exercise="05 attention",
    tempting="The product alone already ranks the keys, and small examples come out nearly the same.",
    wrong=("    scores = query @ key.transpose(-2, -1)",),
    right=("    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])",),
    hint=examples.HINTS["scaled"][0],
    experiment="for k in (4, 64, 1024):\n    q, key = torch.randn(k), torch.randn(1000, k)\n    print((key @ q).std())",
    lesson="exercises/ex05_attention.py",
)
BRIEF = WhyPage("mask-inverted", "04 masks", "the mask is used the wrong way round", "True means may be seen.")
EVIL = "\x1b[2J\x07a\rb \u202e[bold]x[/bold]"


def why(page: WhyPage, width: int = 80, plain: bool = False, glyphs: Glyphs = UNICODE) -> str:
    stream = io.StringIO()
    render_why(Console(file=stream, width=width), page, glyphs=glyphs, plain=plain, next_commands=NEXT)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 40])
def test_the_page_of_a_misconception_is_as_read(width: int) -> None:
    assert_as_read(f"why-{width}", why(WHOLE, width))


def test_the_page_in_sentences_is_as_read() -> None:
    assert_as_read("why-plain", why(WHOLE, plain=True))


def test_a_students_page_has_no_code_and_no_empty_labels() -> None:
    for plain in (True, False):
        text = why(BRIEF, plain=plain)
        assert "True means may be seen." in text
        for absent in ("wrong line", "✗", "✓", "To see it", "Lesson", "tempts", "question"):
            assert absent not in text


def test_the_wrong_and_the_right_line_can_be_distinguished_on_a_narrow_page() -> None:
    assert "math.sqrt(query.shape[-1])" in why(WHOLE, 40)


def test_a_name_is_shown_as_the_catalogue_writes_it() -> None:
    for plain in (True, False):
        assert "x.std() is taken" in why(replace(BRIEF, name="x.std() is taken"), plain=plain)


def test_no_text_writes_to_the_terminal() -> None:
    page = WhyPage(*[EVIL] * 6, EVIL + "\n" + EVIL, EVIL, (EVIL, EVIL), (EVIL,), EVIL)  # type: ignore[call-arg]
    for plain in (True, False):
        assert all(line.isprintable() for line in why(page, plain=plain).split("\n"))
    assert "[bold]x[/bold]" in why(replace(BRIEF, explanation="a [bold]x[/bold]"))
