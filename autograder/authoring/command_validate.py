"""Prove that solutions, misconceptions and checks fit together.

Exit status: 0 if they do, 1 if not.
"""

import argparse
import contextlib
import os
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from autograder import ending
from autograder.answer_key import CatalogueError
from autograder.cli import JOBS, CommandParser, add_json, make_console, positive, say, show_count, show_keys, warn
from autograder.course import (
    COURSE_FILE,
    WHOLE,
    CourseError,
    Suite,
    SuiteError,
    UsageError,
    entries_of,
    find_course,
    left_out,
    load_suite,
    nearest,
    read_course,
    refuse_kit,
    require_texts,
    resolve_exercise,
    shortened,
    unknown,
    with_sizes,
    with_steps,
    write_atomically,
)
from autograder.ending import FAIL, PASS
from autograder.judge import SELF_CHECK
from autograder.progress import normalize_device, write_json
from autograder.report import kilobytes, plural
from autograder.runner import GraderProblem

from .command_new import rescaled_points
from .programs import Memory
from .proof import FEWEST_LINES, ExerciseProof, Part, Validation, hold_failing, page, validate
from .styles import Losses, Sample, calibrate, misconceptions, ported, prove_once, tables, wrong_programs

if TYPE_CHECKING:
    from rich.console import RenderableType


