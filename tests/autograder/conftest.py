"""What the engine's tests share: the tiny course, its answer keys, copies of it, a browser, and a guard of markers."""

import compileall
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

from autograder.judge import Grader
from autograder.runner import Runner, SpawnedWorker, WorkerHandle
from autograder.sandbox import Isolation
from tests.support import accessibility, tiny
from tests.support.browser import CHROMIUM, Browser, browser
from tests.support.forks import forking, lending

# Two processes of tests, whose threads wait for each other in turns, take a hundred times as long as with one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# readline, which pytest loads, sets them for the processes of pytest-xdist: a file or a pipe would have a width there.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# jsonschema, and so jupytext, does without it: its grammar takes longer to make than everything else takes to load.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

# The modules, syntax trees and tests live to the end: to look through them again and again took an eighth of the time.
gc.set_threshold(100_000, 50, 100)

STARTS_WORKERS = {"first_keys", "forking_runner", "forks", "grader", "key_cache", "runner"}
STARTS_BROWSER = {"axe", "chromium"}
MAY_START = ("worker", "nbgrader", "browser")
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
"""The events by which Python announces a new process to audit hooks."""


class Guard:
    """Fails a test that starts a process without a marker: `make check` would run it, and no longer be quick."""

    def __init__(self) -> None:
        self.test: str | None = None
        self.started: list[str] = []
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.test is not None and event in STARTS:
            self.started.append(f"{self.test} starts a process ({event}, {arguments[:2]}): mark it `worker`")
            pytest.fail(self.started[-1])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch a test without a marker, from its first fixture to its last."""
        self.test = None if any(map(item.get_closest_marker, MAY_START)) else item.nodeid
        self.started.clear()
        try:
            return (yield)
        finally:
            self.test = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Fail the test also where it handles the failure: it may start the process in a thread."""
        result = yield
        if self.started:
            pytest.fail(self.started[0])
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Watch for processes. Programs that the tests start react to SIGHUP, though the suite may run under `nohup`."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not hasattr(config, "workerinput"):
        # pytest keeps modules in files of its own, and a program that compiles the engine starts half as fast.
        compileall.compile_dir(tiny.REPOSITORY / "autograder", quiet=2)
    config.pluginmanager.register(Guard(), "guard-of-markers")


SECONDS = {"slow": 15.0, "nbgrader": 15.0, "long": 5.0, "browser": 3.0, "worker": 2.0}
"""About how long a test takes, by its marker. `slow(seconds=N)` gives another number for a test or a file."""


def expected_seconds(item: pytest.Item) -> float:
    """Return about how long a test takes: only the order of the files depends on it."""
    marked = [marker for name in SECONDS for marker in item.iter_markers(name)]
    declared = [float(marker.kwargs["seconds"]) for marker in marked if "seconds" in marker.kwargs]
    return max(declared or [SECONDS[marker.name] for marker in marked], default=0.05)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before `-m` selects, and again after it
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark the tests that start a process because one of their fixtures does, and begin with the longest file.

    Two processes share the files, and neither should wait for the other at the end.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & STARTS_WORKERS:
            item.add_marker("worker")
        if fixtures & STARTS_BROWSER:
            item.add_marker("browser")
    yield
    seconds: defaultdict[Path, float] = defaultdict(float)
    for item in items:
        seconds[item.path] += expected_seconds(item)
    items.sort(key=lambda item: (-seconds[item.path], item.path))


