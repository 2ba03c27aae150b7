"""The speed of grading a class: this kit, plain pytest, nbgrader and otter, on the same submissions and checks.

    python benchmarks/grading.py --out build/grading.json

Each grader runs the fastest way it has on two cores. A machine's speed drifts, and a rival takes minutes: it is paused
every now and then, and this kit grades the whole class in between. What counts is the rival's seconds over the median
of those. Marks are compared after every run: where some are wrong, or differ for no reason that this kit names, it
prints whose and how in place of a figure, and exits with 1. The rivals live in a virtual environment of their own,
build/rivals, which is made when it is not there. Linux only.
"""

import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from beside import beside
from contestants import (
    RIVALS,
    ROOT,
    Class,
    Confined,
    Contestant,
    Nbgrader,
    Otter,
    Pytest,
    Unavailable,
    Unconfined,
    Unwalled,
)
from contestants import Course as OurCourse
from marks import Ended, compared, cut_short, misgraded, refuse
from synthetic import synthetic

from autograder import __version__
from autograder.course import load_suite, read_course, trust_here, write_atomically

PINNED = {"nbgrader": "0.9.6", "otter-grader": "7.0.0"}
PACKAGES = (*PINNED, "pytest", "ipykernel", "nbconvert", "torch", "numpy")
SETS = {"ex01..ex06": 6, "all": 14}
CONTESTANTS: Mapping[str, type[Contestant]] = {
    contestant.name: contestant for contestant in (Pytest, Nbgrader, Otter, Unconfined, Unwalled, Confined)
}


@dataclass
class Result:
    """The wall time of a grader in each round, our time beside it, and the comparison of the marks."""

    seconds: list[float] = field(default_factory=list)
    ours_beside: list[list[float]] = field(default_factory=list)
    same_marks: int = 0
    marks: int = 0
    differences: dict[str, int] = field(default_factory=dict)

    def compare(self, class_: Class, ours: OurCourse, other: Contestant) -> None:
        """Store the comparison of the last marks with ours; exit with 1 if one differs without a reason."""
        rival = not isinstance(other, OurCourse)
        found = compared(class_.submissions, ours.reports(), other.marks(), rival=rival)
        refuse(other.name, found.unexplained)
        self.same_marks, self.marks, self.differences = found.same, found.marks, dict(found.reasons.most_common())

    def note(self, name: str, seconds: float, ours: list[float]) -> None:
        """Store a round, and print it."""
        self.seconds.append(seconds)
        self.ours_beside.append(ours)
        print(f"  {name} {seconds:.1f} s, ours beside it {', '.join(f'{run:.1f}' for run in ours)} s", flush=True)

    @property
    def times_ours(self) -> float:
        """How often ours grades the class in the time this takes: the median of the rounds."""
        return median(second / median(ours) for second, ours in zip(self.seconds, self.ours_beside, strict=True))


