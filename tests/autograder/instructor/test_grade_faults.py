"""After any fault, the same command gives the results of an undisturbed run, except for the seconds.

COURSE_FAULTS=300 does it with as many submissions, COURSE_ISOLATION=sandbox with zygotes to be killed as well.
"""

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.gradebook import Out
from tests.support import tiny

SIZE = int(os.environ.get("COURSE_FAULTS", "5"))
SEED = str(tiny.COURSE.seed)
SEEDS = (1, 2) if tiny.EVERYTHING else (1,)
ISOLATION = os.environ.get("COURSE_ISOLATION", "process")
HANGS = "import time\ntime.sleep(600)"
FIRSTS = (tiny.MEAN, tiny.mean_with("return x.cumsum(dim=-1)"), "import os\nos._exit(0)", HANGS)
LIMIT = 60 + 5 * SIZE
"""Seconds after which a run is taken to hang."""

Results = tuple[dict[str, Any], str, str]


@dataclass
class School:
    """A course, a class and its output folder."""

    course: Path
    hand_in: Path
    out: Path

    def start(self, *arguments: str, limit: int | None = None, **env: str) -> "subprocess.Popen[str]":
        """Start grading; no file that it writes may be longer than the limit, in bytes."""
        command = [
            "grade",
            str(self.hand_in),
            "--out",
            str(self.out),
            "--jobs",
            "2",
            "--seed",
            SEED,
            "--plain",
            "--isolation",
            ISOLATION,
        ]

        def limited() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.Popen(
            [sys.executable, "-m", "autograder", *command, *arguments],
            cwd=self.course,
            env=tiny.environment(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=limited,
        )

    def ended(self, process: "subprocess.Popen[str]") -> tuple[int, str, str]:
        """Return exit status and standard error; no fault may print a traceback."""
        stdout, stderr = process.communicate(timeout=LIMIT)
        assert "Traceback" not in stdout + stderr, stderr
        return process.returncode, stdout, stderr

    def finish(self, **env: str) -> str:
        """Grade until everything is graded, and return the last output."""
        for _ in range(3):
            status, stdout, stderr = self.ended(self.start(**env))
            if status == 0:
                assert not list(self.out.rglob(".*")), "nothing half-written is left"
                return stdout
            assert status == 4, stderr
        raise AssertionError(stdout + stderr)

    def reports(self) -> int:
        return len(list(self.out.glob("reports/[a-z]*.json")))

    def wait_for_reports(self, process: "subprocess.Popen[str]", count: int) -> None:
        """Wait until so many reports are there, or the process has ended."""
        until = time.monotonic() + LIMIT
        while self.reports() < count and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)

    def results(self) -> Results:
        return tiny.timeless(self.out), *((self.out / name).read_text() for name in ("scores.csv", "run.json"))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, key_cache: Path) -> School:
    """A class that was graded without faults."""
    folder = tmp_path_factory.mktemp("calm")
    school = School(tiny.copied(folder / "course", key_cache), folder / "hand_in", folder / "out")
    for at in range(SIZE):
        tiny.handed_in(school.hand_in / f"student-{at:03}", FIRSTS[at % 4], tiny.POWER_ALONE + f"# {at}\n")
    assert f"{SIZE} graded, 0 kept" in school.finish()
    return school


