"""Draw faults of `course hunt`, and judge each when left, moved and repaired: `python -m tests.proof.hunts [N]`.

Of N drawn wrong programs, 100 by default, each must fail as it is, and with another fault in its place. Repaired in
three ways it must pass: as the variant it was made from, as another accepted variant, and as the reference solution.
Making the programs takes about a minute for an exercise, once.
"""

import os
import random
import sys
from pathlib import Path

from autograder.authoring.programs import WHOLE, grade_each
from autograder.cli.screen import show_count, show_programs
from autograder.course import Exercise, Hunt, HuntFile, load_suite, read_course
from autograder.practice import programs_for
from autograder.submission import Submission, digest

REPOSITORY = Path(__file__).parents[2]
SEED = 2017


def cases(programs: HuntFile, hunt: Hunt, solution: str, generator: random.Random) -> dict[str, tuple[str, bool]]:
    """Return the programs to judge for one hunt, and whether each must pass."""
    others = [name for name in programs.right if name != hunt.variant and not name.startswith(WHOLE)]
    moved = [other for other in programs.hunts if other.variant == hunt.variant and other.lines != hunt.lines]
    found = {
        "left": (hunt.source, False),
        "repaired as its variant": (programs.right[hunt.variant], True),
        "repaired as the solution": (solution, True),
    }
    if others:
        found["repaired as another variant"] = (programs.right[generator.choice(others)], True)
    if moved:
        found["moved"] = (generator.choice(moved).source, False)
    return found


def main() -> int:
    """Print each wrong verdict, and how many were right."""
    number = int(sys.argv[1]) if sys.argv[1:] else 100
    course, generator = read_course(REPOSITORY), random.Random(SEED)
    files = [(exercise, programs_for(course, exercise, show_programs)) for exercise in course.exercises[:14]]
    drawable = [(exercise, made, hunt) for exercise, made in files for hunt in made.hunts]
    programs: list[tuple[Submission, list[Exercise]]] = []
    expected: list[tuple[str, bool]] = []
    for exercise, made, hunt in generator.sample(drawable, min(number, len(drawable))):
        needed = course.with_needs(exercise)
        base = {other.file: (course.solutions_dir / other.file).read_bytes() for other in needed}
        solution = base[exercise.file].decode("utf-8")
        for name, (source, passes) in cases(made, hunt, solution, generator).items():
            sources = {**base, exercise.file: source.encode()}
            programs.append((Submission("hunt", course.files, sources, digest(sources), ()), [exercise]))
            expected.append((f"{hunt.id} {hunt.misconception}, {name}", passes))
    suite, jobs = load_suite(course), os.cpu_count() or 1

    def on_progress(done: int, total: int) -> None:
        show_count(f"programs judged: {done} of {total}", last=done == total)

    reports = grade_each(suite, programs, seed=course.seed, jobs=jobs, cache=None, on_progress=on_progress)
    wrong = [
        f"{what}: {report.exercises[0].status}"
        for (what, passes), report in zip(expected, reports, strict=True)
        if (report.statuses == {"pass"}) != passes
    ]
    print("\n".join([*wrong, f"{len(expected) - len(wrong)} of {len(expected)} verdicts on hunts are right"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
