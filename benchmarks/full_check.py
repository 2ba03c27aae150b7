"""The processor time of one whole check: a right submission of every exercise, torch loaded, its answer keys cached.

    python benchmarks/full_check.py
    taskset -c 0 python benchmarks/full_check.py --part two   # one part, on one core

The worker is measured from the moment it is ready to the end of its last check, the judge from the submission to the
report. What torch itself takes to load in a fresh process is the yardstick. Needs /proc, so Linux.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

from autograder.course import Course, Exercise, Suite, find_course, load_suite, read_course
from autograder.judge import Grader
from autograder.results import Report
from autograder.runner import Runner
from autograder.submission import Submission, read_submission

START_SECONDS = 180.0
SLOWEST = 5


@dataclass(frozen=True)
class Measured:
    """Seconds of processor time of the worker and of the judge, and the report they made."""

    worker: float
    judge: float
    report: Report

    @property
    def both(self) -> float:
        return self.worker + self.judge


def main() -> None:
    """Measure, and print the results."""
    options = arguments()
    course = read_course(find_course())
    chosen = [exercise for exercise in course.exercises if options.part in (None, part_of(course, exercise))]
    suite = load_suite(course, chosen)
    submission = submission_at(course, options.submission)
    whole_check(suite, submission)  # fills the cache of answer keys
    checks = [whole_check(suite, submission) for _ in range(options.runs)]
    imports = [import_seconds() for _ in range(options.runs)]
    middle = sorted(checks, key=lambda check: check.both)[len(checks) // 2]
    print_totals(checks, imports)
    print_exercises(middle.report)
    print_slowest(middle.report)
    print_versions()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure the processor time of one whole check.")
    parser.add_argument("--submission", type=Path, metavar="DIR", help="a right submission (the solutions)")
    parser.add_argument("--part", metavar="ID", help="check the exercises of this part only")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how often (5); the median counts")
    return parser.parse_args()


def part_of(course: Course, exercise: Exercise) -> str:
    """Return the id of the part that an exercise belongs to, "" if there are no parts."""
    part = course.part_of(exercise)
    return part.id if part else ""


def submission_at(course: Course, folder: Path | None) -> Submission:
    """Read a submission from its folder."""
    return read_submission(folder or course.solutions_dir, course.files)


def whole_check(suite: Suite, submission: Submission) -> Measured:
    """Grade a right submission with a fresh worker and a fresh judge."""
    with Runner(suite, seed=suite.course.seed, shared=True) as runner:
        worker = ready_worker(runner)
        before = seconds_of(worker), time.process_time()
        with Grader(suite, seed=suite.course.seed) as grader:
            report = grader.report(submission, suite.exercises, runner)
        after = seconds_of(worker), time.process_time()
    if report.statuses != {"pass"}:
        failing = [exercise.id for exercise in report.exercises if exercise.status != "pass"]
        raise SystemExit(f"{submission.student} is no right submission: {', '.join(failing)} failed")
    return Measured(after[0] - before[0], after[1] - before[1], report)


def ready_worker(runner: Runner) -> int:
    """Start the worker of a runner, wait until it has loaded torch, and return its process id."""
    runner.prepare()
    worker = runner._worker
    assert worker is not None
    event = worker.next_event(START_SECONDS)
    if not worker.ready:
        raise SystemExit(f"the worker did not get ready: {event}")
    return worker._child._process.pid


def seconds_of(process: int) -> float:
    """Return the processor time a living process has used so far, in user and in system mode."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def import_seconds() -> float:
    """Return the processor time of a fresh Python that imports torch and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_totals(checks: Sequence[Measured], imports: Sequence[float]) -> None:
    """Print the medians with their ranges, and the ratio."""
    rows = {
        "worker, ready to done": [check.worker for check in checks],
        "judge": [check.judge for check in checks],
        "both": [check.both for check in checks],
        "import torch": imports,
    }
    print(f"processor seconds, median of {len(checks)} (smallest to largest)")
    for name, seconds in rows.items():
        print(f"  {name:22} {median(seconds):6.2f}  ({min(seconds):.2f} to {max(seconds):.2f})")
    print(f"  one whole check is {median(rows['both']) / median(imports):.2f} × an import of torch")


def print_exercises(report: Report) -> None:
    """Print the time the probes of each exercise ran."""
    print("seconds in the probes by the clock, by exercise")
    for exercise in report.exercises:
        print(f"  {exercise.id:28} {sum(check.seconds for check in exercise.checks):6.3f}")
    print(f"  {'all':28} {sum(check.seconds for exercise in report.exercises for check in exercise.checks):6.3f}")


def print_slowest(report: Report) -> None:
    """Print the checks that ran longest."""
    checks = [
        (check.seconds, f"{exercise.id} {check.id}") for exercise in report.exercises for check in exercise.checks
    ]
    print(f"the slowest {SLOWEST} of {len(checks)} checks, seconds by the clock")
    for seconds, name in sorted(checks, reverse=True)[:SLOWEST]:
        print(f"  {name:45} {seconds:6.3f}")


def print_versions() -> None:
    """Print the machine and the versions of the measurement."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy"))
    print(f"Python {platform.python_version()}, {packages}, {platform.machine()}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
