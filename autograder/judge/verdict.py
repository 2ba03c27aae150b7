"""Judges the outcomes of an exercise with its answer key. What explains a failure is imported where there is one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.answer_key.model import AnswerKey
from autograder.checks import Check, counted_checks
from autograder.checks.trials import Key, sizes_of
from autograder.comparison.compare import Difference, judge_observation
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.diagnosis.judgement import Judgement, Trials, Verdict, overall
from autograder.judge.matching import Match, agreements, name
from autograder.judge.places import misplaced, place_of
from autograder.judge.result import result_of
from autograder.judge.todos import is_unwritten, todos_in
from autograder.results import ExerciseResult, Place, Status
from autograder.runner.outcomes import Fault, Observed, Outcome, Survey, WorkerFailure, is_out_of_memory

if TYPE_CHECKING:
    from autograder.diagnosis.diagnosis import Diagnosis
    from autograder.messages import Fact

OnOutcomes = Callable[[str, Sequence[tuple[Check, Status]]], None]
"""Gets the id of an exercise and the status of each of its checks, before mistakes are named."""

__all__ = ["OnOutcomes", "Verdicts", "failed_result", "overall"]


class Verdicts:
    """Judges one submission's outcomes in one exercise.

    `find_key` finds the answer key when it is needed: without the catalogue, or with it where something is to be named.
    Before the catalogue, which may take minutes, `on_outcomes(exercise, statuses)` gets a status for each check.
    """

    def __init__(
        self,
        suite: Suite,
        exercise: Exercise,
        find_key: Callable[[bool], AnswerKey],
        *,
        seed: int,
        evidence: bool,
        on_outcomes: "OnOutcomes | None" = None,
    ) -> None:
        self.suite = suite
        self.exercise = exercise
        self.find_key = find_key
        self.seed = seed
        self.evidence = evidence
        self.on_outcomes = on_outcomes
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self.points = suite.points(exercise)

    def judge(self, outcomes: Mapping[Key, Outcome], survey: Survey | None, source: bytes) -> Judgement:
        """Return the judgement on the exercise; `source` is the student's file, for the lines around a place.

        Raises `GraderProblem` when there is no answer key.
        """
        key = self.find_key(False)
        differences = {
            at: judge_observation(outcome.value, key.reference[at], self.checks[at[0]].judge)
            for at, outcome in outcomes.items()
            if isinstance(outcome, Observed)
        }
        failing = frozenset(at for at in outcomes if differences.get(at, outcomes[at]) is not None)
        trials = Trials(
            outcomes, failing, key, self._sizes, source, survey, todos_in(self.suite, self.exercise, survey)
        )
        forbidden = self._forbidden(trials)
        if any(_can_be_named(outcomes[at]) for at in failing):
            if self.on_outcomes is not None and forbidden is None:
                self.on_outcomes(
                    self.exercise.id, [(check, self._early(check, trials)) for check in self.checks.values()]
                )
            trials = replace(trials, key=self.find_key(True))
        if forbidden is not None:
            verdicts = [self._made(check, trials, "fail", forbidden) for check in self.checks.values()]
        else:
            known = self._matches(trials)
            verdicts = [self._verdict(check, trials, differences, known) for check in self.checks.values()]
        passing = {verdict.check.id for verdict in verdicts if verdict.status == "pass"}
        counted = counted_checks(list(self.checks.values()), passing)
        waiting = tuple(verdict if verdict.check.id in counted else self._waiting(verdict) for verdict in verdicts)
        return Judgement(self.exercise, waiting, trials)

    def _early(self, check: Check, trials: Trials) -> Status:
        """Return the status of a check as far as it is known without the catalogue."""
        if not _fails(check, trials.failing):
            return "pass"
        found = _outcomes(check, trials)
        is_todo = any(isinstance(outcome, Fault) and outcome.kind == "todo" for outcome in found)
        return "not_started" if is_todo or is_unwritten(check, trials.todos, found) else "fail"

    def _waiting(self, verdict: Verdict) -> Verdict:
        """Return a verdict that waits where the check passes and none of those that it requires does."""
        if verdict.status != "pass":
            return verdict
        required = [self.checks[id_] for id_ in verdict.check.requires_any]
        from autograder.messages.statuses import CheckRequired

        fact = CheckRequired(tuple((check.id, check.title) for check in required))
        return replace(verdict, status="waits", score=0, diagnosis=_of_structure(fact))

    def missing(self, unseen: str = "") -> Judgement:
        """Judge an exercise whose file was not found; `unseen` says what was not looked into."""
        from autograder.messages.statuses import FileMissing

        return self._all_alike("missing", _of_structure(FileMissing(self.exercise.file, unseen)))

    def unread(self, why: str) -> Judgement:
        """Judge an exercise whose file is there and could not be read; `why` says what is wrong."""
        from autograder.messages.statuses import FileUnread

        return self._all_alike("error", _of_structure(FileUnread(why)))

    def held(self, doubt: str = "") -> Judgement:
        """Hold back an exercise: nothing could be read, or there is a `doubt` about which file counts."""
        from autograder.messages.statuses import NothingRead, WorkElsewhere

        return self._all_alike("held", _of_structure(WorkElsewhere(doubt) if doubt else NothingRead()))

    def grader_error(self, text: str, *, of_course: bool = False) -> Judgement:
        """Judge an exercise on which the kit itself failed, or a file `of_course`."""
        from autograder.diagnosis.diagnosis import Diagnosis
        from autograder.messages.statuses import CourseFileWrong, GraderFailed

        fact = CourseFileWrong(text) if of_course else GraderFailed(text)
        return self._all_alike("grader_error", Diagnosis("exception", fact))

    def _all_alike(self, status: Status, diagnosis: "Diagnosis") -> Judgement:
        verdicts = (Verdict(check, status, 0, self._most(check), diagnosis) for check in self.checks.values())
        return Judgement(self.exercise, tuple(verdicts))

    def _forbidden(self, trials: Trials) -> "Diagnosis | None":
        """Diagnose a call that would skip the exercise: it costs all of its points."""
        if trials.survey is not None and trials.survey.forbidden:
            called, line = trials.survey.forbidden[0]
            return _of_forbidden(called, Place(self.exercise.file, line))
        for outcome in trials.outcomes.values():
            if isinstance(outcome, Fault) and outcome.kind == "forbidden":
                place = outcome.frames[-1] if outcome.frames else None
                return _of_forbidden(outcome.message, place)
        return None

    def _matches(self, trials: Trials) -> dict[str, Match]:
        """Return the misconceptions behind the failed checks, by check."""
        found = agreements(trials.outcomes, trials.failing, trials.key, self.checks)
        statements = {hash_ for hash_, _ in trials.survey.statements} if trials.survey is not None else set()
        failed = [check for check in self.checks.values() if _fails(check, trials.failing)]
        names = (
            (check.id, name(check, trials.outcomes, trials.key, found, trials.failing, statements)) for check in failed
        )
        return {check: known for check, known in names if known is not None}

    def _verdict(
        self,
        check: Check,
        trials: Trials,
        differences: Mapping[Key, Difference | None],
        known: Mapping[str, Match],
    ) -> Verdict:
        """Return the verdict on one check; `known` are the misconceptions behind it and the others."""
        if _fails(check, trials.failing) and is_unwritten(check, trials.todos, _outcomes(check, trials)):
            return self._made(check, trials, "not_started", None)
        own = known.get(check.id)
        status, diagnosis = self._status(check, trials, differences, named=own is not None)
        if diagnosis is not None and status in ("fail", "error"):
            more = any(other.is_all for id_, other in known.items() if id_ != check.id) if own is None else own.more
            diagnosis = replace(
                diagnosis,
                misconception=own.entry if own is not None else None,
                is_all=own is not None and own.is_all,
                more=more,
            )
        return self._made(check, trials, status, diagnosis)

    def _status(
        self, check: Check, trials: Trials, differences: Mapping[Key, Difference | None], *, named: bool
    ) -> tuple[Status, "Diagnosis | None"]:
        for outcome in _outcomes(check, trials):
            match outcome:
                case WorkerFailure():
                    from autograder.diagnosis.exceptions import of_death

                    return outcome.status, of_death(outcome)
                case Fault():
                    return self._of_fault(outcome, trials)
        if not _fails(check, trials.failing):
            return "pass", None
        from autograder.diagnosis.differences import Trial, of_difference
        from autograder.diagnosis.patterns.axes import Axes

        words = self.suite.course.words_of(self.exercise)
        keys = [(check.id, trial) for trial in range(check.trials)]
        compared = [
            Trial(differences[key], Axes(self._sizes(check, key[1]), words), trials.key.reference[key].exact)
            for key in keys
        ]
        return "fail", of_difference(check, compared, evidence=self.evidence, named=named)

    def _sizes(self, check: Check, trial: int) -> Mapping[str, int]:
        return sizes_of(self.suite.course.sizes_of(self.exercise), self.seed, self.exercise.id, check.id, trial)

    def _of_fault(self, fault: Fault, trials: Trials) -> tuple[Status, "Diagnosis | None"]:
        place = fault.frames[-1] if fault.frames else None
        if fault.kind == "todo" and place is not None:
            if place.file == self.exercise.file:
                return "not_started", None
            from autograder.messages.statuses import EarlierUnwritten

            return "waits", _of_structure(EarlierUnwritten(self.exercise.file, place.file), place)
        from autograder.diagnosis.diagnosis import Diagnosis
        from autograder.diagnosis.exceptions import of_fault
        from autograder.messages.exceptions import MemoryExceeded

        if is_out_of_memory(fault):
            exceeded = MemoryExceeded(fault.type, self.suite.course.limits.memory_mib)
            return "memory", Diagnosis("exception", exceeded, place=place)
        libraries = self.suite.course.libraries
        diagnosis = of_fault(fault, self.exercise.file, trials.source, trials.survey, libraries)
        return ("fail" if diagnosis.kind in ("structure", "device") else "error"), diagnosis

    def _made(self, check: Check, trials: Trials, status: Status, diagnosis: "Diagnosis | None") -> Verdict:
        outcomes = _outcomes(check, trials)
        if diagnosis is not None and diagnosis.place is None:
            diagnosis = replace(
                diagnosis,
                place=place_of(
                    trials.survey,
                    check,
                    self.exercise.file,
                    outcomes,
                    trials.source,
                    is_named=diagnosis.misconception is not None,
                ),
            )
        elif diagnosis is not None and diagnosis.kind == "device" and diagnosis.place is not None:
            tensor = getattr(diagnosis.fact, "tensor", None)  # importing the class of the fact would slow every check
            diagnosis = replace(diagnosis, place=misplaced(trials.survey, diagnosis.place, tensor))
        score = self.points[check.id] if status == "pass" else 0
        seconds = sum(outcome.seconds for outcome in outcomes)
        output = self._output(check, outcomes) if status == "fail" else None
        return Verdict(check, status, score, self._most(check), diagnosis, seconds, output)

    def _output(self, check: Check, outcomes: Sequence[Outcome]) -> str | None:
        """Return a fingerprint that groups identical failures in a class; nothing in self-checks."""
        observed = [outcome.value for outcome in outcomes if isinstance(outcome, Observed)]
        if self.evidence or len(observed) < len(outcomes):
            return None
        from autograder.comparison.fingerprint import fingerprint

        return fingerprint((self.exercise.id, check.id), observed)

    def _most(self, check: Check) -> int:
        """Return the points that a check adds to the maximum: none for a bonus."""
        return 0 if check.bonus else self.points[check.id]


def _of_structure(fact: "Fact", place: Place | None = None) -> "Diagnosis":
    from autograder.diagnosis.diagnosis import Diagnosis

    return Diagnosis("structure", fact, place=place)


def _of_forbidden(called: str, place: Place | None) -> "Diagnosis":
    from autograder.diagnosis.diagnosis import Diagnosis
    from autograder.messages.exceptions import CallForbidden

    return Diagnosis("forbidden", CallForbidden(called), place=place)


def _outcomes(check: Check, trials: Trials) -> list[Outcome]:
    return [trials.outcomes[check.id, trial] for trial in range(check.trials)]


def _fails(check: Check, failing: Collection[Key]) -> bool:
    return any((check.id, trial) in failing for trial in range(check.trials))


def _can_be_named(wrong: Outcome) -> bool:
    """Whether an outcome is wrong in a way that a misconception could explain."""
    match wrong:
        case WorkerFailure():
            return False
        case Fault():
            return wrong.kind not in ("todo", "forbidden")
    return True


def failed_result(suite: Suite, exercise: Exercise, text: str) -> ExerciseResult:
    """Return the result of an exercise that could not even be run, by a fault of the kit's."""
    return result_of(_not_run(suite, exercise).grader_error(text))


def held_result(suite: Suite, exercise: Exercise) -> ExerciseResult:
    """Return the result of an exercise of a submission of which nothing could be read."""
    return result_of(_not_run(suite, exercise).held())


def _not_run(suite: Suite, exercise: Exercise) -> Verdicts:
    def no_key(_: bool) -> AnswerKey:
        raise NotImplementedError

    return Verdicts(suite, exercise, no_key, seed=0, evidence=False)
