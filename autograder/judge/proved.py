"""Runs the search for a proof on a submission, and puts what it finds into the result."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.checks.trials import Key
from autograder.comparison.compare import passes
from autograder.course import Exercise
from autograder.edits.text import Edit
from autograder.judge.budget import Budget
from autograder.judge.marking import Marking
from autograder.judge.proving import Hung, Judged, Search, can_be_proved, with_proofs
from autograder.judge.suspects import clues_of, plain_text, suspected_lines
from autograder.results import ExerciseResult
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
