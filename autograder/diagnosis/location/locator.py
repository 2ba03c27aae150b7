"""Locates the mistakes in one judged exercise, by running what failed once more with tracing."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from autograder.answer_key.model import Misconception
from autograder.checks import Check
from autograder.checks.probe_code import names_any
from autograder.checks.trials import Key
from autograder.diagnosis.diagnosis import Diagnosis, Location
from autograder.diagnosis.judgement import Judgement, Trials, Verdict
from autograder.diagnosis.location.deadline import Deadline
from autograder.diagnosis.location.locating import (
    by_statement,
    by_value,
    configured,
    is_judged,
    location_of,
    trusted_parts,
)
from autograder.diagnosis.patterns.constants import factors, named, simplest
from autograder.messages.locations import Divergence, State
from autograder.protocol.statements import name_hash
from autograder.runner.outcomes import Fault, Observed, Outcome
from autograder.runner.traces import Trace

GRADIENTS = {"gradients", "slope", "slopes", "grad", "grad_fn", "backward", "requires_grad"}
"""The names of `given` and of torch by which a check looks at gradients."""

FindTraces = Callable[[Check], Mapping[Key, Trace]]
"""Finds what the solution computes on its way in the trials of a check."""

FindTraced = Callable[[list[Key]], Mapping[Key, Trace]]
"""Runs trials of the submission once more, and returns what it computes on its way."""


def find_locations(
    judgement: Judgement, traced: FindTraced, references: FindTraces, deadline: Deadline
) -> dict[str, Location]:
    """Return the location of each mistake by its check. `traced` runs trials once more. Raises `OutOfTime`.

    Where the first failure shows no line, another check that fails for the same misconception may.
    """
    traces = traced(_to_trace(judgement))
    found, first = locate(judgement, traces, references, deadline), judgement.first_failure
    if first is None or first.check.id in found:
        return found
    more = traced(_to_trace(judgement, beside=True))
    return locate(judgement, {**traces, **more}, references, deadline) if more else found


def _to_trace(judgement: Judgement, *, beside: bool = False) -> list[Key]:
    """Return the trials that are worth to be run again with tracing: the wrong ones of the first failure.

    With `beside` they are those of the next check that fails for the same misconception.
    """
    first, trials = judgement.first_failure, judgement.trials
    if first is None or trials is None or not _is_open(first):
        return []
    if beside and first.diagnosis is not None and first.diagnosis.place is not None:
        return []
    for verdict in _same_mistake(judgement, first) if beside else [first]:
        keys = [(verdict.check.id, trial) for trial in range(verdict.check.trials)]
        found = [key for key in keys if key in trials.failing and _has_trace(trials.outcomes[key])]
        if found:
            return found
    return []


def _same_mistake(judgement: Judgement, first: Verdict) -> list[Verdict]:
    known = first.diagnosis.misconception if first.diagnosis is not None else None
    return [
        verdict
        for verdict in judgement.verdicts
        if known is not None
        and verdict is not first
        and _is_open(verdict)
        and verdict.diagnosis is not None
        and verdict.diagnosis.misconception is known
    ]


def locate(
    judgement: Judgement, traces: Mapping[Key, Trace], references: FindTraces, deadline: Deadline
) -> dict[str, Location]:
    """Return the location of each mistake that the syntax or the traces tell, by its check.

    `references` is asked for what the solution computes where it is needed. Raises `OutOfTime`.
    """
    if judgement.trials is None:
        return {}
    locator = Locator(judgement, judgement.trials, traces, references, deadline)
    found = ((verdict.check.id, locator.locate(verdict)) for verdict in judgement.verdicts if _is_open(verdict))
    return _shared(judgement, {check: location for check, location in found if location is not None})


def _shared(judgement: Judgement, locations: Mapping[str, Location]) -> dict[str, Location]:
    """Give checks that fail for one misconception its best location, if they have no place of their own.

    It is one mistake, so its line is one too, whichever check found it.
    """
    found = dict(locations)
    by_misconception: dict[str, list[str]] = {}
    for verdict in judgement.verdicts:
        known = verdict.diagnosis.misconception if verdict.diagnosis is not None else None
        if known is not None and verdict.diagnosis is not None and verdict.diagnosis.place is None:
            by_misconception.setdefault(known.id, []).append(verdict.check.id)
    for checks in by_misconception.values():
        best = max((found[check] for check in checks if check in found), key=_certainty, default=None)
        if best is not None and best.first_mistake is None:
            found |= {check: best for check in checks if check not in found}
    return found


def _certainty(location: Location) -> int:
    """Return how sure a location is: a known statement is surest."""
    return 2 if location.is_known else int(location.divergence is None or location.divergence.certain)


@dataclass(frozen=True)
class Locator:
    """All that is known of an exercise while its mistakes are located."""

    judgement: Judgement
    trials: Trials
    traces: Mapping[Key, Trace]
    references: FindTraces
    deadline: Deadline

    def locate(self, verdict: Verdict) -> Location | None:
        """Return the location of one check's mistake. Raises `OutOfTime`."""
        diagnosis, survey = verdict.diagnosis, self.trials.survey
        assert diagnosis is not None
        divergence = next(iter(self._divergences(verdict.check).values()), None)
        if divergence is not None and not self._is_judged(divergence):
            divergence = None
        if divergence is not None and not (_belongs(divergence, diagnosis) and self._fits(divergence, diagnosis)):
            divergence = None
        # A check that looks at no gradient does not fail because none passes.
        if divergence is not None and divergence.state is State.CUT and not names_any(verdict.check.probe, GRADIENTS):
            divergence = None
        first_mistake = None
        if diagnosis.misconception is None and diagnosis.kind in ("pattern", "exception") and divergence:
            first_mistake = self._misconception_of(divergence) if divergence.certain else None
        entry = diagnosis.misconception or first_mistake
        file, statements = self.judgement.exercise.file, self._statements(verdict.check)
        known: list[int] = []
        if entry is not None and survey is not None:
            known = by_statement(entry, self.trials.key.misconceptions, statements, survey, divergence)
        location = location_of(known, divergence, survey, self.trials.source, self._functions(), file)
        if divergence is not None and location is not None and entry is None:
            location = configured(divergence, survey, self.trials.source) or location
        return replace(location, first_mistake=first_mistake) if location is not None else None

    def _is_judged(self, divergence: Divergence) -> bool:
        """Whether a diverging line computes something, and all that it computes with is in a trace.

        Plain arguments are traced on the line of the `def`, where no mistake of the body is.
        """
        return self._runs(divergence.place.line) and is_judged(divergence, self.trials.source)

    def _runs(self, line: int) -> bool:
        return self.trials.survey is None or self.trials.survey.runs(line)

    def _statements(self, check: Check) -> list[tuple[str, int]]:
        """Return the statements of the functions and classes that ran in a check, of all if no trace shows any."""
        traces = [trace for key, trace in self.traces.items() if key[0] == check.id]
        frames = {place for trace in traces for step in trace.steps for place in step.stack}
        ran = {_part(place.function) for place in frames if place.file == self.judgement.exercise.file}
        functions, survey = self._functions(), self.trials.survey
        statements = survey.statements if survey is not None else ()
        return [(hash_, line) for hash_, line in statements if not ran or _part(functions.get(line)) in {*ran, ""}]

    def _fits(self, divergence: Divergence, diagnosis: Diagnosis) -> bool:
        """Whether a divergence may be in a function or class that the misconception changes.

        It is elsewhere if the file has them, and diverges in another one of the contract.
        """
        known, survey = diagnosis.misconception, self.trials.survey
        if known is None or survey is None:
            return True
        defined = {name_hash(name.split(".")[0]) for name in survey.places}
        contract = {owner for entry in self.trials.key.misconceptions for owner in entry.owners}
        here = name_hash(_part(divergence.place.function))
        running = {here, *map(name_hash, divergence.owners)}
        return bool(running & set(known.owners)) or here not in contract or not defined.issuperset(known.owners)

    def _divergences(self, check: Check) -> dict[int, Divergence]:
        """Return where the trials of a check diverge; certain only where they agree on the line."""
        own = {key: trace for key, trace in self.traces.items() if key[0] == check.id}
        if not own:
            return {}
        expected, trusted = self.references(check), self._trusted(check)
        searched = {
            key[1]: by_value(trace, expected[key], self.judgement.exercise.file, trusted, self.deadline)
            for key, trace in own.items()
            if key in expected
        }
        found = {trial: divergence for trial, divergence in searched.items() if divergence is not None}
        agree = len({divergence.place.line for divergence in found.values()}) == 1
        constant = self._constant(check, found)
        return {
            trial: replace(
                divergence,
                certain=divergence.certain and agree,
                constant=constant,
                agreeing=tuple(line for line in divergence.agreeing if self._runs(line)),
            )
            for trial, divergence in found.items()
        }

    def _constant(self, check: Check, divergences: Mapping[int, Divergence]) -> str | None:
        """Return the name of the factor by which a value is wrong, if it is the same in every trial."""
        names = [
            {constant.text for constant in simplest(named(found.factor, factors(self.trials.sizes(check, trial), {})))}
            for trial, found in divergences.items()
            if found.factor is not None
        ]
        common = set.intersection(*names) if names and len(names) == len(divergences) else set()
        return common.pop() if len(common) == 1 else None

    def _misconception_of(self, divergence: Divergence) -> Misconception | None:
        """Return the misconception that the diverging statement is known from, though it does not explain everything.

        All the statements it is made of must be in the file.
        """
        statements = self.trials.survey.statements if self.trials.survey else ()
        here = {hash_ for hash_, line in statements if line == divergence.place.line}
        anywhere = {hash_ for hash_, _ in statements}
        found = [
            entry
            for entry in self.trials.key.misconceptions
            if here & set(entry.marks) and set(entry.marks) <= anywhere
        ]
        alike = found and all(entry.id in (found[0].id, *found[0].same_as) for entry in found)
        return found[0] if alike else None

    def _trusted(self, failed: Check) -> frozenset[str]:
        passing = [verdict.check.of for verdict in self.judgement.verdicts if verdict.status == "pass"]
        failing = [verdict.check.of for verdict in self.judgement.verdicts if verdict.status != "pass"]
        return trusted_parts(failed.of, passing, failing)

    def _functions(self) -> Mapping[int, str]:
        """Return the function that each line of a file is in, as far as the survey tells."""
        places = self.trials.survey.places if self.trials.survey else {}
        starts = sorted((lines[0], name) for name, lines in places.items() if lines)
        return dict(_spread(starts, len(self.trials.source.splitlines())))


