"""Run the mutants of a course until the first failing trial, and list those that no check notices."""

import contextlib
import hashlib
import json
import math
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from autograder.answer_key import AnswerKey, Keys
from autograder.checks import Key
from autograder.comparison import passes
from autograder.course import (
    Course,
    Exercise,
    Suite,
    digest_of_parts,
    engine_digest,
    read_plain,
    state_folder,
    versions_of,
    write_atomically,
)
from autograder.formats import Unreadable, read_json
from autograder.runner import GraderProblem, Observed, Runner, Timeouts

from .mutants import (
    Equivalent,
    Mutant,
    counts_from_the_other_end,
    equivalents_file,
    is_equivalent,
    mutants_of,
    read_equivalents,
    stale,
)
from .witness import Witness, Witnesses, edge_suite, showing_inputs

# The outcomes of mutants, kept in `.course`: a run that was stopped goes on where it ended.


@dataclass(frozen=True)
class Outcomes:
    """The check that catches each mutant, None for a survivor, and the witnesses of survivors.

    `digest` is that of everything that decides what is caught, `search` that of the search for witnesses. After a
    change of the first, nothing is kept but the `hints`: which check caught a mutant before. `without_gradient` has the
    survivors that detach a value which has a gradient in no trial.
    """

    digest: str
    search: str
    caught: dict[str, str | None] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    witnesses: dict[str, Witness | None] = field(default_factory=dict)
    without_gradient: list[str] = field(default_factory=list)

    def save(self, file: Path) -> None:
        """Write the outcomes, whole or not at all. A folder that cannot be written only costs time."""
        copied = Outcomes(**{name: copy(value) for name, value in vars(self).items()})  # other threads add meanwhile
        with contextlib.suppress(OSError):
            write_atomically(file, json.dumps(asdict(copied)))


def outcomes_of(suite: Suite, exercise: Exercise, seed: int, *, trials: int = 0, fresh: bool = False) -> Outcomes:
    """Return what is known of the mutants of an exercise; with `fresh`, nothing is.

    Witnesses are known if they were searched in as many `trials`.
    """
    digest = _digest(suite, exercise, seed)
    search = hashlib.sha256(engine_digest("authoring", "edits") + str(trials).encode()).hexdigest()
    kept = read_outcomes(_outcomes_file(suite.course, exercise))
    if kept is None:
        return Outcomes(digest, search)
    if fresh or kept.digest != digest:
        caught = {id_: check for id_, check in kept.caught.items() if check is not None}
        return Outcomes(digest, search, hints=kept.hints | caught)
    return kept if kept.search == search else Outcomes(digest, search, kept.caught, kept.hints)


def read_outcomes(file: Path) -> Outcomes | None:
    """Return the outcomes of an earlier run; None where they are missing, damaged or no plain file."""
    with contextlib.suppress(OSError, Unreadable):
        return read_json(Outcomes, read_plain(file))
    return None


def _outcomes_file(course: Course, exercise: Exercise) -> Path:
    return state_folder(course.root, "cache") / f"mutants-{exercise.id}.json"


def _digest(suite: Suite, exercise: Exercise, seed: int) -> str:
    """Return the digest of everything that decides whether a mutant is caught, beside the mutant."""
    course = suite.course
    needed = [course.solutions_dir / need.file for need in course.with_all_needs(exercise)]
    versions = versions_of((*course.libraries, *exercise.libraries))
    parts = [
        engine_digest(),
        repr((seed, course.sizes_of(exercise), exercise.forbidden, platform.python_version(), versions)).encode(),
        suite.sources[course.checks_file(exercise).name],
        *(read_plain(file) for file in needed),
    ]
    return digest_of_parts(parts)


STAGES = (1, 4)
"""How many checks run in the first jobs of a mutant, the likeliest to catch it first. The rest follow in one job."""

TIMES_SLOWER = 5
"""A mutant may take as many times as long as the slowest trial of the solution, and at least a second."""