@pytest.fixture
def school(calm: School, tmp_path: Path) -> School:
    """The same class, not graded yet."""
    course = tiny.copied(tmp_path / "course", calm.course / ".course" / "cache")
    return School(course, calm.hand_in, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_grading_process_is_killed_again_and_again(seed: int, calm: School, school: School) -> None:
    draw = random.Random(seed)
    for _ in range(3):
        process = school.start()
        school.wait_for_reports(process, draw.randrange(SIZE))
        time.sleep(draw.random())
        process.kill()
        process.communicate(timeout=LIMIT)
    school.finish()
    assert school.results() == calm.results()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds workers by /proc")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.usefixtures("spawned")
def test_workers_are_killed(seed: int, calm: School, school: School) -> None:
    draw = random.Random(seed)
    process = school.start()
    killed = 0
    while process.poll() is None and killed < max(2, SIZE // 10):
        time.sleep(0.5 + draw.random())
        if children := descendants(process.pid):
            with contextlib.suppress(OSError):
                os.kill(draw.choice(children), signal.SIGKILL)
                killed += 1
                school.wait_for_reports(process, school.reports() + 2)  # who is killed thrice is taken to be at fault
    assert school.ended(process)[0] in (0, 4)
    assert killed
    school.finish()
    assert school.results() == calm.results()


def descendants(pid: int) -> list[int]:
    """Return the children of a process, and theirs."""
    parents = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
    found, last = [], {pid}
    while last := {child for child, parent in parents.items() if parent in last}:
        found += sorted(last)
    return found


@contextlib.contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """Mount a small disk there; skips the test where that is not allowed."""
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "small", str(folder)], capture_output=True
    ).returncode:
        pytest.skip("needs to be allowed to mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remounted(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
def test_the_disk_is_full(calm: School, school: School) -> None:
    with mounted(school.out, "1m"):
        process = school.start()
        school.wait_for_reports(process, 1)
        with contextlib.suppress(OSError):
            (school.out / "ballast").write_bytes(bytes(1 << 20))
        status, _, stderr = school.ended(process)
        assert (status, "No space left on device" in stderr) == (4, True), stderr
        assert school.reports() < SIZE
        remounted(school.out, "size=64m")
        (school.out / "ballast").unlink()
        school.finish()
        assert school.results() == calm.results()


def test_a_file_may_not_grow(calm: School, school: School) -> None:
    """A quota, say: it shows in the index first."""
    status, _, stderr = school.ended(school.start(limit=3000))
    assert (status, "File too large" in stderr) == (4, True), stderr
    assert school.reports() < SIZE
    school.finish()
    assert school.results() == calm.results()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
def test_the_disk_is_read_only(school: School) -> None:
    with mounted(school.out, "1m"):
        remounted(school.out, "ro")
        status, _, stderr = school.ended(school.start())
        assert status == 3
        assert "cannot be written to: Read-only file system" in stderr


JUMPING = """
import random, time
draw = random.Random({seed})
for name, unit in (("time", 1.0), ("time_ns", 10**9)):
    def jumped(true=getattr(time, name), unit=unit):
        return true() + type(unit)(draw.randrange(-10**9, 10**9) * unit)
    setattr(time, name, jumped)
"""


@pytest.mark.slow
def test_the_clock_jumps(calm: School, school: School, tmp_path: Path) -> None:
    for seed in (1, 2):
        (tmp_path / f"clock{seed}").mkdir()
        (tmp_path / f"clock{seed}" / "sitecustomize.py").write_text(JUMPING.format(seed=seed))
    assert f"{SIZE} graded, 0 kept" in school.finish(PYTHONPATH=str(tmp_path / "clock1"))
    assert school.results() == calm.results()
    assert f"0 graded, {SIZE} kept" in school.finish(PYTHONPATH=str(tmp_path / "clock2"))
    assert school.results() == calm.results()


@pytest.mark.slow
@pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)])
@pytest.mark.usefixtures("spawned")
def test_somebody_stops_it(signals: Sequence[signal.Signals], calm: School, school: School) -> None:
    process = school.start()
    school.wait_for_reports(process, 1)
    workers = descendants(process.pid)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.2)
    status, _, stderr = school.ended(process)
    assert status == 4
    assert "interrupted; their reports are whole, and the same command goes on" in stderr
    until = time.monotonic() + LIMIT
    while any(Path(f"/proc/{worker}/cwd").exists() for worker in workers) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [worker for worker in workers if Path(f"/proc/{worker}/cwd").exists()], "no worker goes on"
    assert 0 < school.reports() < SIZE
    assert not (school.out / "scores.csv").exists()
    school.finish()
    assert school.results() == calm.results()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_keys_that_were_kept_are_damaged(seed: int, calm: School, school: School) -> None:
    draw = random.Random(seed)
    for file in sorted((school.course / ".course" / "cache").iterdir()):
        data = file.read_bytes()
        at = draw.randrange(len(data))
        damaged = (data[:at], b"", draw.randbytes(len(data)), data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        file.write_bytes(draw.choice(damaged))
    school.finish()
    assert school.results() == calm.results()


@pytest.mark.slow
def test_reports_and_index_are_damaged(calm: School, school: School) -> None:
    shutil.copytree(calm.out, school.out)
    draw = random.Random(4)
    for at, file in enumerate(sorted((school.out / "reports").iterdir())):
        data = file.read_bytes()
        damaged = (data[: len(data) // 2], b"", draw.randbytes(len(data)), data)
        file.write_bytes(damaged[at % 4])
    (school.out / "index.sqlite").write_bytes(draw.randbytes(20_000))
    (school.out / "scores.csv").write_text("nothing")
    (school.out / "run.json").write_text("{")
    assert f"{SIZE - SIZE // 4} graded, {SIZE // 4} kept" in school.finish()
    assert school.results() == calm.results()


def test_two_at_once_cannot_both_write(school: School) -> None:
    with Out(school.out):
        status, _, stderr = school.ended(school.start())
    assert status == 3
    assert f"is in use by process {os.getpid()} on " in stderr
    assert not school.reports()
