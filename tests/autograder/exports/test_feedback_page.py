"""The page a graded student gets: what it says, what it keeps to itself, and that no text of a student is markup."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from autograder.exports.feedback import LONGEST_NAME, feedback, next_of
from autograder.gradebook import Graded, Mark, Roster, Student, claim_digest, policy_of
from autograder.gradebook.policy import final_score
from autograder.results import ExerciseResult, Picture, Status
from tests.support import export_examples as classes
from tests.support import report_examples as examples
from tests.support import tiny
from tests.support.accessibility import faults
from tests.support.browser import Browser
from tests.support.elements import in_backticks
from tests.support.hostile import texts

PHONE, LAPTOP = 390, 1280
EVIL = '</title></style><script>alert("x")</script>\'"><img src=x onerror=alert(1)> & \u202egnp\x07\x1b[31m\ud800'


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    return classes.read(classes.graded_class(tmp_path_factory.mktemp("feedback")))


def page(graded: Graded, student: str) -> str:
    return feedback(graded, next(mark for mark in graded.marks if mark.student == student))


def page_of(*exercises: ExerciseResult, name: str = "Ada", run: Mapping[str, Any] | None = None, **report: Any) -> str:
    """Return the page about these results, of a class that has no rules."""
    row = Student("ada", name)
    policy = policy_of(tiny.COURSE, Roster((row,)))
    results = replace(examples.report("ada", *exercises), **report)
    mark = Mark(row, results, final_score(policy, "ada", None, results.score))
    return feedback(Graded(tiny.COURSE, policy, (mark,), run=run or {}), mark)


def test_what_stands_in_backticks_is_code(tmp_path: Path) -> None:
    course = classes.graded_class(tmp_path)
    said = classes.report("bob", {"values": "fail", "axes": "fail"}, "Divide by `size`.")
    classes.write_out(course, tmp_path / "out", {"bob": said})
    found = page(classes.read(course), "bob")
    assert "<code>size</code>" in found
    assert in_backticks(found) == []
    for name in ("FAIL", "MASK", "ERROR", "TIMEOUT", "SHAPE", "IN_PROGRESS", "GRADER_PROBLEM", "PICTURES"):
        assert in_backticks(page_of(getattr(examples, name))) == [], name


class Tags(HTMLParser):
    """The elements of a page with their attributes; one that is not closed as it was opened is an error."""

    EMPTY = frozenset({"meta", "br"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def words(html: str) -> str:
    """Return a page without its style and its tags."""
    return " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", html, flags=re.DOTALL).split())


# What it says.


def test_it_has_the_score_how_it_was_computed_and_every_check_that_fails(graded: Graded) -> None:
    bob = page(graded, "bob")
    assert '<h1>Feedback for <bdi dir="auto">Bob Ünal</bdi></h1>' in bob
    assert '<p class="total">51.43 of 100 points</p>' in bob
    shown = words(bob)
    assert "checks 71.43 2 days late: 20 % of the maximum taken off −20 score 51.43" in shown
    assert "1 of 2 exercises, and 7 of 9 checks pass. No check is hidden" in shown
    assert "the values are right ✗ FAIL 0 of 17.14 the axes are right ✗ FAIL 0 of 11.43 the dtype are right ✓" in shown
    assert "This check fails because of the same mistake: the axes are right." in shown
    assert "handed in 2026-03-03 00:10 (UTC) due 2026-03-01 23:59 (UTC)" in shown


def test_a_score_that_is_what_the_checks_gave_is_not_explained(graded: Graded) -> None:
    assert "points by hand +2.5 score 102.5" in words(page(graded, "ada"))
    assert "part of the score" not in page(graded, "=cmd")


def test_it_has_no_score_where_the_grader_failed(graded: Graded) -> None:
    fay = words(page(graded, "fay"))
    assert "No score yet" in fay
    assert "The grader failed on a part of it. This is no fault of yours" in fay
    assert "0 of 40" not in fay
    assert "Begin with" not in fay, "there is nothing that the student could do"


def test_what_a_program_printed_is_left_out(graded: Graded) -> None:
    assert not re.search(r"\bseen\b", page(graded, "eve"))


def test_the_line_is_marked_and_one_mistake_is_explained_once() -> None:
    checks = examples.FAIL.checks
    fail = {"status": "fail", "score": 0}
    same, here, other = (
        replace(checks[4], **fail, finding=examples.UNSCALED),
        replace(checks[5], **fail, finding=replace(examples.UNSCALED, message="Another one.", detail=None)),
        replace(checks[6], **fail, finding=examples.RATIO),
    )
    exercise = replace(examples.FAIL, checks=(*checks[:4], same, here, other))
    html = page_of(exercise)
    assert "<u>query @ key.transpose(-2, -1)</u>" in html
    assert html.count("Every score is 2.449") == 2, "on the card, and in the advice what to begin with"
    shown = words(html)
    assert f"This check fails because of the same mistake: {same.title}." in shown
    assert f"Other checks fail at the same line: {here.title} Another one." in shown
    assert "Other failures scores is 2.449 × the expected tensor" in shown
    assert shown.count(other.title) == 2, "in the table, and beside its own lines"


def test_the_lines_to_ask_about_a_check_are_there_for_each_that_fails(graded: Graded) -> None:
    bob = page(graded, "bob")
    asked, whole = re.findall(r'<details class="[^"]* ask">(.*?)</details>', bob, re.DOTALL)
    lines = re.search(r"<pre[^>]*>(.*?)</pre>", asked, re.DOTALL)[1].splitlines()
    mark = next(mark for mark in graded.marks if mark.student == "bob")
    common = ["- student: bob", f"- exercise: {tiny.FIRST}"]
    rest = [f"- report: {claim_digest(mark)}", "- my question:"]
    assert lines == [*common, "- check: values", *rest, "", *common, "- check: axes", *rest]
    lines = re.search(r"<pre[^>]*>(.*?)</pre>", whole, re.DOTALL)[1].splitlines()
    assert lines == ["- student: bob", *rest]
    assert page(graded, "ada").partition("<main>")[2].count(' ask"') == 1, (
        "a pass leaves the whole hand-in to ask about"
    )


def test_checks_that_were_not_run_have_no_mistake() -> None:
    shown = words(page_of(classes.not_run(classes.result(tiny.FIRST, {}))))
    assert "3 other checks were not run." in shown
    assert "the same mistake" not in shown
    assert shown.count("Not run: the slow checks of generate before it took 5 s") == 2, "on the card, and in the advice"


def test_a_file_that_cannot_be_read_is_reported_once() -> None:
    checks = tuple(replace(check, finding=examples.UNREADABLE) for check in examples.SYNTAX.checks)
    assert "Every other check of the exercise fails because of the same mistake." in words(
        page_of(replace(examples.SYNTAX, checks=checks))
    )


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        ({"seed": 987_654_321}, "seed of the inputs secret"),
        ({"seed": tiny.COURSE.seed}, f"seed of the inputs {tiny.COURSE.seed}, the public one"),
        ({}, "seed of the inputs not known"),
        ({"seed": "987654321", "runtime": ["x"]}, "seed of the inputs not known"),
    ],
)
def test_a_secret_seed_is_not_shown(run: Mapping[str, Any], shown: str) -> None:
    html = page_of(examples.PASS, run=run)
    assert shown in words(html)
    assert "987654321" not in html


def test_it_says_of_which_files_checks_and_versions_it_is() -> None:
    shown = words(page_of(examples.PASS, run={"seed": 1, "runtime": {"python": "3.11", "torch": "2.13.0"}}))
    assert "your files sha256:0 exercises and checks sha256:1 " in shown
    assert "versions python 3.11 and torch 2.13.0" in shown


def test_it_says_how_the_submission_was_read() -> None:
    note = "ex09_gpt.py is not a file of this course; it was left out"
    submission = examples.report("ada", examples.PASS, notes=(note,)).submission
    assert note in words(page_of(examples.PASS, submission=submission))
    assert "Your files were read without problems." in words(page_of(examples.PASS))


# What to begin with.


def exercises(first: Status, second: Status) -> tuple[ExerciseResult, ExerciseResult]:
    return tuple(  # type: ignore[return-value]
        examples.exercise(name, name, status, 1000 if status == "pass" else 500)
        for name, status in ((tiny.FIRST, first), (tiny.SECOND, second))
    )


@pytest.mark.parametrize(
    ("first", "second", "begin", "why"),
    [
        ("fail", "fail", tiny.FIRST, "the first of the 2 exercises that fail"),
        ("pass", "error", tiny.SECOND, "the only exercise that fails"),
        ("not_started", "fail", tiny.SECOND, "the only exercise that fails"),
        ("missing", "not_started", tiny.FIRST, "You have not written anything yet."),
        ("pass", "missing", tiny.SECOND, "the only one you have not completed yet"),
        ("grader_error", "fail", tiny.SECOND, "the only exercise that fails"),
    ],
)
def test_it_is_the_first_that_fails_else_the_first_that_is_not_written(
    first: Status, second: Status, begin: str, why: str
) -> None:
    found = next_of(tiny.COURSE, exercises(first, second))
    assert found is not None
    assert found.exercise.id == begin
    assert why in found.why[0]
    assert found.commands[0][0] == f"course check {begin[2:4]}"


def test_of_several_that_are_not_written_it_is_the_first() -> None:
    passing, missing = exercises("pass", "missing")
    found = next_of(tiny.COURSE, [passing, missing, replace(missing, id="ex03_x", status="not_started")])
    assert found is not None
    assert found.exercise is missing
    assert found.why[0] == "Everything you have written passes. This is the first of the 2 you have not completed yet."


@pytest.mark.parametrize("first", ["pass", "grader_error"])
def test_where_nothing_is_left_to_do_there_is_nothing_to_begin_with(first: Status) -> None:
    assert next_of(tiny.COURSE, exercises(first, "pass")) is None


def test_what_builds_on_it_is_a_reason() -> None:
    course = replace(
        tiny.COURSE, exercises=(tiny.COURSE.exercises[0], replace(tiny.COURSE.exercises[1], needs=(tiny.FIRST,)))
    )
    found = next_of(course, exercises("fail", "fail"))
    assert found is not None
    assert found.why[1:] == ("You can still earn 5 of its 10 points.", "Exercise 02 builds on it.")


def test_the_commands_are_those_that_help_with_the_mistake() -> None:
    found = next_of(tiny.COURSE, [examples.FAIL])
    assert found is not None
    assert [command for command, _ in found.commands] == [
        "course check 05", "course hint 05", "course why attention-not-scaled"
    ]  # fmt: skip


def test_what_can_be_earned_is_said_until_the_points_are_gone(graded: Graded) -> None:
    closed, later = graded.policy.grading, datetime(2100, 1, 1)
    assert "You can still earn" not in page(graded, "bob"), "the assignment was due in March 2026"
    still_open = replace(graded, policy=replace(graded.policy, grading=replace(closed, due=later)))
    assert "You can still earn 28.57 of its 40 points." in page(still_open, "bob")


# What a student wrote is words.


def page_with(text: str) -> str:
    """Return a page with this text wherever a student, an author or a teacher may have put one."""
    place = replace(examples.UNSCALED.place, file=text, function=text)
    finding = replace(
        examples.UNSCALED,
        id=text, message=text, name=text, detail=text, place=place, label=text, source=((21, text), (22, text)),
    )  # fmt: skip
    checks = tuple(replace(check, id=text, title=text) for check in examples.attention("mask", "fail", finding).checks)
    picture = Picture(text, ((1.0, None), (0.0, 1.0)), text, text, (text, text), (text, text))
    bars = replace(picture, values=((1.0, -2.0),), bars=True)
    shown = replace(examples.PASS, id="ex01_x", title=text, built=text, pictures=(picture, bars))
    submission = {"student": text, "digest": text, "notes": [text]}
    results = (replace(examples.FAIL, title=text, checks=checks), shown)
    return page_of(*results, name=text * 200, submission=submission, suite=text, device=text, course=text)


def test_no_text_of_a_student_is_markup() -> None:
    html = page_with(EVIL)
    made = Tags(html)
    assert {tag for tag, _ in made.found}.isdisjoint({"script", "img", "link", "iframe", "object", "form", "base"})
    assert [tag for tag, _ in made.found].count("style") == 1
    names = {name for _, attrs in made.found for name in attrs}
    assert not [name for name in names if name.startswith("on") or "<" in name]
    assert "style" not in names
    assert not [character for character in html if not (character.isprintable() or character == "\n")]
    html.encode("utf-8")


@pytest.mark.long
@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(texts())
def test_any_text_keeps_the_elements_of_the_page(text: str) -> None:
    html = page_with(f"x{text}")
    with_text, plain = Tags(html).found, Tags(page_with("x")).found
    by_length = ("u", "em", "text", "br", "code")  # marks, labels of a drawing, lines and code depend on the text
    tags, expected = ([tag for tag, _ in found if tag not in by_length] for found in (with_text, plain))
    assert tags == expected
    names, known = ({name for _, attrs in found for name in attrs} for found in (with_text, plain))
    assert names <= known | {"transform"}
    assert not [character for character in html if not (character.isprintable() or character == "\n")]


def test_a_name_of_ten_thousand_letters_is_cut() -> None:
    html = page_of(examples.PASS, name="A" * 10_000)
    assert "A" * LONGEST_NAME in html
    assert "A" * (LONGEST_NAME + 1) not in html


def test_it_is_one_file_that_may_load_and_run_nothing(graded: Graded) -> None:
    for student in classes.REPORTS:
        made = Tags(page(graded, student))
        targets = {value for _, attrs in made.found for name, value in attrs.items() if name in ("href", "src")}
        assert targets == {f"#{exercise}" for exercise in (tiny.FIRST, tiny.SECOND)}
        policy = [attrs["content"] or "" for tag, attrs in made.found if tag == "meta" and "http-equiv" in attrs]
        allowed = {"default-src 'none'", "base-uri 'none'", "form-action 'none'", "style-src 'unsafe-inline'"}
        assert [set(value.split("; ")) for value in policy] == [allowed]
    assert "&lt;script&gt;alert" in page(graded, "eve")


# Who can read it.


def test_a_screen_reader_finds_its_language_its_parts_and_the_heads_of_its_tables() -> None:
    html = whole_page()
    made = Tags(html)
    tags = [tag for tag, _ in made.found]
    assert [tags.count(tag) for tag in ("header", "main", "footer", "h1")] == [1, 1, 1, 1]
    assert ("html", {"lang": "en"}) in made.found
    assert all("scope" in attrs for tag, attrs in made.found if tag == "th")
    levels = [
        int(attrs.get("aria-level") or tag[1])
        for tag, attrs in made.found
        if re.fullmatch(r"h\d", tag) or "aria-level" in attrs
    ]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(attrs.get("aria-label") for tag, attrs in made.found if tag == "svg")


def whole_page() -> str:
    """Return a page with one of everything."""
    shown = (
        examples.FAIL, examples.MASK, examples.ERROR, examples.TIMEOUT, examples.NOT_STARTED, examples.GRADER_PROBLEM,
        examples.PICTURES, examples.WAVES_PASS, examples.RATE_PASS, examples.MISSING,
    )  # fmt: skip
    results = [replace(result, id=f"ex{number:02d}_part") for number, result in enumerate(shown, 1)]
    return page_of(*results, name="Ada Lovelace", run={"seed": 1, "runtime": {"python": "3.11"}})


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "ada.html"
    file.write_text(whole_page(), "utf-8")
    return file


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_everybody_can_read_it_and_it_asks_for_nothing(
    chromium: Browser, file: Path, axe: str, width: int, dark: bool
) -> None:
    chromium.open(file, width=width, dark=dark)
    assert (chromium.requests, chromium.said) == ([file.as_uri()], [])
    assert chromium.value("document.documentElement.scrollWidth") == width
    wide = "[...document.querySelectorAll('pre')].filter(code => code.scrollWidth > code.clientWidth)"
    assert chromium.value(f"{wide}.every(code => code.tabIndex === 0)")
    assert faults(chromium, axe) == []
    ground = chromium.value("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(23, 25, 31)" if dark else "rgb(255, 255, 255)")


def test_all_of_it_is_printed_dark_on_white(chromium: Browser, file: Path) -> None:
    chromium.open(file, width=LAPTOP, media="print", dark=True)
    assert chromium.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    closed = "[...document.querySelectorAll('details:not([open]) table')]"
    assert chromium.value(f"{closed}.length") > 0
    assert chromium.value(f"{closed}.every(table => table.checkVisibility() && table.offsetHeight > 20)")
    assert chromium.value("[...document.querySelectorAll('pre')].every(pre => pre.scrollWidth <= pre.clientWidth)")


def test_what_is_evil_stays_words_in_a_browser(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "evil.html"
    file.write_text(page_with(EVIL), "utf-8")
    chromium.open(file, width=PHONE)
    assert (chromium.requests, chromium.said) == ([file.as_uri()], [])
    assert chromium.value("document.querySelectorAll('script, img').length") == 0
    assert chromium.value("document.documentElement.scrollWidth") == PHONE
