"""The parts of `course watch`: what counts as a change, what a file that does not parse gets, what is run again."""

import argparse
import contextlib
import io
import json
import os
import re
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from autograder.authoring.release import EDITOR
from autograder.judge import Grader
from autograder.judge.marking import Marking
from autograder.learner.command_watch import _commands
from autograder.progress import Screen, read_progress
from autograder.progress import session as polled
from autograder.progress.session import Content, Files, Work, WorkSource, missing, syntax_fault, syntax_result
from autograder.progress.session_screen import CHECKING
from autograder.runner import Cancelled, Run, Runner
from autograder.submission import Caps, SubmissionError, read_own
from tests.support import tiny

NAME = "ex01.py"
BOOK = Path("notebooks", f"{tiny.FIRST}.ipynb")
WRONG = tiny.mean_with("return x.cumsum(dim=-1)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / NAME).write_text("x = 1\n")
    return tmp_path


def watched(folder: Path) -> Files:
    return Files(folder, [NAME], Caps(source_kib=1))


# What counts as a change.


def test_only_other_contents_are_a_change(folder: Path) -> None:
    files = watched(folder)
    assert files.changed() == ()
    (folder / NAME).touch()
    os.utime(folder / NAME, (1, 1))
    assert files.changed() == ()
    (folder / NAME).write_text("x = 2\n")
    assert files.changed() == (NAME,)
    assert files.changed() == ()
    assert files[NAME] == Content(b"x = 2\n")


def test_a_file_put_in_the_place_of_another_is_a_change(folder: Path) -> None:
    files = watched(folder)
    (folder / "new").write_text("x = 3\n")
    (folder / "new").replace(folder / NAME)
    assert files.changed() == (NAME,)


def test_a_change_that_the_clock_of_a_file_system_is_too_coarse_for_is_seen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Files, "_stamp", lambda self, name: "the same second, the same size")
    files = watched(folder)
    (folder / NAME).write_text("x = 4\n")
    assert files.changed() == (NAME,)
    later = polled.time.monotonic() + 10  # type: ignore[attr-defined]
    monkeypatch.setattr(polled.time, "monotonic", lambda: later)  # type: ignore[attr-defined]
    (folder / NAME).write_text("x = 5\n")
    assert files.changed() == (), "after a while a file that seems the same is not read again"


@pytest.mark.parametrize(
    "beside", [".ex01.py.swp", "ex01.py~", "4913", ".course/progress.json", "__pycache__/ex01.pyc"]
)
def test_nothing_beside_the_files_is_watched(beside: str, folder: Path) -> None:
    files = watched(folder)
    (folder / beside).parent.mkdir(exist_ok=True)
    (folder / beside).write_text("anything")
    assert files.changed() == ()


def test_what_cannot_be_read_has_a_problem_and_comes_back(folder: Path) -> None:
    files, file = watched(folder), folder / NAME
    for spoil, sentence in (
        (lambda: file.unlink(), missing(folder, NAME)),
        (lambda: file.mkdir(), "is not a plain file"),
        (lambda: (file.rmdir(), file.symlink_to("/etc/hostname")), "is a link"),
        (lambda: (file.unlink(), file.write_text("x" * 2000)), "has 2,000 bytes, more than the 1 KiB"),
    ):
        spoil()
        assert files.changed() == (NAME,)
        assert sentence in (files[NAME].problem or "")
    file.write_text("x = 1\n")
    assert files.changed() == (NAME,)
    assert files[NAME] == Content(b"x = 1\n")


# What counts of an exercise.


@pytest.fixture
def work(course: Path) -> Work:
    return Work(tiny.course_at(course), tiny.course_at(course).exercises)


def put(course: Path, text: str, cell: int = 1, output: str = "") -> None:
    """Save the first exercise's notebook, its code in one cell behind text cells."""
    file = course / "exercises" / "notebooks" / BOOK.name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(tiny.notebook(text, before=cell - 1, output=output))