def main() -> None:
    """Measure, and print the results."""
    options = arguments()
    python = rivals_python(ROOT / "build" / "rivals")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.jobs])
    found = {
        "submissions": options.submissions,
        "jobs": options.jobs,
        "seed": options.seed,
        "machine": machine(),
        "versions": versions(python),
        "sets": {},
    }
    print(f"{found['machine']}; {', '.join(f'{name} {version}' for name, version in found['versions'].items())}")
    for name in options.sets:
        with tempfile.TemporaryDirectory(prefix="grading-") as folder:
            class_ = make_class(Path(folder), python, SETS[name], options)
            found["sets"][name] = measured(class_, options)
        print_set(name, found["sets"][name], options)
        if options.out:
            write_atomically(options.out, json.dumps(found, indent=1, default=asdict) + "\n")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure how fast a class is graded, beside other graders.")
    parser.add_argument("--submissions", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each grades them (3)")
    parser.add_argument("--every", type=float, default=20.0, metavar="SECONDS", help="how often a rival is paused (20)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="cores, and processes at a time (2)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the submissions, and of the checks (1)")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), help="which exercises")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS), help="which graders")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    return parser.parse_args()


def rivals_python(folder: Path) -> Path:
    """Return the rivals' Python. They share this one's torch, pytest and NumPy; all else they have of their own."""
    python = folder / "bin" / "python"
    ready = folder / "ready"
    wanted = " ".join(f"{name}=={pinned}" for name, pinned in PINNED.items())
    if ready.is_file() and ready.read_text() == wanted:
        return python
    print(f"making {folder} with {wanted}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    shared = Path(sysconfig.get_path("purelib"))
    own = folder / "lib" / shared.parent.name / "site-packages"
    (own / "shared.pth").write_text(f"{shared}\n")
    constraints = ["--constraint", ROOT / "constraints.txt"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *constraints, *wanted.split()], check=True)
    ready.write_text(wanted)
    return python


def make_class(folder: Path, python: Path, exercises: int, options: argparse.Namespace) -> Class:
    """Make a course of the first few exercises, its submissions, and the file of expected results."""
    copy_course(folder / "course", exercises)
    course = read_course(folder / "course")
    suite = load_suite(course)
    submissions = list(synthetic(suite, options.submissions, options.seed))
    for submission in submissions:
        submission.write(folder / "folders")
    (folder / "home").mkdir()
    points = {exercise.id: suite.points(exercise) for exercise in course.exercises}
    made = Class(folder, python, submissions, points, options.seed, options.jobs)
    log = folder / "expected.log"
    if made.call([python, RIVALS / "plain_checks.py", str(options.seed)], folder, log) != 0:
        raise SystemExit(f"what is expected could not be made:\n{log.read_text()}")
    return made


def copy_course(folder: Path, exercises: int) -> None:
    """Copy the course with its first few exercises, as one part."""
    for name in ("solutions", "exercises", "tests/exercises"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "course.toml").read_text("utf-8")
    head, blocks = text[: text.index("[[parts]]")], text.split("[[exercises]]\n")[1 : exercises + 1]
    kept = (block.split("\n[[")[0].replace('part = "one"\n', "") for block in blocks)
    (folder / "course.toml").write_text("\n[[exercises]]\n".join([head, *kept]), "utf-8")
    trust_here(folder)


def measured(class_: Class, options: argparse.Namespace) -> dict[str, object]:
    """Let every contestant grade the class, round by round, and ours beside each of them."""
    *others, ours = prepared(class_, [contestant for contestant in CONTESTANTS if contestant in options.only])
    if not isinstance(ours, OurCourse):
        raise SystemExit("nothing of this kit is among the graders, and the others are measured beside it: see --only")
    floor = Result()
    results = {other.name: Result() for other in (*others, ours)}
    for _ in range(options.rounds):
        cpu_seconds, ended = floor_of(class_)
        beside_it = timed(class_, ours)
        refuse("the floor", list(cut_short(ours.reports(), ended)))
        floor.note("the floor", cpu_seconds, [beside_it])
        for rival in others:
            rival.clear()
            every = math.inf if isinstance(rival, OurCourse) else options.every
            found = beside(rival.run, lambda: timed(class_, ours), every)
            results[rival.name].compare(class_, ours, rival)
            results[rival.name].note(rival.name, *found)
    taken = [seconds for other in (floor, *results.values()) for part in other.ours_beside for seconds in part]
    results[ours.name].seconds, results[ours.name].ours_beside = taken, [[seconds] for seconds in taken]
    results[ours.name].compare(class_, ours, ours)
    return {"floor": floor, "graders": results, "ours": f"{ours.name}, {ours.isolated()}"}


def prepared(class_: Class, names: Sequence[str]) -> list[Contestant]:
    """Set the contestants up; the sandbox only where there is one."""
    found = []
    for contestant in (CONTESTANTS[name](class_) for name in names):
        try:
            contestant.prepare()
            found.append(contestant)
        except Unavailable as problem:
            print(f"left out: {contestant.name}: {problem}")
    return found


def timed(class_: Class, ours: OurCourse) -> float:
    """Return the wall time of one run, after checking that every mark is right."""
    ours.clear()
    started = time.perf_counter()
    ours.run()
    seconds = time.perf_counter() - started
    refuse(ours.name, list(misgraded(class_.submissions, ours.reports())))
    return seconds


def floor_of(class_: Class) -> tuple[float, Ended]:
    """Return the processor seconds of the probes alone, in as many processes as there are jobs, and which ended."""
    command = [sys.executable, str(Path(__file__).parent / "floor.py"), str(class_.folder / "folders")]
    parts = [[*command, f"{part}/{class_.jobs}"] for part in range(1, class_.jobs + 1)]
    running = [subprocess.Popen(part, env=class_.environment(), stdout=subprocess.PIPE, text=True) for part in parts]
    outputs = [process.communicate()[0] for process in running]
    if any(process.returncode != 0 for process in running):
        raise SystemExit("the probes alone did not get through")
    found = [json.loads(output) for output in outputs]
    ended = {student: checks for answer in found for student, checks in answer["ended"].items()}
    return sum(float(answer["cpu_seconds"]) for answer in found), ended


def print_set(name: str, found: Mapping[str, object], options: argparse.Namespace) -> None:
    """Print the table of one set."""
    graders: Mapping[str, Result] = found["graders"]  # type: ignore[assignment]
    print(f"\n{name}: {options.submissions} submissions; ours is {found['ours']}")
    print(f"{'':16} {'seconds':>8} {'(range)':>17} {'a second':>9} {'× ours beside':>14}  same marks")
    for grader, result in graders.items():
        seconds = median(result.seconds)
        spread = f"({min(result.seconds):.1f} to {max(result.seconds):.1f})"
        rate, same = options.submissions / seconds, f"{result.same_marks} of {result.marks}"
        print(f"{grader:16} {seconds:8.1f} {spread:>17} {rate:9.2f} {result.times_ours:14.1f}  {same}")
    for grader, result in graders.items():
        for reason, count in result.differences.items():
            print(f"  {grader}: {count} marks differ: {reason}")
    floor: Result = found["floor"]  # type: ignore[assignment]
    ratio = options.jobs / floor.times_ours
    print(
        f"the floor, the probes alone: {median(floor.seconds):.2f} s of the processors; ours takes {ratio:.2f} times it"
    )
    if "course-sandbox" in graders and "course-unwalled" in graders:
        print(f"throughput with the sandbox, relative to without: {graders['course-unwalled'].times_ours:.2f}")


def machine() -> str:
    """Return the machine and the versions of the measurement."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    return f"{models[0] if models else platform.machine()}, {len(os.sched_getaffinity(0))} cores"


def versions(python: Path) -> dict[str, str]:
    """Return the versions of the measured packages."""
    program = (
        "import json, sys; from importlib.metadata import version as v; print(json.dumps(list(map(v, sys.argv[1:]))))"
    )
    done = subprocess.run([python, "-c", program, *PACKAGES], capture_output=True, text=True, check=True)
    return {
        "python": platform.python_version(),
        "autograder": __version__,
        **dict(zip(PACKAGES, json.loads(done.stdout), strict=True)),
    }


if __name__ == "__main__":
    main()
