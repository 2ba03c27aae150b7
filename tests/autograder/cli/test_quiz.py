"""`course quiz`: three questions about the learner's own program, on a terminal and without one."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.cli.program import parse
from autograder.course import UsageError
from autograder.practice import command_quiz
from autograder.practice.command_review import due_questions
from autograder.progress import read_progress
from tests.support import tiny
from tests.support.screens import Terminal

Ask = Callable[..., str]


@pytest.fixture
def ask(key_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Run the command where the solutions are the learner's files, with what somebody types on a terminal."""
    root = tiny.copied(tmp_path / "course", key_cache)
    for file in tiny.FILES:
        (root / "exercises" / file).write_bytes((root / "solutions" / file).read_bytes())
    monkeypatch.chdir(root)

    def asked(*words: str, typed: str | None = None) -> str:
        shown = Terminal()
        monkeypatch.setattr("sys.stdout", shown)
        monkeypatch.setattr("autograder.practice.command_quiz.is_somebody_there", lambda: typed is not None)
        monkeypatch.setattr("sys.stdin", Terminal(typed or ""))
        assert command_quiz.run(parse(["quiz", "--plain", *words])) == 0
        return shown.getvalue()

    return asked


@pytest.mark.worker
def test_answers_are_judged_kept_and_change_no_place_in_the_course(ask: Ask) -> None:
    questions = json.loads(ask("02", "--json", "-"))["questions"]
    shown = ask("02", typed="\n" * len(questions))
    assert all(question["question"] in shown for question in questions)
    assert shown.count("Skipped. The answer is: ") == len(questions)
    course = tiny.course_at(Path.cwd())
    standing = read_progress(course).of(course.exercises[1])
    assert (standing.quiz_asked, standing.quiz_right) == (len(questions), 0)
    assert read_progress(course).here is None, "a quiz is no work on an exercise"
    assert ask("02", "--seed", "0", "--json", "-") == ask("02", "--seed", "0", "--json", "-")


@pytest.mark.worker
def test_without_a_terminal_an_option_answers_the_first_question(ask: Ask) -> None:
    shown = ask("02")
    assert "course quiz 02 --answer" in shown
    first = json.loads(ask("02", "--json", "-"))["questions"][0]
    wrong = "1" if first["answers"] else "(17, 19)"
    judged = json.loads(ask("02", "--json", "-", "--answer", wrong))
    text = judged["answer"]
    right = str(first["answers"].index(text) + 1) if first["answers"] else text
    assert json.loads(ask("02", "--seed", "0", "--json", "-", "--answer", right))["right"]
    of_options = json.loads(ask("02", "--json", "-"))["questions"][0]
    assert of_options["answers"] or of_options["kind"] == "shape", "other answers may be any text"
    with pytest.raises(UsageError, match=r"is no answer; choose|is no shape; write"):
        ask("02", "--answer", "nothing at all")


@pytest.mark.worker
def test_a_program_that_does_not_pass_is_not_asked_about(ask: Ask) -> None:
    (Path("exercises") / tiny.FILES[0]).write_text(tiny.mean_with("return x"), "utf-8")
    with pytest.raises(UsageError, match="does not pass its checks; the questions are about a program that passes"):
        ask("01")


@pytest.mark.worker
def test_a_quiz_comes_back_in_a_review(ask: Ask) -> None:
    pytest.importorskip("fsrs")
    questions = json.loads(ask("02", "--json", "-"))["questions"]
    answers = "".join("1\n" if question["answers"] else "(17, 19)\n" for question in questions)
    assert "course review asks again about this program on " in ask("02", typed=answers)
    course = tiny.course_at(Path.cwd())
    assert due_questions(course, read_progress(course), datetime.now(UTC)) == []
    later = due_questions(course, read_progress(course), datetime.now(UTC) + timedelta(days=2))
    assert [one.misconception for one in later] == [f"own-code {tiny.SECOND}"]
    assert "your own program" in later[0].choice.question
