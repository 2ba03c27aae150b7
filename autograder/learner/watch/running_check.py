"""One check of an exercise, in a thread and a process of its own, that can be cancelled at any time."""

import threading
from collections.abc import Callable

from autograder.course import Exercise
from autograder.judge.grader import Grader
from autograder.judge.shapes import Shapes
from autograder.results import Report
from autograder.runner.runner import Cancelled, Runner
from autograder.submission import Submission


class RunningCheck:
    """A check that has started. Its thread calls `on_news` when the verdict is there, and when it is over.

    Between the two it proves where the mistake is, which may take a second or two. `shapes` has the shape of the last
    tensor that each line made, if `with_shapes`.
    """

    def __init__(
        self,
        grader: Grader,
        runner: Runner,
        submission: Submission,
        exercise: Exercise,
        on_news: Callable[[], None],
        *,
        with_shapes: bool = False,
    ) -> None:
        self.grader = grader
        self.runner = runner
        self.submission = submission
        self.exercise = exercise
        self.on_news = on_news
        self.with_shapes = with_shapes
        self.shapes: Shapes = {}
        self.over = False
        self.verdict: Report | None = None
        self._report: Report | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._check, name="check", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether its worker may still run."""
        return self._thread.is_alive()

    @property
    def report(self) -> Report:
        """The report, once it is over. Raises the error of the check, such as `EnvironmentProblem`."""
        if self._report is None:
            raise self._error or Cancelled
        return self._report

    def activity(self) -> str:
        """Return in a few words what it is doing."""
        at = self.runner.at
        if at is None:
            return "comparing with what is expected" if self.runner.ready else "starting a worker"
        exercise, key = at
        if key is None:
            return f"reading {exercise}.py"
        checks = [check.id for check in self.grader.suite.checks[exercise]]
        if key[0] not in checks:
            return f"drawing {key[0].replace('_', ' ')}"
        of = "" if exercise == self.exercise.id else f" of {exercise}"
        return f"running check {checks.index(key[0]) + 1}{of}: {key[0].replace('_', ' ')}"

    def cancel(self) -> None:
        """Cancel it. Its worker is dead when this returns, or soon after."""
        self.runner.cancel()

    def join(self) -> None:
        """Wait until its worker has ended."""
        self._thread.join()

    def _check(self) -> None:
        try:
            self._report = self.grader.report(self.submission, [self.exercise], self.runner, self._announce)
            if self.with_shapes:
                self.shapes = self.grader.shapes(self.submission, self._report.exercises[0], self.runner)
        except BaseException as error:
            self._error = error
        self.over = True
        self.on_news()
        self.runner.close()

    def _announce(self, verdict: Report) -> None:
        self.verdict = verdict
        self.on_news()
