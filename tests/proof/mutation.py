"""Prove that the checks catch unforeseen faults: change every node of the solutions, and check each mutant.

A mutant that passes every check is a survivor. `equivalent_mutants.toml` lists those that no check can catch, each with
the reason. The proof fails for a survivor that is not listed, and for a listed one that is caught or does not exist.

    python -m tests.proof.mutation [--jobs N] [exercise numbers]
"""

import argparse
import difflib
import os
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from autograder.answer_key.keys import Keys
from autograder.answer_key.model import AnswerKey
from autograder.comparison.compare import passes
from autograder.course import Exercise, read_course
from autograder.course.names import resolve_exercise
from autograder.course.suite import Suite, load_suite
from autograder.runner.runner import Runner
from tests.proof.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
LISTED = Path(__file__).with_name("equivalent_mutants.toml")
CPU_SECONDS = 1  # a right check takes less than a tenth of it; a mutant that loops for ever should cost little

FIRST = 3  # so many checks are run on a mutant before all the others: they catch about nine of ten
NOT_LEARNING = {"ex04_masks", "ex12_batching", "ex14_generation"}
"""Exercises whose results are masks and ids: they have no gradient."""

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Result:
    """The mutants of an exercise: all of them, and those that pass every check."""

    exercise: Exercise
    mutants: tuple[Mutant, ...]
    survivors: tuple[Mutant, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check every mutant of the solutions.")
    parser.add_argument("exercises", nargs="*", help="exercise numbers or names; without any, all of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    course = read_course(ROOT)
    course = replace(course, limits=replace(course.limits, cpu_seconds=CPU_SECONDS))
    named = {resolve_exercise(course, word).id for word in options.exercises}
    suite = load_suite(course, [exercise for exercise in course.exercises if not named or exercise.id in named])
    listed = read_listed(LISTED)
    started, failed, caught, total = time.monotonic(), 0, 0, 0
    with ExitStack() as stack:
        runners: SimpleQueue[Runner] = SimpleQueue()
        for _ in range(options.jobs):
            runners.put(stack.enter_context(Runner(suite, seed=course.seed, shared=True)))
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        keys = stack.enter_context(Keys(suite, seed=course.seed))
        for exercise in suite.exercises:
            result = run_mutants(suite, exercise, keys.reference(exercise), runners, pool)
            problems = list(problems_of(result, listed.get(exercise.id, {})))
            count = len(result.mutants)
            caught, total, failed = caught + count - len(result.survivors), total + count, failed + len(problems)
            print(f"{exercise.id}: {count} mutants, {count - len(result.survivors)} caught, ", end="")
            print(f"{len(result.survivors)} survivors", *problems, sep="\n", flush=True)
    print(f"{total} mutants, {caught} caught, {failed} problems, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


def read_listed(file: Path) -> dict[str, dict[Key, str]]:
    """Return the listed survivors of each exercise, with the reason why no check can catch them."""
    found: dict[str, dict[Key, str]] = {}
    for exercise, entries in tomllib.loads(file.read_text("utf-8")).items():
        for entry in entries:
            for becomes in entry["becomes"]:
                found.setdefault(exercise, {})[entry["in"], entry["line"], becomes] = entry["reason"]
    return found


def run_mutants(
    suite: Suite, exercise: Exercise, key: AnswerKey, runners: "SimpleQueue[Runner]", pool: ThreadPoolExecutor
) -> Result:
    """Check all mutants of a solution, several at once."""
    course = suite.course
    solutions = {need.file: (course.solutions_dir / need.file).read_bytes() for need in course.with_needs(exercise)}
    learns = exercise.id not in NOT_LEARNING
    mutants = tuple(mutants_of(solutions[exercise.file].decode("utf-8"), learns=learns))

    deadly: Counter[str] = Counter()

    def survives(mutant: Mutant) -> bool:
        runner = runners.get()
        try:
            sources = {**solutions, exercise.file: mutant.source.encode()}
            return passes_all(suite, exercise, key, runner, sources, deadly)
        finally:
            runners.put(runner)

    survivors = []
    for done, (mutant, survived) in enumerate(zip(mutants, pool.map(survives, mutants), strict=True), 1):
        if survived:
            survivors.append(mutant)
        if sys.stderr.isatty():
            print(f"\r{exercise.id}: {done} of {len(mutants)}", end="\r", file=sys.stderr, flush=True)
    return Result(exercise, mutants, tuple(survivors))


def passes_all(
    suite: Suite,
    exercise: Exercise,
    key: AnswerKey,
    runner: Runner,
    sources: Mapping[str, bytes],
    deadly: "Counter[str]",
) -> bool:
    """Return whether a program passes every check; checks that caught most programs run first, to save time."""
    judges = {check.id: check.judge for check in suite.checks[exercise.id]}
    first = {check for check, _ in deadly.most_common(FIRST)}
    plan = suite.plan([exercise])[exercise.id]
    for trials in ([at for at in plan if at[0] in first], [at for at in plan if at[0] not in first]):
        if not trials:
            continue
        run = runner.run(sources, {exercise.id: trials})
        survey = run.surveys.get(exercise.id)
        if survey is None or survey.forbidden:
            return False
        outcomes = run.outcomes[exercise.id]
        wrong = {at[0] for at, outcome in outcomes.items() if not passes(outcome, key.reference[at], judges[at[0]])}
        if wrong:
            deadly.update(wrong)
            return False
    return True


def problems_of(result: Result, listed: Mapping[Key, str]) -> Iterator[str]:
    """Yield a sentence for each survivor without a reason, and for each reason without a survivor."""
    for mutant in result.survivors:
        if mutant.key not in listed:
            place = f"{result.exercise.file}:{mutant.line} in {mutant.where}"
            yield f"  {place}: passes every check, and has no reason to\n{_diff(mutant.was, mutant.becomes)}"
    survived, made = {survivor.key for survivor in result.survivors}, {mutant.key for mutant in result.mutants}
    for key in listed:
        if key not in survived:
            what = "is caught" if key in made else "does not exist"
            yield f"  listed, but it {what}: in {key[0]}\n{_diff(key[1], key[2])}"


def _diff(was: str, becomes: str) -> str:
    lines = difflib.ndiff(was.splitlines(), becomes.splitlines())
    return "\n".join(f"    {line}" for line in lines if not line.startswith("?"))


if __name__ == "__main__":
    sys.exit(main())