def _part(function: str | None) -> str:
    """Return the function or class of the file that a function is in."""
    return (function or "").split(".")[0]


def _is_open(verdict: Verdict) -> bool:
    """Whether a check failed in a way that has a place worth looking for."""
    diagnosis = verdict.diagnosis
    return verdict.status in ("fail", "error") and diagnosis is not None and diagnosis.kind != "forbidden"


def _belongs(divergence: Divergence, diagnosis: Diagnosis) -> bool:
    """Whether a diagnosis and the first divergence are of one mistake, as far as that is known.

    A value of the right shape seldom raises an exception later. A misconception that is known by little may be another
    one, and beside other mistakes the trials may diverge at theirs. Where an exception was raised is known anyway.
    """
    if diagnosis.kind == "exception" and diagnosis.misconception is None:
        return divergence.misshapen and divergence.certain
    if diagnosis.misconception is None or (diagnosis.is_all and not diagnosis.more):
        return True
    return divergence.certain and (diagnosis.is_all or diagnosis.place is None)


def _has_trace(outcome: Outcome) -> bool:
    """Whether a run with tracing can show more than the outcome does."""
    return isinstance(outcome, Observed) or (isinstance(outcome, Fault) and outcome.kind == "other")


def _spread(starts: list[tuple[int, str]], last: int) -> Iterator[tuple[int, str]]:
    for (line, function), (following, _) in pairwise([*starts, (last + 1, "")]):
        yield from ((number, function) for number in range(line, min(following, last + 1)))