@pytest.fixture(scope="session")
def first_keys(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The answer keys and traces of the tiny course under its public seed and no others, to copy.

    They are made once for all processes of pytest-xdist.
    """
    base = tmp_path_factory.getbasetemp()
    made = (base.parent if hasattr(pytestconfig, "workerinput") else base) / "tiny-keys"
    with FileLock(made.with_suffix(".lock")):
        if not made.is_dir():
            tiny.make_keys(tiny.SUITE, tiny.COURSE.seed, made.with_suffix(".part"))
            made.with_suffix(".part").rename(made)
    return made


@pytest.fixture(scope="session")
def key_cache(first_keys: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of this process with the keys of the tiny course, where tests add keys and old ones are removed."""
    return Path(shutil.copytree(first_keys, tmp_path_factory.mktemp("keys"), dirs_exist_ok=True))


@pytest.fixture(scope="session")
def forks() -> Iterator[Isolation]:
    """Plain processes for submissions, forked from one that has loaded torch."""
    with forking(tiny.SUITE) as isolation:
        yield isolation


@pytest.fixture(scope="session")
def grader(key_cache: Path, forks: Isolation) -> Iterator[Grader]:
    """A grader of the tiny course, under its public seed."""
    with Grader(tiny.SUITE, seed=tiny.COURSE.seed, evidence=True, cache=key_cache, isolation=forks) as made:
        yield made


@pytest.fixture(scope="session")
def lent_forks(forks: Isolation) -> Iterator[Path | None]:
    """The socket on which programs that a test starts get their workers; None where the system cannot fork them."""
    if forks.zygotes is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder, lending(forks.zygotes, Path(folder, "forks")) as address:
        yield address


STARTS_ARE_THE_SUBJECT = {"runner", "sandbox", "worker", "test_stopping.py"}
"""The rooms and files whose tests start each worker as a user's machine does: as a process, which loads torch.

So do the tests of the main commands, which are marked `smoke`, and those that use the fixture `spawned`.
"""


def _starts(path: Path) -> bool:
    return bool({path.relative_to(Path(__file__).parent).parts[0], path.name} & STARTS_ARE_THE_SUBJECT)


@pytest.fixture(scope="module", autouse=True)
def _programs_fork_their_workers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fork the programs that the tests of a module run, and the workers of those that they start."""
    address = None if _starts(request.path) else request.getfixturevalue("lent_forks")
    with pytest.MonkeyPatch.context() as patch:
        if address is not None:
            patch.setenv("FORKS", str(address))
        yield


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each program of a test, and have it start its workers itself, as the children of its process."""
    monkeypatch.delenv("FORKS", raising=False)


@pytest.fixture(autouse=True)
def _workers_are_forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the workers of this process that would load torch: that took more than half of the time of such a test."""
    if request.node.get_closest_marker("smoke") is not None:
        request.getfixturevalue("spawned")
        return
    if _starts(request.path) or request.node.get_closest_marker("worker") is None:
        return

    def started(libraries: Sequence[str] = ()) -> WorkerHandle:
        if tuple(libraries) == tiny.COURSE.libraries:
            forks: Isolation = request.getfixturevalue("forks")
            return forks.start()
        return SpawnedWorker(libraries)

    monkeypatch.setattr("autograder.runner.runner.SpawnedWorker", started)
    monkeypatch.setattr("autograder.sandbox.isolation.SpawnedWorker", started)


class Lasting(Runner):
    """A runner whose worker goes on from submission to submission, unless one of them kills it: to save time."""

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """A runner for programs that may run one after another; its workers keep the time limits of real ones."""
    made = Lasting(tiny.SUITE, seed=tiny.COURSE.seed, shared=True)
    yield made
    made.close()


@pytest.fixture(scope="session")
def forking_runner(forks: Isolation) -> Iterator[Runner]:
    """A runner for programs that end their worker: the next is there at once. It does not limit processor time."""
    made = Lasting(tiny.SUITE, seed=tiny.COURSE.seed, shared=True, start=forks.start)
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
def course(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of the tiny course, to break at will; with its answer keys if the test may start processes."""
    with_keys = request.node.get_closest_marker("worker") is not None
    return tiny.copied(tmp_path / "course", request.getfixturevalue("first_keys") if with_keys else None)


@pytest.fixture(autouse=True)
def _no_check_files_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
