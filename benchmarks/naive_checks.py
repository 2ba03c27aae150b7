"""How many wrong programs pass naive checks, and how many pass the course's own: writes the comparison as a page.

    python benchmarks/naive_checks.py --out docs/comparison.md

Every program runs in a forked process of its own, with the solutions of the other exercises as its other files; so this
needs a system with fork. It reads the course at its start: what is edited later does not count. The page keeps the
section that peers.py writes.
"""

import argparse
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch
from naive_exercises import EXAMPLES, SHAPES, Check, small_transformer
from naive_page import Comparison, Program, beside, page, with_section

from autograder.answer_key import CatalogueError, patched, read_catalogue
from autograder.course import Course, find_course, read_course, write_atomically

SECONDS = 20
"""The wall time limit of a program in seconds; correct ones need less than one."""

MEMORY = 16 << 30
"""The limit of a program's address space in bytes."""

CHECKS: Mapping[str, Mapping[str, Check]] = {"shape": SHAPES, "example": EXAMPLES}


def main() -> None:
    """Run the comparison and write the page."""
    options = arguments()
    course = read_course(find_course())
    programs = [program for program in programs_of(course) if program.exercise in SHAPES]
    solutions = imported(course, SHAPES)
    proofs = validated(course, options.jobs)
    passing = {"course": frozenset(program for program in programs if passes_course(program, proofs))}
    for kind, checks in CHECKS.items():
        passing[kind] = passing_programs(programs, checks, solutions, options.jobs)
        rejected = [program for program in programs if program.kind == "solution" and program not in passing[kind]]
        if rejected:
            raise SystemExit(f"the naive {kind} check of {rejected[0].exercise} is wrong: the solution fails it")
    comparison = Comparison(programs, passing, seed=course.seed)
    text = page(comparison, f"python benchmarks/naive_checks.py --out {options.out}")
    write_atomically(options.out, with_section(text, beside(options.out)))
    print(comparison.summary())


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare naive checks with the course's own on every wrong program.")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where to write the page")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="programs at a time")
    return parser.parse_args()


def programs_of(course: Course) -> list[Program]:
    """Read the solutions, the misconceptions and the accepted variants."""
    programs = []
    for exercise in course.exercises:
        solution = (course.solutions_dir / exercise.file).read_text("utf-8")
        programs.append(Program("solution", exercise.id, exercise.id, exercise.id, solution))
        try:
            catalogue = read_catalogue(course.solutions_dir / "misconceptions" / f"{exercise.id}.toml", solution)
        except CatalogueError as error:
            raise SystemExit(str(error)) from error
        programs += [
            Program(
                "misconception", exercise.id, wrong_program.id, wrong_program.name, patched(solution, wrong_program)
            )
            for wrong_program in catalogue
        ]
        for file in sorted((course.solutions_dir / "accepted" / exercise.id).glob("*.py")):
            programs.append(Program("accepted", exercise.id, file.stem, file.stem, file.read_text("utf-8")))
    return programs


def imported(course: Course, exercises: Iterable[str]) -> dict[str, ModuleType]:
    """Import the solutions of exercises, and what else a process would otherwise import for itself."""
    torch.set_num_threads(1)  # threads do not outlive a fork
    sys.path.insert(0, str(course.solutions_dir))
    solutions = {exercise: importlib.import_module(exercise) for exercise in sorted(exercises)}
    small_transformer()  # the first optimizer imports half of torch
    return solutions


def validated(course: Course, jobs: int) -> Mapping[tuple[str, str, str], Mapping[str, str]]:
    """Run the course's own checks; return the status of each check, by kind, exercise and name of the program."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "validation.json"
        command = [sys.executable, "-m", "autograder", "validate", "--jobs", str(jobs), "--json", str(file)]
        run = subprocess.run(command, cwd=course.root, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise SystemExit(f"no figure, for the course does not hold:\n{run.stdout}{run.stderr}")
        validation: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    return {(proof["kind"], proof["exercise"], proof["name"]): proof["checks"] for proof in validation["proofs"]}


def passes_course(program: Program, proofs: Mapping[tuple[str, str, str], Mapping[str, str]]) -> bool:
    """Return whether a program passes every check of the course."""
    checks = proofs.get((program.kind, program.exercise, program.name))
    if not checks:
        raise SystemExit(f"course validate did not run {program.name}: was the course edited meanwhile? Run it again.")
    return all(status == "pass" for status in checks.values())


def passing_programs(
    programs: Sequence[Program],
    checks: Mapping[str, Check],
    solutions: Mapping[str, ModuleType],
    jobs: int,
    seconds: int = SECONDS,
) -> frozenset[Program]:
    """Run a check on each program, `jobs` at a time, each for at most some seconds, and return those that pass."""
    running: dict[int, Program] = {}
    passed = set()

    def wait_for_one() -> None:
        process, status = os.wait()
        program = running.pop(process)
        if status == 0:
            passed.add(program)

    for program in programs:
        if len(running) == jobs:
            wait_for_one()
        process = os.fork()
        if process == 0:
            attempt(program, checks[program.exercise], solutions[program.exercise], seconds)
        running[process] = program
    while running:
        wait_for_one()
    return frozenset(passed)


def attempt(program: Program, check: Check, solution: ModuleType, seconds: int) -> NoReturn:
    """Run a check in this process and end it: with status 0 if nothing was raised, else with another, or a signal."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.alarm(seconds)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        torch.manual_seed(0)
        check(loaded(program), solution)
        status = 0
    finally:
        os._exit(status)


def loaded(program: Program) -> ModuleType:
    """Import a program in the place of the solution of its exercise."""
    module = ModuleType(program.exercise)
    sys.modules[program.exercise] = module
    exec(compile(program.source, f"{program.exercise}.py", "exec", dont_inherit=True), module.__dict__)
    return module


if __name__ == "__main__":
    main()
