"""Grading on a Dask cluster: the same results, also when machines are lost, other kits are met, or nobody answers."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograder.course import read_course, suite_digest
from autograder.gradebook import claim_digest, read_graded, read_roster
from tests.autograder.gradebook import test_term as term
from tests.support import tiny

pytestmark = [
    pytest.mark.slow(seconds=40),
    pytest.mark.skipif(find_spec("distributed") is None, reason="pip install -e '.[cluster]'"),
]

STUDENTS = 4
SEED = str(tiny.COURSE.seed)
LIMIT = 120
DASK = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "5s",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    "DASK_DISTRIBUTED__COMM__RETRY__COUNT": "0",
}


class Dask:
    """A scheduler and workers on this machine, each a process of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.file = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, what: str, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self.file), *arguments]
        log = (self.folder / f"{what}-{time.monotonic_ns()}.log").open("wb")
        process = subprocess.Popen(command, cwd=self.folder, env=tiny.environment(DASK), stdout=log, stderr=log)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def add_worker(self) -> None:
        arguments = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.workers.append(self.start("worker", *arguments))

    @property
    def address(self) -> str:
        until = time.monotonic() + LIMIT
        while True:
            try:
                return str(json.loads(self.file.read_text())["address"])
            except (FileNotFoundError, json.JSONDecodeError):  # the scheduler has made it, but not written it yet
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    with ExitStack() as stack:
        (tmp_path / "dask").mkdir()
        yield Dask(tmp_path / "dask", stack)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory, key_cache: Path) -> Path:
    """A class graded on this machine: course, hand_in and out."""
    folder = tmp_path_factory.mktemp("local")
    tiny.copied(folder / "course", key_cache)
    firsts = (tiny.MEAN, tiny.mean_with("return x.cumsum(dim=-1)"), "import os\nos._exit(0)")
    for at in range(STUDENTS):
        tiny.handed_in(folder / "hand_in" / f"student-{at}", firsts[at % 3], f"{tiny.POWER_ALONE}# {at}\n")
    ended(start(folder, folder / "out"))
    return folder


def start(folder: Path, out: Path, *arguments: str, hand_ins: Path | None = None) -> "subprocess.Popen[str]":
    command = ["grade", str(hand_ins or "../hand_in"), "--out", str(out), "--seed", SEED, *tiny.TRUSTED, *arguments]
    return subprocess.Popen(
        [sys.executable, "-m", "autograder", *command],
        cwd=folder / "course",
        env=tiny.environment(DASK),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]", status: int = 0) -> str:
    stdout, stderr = process.communicate(timeout=LIMIT)
    assert "Traceback" not in stdout + stderr, stderr
    assert process.returncode == status, stderr
    return stdout + stderr


def wait_for_reports(out: Path, count: int) -> None:
    until = time.monotonic() + LIMIT
    while len(list(out.glob("reports/[a-z]*.json"))) < count and time.monotonic() < until:
        time.sleep(0.05)


def same(out: Path, other: Path) -> None:
    assert tiny.timeless(out) == tiny.timeless(other)
    for name in ("scores.csv", "run.json"):
        assert (out / name).read_bytes() == (other / name).read_bytes()


