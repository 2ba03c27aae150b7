"""A command that is asked to stop ends within seconds, whatever it does, and leaves nothing behind.

COURSE_STOPS=200 stops the commands so often, over their whole lives; COURSE_STOPS_SEED=N at other moments.
"""

import contextlib
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from autograder.judge import Grader
from autograder.runner import Cancelled
from autograder.sandbox.channels import bubblewrap_problem
from tests.support import tiny

STOPS = int(os.environ.get("COURSE_STOPS", "0"))
SEED = int(os.environ.get("COURSE_STOPS_SEED", "1"))
SECONDS = 5.0
"""The promise, for a machine with nothing else to do."""

YARDSTICK = 0.5
"""So long (s) `course --version` takes at most there; where it takes longer, everything may."""

LIFE = 4.0
"""About so long (s) a command on the tiny course takes; with COURSE_STOPS it is measured."""

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(sys.platform != "linux", reason="sees to survivors as Linux can"),
]


@dataclass(frozen=True)
class Case:
    """A command, the exit statuses it has when it is stopped (None: 128 + the signal) and when it is not."""

    arguments: tuple[str, ...]
    stopped: int | None = None
    ended: tuple[int, ...] = (0,)
    fresh: bool = False
    """Whether the answer keys are forgotten before each run."""
    results: tuple[str, ...] = ()
    """The files that a run which came to its end has made."""


GRADE = ("grade", "../hand_in", "--out", "../out", "--jobs", "2", "--seed", "7", "--plain")
SCORES = ("../out/scores.csv",)
CASES = {
    "grade with fresh keys": Case((*GRADE, "--isolation", "process"), 4, fresh=True, results=SCORES),
    "grade with kept keys": Case((*GRADE, "--isolation", "process"), 4, results=SCORES),
    "grade in a sandbox with fresh keys": Case(GRADE, 4, fresh=True, results=SCORES),
    "grade in a sandbox with kept keys": Case(GRADE, 4, results=SCORES),
    "export scores": Case(("export", "scores", "../graded", "--to", "../scores.csv"), results=("../scores.csv",)),
    "export feedback": Case(("export", "feedback", "../graded", "--to", "../pages"), results=("../pages/good.html",)),
    "export an autograder": Case(("export", "gradescope-autograder", "--to", "../a.zip"), results=("../a.zip",)),
    "release": Case(("release", "../kit"), fresh=True, results=("../kit/course.toml",)),
    "validate": Case(("validate", "--jobs", "2", "--plain"), fresh=True),
    "check": Case(("check", "--all", "--plain"), ended=(1,)),
    "dashboard": Case(("dashboard", "../graded"), results=("../graded/class.html",)),
    "report": Case(("report", "--html", "../progress.html"), results=("../progress.html",)),
    "watch": Case(("watch", "1", "--plain"), ended=(0,)),
}


@dataclass
class Runs:
    """The runs of one command in one folder."""

    case: Case
    folder: Path
    times: list[float] = field(default_factory=list)

    def start(self) -> "subprocess.Popen[str]":
        if self.case.fresh:
            shutil.rmtree(self.folder / "course" / ".course" / "cache", ignore_errors=True)
        (self.folder / "tmp").mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "autograder", *self.case.arguments],
            cwd=self.folder / "course",
            env=tiny.environment({"TMPDIR": str(self.folder / "tmp"), "OMP_NUM_THREADS": "1"}),
            stdin=subprocess.DEVNULL,
            stdout=(self.folder / "stdout").open("w"),
            stderr=(self.folder / "stderr").open("w"),
            text=True,
        )

    @property
    def errors(self) -> str:
        return (self.folder / "stderr").read_text("utf-8")

    def end(self) -> float:
        """Run it without a disturbance, and return how long that takes."""
        begun = time.monotonic()
        process = self.start()
        assert process.wait(300) in self.case.ended, self.errors
        assert all((self.folder / "course" / name).is_file() for name in self.case.results)
        self.assert_clean(SECONDS)
        return time.monotonic() - begun

    def stop(self, moment: float, number: signal.Signals, again: float | None, where: str) -> bool:
        """Stop it at a moment of its life, and once more if so asked; then nothing of it may be left.

        Return whether it lived that long.
        """
        patience = SECONDS * max(1.0, yardstick() / YARDSTICK)
        process = self.start()
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert process.wait(moment) in self.case.ended, f"{where}: {self.errors}"
            return False
        ours = is_caught(process.pid, number)
        process.send_signal(number)
        begun = time.monotonic()
        if again is not None:
            time.sleep(again)
            process.send_signal(number)
        try:
            status = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{where}: it goes on after {patience:.1f} s; {self.errors}") from None
        self.times.append(time.monotonic() - begun)
        stopped = self.case.stopped if self.case.stopped is not None else 128 + number
        if ours:
            assert status in (stopped, *self.case.ended), f"{where}: {status}; {self.errors}"
            assert "Traceback" not in self.errors, f"{where}: {self.errors}"
        if status in self.case.ended:
            assert all((self.folder / "course" / name).is_file() for name in self.case.results), where
        self.assert_clean(patience, where)
        return True

    def assert_clean(self, patience: float, where: str = "") -> None:
        until = time.monotonic() + patience
        while (alive := survivors()) and time.monotonic() < until:
            time.sleep(0.05)
        assert not alive, f"{where}: {alive}"
        assert not list((self.folder / "tmp").iterdir()), where
        parts = [path for path in self.folder.rglob(".*-????????") if path.is_file()]
        parts += self.folder.rglob("*.part")
        assert not parts, f"{where}: {parts}"


