"""Make programs to practise on: accepted variants with one fault each, which the checks catch and name."""

import hashlib
import os
import random
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from autograder.answer_key.catalogue import WrongProgram, patched
from autograder.authoring.grading import grade_each
from autograder.authoring.mutation.mutants import mutants_of
from autograder.authoring.places import faulty_lines
from autograder.authoring.programs import Program, catalogue_of, programs_of
from autograder.authoring.styles import Wrong
from autograder.course import Course, Exercise
from autograder.course.hunts import Example, Hunt, HuntFile
from autograder.course.suite import Suite, load_suite, with_steps
from autograder.diagnosis.findings import Source
from autograder.judge.grader import Grader
from autograder.judge.steps import plan_of, results_of
from autograder.results import ExerciseResult
from autograder.runner.runner import Runner
from autograder.submission import Submission
from autograder.submission.submission import digest as digest_of

MOST_OF_A_VARIANT = 12
"""Mutants of one variant that are run first: more take longer, and mostly show the same misconceptions."""

FEWEST_MISCONCEPTIONS = 3
"""With fewer, more mutants are run: a variant in plain Python often has none of the texts of the catalogue."""

MOST_ROUNDS = 6
"""Each round runs as many mutants as all before it, so the last one ends with 32 times as many as the first."""

ID_DIGITS = 6


def make_hunts(
    course: Course, exercise: Exercise, *, on_progress: Callable[[int, int], None] = lambda *_: None
) -> HuntFile:
    """Return the programs of an exercise; every wrong one was run, fails, and shows a misconception by name.

    A variant shows each misconception once, and passes beside the solutions of earlier exercises: a learner gets its
    file alone. `on_progress(done, total)` is called for each program that was run.
    """
    needed = course.with_needs(exercise)
    suite = load_suite(course, list(needed))
    base = {other.file: (course.solutions_dir / other.file).read_bytes() for other in needed}
    accepted = [program for program in programs_of(suite, exercise) if program.kind == "accepted"]
    alone = [replace(program, sources={**base, exercise.file: program.sources[exercise.file]}) for program in accepted]
    jobs = os.cpu_count() or 1
    on_progress(0, len(alone))
    run = partial(grade_each, suite, seed=course.seed, jobs=jobs, cache=None, on_progress=on_progress)
    verdicts = run([(_submission(course, program.sources), [exercise]) for program in alone])
    variants = [
        program for program, report in zip(alone, verdicts, strict=True) if report.exercises[0].status == "pass"
    ]
    right = {program.name: program.sources[exercise.file].decode("utf-8") for program in variants}
    found: dict[tuple[str, str], Hunt] = {}
    for number in range(MOST_ROUNDS):
        candidates = list(_candidates(suite, exercise, variants, number))
        reports = run([(candidate.submission, [exercise]) for candidate in candidates])
        for candidate, report in zip(candidates, reports, strict=True):
            if (hunt := _hunt_of(candidate, report.exercises[0])) is not None:
                found.setdefault((hunt.variant, hunt.misconception), hunt)
        if not candidates or len({misconception for _, misconception in found}) >= FEWEST_MISCONCEPTIONS:
            break
    return HuntFile(exercise.id, right, tuple(_with_examples(course, exercise, list(found.values()))))


def make_one(
    course: Course,
    exercise: Exercise,
    generator: random.Random,
    done: Container[str],
    *,
    on_tried: Callable[[int, bool], None] = lambda *_: None,
    on_key: Callable[[str, int, int], None] = lambda *_: None,
) -> HuntFile:
    """Return one wrong program of an exercise whose id is not in `done`, or if there is no other, one that is.

    Programs are run one after the other, until one shows a misconception by name: mostly two or three.
    `on_tried(number, found)` is called before the first and after each. `on_key` reports on a new answer key.
    """
    needed = course.with_needs(exercise)
    suite = load_suite(course, list(needed))
    base = {other.file: (course.solutions_dir / other.file).read_bytes() for other in needed}
    accepted = [program for program in programs_of(suite, exercise) if program.kind == "accepted"]
    variants = [replace(one, sources={**base, exercise.file: one.sources[exercise.file]}) for one in accepted]
    passes: dict[str, bool] = {}
    seen_before: Hunt | None = None
    tried = 0
    on_tried(0, False)
    with (
        Grader(suite, seed=course.seed, on_progress=on_key) as grader,
        Runner(suite, seed=course.seed, shared=True) as runner,
    ):

        def result_of(submission: Submission) -> ExerciseResult:
            nonlocal tried
            report = grader.report(submission, [exercise], runner)
            tried += 1
            on_tried(tried, False)
            return report.exercises[0]

        def is_right(program: Program) -> bool:
            if program.name not in passes:
                passes[program.name] = result_of(_submission(course, program.sources)).status == "pass"
            return passes[program.name]

        for program, candidate in _in_any_order(suite, exercise, variants, generator):
            if (_id_of(candidate) in done and seen_before is not None) or not is_right(program):
                continue
            hunt = _hunt_of(candidate, result_of(candidate.submission))
            if hunt is not None and hunt.id not in done:
                break
            seen_before = seen_before or hunt
        else:
            hunt = seen_before
    on_tried(tried, True)
    right = {one.name: one.sources[exercise.file].decode("utf-8") for one in variants if passes.get(one.name)}
    return HuntFile(exercise.id, right, (hunt,) if hunt is not None else ())


