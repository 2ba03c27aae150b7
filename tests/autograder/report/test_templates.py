"""The templates of pages: any text in them is one printable line and no markup, and only the engine's HTML is safe."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup

from autograder.authoring.release import ENGINE, engine_files
from autograder.report import one_line, printable
from autograder.report.html import _environment
from tests.support import tiny
from tests.support.hostile import texts

TEMPLATES = sorted(ENGINE.rglob("*.j2"))
SAFE = {
    "body", "card(exercise)", "cell.svg", "drawing(picture)", "expected", "script", "sheet", "style", "style()",
    "yours",
}  # fmt: skip
"""What templates use as it is: drawings, cards and style sheets that the engine made from escaped texts."""

bounded = settings(max_examples=200, derandomize=True, deadline=None, database=None)


def parsed(html: str) -> tuple[list[tuple[str, dict[str, str | None]]], str]:
    """Return the elements and the text of a piece of HTML."""
    elements: list[tuple[str, dict[str, str | None]]] = []
    words: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: elements.append((tag, dict(attributes)))  # type: ignore[method-assign]
    parser.handle_data = words.append  # type: ignore[method-assign]
    parser.feed(html)
    parser.close()
    return elements, "".join(words)


@bounded
@given(st.one_of(st.text(), texts()))
def test_any_text_is_one_line_of_words_in_an_element_and_in_an_attribute(text: str) -> None:
    html = _environment().from_string('<p title="{{ text }}">{{ text }}</p>').render(text=text)
    assert parsed(html) == ([("p", {"title": one_line(text)})], one_line(text))
    joined = _environment().from_string('<p>{{ [text, text] | join(" ") }}{{ "%s" | format(text) }}</p>')
    assert parsed(joined.render(text=text)) == ([("p", {})], one_line(f"{text} {text}") + one_line(text))


@bounded
@given(texts())
def test_prose_is_words_with_code_in_the_place_of_backticks(text: str) -> None:
    html = (
        _environment().from_string("<p>{{ text | prose }}{{ mark | prose }}</p>").render(text=text, mark=Markup("<b>"))
    )
    elements, words = parsed(html)
    code = re.compile("`([^`]+)`")
    assert [tag for tag, _ in elements] == ["p", *["code"] * len(code.findall(one_line(text))), "b"]
    assert words == code.sub(r"\1", one_line(text))


@bounded
@given(texts())
def test_code_keeps_its_spaces_and_is_no_markup_either(text: str) -> None:
    html = _environment().from_string("<pre>{{ text | code }}</pre>").render(text=text)
    assert parsed(html) == ([("pre", {})], printable(text).replace("\n", " "))


def test_only_what_the_engine_made_is_used_as_it_is() -> None:
    used = {name for file in TEMPLATES for name in re.findall(r"\{\{-? ([^{}]*?) \| safe\b", file.read_text("utf-8"))}
    assert used == SAFE
    for file in TEMPLATES:
        assert not re.search(r"autoescape|Markup|\| *(?:xmlattr|urlize|striptags)", file.read_text("utf-8")), file


def test_a_kit_has_the_templates_and_installs_what_renders_them() -> None:
    kit = engine_files(tiny.COURSE)
    scripts = (ENGINE / "instructor" / "templates" / "class.js", ENGINE / "desk" / "templates" / "desk.js")
    for file in (*TEMPLATES, *scripts):
        assert kit[f"autograder/{file.relative_to(ENGINE).as_posix()}"] == file.read_bytes()
    assert '"jinja2' in kit["pyproject.toml"].decode()
    assert "\njinja2==" in kit["constraints.txt"].decode()


def test_a_value_that_is_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="nothing"):
        _environment().from_string("{{ nothing }}").render()


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_every_template_compiles_and_has_no_long_lines(file: Path) -> None:
    assert _environment().get_template(file.relative_to(ENGINE).as_posix())
    assert max(map(len, file.read_text("utf-8").splitlines())) <= 120