COLUMNS = ("exercise", "checks", "caught", "named", "accepted", "idle", "cost", "key kB")


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("exercises", nargs="*", metavar="EX", help=f"{parser.exercise} (default: all)")
    does = "prove too that a mistake costs points in one exercise only; with N, for every Nth misconception"
    add("--once", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "measure too how often the location of a mistake is right; with N, for every Nth misconception"
    add("--places", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "calibrate too: wrong programs made of the accepted variants, with --once their points; with N, every Nth"
    add("--styles", type=positive, nargs="?", const=1, metavar="N", help=does)
    does = "calibrate too: misconceptions in whole accepted courses, with --once their points; with N, every Nth"
    add("--ported", type=positive, nargs="?", const=1, metavar="N", help=does)
    add("--costs", action="store_true", help="print the share of its exercise's points that each misconception costs")
    add("--sizes", type=Path, metavar="FILE", help="take the sizes of the axes from FILE (default: course.toml)")
    add("--page", type=Path, metavar="FILE", help="write to FILE which check catches which misconception")
    add("--watch", action="store_true", help="prove again at every save what it touches; Ctrl-C ends it")
    does = "prove this check only; may be repeated"
    add("--check", action="append", default=[], metavar="NAME", help=does)
    does = "prove this misconception only; may be repeated"
    add("--misconception", action="append", default=[], metavar="NAME", help=does)
    add("--jobs", type=positive, metavar="N", help=JOBS)
    add("--device", default="cpu", metavar="NAME", help="where the programs run: cpu, cuda or mps (default: cpu)")
    add("--seed", type=int, metavar="N", help="use different inputs and weights (default: the seed of course.toml)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    jobs = options.jobs or os.cpu_count() or 1
    device = _device(options)
    if options.watch:
        return _watch(options, jobs, device)
    suite = _suite(options)
    course = suite.course
    seed = course.seed if options.seed is None else options.seed
    if options.check or options.misconception:
        return _validate_part(suite, options, seed, jobs, device)
    result = validate(suite, seed=seed, jobs=jobs, device=device, on_progress=_show_progress, on_keys=show_keys)
    if device == "cpu" and options.sizes is None:
        result = hold_failing(suite, result)
    losses = _losses(suite, seed, jobs, options) if options.once and result.ok else {}
    result = replace(result, once=tuple(loss for found in losses.values() for loss in found.unexpected))
    samples = partial(calibrate, suite, seed=seed, jobs=jobs, on_progress=_show_progress)
    places = samples(misconceptions(suite), every=options.places) if options.places else None
    styles = samples(wrong_programs(suite), every=options.styles, budget=SELF_CHECK) if options.styles else None
    known = samples(ported(suite), every=options.ported, budget=SELF_CHECK) if options.ported else None
    status = PASS if result.ok else FAIL
    if write_json(options.json, result.to_json()):
        return status
    if options.page is not None:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(options.page, page(suite, result))
    _show(result, options)
    for sentence in rescaled_points(course) if options.sizes is None else ():
        warn(sentence)
    if options.once and not losses:
        say("once: not tried, because the course does not hold")
    for name, found in losses.items():
        say(_once_sentence(name, found))
    if places is not None:
        say(_places_sentence(places))
    _show_calibrations(styles, known)
    return status


def _suite(options: argparse.Namespace) -> Suite:
    """Return the exercises that are to be proved, as their files are now."""
    course = read_course(find_course())
    refuse_kit(course, "validate")
    if options.sizes is not None:
        course = with_sizes(course, options.sizes)
    warn(left_out(course))
    named = {resolve_exercise(course, word).id for word in options.exercises}
    wanted = [exercise for exercise in course.exercises if not named or exercise.id in named]
    require_texts(course, wanted)
    return with_steps(load_suite(course, wanted))


# A part of the proof: some checks, or some misconceptions. It writes no file: those hold what a whole proof found.


def _validate_part(suite: Suite, options: argparse.Namespace, seed: int, jobs: int, device: str) -> int:
    """Prove some checks, or some misconceptions, and say that it is a part."""
    _refuse_with(options, "--check" if options.check else "--misconception")
    part = Part(frozenset(options.check), frozenset(options.misconception))
    suite = _with_part(suite, part)
    result = validate(
        suite, seed=seed, jobs=jobs, device=device, on_progress=_show_progress, on_keys=show_keys, part=part
    )
    status = PASS if result.ok else FAIL
    if write_json(options.json, result.to_json()):
        return status
    for problem in result.problems:
        say(problem)
    for exercise in result.exercises:
        for check in sorted(part.checks & {check.id for check in suite.checks[exercise.id]}):
            caught = [id_ for id_, failing in _fails(result, exercise.id).items() if check in failing]
            names = f": {', '.join(caught)}" if caught else ""
            say(f"{check} is failed by {len(caught)} of {plural(exercise.misconceptions, 'misconception')}{names}")
    for one in result.proofs if part.misconceptions else ():
        if one.kind == "misconception":
            failed = [check for check, status in one.checks.items() if status != "pass"]
            say(f"{one.name} fails {', '.join(failed) or 'no check'}, and is named {one.named or 'by none'}")
    found = plural(len(result.problems), "problem") if result.problems else "no problem"
    whole = " ".join(["course validate", *(exercise.number for exercise in suite.exercises)])
    say(f"a part of the proof: {found}, {result.seconds:.1f} s, seed {seed}. `{whole}` proves everything")
    return status


def _refuse_with(options: argparse.Namespace, name: str) -> None:
    """Raise `UsageError` for options that need a whole proof."""
    of_whole = ("once", "places", "styles", "ported", "costs", "page")
    if others := [f"--{other}" for other in of_whole if getattr(options, other)]:
        raise UsageError(f"{name} proves a part, and {others[0]} needs a whole proof; leave one of them out")


def _with_part(suite: Suite, part: Part) -> Suite:
    """Return the exercises that have the checks and misconceptions of a part. Raises `UsageError` if none has one."""
    checks = {exercise.id: {check.id for check in suite.checks[exercise.id]} for exercise in suite.exercises}
    wrong = {exercise.id: set(entries_of(suite.course, exercise)) for exercise in suite.exercises}
    for wanted, there, what in ((part.checks, checks, "check"), (part.misconceptions, wrong, "misconception")):
        known = sorted(set().union(*there.values()))
        for name in sorted(wanted - {*known}):
            listed = f"Expected one of {', '.join(known[:MOST_NEWS])}{', ...' if known[MOST_NEWS:] else ''}."
            raise UsageError(unknown(what, name, [nearest(name, known)], more=listed))
    own = [
        exercise
        for exercise in suite.exercises
        if (part.checks & checks[exercise.id] or not part.checks)
        and (part.misconceptions & wrong[exercise.id] or not part.misconceptions)
    ]
    if not own:
        raise UsageError("no exercise has both the check and the misconception; leave one of them out")
    return replace(suite, checks={exercise.id: suite.checks[exercise.id] for exercise in own})


def _fails(result: Validation, exercise: str) -> dict[str, set[str]]:
    """Return the checks that each misconception of an exercise fails."""
    own = (proof for proof in result.proofs if proof.exercise == exercise and proof.kind == "misconception")
    return {proof.name: {id_ for id_, status in proof.checks.items() if status != "pass"} for proof in own}


# Prove again at every save. A memory keeps what was run, so only what an edit touches runs again.

POLL_SECONDS = 0.2
MOST_NEWS = 12
"""Lines of one kind of news: more have one cause, mostly."""

LONGEST_GONE = 100
"""Characters of a problem that is solved: its author knows it."""

WORST_FIRST = ("solution", "accepted", "reference parts", "stub", "empty", "unwritten", "misconception")
"""The kinds of programs, in the order in which their problems are reported: a wrong solution makes the others wrong."""

Files = dict[str, tuple[int, int]]


def _watch(options: argparse.Namespace, jobs: int, device: str) -> int:
    """Prove the exercises, and again at every save, until a signal ends the program."""
    _refuse_with(options, "--watch")
    if options.check or options.misconception or options.json:
        raise UsageError("--watch proves what a save touches; leave --check, --misconception and --json out")
    root = find_course()
    memory, last, before = Memory(), None, Files()
    with ending.temporary(lambda: Path(tempfile.mkdtemp(prefix="course-watch-"))) as cache:
        try:
            while True:
                files = _settled(root, before)
                changed = sorted(name for name in {*files, *before} if files.get(name) != before.get(name))
                if COURSE_FILE in changed:
                    memory.close()
                    memory = Memory()  # limits and libraries belong to workers
                if last is not None:
                    say(f"{', '.join(changed[:3])}{' and more' if changed[3:] else ''} changed")
                before = files
                try:
                    last = _prove_again(options, jobs, device, cache, memory, last)
                except (CourseError, SuiteError, UsageError, CatalogueError, GraderProblem) as error:
                    say(str(error))
                    last = last or Validation(0, 0.0, (), ())
        finally:
            memory.close()


def _settled(root: Path, before: Files) -> Files:
    """Return the files of a course as soon as they differ and no longer change."""
    files = _files(root)
    while files == before:
        time.sleep(POLL_SECONDS)
        files = _files(root)
    while (again := _files(root)) != files:
        files = again
        time.sleep(POLL_SECONDS / 4)
    return files


def _files(root: Path) -> Files:
    found = Files()
    for file in [root / COURSE_FILE, *(root / "solutions").rglob("*"), *(root / "tests" / "exercises").rglob("*")]:
        with contextlib.suppress(OSError):
            status = file.stat()
            if file.suffix in (".py", ".toml") and "__pycache__" not in file.parts:
                found[file.relative_to(root).as_posix()] = (status.st_mtime_ns, status.st_size)
    return found


def _prove_again(
    options: argparse.Namespace, jobs: int, device: str, cache: Path, memory: Memory, last: Validation | None
) -> Validation:
    """Prove right programs first, as nothing else matters while they fail; then the rest. Say what is news."""
    started, ran = time.monotonic(), memory.ran
    suite = _suite(options)
    seed = suite.course.seed if options.seed is None else options.seed
    prove = partial(validate, suite, seed=seed, jobs=jobs, device=device, cache=cache, memory=memory)
    known = _all_problems(last) if last is not None else {}
    said = [problem for problem in _worst_first(prove(part=Part(right=True))) if problem not in known]
    if said:
        _say_some(said, "new: ")
    else:
        say(f"right programs: nothing new, {time.monotonic() - started:.1f} s")
    result = prove()
    _say_some([problem for problem in _worst_first(result) if problem not in {*known, *said}], "new: ")
    if last is not None:
        result = _with_earlier(suite, last, result)
        found = _all_problems(result)
        _say_some([shortened(problem, LONGEST_GONE) for problem in known if problem not in found], "gone: ")
        for exercise in result.exercises:
            _say_some(list(_moved(_fails(last, exercise.id), _fails(result, exercise.id))), "")
    count = plural(len(result.problems), "problem") if result.problems else "no problem"
    earlier = sum(len(exercise.earlier) for exercise in result.exercises)
    count += f" and {earlier} of before that cannot be looked for now" if earlier else ""
    seconds = time.monotonic() - started
    say(f"{count}, {seconds:.1f} s, {plural(memory.ran - ran, 'trial')} run; sizes and costs are not proved here")
    return result


def _all_problems(result: Validation) -> dict[str, None]:
    """Return the problems of a proof in their order, with those of before that could not be looked for."""
    return dict.fromkeys([*result.problems, *(problem for one in result.exercises for problem in one.earlier)])


def _with_earlier(suite: Suite, last: Validation, result: Validation) -> Validation:
    """Return a proof with what the last one found of programs that cannot run now.

    Those are misconceptions that do not fit the solution. Of an exercise without an answer key, or without one
    misconception that fits, it is all that was found.
    """
    before = {exercise.id: exercise for exercise in last.exercises}
    ran = {(proof.exercise, proof.name) for proof in result.proofs if proof.kind == "misconception"}
    exercises, proofs = [], [*result.proofs]
    for exercise in result.exercises:
        own, old = [proof for proof in last.proofs if proof.exercise == exercise.id], before.get(exercise.id)
        ids = entries_of(suite.course, suite.course.exercise(exercise.id))
        problems = (*(old.problems if _is_proved(old, ids) else ()), *old.earlier) if old is not None else ()
        if _is_proved(exercise, ids):
            left = (proof for proof in own if proof.kind == "misconception" and proof.name in ids)
            own = [proof for proof in left if (exercise.id, proof.name) not in ran]
            problems = tuple(problem for proof in own for problem in proof.problems)
        proofs += own
        earlier = dict.fromkeys(problem for problem in problems if problem not in exercise.problems)
        exercises.append(replace(exercise, earlier=tuple(earlier)))
    return replace(result, exercises=tuple(exercises), proofs=tuple(proofs))


def _is_proved(exercise: ExerciseProof, ids: Collection[str]) -> bool:
    """Whether programs ran, and a misconception among them if the catalogue has any."""
    return bool(exercise.empty) and (exercise.misconceptions > 0 or not ids)


def _worst_first(result: Validation) -> list[str]:
    """Return the problems of a proof, those of right programs first."""
    rank = {problem: WORST_FIRST.index(proof.kind) for proof in result.proofs for problem in proof.problems}
    return sorted(result.problems, key=lambda problem: rank.get(problem, 0 if not result.proofs else len(WORST_FIRST)))


def _moved(before: Mapping[str, set[str]], now: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield a sentence for each check that other misconceptions fail than before."""
    both = before.keys() & now.keys()
    for check in sorted({check for name in both for check in before[name] ^ now[name]}):
        more = [name for name in sorted(both) if check in now[name] - before[name]]
        fewer = [name for name in sorted(both) if check in before[name] - now[name]]
        parts = [f"now also {', '.join(more)}"] * bool(more) + [f"no longer {', '.join(fewer)}"] * bool(fewer)
        yield f"{check} is failed by: {'; '.join(parts)}"


def _say_some(sentences: Sequence[str], before: str) -> None:
    for sentence in sentences[:MOST_NEWS]:
        say(f"{before}{sentence}")
    if len(sentences) > MOST_NEWS:
        say(f"{before}{len(sentences) - MOST_NEWS} more")


def _device(options: argparse.Namespace) -> str:
    """Return the device to prove the course on. Raises `UsageError` for what is proved on the CPU only."""
    device = normalize_device(options.device)
    on_cpu = [f"--{name}" for name in ("once", "places", "styles", "ported", "page") if getattr(options, name)]
    if device != "cpu" and on_cpu:
        raise UsageError(f"{on_cpu[0]} works on the CPU only; leave it or `--device {device}` out")
    return device


def _show_calibrations(styles: Sequence[Sample] | None, known: Sequence[Sample] | None) -> None:
    """Print two tables for each calibration that was wanted."""
    for title, found in (
        ("wrong programs made of accepted variants, one change each:", styles),
        ("misconceptions written into whole accepted courses, by exercise and by course:", known),
    ):
        if found is not None:
            say(title)
            for table in tables(found):
                say("\n".join(["", *_aligned(table)]))


def _losses(suite: Suite, seed: int, jobs: int, options: argparse.Namespace) -> dict[str, Losses]:
    """Return what mistakes cost twice: misconceptions, and the programs that are calibrated with."""
    kinds = (
        ("misconceptions", options.once, misconceptions(suite)),
        ("changes of whole accepted courses", options.styles, wrong_programs(suite, variants=WHOLE)),
        ("misconceptions written into whole accepted courses", options.ported, ported(suite)),
    )
    once = partial(prove_once, suite, seed=seed, jobs=jobs, on_progress=_show_progress)
    return {name: once(programs, every=every) for name, every, programs in kinds if every}


def _show_progress(done: int, total: int) -> None:
    show_count(f"{done} of {total} programs", last=done == total)


def _once_sentence(name: str, losses: Losses) -> str:
    """Say how many mistakes were tried, so that a proof of nothing is seen."""
    if not losses.mistakes:
        return f"once: no {name} were tried, because no exercise that is validated here needs another one of them"
    helped = f"; {len(losses.by_helpers)} more where a later exercise uses a helper of the wrong one"
    return (
        f"once: of {losses.mistakes} {name}, {len(losses.unexpected)} losses of points in later exercises"
        f"{helped if losses.by_helpers else ''}"
    )


def _places_sentence(samples: Sequence[Sample]) -> str:
    places = Counter(sample.place for sample in samples)
    count = places.total()
    share = f"{places['right'] / count:.0%}" if count else "none"
    return (
        f"places: {places['right']} of {count} misconceptions ({share}) on the faulty line or the next, "
        f"{places['elsewhere']} on another, {places['nowhere']} on none"
    )


def _empty_programs(result: Validation) -> list[str]:
    """Return the most points that a family of empty programs earns, and a line for each that earns any."""
    proved = [exercise for exercise in result.exercises if exercise.empty]
    if not proved:
        return []
    totals = {family: sum(exercise.empty[family] for exercise in proved) for family in proved[0].empty}
    head = f"empty programs: {len(totals)} families, {max(totals.values()) / 100:g} points at most"
    return [head, *(f"{family}: {total / 100:g} points" for family, total in totals.items() if total)]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines: the first column on the left, the others on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _show(result: Validation, options: argparse.Namespace) -> None:
    from rich.text import Text

    from autograder.report import show_sentence  # rich, which other output does not need

    console = make_console(options)
    lines = [Text(line) for line in _empty_programs(result)]
    warnings = (warning for exercise in result.exercises for warning in exercise.warnings)
    lines += [Text(f"warning: {warning}", "yellow") for warning in warnings]
    lines += [Text(problem, "red") for problem in result.problems]
    searched, lines_found = (sum(getattr(one, name) for one in result.exercises) for name in ("lines", "lines_found"))
    if searched >= FEWEST_LINES:
        lines.append(Text(f"programs in another style: if wrong, {lines_found} of {searched} lines would be found"))
    alone = sum(exercise.alone for exercise in result.exercises)
    count = sum(exercise.misconceptions for exercise in result.exercises)
    verdict = "the course holds" if result.ok else plural(len(result.problems), "problem")
    named = f"{alone} of {count} misconceptions named as themselves" if count else "no misconception was run"
    lines.append(Text(f"{verdict}: {named}, {result.seconds:.1f} s, seed {result.seed}"))
    rows = [_cells(exercise) for exercise in result.exercises]
    if options.plain:
        facts = (". ".join(f"{head}: {cell}" for head, cell in zip(COLUMNS, row, strict=True)) for row in rows)
        lines = [*(Text(f"{fact}.") for fact in facts), *lines]
    else:
        console.print(_table(rows))
    for line in lines:
        show_sentence(console, line)
    for exercise in result.exercises if options.costs else ():
        say(f"\n{exercise.id}:")
        for name, cost in sorted(exercise.costs.items(), key=itemgetter(1), reverse=True):
            say(f"{cost:4.0f} %  {name}")


def _cells(exercise: ExerciseProof) -> tuple[str, ...]:
    """Return what was found of an exercise, in the order of `COLUMNS`."""
    return (
        exercise.id,
        str(exercise.checks),
        f"{exercise.caught} of {exercise.misconceptions}",
        f"{exercise.named} of {exercise.misconceptions}",
        f"{exercise.accepted_full} of {exercise.accepted}",
        str(len(exercise.survivors)),
        f"{median(exercise.costs.values()):.0f} %" if exercise.costs else "-",
        "-" if exercise.key_bytes is None else kilobytes(exercise.key_bytes).removesuffix(" kB"),
    )


def _table(rows: Sequence[Sequence[str]]) -> "RenderableType":
    """Return a row per exercise."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for head in COLUMNS:
        table.add_column(head, justify="left" if head == "exercise" else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
