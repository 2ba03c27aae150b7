"""Run many trusted programs of the course, several at a time, with workers that are reused."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
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


@contextmanager
def pool_of(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Return a pool of `jobs` threads. After an error, nothing that waits in it begins."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run_in_workers(
    pool: Executor,
    suite: Suite,
    work: Callable[[Item, Runner], Result],
    items: Iterable[Item],
    *,
    seed: int,
    device: str = "cpu",
) -> Iterator[Result]:
    """Yield the result of `work` for each item, in order; as many at a time as the pool has threads.

    Work begins while `items` still come. These programs are trusted, so a worker may go on from one to the next.
    """
    free: deque[Runner] = deque()
    made: list[Runner] = []

    def run(item: Item) -> Result:
        try:
            runner = free.pop()
        except IndexError:
            runner = Runner(suite, seed=seed, device=device, shared=True)
            made.append(runner)
        try:
            return work(item, runner)
        finally:
            free.append(runner)

    futures: deque[Future[Result]] = deque()
    try:
        futures.extend(pool.submit(run, item) for item in items)
        while futures:
            yield futures[0].result()
            futures.popleft()
    finally:
        wait([future for future in futures if not future.cancel()])  # one that runs still uses its worker
        for runner in made:
            runner.close()


def with_keys(
    pool: Executor,
    suite: Suite,
    work: Callable[[Exercise, Keys], Result],
    exercises: Sequence[Exercise],
    *,
    seed: int,
    device: str = "cpu",
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> Iterator[Result]:
    """Yield what `work` returns of each exercise and the answer keys, in order.

    `on_progress(done, all)` is called before each.
    """

    def worked(exercise: Exercise) -> Result:
        with Keys(suite, seed=seed, device=device, cache=cache) as own:
            return work(exercise, own)

    for done, result in enumerate(pool.map(worked, exercises), 1):
        on_progress(done, len(exercises))
        yield result


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

        with pool_of(jobs) as pool:
            for done, report in enumerate(run_in_workers(pool, suite, grade, programs, seed=seed), 1):
                on_progress(done, len(programs))
                yield report


def _with_needs(suite: Suite) -> Suite:
    """Add the exercises that those of a suite need: whether they are right decides what a mistake costs."""
    course = suite.course
    needed = {other.id for exercise in suite.exercises for other in course.with_needs(exercise)}
    if needed <= suite.checks.keys():
        return suite
    return load_suite(course, [exercise for exercise in course.exercises if exercise.id in needed])
