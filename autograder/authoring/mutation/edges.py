"""A suite whose checks get unusual inputs: axes of size 1, equal axes, zeros, large numbers, open masks, no items.

No verdict uses it. It only helps to find an input on which a mutant differs from the solution.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from autograder.authoring.mutation.unusual_inputs import GRADIENTS, INTEGERS, KEPT
from autograder.checks.trials import Key, column_of
from autograder.course import Exercise
from autograder.course.model import Columns
from autograder.course.suite import Suite

VALUES = {
    "zeros": "numbers that are all 0",
    "large": "numbers 1000 times as large",
    "smallest": "integers that are all the smallest",
    "open": "masks that are all True",
    "closed": "masks that are all False",
    "single": "one item",
    "empty": "no items",
    "float64": "float64 inputs and weights",
    "float16": "float16 inputs and weights",
    "strided": "tensors that are not contiguous",
    "training": "modules in training mode",
    "elsewhere": "inputs and modules on another device",
    **{family: f"whole numbers that are all {value}" for family, value in INTEGERS.items()},
    GRADIENTS: "the gradients of inputs and parameters",
    KEPT: "the inputs after the call",
}
"""Families of inputs, and what a message calls them. The last two have usual inputs, and observe other things."""

OF_TENSORS = ("float64", "float16", "strided", "training", "elsewhere", GRADIENTS)
"""Families that only a course with torch has."""

EQUAL = 4
"""The size of all axes, where they are equal. It can be divided by 2 and by itself."""

_SEPARATOR = " with "

# A worker cannot import this room, so the source is part of the file with the checks.
_SOURCE = Path(__file__).with_name("unusual_inputs.py").read_text("utf-8")


def edge_suite(suite: Suite) -> Suite:
    """Return a suite with unusual sizes, and each check once more for every family of inputs."""
    course = suite.course
    text = f"\n\n{_SOURCE}\ndeclare_families(globals(), {_SEPARATOR!r}, {[*VALUES]!r})\n".encode()
    names = {course.checks_file(exercise).name for exercise in suite.exercises}
    sources = {name: source + text if name in names else source for name, source in suite.sources.items()}
    parts = tuple(replace(part, sizes=_with_edges(part.sizes)) for part in course.parts)
    course = replace(course, sizes=_with_edges(course.sizes), parts=parts)
    return replace(suite, sources=sources, course=course)


def showing_inputs(suite: Suite) -> Suite:
    """Return a suite whose checks return descriptions of the inputs that they draw, in place of what they observe."""
    names = {suite.course.checks_file(exercise).name for exercise in suite.exercises}
    text = f"\n\n{_SOURCE}\nshow_inputs(globals(), {_SEPARATOR!r})\n".encode()
    return replace(suite, sources={name: own + text if name in names else own for name, own in suite.sources.items()})


def edge_trials(suite: Suite, edges: Suite, exercise: Exercise, seed: int) -> Iterator[Key]:
    """Yield the trials of an edge suite: every check with all unusual sizes, and with each family of inputs."""
    ordinary, columns = (len(owner.course.sizes_of(exercise)) for owner in (suite, edges))
    families = [family for family in VALUES if "torch" in suite.course.libraries or family not in OF_TENSORS]
    if b".number(" not in suite.sources[suite.course.checks_file(exercise).name]:
        families = [family for family in families if family not in INTEGERS]
    for check in suite.checks[exercise.id]:
        for trial in range(columns if columns > ordinary else 0):
            if column_of(columns, seed, exercise.id, check.id, trial) >= ordinary:
                yield check.id, trial
        for family in families:
            name = name_in_family(check.id, family)
            usual = (trial for trial in range(columns) if column_of(columns, seed, exercise.id, name, trial) < ordinary)
            yield name, next(usual, 0)


def name_in_family(check: str, family: str) -> str:
    """Return the id of a check with a family of inputs; with ordinary ones, its own id."""
    return f"{check}{_SEPARATOR}{family}" if family else check


def check_and_family(name: str) -> tuple[str, str | None]:
    """Return the id of a check, and the family of its inputs, None for ordinary ones."""
    check, _, family = name.partition(_SEPARATOR)
    return check, family or None


def _with_edges(columns: Columns) -> Columns:
    return (*columns, *_edge_columns(columns))


def _edge_columns(columns: Columns) -> Iterator[Mapping[str, int]]:
    if not columns or not columns[0]:
        return
    first = columns[0]
    for axis in first:
        yield {**first, axis: 1}
    yield dict.fromkeys(first, EQUAL)
    yield {axis: 2 * size for axis, size in first.items()}
