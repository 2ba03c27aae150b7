"""The programs that prove a course: solutions, stubs, misconceptions, accepted variants and empty programs."""

import ast
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from autograder.answer_key import Keys, WrongProgram, patched, read_catalogue
from autograder.checks import Key, counted_checks, names_any
from autograder.comparison import Expected, passes
from autograder.course import (
    BEGIN,
    END,
    STEPS_PREFIX,
    WHOLE,
    Exercise,
    Suite,
    digest_of_parts,
    load_suite,
    make_stub,
    read_text,
)
from autograder.judge import Budget, Grader
from autograder.protocol import bound_names, definitions_of, first_line, statements
from autograder.results import Report
from autograder.runner import Fault, Observed, Outcome, Plan, Run, Runner, Survey, WorkerFailure
from autograder.submission import Submission

from .oversights import top_names

# Empty programs: they have every name, shape, dtype and device of an exercise, but compute nothing.
#
# They earn no points, except in checks that give a reason. Those checks together are worth at most 1 % of the course.

FAMILIES = (
    *("zeros", "ones", "constant", "nan", "infinity"),
    *("nan but 1", "nan but 2", "nan but a row", "zeros but 2"),
    *(
        "first input",
        "last input",
        "parameter",
        "random",
        "seeded",
        "shuffled",
        "reversed",
        "sums",
        "nothing",
        "refuses",
    ),
)
"""What replaces the results; see `empty_programs.py`.

`parameter` is the last one of the module. `random` differs in each call, `seeded` does not. `shuffled` and `reversed`
are the right numbers in another order. `sums` are constants with gradients for everything. `nothing` is None or an
empty list. `refuses` raises a ValueError that names every size it can.
"""

MOST = 0.01
"""The largest share of the course's points for all checks that empty programs may pass."""

_EMPTYING = Path(__file__).with_name("empty_programs.py")
_TENSORS = "\n# Tensors: "
_EMPTIED = "\n\n_names = {{}}\nexec({source!r}, _names)\n_names['empty'](globals(), {family!r})\n"

Statuses = Mapping[str, str]
"""The status of every check, by id."""


def empty_programs(solution: str, *, with_tensors: bool) -> Iterator[tuple[str, str]]:
    """Yield each family with the emptied solution."""
    source = _source(with_tensors=with_tensors)
    for family in FAMILIES:
        yield family, solution + _EMPTIED.format(source=source, family=family)


@cache
def _source(*, with_tensors: bool) -> str:
    """Return what empties a program. A program cannot import the engine, so this is part of it."""
    text = _EMPTYING.read_text("utf-8")
    return text if with_tensors else text.partition(_TENSORS)[0]


def run_empty(
    suite: Suite, runner: Runner, exercise: Exercise, sources: Mapping[str, bytes], reference: Mapping[Key, Expected]
) -> dict[str, str]:
    """Return the status of each check for an empty program; findings are not computed, since they take long."""
    checks = suite.checks[exercise.id]
    passing = {check.id for check in checks}
    for trial in range(max(check.trials for check in checks)):  # only checks that pass a trial need the next one
        keys = [(check.id, trial) for check in checks if check.id in passing and trial < check.trials]
        outcomes = runner.run(sources, {exercise.id: keys}, trusted=True).outcomes.get(exercise.id, {})
        judges = {check.id: check.judge for check in checks}
        passing -= {at[0] for at in keys if not passes(outcomes[at], reference[at], judges[at[0]])}
    counted = counted_checks(checks, passing)
    return {check.id: "pass" if check.id in counted else "waits" if check.id in passing else "fail" for check in checks}


def points_of(suite: Suite, exercise: Exercise, statuses: Statuses) -> int:
    """Return the points that an empty program earns, in hundredths."""
    points = suite.points(exercise)
    return sum(points[check] for check, status in statuses.items() if status == "pass")


def problems_of(suite: Suite, exercise: Exercise, families: Mapping[str, Statuses]) -> Iterator[str]:
    """Yield a sentence for each check that an empty program passes without a reason, or with a needless one."""
    for check in suite.checks[exercise.id]:
        passing = [family for family, statuses in families.items() if statuses[check.id] == "pass"]
        if passing and not check.empty:
            yield (
                f"the check {check.id} is passed by programs that compute nothing ({', '.join(passing)}): "
                "observe more in it, or name the checks that it requires with requires_any"
            )
        elif check.empty and families and not passing:
            yield f"the check {check.id} has a reason in `empty`, but no empty program passes it: remove the reason"


