"""The tiny course that the engine's tests run on: copies of it, programs for it, and their reports."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from autograder.answer_key import Keys
from autograder.authoring.reference_parts import compile_text
from autograder.course import Course, Suite, load_suite, read_course
from autograder.judge import Grader
from autograder.progress import Progress, record
from autograder.results import CheckResult, ExerciseResult, Report
from autograder.runner import Runner
from autograder.submission import Submission, digest
from tests.support.programs import AT_START, Programs

ROOT = Path(__file__).parent / "tiny_course"
REPOSITORY = Path(__file__).parents[2]
FIRST, SECOND = "ex01_running_mean", "ex02_matrix_power"
FILES = (f"{FIRST}.py", f"{SECOND}.py")
TRUSTED = ("--plain", "--isolation", "process")
"""Options for grading our own programs, which need no sandbox."""

FULL = {FIRST: 4000, SECOND: 6000}
"""The points of each exercise, in hundredths."""

os.environ["COURSE_TRUST"] = "1"  # copies of our own courses: no test asks for trust or stores it

COURSE = read_course(ROOT)
SUITE = load_suite(COURSE)
BRIEF = replace(
    SUITE,
    checks={name: tuple(replace(check, trials=1) for check in checks[:1]) for name, checks in SUITE.checks.items()},
)
"""Only the first check of each exercise, once: a program that kills its worker then kills one, not three."""

MEAN = (ROOT / "solutions" / FILES[0]).read_text("utf-8")
POWER = (ROOT / "solutions" / FILES[1]).read_text("utf-8")
POWER_ALONE = (ROOT / "solutions" / "accepted" / SECOND / "on_its_own.py").read_text("utf-8")
"""The second exercise without the first, so that the first can be anything."""

EVERYTHING = os.environ.get("PROOF") == "all"
"""Whether to prove a promise with every seed and every exercise, as `make proof` does, not with some of them."""

HINTS = f"tests/exercises/hints/{FIRST}.toml"
"""The file with the hints of the first exercise."""

RUNNING = "    return x.cumsum(dim=-1) / count  # (..., T)"


def part(name: str, text: str) -> bytes:
    """Return the compiled reference part of one source file."""
    return compile_text(name, lambda _: (text, f"{name}.py"), (), ()).encode()


def mean_with(line: str) -> str:
    """Return the first solution with another last line."""
    assert RUNNING in MEAN
    return MEAN.replace(RUNNING, f"    {line}")


def submitted(first: str | bytes | None = MEAN, second: str | bytes | None = POWER, student: str = "ada") -> Submission:
    """Return a submission of these two files; None omits one."""
    texts = dict(zip(FILES, (first, second), strict=True))
    sources = {
        name: text.encode() if isinstance(text, str) else text for name, text in texts.items() if text is not None
    }
    return Submission(student, FILES, sources, digest(sources), ())


def without_counts(stderr: str) -> list[str]:
    """Return the lines of a command's stderr without its counts: only a slow run prints them."""
    return [line for line in stderr.splitlines() if not re.match(r"(Exercise \d+: )?\d+ of \d+ ", line)]


