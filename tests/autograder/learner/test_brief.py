"""Brief verdicts: the sentence, the line and the next step alone, until somebody wants the rest."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from autograder.progress import keep_brief
from autograder.report import UNICODE, render_exercise
from tests.support import report_examples as examples
from tests.support import tiny

NEXT = [("edit ex05_attention.py:6", "then course check 05"), ("course hint 05", "the next hint, after an edit")]


def output(*, plain: bool = False) -> str:
    console = Console(file=io.StringIO(), width=80, height=24)
    render_exercise(console, examples.FAIL, file_path=None, next_commands=NEXT, glyphs=UNICODE, plain=plain, brief=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("plain", [False, True])
def test_a_brief_verdict_is_the_sentence_the_line_and_the_next_step(plain: bool) -> None:
    failure = examples.FAIL.first_failure
    assert failure is not None
    assert failure.finding is not None
    assert failure.finding.place is not None
    text = output(plain=plain)
    sentence, place = failure.finding.message.split(".")[0], str(failure.finding.place.line)
    assert text.index(sentence) < text.index(place) < text.index(NEXT[0][0])
    assert all(word not in text for word in ("Hint", "yours", "checks pass", NEXT[1][0]))
    assert len(text.strip().splitlines()) <= 10


@pytest.mark.worker
def test_the_choice_is_kept_until_it_is_changed(course: Path) -> None:
    (course / "exercises" / tiny.FILES[0]).write_text(tiny.mean_with("return x.cumsum(dim=-1)"), "utf-8")

    def checked(*options: str) -> str:
        done = tiny.run_course(course, "check", "1", "--plain", *options)
        assert (done.returncode, done.stderr) == (1, "")
        return done.stdout

    whole = checked()
    brief = checked("--brief")
    assert [line.split(":")[0] for line in brief.splitlines()][:1] == ["Finding"]
    assert set(brief.splitlines()) < set(whole.splitlines())
    assert checked() == brief
    assert checked("--no-brief") == whole
    assert checked() == whole
    assert "Total: " in tiny.run_course(course, "check", "--all", "--plain", "--brief").stdout


def test_a_choice_that_cannot_be_kept_counts_for_this_check(course: Path) -> None:
    course_ = tiny.course_at(course)
    assert keep_brief(course_, None) == (False, "")
    (course / ".course").write_text("a file where the folder should be", "utf-8")
    is_brief, warning = keep_brief(course_, True)
    assert is_brief
    assert warning.startswith("--brief could not be kept: ")
