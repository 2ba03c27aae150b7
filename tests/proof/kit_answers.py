"""Submit every file of a kit as every exercise, in the sandbox, and print the points it earns.

`python -m tests.proof.kit_answers` takes minutes; `--only PART` tries the attempts with that part in their name.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from autograder.answer_key import AnswerKey, Keys
from autograder.course import Suite, load_suite, read_course
from autograder.runner import Runner
from autograder.sandbox import Isolation, open_isolation
from tests.support.kit_attempts import Attempt, answers, brief, by_empty_programs, earned, every_attempt

SEED = 5
JOBS = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of the name of an attempt")
    only = parser.parse_args().only
    started = time.monotonic()
    course = read_course(Path(__file__).parents[2])
    suite = brief(load_suite(course))
    attempts = [attempt for attempt in every_attempt(course) if only in attempt.name]
    with Keys(suite, seed=SEED) as keys:
        known = {exercise.id: keys.reference(exercise) for exercise in suite.exercises}
    # Confined: among the functions of the engine are some that kill, delete and write.
    with open_isolation(Runner(suite, seed=SEED).warm_up(), JOBS) as isolation:
        points, found = _try_all(suite, attempts, known, isolation)
    for name, more in sorted(found.items()):
        print(f"{name}: {more}")
    seconds = time.monotonic() - started
    print(f"{len(attempts)} submissions, {len(found)} with answers; empty programs earn {points}; {seconds:.0f} s")
    return 1 if found else 0


def _try_all(
    suite: Suite, attempts: list[Attempt], known: dict[str, AnswerKey], isolation: Isolation
) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Return what empty programs earn, and what each attempt earns beyond them."""

    def runner() -> Runner:
        return Runner(suite, seed=SEED, shared=True, start=isolation.start)

    with runner() as own:
        empty = by_empty_programs(suite, own, lambda exercise: known[exercise.id])

    def attempted(attempt: Attempt) -> tuple[str, dict[str, int]]:
        with runner() as own:
            return attempt.name, answers(earned(suite, own, attempt, lambda exercise: known[exercise.id]), empty)

    with ThreadPoolExecutor(JOBS) as pool:
        found = dict(pool.map(attempted, attempts))
    return empty, {name: points for name, points in found.items() if points}


if __name__ == "__main__":
    sys.exit(main())