def over_budget(suite: Suite) -> str | None:
    """Return a sentence if all checks that empty programs may pass are together worth too much."""
    excepted = {
        f"{exercise.id}/{check.id}": suite.points(exercise)[check.id]
        for exercise in suite.exercises
        for check in suite.checks[exercise.id]
        if check.empty
    }
    most = MOST * sum(exercise.points for exercise in suite.course.exercises)
    if sum(excepted.values()) <= most:
        return None
    return (
        f"the checks that empty programs may pass are together worth {sum(excepted.values()) / 100:g} points, "
        f"expected at most {most / 100:g}: {', '.join(excepted)}"
    )


Kind = Literal["solution", "stub", "unwritten", "misconception", "accepted", "reference parts", "empty"]


@dataclass(frozen=True)
class Program:
    """A program with a known outcome, and its exercise. `faulty` are the faulty lines of one that is no patch."""

    kind: Kind
    exercise: str
    name: str
    sources: Mapping[str, bytes]
    same_as: tuple[str, ...] = ()
    without_idea: bool = False
    reference_parts: Mapping[str, bytes] = field(default_factory=dict)
    faulty: frozenset[int] = frozenset()


def programs_of(suite: Suite, exercise: Exercise, unfit: list[str] | None = None) -> Iterable[Program]:
    """Yield every program of an exercise with a known outcome; takes what `catalogue_of` takes."""
    course = suite.course
    needs = course.with_all_needs(exercise)
    base = {needed.file: (course.solutions_dir / needed.file).read_bytes() for needed in needs}
    solution = base[exercise.file].decode("utf-8")
    yield Program("solution", exercise.id, exercise.id, base)
    yield Program("stub", exercise.id, exercise.id, {**base, exercise.file: make_stub(solution, exercise).encode()})
    misconceptions = catalogue_of(suite, exercise, unfit)
    variants = sorted((course.solutions_dir / "accepted" / exercise.id).glob("*.py"))
    for name, text in unwritten(solution, exercise, [patched(solution, known) for known in misconceptions]):
        yield Program("unwritten", exercise.id, name, {**base, exercise.file: text.encode()})
    for misconception in misconceptions:
        wrong = {**base, exercise.file: patched(solution, misconception).encode()}
        same_as, without_idea = misconception.same_as, misconception.without_idea
        program = Program("misconception", exercise.id, misconception.id, wrong, same_as, without_idea)
        faulty = _faulty_in(misconception.program, [solution, *(file.read_text("utf-8") for file in variants)])
        yield replace(program, faulty=faulty)
    for file in variants:
        yield Program("accepted", exercise.id, file.stem, {**base, exercise.file: file.read_bytes()})
    for folder in sorted((course.solutions_dir / "accepted" / "whole").glob("*/")):
        whole = {file: (folder / file).read_bytes() for file in course.files if (folder / file).is_file()}
        if exercise.file in whole:
            yield Program("accepted", exercise.id, f"{WHOLE}{folder.name}", {**base, **whole})
    parts = {
        needed.file: suite.reference_parts[needed.file] for needed in needs[:-1] if needed.file in suite.reference_parts
    }
    if parts:
        yield Program("reference parts", exercise.id, exercise.id, base, reference_parts=parts)
    for family, text in empty_programs(solution, with_tensors=course.computes_with_tensors):
        yield Program("empty", exercise.id, family, {**base, exercise.file: text.encode()})


