"""The question after a corrected mistake: when it is asked, what it offers, and that nothing waits for an answer."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.cli.program import parse
from autograder.course import Course
from autograder.learner.command_check import ask_about
from autograder.practice import Question, question_after
from autograder.progress import Standing, read_diary, read_progress
from tests.support import tiny
from tests.support.screens import Terminal

MISTAKE = "mean-not-divided"
BEFORE = Standing(status="fail", check="values", finding=MISTAKE, runs=1)
AFTER = Standing(status="pass", right=("values", "axes"), runs=2)


@pytest.fixture
def corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course whose first exercise has a mistake more to choose from than it needs."""
    monkeypatch.delenv("CI", raising=False)
    root = tiny.copied(tmp_path / "course")
    catalogue = root / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml"
    more = "".join(
        f'[other-{number}]\nname = "other mistake {number}"\nexplanation = "It is another one."\n'
        f'hint = "Why?"\nfind = "x"\nreplace = "y"\n'
        for number in range(3)
    )
    twin = f'[twin]\nname = "the same results"\nexplanation = "As before."\nhint = "Why?"\nsame_as = ["{MISTAKE}"]\n'
    catalogue.write_text(f"{catalogue.read_text('utf-8')}\n{more}\n{twin}", "utf-8")
    return tiny.course_at(root)


def asked(course: Course, before: Standing = BEFORE, after: Standing = AFTER) -> Question | None:
    return question_after(course, course.exercises[0], before, after)


def answered(course: Course, typed: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> str:
    """Return what is printed where somebody types this on a terminal."""
    shown = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stdout", shown)
    chosen = parse(["check", "--plain", *options])
    ask_about(chosen, course, course.exercises[0], BEFORE, AFTER)
    return shown.getvalue()


def test_it_is_about_the_corrected_mistake_and_offers_three_others(corrected: Course) -> None:
    question = asked(corrected)
    assert question is not None
    assert len(set(question.choice.answers)) == 4
    assert question.choice.answers[question.choice.right] == "the running sum is not divided"
    assert "the same results" not in question.choice.answers, "of two right answers nobody could choose"
    assert asked(corrected) == question, "it is the same whenever it is asked"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (replace(BEFORE, finding=None), AFTER),
        (replace(BEFORE, finding="NameError"), AFTER),
        (BEFORE, replace(AFTER, right=("axes",))),
        (BEFORE, replace(AFTER, finding=MISTAKE)),
        (BEFORE, replace(AFTER, answers={MISTAKE: "skipped"})),
    ],
    ids=["nothing named", "no misconception", "not corrected", "still there", "asked before"],
)
def test_it_is_asked_once_and_only_about_a_named_mistake_that_is_gone(
    corrected: Course, before: Standing, after: Standing
) -> None:
    assert asked(corrected, before, after) is None


def test_a_course_may_ask_nothing_and_needs_four_mistakes_to_ask(corrected: Course, tmp_path: Path) -> None:
    assert asked(replace(corrected, questions=False)) is None
    few = tiny.course_at(tiny.copied(tmp_path / "few"))
    (few.solutions_dir / "misconceptions" / f"{tiny.FIRST}.toml").write_text(
        f'[{MISTAKE}]\nname = "the only one"\nexplanation = "There is no other."\n', "utf-8"
    )
    assert asked(few) is None


@pytest.mark.parametrize(("typed", "answer"), [("{right}\n", "right"), ("{other}\n", "wrong"), ("\n", "skipped")])
def test_an_answer_is_kept(corrected: Course, typed: str, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    question = asked(corrected)
    assert question is not None
    text = typed.format(right=question.choice.right + 1, other=(question.choice.right + 1) % 4 + 1)
    shown = answered(corrected, f"9\nwhat?\n{text}", monkeypatch)
    assert shown.count("to 4, or Enter to skip") == 3, "the question is asked again until there is an answer"
    assert ("A sum grows" in shown) == (answer != "skipped")
    assert ("Right." in shown) == (answer == "right")
    assert read_progress(corrected).of(corrected.exercises[0]).answers == {MISTAKE: answer}


def test_the_end_of_the_input_skips_it(corrected: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(corrected, "", monkeypatch)
    assert read_progress(corrected).of(corrected.exercises[0]).answers == {MISTAKE: "skipped"}


@pytest.mark.parametrize(("typed", "words"), [("1\nI did not divide.\n", "I did not divide."), ("1\n\n", None)])
def test_a_first_pass_asks_for_the_mistake_in_ones_own_words(
    corrected: Course, typed: str, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Before, this failed: a check." in answered(corrected, typed, monkeypatch)
    assert [entry.words for entry in read_diary(corrected)] == ([words] if words else [])
    passed = replace(BEFORE, first_passed="2030-01-01T12:00:00Z")
    monkeypatch.setattr("sys.stdin", Terminal("1\n"))
    shown = Terminal()
    monkeypatch.setattr("sys.stdout", shown)
    ask_about(parse(["check", "--plain"]), corrected, corrected.exercises[0], passed, AFTER)
    assert "diary" not in shown.getvalue(), "it is asked at the first pass only"


def test_a_damaged_diary_is_set_aside(corrected: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = corrected.root / ".course"
    folder.mkdir(exist_ok=True)
    (folder / "diary.json").write_text("[{]", "utf-8")
    answered(corrected, "1\nIt was the sum.\n", monkeypatch)
    assert [entry.words for entry in read_diary(corrected)] == ["It was the sum."]
    assert [file.read_text("utf-8") for file in folder.glob("diary.json*") if file.name != "diary.json"] == ["[{]"]


def test_without_a_terminal_or_in_ci_nothing_is_asked(corrected: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(corrected, "\n", monkeypatch, "--no-questions") == ""
    assert answered(corrected, "\n", monkeypatch, "--json", "report.json") == ""
    monkeypatch.setenv("CI", "true")
    assert answered(corrected, "\n", monkeypatch) == ""
    monkeypatch.delenv("CI")
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    monkeypatch.setattr("sys.stdout", Terminal())
    ask_about(parse(["check", "--plain"]), corrected, corrected.exercises[0], BEFORE, AFTER)
    assert read_progress(corrected).of(corrected.exercises[0]).answers == {}
