"""Submissions made only from what a student gets: files of the kit, and everything a submission can import.

None of them may earn a point. `tests/proof/kit_answers.py` tries them all, `test_kit_answers.py` some.
"""

import ast
import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import autograder
from autograder.answer_key import AnswerKey
from autograder.authoring.release import _course, _handed_out, engine_files
from autograder.course import Course, Exercise, Suite
from autograder.judge import Verdicts
from autograder.judge.marking import Marking
from autograder.runner import Runner
from autograder.submission import Submission, digest

TEXTS = (".py", ".json", ".md", ".toml", ".txt", ".ipynb")


@dataclass(frozen=True)
class Attempt:
    """One submission: the same text as the file of every exercise."""

    name: str
    text: bytes


@cache
def contract_names(solutions: Path) -> list[str]:
    """Return every public name that a solution defines."""
    names: list[str] = []
    for file in sorted(solutions.glob("ex*.py")):
        kinds = ast.ClassDef | ast.FunctionDef
        tree = ast.parse(file.read_bytes())
        names += [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]
    return list(dict.fromkeys(names))


def files_of_the_kit(course: Course) -> Iterator[Attempt]:
    """Yield each text of a kit as it is; the answer key in it is numbers."""
    files = {**engine_files(course), **_course(course), **_handed_out(course)}
    for name, data in sorted(files.items()):
        if name.endswith(TEXTS):
            yield Attempt(name, data)


def importable(course: Course) -> Iterator[Attempt]:
    """Yield each function and class of the engine, bound to every name of the contract."""
    for module in sorted(package.name for package in pkgutil.walk_packages(autograder.__path__, "autograder.")):
        if module.endswith("__main__"):
            continue
        try:
            found = vars(importlib.import_module(module))
        except ImportError:
            continue  # an optional dependency that is not installed
        for name, value in sorted(found.items()):
            if isinstance(value, FunctionType | type) and value.__module__ == module:
                lines = f"import importlib\nfound = importlib.import_module({module!r}).{name}\n"
                yield bound(course, f"{module}.{name}", lines)


def functions_of_checks(course: Course) -> Iterator[Attempt]:
    """Yield each function and class of the checks, bound to every name of the contract."""
    for exercise in course.exercises:
        text = course.checks_file(exercise).read_text("utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield bound(course, f"test_{exercise.id}.{node.name}", f"{text}\n\nfound = {node.name}\n")


REACHED = """
import gc, sys, types
gc.unfreeze()
found = None
for each in gc.get_objects():
    if isinstance(each, (type, types.FunctionType)) and each.__name__ == {name!r} and each.__module__ != __name__:
        if str(each.__module__).startswith("ex"):
            found = each
"""

LOADED = """
import json
from autograder.worker import sources
found = sources.build({data!r}, "ex00")[{name!r}]
"""

IN_THE_JOB = """
import sys
from autograder.worker import sources
frame = sys._getframe()
while type(frame.f_locals.get("self")).__name__ != "Job":
    frame = frame.f_back
data = frame.f_locals["self"].job["reference_parts"]
found = next(each[{name!r}] for file in data for each in [sources.build(data[file], "ex00")] if {name!r} in each)
"""


def parts_within_reach(course: Course) -> Iterator[Attempt]:
    """Yield each reference part, bound to every name: found in memory, brought along, or taken from the job."""
    for file in sorted(course.reference_parts_dir.glob("*.json")):
        data = file.read_bytes()
        for name in json.loads(data)["exports"]:
            yield bound(course, f"{name} in memory", REACHED.format(name=name))
            yield bound(course, f"{name} brought along", LOADED.format(data=data, name=name))
            yield bound(course, f"{name} in the job", IN_THE_JOB.format(name=name))


def bound(course: Course, name: str, lines: str) -> Attempt:
    """Return a submission that gives `found`, which its lines define, every name of the contract."""
    names = " = ".join(contract_names(course.solutions_dir))
    return Attempt(name, f"{lines}\n{names} = found\n".encode())


def every_attempt(course: Course) -> Iterator[Attempt]:
    for attempts in (files_of_the_kit, importable, functions_of_checks, parts_within_reach):
        yield from attempts(course)


EMPTY = (
    "def found(*args, **named):\n    return None\n",
    "def found(*args, **named):\n    yield\n",
    "def found(*args, **named):\n    return args[0] if args else None\n",
    "class found:\n    def __init__(self, *args, **named):\n        pass\n",
    "class found(ValueError):\n    pass\n",
    "def found(*args, **named):\n    raise ValueError(*args)\n",
    "def found(*args, **named):\n    return ''\n",
    "def found(*args, **named):\n    return False\n",
    "def found(*args, **named):\n    return []\n",
    "def found(*args, **named):\n    return {}\n",
    "def found(x, *args, **named):\n    return list(x)\n",
)
"""Programs that compute nothing. What they earn is no answer of the kit, and other tests demand that it is 0."""


def by_empty_programs(
    suite: Suite, runner: Runner, key: Callable[[Exercise], AnswerKey], programs: Sequence[str] = EMPTY
) -> dict[str, int]:
    """Return the most that a program that computes nothing earns in each exercise."""
    most: dict[str, int] = {}
    for lines in programs:
        for name, points in earned(suite, runner, bound(suite.course, "empty", lines), key).items():
            most[name] = max(points, most.get(name, 0))
    return most


USES_PARTS = re.compile(rb"^\s*(from|import) ex\d\d_|\bgc\b|worker import sources", re.MULTILINE)


def meets_parts(attempt: Attempt) -> bool:
    """Say whether an attempt may meet a reference part: it imports an exercise, looks into memory, or builds parts."""
    return bool(USES_PARTS.search(attempt.text))


def brief(suite: Suite) -> Suite:
    """Return a suite of one trial for each check: a check passes only where each of its trials does."""
    once = {name: tuple(replace(check, trials=1) for check in checks) for name, checks in suite.checks.items()}
    return replace(suite, checks=once)


def earned(suite: Suite, runner: Runner, attempt: Attempt, key: Callable[[Exercise], AnswerKey]) -> Mapping[str, int]:
    """Return the hundredths that an attempt earns, by exercise; those it earns nothing in are left out."""
    course = suite.course
    sources = dict.fromkeys(course.files, attempt.text)
    submission = Submission("nobody", course.files, sources, digest(sources), ())
    # Without a word of parts, a second run with them would be the first one again.
    marked = suite if meets_parts(attempt) else replace(suite, reference_parts={})

    def verdicts(exercise: Exercise) -> Verdicts:
        return Verdicts(suite, exercise, lambda _: key(exercise), seed=runner.seed, evidence=False)

    def no_traces(_: Exercise) -> Any:
        raise NotImplementedError

    marking = Marking(marked, submission, runner, verdicts, no_traces)
    marking.run_own(suite.exercises)
    results = {exercise.id: marking._judged(exercise) for exercise in suite.exercises}
    broken = [name for name, result in results.items() if result.status == "grader_error"]
    assert not broken, f"{attempt.name} in {broken}"
    return {name: result.score for name, result in results.items() if result.score}


def answers(points: Mapping[str, int], empty: Mapping[str, int]) -> dict[str, int]:
    """Return what an attempt earns beyond programs that compute nothing."""
    return {name: more for name, one in points.items() if (more := one - empty.get(name, 0)) > 0}
