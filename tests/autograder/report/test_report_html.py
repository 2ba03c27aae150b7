"""The cards of a notebook: whole without script and network, safe whatever a student wrote, readable in both themes."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.report import (
    DARK,
    LIGHT,
    WhyPage,
    exercise_card,
    grid_svg,
    hint_card,
    note_card,
    style,
    table_card,
    why_card,
)
from autograder.report.html import HIGHEST_BARS, MOST_TITLES, bars_svg
from autograder.results import ExerciseResult, Finding, Maps, Picture, PrintOutput
from tests.support import report_examples as examples
from tests.support.elements import in_backticks

HOSTILE = '</pre></style><script>alert(1)</script><img src=x onerror="y">&\x1b[31m\u202e" \'{{}}'
VOID = {"br", "path", "img"}
bounded = settings(max_examples=60, derandomize=True, deadline=None, database=None)


class Page(HTMLParser):
    """What is in a card: its elements, its text outside the style sheet, and whether every element ends."""

    def __init__(self, card: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(card)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def hostile(result: ExerciseResult, words: str = HOSTILE) -> ExerciseResult:
    """The same result, with hostile words wherever a student's program or an author could have put one."""
    failure = result.first_failure
    assert failure is not None
    assert failure.finding is not None
    assert failure.finding.place is not None
    finding = replace(
        failure.finding,
        message=words,
        detail=words,
        name=words,
        label=words,
        place=replace(failure.finding.place, file=words, function=words, line=2, column=3, end=9),
        source=((1, words), (2, words), (3, words)),
        evidence=replace(
            failure.finding.evidence or examples.UNSCALED.evidence,
            name=words,
            rows=((words, words, "x"),),
            witnesses=((words, words, words),),
            witness_title=words,
            axes=words,
            maps=Maps(words, ((1.0, None),), ((0.0, 1.0),)),
        ),
    )
    checks = tuple(
        replace(check, finding=finding, title=words, id=words, hints=(words, words)) if check is failure else check
        for check in result.checks
    )
    return replace(result, title=words, checks=checks)


@pytest.mark.parametrize("name", ["FAIL", "MASK", "SHAPE", "RATIOS"])
def test_what_stands_in_backticks_is_code_everywhere(name: str) -> None:
    card = exercise_card(hostile(getattr(examples, name), "use `nn.Linear`"), notes=["run `make`"])
    assert "<code>nn.Linear</code>" in card
    assert in_backticks(re.sub('<ul class="checks">.*?</ul>', "", card, flags=re.DOTALL)) == []  # names of checks
    hints = hint_card("Hints for `Mask`", ["`a < b`", "an odd ` stays"], 2)
    assert "<code>a &lt; b</code>" in hints
    assert "an odd ` stays" in hints
    cards = (hints, note_card("`x`", ["`y`"]), table_card("`x`", "`y`", ["z"], [["`z`"]], ["`w`"]))
    assert [found for one in cards for found in in_backticks(one)] == []


@pytest.mark.parametrize("name", ["FAIL", "MASK", "ERROR", "TIMEOUT", "MEMORY", "SHAPE", "SYNTAX", "RATIOS", "WAITS"])
def test_a_failure_shows_the_finding_the_checks_and_the_next_step(name: str) -> None:
    result = getattr(examples, name)
    page = Page(exercise_card(result, next_commands=[('check("ex05")', "again")]))
    assert page.text.startswith("✗ " if name != "WAITS" else "· ")
    assert ("large scores" in page.text) != (name == "SYNTAX"), "no check was run, so none is red"
    assert page.text.rstrip().endswith('Next: check("ex05") again')
    assert len(page.of("li")) == (len(result.checks) if name != "SYNTAX" else 0)


def test_the_place_is_named_and_what_is_wrong_there_is_marked() -> None:
    card = exercise_card(examples.FAIL)
    assert "ex05_attention.py, line 21, in scaled_dot_product_attention()" in Page(card).text
    assert "<u>query @ key.transpose(-2, -1)</u>" in card
    assert "its size grows with √K" in Page(card).text


