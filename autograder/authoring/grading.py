"""Grade many trusted programs of the course, several at a time, with workers that are reused."""

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

OnProgress = Callable[[int, int], None]
"""Takes the number of finished programs and of all programs."""


def grade_each(
    suite: Suite,
    programs: Sequence[tuple[Submission, Sequence[Exercise]]],
    *,
    seed: int,
    jobs: int,
    cache: Path | None,
    on_progress: OnProgress,
) -> Iterator[Report]:
    """Yield the report of each submission for its exercises."""
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
