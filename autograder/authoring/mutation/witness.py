"""Search for a witness of a survivor: an input of a check on which it differs from the solution."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from autograder.authoring.mutation.edges import VALUES, check_and_family, edge_trials, name_in_family
from autograder.authoring.mutation.measured_gradients import ending_programs
from autograder.authoring.mutation.unusual_inputs import GRADIENTS, KEPT
from autograder.checks import Judge, Same
from autograder.checks.trials import Key, sizes_of
from autograder.comparison.compare import Expected, passes
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.runner.outcomes import Observed
from autograder.runner.runner import Runner

Reason = Literal["judge", "trial", "sizes", "values", "gradients", "kept"]

_REASONS: Mapping[str, Reason] = {KEPT: "kept", GRADIENTS: "gradients"}
"""The families that observe something of their own, and not what the check observes."""

BATCH = 40
"""Trials of a job. A larger job is not ended by the first difference, a smaller one costs more jobs."""


@dataclass(frozen=True)
class Witness:
    """An input on which a survivor differs: the trial of a check, its sizes, and why the course does not notice.

    The course has this trial, and the `judge` accepts the difference. Or it lacks the `trial`, its `sizes`, or its
    kind of `values`, or does not observe the `gradients`, or that the inputs are `kept`. `inputs` describe what the
    check drew, the values of small ones too.
    """

    reason: Reason
    check: str
    trial: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    detail: str = ""
    family: str = ""
    inputs: Sequence[str] = ()

    @property
    def sentence(self) -> str:
        """Where the survivor differs, as a sentence."""
        check = f"the check {self.check}"
        match self.reason:
            case "judge":
                return f"Differs in trial {self.trial + 1} of {check}, and its judge {self.detail} accepts this."
            case "trial":
                return f"Differs in trial {self.trial + 1} of {check}, which has only {self.detail}."
            case "sizes":
                sizes = " ".join(f"{axis}={size}" for axis, size in self.sizes.items())
                return f"Differs in {check} with other sizes: {sizes}."
            case "gradients":
                return f"Its gradients differ in {check}, and no check observes this."
            case "kept":
                return f"It changes an input of {check}, and no check observes this."
            case "values":
                return f"Differs in {check} with {self.detail}."


class Witnesses:
    """Searches for witnesses in one exercise. The solution's answers are computed once."""

    def __init__(
        self, suite: Suite, edges: Suite, exercise: Exercise, solutions: Mapping[str, bytes], *, seed: int, trials: int
    ) -> None:
        """`trials` is the number of trials to run of each check beyond its own."""
        self.suite = suite
        self.edges = edges
        self.exercise = exercise
        self.solutions = solutions
        self.seed = seed
        self.trials = trials
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self._expected: dict[Key, Expected | None] = {}
        self._at_edges: dict[Key, Expected | None] = {}

    def find(self, source: bytes, runner: Runner, at_edges: Runner) -> Witness | None:
        """Return the first witness of a program, None if none is found."""
        sources = {**self.solutions, self.exercise.file: source}
        for key in self._differing(sources, runner, self._own_trials(), self._expected, strict=True):
            return Witness("judge", *key, self._sizes(key), type(self.checks[key[0]].judge).__name__)
        for key in self._differing(sources, runner, self._more_trials(), self._expected):
            count = self.checks[key[0]].trials
            return Witness("trial", *key, self._sizes(key), f"{count} trials" if count > 1 else "1 trial")
        trials = list(edge_trials(self.suite, self.edges, self.exercise, self.seed))
        for name, trial in self._differing(sources, at_edges, trials, self._at_edges):
            check, family = check_and_family(name)
            sizes = sizes_of(self.edges.course.sizes_of(self.exercise), self.seed, self.exercise.id, name, trial)
            reason = _REASONS.get(family, "values") if family else "sizes"
            return Witness(reason, check, trial, sizes, VALUES.get(family or "", ""), family or "")
        return None

    def with_inputs(self, witness: Witness, inputs: Runner, at_edges: Runner) -> Witness:
        """Return a witness with its inputs. Both runners show the inputs of checks, `at_edges` the unusual ones."""
        runner = inputs if witness.reason in ("judge", "trial") else at_edges
        key = name_in_family(witness.check, witness.family), witness.trial
        outcome = runner.run(self.solutions, {self.exercise.id: [key]}).outcomes.get(self.exercise.id, {}).get(key)
        match outcome.value if isinstance(outcome, Observed) else None:
            case {"inputs": [*texts]}:
                return replace(witness, inputs=tuple(map(str, texts)))
        return witness

    def has_no_gradient(self, mutant: str, runner: Runner, at_edges: Runner) -> bool:
        """Return whether a mutant detaches a value that has a gradient in no trial: then it changes nothing.

        Also with inputs and parameters that have one; a statement that no such trial runs proves nothing.
        """
        programs = ending_programs(self.solutions[self.exercise.file].decode("utf-8"), mutant)
        if programs is None:
            return False
        always, with_graph = ({**self.solutions, self.exercise.file: text.encode()} for text in programs)
        edges = list(edge_trials(self.suite, self.edges, self.exercise, self.seed))
        with_gradients = [key for key in edges if check_and_family(key[0])[1] == GRADIENTS]
        own = [(check.id, trial) for check in self.checks.values() for trial in range(check.trials)]
        runs = ((runner, own + self._more_trials(), self._expected), (at_edges, edges, self._at_edges))
        return any(self._differing(always, at_edges, with_gradients, self._at_edges)) and not any(
            key for one, trials, expected in runs for key in self._differing(with_graph, one, trials, expected)
        )

    def _own_trials(self) -> list[Key]:
        """Return the trials of the checks that accept other results than the solution's."""
        loose = (check for check in self.checks.values() if not isinstance(check.judge, Same))
        return [(check.id, trial) for check in loose for trial in range(check.trials)]

    def _more_trials(self) -> list[Key]:
        """Return trials beyond those of the course: one of each check, then the next one of each."""
        return [(check.id, check.trials + number) for number in range(self.trials) for check in self.checks.values()]

    def _sizes(self, key: Key) -> Mapping[str, int]:
        return sizes_of(self.suite.course.sizes_of(self.exercise), self.seed, self.exercise.id, *key)

    def _judge(self, key: Key) -> Judge:
        check, family = check_and_family(key[0])
        return Same() if family in _REASONS else self.checks[check].judge

    def _differing(
        self,
        sources: Mapping[str, bytes],
        runner: Runner,
        trials: Sequence[Key],
        expected: dict[Key, Expected | None],
        *,
        strict: bool = False,
    ) -> Iterator[Key]:
        """Yield the trials in which a program differs from the solution; `strict` compares every number."""
        for start in range(0, len(trials), BATCH):
            keys = trials[start : start + BATCH]
            self._answer(runner, keys, expected)
            usable = [key for key in keys if expected[key] is not None]
            outcomes = runner.run(sources, {self.exercise.id: usable}).outcomes.get(self.exercise.id, {})
            for key in usable:
                right = expected[key]
                judge = Same() if strict else self._judge(key)
                if right is not None and not passes(outcomes[key], right, judge):
                    yield key

    def _answer(self, runner: Runner, keys: Sequence[Key], expected: dict[Key, Expected | None]) -> None:
        """Run the solution where its answers are missing; None stands for a trial that it cannot answer."""
        missing = [key for key in keys if key not in expected]
        plan = {self.exercise.id: missing}
        nominal = runner.run(self.solutions, plan).outcomes.get(self.exercise.id, {})
        exact = runner.run(self.solutions, plan, exact=True).outcomes.get(self.exercise.id, {})
        for key in missing:
            one, other = nominal[key], exact[key]
            expected[key] = None
            if isinstance(one, Observed) and isinstance(other, Observed):
                answer = Expected(one.value, other.value)
                if _accepts(self._judge(key), answer):
                    expected[key] = answer


def _accepts(judge: Judge, answer: Expected) -> bool:
    """Return whether a judge accepts the solution's own answer: on an unusual input its judge may not work."""
    try:
        return passes(Observed(answer.nominal), answer, judge)
    except Exception:  # a judge of the course's own may raise anything
        return False
