"""Try every attack of the course's catalogue on the grader, and print the outcomes.

    python -m tests.proof.attacks --only a61 --level L0

Exits with 1 if an attack got points, a secret or anything else at a level that contains it, or cost anybody anything.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from autograder.course import (
    Course,
    CourseError,
    Suite,
    find_course,
    load_suite,
    read_course,
    trust_here,
    write_atomically,
)
from autograder.ending import ENVIRONMENT
from autograder.instructor.bulk import open_grading_isolation
from autograder.judge import Grader
from autograder.report import report_console
from autograder.runner import EnvironmentProblem
from autograder.sandbox import Isolation, process_isolation
from tests.proof.attacks.catalogue import (
    Attack,
    Catalogue,
    CatalogueError,
    Level,
    read_catalogue,
)
from tests.proof.attacks.traps import Traps
from tests.proof.attacks.trial import Trial, Trials

SEED = 3_141_592_653_589_793
"""The secret seed: fixed, so that answer keys are cached; long, so that a leak of it is recognised."""

COLUMNS = ("attack", "tries", "points", "leaks", "changed", "lost", "left", "seconds", "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="python -m tests.proof.attacks", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="attacks whose names begin like this")
    parser.add_argument("--level", choices=("L0", "L2", "L3"), help="what to attack (the highest there is here)")
    parser.add_argument("--neighbours", type=int, default=3, help="honest submissions graded beside each (3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found as JSON")
    parser.add_argument("--plain", action="store_true", help="a line for each attack, without a table")
    options = parser.parse_args(arguments)
    try:
        course = read_course(find_course())
        catalogue = read_catalogue(course.checks_dir.parent / "attacks")
        attacks = catalogue.find(options.only)
    except (CourseError, CatalogueError) as error:
        parser.error(str(error))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    trials: list[Trial] = []
    with contextlib.ExitStack() as stack:
        try:
            against = stack.enter_context(prepared(course, catalogue, options.level, neighbours=options.neighbours))
        except EnvironmentProblem as problem:
            print(f"{parser.prog}: {problem}; --level L0 attacks plain processes", file=sys.stderr)
            return ENVIRONMENT
        level = against.level
        run = [attack for attack in attacks if attack.may_run(level)]
        stack.enter_context(contextlib.suppress(KeyboardInterrupt))
        for attack in run:
            print(f"{len(trials) + 1} of {len(run)}: {attack.name}".ljust(78), end="\r", file=sys.stderr, flush=True)
            trials.append(against.run(attack))
            if options.json:
                write_atomically(options.json, json.dumps(_data(trials, level, attacks), indent=1) + "\n")
    print(" " * 78, end="\r", file=sys.stderr, flush=True)
    show(trials, level, len(attacks) - len(run), plain=options.plain)
    return int(any(trial.fails(level) for trial in trials) or len(trials) < len(run))


def _data(trials: Sequence[Trial], level: Level, attacks: Sequence[Attack]) -> dict[str, Any]:
    found = [{**trial.to_json(), "verdict": trial.verdict(level)} for trial in trials]
    return {"level": level, "not_run": len(attacks) - len(trials), "attacks": found}


@contextlib.contextmanager
def prepared(course: Course, catalogue: Catalogue, level: str | None, *, neighbours: int) -> Iterator[Trials]:
    """Yield trials against a grader of a copy of the course, in a folder that is gone afterwards.

    The answer keys are kept beside the course's own. Without a level it is the highest that holds here; raises
    `EnvironmentProblem` where the one that is asked for does not.
    """
    kept = course.root / ".course" / "attacks"
    before = tempfile.tempdir, os.environ.get("TMPDIR")
    base = Path(tempfile.mkdtemp(prefix="course-attack-")).resolve()
    try:
        copy = _copied(course, base / "course")
        tempfile.tempdir = os.environ["TMPDIR"] = str(base / "tmp")
        (base / "tmp").mkdir()
        trust_here(copy.root)
        suite = load_suite(copy, [exercise for exercise in copy.exercises if exercise.id in catalogue.exercises])
        with contextlib.ExitStack() as stack:
            traps = stack.enter_context(contextlib.closing(Traps(base, SEED)))
            isolation = stack.enter_context(_isolation(level, suite, neighbours + 1))
            grader = stack.enter_context(Grader(suite, seed=SEED, cache=kept, isolation=isolation))
            grader.wait_for_keys(lambda *_: None)
            yield Trials(catalogue, grader, traps, kept=kept, neighbours=neighbours)
    finally:
        tempfile.tempdir = before[0]
        os.environ.pop("TMPDIR", None)
        if before[1] is not None:
            os.environ["TMPDIR"] = before[1]
        shutil.rmtree(base, ignore_errors=True)


def _isolation(level: str | None, suite: Suite, jobs: int) -> Isolation:
    if level == "L0":
        return process_isolation()
    found = open_grading_isolation("sandbox", suite, device="cpu", jobs=jobs)
    if level == "L3" != found.level:
        found.close()
        raise EnvironmentProblem(f"L3 does not hold here: {found.sentence}")
    return replace(found, level=level or found.level)


def _copied(course: Course, root: Path) -> Course:
    """Copy a course, so that attacks cannot damage the real one."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    for part in (course.solutions_dir, course.checks_dir):
        shutil.copytree(part, root / part.relative_to(course.root), ignore=ignored)
    shutil.copy(course.root / "course.toml", root)
    return read_course(root)


def show(trials: Sequence[Trial], level: Level, not_run: int, *, plain: bool) -> None:
    """Print a line for each attack, and the totals."""
    console = report_console(plain=plain)
    failed = [trial for trial in trials if trial.fails(level)]
    if plain:
        for trial in trials:
            console.print(", ".join(f"{name} {cell}" for name, cell in zip(COLUMNS, _row(trial, level), strict=True)))
    else:
        table = Table(box=None, pad_edge=False)
        for name in COLUMNS:
            table.add_column(name, justify="right" if name in COLUMNS[2:8] else "left", no_wrap=True)
        for trial in trials:
            name, title, *rest = _row(trial, level)
            table.add_row(Text(name), Text(title), *rest)
        console.print(table)
    for trial in trials:
        if seen := trial.seen():
            why = "" if trial.fails(level) else f" ({trial.attack.why})"
            console.print(f"{trial.attack.name}: {'; '.join(seen)}{why}", soft_wrap=True)
    open_ = [trial for trial in trials if not trial.attack.claims(level)]
    console.print(
        f"\n{len(trials)} attacks at {level}, {len(trials) - len(open_)} of them contained there by promise: "
        f"{len(failed)} {'breaks' if len(failed) == 1 else 'break'} a promise; "
        f"{sum(trial.got for trial in open_)} of the {len(open_)} others get something; "
        f"{sum(trial.harmed for trial in trials)} cost anybody anything; "
        f"{not_run} not run, for they would harm this machine at {level}"
    )


def _row(trial: Trial, level: Level) -> tuple[str, ...]:
    counts = (str(len(items)) for items in (trial.leaks, trial.changed, trial.lost, trial.left))
    points, seconds = f"{trial.gained / 100:g}", f"{trial.seconds:.1f}"
    return (trial.attack.name, trial.attack.title, points, *counts, seconds, trial.verdict(level))
