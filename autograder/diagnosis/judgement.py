"""The judgement on an exercise: a verdict on each check, and all that locating its mistakes needs."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from autograder.answer_key import AnswerKey, Misconception
from autograder.checks import Check, Key
from autograder.course import Exercise
from autograder.results import Certainty, Evidence, Fact, FindingKind, Place, Status, Todo, first_failing
from autograder.runner import Outcome, Prints, Survey

from .locations import Divergence
from .named_sizes import Coefficient

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


# The diagnosis of a failed check: all that is known of it, as values, before it is put into words.


BESIDE_A_NAME: Collection[FindingKind] = ("structure", "device")
"""The kinds of facts that stand below the name of a misconception."""


@dataclass(frozen=True)
class Diagnosis:
    """Why a check failed: a fact about a part, `subject`, and the misconception behind it, if it is a known one.

    The `certainty` is that of the misconception: alike if it alone gives what was observed. If the failure
    `is_one_of_several`, there is another mistake too. `words` name the sizes that the coefficient may be made of.
    `quoted` has the library's own words. With `only_some_sizes` the same code is right for other sizes.
    """

    kind: FindingKind
    fact: Fact
    subject: str = ""
    coefficient: Coefficient | None = None
    words: Mapping[str, str | None] = field(default_factory=dict)
    only_some_sizes: bool = False
    quoted: str | None = None
    place: Place | None = None
    evidence: Evidence | None = None
    misconception: Misconception | None = None
    certainty: Certainty = Certainty.DESCRIBED
    is_one_of_several: bool = False


UNEXPLAINED = ("value", "special", "other")
"""The ids of findings that say only that something differs."""


@dataclass(frozen=True)
class Location:
    """Where a mistake was found: at a known statement, else at the line where the values diverge.

    The only statement of a misconception is alike. A line is shown if an edit there makes the check pass and leaves no
    mistake of this kind. It is likely if an edit mends some checks only, if the values diverge there, or if it is the
    first of several statements or the head of a function.

    With `is_origin` it is the line that makes the plain number which is wrong there. `first_mistake` is a misconception
    that the line is known from, though it does not explain everything. `is_one_of_several` says that a mistake was
    found on another line too.
    """

    place: Place
    divergence: Divergence | None = None
    is_origin: bool = False
    first_mistake: Misconception | None = None
    certainty: Certainty = Certainty.LIKELY
    is_one_of_several: bool = False


def claim_of(diagnosis: Diagnosis | None, location: Location | None) -> Certainty:
    """Return how sure the name of a misconception is.

    It is shown if the code has what the name says, or if an edit that mends the line proves the place. Equal results
    alone show that the program is like one with this mistake.
    """
    if location is not None and location.first_mistake is not None:
        return Certainty.SHOWN
    if diagnosis is None or diagnosis.misconception is None:
        return Certainty.DESCRIBED
    is_shown = Certainty.SHOWN in (diagnosis.certainty, location.certainty if location is not None else None)
    return Certainty.SHOWN if is_shown else Certainty.ALIKE