def test_a_place_in_a_notebook_is_a_cell_and_a_line_of_it() -> None:
    place = replace(examples.UNSCALED.place, file="ex05_attention.ipynb", cell=8)
    finding = replace(examples.UNSCALED, place=place)
    page = Page(exercise_card(examples.attention("scaled", "fail", finding)))
    assert "ex05_attention.ipynb, cell 8, line 21, in" in page.text


def test_maps_have_a_description_and_crosses_where_a_mask_lets_something_through() -> None:
    card = exercise_card(examples.MASK)
    labels = [svg["aria-label"] or "" for svg in Page(card).of("svg")]
    assert [label.split(",")[0] for label in labels] == ["expected", "yours"]
    assert all("12 rows and 12 columns" in label for label in labels)
    assert card.count('class="differs"') == 1
    assert "(× : yours is not 0, expected 0)" in Page(card).text


def test_only_the_hints_given_so_far_are_shown_the_last_one_open() -> None:
    first = Page(exercise_card(examples.FAIL, hints_shown=1))
    assert [("open" in details) for details in first.of("details")] == [True]
    second = Page(exercise_card(examples.FAIL, hints_shown=2))
    assert [("open" in details) for details in second.of("details")] == [False, True]
    assert "Hint 3 of 3" not in second.text


def test_what_nobody_has_written_and_what_the_grader_failed_on_are_not_put_on_the_student() -> None:
    assert 'class="course-card wait"' in exercise_card(examples.NOT_STARTED)
    assert "Hint" not in Page(exercise_card(examples.NOT_STARTED)).text
    problem = exercise_card(examples.GRADER_PROBLEM)
    assert 'class="course-card problem"' in problem
    assert "GRADER PROBLEM" in Page(problem).text
    nothing = Finding("structure", "held", "No file could be read.")
    held = Page(exercise_card(examples.attention("shapes", "held", nothing, after="held"))).text
    assert "No file could be read." in held
    assert examples.TITLES["shapes"] not in held, "no check was run"
    assert "gradients" not in held


def test_a_pass_shows_what_was_built_with_a_picture_described_in_words() -> None:
    page = Page(exercise_card(examples.PICTURES, attempt=3, unused_hints=["one", "two"]))
    assert page.text.startswith("✓ PASS 05 attention")
    assert "3rd attempt" in page.text
    assert examples.BUILT in page.text
    assert "Hints you did not need" in page.text
    [picture] = page.of("svg")
    assert (picture["role"], (picture["aria-label"] or "").split(":")[0]) == ("img", "Picture")


@pytest.mark.parametrize("name", ["FAIL", "ERROR", "SYNTAX", "SHAPE"])
def test_hostile_text_is_text(name: str) -> None:
    result = hostile(getattr(examples, name))
    result = replace(result, prints=(PrintOutput(HOSTILE, HOSTILE), PrintOutput(HOSTILE)))
    card = exercise_card(result, notes=[HOSTILE], next_commands=[(HOSTILE, HOSTILE)], hints_shown=2)
    whole = (
        card,
        note_card(HOSTILE, [HOSTILE]),
        hint_card(HOSTILE, [HOSTILE], 3, [HOSTILE]),
        table_card(HOSTILE, HOSTILE, [HOSTILE], [[HOSTILE]], [HOSTILE]),
        why_card(WhyPage(*[HOSTILE] * 7, wrong=(HOSTILE,), right=(HOSTILE,))),
        grid_svg(((1.0,),), HOSTILE, row_labels=(HOSTILE,), column_labels=(HOSTILE,)),
    )
    for document in whole:
        page = Page(document)
        assert not page.of("script")
        assert not page.of("img")
        assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
        assert "\x1b" not in document
        assert "\u202e" not in document


@pytest.mark.long
@bounded
@given(st.text(max_size=40))
def test_any_text_keeps_the_elements_of_a_card(text: str) -> None:
    finding = replace(examples.UNSCALED, message=text, label=text, source=((21, text),))
    failing = examples.attention("scaled", "fail", finding)
    plain = replace(finding, message="x", label="x", source=((21, "x" * 60),))
    like = examples.attention("scaled", "fail", plain)
    found = [tag for tag, _ in Page(exercise_card(failing)).elements if tag not in ("u", "em", "code")]
    assert found == [tag for tag, _ in Page(exercise_card(like)).elements if tag not in ("u", "em", "code")]


