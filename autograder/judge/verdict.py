"""Verdicts: the outcomes of an exercise against its answer key, as results with findings."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from autograder.answer_key.model import AnswerKey
from autograder.checks import Check, counting
from autograder.checks.trials import Key, sizes_of
from autograder.comparison.compare import judge_observation
from autograder.comparison.fingerprint import fingerprint
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.diagnosis import exceptions as faults
from autograder.diagnosis import findings
from autograder.diagnosis.location.locator import Locator
from autograder.diagnosis.patterns import Axes
from autograder.judge.matching import agreements, name
from autograder.results import CheckResult, ExerciseResult, Finding, Place, Status
from autograder.runner.outcomes import Died, Fault, Observed, Outcome, Survey, is_out_of_memory

WORST_FIRST: tuple[Status, ...] = ("grader_error", "timeout", "memory", "error", "fail")


class Verdicts:
    """Judges one submission's outcomes in one exercise.

    `find_key` finds the answer key when it is needed: without the catalogue, or with it where something is to be named.
    """

    def __init__(
        self, suite: Suite, exercise: Exercise, find_key: Callable[[bool], AnswerKey], *, seed: int, evidence: bool
    ) -> None:
        self.suite = suite
        self.exercise = exercise
        self.find_key = find_key
        self.seed = seed
        self.evidence = evidence
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self.points = suite.points(exercise)

    def judge(self, outcomes: Mapping[Key, Outcome], survey: Survey | None, source: bytes) -> ExerciseResult:
        """Return the result of the exercise; `source` is the student's file, for the lines around a place.

        Raises `GraderProblem` when there is no answer key.
        """
        self.key = self.find_key(False)
        self.differences = {
            at: judge_observation(outcome.value, self.key.reference[at], self.checks[at[0]].judge)
            for at, outcome in outcomes.items()
            if isinstance(outcome, Observed)
        }
        self.failing = frozenset(at for at in outcomes if self.differences.get(at, outcomes[at]) is not None)
        if any(self._can_be_named(outcomes[at]) for at in self.failing):
            self.key = self.find_key(True)
        self.outcomes, self.survey, self.source = outcomes, survey, source
        found = agreements(outcomes, self.failing, self.key, self.checks)
        forbidden = self._forbidden(outcomes, survey)
        results = []
        for check in self.checks.values():
            trials = [outcomes[check.id, trial] for trial in range(check.trials)]
            wrong = not forbidden and any((check.id, trial) in self.failing for trial in range(check.trials))
            entry = name(check, outcomes, self.key, found) if wrong else None
            status, finding = (
                ("fail", forbidden) if forbidden else self._verdict(check, trials, named=entry is not None)
            )
            if status in ("fail", "error") and entry is not None:
                finding = findings.of_misconception(entry, finding, survey)
            results.append(self._result(check, status, finding, trials, survey, source))
        counted = counting(list(self.checks.values()), {each.id for each in results if each.status == "pass"})
        return self._exercise(tuple(self._waiting(each, counted) for each in results))

    def _waiting(self, result: CheckResult, counted: Collection[str]) -> CheckResult:
        """Return a result that waits where the check passes and none of those that it requires does."""
        if result.status != "pass" or result.id in counted:
            return result
        finding = findings.of_requirement([self.checks[each] for each in self.checks[result.id].requires_any])
        return replace(result, status="waits", score=0, finding=finding)

    def locator(self) -> Locator:
        """Return what finds the places of the mistakes in what was judged last."""
        return Locator(
            self.exercise, self.checks, self.key, self.outcomes, self.failing, self.survey, self.source, self._sizes
        )

    def _can_be_named(self, wrong: Outcome) -> bool:
        """Whether an outcome is wrong in a way that a misconception could explain."""
        match wrong:
            case Died():
                return False
            case Fault():
                return wrong.kind not in ("todo", "forbidden")
        return True

    def missing(self, unseen: str = "") -> ExerciseResult:
        """Return the result of an exercise whose file was not found; `unseen` says what was not looked into."""
        message, detail = f"{self.exercise.file} is not in the submission.", None
        if unseen:
            message = f"{self.exercise.file} was not found, and a part of the submission could not be read."
            detail = f"{unseen}."
        return self._all_alike("missing", Finding("structure", "missing", message, detail=detail))

    def unread(self, why: str) -> ExerciseResult:
        """Return the result of an exercise whose file is there and could not be read; `why` says what is wrong."""
        message = findings.as_sentence(f"{why}.", why)
        return self._all_alike("error", Finding("structure", "unread", message, detail="None of its checks was run."))

    def grader_error(self, text: str) -> ExerciseResult:
        """Return the result of an exercise on which the kit itself failed."""
        message = "The grader itself failed; this is not your fault."
        return self._all_alike("grader_error", Finding("exception", "grader", message, detail=text))

    def _all_alike(self, status: Status, finding: Finding) -> ExerciseResult:
        checks = tuple(
            CheckResult(check.id, check.title, status, 0, self._most(check), finding=finding, bonus=check.bonus)
            for check in self.checks.values()
        )
        return self._exercise(checks)

    def _forbidden(self, outcomes: Mapping[Key, Outcome], survey: Survey | None) -> Finding | None:
        """Return the finding of a call that would skip the exercise: it costs all of its points."""
        if survey is not None and survey.forbidden:
            called, line = survey.forbidden[0]
            return findings.of_forbidden(called, Place(self.exercise.file, line))
        for outcome in outcomes.values():
            if isinstance(outcome, Fault) and outcome.kind == "forbidden":
                return findings.of_forbidden(outcome.message, outcome.frames[-1] if outcome.frames else None)
        return None

    def _verdict(self, check: Check, trials: list[Outcome], *, named: bool) -> tuple[Status, Finding | None]:
        for outcome in trials:
            match outcome:
                case Died():
                    return outcome.status, faults.of_death(outcome)
                case Fault():
                    return self._of_fault(outcome)
        if not any((check.id, trial) in self.failing for trial in range(check.trials)):
            return "pass", None
        drawn = [self._drawn(check, trial) for trial in range(check.trials)]
        return "fail", findings.of_difference(check, drawn, evidence=self.evidence, named=named)

    def _drawn(self, check: Check, trial: int) -> findings.Drawn:
        axes = Axes(self._sizes(check, trial), self.suite.course.words_of(self.exercise))
        at = check.id, trial
        return findings.Drawn(self.differences[at], axes, self.key.reference[at].exact)

    def _sizes(self, check: Check, trial: int) -> Mapping[str, int]:
        return sizes_of(self.suite.course.sizes, self.seed, self.exercise.id, check.id, trial)

    def _of_fault(self, fault: Fault) -> tuple[Status, Finding | None]:
        if fault.kind == "todo" and fault.frames:
            file = fault.frames[-1].file
            if file == self.exercise.file:
                return "not_started", None
            message = f"{self.exercise.file} uses {file}, which is not written yet."
            return "waits", Finding("structure", "waits", message, place=fault.frames[-1])
        if is_out_of_memory(fault):
            place = fault.frames[-1] if fault.frames else None
            limit = self.suite.course.limits.memory_mib
            message = f"Your code asked for more than the {limit} MiB of memory there are."
            return "memory", Finding("exception", fault.type, message, place=place)
        finding = faults.of_fault(fault, self.exercise.file, self.source)
        return ("fail" if finding.kind in ("structure", "device") else "error"), finding

    def _result(
        self,
        check: Check,
        status: Status,
        finding: Finding | None,
        trials: list[Outcome],
        survey: Survey | None,
        source: bytes,
    ) -> CheckResult:
        if finding is not None:
            place = finding.place
            if place is None and all(isinstance(outcome, Observed) for outcome in trials):
                place = findings.where(survey, check, self.exercise.file)
            elif place is None and any(
                isinstance(outcome, Fault) and outcome.kind == "structure" for outcome in trials
            ):
                place = findings.definition(survey, check, self.exercise.file)
            finding = findings.with_place(finding, place)
            if place is not None and place.file == self.exercise.file:
                finding = findings.with_source(finding, source)
        hints = self.exercise.hints.get(check.id, ())
        if finding is not None and finding.kind == "misconception":
            own = next(each.hint for each in self.key.misconceptions if each.id == finding.id)
            hints = (own, *hints[1:])
        if finding is not None and finding.kind == "forbidden":
            hints = ()
        score = self.points[check.id] if status == "pass" else 0
        seconds = sum(outcome.seconds for outcome in trials)
        return CheckResult(
            check.id,
            check.title,
            status,
            score,
            self._most(check),
            round(seconds, 6),
            finding,
            hints if status == "fail" or (finding and finding.kind == "misconception") else (),
            check.bonus,
            self._output(check, trials) if status == "fail" else None,
        )

    def _output(self, check: Check, trials: list[Outcome]) -> str | None:
        """Return what tells a wrong result from others, for who looks at a whole class; nothing in self-checks."""
        observed = [each.value for each in trials if isinstance(each, Observed)]
        if self.evidence or len(observed) < len(trials):
            return None
        return fingerprint((self.exercise.id, check.id), observed)

    def _most(self, check: Check) -> int:
        """Return what a check adds to the most there is: nothing for a bonus."""
        return 0 if check.bonus else self.points[check.id]

    def _exercise(self, checks: tuple[CheckResult, ...]) -> ExerciseResult:
        return ExerciseResult(
            self.exercise.id,
            self.exercise.title,
            overall([each.status for each in checks if not each.bonus]),
            sum(each.score for each in checks),
            sum(each.max_score for each in checks),
            checks,
        )


def failed_result(suite: Suite, exercise: Exercise, text: str) -> ExerciseResult:
    """Return the result of an exercise that could not even be run, by a fault of the kit's."""

    def no_key(_: bool) -> AnswerKey:
        raise NotImplementedError

    return Verdicts(suite, exercise, no_key, seed=0, evidence=False).grader_error(text)


def overall(statuses: list[Status]) -> Status:
    """Return the verdict of an exercise: that of its first wrong check; not started only if all of it is not."""
    if all(each == "pass" for each in statuses):
        return "pass"
    if len(set(statuses)) == 1:
        return statuses[0]
    if set(statuses) <= {"not_started", "waits"}:
        return "not_started"
    if "grader_error" in statuses:
        return "grader_error"
    return next((each for each in statuses if each in WORST_FIRST), "fail")
