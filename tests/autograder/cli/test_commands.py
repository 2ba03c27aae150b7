"""The commands around a check, as a learner starts them: hint, why, diff, next, list, reset, solution and the rest."""

import html.parser
import io
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.cli import screen as key_progress
from autograder.cli import screen as progress_line
from autograder.cli.screen import KeyProgress
from autograder.course import CATALOGUE, catalogue
from autograder.judge import Grader
from autograder.progress import read_progress
from autograder.runner import Runner
from tests.support import tiny
from tests.support.accessibility import faults
from tests.support.browser import Browser

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
UNKNOWN = tiny.mean_with("return x * 2")
QUICK = ("", "list", "status", "next", "hint", "why", "diff", "report", "hint --now", "why mean-counts-from-zero")


@pytest.fixture
def failed(course: Path, grader: Grader, runner: Runner) -> Path:
    """A course whose first exercise failed with a known misconception."""
    tiny.checked(course, grader, runner, WRONG)
    return course


@pytest.fixture
def passed(course: Path, grader: Grader, runner: Runner) -> Path:
    """A course whose first exercise passed."""
    tiny.checked(course, grader, runner, tiny.MEAN)
    return course


def edit(course: Path, text: str = "\n# edited\n") -> None:
    file = course / "exercises" / tiny.FILES[0]
    file.write_text(file.read_text("utf-8") + text, "utf-8")


def output(course: Path, *arguments: str, **env: str) -> str:
    done = tiny.run_course(course, *arguments, **env)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def events(course: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (course / ".course" / "events.jsonl").read_text().splitlines()]


# Hints.


def test_a_hint_is_due_after_an_edit_and_until_then_the_last_one_stays(failed: Path) -> None:
    first = output(failed, "hint")
    assert "Hint 1 of 3  Is your result for equal numbers" in first, "the misconception's own comes first"
    assert "Hint 2 comes after you edit ex01_running_mean.py" in first
    assert output(failed, "hint") == first, "the same code in the same state gets the same answer"
    edit(failed)
    assert "Hint 2 of 3" in output(failed, "hint")
    assert "Hint 2 of 3" in output(failed, "hint"), "one edit is good for one hint"
    edit(failed)
    assert "that was the last hint" in output(failed, "hint")
    assert [event.get("now") for event in events(failed) if event["kind"] == "hint"] == [None] * 5


def test_a_hint_without_an_edit_is_shown_and_counted(failed: Path) -> None:
    assert "Hint 2 of 3" in output(failed, "hint", "--now")
    assert "Hint 3 of 3" in output(failed, "hint", "1", "--now")
    assert [event.get("now") for event in events(failed) if event["kind"] == "hint"] == [True, True]
    assert "2 without an edit" in " ".join(output(failed, "report").split())


def test_hints_survive_the_loss_of_the_view_and_of_the_last_report(failed: Path) -> None:
    (failed / ".course" / "progress.json").unlink()
    first = output(failed, "hint")
    assert "Hint 1 of 3  Is your result for equal numbers" in first
    shutil.rmtree(failed / ".course" / "last")
    assert "Hint 1 of 3  What is the second number of the result made of?" in output(failed, "hint")


def test_the_fourth_run_with_one_finding_brings_the_second_hint(failed: Path, grader: Grader, runner: Runner) -> None:
    for count in range(2):
        tiny.checked(failed, grader, runner, f"{WRONG}\n{'# ' * count}\n")
    file = failed / "exercises" / tiny.FILES[0]
    file.write_text(f"{WRONG}\n# a fourth\n")
    shown = tiny.run_course(failed, "check", "1").stdout
    assert f"Hint 2 of 3  {tiny.COURSE.exercises[0].hints['values'][1]}" in shown
    assert "the next hint" in shown
    assert tiny.run_course(failed, "check", "1").stdout == shown, "the same code in the same state gets the same answer"


