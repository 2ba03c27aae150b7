"""Prove a course: solutions get full marks, stubs and empty programs none, misconceptions are caught and named."""

import ast
import builtins
import importlib.util
import json
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from autograder.answer_key import AnswerKey, CatalogueError, Keys, Outcomes, WrongProgram
from autograder.checks import Check, Key, Raises
from autograder.comparison import Expected, passes
from autograder.course import COURSE_FILE, Course, Exercise, Grid, StubError, Suite, nearest, read_text, shortened
from autograder.diagnosis import EXERCISE_SECONDS, Deadline, OutOfTime, Source, first_divergence
from autograder.judge import StepResult, Verdicts, failures, plan_of, result_of, results_of
from autograder.protocol import ARGUMENT, COUNTS, PACKAGE, statements
from autograder.report import render
from autograder.results import CheckResult, ExerciseResult
from autograder.runner import (
    NO_SURVEY,
    CourseProblem,
    GraderProblem,
    Observed,
    Outcome,
    RecordedTrace,
    Run,
    Runner,
    Timeouts,
    TraceStep,
    WorkerFailure,
    of_own_programs,
)

from .leaks import copied_lines, copied_regions, leaking_texts
from .oversights import (
    catalogue_mistakes,
    coarse_tolerances,
    exceptions_inside,
    exceptions_without_definition,
    foreign_imports,
    given_away,
    hint_problems,
    imported_solutions,
    leftover_problems,
    missing_hints,
    names_without_definition,
    not_following,
    orders_of_sets,
    raising_anything,
    reading_clocks,
    reading_dates,
    reading_machines,
    regions_without_todo,
    reworded_patches,
    stale_files,
    starts_without_todo,
    todos_of_others,
    unchanging,
    unfinished_texts,
    unlisted_imports,
)
from .programs import (
    Kind,
    Memory,
    OnProgress,
    Program,
    catalogue_of,
    import_problem,
    lacking_programs,
    new_runner,
    over_budget,
    points_of,
    pool_of,
    problems_of,
    programs_of,
    run_empty,
    run_in_workers,
    with_keys,
)
from .release import license_problems, measured, problem_of, warning_of

# What a program of a course should not have got: a right one a failure, a wrong one a pass or another name.

MOST_ROWS = 3
"""More rows of a worked example that differ have one cause, mostly."""

MOST_WITHOUT_IDEA = 0.25
"""The largest share of an exercise's points for a program that does everything but what the exercise is about."""

RIGHT = {"solution": "the solution", "accepted": "the accepted variant {}"}


@np.errstate(all="ignore")
def twins_of(program: Program, outcomes: Outcomes, checks: Sequence[Check], check: str) -> list[str]:
    """Return the other misconceptions that give a check the same results as one that fails it."""
    declared = next(known for known in checks if known.id == check)
    own = outcomes[program.name]
    others = {name: wrong for name, wrong in outcomes.items() if name != program.name}
    return [name for name, wrong in others.items() if _are_equal(declared, own, wrong)]


def _are_equal(check: Check, own: Mapping[Key, Outcome], other: Mapping[Key, Outcome]) -> bool:
    """Whether two programs give a check the same wrong results, as far as its judge tells them apart."""
    for trial in range(check.trials):
        one, another = own.get((check.id, trial)), other.get((check.id, trial))
        if isinstance(one, Observed) and isinstance(another, Observed):
            if not passes(one, Expected(another.value, another.value), check.judge):
                return False
        elif one != another:
            return False
    return True


def _unnamed(program: Program, check: CheckResult, twins: Sequence[str]) -> str:
    """Return why a check does not name a misconception that fails it."""
    fails = f"the misconception {program.name} fails the check {check.id}"
    if twins:
        same = f"{', '.join(twins)} {'gives' if len(twins) == 1 else 'give'} it the same result"
        return f"{fails} without a name, as {same}: observe more in it, or name each in the other's same_as"
    return f"{fails} without a name; a student would read: {check.finding.message if check.finding else check.status}"


STOPPED = {"timeout": ("does not end", "what ends the loop"), "memory": ("uses up the memory", "what grows")}
"""What a program does that is stopped at a limit, and what a hint can ask, by the status of its check."""


def _stopped(misconception: str, checks: Sequence[CheckResult]) -> str:
    """Return why a misconception gets no name in these checks: they only show that it was stopped."""
    does, asks = STOPPED[checks[0].status]
    where = f"the check{'' if len(checks) == 1 else 's'} {', '.join(check.id for check in checks)}"
    remedy = f"remove it or make it stop earlier, and let the hints of {checks[0].id} ask {asks}"
    return f"the misconception {misconception} {does} in {where}, and what is stopped gets no name: {remedy}"


def unequal_step(step: StepResult) -> str:
    """Return what a right program gives in a step of the worked example, and what is on paper."""
    message = step.finding.message if step.finding is not None else ""
    if step.yours is None:
        return f"the step {step.id}: {message}"
    if len(step.yours) != len(step.paper):
        pairs = [(step.yours, step.paper)]
    else:
        rows = zip(step.yours, step.paper, strict=True)
        pairs = [((yours,), (paper,)) for yours, paper in rows if yours != paper]
    values = "; ".join(f"it gives {_line(yours)}, on paper it is {_line(paper)}" for yours, paper in pairs[:MOST_ROWS])
    return f"the step {step.id}: {message} {values[:1].upper()}{values[1:]}"


def _line(rows: Grid) -> str:
    return shortened("; ".join(" ".join(row) for row in rows))


