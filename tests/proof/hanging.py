"""Prove on the whole course that an exercise that hangs or exhausts memory costs the others nothing, at both levels.

    python -m tests.proof.hanging

Exits with 1 where another exercise gets other marks than without it, or a submission that only sleeps takes too long:
more than 90 s, and without the sandbox than the time in which its workers load their libraries beside that.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping

from autograder.course import Suite, find_course, load_suite, read_course
from autograder.instructor.bulk import open_grading_isolation
from autograder.judge import Grader
from autograder.results import Report
from autograder.runner import Runner, WorkerHandle
from autograder.submission import Submission, digest

MOST_SECONDS = 90.0
EVERY = "for _name in [each for each, value in globals().items() if callable(value)]:\n    globals()[_name] = _worst\n"
CHECKS = f"\nimport time\ndef _worst(*_, **__):\n    time.sleep(1e6)\n{EVERY}"
WAYS: Mapping[str, str] = {
    "sleeps in its import": "\nimport time\ntime.sleep(1e6)\n",
    "loops in its import": "\nwhile True: pass\n",
    "sleeps in every check": CHECKS,
    "loops in every check": f"\ndef _worst(*_, **__):\n    while True: pass\n{EVERY}",
    "eats memory in every check": "\nHOARD = []\ndef _worst(*_, **__):\n"
    f"    while True: HOARD.append(bytearray(1 << 24))\n{EVERY}",
    "keeps memory from its import": "\nHOARD = []\ntry:\n    while True: HOARD.append(bytearray(1 << 24))\n"
    "except MemoryError:\n    del HOARD[-2:]\n",
}


def main() -> None:
    """Try every way at both levels, and print the results."""
    parser = argparse.ArgumentParser(description="Prove that no exercise is charged for another.")
    parser.add_argument("--isolation", nargs="+", default=["sandbox", "process"], metavar="KIND")
    parser.add_argument("--exercise", default="ex05_attention", metavar="ID", help="the one that does it")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="of the checks; else the course's own")
    options = parser.parse_args()
    course = read_course(find_course())
    suite = load_suite(course)
    wrong = []
    for kind in options.isolation:
        with (
            open_grading_isolation(kind, suite, device="cpu", jobs=1) as isolation,
            Grader(suite, seed=course.seed if options.seed is None else options.seed, isolation=isolation) as grader,
        ):
            for sentence, holds in tried(grader, suite, options.exercise):
                print(f"{kind}: {sentence}: {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
                wrong += [] if holds else [sentence]
    sys.exit(bool(wrong))


def tried(grader: Grader, suite: Suite, exercise: str) -> Iterator[tuple[str, bool]]:
    """Yield each trial, and whether the promise holds."""
    right = others(grader.grade(submitted(suite, {})), exercise)
    for way, code in WAYS.items():
        began = time.monotonic()
        report = grader.grade(submitted(suite, {exercise: code}))
        lost = [name for name, score in others(report, exercise).items() if score != right[name]]
        seconds = time.monotonic() - began
        yield f"{exercise} {way}, {seconds:.0f} s; other exercises that lost marks: {lost}", not lost
    yield sleeping(grader, suite)


def sleeping(grader: Grader, suite: Suite) -> tuple[str, bool]:
    """Grade a submission that sleeps everywhere. Where a worker is forked, its start costs nothing beside the waits."""
    loading = 0.0 if grader.isolation.confined else seconds_to_load(grader, suite)
    starts: list[WorkerHandle] = []

    def start() -> WorkerHandle:
        starts.append(grader.isolation.start())
        return starts[-1]

    everywhere = dict.fromkeys((exercise.id for exercise in suite.exercises), CHECKS)
    began = time.monotonic()
    grader.grade(submitted(suite, everywhere), None, Runner(suite, seed=grader.seed, shared=True, start=start))
    seconds = time.monotonic() - began
    loads = f", {len(starts)} workers of {loading:.1f} s" if loading else ""
    most = MOST_SECONDS + len(starts) * loading
    return f"every exercise sleeps in every check, {seconds:.0f} s{loads}", seconds <= most


def seconds_to_load(grader: Grader, suite: Suite) -> float:
    """Return how long a worker takes to load its libraries."""
    began = time.monotonic()
    with Runner(suite, seed=grader.seed, start=grader.isolation.start) as runner:
        runner.prepare()
        runner.run(submitted(suite, {}).sources, suite.plan(suite.exercises[:1]))
    return time.monotonic() - began


def submitted(suite: Suite, more: Mapping[str, str]) -> Submission:
    """Return the solutions, with more code at the end of some."""
    course = suite.course
    sources = {
        exercise.file: (course.solutions_dir / exercise.file).read_bytes() + more.get(exercise.id, "").encode()
        for exercise in course.exercises
    }
    return Submission("proof", course.files, sources, digest(sources), ())


def others(report: Report, exercise: str) -> dict[str, int]:
    """Return the marks of all exercises but one."""
    return {result.id: result.score for result in report.exercises if result.id != exercise}


if __name__ == "__main__":
    main()