def yardstick() -> float:
    """Return how long (s) the program takes for nothing, now."""
    begun = time.monotonic()
    subprocess.run([sys.executable, "-P", "-m", "autograder", "--version"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begun


def is_caught(pid: int, number: signal.Signals) -> bool:
    """Say whether a process has a handler for a signal: before it has, Python itself answers."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    caught = next((line for line in status.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
    usual = number == signal.SIGINT  # Python has a handler of its own
    other = signal.SIGTERM if usual else number
    return bool(int(caught.split()[1], 16) >> (other - 1) & 1)


def survivors() -> list[str]:
    """Return the processes that descend from this one since the test began; orphans were given to it."""
    alive = []
    for process in set(psutil.Process().children(recursive=True)) - _earlier:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                if process.ppid() == os.getpid():
                    os.waitpid(process.pid, os.WNOHANG)
            else:
                alive.append(f"{process.pid} {process.cmdline()}")
        except (psutil.Error, ChildProcessError):
            continue
    return alive


_earlier: set[psutil.Process] = set()
"""What ran before the test: a worker, say, that a fixture of the whole session keeps for other tests."""


@pytest.fixture(autouse=True)
def _orphans_come_here() -> Iterator[None]:
    prctl = ctypes.CDLL(None).prctl
    prctl(SUBREAPER, 1, 0, 0, 0)
    _earlier.update(psutil.Process().children(recursive=True))
    yield
    _earlier.clear()
    prctl(SUBREAPER, 0, 0, 0, 0)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, key_cache: Path) -> Path:
    """A folder with a course, a class and its reports."""
    folder = tmp_path_factory.mktemp("graded")
    tiny.copied(folder / "course", key_cache)
    tiny.handed_in(folder / "hand_in" / "good")
    tiny.handed_in(folder / "hand_in" / "wrong", tiny.mean_with("return x.cumsum(dim=-1)"))
    tiny.handed_in(folder / "hand_in" / "loop", "while True: pass", tiny.POWER_ALONE)
    done = tiny.run_course(folder / "course", "grade", "../hand_in", "--out", "../graded", "--seed", "7", *tiny.TRUSTED)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def runs(graded: Path, tmp_path: Path) -> Callable[[str], Runs]:
    def made(name: str) -> Runs:
        if "sandbox" in name and bubblewrap_problem():
            pytest.skip("needs bubblewrap")
        shutil.copytree(graded, tmp_path, dirs_exist_ok=True)
        return Runs(CASES[name], tmp_path)

    return made


QUICK = (
    "grade with fresh keys",
    "grade in a sandbox with kept keys",
    "release",
    "validate",
    "check",
    "export feedback",
    "watch",
)


@pytest.mark.parametrize(
    "name",
    [
        case if case == QUICK[0] else pytest.param(case, marks=pytest.mark.slow)
        for case in CASES
        if STOPS or case in QUICK
    ],
)
def test_a_signal_at_any_moment_ends_a_command_and_the_next_run_is_whole(
    name: str, runs: Callable[[str], Runs]
) -> None:
    run = runs(name)
    trial = random.Random(f"{SEED} {name}")
    life = LIFE
    if STOPS and name != "watch":
        life = run.end()
        shutil.rmtree(run.folder / "out", ignore_errors=True)
    for at in range(max(1, STOPS // len(CASES))):
        number = trial.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        again = trial.choice((None, trial.uniform(0, 0.5)))
        where = f"{name}, seed {SEED}, stop {at}: {number.name}"
        while not run.stop(moment := trial.uniform(0, life), number, again, f"{where} after {moment:.3f} s, {again}"):
            life = moment  # the machine is faster than it was
            shutil.rmtree(run.folder / "out", ignore_errors=True)  # so that there is something to do again
    if name != "watch":
        run.end()
    print(f"\n{name}: {len(run.times)} stops, the longest took {max(run.times):.2f} s of {life:.1f} s of life")


def test_making_answer_keys_is_stopped_in_the_middle(runs: Callable[[str], Runs]) -> None:
    run = runs("grade with fresh keys")
    process = run.start()
    until = time.monotonic() + 60
    while not any((run.folder / "tmp").iterdir()) and time.monotonic() < until:
        time.sleep(0.02)
    assert any((run.folder / "tmp").iterdir()), "a worker that makes keys has begun"
    process.send_signal(signal.SIGTERM)
    assert process.wait(SECONDS * max(1.0, yardstick() / YARDSTICK)) == 4
    assert "course: stopped after 0 of 3 submissions: interrupted" in run.errors
    run.assert_clean(SECONDS)


def test_nothing_waits_for_keys_of_a_cancelled_grader(tmp_path: Path) -> None:
    with Grader(tiny.SUITE, seed=tiny.COURSE.seed, cache=tmp_path) as grader:
        grader._idle.get()  # so that no key can be found
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(grader.wait_for_keys, lambda *_: None)
            while len(grader._found) < len(tiny.SUITE.exercises):
                time.sleep(0.01)
            threading.Timer(0.2, grader.cancel).start()
            with pytest.raises(Cancelled):
                waiting.result(60)
            grader._idle.put(grader._keys[0])
        with pytest.raises(Cancelled):
            grader.find_keys(tiny.SUITE.exercises[:1], with_misconceptions=False)
