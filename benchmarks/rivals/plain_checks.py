"""The course's checks as an ordinary test suite would have them, for the graders the kit is measured beside.

The probes run on the student's modules, in the same process. What they return is compared by `torch.allclose` with what
the solution returned, out of a file that was made before: no solution has to run. PLAIN_CHECKS names the folder with
that file and with the course.
"""

import dataclasses
import functools
import importlib
import importlib.util
import math
import os
import random
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: its kernels run as Python, on the CPU

import numpy as np
import torch
from torch import Tensor

from autograder.checks import (
    Check,
    Dropout,
    Elsewhere,
    Given,
    Implementation,
    Like,
    Raises,
    Same,
    checks_in,
    derived_seed,
    sizes_of,
)
from autograder.comparison.float_arrays import as_array, dropped_wrongly, target_of
from autograder.comparison.float_arrays import resembles as alike_enough

TOLERANCES = {torch.float64: 1e-6, torch.float32: 3e-5, torch.float16: 1e-2, torch.bfloat16: 4e-2}
FOLDER = Path(os.environ["PLAIN_CHECKS"])

warnings.simplefilter("ignore")  # a warning on the standard error costs all points in nbgrader
torch.set_num_threads(1)


class Plain:
    """The checks of the exercises, and their expected results."""

    def __init__(self, kept: Mapping[str, Any]) -> None:
        self.seed: int = kept["seed"]
        self.sizes: dict[str, list[dict[str, int]]] = kept["sizes"]
        self.points: dict[str, dict[str, int]] = kept["points"]
        self.expected: dict[tuple[str, str, int], Any] = kept["expected"]
        self._checks: dict[str, dict[str, Check]] = {}
        self._earned: dict[tuple[str, str], bool] = {}

    def checks(self, exercise: str) -> dict[str, Check]:
        """Return the checks of an exercise by their ids."""
        if exercise not in self._checks:
            module = _module(FOLDER / "course" / "tests" / "exercises" / f"test_{exercise}.py")
            self._checks[exercise] = {check.id: check for check in checks_in(module)}
        return self._checks[exercise]

    def passes(self, exercise: str, check: str) -> bool:
        """Say whether a check passes on all of its trials; what the student's code raises comes out."""
        implementation = Implementation(importlib.import_module(exercise))
        declared = self.checks(exercise)[check]
        return all(
            right(observation, self.expected[exercise, check, trial], declared.judge)
            for trial, observation in enumerate(self.observations(exercise, declared, implementation))
        )

    def observations(self, exercise: str, check: Check, implementation: object) -> Iterator[Any]:
        """Yield what each trial of a check returns."""
        for trial in range(check.trials):
            seed = derived_seed(self.seed, exercise, check.id, trial)
            calm(seed)
            given = Given(seed, sizes_of(self.sizes[exercise], self.seed, exercise, check.id, trial), "cpu")
            yield bare(check.probe(implementation, given))

    def counts(self, exercise: str, check: str) -> bool:
        """Say whether a check passes and, if it requires others, one of those counts too; none is run twice."""
        passed = self._earned.get((exercise, check))
        if passed is None:
            self._earned[exercise, check] = False  # if it raises, and for checks that require each other
            passed = self._earned[exercise, check] = self.passes(exercise, check)
        required = self.checks(exercise)[check].requires_any
        return passed and (not required or any(self.earns(exercise, name) for name in required))

    def score(self, exercise: str) -> float:
        """Return the points of an exercise: of each check that passes and counts, its own."""
        return sum(self.points[exercise][check] for check in self.points[exercise] if self.earns(exercise, check)) / 100

    def earns(self, exercise: str, check: str) -> bool:
        """Say whether a check counts; one that raises does not."""
        try:
            return self.counts(exercise, check)
        except Exception:
            return False


