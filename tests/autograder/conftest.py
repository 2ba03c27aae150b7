"""What the engine's tests share: the tiny course, its answer keys, copies of it, and a browser for the pages."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.answer_key.keys import Keys
from autograder.judge.grader import Grader
from autograder.runner.runner import Runner
from tests.support import accessibility, tiny
from tests.support.browser import CHROMIUM, Browser, browser


def pytest_configure() -> None:
    """Let programs that the tests start hear SIGHUP, though the suite itself may run under `nohup`."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def key_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the answer keys and traces of the tiny course under its public seed: nobody waits for them."""
    cache = tmp_path_factory.mktemp("keys")
    with Keys(tiny.SUITE, seed=tiny.COURSE.seed, cache=cache) as keys:
        for exercise in tiny.SUITE.exercises:
            keys.get(exercise)
            for check in tiny.SUITE.checks[exercise.id]:
                keys.traces(exercise, check)
    return cache


@pytest.fixture(scope="session")
def grader(key_cache: Path) -> Iterator[Grader]:
    """A grader of the tiny course, under its public seed."""
    with Grader(tiny.SUITE, seed=tiny.COURSE.seed, evidence=True, cache=key_cache) as made:
        yield made


class Lasting(Runner):
    """A runner whose worker goes on from submission to submission, unless one of them kills it: to save time."""

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    made = Lasting(tiny.SUITE, seed=tiny.COURSE.seed, shared=True)
    yield made
    made.close()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser without a window."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt install chromium")
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script that finds what somebody could not read on a page."""
    return accessibility.script(tmp_path_factory.mktemp("axe"))


@pytest.fixture
def course(tmp_path: Path, key_cache: Path) -> Path:
    """A copy of the tiny course, to break at will."""
    return tiny.copied(tmp_path / "course", key_cache)


@pytest.fixture(autouse=True)
def _no_check_files_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
