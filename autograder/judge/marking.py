"""Marks one submission, exercise by exercise: with its own parts first, then with reference parts for wrong ones.

So one mistake costs its points once: an exercise that is right by itself is not lost to an earlier one it builds on.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from autograder.checks import Key
from autograder.course import Exercise, Suite
from autograder.diagnosis import EXERCISE_SECONDS, SUBMISSION_SECONDS, Deadline, Judgement
from autograder.results import ExerciseResult, Status
from autograder.runner import (
    NO_SURVEY,
    CourseProblem,
    EnvironmentProblem,
    Fault,
    GraderProblem,
    Outcome,
    Parts,
    Plan,
    Run,
    Runner,
    Timeouts,
    WorkerFailure,
    of_edited,
)
from autograder.submission import Submission, digest

from .drawings import pictures_of, plan_of
from .verdict import Verdicts, result_of, with_left_out

if TYPE_CHECKING:
    from autograder.diagnosis import FindTraces, Location
    from autograder.runner import RecordedTrace


Remembered = MutableMapping[tuple[str, str], tuple[bool, bool]]
"""Whether an exercise passes and its file can be imported, by its id and the digest of all files it needs."""


@dataclass
class Marking:
    """The results of one submission, made as they are requested. The runner keeps its worker from run to run.

    Results of earlier exercises are taken from `remembered`, and put there for the next submission. With `prints` the
    results have what the code printed.
    """

    suite: Suite
    submission: Submission
    runner: Runner
    verdicts: Callable[[Exercise], Verdicts]
    traces: "Callable[[Exercise], FindTraces]"
    remembered: Remembered | None = None
    prints: bool = False

    def __post_init__(self) -> None:
        self._own: dict[str, Judgement] = {}
        self._loads: dict[str, bool] = {}
        self._settled: dict[str, Judgement] = {}
        self._recalled: dict[str, bool] = {}
        self._patience = Timeouts(self.runner.limits)
        self._seconds_to_locate = SUBMISSION_SECONDS
        self._hangs_in_help = False

    def run_own(self, exercises: Iterable[Exercise]) -> None:
        """Run exercises as they were handed in, all in one go."""
        wanted = [
            exercise
            for exercise in exercises
            if exercise.id not in self._own and exercise.file in self.submission.sources
        ]
        parts = {exercise.id: [part.id for part in self._replaceable(exercise)] for exercise in wanted}
        run = self._run(self.suite.plan(wanted), (), parts=parts)
        for exercise in wanted:
            self._own[exercise.id] = self._judge(exercise, run)
            self._note_import(exercise, run)

    def _note_import(self, exercise: Exercise, run: Run) -> None:
        first = next(iter(run.outcomes.get(exercise.id, {}).values()), None)
        self._loads[exercise.id] = not (isinstance(first, Fault | WorkerFailure) and first.at_import)

    def result(self, exercise: Exercise) -> ExerciseResult:
        """Return the result of an exercise, by the better of its own parts and reference parts for the wrong ones."""
        judgement = self._judged(exercise)
        doubt = self.submission.doubts.get(exercise.file)
        if doubt and judgement.status not in ("pass", "grader_error"):
            return result_of(self.verdicts(exercise).held(doubt))
        judgement = self._settled[exercise.id] = self._located(judgement)
        result, left = self._result(judgement), self.submission.left.get(exercise.file)
        return with_left_out(result, left) if left else result

    def _result(self, judgement: Judgement) -> ExerciseResult:
        try:
            return result_of(judgement, self.submission.cells)
        except Exception as error:  # as in `_judge`: a fault of the kit's must not cost points
            return result_of(self.verdicts(judgement.exercise).grader_error(f"{type(error).__name__}: {error}"))

    def settled(self, exercise: Exercise) -> Judgement | None:
        """Return the judgement behind a result that was made; None if it says all that can be said.

        A program that hung in a run for help gets no more of them.
        """
        return None if self._hangs_in_help else self._settled.get(exercise.id)

    def relocated(self, exercise: Exercise, locations: "Mapping[str, Location]") -> ExerciseResult:
        """Return the result of an exercise that was settled, with other locations."""
        self._settled[exercise.id] = replace(self._settled[exercise.id], locations=locations)
        return self._result(self._settled[exercise.id])

    def edited(
        self,
        like: Judgement,
        source: str,
        keys: Collection[Key] | None = None,
        verdicts: Callable[[Exercise], Verdicts] | None = None,
    ) -> "Marking":
        """Return the marking of this submission with another program in a judged exercise, in the same worker.

        That program is not the student's: it gets short time-outs, by what these trials took, or all. `verdicts` judge
        it, if they are others than those of the submission.
        """
        sources = {**self.submission.sources, like.exercise.file: source.encode()}
        submission = replace(self.submission, sources=sources)
        other = Marking(self.suite, submission, self.runner, verdicts or self.verdicts, self.traces)
        other._loads, other._patience = self._loads, of_edited(self.runner.limits, like.slowest(keys))
        return other

    def outcomes(self, like: Judgement, keys: Sequence[Key]) -> Mapping[Key, Outcome]:
        """Run some trials as in a judgement, with the same reference parts; nothing is forbidden."""
        return self.trials_run(like, keys).outcomes.get(like.exercise.id, {})

    def trials_run(
        self,
        like: Judgement,
        keys: Sequence[Key],
        *,
        probes: Literal["checks", "steps"] = "checks",
        prints: bool = False,
    ) -> Run:
        """Return the run of some trials, or of some steps of the worked example, as `outcomes` runs them."""
        sources, parts = self._with_parts(like.stood_in)
        return self.runner.run(
            sources,
            {like.exercise.id: list(keys)},
            reference_parts=parts,
            patience=self._patience,
            trusted=True,
            probes=probes,
            prints=prints,
        )

    def judged_like(self, like: Judgement) -> Judgement:
        """Judge the exercise as in another judgement, with the same reference parts, and locate its mistakes."""
        return self._located(self.verdicts_like(like))

    def verdicts_like(self, like: Judgement) -> Judgement:
        """Judge the exercise as in another judgement, with the same reference parts."""
        judgement = self._judge(like.exercise, self._run(self.suite.plan([like.exercise]), like.stood_in))
        return replace(judgement, stood_in=like.stood_in)

    def _judged(self, exercise: Exercise) -> Judgement:
        if exercise.id not in self._settled:
            self._settled[exercise.id] = self._settle(exercise)
        return self._settled[exercise.id]

    def with_pictures(self, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
        """Return the result of an exercise with what was built, and with its pictures, where it passes.

        Ask for it when every result that matters is known: so nothing that a picture does can change one.
        """
        if result.status != "pass" or self._hangs_in_help:
            return result
        drawings = self.suite.pictures.get(exercise.id, ())
        try:
            run = self._run(plan_of(exercise, drawings), result.stood_in, pictures=True)
        except EnvironmentProblem:
            run = Run()
        return replace(result, built=exercise.built, pictures=pictures_of(drawings, run.outcomes.get(exercise.id, {})))

    def _settle(self, exercise: Exercise) -> Judgement:
        if exercise.file not in self.submission.sources:
            verdicts, why = self.verdicts(exercise), self.submission.unread.get(exercise.file)
            return verdicts.unread(why) if why else verdicts.missing(self.submission.unseen)
        self.run_own([exercise])
        own = self._own[exercise.id]
        if own.status in ("pass", "grader_error") or not exercise.needs:
            return own
        wrong = self._wrong_before(exercise)
        replaced = wrong or (self._replaceable(exercise) if _has(own, "timeout", "memory") else [])
        if not replaced:
            return own
        stood_in = tuple(earlier.id for earlier in replaced)
        helped = self._helped(exercise, stood_in)
        if self._passed(helped) < self._passed(own) or (not wrong and self._passed(helped) == self._passed(own)):
            return own
        return replace(helped, stood_in=stood_in)

    def _helped(self, exercise: Exercise, stood_in: Sequence[str]) -> Judgement:
        """Judge an exercise with reference parts; where memory is short, also without the files they replace."""
        run = self._run(self.suite.plan([exercise]), stood_in)
        self._note_import(exercise, run)
        judgement = self._judge(exercise, run)
        if not _has(judgement, "memory"):
            return judgement
        alone = self._judge(exercise, self._run(self.suite.plan([exercise]), stood_in, alone=True))
        return alone if self._passed(alone) > self._passed(judgement) else judgement

    def _passed(self, judgement: Judgement) -> float:
        """Return the shares of the checks that pass: so the choice is the same whatever the exercise is worth."""
        passed = {verdict.check.id for verdict in judgement.verdicts if verdict.status == "pass"}
        checks = self.suite.checks[judgement.exercise.id]
        return round(sum(check.points for check in checks if check.id in passed), 6)

    def _wrong_before(self, exercise: Exercise) -> list[Exercise]:
        """Return the earlier exercises that there are reference parts for, and that do not pass."""
        earlier = self._replaceable(exercise)
        self._recall(earlier)
        self.run_own(other for other in earlier if other.id not in self._recalled)
        return [other for other in earlier if not self._passes(other)]

    def _replaceable(self, exercise: Exercise) -> list[Exercise]:
        """Return the earlier exercises that there are reference parts for."""
        needed = self.suite.course.with_needs(exercise)[:-1]
        return [other for other in needed if other.file in self.suite.reference_parts]

    def _passes(self, exercise: Exercise) -> bool:
        if exercise.id not in self._recalled:
            judgement = self._judged(exercise)
            self._recalled[exercise.id] = judgement.status == "pass"
            self._keep(exercise, judgement)
        return self._recalled[exercise.id]

    def _recall(self, earlier: Iterable[Exercise]) -> None:
        for exercise in earlier:
            known = self.remembered.get((exercise.id, self._digest(exercise))) if self.remembered is not None else None
            if known is not None and exercise.id not in self._own:
                self._recalled[exercise.id], self._loads[exercise.id] = known

    def _keep(self, exercise: Exercise, judgement: Judgement) -> None:
        """Remember what the same files give every time; a time-out may be the machine's fault."""
        if self.remembered is not None and judgement.status in ("pass", "fail", "not_started"):
            known = judgement.status == "pass", self._loads.get(exercise.id, False)
            self.remembered[exercise.id, self._digest(exercise)] = known

    def _digest(self, exercise: Exercise) -> str:
        sources, needed = self.submission.sources, self.suite.course.with_needs(exercise)
        return digest({other.file: sources[other.file] for other in needed if other.file in sources})

    def _located(self, judgement: Judgement) -> Judgement:
        """Run what failed once more with tracing, and add where the values diverge from the reference solution's.

        That is help, not a verdict: where it cannot be had, there is no location.
        """
        exercise = judgement.exercise
        can_run = exercise.file in self.submission.sources and not self._hangs_in_help
        if not judgement.ran_to_a_mistake or not can_run:
            return judgement
        from autograder.diagnosis import find_locations  # only for a failure

        def traced(keys: Sequence[Key]) -> "Mapping[Key, RecordedTrace]":
            return self.traced(exercise, keys, judgement.stood_in)

        deadline = Deadline(seconds := min(EXERCISE_SECONDS, self._seconds_to_locate))
        try:
            return replace(judgement, locations=find_locations(judgement, traced, self.traces(exercise), deadline))
        except Exception:
            return judgement
        finally:
            self._seconds_to_locate -= seconds - deadline.left

    def traced(self, exercise: Exercise, keys: Sequence[Key], stood_in: Sequence[str]) -> "Mapping[Key, RecordedTrace]":
        """Run some trials with these reference parts, and return what they compute, where that can be traced."""
        run = self._run({exercise.id: list(keys)}, stood_in, trace=True) if keys else Run()
        return run.traces.get(exercise.id, {})

    def _run(
        self,
        plan: Plan,
        stood_in: Iterable[str],
        *,
        trace: bool = False,
        pictures: bool = False,
        parts: Parts | None = None,
        alone: bool = False,
    ) -> Run:
        """Run a plan with reference parts for wrong exercises; their other names stay if they can be imported.

        With `alone` none of their files is imported, and the worker is a new one. A program that hangs in a run for
        help, traced or for pictures, gets no such help any more.
        """
        if not plan:
            return Run()
        timeouts = self._patience.timeouts
        sources, reference_parts = self._with_parts(stood_in, alone=alone)
        try:
            run = self.runner.run(
                sources,
                plan,
                reference_parts=reference_parts,
                trace=trace,
                probes="pictures" if pictures else "checks",
                patience=self._patience,
                parts=parts,
                anew=alone,
                prints=self.prints and not (trace or pictures),
            )
        except GraderProblem as problem:
            return Run(problem=str(problem))
        if (trace or pictures) and self._patience.timeouts > timeouts:
            self._hangs_in_help = True
        return run

    def _with_parts(self, stood_in: Iterable[str], *, alone: bool = False) -> tuple[dict[str, bytes], dict[str, bytes]]:
        replaced = [self.suite.course.exercise(id_) for id_ in stood_in]
        broken = {exercise.file for exercise in replaced if alone or not self._loads.get(exercise.id, False)}
        kept = {file: source for file, source in self.submission.sources.items() if file not in broken}
        return kept, {exercise.file: self.suite.reference_parts[exercise.file] for exercise in replaced}

    def _judge(self, exercise: Exercise, run: Run) -> Judgement:
        """Judge a run. Whatever goes wrong on this side of the pipe is the kit's fault, and must not cost points."""
        verdicts = self.verdicts(exercise)
        try:
            if run.problem is not None:
                raise GraderProblem(run.problem)
            source = self.submission.sources[exercise.file]
            judgement = verdicts.judge(run.outcomes[exercise.id], run.surveys.get(exercise.id, NO_SURVEY), source)
            return replace(judgement, prints=run.prints.get(exercise.id, {}))
        except Exception as error:
            text = str(error) if isinstance(error, GraderProblem) else f"{type(error).__name__}: {error}"
            return verdicts.grader_error(text, of_course=isinstance(error, CourseProblem))


def _has(judgement: Judgement, *statuses: Status) -> bool:
    return any(verdict.status in statuses for verdict in judgement.verdicts)
