"""Run many trusted programs of the course, several at a time, with workers that are reused."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from autograder.answer_key.keys import Keys
from autograder.course import Exercise
from autograder.course.suite import Suite, load_suite
from autograder.judge.budget import Budget
from autograder.judge.grader import Grader
from autograder.results import Report
from autograder.runner.runner import Runner
from autograder.submission import Submission

OnProgress = Callable[[int, int], None]
"""Takes the number of what is finished and of all: programs, or answer keys."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_in_workers(
    suite: Suite,
    work: Callable[[Item, Runner], Result],
    items: Iterable[Item],
    *,
    seed: int,
    jobs: int,
    device: str = "cpu",
) -> Iterator[Result]:
    """Yield the result of `work` for each item, in order; `jobs` at a time, each with a worker of its own."""
    runners: SimpleQueue[Runner] = SimpleQueue()

    def run(item: Item) -> Result:
        runner = runners.get()
        try:
            return work(item, runner)
        finally:
            runners.put(runner)

    with ExitStack() as stack:
        for _ in range(jobs):
            # These programs are trusted, so a worker may go on from one to the next.
            runners.put(stack.enter_context(Runner(suite, seed=seed, device=device, shared=True)))
        yield from stack.enter_context(ThreadPoolExecutor(jobs)).map(run, items)


def with_keys(
    suite: Suite,
    work: Callable[[Exercise, Keys], Result],
    exercises: Sequence[Exercise],
    *,
    seed: int,
    jobs: int,
    device: str = "cpu",
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Iterator[Result]:
    """Yield what `work` returns of each exercise and the answer keys, in order; `jobs` at a time.

    `on_progress(done, all)` is called before each. The first error ends the iteration, and no more work begins.
    """

    def worked(exercise: Exercise) -> Result:
        with Keys(suite, seed=seed, device=device, cache=cache) as own:
            return work(exercise, own)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for done, result in enumerate(pool.map(worked, exercises), 1):
                on_progress(done, len(exercises))
                yield result
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def grade_each(
    suite: Suite,
    programs: Sequence[tuple[Submission, Sequence[Exercise]]],
    *,
    seed: int,
    jobs: int,
    cache: Path | None,
    on_progress: OnProgress,
    budget: Budget | None = None,
) -> Iterator[Report]:
    """Yield the report of each submission for its exercises; with a `budget`, as a self-check gives it."""
    suite = _with_needs(suite)
    with Grader(suite, seed=seed, cache=cache, finders=jobs, budget=budget, evidence=budget is not None) as grader:

        def grade(program: tuple[Submission, Sequence[Exercise]], runner: Runner) -> Report:
            return grader.report(*program, runner)

        for done, report in enumerate(run_in_workers(suite, grade, programs, seed=seed, jobs=jobs), 1):
            on_progress(done, len(programs))
            yield report


def _with_needs(suite: Suite) -> Suite:
    """Add the exercises that those of a suite need: whether they are right decides what a mistake costs."""
    course = suite.course
    needed = {other.id for exercise in suite.exercises for other in course.with_needs(exercise)}
    if needed <= suite.checks.keys():
        return suite
    return load_suite(course, [exercise for exercise in course.exercises if exercise.id in needed])
