"""The judgement on an exercise: a verdict on each check, and all that locating its mistakes needs."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.answer_key.model import AnswerKey
from autograder.checks import Check
from autograder.checks.trials import Key
from autograder.course import Exercise
from autograder.results import Status, Todo
from autograder.results.first_failure import first_failing
from autograder.runner.outcomes import Outcome, Survey
from autograder.runner.run import Prints

if TYPE_CHECKING:
    from autograder.diagnosis.diagnosis import Diagnosis

_FAILED: tuple[Status, ...] = ("timeout", "memory", "error", "fail")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one check: its status, its points in hundredths, and why it failed.

    In a report made for a mark, `output` is equal for all who fail with the same result.
    """

    check: Check
    status: Status
    score: int
    max_score: int
    diagnosis: "Diagnosis | None" = None
    seconds: float = 0.0
    output: str | None = None

    @property
    def bonus(self) -> bool:
        """Whether the check only adds points."""
        return self.check.bonus

    @property
    def of(self) -> str | None:
        """The function or class that the check calls."""
        return self.check.of

    @property
    def mistake(self) -> str | None:
        """The id of the misconception that explains the failure."""
        known = self.diagnosis.misconception if self.diagnosis is not None else None
        return known.id if known is not None else None


@dataclass(frozen=True)
class Trials:
    """What was judged: the outcomes, the wrong ones, the answer key, the sizes, the student's file and its syntax.

    `todos` are the TODOs of the file.
    """

    outcomes: Mapping[Key, Outcome]
    failing: Collection[Key]
    key: AnswerKey
    sizes: Callable[[Check, int], Mapping[str, int]]
    source: bytes
    survey: Survey | None
    todos: tuple[Todo, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """The verdicts on an exercise. `trials` is None where nothing was run, or the kit itself failed.

    `stood_in` has the earlier exercises in whose place reference parts were used. `prints` is what the code printed.
    """

    exercise: Exercise
    verdicts: tuple[Verdict, ...]
    trials: Trials | None = None
    stood_in: tuple[str, ...] = ()
    prints: Prints = field(default_factory=dict)

    @property
    def ran_to_a_mistake(self) -> bool:
        """Whether the exercise, or a bonus check of it if nothing else, fails by what it computes."""
        first = self.first_failure
        is_bonus = self.status == "pass" and first is not None and first.status in ("fail", "error")
        return is_bonus or self.status in ("fail", "error")

    def slowest(self, keys: Collection[Key] | None = None) -> float:
        """Return the longest time (s) that one of these trials took, or one of all."""
        outcomes = self.trials.outcomes if self.trials is not None else {}
        return max((outcome.seconds for key, outcome in outcomes.items() if keys is None or key in keys), default=0.0)

    @property
    def status(self) -> Status:
        """The status of the exercise, bonus checks aside."""
        return overall([verdict.status for verdict in self.verdicts if not verdict.bonus])

    @property
    def score(self) -> int:
        """The points, in hundredths."""
        return sum(verdict.score for verdict in self.verdicts)

    @property
    def first_failure(self) -> Verdict | None:
        """The verdict to look at first."""
        return first_failing(self.verdicts)


def overall(statuses: list[Status]) -> Status:
    """Return the status of an exercise: that of its first failing check; not started only if all of it is not."""
    if all(status == "pass" for status in statuses):
        return "pass"
    if len(set(statuses)) == 1:
        return statuses[0]
    if set(statuses) <= {"not_started", "waits"}:
        return "not_started"
    if "grader_error" in statuses:
        return "grader_error"
    return next((status for status in statuses if status in _FAILED), "fail")
