"""A machine on which every run takes longer than the time between two saves: there are verdicts all the same."""

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from autograder.course import Course, Exercise
from autograder.editor.server import EditorScreen
from autograder.progress import BEFORE_EDIT, Cockpit, Progress, Screen, Session
from autograder.progress import session as watching
from autograder.results import ExerciseResult, Report
from autograder.sandbox import Isolation
from autograder.submission import Submission
from tests.support import report_examples as examples
from tests.support import tiny
from tests.support.screens import Terminal

FIRST, SECOND = tiny.COURSE.exercises


class Run:
    """A check that ends when the test says so. `started` has all of them."""

    started: list["Run"] = []  # noqa: RUF012 - emptied by the fixture

    def __init__(
        self, grader: Any, runner: Any, submission: Submission, exercise: Exercise, *_: Any, **__: Any
    ) -> None:
        self.runner, self.submission, self.exercise = runner, submission, exercise
        self.verdict: Report | None = None
        self.is_cancelled = self.over = False
        self.shapes: dict[str, Any] = {}
        self.started.append(self)

    @property
    def report(self) -> Report:
        assert self.verdict is not None
        return self.verdict

    @property
    def text(self) -> str:
        return self.submission.sources[self.exercise.file].decode()

    @property
    def alive(self) -> bool:
        return False

    def activity(self) -> str:
        return "running check 1"

    def cancel(self) -> None:
        self.is_cancelled = True

    def end(self) -> None:
        result = replace(examples.EXERCISES["fail"], id=self.exercise.id)
        self.verdict, self.over = replace(examples.report("", result)), True

    def join(self) -> None:
        pass


class Spare:
    """A grader and a worker that do nothing."""

    ready = False
    seed, device = 1, "cpu"
    suite = tiny.SUITE
    isolation = Isolation("L0", "")
    suite_digest = ""

    def __getattr__(self, _: str) -> Callable[..., None]:
        return lambda *_, **__: None


class Log(Screen):
    """A screen that notes each verdict, and the text that it is about if that is not the newest."""

    def __init__(self, course: Course) -> None:
        super().__init__(Console(file=io.StringIO(), width=80), course, plain=True, keys=False)
        self.news: list[tuple[str, str]] = []

    def saved(self, files: Any, does: str) -> None:
        self.news.append(("saved", does))

    def begun(self, activity: str) -> None:
        self.news.append(("begun", activity))

    def result(
        self, result: ExerciseResult, file: str, progress: Progress, took: float, *, earlier: str | None = None
    ) -> None:
        self.news.append((f"verdict of {result.id}", earlier or "the newest"))


@pytest.fixture
def session(course: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    Run.started.clear()
    tiny.handed_in(course / "exercises")
    monkeypatch.setattr(watching, "RunningCheck", Run)
    monkeypatch.setattr(watching, "Runner", lambda *_, **__: Spare())
    saved: list[Mapping[str, bytes]] = []

    def save(_: Course, __: Report, sources: Mapping[str, bytes]) -> Progress:
        saved.append(sources)
        return Progress()

    grader: Any = Spare()
    grader.suite = replace(tiny.SUITE, course=tiny.course_at(course))
    keyboard: Any = Spare()
    made = Session(grader, Log(grader.suite.course), keyboard, save, lambda *_: None)
    made._switch_to(FIRST)
    made.turn()
    return made


def edit(session: Session, number: int, exercise: Exercise = FIRST) -> str:
    """Save another text, and let the session see it."""
    text = f"{tiny.MEAN}\n# edit {number}\n"
    (session.course.exercises_dir / exercise.file).write_text(text)
    session.turn()
    return text


def news(session: Session) -> list[tuple[str, str]]:
    screen = session.screen
    assert isinstance(screen, Log)
    return screen.news


def test_the_run_after_two_interrupted_ones_ends_and_the_newest_text_comes_next(session: Session) -> None:
    texts = [edit(session, number) for number in range(5)]
    assert [run.is_cancelled for run in Run.started] == [True, True, False]
    assert Run.started[2].text == texts[1]
    starting, later = ("saved", "starting over"), ("saved", "checking it after this run")
    assert news(session) == [starting, starting, later]
    Run.started[2].end()
    session.turn()
    session.turn()
    assert news(session)[3:] == [("verdict of ex01_running_mean", texts[1]), ("begun", "your newest code, checking")]
    assert Run.started[3].text == texts[4]
    Run.started[3].end()
    session.turn()
    assert news(session)[-1] == ("verdict of ex01_running_mean", "the newest")


def test_a_verdict_makes_saves_interrupt_again(session: Session) -> None:
    for number in range(3):
        edit(session, number)
    Run.started[2].end()
    session.turn()
    session.turn()
    edit(session, 9)
    assert Run.started[3].is_cancelled
    assert news(session)[-1] == ("saved", "starting over")


def test_what_cannot_be_run_is_said_at_once(session: Session) -> None:
    for number in range(3):
        edit(session, number)
    (session.course.exercises_dir / FIRST.file).write_text("def broken(:\n")
    session._changed_at -= 1
    session.turn()
    session._changed_at -= 1
    session.turn()
    assert Run.started[2].is_cancelled
    assert news(session)[-1] == ("verdict of ex01_running_mean", "the newest")


def test_saves_of_two_exercises_in_turns_do_not_starve_either(session: Session) -> None:
    """As an editor asks: the exercise that was saved is checked at once, instead of what runs."""
    for exercise in (SECOND, FIRST, SECOND, FIRST, SECOND):
        if exercise != session.exercise:  # else the session sees the save itself
            session.request(exercise, at_once=True)
        session.turn()
    assert [run.is_cancelled for run in Run.started] == [True, True, False]
    for number in (2, 3):
        Run.started[number].end()
        session.turn()
        session.turn()
    assert [what for what, _ in news(session)] == [f"verdict of {FIRST.id}", f"verdict of {SECOND.id}"]


def test_each_screen_marks_a_verdict_of_an_earlier_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "40")
    result = replace(examples.EXERCISES["fail"], id=FIRST.id)
    log, drawn = io.StringIO(), Terminal()
    Screen(Console(file=log, width=80), tiny.COURSE, plain=True, keys=False).result(
        result, FIRST.file, Progress(), 3.0, earlier="x = 1"
    )
    assert f"This verdict is {BEFORE_EDIT}." in log.getvalue()
    cockpit = Cockpit(Console(file=drawn, width=80, height=40, force_terminal=True), tiny.COURSE)
    cockpit.result(result, FIRST.file, Progress(), 3.0, earlier="x = 1")
    cockpit.begun("your newest code, checking")
    last = drawn.getvalue().rpartition("\x1b[H")[2]
    assert BEFORE_EDIT in last
    assert "your newest code, checking" in last
    listener: Any = Spare()
    editor = EditorScreen(tiny.COURSE, listener, lambda _: "the newest text")
    editor.result(result, FIRST.file, Progress(), 3.0, earlier="x = 1")
    assert editor.known[FIRST.id].text == "x = 1", "its lines are those of the text that was checked"
