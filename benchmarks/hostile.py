"""The cost of hostile submissions in a class: forged traces, and programs that only sleep or loop.

    python benchmarks/hostile.py

Grades synthetic submissions, then the same ones with some of them made hostile, one after the other in each round. What
forged traces cost is measured beside the same wrong programs without the forgery.
Exits with 1 where forged traces cost more than a tenth of the time of the class, where one hostile submission holds a
slot for more than 90 s, or where an honest submission gets another mark.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from synthetic import synthetic

from autograder.course import Course, Suite, find_course, load_suite, read_course, write_atomically
from autograder.diagnosis import EXERCISE_SECONDS, SUBMISSION_SECONDS, Deadline
from autograder.diagnosis import divergence as marking
from autograder.instructor.bulk import open_grading_isolation
from autograder.judge import Grader
from autograder.submission import Submission, digest

ROOT = Path(__file__).parents[1]
MOST_SHARE, MOST_SECONDS = 0.1, 90.0
"""The limits: the share that forged traces may add to the time of a class, and the time of one hostile submission."""

INSIDE = (ROOT / "tests" / "attacks" / "parts" / "inside.py").read_text("utf-8")

FORGED = f"""
import sys as _sys
{INSIDE}
if the_job().job["trace"]:
    import array as _array
    from autograder.protocol.frames import TRACE_INPUTS, TRACE_PLACES, TRACE_STACK, TRACE_STEPS
    _steps = [
        ["mul", [(_at + _each) % TRACE_PLACES for _each in range(TRACE_STACK)],
         list(range(max(0, _at - TRACE_INPUTS), _at)), [7, 9], "float32", True, [_at, 1], None]
        for _at in range(TRACE_STEPS)
    ]
    _data = _array.array("d", [1.0 + _each / 7 for _each in range(15 * TRACE_STEPS)]).tobytes()
    for _check, _draw in plan():
        send({{"event": "traced", "exercise": __name__, "check": _check, "trial": _draw, "files": [f"{{__name__}}.py"],
              "places": [[0, "f", _each, _each, 0, 5] for _each in range(TRACE_PLACES)], "steps": _steps,
              "results": [TRACE_STEPS - 1] * 16,
              "prints": {{"array": ["float64", [TRACE_STEPS, 15], "cpu", 0, len(_data)]}}}}, _data)
"""
"""At the end of a wrong program: whenever it is traced, every check has the longest trace that is read."""

KINDS: Mapping[str, str] = {
    "forged traces": FORGED,
    "sleepers": "\nimport time\nfor _name in [each for each, value in globals().items() if callable(value)]:\n"
    "    globals()[_name] = lambda *_, **__: time.sleep(1e6)\n",
    "sleeping imports": "\nimport time\ntime.sleep(1e6)\n",
    "loops": "\nfor _name in [each for each, value in globals().items() if callable(value)]:\n"
    "    def _loop(*_, **__):\n        while True: pass\n    globals()[_name] = _loop\n",
}
"""The code at the end of every file of a hostile submission."""


@dataclass
class Times:
    """Seconds of the class in each round, honest and with hostile submissions in it, and of each hostile one."""

    honest: list[float] = field(default_factory=list)
    mixed: list[float] = field(default_factory=list)
    hostile: list[float] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The added share of time by hostile submissions: the median of the rounds."""
        return median(mixed / honest - 1 for mixed, honest in zip(self.mixed, self.honest, strict=True))


