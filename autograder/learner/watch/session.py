"""The session: looks at the files, checks them at every save, and does what the keys ask for."""

import time
from collections.abc import Callable, Mapping, Sequence

from autograder.course import Course, Exercise
from autograder.judge.grader import Grader
from autograder.learner.progress import Progress, read_progress
from autograder.learner.watch.checking import Checking
from autograder.learner.watch.keyboard import Keyboard
from autograder.learner.watch.screen import KEYS, Screen
from autograder.learner.watch.syntax import syntax_fault, syntax_result
from autograder.learner.watch.work import Work
from autograder.results import ExerciseResult, Report
from autograder.runner.runner import Runner
from autograder.submission import SubmissionError
from autograder.submission.own import read_own

LOOK_SECONDS = 0.04
QUIET_SECONDS = 0.15
"""A file that does not parse may be half written: so long without a change, and it is taken as it is."""

TELL_SECONDS = 1.0

Remember = Callable[[Course, Report, Mapping[str, bytes], str], Progress]
RunCommand = Callable[..., None]


class Session:
    """Watches one exercise after another, until `q`. All output is made by the thread that calls `run`."""

    def __init__(
        self,
        grader: Grader,
        screen: Screen,
        keyboard: Keyboard,
        remember: Remember,
        run_command: RunCommand,
    ) -> None:
        self.grader = grader
        self.suite = grader.suite
        self.course = grader.suite.course
        self.screen = screen
        self.keyboard = keyboard
        self.remember = remember
        self.run_command = run_command
        self.left = False
        self.ended_by: int | None = None
        self._spare: Runner | None = None
        self._checking: Checking | None = None
        self._result: ExerciseResult | None = None
        self._ending: list[Checking] = []
        self._due = False

    def run(self, exercise: Exercise) -> None:
        """Go on until somebody quits. Raises `EnvironmentProblem` when this machine cannot run checks."""
        self._prepare()
        self._turn_to(exercise)
        while not self.left:
            for key in self.keyboard.wait(LOOK_SECONDS):
                self._press(key)
            self._look()
            if self._due:
                self._start_when_settled()
            if self._checking is not None:
                self._attend(self._checking)

    def leave(self, ended_by: int | None = None) -> None:
        """End the session soon: on a key, or on a signal."""
        self.left = True
        self.ended_by = self.ended_by or ended_by

    def close(self) -> None:
        """Leave no worker behind, and wait for nothing else."""
        self.grader.cancel()
        self._give_up()
        if self._spare is not None:
            self._spare.close()
        for each in self._ending:
            each.join()

    def _turn_to(self, exercise: Exercise) -> None:
        needed = self.course.with_needs(exercise)[:-1]
        self.exercise = exercise
        self._result = None
        self.work = Work(self.course, [exercise, *needed])
        used = [self.work[each.file].name for each in needed]
        self.screen.opening(self.work[exercise.file].name, used, read_progress(self.course).of(exercise))
        self._tell_beside([self.work[exercise.file].beside])
        self.grader.find_keys([exercise, *self.course.with_needs(exercise)])
        self.grader.find_keys([exercise], with_misconceptions=True)
        self.grader.release()
        self._ask()

    def _prepare(self) -> None:
        """Keep one worker warm: it has loaded torch, and waits."""
        if self._spare is None:
            self._spare = Runner(self.suite, seed=self.grader.seed, device=self.grader.device, shared=True)
            self._spare.prepare()

    def _look(self) -> None:
        changed = self.work.changed()
        if not changed:
            return
        again = self._give_up()
        if not self._due:
            self.screen.seen(changed, again=again)
            self._tell_beside(changed)
        self._ask()

    def _tell_beside(self, notebooks: Sequence[str | None]) -> None:
        """Say of those notebooks which of them do not count, though they hold work."""
        for each in map(self.work.__getitem__, self.work.names):
            if each.beside is not None and each.beside in notebooks:
                self.screen.say(f"{each.name} counts, not {each.beside}: both hold work")

    def _ask(self) -> None:
        """Have the exercise checked as soon as its files can be."""
        if not self._due:
            self._asked = time.monotonic()
        self._due = True
        self._changed = time.monotonic()

    def _give_up(self) -> bool:
        """Give up the check that runs, if one does."""
        checking, self._checking = self._checking, None
        if checking is None:
            return False
        checking.cancel()
        self._let_end(checking)
        return True

    def _let_end(self, checking: Checking) -> None:
        self._ending = [*(each for each in self._ending if each.alive), checking]

    def _start_when_settled(self) -> None:
        quiet = time.monotonic() - self._changed >= QUIET_SECONDS
        if not quiet and not all(map(self._is_whole, self.work.names)):
            return
        self._due = False
        file = self.exercise.file
        counted = self.work[file]
        if counted.problem is not None:
            self.screen.waiting(counted.name, counted.problem)
        elif fault := syntax_fault(counted.source, file):
            result = syntax_result(self.suite, self.exercise, self.grader.seed, fault, counted.source, counted.cells)
            self._show(
                Report(self.course.title, {}, self.grader.suite_digest, "cpu", self.grader.isolation.name, (result,))
            )
        else:
            self._start()

    def _is_whole(self, file: str) -> bool:
        """Whether a file can be what its author meant: an editor may have begun to write it."""
        counted = self.work[file]
        return counted.problem is None and bool(counted.source.strip()) and not syntax_fault(counted.source, file)

    def _start(self) -> None:
        try:
            submission = read_own(self.course)
        except SubmissionError as error:
            self.screen.say(f"{error}; waiting until it can be read")
            return
        self._prepare()
        assert self._spare is not None
        runner, self._spare = self._spare, None
        self._told_at = self._asked
        self._checking = Checking(self.grader, runner, submission, self.exercise, self.keyboard.wake)

    def _attend(self, checking: Checking) -> None:
        now = time.monotonic()
        if checking.over:
            self._checking = None
            self._let_end(checking)
            self._show(checking.report)
            self._prepare()
        elif now - self._told_at >= TELL_SECONDS:
            self._told_at += TELL_SECONDS
            self.screen.running(checking.doing(), self._told_at - self._asked)
            if checking.runner.ready:
                self._prepare()

    def _show(self, report: Report) -> None:
        counted = {name: self.work[name] for name in self.work.names}
        sources = {name: each.source for name, each in counted.items() if each.problem is None}
        progress = self.remember(self.course, report, sources, "watch")
        self._result = report.exercises[0]
        took = time.monotonic() - self._asked
        self.screen.verdict(self._result, counted[self.exercise.file].name, progress, took, report.log)

    def _press(self, key: str) -> None:
        number = self.exercise.number
        match key.lower():
            case "h":
                self.run_command("hint", number)
            case "w":
                self._why()
            case "d":
                self.run_command("diff", number)
            case "l":
                self.run_command("list")
            case "n":
                self._next()
            case "r":
                self._give_up()
                self.grader.forget()
                self.screen.asked()
                self._ask()
            case "q" | "\x04":
                self.leave()
            case "?" | "\n":
                self.screen.say(f"Keys: {', '.join(f'{each} {word}' for each, word in KEYS.items())}")

    def _why(self) -> None:
        failure = self._result.first_failure if self._result is not None else None
        finding = failure.finding if failure is not None else None
        if finding is None or finding.kind != "misconception":
            self.screen.say("w explains the misconception behind a failure; none was found")
        else:
            self.run_command("why", finding.id)

    def _next(self) -> None:
        progress = read_progress(self.course)
        following = progress.current(self.course)
        if progress.of(self.exercise).status != "pass":
            self.screen.say(f"n goes on to the next exercise once {self.exercise.title} passes")
        elif following is None:
            self.screen.say("Every exercise passes: there is none to go on to")
        else:
            self._give_up()
            self._due = False
            self._turn_to(following)