def import_problem(program: Program, outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield a sentence for a misconception that fails every check only because it cannot be imported."""
    faults = [outcome for outcome in outcomes if isinstance(outcome, Fault) and outcome.at_import]
    if program.kind == "misconception" and faults:
        reason = f"{faults[0].type}: {faults[0].full_message}"
        proves = "so it fails every check and proves nothing about them"
        yield f"the misconception {program.name} cannot be imported ({reason}), {proves}; correct the program"


def lacking_programs(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each whole wrong program without a function or class of the stub that a check uses."""
    stub = definitions_of(ast.parse(make_stub(read_text(suite.course.solutions_dir / exercise.file), exercise)))
    probes = [check.probe for check in suite.checks[exercise.id]]
    used = [name for name in stub if any(names_any(probe, {name}) for probe in probes)]
    for entry in catalogue_of(suite, exercise, unfit=[]):
        known = top_names(entry.program, exercise)
        lacks = [name for name in used if name not in known]
        if entry.program and lacks:
            proves = "so it fails checks without the mistake; define it as the stub does"
            yield f"the program of the misconception {entry.id} defines no {', '.join(lacks)}, {proves}"


def unwritten(solution: str, exercise: Exercise, wrong: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each TODO that no wrong program changes by its name, with the solution in which it alone is not written.

    What a wrong program changes is reached by a check: the one that fails.
    """
    own = _regions(solution)
    changed: set[int] = set()
    for others in map(_regions, wrong):
        changed |= {at for at, region in enumerate(own) if len(others) == len(own) and others[at] != region}
    for at in sorted(set(range(len(own))) - changed):
        stub = make_stub(_with_one_region(solution, at), exercise)
        if (raised := re.search(rf'raise NotImplementedError\("{exercise.id[:4]}: (.+)"\)', stub)) is not None:
            yield raised[1], stub


def _regions(text: str) -> list[str]:
    """Return what is between the marks of each solution region."""
    return [part.partition(END)[0] for part in text.split(BEGIN)[1:]]


def _with_one_region(solution: str, wanted: int) -> str:
    """Return a solution without the marks of all regions but one."""
    region, lines = -1, []
    for line in solution.splitlines():
        region += line.strip() == BEGIN
        if region == wanted or line.strip() not in (BEGIN, END):
            lines.append(line)
    return "\n".join(lines) + "\n"


def catalogue_of(suite: Suite, exercise: Exercise, unfit: list[str] | None = None) -> tuple[WrongProgram, ...]:
    """Return the misconceptions of an exercise; without those that do not fit, if a list gets their sentences."""
    solution = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
    return read_catalogue(suite.course.catalogue_file(exercise), solution, unfit=unfit)


# Run many trusted programs of the course, several at a time, with workers that are reused.

MakeRunner = Callable[[Suite, int, str], Runner]
"""Takes a suite, a seed and a device."""


def new_runner(suite: Suite, seed: int, device: str) -> Runner:
    """Return a runner of its own, whose worker goes on from one program to the next."""
    return Runner(suite, seed=seed, device=device, shared=True)


OnProgress = Callable[[int, int], None]
"""Takes the number of what is finished and of all: programs, or answer keys."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def pool_of(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Return a pool of `jobs` threads. After an error, nothing that waits in it begins."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run_in_workers(
    pool: Executor,
    suite: Suite,
    work: Callable[[Item, Runner], Result],
    items: Iterable[Item],
    *,
    seed: int,
    device: str = "cpu",
    make_runner: MakeRunner = new_runner,
) -> Iterator[Result]:
    """Yield the result of `work` for each item, in order; as many at a time as the pool has threads.

    Work begins while `items` still come. These programs are trusted, so a worker may go on from one to the next.
    """
    free: deque[Runner] = deque()
    made: list[Runner] = []

    def run(item: Item) -> Result:
        try:
            runner = free.pop()
        except IndexError:
            runner = make_runner(suite, seed, device)
            made.append(runner)
        try:
            return work(item, runner)
        finally:
            free.append(runner)

    futures: deque[Future[Result]] = deque()
    try:
        futures.extend(pool.submit(run, item) for item in items)
        while futures:
            yield futures[0].result()
            futures.popleft()
    finally:
        wait([future for future in futures if not future.cancel()])  # one that runs still uses its worker
        for runner in made:
            runner.close()


def with_keys(
    pool: Executor,
    suite: Suite,
    work: Callable[[Exercise, Keys], Result],
    exercises: Sequence[Exercise],
    *,
    seed: int,
    device: str = "cpu",
    cache: Path | None = None,
    on_progress: OnProgress = lambda *_: None,
    make_runner: MakeRunner = new_runner,
) -> Iterator[Result]:
    """Yield what `work` returns of each exercise and the answer keys, in order.

    `on_progress(done, all)` is called before each.
    """

    def worked(exercise: Exercise, runner: Runner) -> Result:
        return work(exercise, Keys(suite, seed=seed, device=device, cache=cache, runner=runner))

    results = run_in_workers(pool, suite, worked, exercises, seed=seed, device=device, make_runner=make_runner)
    for done, result in enumerate(results, 1):
        on_progress(done, len(exercises))
        yield result


# Remember what programs returned, so that an author who saves a file waits only for what the edit touches.


class Memory:
    """Workers that stay ready, and what checks returned for each program, by the code of both.

    A program is known by its lines without comments; one that raised, by its whole text, since the number of a line is
    part of the outcome. A check is known by its own code, and by that of all it uses in its file and in those beside
    it.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], Outcome] = {}
        self.surveys: dict[tuple[object, ...], dict[str, Survey]] = {}
        self.ran = 0
        self._free: deque[RememberingRunner] = deque()
        self._every: list[RememberingRunner] = []

    def runner(self, suite: Suite, seed: int, device: str) -> "RememberingRunner":
        """Return a runner that closes only when this memory does."""
        try:
            runner = self._free.pop()
        except IndexError:
            runner = RememberingRunner(self, suite, seed=seed, device=device, shared=True)
            self._every.append(runner)
        runner.suite, runner.seed = suite, seed
        return runner

    def give_back(self, runner: "RememberingRunner") -> None:
        """Take a runner that is free again."""
        if runner not in self._free:
            self._free.append(runner)

    def close(self) -> None:
        """End all workers."""
        for runner in self._every:
            runner.end()


class RememberingRunner(Runner):
    """A runner that runs only the trials that its memory does not know."""

    def __init__(self, memory: Memory, suite: Suite, *, seed: int, device: str, shared: bool) -> None:
        super().__init__(suite, seed=seed, device=device, shared=shared)
        self._memory = memory

    def close(self) -> None:
        """Give the worker back, ready for the next program."""
        self._memory.give_back(self)

    def end(self) -> None:
        """End the worker."""
        super().close()

    def run(self, sources: Mapping[str, bytes], plan: Plan, **options: Any) -> Run:
        """Run what is not known of a plan on the files of one program; takes what `Runner.run` takes."""
        if options.get("trace"):
            return super().run(sources, plan, **options)
        memory, probes = self._memory, options.get("probes", "checks")
        parts = options.get("reference_parts") or {}
        how = (self.seed, self.device, options.get("exact", False), options.get("trusted", False), probes)
        around = (*how, _digest(*(item for part in sorted(parts.items()) for item in part)), repr(self.limits))
        text = (*around, _digest(*(item for part in sorted(sources.items()) for item in part)))
        code = (*around, _digest(*(item for name in sorted(sources) for item in (name, _code(sources[name])))))
        names = {exercise: self._digests(exercise, probes) for exercise in plan}
        found, left = Run(surveys=dict(memory.surveys.get(text, {}))), dict[str, list[Key]]()
        for exercise, trials in plan.items():
            for trial in trials:
                at = (exercise, trial, names[exercise].get(trial[0], names[exercise][""]))
                outcome = memory.known.get((*code, *at)) or memory.known.get((*text, *at))
                if outcome is not None:
                    found.put(exercise, trial, outcome)
                else:
                    left.setdefault(exercise, []).append(trial)
        surveyed = options.get("trusted") or text in memory.surveys
        if not left and surveyed:
            return found
        asked = left or {exercise: trials[:1] for exercise, trials in plan.items()}
        run = super().run(sources, asked, **options)
        memory.surveys.setdefault(text, run.surveys)
        memory.ran += sum(map(len, run.outcomes.values()))
        for exercise, outcomes in run.outcomes.items():
            for trial, outcome in outcomes.items():
                at = (exercise, trial, names[exercise].get(trial[0], names[exercise][""]))
                if not isinstance(outcome, WorkerFailure):  # it may have been the machine's
                    memory.known[(*(code if isinstance(outcome, Observed) else text), *at)] = outcome
        for exercise, known in found.outcomes.items():
            run.outcomes[exercise] = {**known, **run.outcomes.get(exercise, {})}
        return run

    def _digests(self, exercise: str, probes: str) -> Mapping[str, str]:
        """Return a digest of each check of an exercise; under "" that of a check which is found nowhere."""
        course = self.suite.course
        own = course.exercise(exercise)
        own_files = {course.checks_file(other).name for other in course.every}
        beside = [file for file in sorted(course.checks_dir.glob("*.py")) if file.name not in own_files]
        helpers = [file.read_bytes() for file in beside if not file.stem.startswith(STEPS_PREFIX)]
        shared = _digest(repr((course.sizes_of(own), own.forbidden, course.libraries, own.libraries)), *helpers)
        files = (f"test_{exercise}.py", f"{STEPS_PREFIX}{exercise}.py")
        texts = [self.suite.sources.get(name, b"") for name in files]
        whole = _digest(shared, *texts)
        if probes != "checks":
            return {"": whole}
        code = _code_of_lines(texts[0])
        own_lines = {check.id: check.line for check in self.suite.checks[exercise]}
        return {"": whole, **{id_: _digest(shared, code[line]) for id_, line in own_lines.items() if line in code}}


def _code(source: bytes) -> bytes:
    """Return the lines of a file that are no comment: a lesson that is rewritten changes no program."""
    return b"\n".join(line for line in source.splitlines() if line.strip() and not line.lstrip().startswith(b"#"))


def _digest(*parts: bytes | str) -> str:
    return digest_of_parts(part if isinstance(part, bytes) else part.encode() for part in parts)


@lru_cache(maxsize=64)
def _code_of_lines(source: bytes) -> Mapping[int, str]:
    """Return by line the code of the statement there, with that of all statements of its file that it uses."""
    body = ast.parse(source).body
    owners: dict[str, set[int]] = {}
    for at, statement in enumerate(body):
        is_definition = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for name in bound_names([statement] if is_definition else ast.walk(statement)):
            owners.setdefault(name, set()).add(at)
    uses = [{node.id for node in ast.walk(one) if isinstance(node, ast.Name)} for one in body]
    found = {}
    for at, statement in enumerate(body):
        reached, left = {at}, [at]
        while left:
            more = set().union(*(owners.get(name, set()) for name in uses[left.pop()])) - reached
            reached |= more
            left += more
        code = "\n".join(ast.dump(body[one]) for one in sorted(reached))
        first = first_line(statement)
        found.update(dict.fromkeys(range(first, (statement.end_lineno or first) + 1), code))
    return found


def grade_each(
    suite: Suite,
    programs: Sequence[tuple[Submission, Sequence[Exercise]]],
    *,
    seed: int,
    jobs: int,
    on_progress: OnProgress,
    cache: Path | None = None,
    budget: Budget | None = None,
) -> Iterator[Report]:
    """Yield the report of each submission for its exercises; with a `budget`, as a self-check gives it."""
    suite = _with_needs(suite)
    with Grader(suite, seed=seed, cache=cache, finders=jobs, budget=budget, evidence=budget is not None) as grader:

        def grade(program: tuple[Submission, Sequence[Exercise]], runner: Runner) -> Report:
            return grader.report(*program, runner)

        with pool_of(jobs) as pool:
            for done, report in enumerate(run_in_workers(pool, suite, grade, programs, seed=seed), 1):
                on_progress(done, len(programs))
                yield report


def _with_needs(suite: Suite) -> Suite:
    """Add the exercises that those of a suite need: whether they are right decides what a mistake costs."""
    course = suite.course
    needed = {other.id for exercise in suite.exercises for other in course.with_needs(exercise)}
    if needed <= suite.checks.keys():
        return suite
    return load_suite(course, [exercise for exercise in course.exercises if exercise.id in needed])


# The lines of a wrong program that a finding may point to.


def faulty_lines(solution: str, wrong: str) -> frozenset[int]:
    """Return the right locations in a wrong program: its changed lines, and the next statement.

    The next statement counts, since a removed line has no line of its own. A changed line inside a statement also
    counts for the first line of that statement.
    """
    spans = [(one.line, one.last) for one in statements(ast.parse(wrong))]
    changed = list(_changed(solution.splitlines(), wrong.splitlines(), [first for first, _ in spans]))
    return frozenset(changed + [first for first, last in spans if any(first <= line <= last for line in changed)])


MOST_FAULTY = 0.5
"""A whole program that has more of its lines faulty is written anew: nobody knows which of them are wrong."""


def _faulty_in(program: str, right: Iterable[str]) -> frozenset[int]:
    """Return the faulty lines of a whole program beside the right one that it resembles most; none if none is near."""
    if not program:
        return frozenset()
    fewest = min((faulty_lines(text, program) for text in right), key=len)
    return fewest if len(fewest) <= MOST_FAULTY * len(statements(ast.parse(program))) else frozenset()


def _changed(right: list[str], wrong: list[str], starts: list[int]) -> Iterator[int]:
    for kind, _, _, first, last in SequenceMatcher(None, right, wrong, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from range(first + 1, last + 1)
            yield next((start for start in starts if start > last), last)