def test_five_small_edits_in_a_minute_bring_one_line(course: Path, grader: Grader, runner: Runner) -> None:
    lines = ["# a\n# b\n# c\n", "# a\n# b\n# d\n# e\n", "# a\n# b\n# d\n# f\n", "# a\n# b\n# d\n# g\n"]
    for line in lines:
        tiny.checked(course, grader, runner, UNKNOWN + line)
    (course / "exercises" / tiny.FILES[0]).write_text(UNKNOWN + "# a\n# b\n# d\n# h\n")
    for arguments in (("check", "1"), ("check", "1", "--plain")):
        shown = tiny.run_course(course, *arguments).stdout
        assert "5 runs in a minute. `course diff 01` shows every measurement." in " ".join(shown.split())
        assert shown.index("5 runs") < shown.index("Next"), "the next command stays the last thing"


# Why and diff.


def test_why_shows_the_wrong_line_and_the_right_one_only_after_a_pass(
    failed: Path, grader: Grader, runner: Runner
) -> None:
    page = output(failed, "why")
    assert "mean-not-divided" in page
    assert "A sum grows with every number" in page
    assert "your line\n    │ return x.cumsum(dim=-1)" in page
    assert "/ count" not in page
    assert "return" not in output(failed, "why", "mean-of-everything"), "nobody wrote the line of the catalogue"
    assert "expected" in page, "what was measured on the learner's own program is the experiment"
    assert f"exercises/{tiny.FILES[0]}" in page
    data = json.loads(output(failed, "why", "--json", "-"))
    assert (data["id"], data["right"]) == ("mean-not-divided", [])
    tiny.checked(failed, grader, runner, tiny.MEAN)
    assert "return x.cumsum(dim=-1) / count" in output(failed, "why", "mean-not-divided")


def test_why_says_what_an_author_wrote_for_the_page(failed: Path) -> None:
    catalogue = failed / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml"
    texts = 'tempting = "Sums are shorter."\nexperiment = """\nx = torch.ones(3)\nrunning_mean(x)\n"""\n'
    tiny.replaced(catalogue, "[mean-not-divided]\n", f"[mean-not-divided]\n{texts}")
    page = output(failed, "why")
    assert "Why it tempts  Sums are shorter." in page
    assert "    x = torch.ones(3)\n    running_mean(x)\n" in page
    text = catalogue.read_text("utf-8").replace("return x.cumsum(dim=-1)'", "[broken")
    catalogue.write_text(text, "utf-8")
    assert "mean-not-divided" in output(failed, "why"), "the last report still knows"


def test_why_knows_what_may_have_been_meant(failed: Path) -> None:
    for word, meant in (("mean-not-divide", "mean-not-divided"), ("of-everything", "mean-of-everything")):
        done = tiny.run_course(failed, "why", word)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"There is no misconception `{word}`. Did you mean `{meant}" in done.stderr
    assert "Use the id that a failure shows." in tiny.run_course(failed, "why", "?[red]").stderr


