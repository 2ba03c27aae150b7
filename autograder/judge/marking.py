"""One submission, exercise by exercise: with its own parts first, then with stand-ins for the parts that are wrong.

So one mistake costs its points once: an exercise that is right by itself is not lost to an earlier one it builds on.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from autograder.course import Exercise
from autograder.judge.outcomes import Died, Fault, Key
from autograder.judge.pictures import drawn, plan_of
from autograder.judge.runner import EnvironmentProblem, GraderProblem, Plan, Run, Runner
from autograder.judge.suite import Suite
from autograder.judge.traces import Trace
from autograder.judge.verdict import Verdicts
from autograder.report import ExerciseResult
from autograder.submission import Submission

FindVerdicts = Callable[[Exercise], Verdicts]
FindTraces = Callable[[Exercise], Mapping[Key, Trace]]
Judged = tuple[ExerciseResult, Verdicts]


class Marking:
    """The results of one submission, made as they are asked for. The runner keeps its worker from run to run."""

    def __init__(
        self, suite: Suite, submission: Submission, runner: Runner, verdicts: FindVerdicts, traces: FindTraces
    ) -> None:
        self.suite = suite
        self.submission = submission
        self.runner = runner
        self.verdicts = verdicts
        self.traces = traces
        self.log = ""
        self._own: dict[str, Judged] = {}
        self._loads: dict[str, bool] = {}
        self._settled: dict[str, ExerciseResult] = {}

    def run_own(self, exercises: Iterable[Exercise]) -> None:
        """Run exercises as they were handed in, all in one go."""
        wanted = [each for each in exercises if each.id not in self._own and each.file in self.submission.sources]
        run = self._run(self.suite.plan(wanted), ())
        for exercise in wanted:
            self._own[exercise.id] = self._judge(exercise, run)
            first = next(iter(run.outcomes.get(exercise.id, {}).values()), None)
            self._loads[exercise.id] = not (isinstance(first, Fault | Died) and first.at_import)

    def result(self, exercise: Exercise) -> ExerciseResult:
        """Return the result of an exercise, by the better of its own parts and stand-ins for the wrong ones."""
        if exercise.id not in self._settled:
            self._settled[exercise.id] = self._located(exercise, *self._settle(exercise))
        return self._settled[exercise.id]

    def shown(self, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
        """Return the result of an exercise with what was built, and with its pictures, where it passes.

        Ask for it when every result that matters is known: so nothing that a picture does can change one.
        """
        if result.status != "pass":
            return result
        wrong = [self.suite.course.exercise(each) for each in result.stood_in]
        drawings = self.suite.pictures.get(exercise.id, ())
        try:
            run = self._run(plan_of(exercise, drawings), wrong, pictures=True)
        except EnvironmentProblem:
            run = Run()
        return replace(result, built=exercise.built, pictures=drawn(drawings, run.outcomes.get(exercise.id, {})))

    def _settle(self, exercise: Exercise) -> Judged:
        if exercise.file not in self.submission.sources:
            verdicts = self.verdicts(exercise)
            return verdicts.missing(), verdicts
        self.run_own([exercise])
        own, verdicts = self._own[exercise.id]
        if own.status in ("pass", "grader_error") or not exercise.needs:
            return own, verdicts
        wrong = self._wrong_before(exercise)
        if not wrong:
            return own, verdicts
        helped, verdicts_helped = self._judge(exercise, self._run(self.suite.plan([exercise]), wrong))
        if helped.score < own.score:
            return own, verdicts
        return replace(helped, parts="stand-in", stood_in=tuple(each.id for each in wrong)), verdicts_helped

    def _wrong_before(self, exercise: Exercise) -> list[Exercise]:
        """Return the earlier exercises that there are stand-ins for, and that do not pass."""
        earlier = self.suite.course.with_needs(exercise)[:-1]
        self.run_own(earlier)
        return [each for each in earlier if each.file in self.suite.stand_ins and self.result(each).status != "pass"]

    def _located(self, exercise: Exercise, result: ExerciseResult, verdicts: Verdicts) -> ExerciseResult:
        """Run what failed once more, told what it computes on its way, and find where it goes astray.

        That is help, not a verdict: where it cannot be had, the result stays as it is.
        """
        if result.status not in ("fail", "error"):
            return result
        keys = verdicts.to_trace(result)
        wrong = [self.suite.course.exercise(each) for each in result.stood_in]
        run = self._run({exercise.id: keys}, wrong, trace=True) if keys else Run()
        try:
            references = self.traces(exercise) if keys else {}
            return verdicts.locate(result, run.traces.get(exercise.id, {}), references)
        except GraderProblem:
            return result

    def _run(self, plan: Plan, wrong: Iterable[Exercise], *, trace: bool = False, pictures: bool = False) -> Run:
        """Run a plan with stand-ins for the wrong exercises, whose other names stay if they can be imported at all."""
        if not plan:
            return Run()
        broken = {each.file for each in wrong if not self._loads.get(each.id, False)}
        sources = {file: source for file, source in self.submission.sources.items() if file not in broken}
        stand_ins = {each.file: self.suite.stand_ins[each.file] for each in wrong}
        try:
            run = self.runner.run(sources, plan, stand_ins=stand_ins, trace=trace, pictures=pictures)
        except GraderProblem as problem:
            return Run(problem=str(problem))
        self.log = self.log or run.log
        return run

    def _judge(self, exercise: Exercise, run: Run) -> Judged:
        """Whatever goes wrong on this side of the pipe is the kit's own fault, and must not cost points unseen."""
        verdicts = self.verdicts(exercise)
        try:
            if run.problem is not None:
                raise GraderProblem(run.problem)
            source = self.submission.sources[exercise.file]
            return verdicts.judge(run.outcomes[exercise.id], run.surveys.get(exercise.id), source), verdicts
        except Exception as error:
            text = str(error) if isinstance(error, GraderProblem) else f"{type(error).__name__}: {error}"
            return verdicts.grader_error(text), verdicts