def unexpected(
    program: Program,
    result: ExerciseResult,
    twins: Callable[[str], Sequence[str]],
    *,
    may_be_unknown: bool,
    every_check: bool = True,
) -> Iterable[str]:
    """Yield a sentence for everything that a program should not have got.

    `twins` returns the misconceptions that give a check equal results; it is called only for one without a name.
    Without `every_check` the result has some checks only: they do not say whether a wrong program is caught, nor as
    what.

    On another device than the CPU a misconception `may_be_unknown`: a tensor left on the CPU fails every check alike.
    """
    failed = [
        check for check in result.checks if check.status not in ("pass", "waits")
    ]  # a check waits only for one that fails
    if program.kind == "stub":
        if result.status != "not_started" or result.score:
            ended = [check.id for check in result.checks if check.status in ("pass", "fail")]
            remedy = f"; a check of it catches NotImplementedError: {', '.join(ended)}" if not result.score else ""
            found = f"{result.status} with {result.score / 100:g} points"
            yield f"the stub is {found}, expected not_started with 0{remedy}"
    elif program.kind in ("unwritten", "misconception") and not every_check:
        return
    elif program.kind == "unwritten":
        if not failed:
            yield (
                f"no check needs {program.name}: a program that still raises NotImplementedError there passes; "
                "write a check of it, or take it out of the solution regions"
            )
    elif program.kind == "misconception":
        if not failed:
            hint = "make one stricter, or remove the misconception"
            yield f"the misconception {program.name} passes every check; {hint}"
        if program.without_idea and result.score > MOST_WITHOUT_IDEA * result.max_score:
            most = (
                f"{result.score / 100:g} of {result.max_score / 100:g} points, expected at most {MOST_WITHOUT_IDEA:.0%}"
            )
            yield f"the misconception {program.name} is without the idea and earns {most}: mark a check with idea=True"
        known = [check.finding.id if check.finding and check.finding.known_as else None for check in failed]
        stopped = [check for check, name in zip(failed, known, strict=True) if not name and check.status in STOPPED]
        if stopped:
            yield _stopped(program.name, stopped)
        for check, named in zip(failed, known, strict=True):
            if check in stopped:
                continue
            if named is None and not may_be_unknown:
                yield _unnamed(program, check, twins(check.id))
            elif named not in (program.name, *program.same_as, None):
                yield f"the check {check.id} takes the misconception {program.name} for {named}"
    else:
        names = {**RIGHT, "reference parts": "the solution, with reference parts for the exercises it needs,"}
        what = names[program.kind].format(program.name)
        for check in failed:
            reason = f"{check.finding.message} {check.finding.detail or ''}" if check.finding else check.status
            yield f"{what} fails the check {check.id}: {reason}"


# What a misconception costs: the percentage of its exercise's points that its failed checks give.

MEDIAN_COST = 30
"""The largest median of an exercise: half of its misconceptions leave most of its checks in peace."""

CONVENTION_COST = 35
"""What a convention of others may cost at most."""

HIGHEST_COST = 60
"""What a misconception may cost at most, unless it `destroys` the idea of the exercise."""

DESTROYING = 0.1
"""The largest share of an exercise's misconceptions that may destroy its idea."""

FEWEST_COSTS = 10
"""With fewer misconceptions, one check more or less decides the median, so no rule holds."""

COSTLY_FILE = "costly.toml"
"""A file beside the solutions: the exercises that do not hold the rules yet, each with its measured figures."""


def cost_of(checks: Sequence[Check], statuses: Mapping[str, str]) -> float:
    """Return the percentage of an exercise's points that a program loses. A bonus check gives none of them."""
    counted = [check for check in checks if not check.bonus] or checks
    lost = sum(check.points for check in counted if statuses[check.id] != "pass")
    return 100 * lost / sum(check.points for check in counted)