def test_why_of_an_exercise_explains_its_last_failure(failed: Path, grader: Grader, runner: Runner) -> None:
    for word in ("1", "01", "ex01", "running"):
        assert output(failed, "why", word) == output(failed, "why", "mean-not-divided")
    done = tiny.run_course(failed, "why", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "run `course check 02`, or name a misconception" in done.stderr
    assert "There is no exercise `9`. There are 2 exercises: 1 to 2." in tiny.run_course(failed, "why", "9").stderr
    for source in (UNKNOWN, tiny.MEAN):
        tiny.checked(failed, grader, runner, source)
        said = tiny.run_course(failed, "why", "1").stderr
        assert said.endswith(". It explains earlier mistakes too: `course why mean-not-divided`.\n")


def test_every_command_that_needs_a_missing_file_names_reset(failed: Path) -> None:
    (failed / "exercises" / tiny.FILES[0]).unlink()
    sentence = f"There is no file exercises/{tiny.FILES[0]}: `course reset 01` restores the stub."
    for command in ("hint", "why", "why 1", "diff", "diff 1", "next", "next 1"):
        done = tiny.run_course(failed, *command.split())
        assert sentence in " ".join((done.stdout + done.stderr).split()), command
    shutil.rmtree(failed / ".course")
    assert sentence in tiny.run_course(failed, "diff", "1").stderr


def test_why_of_what_is_not_written_names_the_hint(course: Path, grader: Grader, runner: Runner) -> None:
    tiny.checked(course, grader, runner, (tiny.ROOT / "exercises" / tiny.FILES[0]).read_text("utf-8"))
    done = tiny.run_course(course, "why")
    assert done.returncode == 2
    assert "`course hint 01` says how to begin" in done.stderr


def test_why_of_a_failure_that_has_no_name_says_so(course: Path, grader: Grader, runner: Runner) -> None:
    assert "run `course check 01`" in tiny.run_course(course, "why").stderr
    tiny.checked(course, grader, runner, UNKNOWN)
    assert "`course diff 01` shows every measurement" in tiny.run_course(course, "why").stderr


def test_a_kit_without_solutions_explains_what_it_can(failed: Path) -> None:
    texts = catalogue(tiny.course_at(failed))
    shutil.rmtree(failed / "solutions")
    page = output(failed, "why")
    assert "A sum grows with every number" in page
    assert tiny.run_course(failed, "why", "mean-of-everything").returncode == 2
    assert "count" not in json.dumps(texts["mean-not-divided"])
    (failed / "tests" / "exercises" / CATALOGUE).write_text(json.dumps(texts))
    assert "A running mean does not depend on later numbers." in output(failed, "why", "mean-of-everything")
    (failed / "tests" / "exercises" / CATALOGUE).write_text("{")
    assert tiny.run_course(failed, "why", "mean-of-everything").returncode == 2


def test_diff_shows_the_last_failure_and_says_when_the_file_has_changed(failed: Path) -> None:
    shown = output(failed, "diff")
    assert "expected" in shown
    assert "yours" in shown
    assert "has changed since" not in shown
    edit(failed)
    assert f"{tiny.FILES[0]} has changed since this check" in output(failed, "diff", "1")
    data = json.loads(output(failed, "diff", "--json", "-"))
    assert (data["exercise"]["id"], data["changed_since"]) == (tiny.FIRST, True)


def test_diff_without_a_failure_says_so(passed: Path) -> None:
    assert "passes: there is no difference to show" in output(passed, "diff", "1")
    done = tiny.run_course(passed, "diff", "2")
    assert done.returncode == 2
    assert "run `course check 02` first" in done.stderr
    file = passed / ".course" / "last" / f"{tiny.FIRST}.json"
    report = json.loads(file.read_text())
    check = {"id": "values", "status": "fail", "finding": {"place": 7}}
    report["report"]["exercises"][0]["checks"] = [check]
    file.write_text(json.dumps(report))
    done = tiny.run_course(passed, "diff", "1")
    assert done.returncode == 2
    own = "it needs a check of your own files in exercises/; run `course check 01` first"
    assert f"there is no failure to show: {own}" in " ".join(done.stderr.split())


# Where a learner is.


def test_next_stays_with_an_exercise_that_does_not_pass(failed: Path) -> None:
    for arguments in (("next",), ("next", "--plain")):
        assert "01 running mean does not pass." in output(failed, *arguments)
    assert json.loads(output(failed, "next", "--json", "-"))["unfinished"] is True
    assert "course next --skip" in output(failed, "next")
    assert read_progress(tiny.course_at(failed)).here == tiny.FIRST


def test_a_check_without_a_name_says_that_it_moved_on(passed: Path) -> None:
    done = tiny.run_course(passed, "check")
    assert done.stdout.startswith("01 running mean passes. Checking 02 matrix power.\n")
    assert "Checking" not in tiny.run_course(passed, "check", "2").stdout
    assert json.loads(tiny.run_course(passed, "check", "--json", "-").stdout)["exercises"][0]["id"] == tiny.SECOND


def test_next_moves_forward_and_back_in_any_order(failed: Path) -> None:
    shown = output(failed, "next", "--skip")
    assert "02 matrix power" in shown
    assert "edit exercises/ex02_matrix_power.py" in shown
    assert "`course next 01` goes back to it" in shown
    assert output(failed, "next") != "", "an exercise that was not tried is not skipped"
    assert "02 matrix power" in output(failed, "next")
    assert "▸ · 02" in output(failed)
    assert "At each place, the mean of everything up to it" in output(failed, "next", "1")
    assert "▸ ✗ 01" in output(failed)


def test_after_a_pass_next_is_the_first_that_is_open(passed: Path) -> None:
    assert "02 matrix power" in output(passed)
    assert output(passed, "next").startswith("02 matrix power")


def test_the_list_can_be_filtered(failed: Path) -> None:
    def numbers(*arguments: str) -> list[str]:
        return [
            exercise["id"][2:4]
            for exercise in json.loads(output(failed, "list", *arguments, "--json", "-"))["exercises"]
        ]

    assert numbers() == ["01", "02"]
    assert numbers("--failing") == ["01"]
    assert numbers("--done") == []
    assert numbers("--open") == ["01", "02"]
    assert "There is no such exercise." in output(failed, "list", "--done")
    assert tiny.run_course(failed, "list", "--done", "--open").returncode == 2


def test_checks_that_changed_ask_for_another_run_and_take_nothing_back(passed: Path) -> None:
    file = passed / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    file.write_text(file.read_text() + "\n# another check\n")
    shown = output(passed, "list")
    assert "RE-CHECK" in shown
    assert "1 of 2 exercises passed" in shown
    assert "The checks of 01 have changed since your last run" in shown
    assert json.loads(output(passed, "list", "--json", "-"))["exercises"][0]["recheck"] is True


def test_status_has_the_numbers(failed: Path) -> None:
    output(failed, "hint", "--now")
    shown = output(failed, "status")
    assert "0 of 2 exercises passed" in shown
    assert "FAIL: 01" in shown
    assert "1 run, 1 hint asked for, 20" in shown


# Reset and solution.


def test_reset_asks_first_and_keeps_what_was_written(failed: Path) -> None:
    file = failed / "exercises" / tiny.FILES[0]
    no = tiny.run_course(failed, "reset", "1", typed="y\n")
    assert (no.returncode, file.read_text()) == (1, WRONG)
    assert "Nothing was changed." in no.stdout
    assert tiny.run_course(failed, "reset", "1").returncode == 1, "nobody there to answer"
    yes = tiny.run_course(failed, "reset", "1", typed="yes\n")
    assert yes.returncode == 0
    assert file.read_text() == (tiny.ROOT / "exercises" / tiny.FILES[0]).read_text()
    [backup] = (failed / ".course" / "backups").iterdir()
    assert re.fullmatch(rf"{tiny.FIRST}-\d{{4}}-\d\d-\d\dT\d{{4}}\.py", backup.name)
    assert backup.read_text() == WRONG
    assert f".course/backups/{backup.name}" in yes.stdout
    assert "is the stub already" in output(failed, "reset", "1", "--yes")
    assert "NOT STARTED" in output(failed, "list")


def test_resets_within_a_minute_keep_every_copy(failed: Path) -> None:
    texts = [f"version = {number}\n" for number in range(3)]
    for text in texts:
        (failed / "exercises" / tiny.FILES[0]).write_text(text)
        output(failed, "reset", "1", "--yes")
    kept = [backup.read_text() for backup in (failed / ".course" / "backups").iterdir()]
    assert sorted(kept) == texts


def test_a_file_that_cannot_be_copied_is_not_reset(failed: Path) -> None:
    (failed / ".course" / "backups").write_text("in the way")
    done = tiny.run_course(failed, "reset", "1", "--yes")
    assert done.returncode == 3
    assert (failed / "exercises" / tiny.FILES[0]).read_text() == WRONG


def test_a_kit_without_solutions_resets_from_its_stubs(failed: Path) -> None:
    shutil.rmtree(failed / "solutions")
    done = tiny.run_course(failed, "reset", "1", "--yes")
    assert done.returncode == 2
    assert "is not part of this kit" in done.stderr
    assert (failed / "exercises" / tiny.FILES[0]).read_text() == WRONG
    shutil.copytree(tiny.ROOT / "exercises", failed / ".course" / "stubs")
    output(failed, "reset", "1", "--yes")
    assert (failed / "exercises" / tiny.FILES[0]).read_text() == (tiny.ROOT / "exercises" / tiny.FILES[0]).read_text()


def test_a_file_that_was_deleted_is_put_back_without_a_question(failed: Path) -> None:
    (failed / "exercises" / tiny.FILES[0]).unlink()
    assert "is the stub again" in output(failed, "reset", "1")


def test_the_solution_comes_after_the_last_hint_and_a_typed_yes(failed: Path) -> None:
    early = tiny.run_course(failed, "solution", "1", "--yes")
    assert (early.returncode, early.stdout) == (2, "")
    assert "`course hint 01` shows hint 2 of 3" in early.stderr
    for _ in range(2):
        output(failed, "hint", "--now")
    assert tiny.run_course(failed, "solution", "1", typed="no\n").returncode == 1
    assert not [event for event in events(failed) if event["kind"] == "solution"]
    shown = tiny.run_course(failed, "solution", "1", typed="yes\n").stdout
    assert "return x.cumsum(dim=-1) / count" in shown
    assert "SOLUTION" not in shown
    assert "markdown" not in shown
    assert [event["exercise"] for event in events(failed) if event["kind"] == "solution"] == [tiny.FIRST]
    assert "solution shown" in output(failed, "report")


def test_after_a_pass_the_solution_is_shown_at_once(passed: Path) -> None:
    assert "course solution 01" in tiny.run_course(passed, "check", "1").stdout
    assert "x.cumsum(dim=-1) / count" in output(passed, "solution", "1")
    assert "01 running mean: the reference solution" in output(passed, "solution")
    assert "before you see the solution of ex02_matrix_power" in tiny.run_course(passed, "solution", "2").stderr
    shutil.rmtree(passed / "solutions")
    done = tiny.run_course(passed, "solution", "1")
    assert done.returncode == 2
    assert "this kit does not carry the solution" in done.stderr


# Report and doctor.


class Page(html.parser.HTMLParser):
    """What stands in a page: its tags, the addresses it names, and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_report_is_one_page_that_loads_nothing(failed: Path, tmp_path: Path) -> None:
    output(failed, "report", "--html", str(tmp_path / "me.html"))
    text = (tmp_path / "me.html").read_text("utf-8")
    page = Page(text)
    assert page.open == []
    assert not {"script", "img", "link", "iframe", "form"} & set(page.tags)
    assert not {"src", "href", "onclick"} & {name for name, _ in page.attributes}
    assert not re.search(r"https?:|url\(|@import", text)
    assert ("lang", "en") in page.attributes
    assert page.tags.count("th") >= 8 + 2, "heads of columns and of rows"
    for words in ("running mean", "FAIL", "0 of 4", "0 of 40"):
        assert words in page.words
    for private in ("cumsum", str(failed), Path.home().name + "/"):
        assert private not in text


def test_the_report_has_the_pictures_of_what_passed(passed: Path, tmp_path: Path) -> None:
    output(passed, "report", "--html", str(tmp_path / "me.html"))
    text = (tmp_path / "me.html").read_text("utf-8")
    page = Page(text.replace("/>", ">").replace("<path", "<meta"))
    assert page.open == []
    assert page.tags.count("svg") == 1
    assert "a jump and a zigzag, smoothed" in page.words
    last = passed / ".course" / "last" / f"{tiny.FIRST}.json"
    tiny.replaced(last, '"checks": [{', '"tests": [{')
    output(passed, "report", "--html", str(tmp_path / "me.html"))
    assert "<svg" not in (tmp_path / "me.html").read_text("utf-8"), "what cannot be read is left out"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_read_the_report(passed: Path, tmp_path: Path, chromium: Browser, axe: str, dark: bool) -> None:
    output(passed, "report", "--html", str(tmp_path / "me.html"))
    chromium.open(tmp_path / "me.html", width=390, dark=dark)
    assert (chromium.requests, chromium.said) == ([(tmp_path / "me.html").as_uri()], [])
    assert chromium.value("document.documentElement.scrollWidth") == 390
    assert faults(chromium, axe) == []


def test_the_report_escapes_what_a_course_is_called(failed: Path, tmp_path: Path) -> None:
    tiny.replaced(failed / "course.toml", 'title = "running mean"', 'title = "<b>[red]mean & more"')
    output(failed, "report", "--html", str(tmp_path / "me.html"))
    assert "<b>" not in (tmp_path / "me.html").read_text("utf-8")
    assert "<b>[red]mean & more" in output(failed, "list"), "and no markup is read in it"


def test_the_report_says_the_same_as_text_and_as_json(failed: Path) -> None:
    assert "01 running mean: FAIL; 0 of 4 checks, 0 of 40 points" in output(failed, "report", COLUMNS="100")
    [first, second] = json.loads(output(failed, "report", "--json", "-"))["exercises"]
    assert (first["status"], first["runs"], second["runs"]) == ("fail", 1, 0)


def test_the_doctor_finds_nothing_wrong_and_shows_no_secrets(failed: Path) -> None:
    shown = output(failed, "doctor", HOME=str(failed.parent), SECRET_TOKEN="hunter2")
    for words in (
        "python ",
        "torch import",
        "numpy",
        "rich",
        "pytest",
        "writing",
        "encoding",
        "terminal",
        "answer keys",
    ):
        assert words in shown
    assert "~/course/course.toml" in shown
    assert str(failed.parent) not in shown
    assert "hunter2" not in shown
    assert "Nothing is wrong here." in shown


def test_the_doctor_exits_with_3_where_something_has_to_be_mended(failed: Path) -> None:
    shutil.rmtree(failed / ".course")
    (failed / ".course").write_text("in the way")
    done = tiny.run_course(failed, "doctor", "--json", "-")
    assert done.returncode == 3
    data = json.loads(done.stdout)
    assert data["ok"] is False
    assert "cannot be written to" in data["wrong"]["writing"]


# Waiting for answer keys.


class Stream(io.StringIO):
    """A standard error that is a terminal, or is none."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def waited(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, plain: bool) -> str:
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(key_progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(key_progress, "EVERY_SECONDS", -1.0)
    line = KeyProgress(plain=plain)
    line.on_progress(tiny.FIRST, 3, 9)
    line.on_progress(tiny.FIRST, 4, 9)
    line.close()
    line.on_progress(tiny.FIRST, 5, 9)
    return stream.getvalue()


def test_a_terminal_shows_the_progress_of_answer_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "01 comparing with known mistakes: {} of 9"
    three, four = text.format(3), text.format(4)
    assert waited(monkeypatch, terminal=True, plain=False) == f"\r{three}\r{four}\r{' ' * len(four)}\r"
    monkeypatch.setattr(progress_line, "_last_line", [time.monotonic()])
    assert waited(monkeypatch, terminal=False, plain=False) == ""
    sentence = "Exercise 01: comparing with 9 known mistakes.\n"
    assert waited(monkeypatch, terminal=False, plain=True) == sentence


@pytest.mark.parametrize("term", ["xterm", "dumb"])
@pytest.mark.parametrize(("terminal", "plain"), [(True, False), (False, False), (False, True)])
def test_what_fails_is_shown_before_it_gets_a_name_where_it_can_be_taken_away(
    monkeypatch: pytest.MonkeyPatch, *, term: str, terminal: bool, plain: bool
) -> None:
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(key_progress, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(progress_line, "_last_line", [time.monotonic() - progress_line.LOG_SECONDS])
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(key_progress, "CAN_GO_BACK", True)
    line = KeyProgress(plain=plain)
    first, *others = tiny.SUITE.checks[tiny.FIRST]
    line.on_outcomes(tiny.FIRST, [(first, "pass"), *((check, "fail") for check in others)])
    line.on_progress(tiny.FIRST, 3, 9)
    line.on_progress(tiny.FIRST, 4, 9)
    line.close()
    text = stream.getvalue()
    if not terminal or term == "dumb":
        assert "checks pass" not in text
        assert "known mistakes" in text
        return
    assert text.startswith(f"Exercise 01: 1 of {len(others) + 1} checks pass, {len(others)} fail:\n  ")
    assert text.count("checks pass") == 1
    assert text.index(others[-1].title) < text.index("known mistakes")
    assert text.endswith("\x1b[F\x1b[2K" * text.count("\n")), "each line is cleared"
    assert max(map(len, text.splitlines()[:-1])) <= 60


def test_a_terminal_shows_at_once_that_the_checks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    line = KeyProgress(plain=False)
    line.start([tiny.FIRST])
    assert stream.getvalue() == "\r01 running the checks"
    line.close()
    assert stream.getvalue().endswith("\r")


@pytest.mark.parametrize("terminal", [True, False])
def test_a_verdict_stands_on_a_terminal_until_the_report_takes_its_place(
    monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "stdout", Stream(terminal))
    monkeypatch.setattr(key_progress, "CAN_GO_BACK", True)
    monkeypatch.setenv("TERM", "xterm")
    line = KeyProgress(plain=False)
    line.on_verdict(["The scores are too large.", "ex01.py:3"])
    line.close()
    searching = "looking for one change that mends it"
    shown = f"The scores are too large.\nex01.py:3\n\r{searching}\r{' ' * len(searching)}\r" + "\x1b[F\x1b[2K" * 2
    assert stream.getvalue() == (shown if terminal else "")


def test_a_log_gets_at_most_one_line_in_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_line, "_last_line", [time.monotonic() - progress_line.LOG_SECONDS])
    assert waited(monkeypatch, terminal=False, plain=False) == "Exercise 01: 3 of 9 known mistakes compared.\n"


def test_a_sentence_about_answer_keys_comes_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    line = KeyProgress(plain=True)
    line.on_progress(tiny.FIRST, 0, 9)
    line.close()
    assert stream.getvalue() == ""


@pytest.mark.worker
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_on_a_terminal_the_line_comes_and_goes_and_colours_are_used(course: Path) -> None:
    (course / "exercises" / tiny.FILES[0]).write_text(tiny.MEAN.replace("x.device)", "x.device) * 4"))
    shutil.rmtree(course / ".course" / "cache")
    text = on_terminal(course, "check", "1", TERM="xterm-256color")
    assert "comparing with known mistakes" in text
    steps = ("running the checks", "checks pass, ", "comparing with known mistakes", "looking for one change")
    assert [*steps] == sorted(steps, key=text.index)
    last = re.findall(r"known mistakes: \d+ of \d+", text)[-1]
    after = text[text.rindex(last) + len(last) :]
    assert after.startswith("\r "), "the line is taken away"
    assert "\x1b[F\x1b[2K" in after, "the report stands where the failed checks stood"
    assert "\x1b[31m" in after or "\x1b[1;31m" in after


@pytest.mark.worker
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_dumb_terminal_gets_no_control_sequences(failed: Path) -> None:
    for command in ("list", "status", "hint", "why", "diff"):
        assert "\x1b" not in on_terminal(failed, command, TERM="dumb")
        coloured = r"\x1b\[(\d+;)*[39]\d"
        assert not re.search(coloured, on_terminal(failed, command, "--no-color", TERM="xterm"))
        assert not re.search(coloured, on_terminal(failed, command, NO_COLOR="1", TERM="xterm"))
    assert "\x1b[31m" in on_terminal(failed, "list", TERM="xterm")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_long_solution_comes_a_screenful_at_a_time(passed: Path) -> None:
    solution = passed / "solutions" / tiny.FILES[0]
    solution.write_text(solution.read_text() + "".join(f"line_{number} = {number}\n" for number in range(60)))
    first = on_terminal(passed, "solution", "1", typed=b"q\n", TERM="xterm", LINES="20")
    assert "Enter shows more, q ends" in first
    assert "line_59" not in first
    assert "line_59" in on_terminal(passed, "solution", "1", typed=b"\n" * 9, TERM="xterm", LINES="20")


def on_terminal(course: Path, *arguments: str, typed: bytes = b"", **env: str) -> str:
    """Run the program on a pseudo terminal, and return all that was written to it."""
    import pty

    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "autograder", *arguments],
        cwd=course,
        env=tiny.environment({"COLUMNS": "80", "LINES": "40", **env}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed)
    data = b""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break  # the other end is closed
            if not part:
                break
            data += part
    assert program.wait(60) in (0, 1)
    os.close(ours)
    text = data.decode("utf-8")
    assert "Traceback" not in text
    return text


# Bad terminals.

ENDS = ("| head -c 1", "| true", "> /dev/full", ">&-", "2>&-")


def shell(course: Path, command: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    program = f"{sys.executable} -m autograder"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=course,
        env=tiny.environment({"COURSE": program, **env}),
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.worker
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("command", "encoding"),
    [
        *((command, "ascii") for command in (*QUICK, "solution 1 --yes", "doctor")),
        ("why", "cp1252"),
        ("diff", "cp1252"),
    ],
)
def test_a_poor_encoding_gets_what_it_can_show(command: str, encoding: str, failed: Path) -> None:
    tiny.replaced(failed / "course.toml", 'title = "running mean"', 'title = "running ✓ √½ mean"')
    done = shell(failed, f"$COURSE {command}", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert b"Traceback" not in done.stderr, done.stderr
    assert done.returncode == (2 if command.startswith("solution") else 0), done.stderr
    done.stdout.decode(encoding)


@pytest.mark.worker
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("end", ENDS)
def test_an_output_that_is_closed_early_is_no_accident(end: str, failed: Path) -> None:
    """Each command meets one of the ends; with PROOF=all, every one."""
    quick = QUICK if tiny.EVERYTHING else QUICK[ENDS.index(end) :: len(ENDS)]
    for command in (*quick, "doctor --json -" if end == "| true" else "list --json -"):
        done = shell(failed, f"$COURSE {command} {end}")
        assert b"Traceback" not in done.stderr, (command, done.stderr)
        assert b"Exception ignored" not in done.stderr, (command, done.stderr)
        assert b"grader itself" not in done.stderr, (command, done.stderr)


@pytest.mark.worker
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_result_that_nobody_reads_is_saved(course: Path) -> None:
    tiny.handed_in(course / "exercises", WRONG)
    done = shell(course, "$COURSE check 1 | true")
    assert b"Traceback" not in done.stderr
    assert read_progress(tiny.course_at(course)).of(tiny.COURSE.exercises[0]).finding == "mean-not-divided"
    assert "expected" in output(course, "diff")


@pytest.mark.parametrize("command", QUICK)
def test_nothing_is_wider_than_a_narrow_terminal(command: str, failed: Path) -> None:
    shown = output(failed, *command.split(), COLUMNS="40")
    wide = [line for line in shown.splitlines() if len(line) > 40]
    assert not [line for line in wide if " " in line.strip()], shown


@pytest.mark.worker
@pytest.mark.parametrize("command", QUICK)
def test_plain_output_is_one_fact_a_line_in_plain_letters(command: str, failed: Path) -> None:
    shown = output(failed, *command.split(), "--plain")
    assert shown.isascii()
    assert all(line and not line.startswith(" ") for line in shown.splitlines()), shown
    if command not in ("next", "hint --now"):  # these change what comes next
        assert output(failed, *command.split(), ACCESSIBLE="1") == shown
    narrow = output(failed, *command.split(), COLUMNS="30")
    assert all(not line.startswith(" ") for line in narrow.splitlines())


def test_options_of_all_commands_may_stand_before_the_command(failed: Path) -> None:
    assert output(failed, "--plain", "list") == output(failed, "list", "--plain") != output(failed, "list")
    assert output(failed, "--json", "-", "list") == output(failed, "list", "--json", "-")


@pytest.mark.parametrize("command", ["list", "status", "hint", "next", "report", "", "why", "diff"])
def test_json_can_go_to_a_file_as_well(command: str, failed: Path) -> None:
    shown = output(failed, *command.split(), "--json", "found.json")
    assert shown, "with a file it is shown as well"
    assert json.loads((failed / "found.json").read_text())["schema"] == 1


# Quick.

HEAVY = ("torch", "numpy", "pytest", "nbformat", "jinja2")


def modules_of(course: Path, command: str) -> str:
    """Return the modules that a command has loaded at its end."""
    program = f"import sys; from autograder.cli import run; run({command.split()!r}); print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=course,
        env=tiny.environment({}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("command", QUICK)
def test_what_answers_at_once_loads_nothing_heavy(command: str, failed: Path) -> None:
    heavy = HEAVY if command.startswith(("why", "diff")) else (*HEAVY, "rich")
    loaded = modules_of(failed, command)
    assert not [module for module in heavy if f"'{module}'" in loaded]


@pytest.mark.worker
@pytest.mark.parametrize("command", ["", "list"])
def test_the_places_of_todos_in_a_file_need_no_diagnosis(command: str, course: Path) -> None:
    """Only a cell of a notebook does, and loading what finds it took a fifth of the time of these commands."""
    assert "'autograder.diagnosis.judgement'" not in modules_of(course, command)


@pytest.mark.worker
def test_a_wrong_solution_is_a_problem_of_the_course_and_not_of_the_kit(course: Path) -> None:
    solution = course / "solutions" / tiny.FILES[0]
    solution.write_text(solution.read_text() + "\nraise KeyError('boom')\n")
    done = tiny.run_course(course, "check", "1", "--plain")
    assert done.returncode == 4
    assert "COURSE PROBLEM. Exercise 01" in done.stdout
    assert f"the solution {tiny.FILES[0]} cannot be imported: KeyError: 'boom'" in done.stdout
    assert "Next: course validate 01" in done.stdout
