"""A class on a local Dask cluster that loses a worker, beside one process: submissions per second, and equal reports.

    python benchmarks/cluster.py

Grades synthetic submissions with `course grade --scheduler` on workers of one thread. When half of the reports are
there, one worker is killed. Then `course grade` grades them in one process. Exits with 1, and without a figure, where a
mark is not what the submission deserves, or two reports differ in more than their seconds. Needs the extra `cluster`.
"""

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from grading import copy_course
from marks import misgraded, refuse, reports_in
from steady import EVERY_SECONDS, started_in
from synthetic import synthetic

from autograder.course import load_suite, read_course, trust_here

SCHEDULER = "tcp://127.0.0.1:18786"


def main() -> None:
    """Measure, compare and print."""
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="cluster-") as name:
        folder = Path(name)
        copy_course(folder / "course", options.exercises)
        trust_here(folder / "course")
        submissions = list(synthetic(load_suite(read_course(folder / "course")), options.submissions, options.seed))
        for submission in submissions:
            submission.write(folder / "folders")
        rates, reports = [], []
        for on_cluster in (True, False):
            with workers(folder, options.workers if on_cluster else 0) as started:
                began = time.perf_counter()
                grade(folder, options, started)
                rates.append(options.submissions / (time.perf_counter() - began))
            found = reports_in(folder / "out")
            refuse("the cluster" if on_cluster else "one process", list(misgraded(submissions, found)))
            reports.append({student: untimed(report) for student, report in found.items()})
            (folder / "out").rename(folder / f"out-{on_cluster}")
    cluster, one = reports
    refuse("the cluster", [f"{student} has another report" for student in one if one[student] != cluster[student]])
    print(f"{options.workers} workers, one killed halfway: {rates[0]:.2f} submissions a second")
    print(f"one process with {options.jobs} jobs: {rates[1]:.2f} submissions a second")
    print(f"{len(one):,} reports are equal")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Grade a class on a cluster that loses a worker, and without one.")
    parser.add_argument("--submissions", type=int, default=5000, metavar="N", help="how many (5000)")
    parser.add_argument("--exercises", type=int, default=2, metavar="N", help="the first so many exercises (2)")
    parser.add_argument("--workers", type=int, default=4, metavar="N", help="how many of one thread (4), two or more")
    parser.add_argument("--isolation", default="sandbox", metavar="KIND", help="as of course grade (sandbox)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="as of course grade, of the one process (2)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the submissions and the checks (1)")
    return parser.parse_args()


@contextlib.contextmanager
def workers(folder: Path, count: int) -> "Iterator[list[subprocess.Popen[bytes]]]":
    """Start so many workers with their scheduler, if any, and stop what is left of them."""
    dask = [sys.executable, "-m"]
    scheduler = [*dask, "distributed.cli.dask_scheduler", "--host", SCHEDULER, "--dashboard-address", ":0"]
    worker = [*dask, "distributed.cli.dask_worker", SCHEDULER, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    commands = [scheduler, *[worker] * count] if count else []
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((folder / "dask.log").open("wb"))
        started = []
        for command in commands:
            process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
        yield started[1:]


def grade(folder: Path, options: argparse.Namespace, started: "Sequence[subprocess.Popen[bytes]]") -> None:
    """Grade, on the workers if there are any, and kill the first when half of the reports are there."""
    more = ["--scheduler", SCHEDULER] if started else []
    with (folder / "log").open("wb") as log:
        judge = started_in(folder, options, log, more)
        while judge.poll() is None:
            if started and len(list(folder.glob("out/reports/*.json"))) > options.submissions // 2:
                started[0].kill()
            time.sleep(EVERY_SECONDS)
    if judge.returncode != 0:
        raise SystemExit(f"no figure, for course grade ended with {judge.returncode}:\n{(folder / 'log').read_text()}")


def untimed(report: object) -> str:
    """Return a report as text, without the seconds that its checks took."""
    return re.sub(r'"seconds": [-+.e0-9]+', "", json.dumps(report, sort_keys=True))


if __name__ == "__main__":
    main()