def test_a_notebook_counts_once_it_was_written_in_and_until_the_file_is(course: Path, work: Work) -> None:
    file, stub = tiny.FILES[0], (course / "exercises" / tiny.FILES[0]).read_text("utf-8")
    put(course, stub)
    assert work.changed() == (str(BOOK),)
    assert work[file] == WorkSource(file, stub.encode())
    put(course, tiny.MEAN, cell=3)
    assert work.changed() == (str(BOOK),)
    assert (work[file].name, work[file].cells, work[file].problem) == (str(BOOK), ((1, 3),), None)
    assert work[file].source.decode().strip() == tiny.MEAN.strip()
    put(course, tiny.MEAN, cell=3, output="[1, 2]")
    assert work.changed() == (), "an output is no change"
    (course / "exercises" / file).write_text(WRONG, "utf-8")
    assert work.changed() == (file,)
    assert work[file] == WorkSource(file, WRONG.encode(), beside=str(BOOK))
    read = read_own(tiny.course_at(course))
    assert read.sources[file] == work[file].source


def test_a_notebook_that_is_half_written_is_waited_for_where_it_would_count(course: Path, work: Work) -> None:
    file = tiny.FILES[0]
    put(course, tiny.MEAN)
    whole = (course / "exercises" / BOOK).read_bytes()
    (course / "exercises" / BOOK).write_bytes(whole[:-30])
    assert work.changed() == (str(BOOK),)
    assert work[file] == WorkSource(
        str(BOOK), problem="is not a notebook: its JSON cannot be read; save it again in Jupyter"
    )
    (course / "exercises" / file).write_text(WRONG, "utf-8")
    work.changed()
    assert work[file] == WorkSource(file, WRONG.encode())
    (course / "exercises" / BOOK).unlink()
    (course / "exercises" / file).unlink()
    work.changed()
    assert work[file].problem == missing(course / "exercises", file)


def test_a_folder_that_is_not_there_is_a_problem_of_every_file(tmp_path: Path) -> None:
    files = Files(tmp_path / "nowhere", ["a.py", "b.py"], Caps())
    assert files.changed() == ()
    assert [files[name].problem for name in ("a.py", "b.py")] == [
        missing(files.folder, "a.py"),
        missing(files.folder, "b.py"),
    ]


# A file that does not parse.