@pytest.mark.parametrize("name", ["FAIL", "MASK", "PICTURES", "WAVES_PASS"])
def test_a_card_loads_nothing_and_is_no_larger_than_it_needs_to_be(name: str) -> None:
    card = exercise_card(getattr(examples, name))
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(|<script|<link", card)
    assert len(card) < 60_000


def test_a_large_grid_is_drawn_in_full_and_says_no_single_numbers() -> None:
    values = tuple(tuple(row - column + 0.5 for column in range(40)) for row in range(30))
    drawn = grid_svg(values, "large")
    assert "<title>" not in drawn
    assert drawn.count("M") == 2 * 30 * 40
    small = grid_svg(tuple(row[:20] for row in values[:20]), "small")
    assert small.count("<title>") == MOST_TITLES


def test_a_grid_marks_what_is_not_finite() -> None:
    drawn = grid_svg(((None, 0.0, 2.0, -1.0),), "four")
    assert drawn.count('class="none"') == drawn.count('class="high"') == drawn.count('class="low"') == 1
    assert "not finite" in drawn
    assert "nan" not in grid_svg(((None,),), "nothing").lower()


def test_bars_are_as_high_as_their_numbers_and_say_them() -> None:
    page = Page(exercise_card(examples.RATE_PASS))
    [drawn] = page.of("svg")
    heights = [float(bar["height"] or "") for bar in page.of("rect")]
    assert heights == pytest.approx(
        [HIGHEST_BARS / 4, HIGHEST_BARS, HIGHEST_BARS * 2.5 / 4, HIGHEST_BARS * 1.75 / 4], abs=0.1
    )
    assert "4 bars (step), heights (rate) from 1 to 4; 1, 4, 2.5, 1.75." in (drawn["aria-label"] or "")
    assert "height: rate, bars: step" in page.text


@pytest.mark.parametrize(
    ("values", "kinds"), [((-1.0, None, 3.0), ["low", "high"]), ((0.0, 0.0), ["high", "high"]), ((-2.0,), ["low"])]
)
def test_bars_go_down_below_0_and_none_stands_for_what_is_not_finite(
    values: tuple[float | None, ...], kinds: list[str]
) -> None:
    drawn = bars_svg(values, HOSTILE, labels=(HOSTILE,))
    page = Page(drawn)
    assert [bar["class"] for bar in page.of("rect")] == kinds
    assert all(float(bar["height"] or "") >= 0 for bar in page.of("rect"))
    assert "nan" not in drawn
    assert "<script" not in drawn


def test_ragged_maps_and_pictures_are_not_drawn() -> None:
    ragged = Maps("x", ((1.0,), (1.0, 2.0)), ((1.0,), (1.0, 2.0)))
    evidence = replace(examples.UNSCALED.evidence, maps=ragged)
    failing = examples.attention("scaled", "fail", replace(examples.UNSCALED, evidence=evidence))
    assert not Page(exercise_card(failing)).of("svg")
    assert not Page(exercise_card(replace(examples.PASS, pictures=(Picture("x", ((), (1.0,))),)))).of("svg")


def luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_text_can_be_read_on_every_ground(theme: dict[str, str]) -> None:
    for ink in ("ink", "soft", "good", "bad", "warn", "key"):
        for ground in ("paper", "code"):
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)


def test_the_style_holds_for_cards_alone_and_knows_the_themes_of_the_hosts() -> None:
    sheet = style()
    rules = [rule.strip() for rule in re.sub(r"\{[^{}]*\}", "{}", sheet).replace("@media", "\n@media").split("\n")]
    assert all("course-card" in rule for rule in rules if "{}" in rule and not rule.startswith("@media"))
    for host in ('data-jp-theme-light="false"', ".vscode-dark", 'html[theme="dark"]', "prefers-color-scheme: dark"):
        assert host in sheet