def calm(seed: int) -> None:
    """Seed all random generators, and restore settings that student's code may have changed."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)


def bare(value: Any) -> Any:
    """Return an observation with each tensor as the name of its device and a plain tensor."""
    if isinstance(value, Elsewhere):
        return ("elsewhere", value.cpu_tensor.detach())
    if isinstance(value, Tensor):
        return (str(value.device), value.detach())
    if isinstance(value, list | tuple):
        return [bare(item) for item in value]
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items()}
    return value


def right(yours: Any, expected: Any, judge: object) -> bool:
    """Return whether an observation passes its judge."""
    match judge:
        case Same():
            return alike(yours, expected, judge)
        case Like():
            return like(yours, expected, judge)
        case Raises(types):
            mentioned = all(mention in yours["message"] for mention in yours["mentions"])
            return bool(set(types) & set(yours["raised"])) and (mentioned or yours["raised"][0] == "AssertionError")
        case Dropout(rate):
            others = [{name: part for name, part in result.items() if name != "train"} for result in (yours, expected)]
            return like(*others, Like(exact_zeros=True)) and dropped(yours["train"][1], yours["eval"][1], rate)
    assert callable(judge)
    return judge(numbers(yours), numbers(expected)) is None


def alike(yours: Any, expected: Any, judge: Same) -> bool:
    """Compare two observations, every tensor in them by its device, dtype, shape and numbers."""
    match expected:
        case (str(device), Tensor() as wanted):
            there = isinstance(yours, tuple) and yours[0] == device
            return there and yours[1].dtype == wanted.dtype and close(yours[1], wanted, judge)
        case list():
            same = isinstance(yours, list) and len(yours) == len(expected)
            return same and all(alike(one, other, judge) for one, other in zip(yours, expected, strict=True))
        case dict():
            same = isinstance(yours, dict) and yours.keys() == expected.keys()
            return same and all(alike(yours[key], expected[key], judge) for key in expected)
        case float():
            tolerance = judge.tolerance or TOLERANCES[torch.float32]
            return isinstance(yours, float) and math.isclose(
                yours, expected, rel_tol=tolerance, abs_tol=1e-3 * tolerance
            )
    return type(yours) is type(expected) and bool(yours == expected)


def like(yours: Any, expected: Any, judge: Like, name: str = "") -> bool:
    """Compare two observations as `Like` says: two ways with each other, everything else by its likeness."""
    match expected:
        case (str(device), Tensor() as wanted):
            there = isinstance(yours, tuple) and yours[0] == device and yours[1].dtype == wanted.dtype
            return there and resembles(yours[1], wanted, judge, name)
        case [(str(), Tensor() as one), (str(), Tensor() as other)] if one.shape == other.shape:
            pairs = list(zip(yours, expected, strict=False)) if isinstance(yours, list) else []
            if len(pairs) != 2 or not all(
                mine[0] == theirs[0] and mine[1].dtype == theirs[1].dtype for mine, theirs in pairs
            ):
                return False
            first, second = yours[0][1].double(), yours[1][1].double()
            types = [tensor.dtype for tensor in (one, other) if tensor.is_floating_point()]
            tolerance = judge.tolerance or max((TOLERANCES[type_] for type_ in types), default=None)
            there = other.isfinite()
            agree = close(first[there], second[there], Same(tolerance, judge.exact_zeros))
            # Zeros of two ways are compared with each other: what a blocked row holds is free.
            ways = dataclasses.replace(judge, exact_zeros=False)
            return agree and resembles(first.where(there, torch.nan), one.where(there, torch.nan), ways, name)
        case list():
            same = isinstance(yours, list) and len(yours) == len(expected)
            return same and all(like(mine, theirs, judge) for mine, theirs in zip(yours, expected, strict=True))
        case dict():
            same = isinstance(yours, dict) and yours.keys() == expected.keys()
            return same and all(like(yours[key], expected[key], judge, key) for key in expected)
    return alike(yours, expected, Same(judge.tolerance))


def resembles(yours: Tensor, wanted: Tensor, judge: Like, name: str) -> bool:
    """Say whether two tensors have one shape, finite numbers in the same places, and a correlation."""
    if yours.shape != wanted.shape:
        return False
    one, other = (tensor.detach().double().numpy() for tensor in (yours, wanted))
    there = np.isfinite(other)
    if name in judge.free:
        return bool(np.isfinite(one[there]).all())
    if judge.exact_zeros and bool(((one == 0) != (other == 0))[there].any()):
        return False
    return alike_enough(one, target_of(as_array(other, "float64", "cpu")), judge.likeness, judge.spread)


def close(yours: Tensor, wanted: Tensor, judge: Same) -> bool:
    """Compare two tensors of one dtype."""
    if yours.shape != wanted.shape:
        return False
    if not wanted.is_floating_point():
        return torch.equal(yours, wanted)
    finite = wanted[wanted.isfinite()].abs()
    scale = max(float(finite.max()) if finite.numel() else 0.0, 1e-3)
    if judge.exact_zeros and bool(yours[wanted == 0].any()):
        return False
    tolerance = judge.tolerance or TOLERANCES[wanted.dtype]
    return torch.allclose(yours, wanted, rtol=0.0, atol=tolerance * scale, equal_nan=True)


def dropped(train: Tensor, full: Tensor, rate: float) -> bool:
    """Say whether about that share of the numbers is zero, each by itself, and the others are scaled as is right."""
    shown = [tensor.detach().double().numpy() for tensor in (train, full)]
    return train.shape == full.shape and dropped_wrongly(shown[0], shown[1], rate) is None


def numbers(value: Any) -> Any:
    """Return an observation with NumPy arrays in place of its tensors, for a judge of the course's own."""
    if isinstance(value, tuple):
        return value[1].double().numpy()
    if isinstance(value, list):
        return [numbers(item) for item in value]
    return {key: numbers(item) for key, item in value.items()} if isinstance(value, dict) else value


def make(seed: int) -> None:
    """Run the solutions and write the file of what they return."""
    from autograder.course import load_suite, read_course

    course = read_course(FOLDER / "course")
    suite = load_suite(course)
    sys.path.insert(0, str(course.solutions_dir))
    points = {exercise.id: suite.points(exercise) for exercise in course.exercises}
    sizes = {exercise.id: [dict(column) for column in course.sizes_of(exercise)] for exercise in course.exercises}
    plain = Plain({"seed": seed, "sizes": sizes, "points": points, "expected": {}})
    for exercise, checks in suite.checks.items():
        implementation = Implementation(importlib.import_module(exercise))
        for check in checks:
            for trial, observation in enumerate(plain.observations(exercise, check, implementation)):
                plain.expected[exercise, check.id, trial] = observation
    for exercise, checks in suite.checks.items():
        if lost := [check.id for check in checks if not plain.passes(exercise, check.id)]:
            raise SystemExit(f"{exercise}: the solution itself does not pass {', '.join(lost)}")
    torch.save(vars(plain) | {"_checks": None, "_earned": None}, FOLDER / "expected.pt")


@functools.cache
def loaded() -> Plain:
    """Read the file of what is expected, once."""
    return Plain(torch.load(FOLDER / "expected.pt", weights_only=False))


def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"checks_of_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    make(int(sys.argv[1]))
