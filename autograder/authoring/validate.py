"""Proves a course: right programs get full marks, stubs and empty ones none, misconceptions are caught and named."""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from autograder.answer_key.catalogue import CatalogueError, WrongProgram, patched, read_catalogue
from autograder.answer_key.keys import Keys
from autograder.answer_key.model import AnswerKey
from autograder.authoring.empty import empty_programs, over_budget, points_of, problems_of, run_empty
from autograder.course import Exercise
from autograder.course.stubs import StubError, stub_of
from autograder.course.suite import Suite
from autograder.judge.pictures import failures, plan_of
from autograder.judge.result import result_of
from autograder.judge.verdict import Verdicts
from autograder.results import ExerciseResult
from autograder.runner.outcomes import Observed
from autograder.runner.runner import GraderProblem, Run, Runner

Kind = Literal["solution", "stub", "misconception", "accepted", "reference parts", "empty"]

_RIGHT = {"solution": "the solution", "accepted": "the accepted variant {}"}


@dataclass(frozen=True)
class Program:
    """One program the course makes a claim about, and the exercise it is about."""

    kind: Kind
    exercise: str
    name: str
    sources: Mapping[str, bytes]
    same_as: tuple[str, ...] = ()
    reference_parts: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Proof:
    """What became of a program: the status of every check, what it was named, and what is wrong with that."""

    kind: Kind
    exercise: str
    name: str
    checks: Mapping[str, str]
    named: str | None
    problems: tuple[str, ...]


@dataclass(frozen=True)
class ExerciseProof:
    """What holds of one exercise. `empty` has the hundredths that each family of empty programs earns."""

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


@dataclass(frozen=True)
class Validation:
    """The whole proof; `ok` if nothing is wrong. `seconds` is wall time, `once` has what costs points twice.

    `excepted` says what is wrong with the exceptions for empty programs, if anything is.
    """

    seed: int
    seconds: float
    exercises: tuple[ExerciseProof, ...]
    proofs: tuple[Proof, ...] = field(repr=False)
    once: tuple[str, ...] = ()
    excepted: str | None = None

    @property
    def problems(self) -> list[str]:
        found = [problem for each in self.exercises for problem in each.problems]
        return [*found, *([self.excepted] if self.excepted else []), *self.once]

    @property
    def ok(self) -> bool:
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        return {"schema": 1, "ok": self.ok, **asdict(self)}


def validate(
    suite: Suite,
    *,
    seed: int,
    jobs: int,
    cache: Path | None = None,
    on_progress: Callable[[int, int], None] = lambda *_: None,
) -> Validation:
    """Run every program of the course in `jobs` workers; `on_progress(done, all)` hears of the progress."""
    started = time.monotonic()
    programs, unreadable = _all_programs(suite)
    sound = [each for each in suite.exercises if each.id not in unreadable]
    answers, unanswered = _answers(suite, sound, jobs, seed, cache)
    programs = [each for each in programs if each.exercise in answers]
    proofs: list[Proof] = []
    for proof in _prove_all(suite, seed, programs, answers, jobs):
        proofs.append(proof)
        on_progress(len(proofs), len(programs))
    broken = {**unreadable, **unanswered}
    exercises = tuple(_sum_up(suite, exercise, proofs, broken.get(exercise.id)) for exercise in suite.exercises)
    seconds = round(time.monotonic() - started, 3)
    return Validation(seed, seconds, exercises, tuple(proofs), excepted=over_budget(suite))


def _all_programs(suite: Suite) -> tuple[list[Program], dict[str, str]]:
    """Return the programs of all exercises, and for each exercise that has none the reason."""
    programs: list[Program] = []
    unreadable: dict[str, str] = {}
    for exercise in suite.exercises:
        try:
            programs += list(programs_of(suite, exercise))
        except OSError as error:
            unreadable[exercise.id] = f"{error.filename} cannot be read ({error.strerror})"
        except (StubError, CatalogueError, UnicodeDecodeError) as error:
            unreadable[exercise.id] = str(error)
    return programs, unreadable