def handed_in(folder: Path, first: str | None = MEAN, second: str | None = POWER) -> Path:
    """Write a submission to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(FILES, (first, second), strict=True):
        if text is not None:
            (folder / name).write_text(text, "utf-8")
    return folder


def notebook(code: str, *, before: int = 0, output: str = "") -> bytes:
    """Return a notebook of one cell of code, with text cells before it."""
    about: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    texts = [{"cell_type": "markdown", "source": "text", "metadata": {}}] * before
    outputs = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
    cell: dict[str, Any] = {
        "cell_type": "code",
        "source": code,
        "metadata": {},
        "outputs": outputs,
        "execution_count": None,
    }
    return json.dumps({**about, "cells": [*texts, cell]}).encode()


def copied(folder: Path, cache: Path | None = None) -> Path:
    """Copy the course, with the answer keys of a cache, so that no test has to compute them."""
    shutil.copytree(ROOT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".course", "__pycache__"))
    if cache is not None:
        shutil.copytree(cache, folder / ".course" / "cache")
    return folder


def make_keys(suite: Suite, seed: int, cache: Path) -> None:
    """Fill a cache with the answer keys and traces of all exercises under a seed."""
    with Keys(suite, seed=seed, cache=cache) as keys:
        for exercise in suite.exercises:
            keys.get(exercise)
            for check in suite.checks[exercise.id]:
                keys.traces(exercise, check)


def linked(source: str | Path, target: str | Path) -> None:
    """Put a file of a cache into a copy of its course: nothing writes into one."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def replaced(file: Path, old: str, new: str) -> None:
    """Replace the only occurrence of `old` in a file, at once: who watches it never reads half of it."""
    text = file.read_text("utf-8")
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {file.name}"
    whole = file.with_name(f"{file.name}.new")
    whole.write_text(text.replace(old, new), "utf-8")
    whole.replace(file)


def suite_at(root: Path) -> Suite:
    """Return the suite of a copy."""
    return load_suite(read_course(root))


def course_at(root: Path) -> Course:
    """Return the course of a copy."""
    return read_course(root)


FORKED = Path(__file__).with_name("forked")
"""The folder of what has programs fork their workers, where a zygote is lent."""


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without variables that change the output of the program.

    Where a zygote is lent, the programs fork their workers from it.
    """
    unwanted = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "ACCESSIBLE", "PYTEST_ADDOPTS", "COURSE_TRACEBACK")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in unwanted and not name.startswith(("PYTEST_", "COV_", "PYTHONPATH"))
    }
    found = [extra[name] for name in extra if name == "PYTHONPATH"] + [str(FORKED)] * ("FORKS" in kept)
    paths = {"PYTHONPATH": os.pathsep.join(found)} if found else {}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1", **extra, **paths}


PROGRAM = ("-m", "autograder")
"""How Python starts the program."""

SECONDS = 600
"""After so long, a program is taken to hang."""


@cache
def programs() -> Programs:
    """Return what forks programs, where the tests lend them a zygote."""
    return Programs(environment({}))


def run_course(
    root: Path, *arguments: str, typed: str | None = None, program: Sequence[str] = PROGRAM, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run the program in a folder, with `typed` as its input, and check that it prints no traceback."""
    if "FORKS" in os.environ and program == PROGRAM and not any(name.startswith(AT_START) for name in env):
        done = programs().run(arguments, root, environment(env), typed or "", SECONDS)
    else:
        done = subprocess.run(
            [sys.executable, *program, *arguments],
            cwd=root,
            env=environment(env),
            input=typed or "",
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


def timeless(out: Path) -> dict[str, Any]:
    """Return the reports of a graded class without the seconds."""
    reports = {file.name: json.loads(file.read_text("utf-8")) for file in sorted((out / "reports").iterdir())}
    for report in reports.values():
        for exercise in report["exercises"]:
            for check in exercise["checks"]:
                del check["seconds"]
    return reports


def checked(root: Path, grader: Grader, runner: Runner, text: str) -> Progress:
    """Check a text as the first exercise of a copy, as `course check 1` does, without a process of its own."""
    course = read_course(root)
    submission = submitted(text)
    (course.exercises_dir / FILES[0]).write_text(text, "utf-8")
    report = grader.grade(submission, [course.exercises[0]], runner)
    return record(course, report, submission.sources, command="check").progress


def result_of(report: Report, exercise: str) -> ExerciseResult:
    return next(result for result in report.exercises if result.id == exercise)


def check_of(report: Report, exercise: str, check: str) -> CheckResult:
    return next(result for result in result_of(report, exercise).checks if result.id == check)


def sentences_of(result: ExerciseResult) -> list[str]:
    """Return the messages of the checks that fail."""
    return [check.finding.message if check.finding else "" for check in result.checks if check.status != "pass"]
