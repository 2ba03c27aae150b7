"""Default misconceptions: for each standard check that no misconception fails, a wrong program with its texts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autograder.answer_key.keys import Keys
from autograder.authoring.mutation.mutants import Mutant, mutants_of, patch_of
from autograder.authoring.mutation.texts import EXAMPLES, TEXTS
from autograder.authoring.naming import append_entry, entry_of
from autograder.authoring.programs import programs_of
from autograder.checks import Check, Raises
from autograder.checks.trials import Key
from autograder.comparison.compare import Expected, passes
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.edits.standard import OPERATORS, standard_variants
from autograder.report.quantities import plural
from autograder.runner.outcomes import Fault, Observed, Outcome
from autograder.runner.runner import Runner

OnProgress = Callable[[int, int], None]

MAY_RAISE = frozenset({"device", "dtypes", "leading_axes"})
"""The kinds of standard checks in which a typical mistake raises, as tensors of two devices do."""


@dataclass(frozen=True)
class Defaults:
    """The entries that were added by the check that they fail, and the standard checks without one that fits.

    `tried` is the number of programs that were run for each check.
    """

    entries: Mapping[str, str]
    without: tuple[Check, ...]
    tried: Mapping[str, int]

    @property
    def advice(self) -> list[str]:
        """Return a sentence for each check without an entry: what was tried, and what the author may write."""
        return [
            f"no default misconception fails {check.id}. {plural(self.tried[check.id], 'program')} tried in which "
            f"{TEXTS[OPERATORS[check.kind]][0]}. Write {EXAMPLES[check.kind]}"
            for check in self.without
        ]


def add_defaults(suite: Suite, exercise: Exercise, *, on_progress: OnProgress = lambda *_: None) -> Defaults:
    """Add a misconception to an exercise for every standard check that none fails; each was run, and fails its check.

    Of several programs, the one that fails the fewest other checks is taken. `on_progress(done, total)` is called for
    each program that was run.
    """
    with Keys(suite, seed=suite.course.seed) as keys, Runner(suite, seed=suite.course.seed, shared=True) as runner:
        trier = _Trier(suite, exercise, runner, keys.reference(exercise).reference)
        idle = trier.idle()
        candidates = trier.candidates({check.kind for check in idle})
        chosen: dict[str, Mutant] = {}
        fewest: dict[str, int] = {}
        for done, mutant in enumerate(candidates, 1):
            outcomes = trier.outcomes(mutant.source, suite.checks[exercise.id])
            failed = trier.failed(outcomes)
            for check in idle:
                is_better = len(failed) < fewest.get(check.id, len(trier.checks) + 1)
                is_fit = OPERATORS[check.kind] == mutant.operator and not trier.only_crashes(check, outcomes)
                if check.id in failed and is_fit and is_better:
                    chosen[check.id], fewest[check.id] = mutant, len(failed)
            on_progress(done, len(candidates))
    entries = {check.id: _add(suite, exercise, check, chosen[check.id]) for check in idle if check.id in chosen}
    made = Counter(mutant.operator for mutant in candidates)
    tried = {check.id: made[OPERATORS[check.kind]] for check in idle}
    return Defaults(entries, tuple(check for check in idle if check.id not in chosen), tried)


class _Trier:
    """Runs programs of one exercise on some of its checks."""

    def __init__(self, suite: Suite, exercise: Exercise, runner: Runner, reference: Mapping[Key, Expected]) -> None:
        self.suite = suite
        self.exercise = exercise
        self.runner = runner
        self.reference = reference
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self.base = next(iter(programs_of(suite, exercise))).sources
        self.solution = self.base[exercise.file].decode("utf-8")

    def idle(self) -> list[Check]:
        """Return the standard checks that no misconception fails."""
        left = [check for check in self.checks.values() if check.kind in OPERATORS]
        wrong = [program for program in programs_of(self.suite, self.exercise) if program.kind == "misconception"]
        for program in wrong:
            failed = self.failed(self.outcomes(program.sources[self.exercise.file].decode("utf-8"), left))
            left = [check for check in left if check.id not in failed]
        return left

    def candidates(self, kinds: set[str]) -> list[Mutant]:
        """Return the programs that these kinds of checks may catch, without those of the catalogue."""
        operators = {OPERATORS[kind] for kind in kinds}
        made = mutants_of(self.solution, self.exercise.number, standard_variants)
        return [mutant for mutant in made if mutant.operator in operators]

    def outcomes(self, source: str, checks: Sequence[Check]) -> Mapping[Key, Outcome]:
        """Return the outcomes of every trial of these checks for a program."""
        trials = [(check.id, trial) for check in checks for trial in range(check.trials)]
        sources = {**self.base, self.exercise.file: source.encode()}
        run = self.runner.run(sources, {self.exercise.id: trials}) if trials else None
        return run.outcomes.get(self.exercise.id, {}) if run is not None else {}

    def failed(self, outcomes: Mapping[Key, Outcome]) -> set[str]:
        """Return the ids of the checks that fail with these outcomes."""
        judges = {name: check.judge for name, check in self.checks.items()}
        pairs = outcomes.items()
        return {key[0] for key, outcome in pairs if not passes(outcome, self.reference[key], judges[key[0]])}

    def only_crashes(self, check: Check, outcomes: Mapping[Key, Outcome]) -> bool:
        """Say whether a program teaches nothing about a check: it raises where the mistake itself raises nothing."""
        crashes = [
            _is_crash(outcome)
            for (name, _), outcome in outcomes.items()
            if not isinstance(self.checks[name].judge, Raises)  # these observe every exception
        ]
        return all(crashes) if check.kind in MAY_RAISE else any(crashes)


def _is_crash(outcome: Outcome) -> bool:
    """Say whether a trial ended without a result. A missing parameter is no crash: the message names it."""
    return not isinstance(outcome, Observed) and not (isinstance(outcome, Fault) and outcome.kind == "structure")


def _add(suite: Suite, exercise: Exercise, check: Check, mutant: Mutant) -> str:
    """Add a program to the catalogue with the texts of its operator; return the entry."""
    solution = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
    name = f"{exercise.id[5:]}-{check.id}".replace("_", "-")
    origin = f"A default misconception of the standard check {check.id}."
    entry = entry_of(exercise, name, origin, [patch_of(solution, mutant.source)], TEXTS[mutant.operator])
    append_entry(suite.course, exercise, name, entry)
    return entry