def programs_of(suite: Suite, exercise: Exercise) -> Iterable[Program]:
    """Yield every program the course makes a claim about in an exercise."""
    course = suite.course
    needs = course.with_needs(exercise)
    base = {each.file: (course.solutions_dir / each.file).read_bytes() for each in needs}
    solution = base[exercise.file].decode("utf-8")
    yield Program("solution", exercise.id, exercise.id, base)
    yield Program("stub", exercise.id, exercise.id, {**base, exercise.file: stub_of(solution, exercise).encode()})
    for each in catalogue_of(suite, exercise):
        wrong = {**base, exercise.file: patched(solution, each).encode()}
        yield Program("misconception", exercise.id, each.id, wrong, each.same_as)
    for file in sorted((course.solutions_dir / "accepted" / exercise.id).glob("*.py")):
        yield Program("accepted", exercise.id, file.stem, {**base, exercise.file: file.read_bytes()})
    for folder in sorted((course.solutions_dir / "accepted" / "whole").glob("*/")):
        whole = {file: (folder / file).read_bytes() for file in course.files if (folder / file).is_file()}
        if exercise.file in whole:
            yield Program("accepted", exercise.id, f"whole/{folder.name}", {**base, **whole})
    parts = {each.file: suite.reference_parts[each.file] for each in needs[:-1] if each.file in suite.reference_parts}
    if parts:
        yield Program("reference parts", exercise.id, exercise.id, base, reference_parts=parts)
    for family, text in empty_programs(solution):
        yield Program("empty", exercise.id, family, {**base, exercise.file: text.encode()})


def catalogue_of(suite: Suite, exercise: Exercise) -> tuple[WrongProgram, ...]:
    """Return the misconceptions of an exercise."""
    solutions = suite.course.solutions_dir
    return read_catalogue(
        solutions / "misconceptions" / f"{exercise.id}.toml", (solutions / exercise.file).read_text("utf-8")
    )


def _answers(
    suite: Suite, exercises: list[Exercise], jobs: int, seed: int, cache: Path | None
) -> tuple[dict[str, AnswerKey], dict[str, str]]:
    """Find the keys, several at once, each with a worker of its own; and for each that cannot be had the reason."""
    answers: dict[str, AnswerKey] = {}
    unanswered: dict[str, str] = {}

    def find(exercise: Exercise) -> None:
        try:
            with Keys(suite, seed=seed, cache=cache) as own:
                answers[exercise.id] = own.get(exercise)
        except GraderProblem as problem:
            unanswered[exercise.id] = str(problem)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(find, exercises))
    return answers, unanswered


def _prove_all(
    suite: Suite, seed: int, programs: list[Program], answers: Mapping[str, AnswerKey], jobs: int
) -> Iterable[Proof]:
    runners: SimpleQueue[Runner] = SimpleQueue()

    def prove(program: Program) -> Proof:
        runner = runners.get()
        try:
            return _prove(suite, runner, program, answers[program.exercise])
        finally:
            runners.put(runner)

    with ExitStack() as stack:
        for _ in range(jobs):
            runners.put(stack.enter_context(Runner(suite, seed=seed, shared=True)))
        yield from stack.enter_context(ThreadPoolExecutor(jobs)).map(prove, programs)


def _prove(suite: Suite, runner: Runner, program: Program, key: AnswerKey) -> Proof:
    exercise = suite.course.exercise(program.exercise)
    if program.kind == "empty":
        statuses = run_empty(suite, runner, exercise, program.sources, key.reference)
        return Proof(program.kind, program.exercise, program.name, statuses, None, ())
    plan, parts = suite.plan([exercise]), program.reference_parts
    run = _kept(program, key) or runner.run(program.sources, plan, reference_parts=parts)
    verdicts = Verdicts(suite, exercise, lambda _: key, seed=runner.seed, evidence=True)
    judgement = verdicts.judge(run.outcomes[exercise.id], run.surveys.get(exercise.id), program.sources[exercise.file])
    result = result_of(judgement)
    sentences = [*_problems(program, result), *_undrawn(suite, runner, program)]
    problems = tuple(f"{program.exercise}: {sentence}" for sentence in sentences)
    checks = {each.id: each.status for each in result.checks}
    return Proof(program.kind, program.exercise, program.name, checks, _named(result), problems)