def test_a_cluster_that_loses_a_worker_gives_the_results_of_one_machine(
    local: Path, dask: Dask, tmp_path: Path
) -> None:
    dask.add_worker()
    dask.add_worker()
    process = start(local, tmp_path / "out", "--scheduler", dask.address)
    wait_for_reports(tmp_path / "out", 1)
    dask.workers[0].kill()
    assert f"{STUDENTS} graded, 0 kept from before, 0 the grader failed on" in ended(process)
    same(tmp_path / "out", local / "out")
    assert f"0 graded, {STUDENTS} kept" in ended(start(local, tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9"))


@pytest.mark.worker
@pytest.mark.parametrize("choice", [("--assignment", "week3"), ("--take", term.SPREAD)], ids=" ".join)
def test_an_assignment_with_accepted_files_gives_on_a_cluster_what_it_gives_here(
    dask: Dask, tmp_path: Path, choice: tuple[str, str]
) -> None:
    """The third week builds on reference parts in one run, and on the students' own work in the other."""
    course = term.course_at(tmp_path / "course")
    right = term.SOLUTION.replace("    ### BEGIN SOLUTION\n", "").replace("    ### END SOLUTION\n", "")
    for student, sort in (("ada", right_sort()), ("ben", term.WRONG_SORT), ("cem", right_sort())):
        first = {term.FILES["week1"]: sort, term.FILES["week2"]: "def binary_search(values, wanted):\n    return 0\n"}
        spread = term.WRONG_SPREAD if student == "cem" else right
        term.hand_in(tmp_path / "hand_in", "week3", student, spread, timedelta(), first)
    (course / "roster.csv").write_text("student\nada\nben\ncem\ndee\n")
    if choice[0] == "--assignment":
        (tmp_path / f"{term.SPREAD}.py").write_text(right)
        for student in ("cem", "dee"):
            accepted = ("accept", student, str(tmp_path / f"{term.SPREAD}.py"), "--assignment", "week3")
            term.run(course, *accepted, "--reason", "mail", "--by", "Grace")
    for _ in range(2):
        dask.add_worker()
    for builds_on in ("reference", "own") if choice[0] == "--assignment" else ("reference",):
        tiny.replaced(course / "course.toml", 'builds_on = "reference"', f'builds_on = "{builds_on}"')
        outs = tmp_path / f"here-{builds_on}", tmp_path / f"there-{builds_on}"
        for out, elsewhere in zip(outs, ((), ("--scheduler", dask.address)), strict=True):
            process = start(tmp_path, out, *choice, *elsewhere, hand_ins=tmp_path / "hand_in" / "week3")
            assert "0 kept from before, 0 the grader failed on" in ended(process)
        same(*outs)
        read = read_course(course)
        here, there = (read_graded(read, read_roster(read, None), out).marks for out in outs)
        assert [claim_digest(mark) for mark in here] == [claim_digest(mark) for mark in there]


def right_sort() -> str:
    """Return a sort that is right, and counts no moves."""
    return "def insertion_sort(values):\n    return sorted(values)\n\n\ndef moves(values):\n    return 0\n"


def test_a_cluster_whose_scheduler_is_lost_is_gone_on_without(local: Path, dask: Dask, tmp_path: Path) -> None:
    dask.add_worker()
    process = start(local, tmp_path / "out", "--scheduler", dask.address)
    wait_for_reports(tmp_path / "out", 1)
    dask.scheduler.kill()
    output = ended(process, 3)
    assert "is gone" in output
    assert "finished reports are kept: run the same command again when it is back" in output
    done = ended(start(local, tmp_path / "out"))
    assert " 0 kept" not in done
    same(tmp_path / "out", local / "out")


def test_a_submission_that_workers_are_lost_with_again_and_again_costs_its_own_mark_only(
    local: Path, dask: Dask, tmp_path: Path
) -> None:
    """What kills the worker here is a Grader that ends the process it is in, for one student's submission."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if any('dask_worker' in argument for argument in sys.orig_argv):\n"
        "    from autograder.judge.grader import Grader\n"
        "    grade = Grader.grade\n"
        "    def deadly(self, submission, *rest):\n"
        "        return os._exit(1) if submission.student == 'student-3' else grade(self, submission, *rest)\n"
        "    Grader.grade = deadly\n"
    )
    DASK["PYTHONPATH"] = str(site)
    try:
        for _ in range(3):
            dask.add_worker()
        output = ended(start(local, tmp_path / "out", "--scheduler", dask.address, "--jobs", "1"), 4)
    finally:
        del DASK["PYTHONPATH"]
    assert f"{STUDENTS} graded, 0 kept from before, 1 the grader failed on" in output
    assert "KilledWorker" in (tmp_path / "out" / "reports" / "student-3.json").read_text()
    assert f"1 graded, {STUDENTS - 1} kept" in ended(start(local, tmp_path / "out"))
    same(tmp_path / "out", local / "out")


def test_a_run_on_a_cluster_is_stopped_by_a_signal(local: Path, dask: Dask, tmp_path: Path) -> None:
    dask.add_worker()
    process = start(local, tmp_path / "out", "--scheduler", dask.address)
    wait_for_reports(tmp_path / "out", 1)
    process.send_signal(signal.SIGINT)
    assert "interrupted; their reports are whole" in ended(process, 4)
    ended(start(local, tmp_path / "out", "--scheduler", dask.address))
    same(tmp_path / "out", local / "out")


def test_a_scheduler_that_does_not_answer_is_reported(local: Path, tmp_path: Path) -> None:
    output = ended(start(local, tmp_path / "out", "--scheduler", "127.0.0.1:9"), 3)
    assert "no Dask scheduler answers at 127.0.0.1:9" in output
    assert "start one, or give the address that it printed" in output
    output = ended(start(local, tmp_path / "out", "--scheduler", "nonsense://x:1"), 2)
    assert "'nonsense://x:1' is no address, expected one like tcp://10.0.0.7:8786" in output


def test_a_bundle_is_the_same_suite_elsewhere(local: Path, tmp_path: Path) -> None:
    from autograder.instructor.cluster import pack, unpack

    course = tiny.course_at(local / "course")
    key = next((local / "course" / ".course" / "cache").glob("*.key"))
    unpack(pack(course, [key]), tmp_path / "there")
    there = tiny.course_at(tmp_path / "there")
    assert suite_digest(there) == suite_digest(course)
    assert (tmp_path / "there" / ".course" / "cache" / key.name).read_bytes() == key.read_bytes()
    assert not list((tmp_path / "there").rglob("grading_seed"))