def cost_problems(entries: Sequence[WrongProgram], costs: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each misconception, and for their median, that costs more than the rules allow."""
    if len(costs) < FEWEST_COSTS:
        return
    sharper = "let each check judge only its own claim"
    if (middle := median(costs.values())) > MEDIAN_COST:
        expected = f"expected at most {MEDIAN_COST} %: {sharper}"
        yield f"the median misconception costs {middle:.0f} % of the points, {expected}"
    for entry in entries:
        cost, most = costs[entry.id], CONVENTION_COST if entry.convention else HIGHEST_COST
        if cost > most and not (entry.destroys and not entry.convention):
            what = "convention" if entry.convention else "misconception"
            yield f"the {what} {entry.id} costs {cost:.0f} % of the points, expected at most {most} %: {sharper}"
        elif entry.destroys and cost <= HIGHEST_COST:
            yield f"the misconception {entry.id} has destroys, and costs only {cost:.0f} % of the points: remove it"
    if (destroying := sum(bool(entry.destroys) for entry in entries)) > DESTROYING * len(entries):
        yield f"{destroying} of {len(entries)} misconceptions have destroys, expected at most one in ten"


def figures_of(entries: Sequence[WrongProgram], costs: Mapping[str, float]) -> str:
    """Return the figures that the rules compare, as the list of costly exercises has them."""
    above = sum(costs[entry.id] > HIGHEST_COST and not entry.destroys for entry in entries)
    conventions = sum(costs[entry.id] > CONVENTION_COST for entry in entries if entry.convention)
    more = f", conventions: {conventions} above {CONVENTION_COST} %" if conventions else ""
    return f"median {median(costs.values()):.0f} %, {above} above {HIGHEST_COST} %{more}"


def excused(listed: str | None, problems: Sequence[str], figures: str) -> Iterator[str]:
    """Yield the problems of an exercise's costs; of one that is listed as costly, only that its figures are wrong."""
    if listed is None:
        yield from problems
    elif not problems:
        yield f"{COSTLY_FILE} lists it, and its costs hold: remove the line"
    elif listed != figures:
        yield f"{COSTLY_FILE} says {listed!r} of it, measured is {figures!r}"


def _costs_too_much(suite: Suite, exercise: Exercise, costs: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence for each rule that the costs of an exercise break, if it is not listed as costly.

    A course without the list makes no promise about costs: those of a few checks are high in any case.
    """
    file = suite.course.solutions_dir / COSTLY_FILE
    if costs and file.is_file():
        entries = [entry for entry in catalogue_of(suite, exercise, unfit=[]) if entry.id in costs]
        listed = tomllib.loads(read_text(file))
        yield from excused(listed.get(exercise.id), list(cost_problems(entries, costs)), figures_of(entries, costs))


# How often the line of a mistake is found in programs that are no patches of the solution.
#
# The search holds the values of a program against those of the solution, so a right value that the solution lacks is
# taken for the mistake. An accepted variant runs once. Then each of its lines is made wrong in turn, in what the run
# recorded: its values become others, and so does all that is made of them.

MOST_STEPS = 1000
"""Steps of the solution in all checks that are recorded. More checks are left out: some variants take seconds there."""

MOST_CHECKS = 2
MOST_VARIANTS = 6
"""With more checks and variants, a proof takes more than a twentieth longer."""

RECORD_SECONDS = 2.0
"""A variant that takes longer is not searched: a recorded loop takes a hundred times as long."""

FEWEST_LINES = 10
"""With fewer lines, one more or less decides the share that is found."""

WEAK = 0.5
"""The share of lines below which most learners with another style read about a wrong line."""


@dataclass(frozen=True)
class SearchedLine:
    """A wrong line of a program, and whether the search finds it.

    If not, it may be for a `value` that the solution lacks: a variable, or "" for what line `at` computes.
    """

    found: bool
    at: int = 0
    value: str = ""


def searched_checks(checks: Sequence[Check]) -> list[Check]:
    """Return the first check of each of two functions or classes that observes what they return."""
    first: dict[str | None, Check] = {}
    for check in checks:
        if not isinstance(check.judge, Raises):
            first.setdefault(check.of, check)
    return list(first.values())[:MOST_CHECKS]


def _searched(
    suite: Suite,
    exercise: Exercise,
    program: Program,
    statuses: Mapping[str, str],
    expected: Mapping[Key, RecordedTrace],
    runner: Runner,
) -> Iterator[SearchedLine]:
    """Yield the lines of an accepted variant, as if each were wrong; of a whole wrong program its faulty lines."""
    checks = [check for check in searched_checks(suite.checks[exercise.id]) if (check.id, 0) in expected]
    if program.faulty:
        checks = [check for check in checks if statuses[check.id] == "fail"][:1]
    if not checks or not (program.faulty or (program.kind == "accepted" and {*statuses.values()} == {"pass"})):
        return
    plan = {exercise.id: [(check.id, 0) for check in checks]}
    patience = Timeouts(runner.limits, interrupt_seconds=RECORD_SECONDS)
    traces = runner.run(program.sources, plan, trace=True, patience=patience).traces.get(exercise.id, {})
    search = LineSearch(exercise.file, program.sources[exercise.file], checks, traces, expected)
    with suppress(OutOfTime):
        yield from [search.of_mistake(program.faulty)] if program.faulty and traces else search.of_each_line()


class LineSearch:
    """The search for wrong lines in one program, whose runs of some checks are recorded in `traces`."""

    def __init__(
        self,
        file: str,
        source: bytes,
        checks: Sequence[Check],
        traces: Mapping[Key, RecordedTrace],
        expected: Mapping[Key, RecordedTrace],
    ) -> None:
        self.file = file
        self.source = source
        self.parts = {(check.id, 0): check.of for check in checks}
        self.traces = {key: trace for key in self.parts if (trace := traces.get(key)) is not None}
        self.expected = expected
        self.deadline = Deadline(EXERCISE_SECONDS)

    def of_mistake(self, faulty: frozenset[int]) -> SearchedLine:
        """Return whether one of the faulty lines of a wrong program is found."""
        return self._result(self.traces, faulty, frozenset())

    def of_each_line(self) -> Iterator[SearchedLine]:
        """Yield the lines of a right program that lead to a result, each as if it alone were wrong."""
        lines = sorted({line for trace in self.traces.values() for line in self._lines(trace, range(len(trace.steps)))})
        after = dict(pairwise(sorted(one.line for one in statements(ast.parse(self.source)) if one.runs)))
        most = MOST_STEPS // max(sum(len(trace.steps) for trace in self.traces.values()), 1)
        for line in lines[:: -(-len(lines) // max(most, 1)) or 1]:
            reached = {key: self._reached(trace, line) for key, trace in self.traces.items()}
            wrong = {key: with_other_values(self.traces[key], steps) for key, steps in reached.items() if steps}
            if wrong:
                changed = self._lines(self.traces[next(iter(wrong))], reached[next(iter(wrong))])
                yield self._result(wrong, frozenset({line, after.get(line, line)}), changed)

    def _result(
        self, wrong: Mapping[Key, RecordedTrace], lines: frozenset[int], changed: frozenset[int]
    ) -> SearchedLine:
        """Return what the first of the checks that fail shows; what other checks look at is right."""
        key, trace = next(iter(wrong.items()))
        trusted = {part for at, part in self.parts.items() if part and at not in wrong}
        divergence = first_divergence(trace, self.expected[key], self.file, trusted, self.deadline)
        shown = divergence.place.line if divergence is not None else None
        if shown in lines:
            return SearchedLine(True)
        # A later line is shown only where nothing of the solution is like the values of this one.
        at = min(lines) if shown is None or shown in changed else shown
        return SearchedLine(False, at, _variable_of(self.source, at))

    def _reached(self, trace: RecordedTrace, line: int) -> set[int]:
        """Return the steps of a line and all that are made of them, if a result is one of them."""
        found: set[int] = set()
        for at, step in enumerate(trace.steps):
            if (step.name != ARGUMENT and self._line(step) == line) or not found.isdisjoint(step.inputs):
                found.add(at)
        return found if not found.isdisjoint(trace.results) else set()

    def _lines(self, trace: RecordedTrace, steps: Iterable[int]) -> frozenset[int]:
        """Return the lines of the program that make these steps."""
        return frozenset(line for at in steps if (line := self._line(trace.steps[at])) is not None)

    def _line(self, step: TraceStep) -> int | None:
        """Return the line of the program that makes a step; None for what is made while an object is made."""
        own = next((place for place in step.stack if place.file == self.file), None)
        return None if own is None or (own.function or "").endswith("__init__") else own.line


def with_other_values(trace: RecordedTrace, steps: Iterable[int]) -> RecordedTrace:
    """Return a trace in which these steps hold other numbers, as many as before."""
    prints, generator = trace.prints.copy(), np.random.default_rng(0)
    for at in sorted(steps):
        numbers = prints[trace.steps[at].prints[0], COUNTS.stop :]
        numbers += generator.uniform(0.5, 1.5, len(numbers)) * (1 + np.abs(numbers))
    return replace(trace, prints=prints)


def _variable_of(source: bytes, line: int) -> str:
    """Return the variable or attribute that a line assigns; "" for a line that assigns none, or several."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.lineno <= line <= (
            node.end_lineno or 0
        ):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return ast.unparse(targets[0]) if isinstance(targets[0], ast.Name | ast.Attribute) else ""
    return ""


def hard_to_find(exercise: str, lines: Sequence[tuple[str, SearchedLine]]) -> str:
    """Return a sentence if few lines of these programs are found, with the value that is missed most; else ""."""
    found = sum(line.found for _, line in lines)
    if len(lines) < FEWEST_LINES or found >= WEAK * len(lines):
        return ""
    missed = Counter((name, line.at, line.value) for name, line in lines if not line.found)
    (name, at, value), _ = max(missed.items(), key=lambda item: (item[1], bool(item[0][2])))
    what = f"`{value}` in line {at}" if value else f"a value in line {at}"
    return (
        f"{exercise}: line finding is weak here: if wrong, {found} of {len(lines)} lines of programs in another style "
        f"would be found. {name} computes {what}, and the solution does not: name that value in your solution too"
    )


@dataclass(frozen=True)
class Answer:
    """The answer key of an exercise, the outcomes it was made of, and its size in a kit in bytes, if it is known.

    `traces` have what the solution computes in the checks by which the search for a line is measured.
    """

    key: AnswerKey
    outcomes: Outcomes
    size: int | None
    traces: Mapping[Key, RecordedTrace] = field(default_factory=dict)


@dataclass(frozen=True)
class Proof:
    """The outcome of a program: the status of every check, the misconception found in it, and the problems.

    `lines` are its lines that the search for a wrong line was measured on, if it is no patch of the solution. `seconds`
    has the time of the fastest trial of each check.
    """

    kind: Kind
    exercise: str
    name: str
    checks: Mapping[str, str]
    named: str | None
    problems: tuple[str, ...]
    lines: tuple[SearchedLine, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ExerciseProof:
    """The proof of one exercise. `alone` counts the misconceptions that are named correctly, not as an equal one.

    `survivors` are the idle checks. `empty` has the points that each family of empty programs earns, in hundredths.
    `costs` has the percentage of the exercise's points that each misconception costs.
    `failing` has the checks that each misconception fails. `warnings` are sentences about what can be better.
    `key_bytes` is the size of the answer key in a kit; None for another seed or device than the kit's.
    Of so many `lines` of programs that are no patches of the solution, `lines_found` would be found if they were wrong.
    `earlier` are problems of an earlier proof that could not be looked for in this one.
    """

    id: str
    checks: int
    misconceptions: int
    caught: int
    named: int
    alone: int
    accepted: int
    accepted_full: int
    survivors: tuple[str, ...]
    empty: Mapping[str, int]
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    key_bytes: int | None = None
    lines: int = 0
    lines_found: int = 0
    costs: Mapping[str, float] = field(default_factory=dict)
    failing: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True)
class Validation:
    """The proof of a course; `ok` if there are no problems. `seconds` is wall time.

    `once` has the problems of mistakes that cost points twice, `excepted` the problem of the exceptions for empty
    programs, `mistakes` those of the catalogues as a whole and of files that belong to no exercise. A proof of a `part`
    says nothing about the rest.
    """

    seed: int
    seconds: float
    exercises: tuple[ExerciseProof, ...]
    proofs: tuple[Proof, ...] = field(repr=False)
    once: tuple[str, ...] = ()
    excepted: str | None = None
    mistakes: tuple[str, ...] = ()
    part: "Part | None" = None

    @property
    def problems(self) -> list[str]:
        """Return a sentence for everything that does not hold."""
        problems = [problem for exercise in self.exercises for problem in exercise.problems]
        return [*problems, *([self.excepted] if self.excepted else []), *self.mistakes, *self.once]

    @property
    def ok(self) -> bool:
        """Return whether the course holds."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """Return the JSON of `course validate --json`."""
        data = {"schema": 1, "ok": self.ok, **asdict(self)}
        data["part"] = self.part and self.part.to_json()
        for exercise in data["exercises"]:
            del exercise["failing"], exercise["earlier"]  # the file beside the catalogue has it; one proof has none
        for proof in data["proofs"]:
            del proof["seconds"]  # they differ from run to run
        return data


@dataclass(frozen=True)
class Part:
    """What a proof is limited to: some checks, or some misconceptions, by id; or right programs only."""

    checks: frozenset[str] = frozenset()
    misconceptions: frozenset[str] = frozenset()
    right: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the part for the JSON of `course validate --json`."""
        return {"checks": sorted(self.checks), "misconceptions": sorted(self.misconceptions)}

    def has(self, program: Program) -> bool:
        """Say whether a program belongs to it."""
        if self.right:
            return program.kind in RIGHT or program.kind == "reference parts"
        if self.misconceptions and program.kind == "misconception":
            return program.name in self.misconceptions
        return program.kind == "solution" or bool(self.checks) or not self.misconceptions

    def of(self, suite: Suite) -> Suite:
        """Return a suite with its checks, and those that they require."""
        if not self.checks:
            return suite
        kept = {}
        for exercise, declared in suite.checks.items():
            own = {check.id: check for check in declared}
            wanted, left = set[str](), [name for name in self.checks if name in own]
            while left:
                wanted.add(name := left.pop())
                left += [other for other in own[name].requires_any if other not in wanted]
            kept[exercise] = tuple(check for check in declared if check.id in wanted)
        return replace(suite, checks=kept)


def validate(
    suite: Suite,
    *,
    seed: int,
    jobs: int,
    device: str = "cpu",
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
    on_keys: OnProgress = lambda *_: None,
    part: Part | None = None,
    memory: Memory | None = None,
) -> Validation:
    """Run every program of the course in `jobs` workers; calls `on_progress` for programs, `on_keys` for keys.

    With `part`, prove that part only. With `memory`, run only what it does not know; then and in a part, no key is
    measured, since a kit is for a whole proof.
    """
    started = time.monotonic()
    programs, why, unfit = _all_programs(suite)
    whole, make_runner = suite, memory.runner if memory is not None else new_runner
    if part is not None:
        programs, suite = [program for program in programs if part.has(program)], part.of(suite)
    answer = partial(_answer, right=part is not None and part.right, sized=part is None and memory is None)
    answers: dict[str, Answer] = {}
    begun: list[Program] = []
    with pool_of(jobs) as pool:
        run = partial(run_in_workers, pool, suite, seed=seed, device=device, make_runner=make_runner)
        if memory is not None:
            right = (program for program in programs if program.kind == "solution")
            sound = {name for name in run(partial(_sound, suite), right) if name}
            wrong = (program for program in programs if program.kind == "misconception" and program.exercise in sound)
            for _ in run(partial(_sound, suite), wrong):
                pass  # several at a time, so that the answer key finds them in the memory
        keys = partial(with_keys, pool, suite, answer, seed=seed, device=device, cache=cache, make_runner=make_runner)
        keys = partial(keys, on_progress=on_keys)

        def answered() -> Iterator[tuple[Program, Answer]]:
            """Yield the programs of each exercise as soon as it has an answer key."""
            sound = [exercise for exercise in suite.exercises if exercise.id not in why]
            for exercise, answer in zip(sound, keys(sound), strict=True):
                if isinstance(answer, str):
                    why[exercise.id] = answer
                else:
                    answers[exercise.id] = answer
                    own = [program for program in programs if program.exercise == exercise.id]
                    begun.extend(own)
                    variants = [program.name for program in own if program.kind == "accepted"]
                    searched = {*variants[:: -(-len(variants) // MOST_VARIANTS) or 1]}
                    unsearched = replace(answer, traces={})
                    for program in own:
                        yield program, answer if program.faulty or program.name in searched else unsearched

        proofs: list[Proof] = []
        every_check = part is None or not part.checks
        for proof in run(partial(_proof, suite, every_check), answered()):
            proofs.append(proof)
            on_progress(len(proofs), len(begun))
    exercises = tuple(
        _exercise_proof(suite, own, proofs, why.get(own.id), answers.get(own.id), unfit.get(own.id, []), part)
        for own in suite.exercises
    )
    seconds = round(time.monotonic() - started, 3)
    if part is not None:
        return Validation(seed, seconds, exercises, tuple(proofs), part=part)
    mistakes = (*license_problems(suite.course), *leftover_problems(suite.course), *catalogue_mistakes(suite))
    return Validation(seed, seconds, exercises, tuple(proofs), excepted=over_budget(whole), mistakes=mistakes)


def _all_programs(suite: Suite) -> tuple[list[Program], dict[str, str], dict[str, list[str]]]:
    """Return the programs of all exercises, the reason for each exercise without programs, and what does not fit."""
    programs: list[Program] = []
    unreadable: dict[str, str] = {}
    unfit: dict[str, list[str]] = {exercise.id: [] for exercise in suite.exercises}
    for exercise in suite.exercises:
        try:
            programs += list(programs_of(suite, exercise, unfit[exercise.id]))
        except OSError as error:
            unreadable[exercise.id] = f"{error.filename} cannot be read ({error.strerror})"
        except (StubError, CatalogueError, UnicodeDecodeError) as error:
            unreadable[exercise.id] = str(error)
    return programs, unreadable, unfit


def _sound(suite: Suite, program: Program, runner: Runner) -> str:
    """Run a program on all checks; return its exercise if none of them raised, else ""."""
    try:
        run = runner.run(program.sources, suite.plan([suite.course.exercise(program.exercise)]))
    except CourseProblem:  # it is said where the answer key is made
        return ""
    outcomes = run.outcomes.get(program.exercise, {}).values()
    return program.exercise if all(isinstance(outcome, Observed) for outcome in outcomes) else ""


def _answer(exercise: Exercise, keys: Keys, *, right: bool, sized: bool) -> Answer | str:
    """Return what was found out for the answer key of an exercise, or why there is none.

    For `right` programs only, no misconception is run. It is `sized` if the kit's size of the key is to be known.
    """
    try:
        if right:
            return Answer(keys.reference(exercise), {}, None)
        key, outcomes = keys.proved(exercise)
    except GraderProblem as problem:
        return str(problem)
    # A kit holds keys of the CPU for one seed.
    of_kit = sized and keys.seed == keys.suite.course.seed and keys.device == "cpu"
    if not of_kit:
        return Answer(key, outcomes, None)
    size = None
    with suppress(CourseProblem):  # a misconception that does not fit the solution has a sentence of its own
        size = measured(exercise, keys)
    traces: dict[Key, RecordedTrace] = {}
    for check in searched_checks(keys.suite.checks[exercise.id]):
        first = {key: trace for key, trace in keys.traces(exercise, check).items() if not key[1]}
        if sum(len(trace.steps) for trace in (*traces.values(), *first.values())) <= MOST_STEPS:
            traces |= first
    return Answer(key, outcomes, size, traces)


def _proof(suite: Suite, every_check: bool, item: tuple[Program, Answer], runner: Runner) -> Proof:
    """Return the proof of a program, with the problem if a file of the course cannot judge it."""
    try:
        return _prove(suite, every_check, *item, runner)
    except CourseProblem as problem:
        kind, own, name = item[0].kind, item[0].exercise, item[0].name
        return Proof(kind, own, name, {check.id: "fail" for check in suite.checks[own]}, None, (f"{own}: {problem}",))


def _prove(suite: Suite, every_check: bool, program: Program, answer: Answer, runner: Runner) -> Proof:
    key = answer.key
    exercise = suite.course.exercise(program.exercise)
    if program.kind == "empty":
        statuses = run_empty(suite, runner, exercise, program.sources, key.reference)
        return Proof(program.kind, program.exercise, program.name, statuses, None, ())
    plan, parts, patience = suite.plan([exercise]), program.reference_parts, of_own_programs(runner.limits)
    run = _known_run(program, answer) or runner.run(program.sources, plan, reference_parts=parts, patience=patience)
    verdicts = Verdicts(suite, exercise, lambda _: key, seed=runner.seed, evidence=True)
    judgement = verdicts.judge(
        run.outcomes[exercise.id], run.surveys.get(exercise.id, NO_SURVEY), program.sources[exercise.file]
    )
    result = result_of(judgement)
    shown = (*_missing_pictures(suite, runner, program), *_unequal_steps(suite, runner, program))
    twins = partial(twins_of, program, answer.outcomes, suite.checks[exercise.id])
    unknown = runner.device != "cpu"
    found = unexpected(program, result, twins, may_be_unknown=unknown, every_check=every_check)
    sentences = [*found, *shown, *flagged(program, result)]
    sentences += import_problem(program, run.outcomes[exercise.id].values())
    if program.kind == "solution" and (unseeded := _unseeded(result, run, partial(runner.run, program.sources, plan))):
        sentences = [*unseeded, *shown]
    if program.kind == "solution":
        sentences += unchanging(suite, runner, exercise, program.sources)
        sentences += not_following(suite.checks[exercise.id], key.reference)
        sentences += exceptions_inside(suite.checks[exercise.id], key.reference)
        sentences += raising_anything(suite.checks[exercise.id], key.reference)
    problems = tuple(f"{program.exercise}: {sentence}" for sentence in sentences)
    checks = {check.id: check.status for check in result.checks}
    lines = tuple(_searched(suite, exercise, program, checks, answer.traces, runner))
    seconds: dict[str, float] = {}
    for (check, _), outcome in run.outcomes[exercise.id].items():
        taken = 0.0 if isinstance(outcome, WorkerFailure) else outcome.seconds
        seconds[check] = min(taken, seconds.get(check, taken))
    return Proof(program.kind, program.exercise, program.name, checks, _named(result), problems, lines, seconds)


SLOW_SECONDS = 2.0
"""A check that takes longer in every trial makes learners wait: most take a hundredth of it."""


def slow_checks(proofs: Iterable[Proof]) -> Iterator[str]:
    """Yield a sentence for each check that takes long with the solution, also if it only waits."""
    for proof in proofs:
        for check, seconds in proof.seconds.items() if proof.kind == "solution" else ():
            if seconds > SLOW_SECONDS:
                waits = "so long a learner waits for each trial; use smaller inputs, or wait for less"
                yield f"{proof.exercise}: the check {check} takes {seconds:.1f} s with the solution: {waits}"


def flagged(program: Program, result: ExerciseResult) -> Iterator[str]:
    """Yield a sentence for each name that gives the solution a flag: it would give one to every right student."""
    for found, flag in {flag.found: flag for flag in reversed(result.flags)}.items():
        where = f"{found} ({flag.place.file}, line {flag.place.line})"
        remedy = f"add {json.dumps(found)} to usual of [flags] in {COURSE_FILE}, or do without"
        if program.kind == "solution":
            yield f"the solution gets a flag for {where}, as right students would, because {flag.why}: {remedy}"


def _unseeded(result: ExerciseResult, run: Run, again: Callable[[], Run]) -> list[str]:
    """Return a sentence for each check that the solution fails because two runs of it differ."""
    failed = [check.id for check in result.checks if check.status == "fail"]
    if not failed:
        return []
    first, second = run.outcomes[result.id], again().outcomes[result.id]
    seen = {at: (one, second[at]) for at, one in first.items() if isinstance(one, Observed)}
    differ = {at[0] for at, (one, other) in seen.items() if not isinstance(other, Observed) or one.value != other.value}
    return [
        f"two runs of the solution differ in the check {check}: something is drawn that no seed decides; draw inputs "
        "from `given`, and hand the code its numbers or a generator with the seed given.number(0, 1000)"
        for check in failed
        if check in differ
    ]


def _known_run(program: Program, answer: Answer) -> Run | None:
    """Return the run of a misconception, which was made for the answer key; only wrong outcomes of it are known."""
    if program.kind != "misconception":
        return None
    wrong = answer.outcomes[program.name]
    outcomes = {at: wrong.get(at, Observed(expected.nominal)) for at, expected in answer.key.reference.items()}
    return Run({program.exercise: outcomes})


def _missing_pictures(suite: Suite, runner: Runner, program: Program) -> Iterable[str]:
    """Yield a sentence for every picture that a correct program should give and does not."""
    exercise = suite.course.exercise(program.exercise)
    drawings = suite.pictures.get(exercise.id, ())
    if program.kind not in RIGHT or not drawings:
        return
    run = runner.run(program.sources, plan_of(exercise, drawings), probes="pictures")
    for sentence in failures(drawings, run.outcomes.get(exercise.id, {})):
        yield f"{RIGHT[program.kind].format(program.name)}: {sentence}"


def _unequal_steps(suite: Suite, runner: Runner, program: Program) -> Iterable[str]:
    """Yield a sentence for every step of the lesson's example in which a correct program differs from the paper."""
    exercise = suite.course.exercise(program.exercise)
    declared = suite.steps.get(exercise.id, ())
    if program.kind not in RIGHT or not declared:
        return
    outcomes = runner.run(program.sources, plan_of(exercise, declared), probes="steps").outcomes
    source = Source(exercise.file, program.sources[exercise.file])
    memory = suite.course.limits.memory_mib
    for step in results_of(declared, outcomes.get(exercise.id, {}), exercise, source, memory):
        if step.finding is not None:
            yield f"{RIGHT[program.kind].format(program.name)}: {unequal_step(step)}"


def _named(result: ExerciseResult) -> str | None:
    return next((check.finding.id for check in result.checks if check.finding and check.finding.known_as), None)


def _exercise_problems(
    suite: Suite, exercise: Exercise, survivors: Sequence[str], families: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return a sentence for everything wrong with an exercise that no single program shows."""
    kinds = {check.id: check.kind for check in suite.checks[exercise.id]}
    remedy = f"; `course mutate {exercise.number} --standard` tries to add one"
    catalogue = suite.course.catalogue_file(exercise)
    problems = [
        f"{exercise.id}: no misconception fails the check {check}{remedy if kinds[check] else ''}"
        for check in survivors
    ]
    if survivors and not catalogue.exists():
        missing = f"{catalogue.relative_to(suite.course.root)} is missing; write a misconception there for each check"
        problems = [f"{exercise.id}: {missing}"]
    has_idea = any(check.idea for check in suite.checks[exercise.id])
    if has_idea and not any(entry.without_idea for entry in catalogue_of(suite, exercise, unfit=[])):
        problems.append(f"{exercise.id}: a check is its idea, and no misconception has without_idea = true")
    sentences = tuple(sentence for _, sentence in given_away(suite.course, exercise))
    sentences += (*hint_problems(suite, exercise), *starts_without_todo(suite, exercise))
    sentences += (*names_without_definition(suite, exercise), *problems_of(suite, exercise, families))
    sentences += (*todos_of_others(suite.course, exercise), *unlisted_imports(suite.course, exercise))
    sentences += (*foreign_imports(suite.course, exercise), *imported_solutions(suite.course, exercise))
    with suppress(OSError, SyntaxError, ValueError, StubError, CatalogueError):  # each has a sentence of its own
        sentences += tuple(lacking_programs(suite, exercise))
    sentences += tuple(reading_machines(suite.checks[exercise.id]))
    sentences += (*misspelt_forbidden(suite.course, exercise), *orders_of_sets(suite.course, exercise))
    sentences += (*reading_dates(suite.checks[exercise.id]), *leaking_texts(suite.course, exercise))
    sentences += tuple(copied_regions(suite.course, exercise))
    return [*problems, *(f"{exercise.id}: {sentence}" for sentence in sentences)]


def _warnings(suite: Suite, exercise: Exercise) -> Iterable[str]:
    """Yield a sentence for everything that may be meant, and mostly is not."""
    course, clocks = suite.course, reading_clocks(suite, exercise)
    yield from unfinished_texts(course, exercise)
    names = (*exceptions_without_definition(suite, exercise), *unknown_forbidden(course, exercise))
    missing = tuple(missing_hints(suite, exercise))
    with suppress(CatalogueError, SyntaxError):  # each has a sentence of its own
        missing += tuple(reworded_patches(course, exercise, catalogue_of(suite, exercise, unfit=[])))
    missing += (*copied_lines(suite, exercise), *coarse_tolerances(suite.checks[exercise.id]))
    missing += tuple(stale_files(course, exercise))
    for sentence in (*missing, *clocks, *regions_without_todo(course, exercise), *names):
        yield f"{exercise.id}: {sentence}"


def _exercise_proof(
    suite: Suite,
    exercise: Exercise,
    proofs: list[Proof],
    broken: str | None,
    answer: Answer | None,
    unfit: Sequence[str],
    part: Part | None,
) -> ExerciseProof:
    own = [proof for proof in proofs if proof.exercise == exercise.id]
    wrong = [proof for proof in own if proof.kind == "misconception"]
    accepted = [proof for proof in own if proof.kind == "accepted"]
    families = {proof.name: proof.checks for proof in own if proof.kind == "empty"}
    checks = [check.id for check in suite.checks[exercise.id]]
    survivors = tuple(
        check for check in checks if not broken and all(proof.checks[check] in ("pass", "waits") for proof in wrong)
    )
    problems = [f"{exercise.id}: {line}" for line in (*(broken or "").splitlines(), *unfit)]
    problems += dict.fromkeys(problem for proof in own for problem in proof.problems)
    if part is None:
        # Where no misconception fits, all checks would be idle, and their sentences are above.
        problems += _exercise_problems(suite, exercise, survivors if wrong or not unfit else (), families)
    elif part.checks and not part.misconceptions:
        left = [check for check in survivors if check in part.checks]
        problems += [f"{exercise.id}: no misconception fails the check {check}" for check in left]
        problems += [f"{exercise.id}: {sentence}" for sentence in problems_of(suite, exercise, families)]
    size = answer.size if answer is not None else None
    problems += filter(None, [problem_of(exercise.id, size)])
    costs = {proof.name: round(cost_of(suite.checks[exercise.id], proof.checks), 1) for proof in wrong}
    if size is not None:  # the seed and the device of the kit: on another device, a tensor left on the CPU fails all
        problems += [f"{exercise.id}: {sentence}" for sentence in _costs_too_much(suite, exercise, costs)]
    named = [proof for proof in wrong if not proof.problems and proof.named is not None]
    more = f"write a right program that looks different to solutions/accepted/{exercise.id}/NAME.py"
    lines = [(proof.name, line) for proof in own for line in proof.lines]
    alone = "" if accepted or broken else f"{exercise.id}: it has no accepted variant; {more}"
    return ExerciseProof(
        id=exercise.id,
        checks=len(checks),
        misconceptions=len(wrong),
        caught=sum(any(status != "pass" for status in proof.checks.values()) for proof in wrong),
        named=len(named),
        alone=sum(proof.named == proof.name for proof in named),
        accepted=len(accepted),
        accepted_full=sum(not proof.problems for proof in accepted),
        survivors=survivors,
        empty={family: points_of(suite, exercise, statuses) for family, statuses in families.items()},
        problems=tuple(problems),
        warnings=()
        if part
        else (
            *filter(None, [warning_of(exercise.id, size), alone, hard_to_find(exercise.id, lines)]),
            *slow_checks(own),
            *_warnings(suite, exercise),
        ),
        key_bytes=size,
        lines=len(lines),
        lines_found=sum(line.found for _, line in lines),
        costs=costs,
        failing={id_: frozenset(check for check, _ in own) for id_, own in (answer.outcomes if answer else {}).items()},
    )


def hold_failing(suite: Suite, validation: Validation) -> Validation:
    """Write beside each catalogue which checks a misconception fails; warn of those that differ under this seed."""
    with Keys(suite, seed=validation.seed) as keys:
        exercises = []
        for proof in validation.exercises:
            exercise = suite.course.exercise(proof.id)
            different = keys.hold_failing(exercise, proof.failing) if proof.failing else []
            sentence = (
                f"{proof.id}: these misconceptions do not fail the same checks under every seed, which the table "
            )
            more = [f"{sentence}now says: {', '.join(different)}"] if different else []
            exercises.append(replace(proof, warnings=(*proof.warnings, *more)))
    return replace(validation, exercises=tuple(exercises))


# The proof of a course as a page: the checks that fail for each misconception.


def page(suite: Suite, validation: Validation) -> str:
    """Return the page as Markdown; equal proofs give equal text."""
    names = ("checks", "misconceptions", "caught", "alone", "accepted_full")
    counted = [
        (proof.id, [*(getattr(proof, name) for name in names), len(proof.survivors)]) for proof in validation.exercises
    ]
    total = [sum(column) for column in zip(*(counts for _, counts in counted), strict=True)]
    return render(
        "authoring/templates/misconceptions.md.j2",
        counted=[*counted, ("total", total)],
        exercises=[(exercise, *_failures(suite, exercise, validation)) for exercise in suite.exercises],
    )


def _failures(
    suite: Suite, exercise: Exercise, validation: Validation
) -> tuple[tuple[Check, ...], list[list[str]], list[list[str]]]:
    """Return the checks of an exercise, and the rows of its misconceptions and of its conventions."""
    checks = suite.checks[exercise.id]
    costs = next(proof.costs for proof in validation.exercises if proof.id == exercise.id)
    own = (proof for proof in validation.proofs if proof.exercise == exercise.id and proof.kind == "misconception")
    proofs = {proof.name: proof for proof in own}
    mistakes, conventions = [], []
    for entry in catalogue_of(suite, exercise, unfit=[]):
        if entry.id in proofs:
            fails = (str(at) for at, check in enumerate(checks, 1) if proofs[entry.id].checks[check.id] != "pass")
            cells = [f"`{entry.id}`", f"{costs[entry.id]:.0f} %", ", ".join(fails)]
            if entry.convention:
                conventions.append([entry.name, entry.convention, *cells])
            else:
                mistakes.append([entry.name, *cells])
    return checks, mistakes, conventions


# Find forbidden names that a module does not have: such an entry forbids nothing.

_ACTS_AT_IMPORT = frozenset({"antigravity", "this", "__main__"})
"""Modules of Python that are not imported to look for a name: one of them opens a browser."""

_HEAVY = frozenset({"torch"})


def unknown_forbidden(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each forbidden name that its module does not have, in this version of it."""
    libraries = (*course.libraries, *exercise.libraries)
    heavy = tuple(dict.fromkeys(name for one in course.every for name in one.forbidden if _owner(name) in _HEAVY))
    for entry in exercise.forbidden:
        owner = _owner(entry)
        if "." in entry and not _may_be_used(owner, libraries) and not _misspelt(entry, libraries):
            package = f"forbid it as {PACKAGE}{owner}, or add {owner} to libraries"
            yield f"forbidden lists {entry}, and libraries of {COURSE_FILE} does not have {owner}; {package}"
            continue
        known = owner in sys.stdlib_module_names - _ACTS_AT_IMPORT or owner in libraries
        if not known or "." not in entry or "*" in entry:
            continue
        if problem := _elsewhere(heavy).get(entry) if owner in _HEAVY else _missing(entry):
            yield f"forbidden lists {entry}, and {problem}"


def misspelt_forbidden(course: Course, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each forbidden name of a module that does not exist, and that has nearly another name."""
    libraries = (*course.libraries, *exercise.libraries)
    for entry in exercise.forbidden:
        if near := _misspelt(entry, libraries):
            yield f"forbidden lists {entry}, and there is no module {_owner(entry)}; did you mean {near}?"


def _misspelt(entry: str, libraries: Collection[str]) -> str:
    """Return the dotted name that was probably meant; "" if the module may exist, or no name is near."""
    owner, _, rest = entry.partition(".")
    if not rest or _may_be_used(owner, libraries) or importlib.util.find_spec(owner) is not None:
        return ""
    public = {name for name in sys.stdlib_module_names if not name.startswith("_")} - _ACTS_AT_IMPORT
    near = nearest(owner, {*public, *libraries})
    return f"{near}.{rest}" if near and (near in _HEAVY or not _missing(f"{near}.{rest}")) else ""


def _may_be_used(owner: str, libraries: Collection[str]) -> bool:
    """Whether programs with these libraries can import a module, or have it as a builtin."""
    return owner in sys.stdlib_module_names or owner in vars(builtins) or owner in libraries


def _owner(name: str) -> str:
    return name.partition(".")[0]


@cache
def _elsewhere(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return what is missing of dotted names, by name, from another process; nothing if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "autograder.authoring.proof"],
        input=json.dumps(names),
        cwd=Path(__file__).parents[2],  # Python looks for the engine there
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return json.loads(done.stdout) if done.returncode == 0 else {}


def _missing(entry: str) -> str:
    """Return what is missing of a dotted name, with the nearest name; "" if nothing is, or no module can be loaded."""
    name, *parts = entry.split(".")
    found: Any = _module(name)
    if found is None:
        return ""
    for part in parts:
        following = getattr(found, part, None)
        if following is None and not hasattr(found, part):
            following = _module(f"{name}.{part}")
        if following is None and not hasattr(found, part):
            near = nearest(part, (word for word in dir(found) if not word.startswith("_")))
            return f"{name} has no {part}" + (f"; did you mean {name}.{near}?" if near else "")
        found, name = following, f"{name}.{part}"
    return ""


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:  # whatever a module raises that does not fit this machine
        return None


if __name__ == "__main__":
    json.dump({name: _missing(name) for name in json.load(sys.stdin)}, sys.stdout)