UNREADABLE = {
    "a bracket": "def running_mean(x:\n    return x\n",
    "an indent": "def running_mean(x):\n return 1\n  return 2\n",
    "a return": "return 1\n",
    "bytes": b"x = '\xff'\n",
    "an end": "x = '''\n",
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_the_verdict_is_that_of_a_worker(what: str, grader: Grader, runner: Runner) -> None:
    source = UNREADABLE[what]
    raw = source.encode() if isinstance(source, str) else source
    fault = syntax_fault(raw, tiny.FILES[0])
    assert fault is not None
    reported = syntax_result(tiny.SUITE, tiny.COURSE.exercises[0], tiny.COURSE.seed, fault, raw, ())
    submission = tiny.submitted(source)
    [asked] = grader.report(submission, tiny.COURSE.exercises[:1], runner).exercises
    assert reported == asked


@pytest.mark.parametrize(
    "source", [b"x = 1\0", b"(" * 5000 + b")" * 5000, b"-" * 60000 + b"1", b"+1" * 60000, b"x" + b".a" * 60000, b"["]
)
def test_nothing_a_file_holds_breaks_the_one_that_reads_it(source: bytes) -> None:
    syntax_fault(source, NAME)


def test_a_file_is_compiled_and_not_run_and_warnings_are_ignored(capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert syntax_fault(b"print('run')\nx = '\\d'\nassert (1, 'odd')\nraise SystemExit\n", NAME) is None
    assert capfd.readouterr() == ("", "")


# What is run, and what is given up.


@pytest.mark.worker
def test_a_run_that_is_cancelled_ends_and_no_other_begins() -> None:
    runner = Runner(tiny.SUITE, seed=1, shared=True)
    begun, ended = threading.Event(), []

    def check() -> None:
        try:
            runner.run({tiny.FILES[0]: b"import time\ntime.sleep(600)"}, tiny.SUITE.plan(tiny.COURSE.exercises[:1]))
        except Cancelled:
            ended.append("cancelled")

    thread = threading.Thread(target=check)
    thread.start()
    while runner.at is None:
        begun.wait(0.01)
    assert runner.at == (tiny.FIRST, None)
    assert runner.ready
    runner.cancel()
    thread.join(60)
    runner.close()
    assert ended == ["cancelled"]
    with pytest.raises(Cancelled):
        runner.prepare()


def test_earlier_exercises_are_run_again_only_when_their_files_change(grader: Grader, runner: Runner) -> None:
    remembered: dict[Any, Any] = {}
    ran: list[list[str]] = []

    class Noted(Runner):
        def run(self, sources: Any, plan: Any, **options: Any) -> Run:
            if not options.get("trace"):  # which is no verdict
                ran.append(list(plan))
            return runner.run(sources, plan, **options)

    second = tiny.COURSE.exercises[1]
    wrong = tiny.POWER.replace("if n < 0:", "if False:")
    suite = replace(tiny.SUITE, reference_parts={tiny.FILES[0]: tiny.part(tiny.FIRST, tiny.MEAN)})
    noted = Noted(suite, seed=tiny.COURSE.seed, shared=True)

    def marked(first: str, again: str) -> str:
        ran.clear()
        submission = tiny.submitted(first, again)
        return Marking(suite, submission, noted, grader._verdicts, grader._traces, remembered).result(second).status

    assert marked(tiny.MEAN, wrong) == "fail"
    assert ran == [[tiny.SECOND], [tiny.FIRST]]
    assert marked(tiny.MEAN, wrong + "\n") == "fail"
    assert ran == [[tiny.SECOND]]
    assert marked(tiny.mean_with("return x"), wrong) == "fail"
    assert ran == [[tiny.SECOND], [tiny.FIRST], [tiny.SECOND]], "at last with a reference part for what is wrong"


@pytest.mark.parametrize("error", [SubmissionError("a.py is too large"), PermissionError(13, "Permission denied")])
def test_a_command_that_cannot_read_the_exercises_does_not_end_the_watch(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: argparse.Namespace) -> None:
        raise error

    monkeypatch.setattr("autograder.learner.command_watch.parse", lambda _: argparse.Namespace(command=refuse))
    _commands(argparse.Namespace(plain=True, no_color=True))("hint")
    assert capsys.readouterr().err == f"course: {error}\n"


# What editors read.


def test_the_task_of_vs_code_reads_the_line_of_a_failure(course: Path, grader: Grader, runner: Runner) -> None:
    task = json.loads((tiny.REPOSITORY / ".vscode" / "tasks.json").read_text("utf-8"))["tasks"][0]
    pattern, background = task["problemMatcher"]["pattern"], task["problemMatcher"]["background"]
    (course / "exercises" / tiny.FILES[0]).write_text(WRONG, "utf-8")
    out = io.StringIO()
    own = tiny.course_at(course)
    screen = Screen(Console(file=out, width=100), own, plain=True, keys=False)
    screen.saved([tiny.FILES[0]], CHECKING)
    result = grader.report(tiny.submitted(WRONG), [tiny.COURSE.exercise(tiny.FIRST)], runner).exercises[0]
    with contextlib.chdir(course):
        screen.result(result, tiny.FILES[0], read_progress(own), 1.0)
    lines = out.getvalue().splitlines()
    found = [match for line in lines if (match := re.match(pattern["regexp"], line))]
    assert len(found) == 1
    file, line, column, severity, message = (
        found[0][pattern[key]] for key in ("file", "line", "column", "severity", "message")
    )
    assert file == f"exercises/{tiny.FILES[0]}"
    code = WRONG.split("\n")[int(line) - 1]
    assert code[int(column) - 1 :].startswith("return x.cumsum(dim=-1)")
    assert severity == "error"
    assert message == "The running sum is not divided."
    assert [n for n, line in enumerate(lines) if re.match(background["beginsPattern"], line)] == [0]
    assert [line for line in lines if re.match(background["endsPattern"], line)] == lines[-1:]


def test_the_repository_has_the_files_for_editors_that_kits_get() -> None:
    names = {file.name for file in EDITOR.glob("*.json")}
    own = tiny.REPOSITORY / ".vscode"
    assert names == {file.name for file in own.iterdir()}
    for name in names:
        assert (own / name).read_bytes() == (EDITOR / name).read_bytes()
