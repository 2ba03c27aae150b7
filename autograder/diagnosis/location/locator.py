"""Finds the places of the mistakes in one submission's exercise, by running what failed once more with tracing."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from autograder.answer_key.model import AnswerKey, Misconception
from autograder.checks import Check
from autograder.checks.trials import Key
from autograder.course import Exercise
from autograder.diagnosis import findings
from autograder.diagnosis.location.deadline import Deadline
from autograder.diagnosis.location.divergence import Astray
from autograder.diagnosis.location.locating import by_statement, by_value, located, made_at, said, trusted_parts
from autograder.diagnosis.patterns.constants import factors, named, simplest
from autograder.results import CheckResult, ExerciseResult
from autograder.runner.outcomes import Fault, Observed, Outcome, Survey
from autograder.runner.traces import Trace

FindTraces = Callable[[Check], Mapping[Key, Trace]]
"""Finds what the solution computes on its way in the trials of a check."""


@dataclass(frozen=True)
class Locator:
    """What was judged: the outcomes of an exercise, the wrong ones, its answer key, and what the syntax says."""

    exercise: Exercise
    checks: Mapping[str, Check]
    key: AnswerKey
    outcomes: Mapping[Key, Outcome]
    failing: Collection[Key]
    survey: Survey | None
    source: bytes
    sizes: Callable[[Check, int], Mapping[str, int]]

    def to_trace(self, result: ExerciseResult) -> list[Key]:
        """Return the trials that are worth to be run again with tracing: the wrong ones of the first failure."""
        first = result.first_failure
        if first is None or not _is_open(first):
            return []
        keys = [(first.id, trial) for trial in range(self.checks[first.id].trials)]
        return [at for at in keys if at in self.failing and _shows_on_the_way(self.outcomes[at])]

    def locate(
        self, result: ExerciseResult, traces: Mapping[Key, Trace], references: FindTraces, deadline: Deadline
    ) -> ExerciseResult:
        """Return the result with the place of every mistake that can be told by what was computed on the way.

        `references` is asked for what the solution computes where it is needed. Raises `OutOfTime`.
        """
        checks = []
        for check in result.checks:
            if _is_open(check):
                astray = self._astray(self.checks[check.id], result, traces, references, deadline)
                checks.append(self._located(check, astray))
            else:
                checks.append(check)
        return replace(result, checks=tuple(checks))

    def _located(self, result: CheckResult, astray: Mapping[int, Astray]) -> CheckResult:
        finding, hints = result.finding, result.hints
        assert finding is not None
        check = self.checks[result.id]
        first = next(iter(astray.values()), None)
        if finding.kind in ("pattern", "exception") and first and first.certain and (entry := self._known(first)):
            finding = findings.of_first_mistake(entry, finding)
            hints = (entry.hint, *self.exercise.hints.get(check.id, ())[1:])
        statement = None
        if finding.kind == "misconception":
            entry = next(each for each in self.key.misconceptions if each.id == finding.id)
            statement = by_statement(entry, self.survey, self.exercise.file)
        number = made_at(first, self.survey) if first is not None and statement is None else None
        finding = located(finding, statement or number, first, self.source, self._functions())
        if number is not None and first is not None and first.number is not None:
            label = f"{first.number[0]} makes line {first.place.line} {said(first)}"
            finding = replace(finding, label=label, agrees=tuple(each for each in first.agreeing if each < number.line))
        if finding.place is not None and finding.place.file == self.exercise.file:
            finding = findings.with_source(finding, self.source)
        return replace(result, finding=finding, hints=hints)

    def _astray(
        self,
        check: Check,
        exercise: ExerciseResult,
        traces: Mapping[Key, Trace],
        references: FindTraces,
        deadline: Deadline,
    ) -> dict[int, Astray]:
        """Return where the trials of a check go astray; certain only where they agree on the line."""
        own = {at: trace for at, trace in traces.items() if at[0] == check.id}
        if not own:
            return {}
        expected, trusted = references(check), self._trusted(check.id, exercise)
        found = {
            at[1]: by_value(trace, expected[at], self.exercise.file, trusted, deadline)
            for at, trace in own.items()
            if at in expected
        }
        told = {trial: each for trial, each in found.items() if each is not None}
        alike = len({each.place.line for each in told.values()}) == 1
        constant = self._constant(check, told)
        return {trial: replace(each, certain=each.certain and alike, constant=constant) for trial, each in told.items()}

    def _constant(self, check: Check, astray: Mapping[int, Astray]) -> str | None:
        """Return the name of the factor by which a value is wrong, if it is the same in every trial."""
        names = [
            {constant.text for constant in simplest(named(each.factor, factors(self.sizes(check, trial), {})))}
            for trial, each in astray.items()
            if each.factor is not None
        ]
        common = set.intersection(*names) if names and len(names) == len(astray) else set()
        return common.pop() if len(common) == 1 else None

    def _known(self, astray: Astray) -> Misconception | None:
        """Return the misconception that the statement astray is known from, though it does not explain everything.

        All the statements it is made of must be in the file.
        """
        statements = self.survey.statements if self.survey else ()
        here = {hash_ for hash_, line in statements if line == astray.place.line}
        anywhere = {hash_ for hash_, _ in statements}
        found = [each for each in self.key.misconceptions if here & set(each.marks) and set(each.marks) <= anywhere]
        alike = found and all(each.id in (found[0].id, *found[0].same_as) for each in found)
        return found[0] if alike else None

    def _trusted(self, failed: str, result: ExerciseResult) -> frozenset[str]:
        of = {each.id: self.checks[each.id].of for each in result.checks}
        passing = [of[each.id] for each in result.checks if each.status == "pass"]
        failing = [of[each.id] for each in result.checks if each.status != "pass"]
        return trusted_parts(of[failed], passing, failing)

    def _functions(self) -> Mapping[int, str]:
        """Return the function that each line of a file is in, as far as the survey tells."""
        places = self.survey.places if self.survey else {}
        starts = sorted((lines[0], name) for name, lines in places.items() if lines)
        return dict(_spread(starts, len(self.source.splitlines())))


def _is_open(result: CheckResult) -> bool:
    """Whether a check failed in a way that has a place worth looking for."""
    finding = result.finding
    return result.status in ("fail", "error") and finding is not None and finding.kind != "forbidden"


def _shows_on_the_way(outcome: Outcome) -> bool:
    return isinstance(outcome, Observed) or (isinstance(outcome, Fault) and outcome.kind == "other")


def _spread(starts: list[tuple[int, str]], last: int) -> Iterator[tuple[int, str]]:
    for (line, function), (following, _) in pairwise([*starts, (last + 1, "")]):
        yield from ((each, function) for each in range(line, min(following, last + 1)))
