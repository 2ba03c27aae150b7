"""Runs the search for a proof on a submission, and puts what it finds into the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.checks.trials import Key
from autograder.comparison.compare import passes
from autograder.course import Exercise
from autograder.diagnosis.diagnosis import Location
from autograder.diagnosis.judgement import Judgement, Verdict
from autograder.edits.text import Edit
from autograder.judge.budget import Budget
from autograder.judge.marking import Marking
from autograder.judge.places import function_at
from autograder.judge.proving import Hung, Judged, Proof, Search, can_be_proved, named
from autograder.judge.suspects import clues_of, plain_text, suspected_lines
from autograder.messages.exceptions import Raised
from autograder.results import ExerciseResult, Place
from autograder.runner.outcomes import WorkerFailure
from autograder.runner.run import EnvironmentProblem, GraderProblem


def proved(marking: Marking, exercise: Exercise, result: ExerciseResult, budget: Budget) -> ExerciseResult:
    """Return the result with the lines that are proved to decide a mistake, as far as a search finds them.

    Ask for it when the verdict is known: it only helps.
    """
    settled = marking.settled(exercise)
    if settled is None or not can_be_proved(*settled):
        return result
    try:
        source = plain_text(marking.submission.sources[exercise.file])
        proofs = Search(source, settled, _Trying(marking, settled, budget.edits), budget.seconds).proofs()
    except (UnicodeDecodeError, EnvironmentProblem, GraderProblem):
        return result
    return marking.relocated(exercise, with_proofs(*settled, proofs)) if proofs else result


def with_proofs(
    judgement: Judgement, locations: Mapping[str, Location], proofs: Sequence[Proof]
) -> dict[str, Location]:
    """Return the locations, with those that are proved in place of what was only likely.

    A line that was found in another way stays where it is proved too, with all that is known of it. A known mistake
    gives what is observed alone, so an edit that mends that check is more than a divergence of values.
    """
    survey = judgement.trials.survey if judgement.trials is not None else None
    several = len({proof.line for proof in proofs}) > 1
    apart = len({function_at(survey, proof.line) for proof in proofs}) > 1
    raising = {verdict.check.id for verdict in judgement.verdicts if several and verdict.status == "error"}
    diagnosed = {verdict.check.id: verdict.diagnosis.place for verdict in judgement.verdicts if verdict.diagnosis}
    mistakes, found = named(judgement), dict(locations)
    unset = {verdict.check.id for verdict in judgement.verdicts if _is_unset(verdict)}
    for proof, check in [(one, check) for one in proofs for check in one.checks if check not in unset]:
        known, own, first = found.get(check), diagnosed.get(check), proof.known
        one_of_several = several
        if check in raising:  # the exception is a fact, and the second edit may only restore what the first one removed
            raised = known.place if known is not None else own
            if raised is None or raised.line != proof.line:
                continue
            first, one_of_several = None, apart
        if known is not None and known.place.line == proof.line:
            is_proved = proof.is_whole or known.proved
            mistake = first or known.first_mistake
            found[check] = replace(known, proved=is_proved, first_mistake=mistake, is_one_of_several=one_of_several)
        elif known is None or (not known.is_known and (proof.is_whole or check in mistakes)):
            there = Place(judgement.exercise.file, proof.line, function_at(survey, proof.line))
            is_same = own is not None and (own.file, own.line) == (there.file, there.line)
            found[check] = Location(
                own if own is not None and is_same else there,
                first_mistake=first,
                proved=proof.is_whole,
                is_likely=not proof.is_whole,
                is_one_of_several=one_of_several,
            )
    return found


def _is_unset(verdict: Verdict) -> bool:
    """Whether no line sets the attribute or imports the name that a check needs.

    An edit where it is read only works around that.
    """
    fact = verdict.diagnosis.fact if verdict.diagnosis is not None else None
    return isinstance(fact, Raised) and fact.id in ("unset_attribute", "set_without_self", "not_imported")


@dataclass(frozen=True)
class _Trying:
    """Tries edited programs in the worker of a marking."""

    marking: Marking
    settled: Judged
    most: int

    def repairs(self, source: str, judged: Judged) -> Sequence[Edit]:
        lines, clues = suspected_lines(*judged), clues_of(judged[0])
        return self.marking.runner.repairs(source, lines, self.most, clues)

    def passing(self, source: str, keys: Sequence[Key]) -> list[Key]:
        like, _ = self.settled
        assert like.trials is not None
        expected = like.trials.key.reference
        judges = {verdict.check.id: verdict.check.judge for verdict in like.verdicts}
        outcomes = self.marking.edited(like, source, keys).outcomes(like, keys)
        if any(isinstance(outcome, WorkerFailure) for outcome in outcomes.values()):
            raise Hung
        return [key for key in keys if key in outcomes and passes(outcomes[key], expected[key], judges[key[0]])]

    def judged(self, source: str) -> Judged:
        like, _ = self.settled
        return self.marking.edited(like, source).judged_like(like)
