"""Grades many programs of the course's own, several at once, each worker going on from program to program."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.judge.grader import Grader
from autograder.results import Report
from autograder.runner.runner import Runner
from autograder.submission import Submission

Told = Callable[[int, int], None]


def grade_each(
    suite: Suite,
    programs: Sequence[tuple[Submission, Sequence[Exercise]]],
    *,
    seed: int,
    jobs: int,
    cache: Path | None,
    on_progress: Told,
) -> Iterator[Report]:
    """Yield the report on each submission in the exercises named beside it; `on_progress` gets how many are done."""
    runners: SimpleQueue[Runner] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(jobs):
            runners.put(stack.enter_context(Runner(suite, seed=seed, shared=True)))
        grader = stack.enter_context(Grader(suite, seed=seed, cache=cache, finders=jobs))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))

        def grade(program: tuple[Submission, Sequence[Exercise]]) -> Report:
            runner = runners.get()
            try:
                return grader.report(*program, runner)
            finally:
                runners.put(runner)

        for done, report in enumerate(pool.map(grade, programs), 1):
            on_progress(done, len(programs))
            yield report