SAVE_SECONDS = 5.0
"""How often the outcomes are written: so much work is lost if the program is killed."""

SEARCHED = 10
"""Trials of each check beyond its own in which a witness is searched."""


@dataclass(frozen=True)
class Survivor:
    """A mutant that passes every check, and an input on which it differs, if one was found."""

    mutant: Mutant
    witness: Witness | None


@dataclass(frozen=True)
class ExerciseMutants:
    """The mutants of an exercise. `left` were not run for lack of time; `problems` are entries that are not true."""

    exercise: Exercise
    mutants: int
    left: int
    caught: int
    equivalent: int
    survivors: tuple[Survivor, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Return whether every mutant is caught, or listed with a reason that holds."""
        return not (self.left or self.survivors or self.problems)


@dataclass
class Bench:
    """The workers of one job: for the checks as they are, for unusual inputs, and for the inputs of both alone."""

    runner: Runner
    at_edges: Runner
    inputs: Runner
    inputs_at_edges: Runner


class Hunt:
    """Runs the mutants of one exercise. Which checks caught others decides which run first."""

    def __init__(self, suite: Suite, exercise: Exercise, key: AnswerKey, solutions: Mapping[str, bytes]) -> None:
        self.suite = suite
        self.exercise = exercise
        self.key = key
        self.solutions = solutions
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self.killers: Counter[tuple[str, str]] = Counter()

    def catcher(self, mutant: Mutant, runner: Runner, hint: str | None) -> str | None:
        """Return the check that catches a mutant, None if it passes all of them."""
        sources = {**self.solutions, self.exercise.file: mutant.source.encode()}
        for keys in self._stages(mutant, hint):
            patience = Timeouts(self.suite.course.limits, careful=True)  # a hang then costs one worker, not two
            run = runner.run(sources, {self.exercise.id: keys}, patience=patience)
            survey = run.surveys.get(self.exercise.id)
            if survey is None or survey.forbidden:
                return "forbidden"
            outcomes = run.outcomes[self.exercise.id]
            for key in keys:
                if not passes(outcomes[key], self.key.reference[key], self.checks[key[0]].judge):
                    self.killers[mutant.where, key[0]] += 1
                    return key[0]
        return None

    def _stages(self, mutant: Mutant, hint: str | None) -> Iterator[list[Key]]:
        """Yield all trials in a few jobs: first those of the checks that are likely to catch the mutant."""
        owner = mutant.where.split(".")[0]
        overall: Counter[str] = Counter()
        for (_, check), count in [*self.killers.items()]:
            overall[check] += count

        def likely(check: str) -> tuple[bool, int, bool, int]:
            own = self.killers[mutant.where, check]
            return check == hint, own, self.checks[check].of == owner, overall[check]

        order = sorted(self.checks, key=likely, reverse=True)
        start = 0
        for count in STAGES:
            if chosen := order[start : start + count]:
                yield [(check, 0) for check in chosen]
            start += count
        rest = [(check, trial) for check in order for trial in range(self.checks[check].trials)]
        early = set(order[:start])
        if left := [key for key in rest if key[1] or key[0] not in early]:
            yield left


@dataclass(frozen=True)
class _Part:
    """What is needed to run the mutants of one exercise."""

    exercise: Exercise
    mutants: Sequence[Mutant]
    listed: tuple[Equivalent, ...]
    outcomes: Outcomes
    hunt: Hunt
    witnesses: Witnesses

    def is_open(self, mutant: Mutant) -> bool:
        """Say whether a mutant is to be run, or survives without a search for a witness."""
        caught, witnesses = self.outcomes.caught, self.outcomes.witnesses
        if mutant.id not in caught:
            return True
        return caught[mutant.id] is None and mutant.id not in witnesses and not is_equivalent(mutant, self.listed)


@dataclass(frozen=True)
class Options:
    """How the mutants are run: the seed, the number of jobs, and the second at which no other mutant begins.

    `fresh` runs what was run before.
    """

    seed: int
    jobs: int
    until: float = math.inf
    trials: int = SEARCHED
    fresh: bool = False


def mutate_each(
    suite: Suite, options: Options, *, on_progress: Callable[[str, int, int], None] = lambda *_: None
) -> Iterator[ExerciseMutants]:
    """Yield the result of each exercise; calls `on_progress(exercise, done, all)`.

    Raises `GraderProblem` if a solution fails its own checks, and `UsageError` for a list that cannot be read.
    """
    edges = edge_suite(suite)
    with Keys(suite, seed=options.seed) as keys, Runner(suite, seed=options.seed, shared=True) as first:
        parts = [_part(suite, edges, exercise, keys, options) for exercise in suite.exercises]
        pending = {part.exercise.id: list(filter(part.is_open, part.mutants)) for part in parts}
        busy = [part for part in parts if pending[part.exercise.id]]
        slowest = max((_seconds(part, first) for part in busy), default=0.0)
    limited, edges = (_limited(one, slowest) for one in (suite, edges))
    for part in parts:
        part.hunt.suite = limited
    with _Pool(limited, edges, options) as pool:
        for part in parts:
            _run(part, pending[part.exercise.id], pool, options, on_progress)
            yield _result(part)


def _part(suite: Suite, edges: Suite, exercise: Exercise, keys: Keys, options: Options) -> _Part:
    course = suite.course
    solutions = {need.file: (course.solutions_dir / need.file).read_bytes() for need in course.with_all_needs(exercise)}
    witnesses = Witnesses(suite, edges, exercise, solutions, seed=options.seed, trials=options.trials)
    return _Part(
        exercise,
        mutants_of(solutions[exercise.file].decode("utf-8"), exercise.number),
        read_equivalents(equivalents_file(course, exercise)),
        outcomes_of(suite, exercise, options.seed, trials=options.trials, fresh=options.fresh),
        Hunt(suite, exercise, keys.reference(exercise), solutions),
        witnesses,
    )


def _seconds(part: _Part, runner: Runner) -> float:
    """Return the time of the slowest trial of a solution. Raises `GraderProblem` if the solution fails a check."""
    plan = runner.suite.plan([part.exercise])
    outcomes = runner.run(part.hunt.solutions, plan).outcomes[part.exercise.id]
    for key, outcome in outcomes.items():
        if not passes(outcome, part.hunt.key.reference[key], part.hunt.checks[key[0]].judge):
            raise GraderProblem(f"the solution of {part.exercise.id} fails the check {key[0]}; run `course validate`")
    return max(outcome.seconds for outcome in outcomes.values() if isinstance(outcome, Observed))


def _limited(suite: Suite, slowest: float) -> Suite:
    """Return the suite with a shorter time limit: a mutant that loops for ever should cost little."""
    limits = suite.course.limits
    seconds = min(limits.cpu_seconds, max(1, math.ceil(TIMES_SLOWER * slowest)))
    return replace(suite, course=replace(suite.course, limits=replace(limits, cpu_seconds=seconds)))


class _Pool:
    """Runs the mutants of all exercises, several at a time. Its workers start when they are needed."""

    def __init__(self, suite: Suite, edges: Suite, options: Options) -> None:
        self._stack = ExitStack()
        self._benches: SimpleQueue[Bench] = SimpleQueue()
        for _ in range(options.jobs):
            suites = (suite, edges, showing_inputs(suite), showing_inputs(edges))
            runners = (Runner(one, seed=options.seed, shared=True) for one in suites)
            self._benches.put(Bench(*map(self._stack.enter_context, runners)))
        self._threads = self._stack.enter_context(ThreadPoolExecutor(options.jobs))

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def map(self, work: Callable[[Mutant, Bench], bool], mutants: Sequence[Mutant]) -> Iterator[bool]:
        """Yield the results in the order of the mutants."""

        def run(mutant: Mutant) -> bool:
            bench = self._benches.get()
            try:
                return work(mutant, bench)
            finally:
                self._benches.put(bench)

        return self._threads.map(run, mutants)


def _run(
    part: _Part,
    pending: Sequence[Mutant],
    pool: _Pool,
    options: Options,
    on_progress: Callable[[str, int, int], None],
) -> None:
    """Run mutants until the time is over, and keep the outcomes."""
    outcomes, file = part.outcomes, _outcomes_file(part.hunt.suite.course, part.exercise)

    def work(mutant: Mutant, bench: Bench) -> bool:
        if time.monotonic() > options.until:
            return False
        if mutant.id not in outcomes.caught:
            outcomes.caught[mutant.id] = part.hunt.catcher(mutant, bench.runner, outcomes.hints.get(mutant.id))
        if part.is_open(mutant):
            found = part.witnesses.find(mutant.source.encode(), bench.runner, bench.at_edges)
            if found is not None:
                found = part.witnesses.with_inputs(found, bench.inputs, bench.inputs_at_edges)
            elif mutant.operator == "gradient" and part.witnesses.has_no_gradient(
                mutant.source, bench.runner, bench.at_edges
            ):
                outcomes.without_gradient.append(mutant.id)
            outcomes.witnesses[mutant.id] = found
        return True

    saved, before = time.monotonic(), len(part.mutants) - len(pending)
    try:
        for done, was_run in enumerate(pool.map(work, pending), 1):
            if was_run:
                on_progress(part.exercise.id, before + done, len(part.mutants))
            if time.monotonic() - saved > SAVE_SECONDS:
                outcomes.save(file)
                saved = time.monotonic()
    finally:
        outcomes.save(file)


def _result(part: _Part) -> ExerciseMutants:
    caught, witnesses = part.outcomes.caught, part.outcomes.witnesses
    alive = [mutant for mutant in part.mutants if caught.get(mutant.id, "") is None]
    unseen = {
        *part.outcomes.without_gradient,
        *(one.id for one in alive if not witnesses.get(one.id, True) and counts_from_the_other_end(one)),
    }
    listed = {mutant.id for mutant in alive if mutant.id in unseen or is_equivalent(mutant, part.listed)}
    survivors = [Survivor(mutant, witnesses.get(mutant.id)) for mutant in alive if mutant.id not in listed]
    return ExerciseMutants(
        exercise=part.exercise,
        mutants=len(part.mutants),
        left=sum(mutant.id not in caught for mutant in part.mutants),
        caught=sum(caught.get(mutant.id) is not None for mutant in part.mutants),
        equivalent=len(listed),
        survivors=tuple(sorted(survivors, key=_unlikeliness)),
        problems=tuple(f"{entry}: {why}" for entry, why in stale(part.listed, part.mutants, caught)),
    )


LIKELY = (
    *("boolean", "factor", "comparison", "arithmetic", "term dropped", "axis", "condition", "swapped", "call dropped"),
    *("dtype", "sign", "gradient", "in place", "argument dropped", "another name", "order", "transpose", "off by one"),
    *("slice", "mask", "loop", "argument ignored", "constant", "device", "block dropped", "statement dropped"),
)
"""Operators, those first whose mutants are most often misconceptions of this project's courses."""


def _unlikeliness(survivor: Survivor) -> tuple[bool, int]:
    """Return the order of survivors: those that show on an input first, and of these what learners write most."""
    operator = survivor.mutant.operator
    return survivor.witness is None, LIKELY.index(operator) if operator in LIKELY else len(LIKELY)


# The mutants of an exercise as data, for `course mutate --json`.


def to_json(result: ExerciseMutants) -> dict[str, Any]:
    """Return the result of an exercise as data."""

    def survivor(found: Survivor) -> dict[str, Any]:
        mutant = {name: value for name, value in asdict(found.mutant).items() if name != "source"}
        return {**mutant, "witness": asdict(found.witness) if found.witness else None}

    names = ("mutants", "left", "caught", "equivalent", "problems", "ok")
    return {
        "id": result.exercise.id,
        **{name: getattr(result, name) for name in names},
        "survivors": [survivor(found) for found in result.survivors],
    }