def _in_any_order(
    suite: Suite, exercise: Exercise, variants: Sequence[Program], generator: random.Random
) -> Iterator[tuple[Program, Wrong]]:
    """Yield each variant with its misconceptions, a program of each misconception first, and then with its mutants."""
    first, later = [], []
    for one in (one for one in catalogue_of(suite, exercise) if not one.convention):
        texts = [(program, program.sources[exercise.file].decode("utf-8")) for program in variants]
        wrong = [(program, patched(text, one)) for program, text in texts if _fits(text, one)]
        generator.shuffle(wrong)
        first += wrong[:1]
        later += wrong[1:]
    generator.shuffle(first)
    generator.shuffle(later)
    for program, source in (*first, *later):
        yield program, _wrong(suite, exercise, program, source)
    by_name = {program.name: program for program in variants}
    for number in range(MOST_ROUNDS):
        candidates = list(_candidates(suite, exercise, variants, number, with_catalogue=False))
        generator.shuffle(candidates)
        yield from ((by_name[candidate.kind], candidate) for candidate in candidates)


def digest_of_programs(course: Course, exercise: Exercise) -> str:
    """Return a digest of all that the programs of an exercise are made from."""
    texts = [load_suite(course, list(course.with_needs(exercise))).digest]
    folder = course.solutions_dir / "accepted"
    files = [course.solutions_dir / "misconceptions" / f"{exercise.id}.toml", course.solutions_dir / exercise.file]
    files += sorted([*(folder / exercise.id).glob("*.py"), *folder.glob(f"whole/*/{exercise.file}")])
    texts += [file.read_text("utf-8") for file in files if file.is_file()]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _hunt_of(candidate: Wrong, result: ExerciseResult) -> Hunt | None:
    """Return the hunt that a wrong program makes; None if it shows no misconception by name."""
    failure = _named_failure(result)
    if failure is None or not candidate.lines:
        return None
    checks, misconception = failure
    source = candidate.submission.sources[candidate.exercise.file].decode("utf-8")
    return Hunt(_id_of(candidate), misconception, checks, candidate.kind, tuple(sorted(candidate.lines)), source)


def _id_of(candidate: Wrong) -> str:
    source = candidate.submission.sources[candidate.exercise.file]
    return f"{candidate.exercise.number}-{hashlib.sha256(source).hexdigest()[:ID_DIGITS]}"


def _candidates(
    suite: Suite, exercise: Exercise, variants: Sequence[Program], number: int, *, with_catalogue: bool = True
) -> Iterator[Wrong]:
    """Yield the wrong programs of a round, of the kind of their variant.

    Those of round 0 are its misconceptions by their text, and some mutants; later rounds have other mutants.
    """
    catalogue = catalogue_of(suite, exercise) if with_catalogue and not number else ()
    misconceptions = [one for one in catalogue if not one.convention]
    for program in variants:
        right = program.sources[exercise.file].decode("utf-8")
        ported = [patched(right, one) for one in misconceptions if _fits(right, one)]
        mutants = [mutant.source for mutant in mutants_of(right, exercise.number)]
        step = max(-(-len(mutants) // MOST_OF_A_VARIANT), 1)
        offsets = range(2 ** (number - 1), min(2**number, step)) if number else range(1)
        for source in dict.fromkeys([*ported, *(mutant for offset in offsets for mutant in mutants[offset::step])]):
            yield _wrong(suite, exercise, program, source)


def _wrong(suite: Suite, exercise: Exercise, program: Program, source: str) -> Wrong:
    """Return a variant with another source of the exercise."""
    right = program.sources[exercise.file].decode("utf-8")
    sources = {**program.sources, exercise.file: source.encode()}
    return Wrong(exercise, program.name, _submission(suite.course, sources), faulty_lines(right, source))


def _submission(course: Course, sources: Mapping[str, bytes]) -> Submission:
    return Submission("hunt", course.files, sources, digest_of(sources), ())


def _fits(text: str, misconception: WrongProgram) -> bool:
    """Return whether a variant has the texts that a misconception changes, each once, and can still be compiled."""
    if any(text.count(find) != 1 for find, _ in misconception.patches):
        return False
    try:
        compile(patched(text, misconception), "variant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _named_failure(result: ExerciseResult) -> tuple[tuple[str, ...], str] | None:
    """Return the checks that fail, and the misconception that the first one shows; None if it shows none."""
    failure = result.first_failure
    if failure is None or failure.bonus or failure.finding is None or failure.finding.kind != "misconception":
        return None
    others = [check.id for check in result.checks if check.status != "pass" and check is not failure]
    return (failure.id, *others), failure.finding.id


def _with_examples(course: Course, exercise: Exercise, hunts: Sequence[Hunt]) -> Iterator[Hunt]:
    """Yield wrong programs with the first step of the lesson's example that comes out differently."""
    suite = with_steps(load_suite(course, list(course.with_needs(exercise))))
    steps = suite.steps.get(exercise.id, ())
    if not steps:
        yield from hunts
        return
    needed = course.with_needs(exercise)[:-1]
    base = {other.file: (course.solutions_dir / other.file).read_bytes() for other in needed}
    with Runner(suite, seed=course.seed, shared=True) as runner:
        for hunt in hunts:
            sources = {**base, exercise.file: hunt.source.encode()}
            run = runner.run(sources, plan_of(exercise, steps), probes="steps")
            source, outcomes = Source(exercise.file, sources[exercise.file]), run.outcomes.get(exercise.id, {})
            results = results_of(steps, outcomes, exercise, source, course.limits.memory_mib)
            step = next((step for step in results if step.mark == "differs" and step.yours), None)
            yield replace(hunt, example=Example(step.title, step.paper, step.yours or ()) if step else None)
