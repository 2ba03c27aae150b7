"""The first step in which a program goes astray, as it tells one mistake from others when there are several.

Of two mistakes in one program the first is known by the value of the line it is made on, whatever comes after.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.judge.astray import TOLERANCE, TOLERANCES, Astray, State, find_astray
from autograder.judge.locating import in_file
from autograder.judge.outcomes import Key
from autograder.judge.traces import Trace
from autograder.protocol import Array, Value
from autograder.protocol.prints import LOOSE, WIDTH, Prints, same_order, same_values


@dataclass(frozen=True)
class FirstStep:
    """The value a program has where it goes astray: its shape and its fingerprint."""

    shape: tuple[int, ...]
    prints: Prints


FirstSteps = Mapping[int, FirstStep]
"""By the number of the draw."""


def first_steps(traces: Mapping[Key, Trace], references: Mapping[Key, Trace], file: str) -> FirstSteps:
    """Return the first steps of a program in the draws of a check, where they can be told."""
    found = {}
    for at, trace in traces.items():
        astray = find_astray(trace, references[at], in_file(file, ())) if at in references else None
        if astray is not None and (step := first_step(astray)) is not None:
            found[at[1]] = step
    return found


def first_step(astray: Astray) -> FirstStep | None:
    """Return the value that goes astray, if it is made of enough different numbers to be known by them."""
    shape, prints = astray.shape, astray.prints
    telling = prints[0] > 4 and prints[LOOSE][2] < prints[LOOSE][-1]
    return FirstStep(shape, prints) if telling and astray.state in (State.UNKNOWN, State.MOVED) else None


def known_by(mine: FirstSteps, known: Mapping[str, FirstSteps], dtype: str) -> Collection[str]:
    """Return the misconceptions that go astray with the same value in every draw in which this program does."""
    tolerance = TOLERANCES.get(dtype, TOLERANCE)
    return [id_ for id_, steps in known.items() if mine and _same(mine, steps, tolerance)]


def _same(mine: FirstSteps, theirs: FirstSteps, tolerance: float) -> bool:
    return all(draw in theirs and _equal(step, theirs[draw], tolerance) for draw, step in mine.items())


def _equal(one: FirstStep, other: FirstStep, tolerance: float) -> bool:
    prints = other.prints[None]
    alike = same_values(one.prints, prints, tolerance) & same_order(one.prints, prints, tolerance)
    return one.shape == other.shape and bool(alike[0])


def to_first_steps(steps: FirstSteps) -> Value:
    """Return first steps as a plain value."""
    return [
        [draw, list(each.shape), Array("float64", (WIDTH,), each.prints.astype("<f8").tobytes())]
        for draw, each in steps.items()
    ]


def read_first_steps(record: Any) -> FirstSteps:
    """Return the first steps a plain value was made from."""
    return {
        draw: FirstStep(tuple(shape), np.frombuffer(prints.data, dtype="<f8").copy()) for draw, shape, prints in record
    }
