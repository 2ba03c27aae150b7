"""Check that grading stays steady: the rate of the first and last submissions, and the memory of the judge.

    python benchmarks/steady.py

Grades 2,000 synthetic submissions by `course grade` and looks at the judge's process from outside, so Linux only. Then
the same command runs again, with nothing new to grade. Exits with 1 where the last submissions come more than 15 %
slower than the first, its memory grows by more than 20 MB, or the second run takes a second per 1,000 submissions; and
without a figure where a mark is not what the submission deserves.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import BinaryIO

from grading import copy_course
from marks import misgraded, refuse, reports_in
from synthetic import synthetic

from autograder.course import load_suite, read_course, write_atomically

ROOT = Path(__file__).parents[1]
EVERY_SECONDS = 1.0
SLOWER, LARGER, AGAIN = 0.15, 20e6, 1.0
"""The limits: the fall of the rate as a share, the growth of memory in bytes, and the seconds of a run with nothing new
per 1,000 submissions."""


@dataclass(frozen=True)
class Sample:
    """A sample in time: the number of graded submissions, and the judge's memory in bytes."""

    seconds: float
    graded: int
    memory: int


def main() -> None:
    """Measure, print, and exit with the verdict."""
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="steady-") as name:
        folder = Path(name)
        copy_course(folder / "course", options.exercises)
        suite = load_suite(read_course(folder / "course"))
        submissions = list(synthetic(suite, options.submissions, options.seed))
        for submission in submissions:
            submission.write(folder / "folders")
        samples = list(watched(folder, options))
        refuse("course grade", list(misgraded(submissions, reports_in(folder / "out"))))
        again = run_again(folder, options)
    part = min(options.part, options.submissions // 3)
    first, last = rate(samples, 0, part), rate(samples, options.submissions - part, options.submissions)
    settled = [sample for sample in samples if sample.graded >= part]
    growth = settled[-1].memory - settled[0].memory
    steady = last >= (1 - SLOWER) * first and growth <= LARGER and again <= AGAIN * max(1, options.submissions / 1000)
    for sample in thinned(settled, 12):
        print(f"  {sample.seconds:7.0f} s  {sample.graded:5} graded  {sample.memory / 1e6:7.1f} MB")
    print(f"the first {part}: {first:.2f} a second; the last {part}: {last:.2f} a second ({last / first - 1:+.0%})")
    print(f"memory of the judge after {part}: {settled[0].memory / 1e6:.1f} MB; at the end: {growth / 1e6:+.1f} MB")
    print(f"with nothing new, {options.submissions:,} submissions take {again:.2f} s")
    allowed = f"{SLOWER:.0%} slower, {LARGER / 1e6:.0f} MB more, and {AGAIN:.0f} s for 1,000 with nothing new"
    print("steady" if steady else f"not steady: allowed are {allowed}")
    if options.out:
        figures = {
            "first": first,
            "last": last,
            "growth": growth,
            "again": again,
            "samples": [vars(sample) for sample in settled],
        }
        write_atomically(options.out, json.dumps(figures, indent=1) + "\n")
    sys.exit(not steady)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Grade many submissions and see whether rate and memory stay.")
    parser.add_argument("--submissions", type=int, default=2000, metavar="N", help="how many (2000), six or more")
    parser.add_argument("--part", type=int, default=200, metavar="N", help="how many are the first and the last (200)")
    parser.add_argument("--exercises", type=int, default=14, metavar="N", help="the first so many exercises (14)")
    parser.add_argument("--isolation", default="sandbox", metavar="KIND", help="as of course grade (sandbox)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="as of course grade (2)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the submissions and the checks (1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    options = parser.parse_args()
    if options.submissions < 6:
        parser.error(f"--submissions is {options.submissions}, expected 6 or more; give a larger number")
    return options


def watched(folder: Path, options: argparse.Namespace) -> Iterator[Sample]:
    """Grade, and yield samples from the first report to the last, after the answer keys are made."""
    reports = folder / "out" / "reports"
    with (folder / "log").open("wb") as log:
        judge = started_in(folder, options, log)
        started = None
        while judge.poll() is None:
            graded = sum(file.name.endswith(".json") for file in os.scandir(reports)) if reports.is_dir() else 0
            if graded:
                started = started or time.monotonic()
                yield Sample(time.monotonic() - started, graded, memory_of(judge.pid))
            time.sleep(EVERY_SECONDS)
    if judge.returncode != 0:
        raise SystemExit(
            f"no figure, for course grade ended with {judge.returncode}:\n{(folder / 'log').read_text()[-2000:]}"
        )


def run_again(folder: Path, options: argparse.Namespace) -> float:
    """Return the seconds that the same command takes when every report stands; the median of three."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        with (folder / "log").open("wb") as log:
            status = started_in(folder, options, log).wait()
        log = (folder / "log").read_text()
        if status != 0 or f"\n0 graded, {options.submissions:,} kept" not in log:
            raise SystemExit(f"no figure, for course grade did not keep the reports:\n{log[-2000:]}")
        seconds.append(time.perf_counter() - began)
    return median(seconds)


def started_in(
    folder: Path, options: argparse.Namespace, log: BinaryIO, more: Sequence[str] = ()
) -> "subprocess.Popen[bytes]":
    """Start `course grade` on the submissions, with `more` options."""
    grade = ["grade", "../folders", "--out", "../out", "--isolation", options.isolation, "--plain"]
    numbers = ["--jobs", str(options.jobs), "--seed", str(options.seed)]
    command = [sys.executable, "-m", "autograder", *grade, *numbers, *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder / "course", env=environment, stdout=log, stderr=log)


def memory_of(process: int) -> int:
    """Return the bytes of memory a process holds, 0 if it has just ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), 0)


def rate(samples: Sequence[Sample], start: int, stop: int) -> float:
    """Return how many submissions a second there were between two numbers of them."""
    first = next(sample for sample in samples if sample.graded >= max(start, 1))
    last = next((sample for sample in samples if sample.graded >= stop), samples[-1])
    return (last.graded - first.graded) / (last.seconds - first.seconds)


def thinned(samples: Sequence[Sample], most: int) -> Iterator[Sample]:
    """Yield about so many samples, evenly spread."""
    return itertools.islice(samples, 0, None, max(1, len(samples) // most))


if __name__ == "__main__":
    main()