def _kept(program: Program, key: AnswerKey) -> Run | None:
    """Return the run of a misconception that the answer key was made from: what it keeps not of it was right."""
    if program.kind != "misconception":
        return None
    entry = next(each for each in key.misconceptions if each.id == program.name)
    outcomes = {at: entry.outcomes.get(at, Observed(each.nominal)) for at, each in key.reference.items()}
    return Run({program.exercise: outcomes})


def _undrawn(suite: Suite, runner: Runner, program: Program) -> Iterable[str]:
    """Yield a sentence for every picture that a right program should give and does not."""
    exercise = suite.course.exercise(program.exercise)
    drawings = suite.pictures.get(exercise.id, ())
    if program.kind not in _RIGHT or not drawings:
        return
    run = runner.run(program.sources, plan_of(exercise, drawings), pictures=True)
    for sentence in failures(drawings, run.outcomes.get(exercise.id, {})):
        yield f"{_RIGHT[program.kind].format(program.name)}: {sentence}"


def _named(result: ExerciseResult) -> str | None:
    findings = [each.finding for each in result.checks if each.finding is not None]
    return next((each.id for each in findings if each.kind == "misconception"), None)


def _problems(program: Program, result: ExerciseResult) -> Iterable[str]:
    failed = [each for each in result.checks if each.status not in ("pass", "waits")]  # of what waits another fails
    if program.kind == "stub":
        if result.status != "not_started" or result.score:
            yield f"the stub is {result.status} with {result.score} points, expected not_started with 0"
    elif program.kind == "misconception":
        if not failed:
            yield f"the misconception {program.name} passes every check; sharpen one, or take it out of the catalogue"
        for check in failed:
            named = check.finding.id if check.finding and check.finding.kind == "misconception" else None
            if named not in (program.name, *program.same_as):
                yield f"the misconception {program.name} is named {named or 'nothing'} by the check {check.id}"
    else:
        names = {**_RIGHT, "reference parts": "the solution, with reference parts for what it needs,"}
        what = names[program.kind].format(program.name)
        for check in failed:
            said = f"{check.finding.message} {check.finding.detail or ''}" if check.finding else check.status
            yield f"{what} fails the check {check.id}: {said}"


def _sum_up(suite: Suite, exercise: Exercise, proofs: list[Proof], broken: str | None) -> ExerciseProof:
    own = [each for each in proofs if each.exercise == exercise.id]
    wrong = [each for each in own if each.kind == "misconception"]
    accepted = [each for each in own if each.kind == "accepted"]
    families = {each.name: each.checks for each in own if each.kind == "empty"}
    checks = [check.id for check in suite.checks[exercise.id]]
    survivors = tuple(
        check for check in checks if not broken and all(each.checks[check] in ("pass", "waits") for each in wrong)
    )
    problems = [f"{exercise.id}: {line}" for line in (broken or "").splitlines()]
    problems += [problem for each in own for problem in each.problems]
    problems += [f"{exercise.id}: no misconception fails the check {check}" for check in survivors]
    problems += [f"{exercise.id}: the check {check} has no hints" for check in checks if check not in exercise.hints]
    problems += [
        f"{exercise.id}: there are hints for {check}, which is no check"
        for check in exercise.hints
        if check not in checks
    ]
    problems += [f"{exercise.id}: {sentence}" for sentence in problems_of(suite, exercise, families)]
    named = [each for each in wrong if not each.problems and each.named is not None]
    return ExerciseProof(
        id=exercise.id,
        checks=len(checks),
        misconceptions=len(wrong),
        caught=sum(any(status != "pass" for status in each.checks.values()) for each in wrong),
        named=len(named),
        alone=sum(each.named == each.name for each in named),
        accepted=len(accepted),
        accepted_full=sum(not each.problems for each in accepted),
        survivors=survivors,
        empty={family: points_of(suite, exercise, statuses) for family, statuses in families.items()},
        problems=tuple(problems),
    )


__all__ = ["ExerciseProof", "Program", "Proof", "StubError", "Validation", "validate"]
