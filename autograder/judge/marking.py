"""One submission, exercise by exercise: with its own parts first, then with stand-ins for the parts that are wrong.

So one mistake costs its points once: an exercise that is right by itself is not lost to an earlier one it builds on.
"""

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import replace

from autograder.course import Exercise
from autograder.judge.outcomes import Died, Fault
from autograder.judge.runner import GraderProblem, Run, Runner
from autograder.judge.suite import Suite
from autograder.judge.verdict import Verdicts
from autograder.report import ExerciseResult
from autograder.submission import Submission
from autograder.submission.submission import digest

FindVerdicts = Callable[[Exercise], Verdicts]

Remembered = MutableMapping[tuple[str, str], tuple[ExerciseResult, bool]]
"""What came of an exercise, and whether its file can be imported, by its id and the digest of all files it needs."""


class Marking:
    """The results of one submission, made as they are asked for. The runner keeps its worker from run to run.

    Results of earlier exercises are taken from `remembered`, and put there for the next submission.
    """

    def __init__(
        self,
        suite: Suite,
        submission: Submission,
        runner: Runner,
        verdicts: FindVerdicts,
        remembered: Remembered | None = None,
    ) -> None:
        self.suite = suite
        self.submission = submission
        self.runner = runner
        self.verdicts = verdicts
        self.remembered = remembered
        self.log = ""
        self._own: dict[str, ExerciseResult] = {}
        self._loads: dict[str, bool] = {}
        self._settled: dict[str, ExerciseResult] = {}

    def run_own(self, exercises: Iterable[Exercise]) -> None:
        """Run exercises as they were handed in, all in one go."""
        wanted = [each for each in exercises if each.id not in self._own and each.file in self.submission.sources]
        run = self._run(wanted, ())
        for exercise in wanted:
            self._own[exercise.id] = self._judge(exercise, run)
            first = next(iter(run.outcomes.get(exercise.id, {}).values()), None)
            self._loads[exercise.id] = not (isinstance(first, Fault | Died) and first.at_import)

    def result(self, exercise: Exercise) -> ExerciseResult:
        """Return the result of an exercise, by the better of its own parts and stand-ins for the wrong ones."""
        if exercise.id not in self._settled:
            self._settled[exercise.id] = self._settle(exercise)
        return self._settled[exercise.id]

    def _settle(self, exercise: Exercise) -> ExerciseResult:
        if exercise.file not in self.submission.sources:
            return self.verdicts(exercise).missing()
        self.run_own([exercise])
        own = self._own[exercise.id]
        if own.status in ("pass", "grader_error") or not exercise.needs:
            return own
        needed = self.suite.course.with_needs(exercise)[:-1]
        earlier = [each for each in needed if each.file in self.suite.stand_ins]
        self._recall(earlier)
        self.run_own(each for each in earlier if each.id not in self._settled)
        wrong = [each for each in earlier if self.result(each).status != "pass"]
        self._keep(earlier)
        if not wrong:
            return own
        helped = self._judge(exercise, self._run([exercise], wrong))
        if helped.score < own.score:
            return own
        return replace(helped, parts="stand-in", stood_in=tuple(each.id for each in wrong))

    def _recall(self, earlier: Iterable[Exercise]) -> None:
        for each in earlier:
            known = self.remembered.get((each.id, self._digest(each))) if self.remembered is not None else None
            if known is not None and each.id not in self._own:
                self._settled[each.id], self._loads[each.id] = known

    def _keep(self, earlier: Iterable[Exercise]) -> None:
        """Remember what the same files give every time; a time-out may be the machine's fault."""
        for each in earlier:
            result = self._settled.get(each.id)
            if self.remembered is not None and result is not None and result.status in ("pass", "fail", "not_started"):
                self.remembered[each.id, self._digest(each)] = result, self._loads.get(each.id, False)

    def _digest(self, exercise: Exercise) -> str:
        sources, needed = self.submission.sources, self.suite.course.with_needs(exercise)
        return digest({each.file: sources[each.file] for each in needed if each.file in sources})

    def _run(self, exercises: Iterable[Exercise], wrong: Iterable[Exercise]) -> Run:
        """Run exercises with stand-ins for the wrong ones, whose other names stay if they can be imported at all."""
        plan = self.suite.plan(exercises)
        if not plan:
            return Run()
        broken = {each.file for each in wrong if not self._loads.get(each.id, False)}
        sources = {file: source for file, source in self.submission.sources.items() if file not in broken}
        stand_ins = {each.file: self.suite.stand_ins[each.file] for each in wrong}
        try:
            run = self.runner.run(sources, plan, stand_ins=stand_ins)
        except GraderProblem as problem:
            return Run(problem=str(problem))
        self.log = self.log or run.log
        return run

    def _judge(self, exercise: Exercise, run: Run) -> ExerciseResult:
        """Whatever goes wrong on this side of the pipe is the kit's own fault, and must not cost points unseen."""
        verdicts = self.verdicts(exercise)
        try:
            if run.problem is not None:
                raise GraderProblem(run.problem)
            source = self.submission.sources[exercise.file]
            return verdicts.judge(run.outcomes[exercise.id], run.surveys.get(exercise.id), source)
        except Exception as error:
            text = str(error) if isinstance(error, GraderProblem) else f"{type(error).__name__}: {error}"
            return verdicts.grader_error(text)