def main() -> None:
    """Measure, print, and exit with the verdict."""
    options = arguments()
    course = read_course(find_course())
    suite = load_suite(course)
    honest = [
        submission_of(course, submission.student, submission.sources)
        for submission in synthetic(suite, options.submissions, 1)
    ]
    found: dict[str, Times] = {}
    with (
        open_grading_isolation(options.isolation, suite, device="cpu", jobs=options.jobs) as isolation,
        Grader(suite, seed=options.seed, isolation=isolation) as grader,
    ):
        grader.wait_for_keys(lambda *_: None)
        isolation.expect(2 * options.rounds * len(options.kinds) * options.submissions)
        with located() as seconds:
            graded(grader, honest, options.jobs)  # every trace of the solutions is made
            most = max(seconds, default=0.0)
        for kind in options.kinds:
            found[kind] = measured(grader, kind, honest, options)
    print(f"{options.submissions} submissions, {options.jobs} at a time, {isolation.level}; {os.cpu_count()} cores")
    print(
        f"finding the places of an honest exercise took {most:.3f} s of processor time at most; "
        f"allowed are {EXERCISE_SECONDS:g} s, and {SUBMISSION_SECONDS:g} s for a submission"
    )
    for kind, times in found.items():
        print(
            f"{kind}: honest {median(times.honest):.1f} s, with {options.hostile} of them hostile "
            f"{median(times.mixed):.1f} s ({times.share:+.1%}); a hostile one takes {median(times.hostile):.1f} s, "
            f"at most {max(times.hostile):.1f} s; {len(times.changed)} honest marks changed"
        )
    if options.out:
        write_atomically(
            options.out, json.dumps({name: asdict(measured) for name, measured in found.items()}, indent=1) + "\n"
        )
    sys.exit(not all(holds(kind, times) for kind, times in found.items()))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure what hostile submissions cost a class.")
    parser.add_argument("--submissions", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--hostile", type=int, default=10, metavar="N", help="how many of them are hostile (10)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each class is graded (3)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="of hostile submissions")
    parser.add_argument("--isolation", default="sandbox", metavar="KIND", help="as of course grade (sandbox)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="as of course grade (2)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the checks (1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    return parser.parse_args()


def submission_of(course: Course, student: str, sources: Mapping[str, bytes]) -> Submission:
    """Return a submission of these files."""
    return Submission(student, course.files, dict(sources), digest(dict(sources)), ())


def measured(grader: Grader, kind: str, honest: Sequence[Submission], options: argparse.Namespace) -> Times:
    """Grade the class, honest and mixed, round by round."""
    times = Times()
    every = max(1, len(honest) // options.hostile)
    chosen = set(range(0, every * options.hostile, every))
    mixed = [
        made_hostile(grader.suite, submission, kind) if at in chosen else submission
        for at, submission in enumerate(honest)
    ]
    if kind == "forged traces":  # only what fails is traced
        honest = [
            made_hostile(grader.suite, submission, "wrong") if at in chosen else submission
            for at, submission in enumerate(honest)
        ]
    for _ in range(options.rounds):
        seconds, _, marks = graded(grader, honest, options.jobs)
        times.honest.append(seconds)
        seconds, of_each, others = graded(grader, mixed, options.jobs)
        times.mixed.append(seconds)
        times.hostile += [of_each[at] for at in sorted(chosen)]
        rest = [at for at in range(len(honest)) if at not in chosen]
        times.changed += [honest[at].student for at in rest if marks[at] != others[at]]
        print(f"  {kind}: {times.honest[-1]:.1f} s honest, {seconds:.1f} s mixed", flush=True)
    return times


def made_hostile(suite: Suite, honest: Submission, kind: str) -> Submission:
    """Return a submission of the same student of which every file is hostile."""
    course = suite.course
    sources = {exercise.file: (course.solutions_dir / exercise.file).read_bytes() for exercise in course.exercises}
    if kind in ("forged traces", "wrong"):
        sources = {file: source.replace(b"return ", b"return 1.25 * ") for file, source in sources.items()}
    sources = {file: source + KINDS.get(kind, "").encode() for file, source in sources.items()}
    return submission_of(course, honest.student, sources)


def graded(grader: Grader, submissions: Sequence[Submission], jobs: int) -> tuple[float, list[float], list[list[int]]]:
    """Return the seconds for all, those of each, and the points of each by exercise."""

    def grade(submission: Submission) -> tuple[float, list[int]]:
        began = time.perf_counter()
        report = grader.grade(submission)
        return time.perf_counter() - began, [exercise.score for exercise in report.exercises]

    began = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(grade, submissions))
    return time.perf_counter() - began, [seconds for seconds, _ in found], [marks for _, marks in found]


@contextmanager
def located() -> Iterator[list[float]]:
    """Give a list of the seconds that go into finding places, of each exercise for which that is done."""
    found: list[float] = []

    class Timed(Deadline):
        def __init__(self, seconds: float) -> None:
            super().__init__(seconds)
            self._seconds = seconds

        @property
        def left(self) -> float:
            found.append(self._seconds - super().left)
            return super().left

    marking.Deadline = Timed  # type: ignore[misc]
    try:
        yield found
    finally:
        marking.Deadline = Deadline  # type: ignore[misc]


def holds(kind: str, times: Times) -> bool:
    """Return whether hostile submissions stay within the limits."""
    cheap = kind != "forged traces" or times.share <= MOST_SHARE
    return cheap and max(times.hostile) <= MOST_SECONDS and not times.changed


if __name__ == "__main__":
    main()
