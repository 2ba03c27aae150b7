"""Matches the steps of a program with those of the reference solution, by value alone."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograder.diagnosis.location.deadline import Deadline
from autograder.messages.locations import State
from autograder.protocol.bounds import ARGUMENT
from autograder.protocol.fingerprints import LOOSE, Fingerprints, factors, part_shapes, same_order, same_values
from autograder.results import Place
from autograder.runner.traces import Step, Trace

TOLERANCES = {"float16": 1e-2, "bfloat16": 4e-2}
TOLERANCE = 5e-5
"""Relative; fingerprints add up the rounding of many elements, so it is larger than in a comparison."""

_MOVING = (
    "__getitem__ chunk clone contiguous detach expand expand_as flatten movedim mT narrow permute repeat reshape select"
    " split squeeze swapaxes t T to transpose type float double unbind unflatten unsqueeze view view_as cpu"
    " view_as_complex view_as_real resolve_conj"
)
NEUTRAL = frozenset(_MOVING.split())
"""Operations that only choose or move what is there."""


BLANK = frozenset(["empty", "empty_like", "new_empty", "zeros", "zeros_like", "new_zeros", ARGUMENT])
"""Operations that make room for what is written later, and the plain values that a function is called with."""

PLAIN = frozenset(["int", "float", "truth", "text", "object"])
"""What traces of plain Python have in place of a dtype: there a single number is comparable too."""

COMMON = frozenset(["int", "truth"])
"""Plain numbers that may agree by chance: small ints and truth values are everywhere."""

UNORDERED = frozenset(["text", "object"])
"""Plain values whose numbers mean nothing in another order or shape."""

CONVERSIONS = frozenset(["to", "double", "float", "half", "bfloat16", "type", "cpu", "zero_", "copy_"])
"""Operations the check does in another dtype for the exact values, or not at all.

`zero_` clears needless biases. `copy_` loads the weights, unless a program's own `from_reference` loads them.
"""


Numbers: TypeAlias = NDArray[np.intp]

Where = Callable[[Sequence[Place]], Place | None]
"""A function that chooses, of the places in the student's frames, the one to show."""


class Matching:
    """The steps of a student's trace, each with its state.

    What the check itself does is the same in both traces, so it divides them into calls: a step is matched with those
    of the same call only.
    """

    def __init__(self, trace: Trace, reference: Trace, where: Where, deadline: Deadline | None = None) -> None:
        self.trace = trace
        self.where = where
        self.places = [where(step.stack) for step in trace.steps]
        self.reference = reference
        self.shapes = _shapes(reference)
        self.wholes = {step.prints[0] for step in reference.steps}
        self.calls, self.own_of_call, self.check_steps = _calls(reference)
        self.left_out = _left_out(reference)
        self.states: list[State] = []
        self.matched: list[int | None] = []
        self.constant: list[bool] = []
        self.misshapen: list[bool] = []
        self._kept: dict[tuple[int, bool], tuple[Numbers, Fingerprints, Numbers]] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self._good: list[bool] = []
        done = 0
        for step in trace.steps:
            if deadline is not None:
                deadline.check()
            self._match(step, done)
            done += is_check_step(step)

    def _match(self, step: Step, done: int) -> None:
        """Find a step of the reference for one of the student's, made after so many steps of the check."""
        candidates, prints, shapes = self._candidates(done, is_check_step(step))
        own, shape = self.trace.print_of(step), _squeezed(step.shape)
        tolerance = TOLERANCES.get(step.dtype, TOLERANCE)
        alike = same_values(own, prints, tolerance)
        ordered = alike.copy()
        if alike.any():
            ordered[alike] = same_order(own, prints[alike], tolerance)
        fitting = shapes == self._number_of(shape)
        matched, part = None, False
        if (ordered & fitting).any():
            state = State.AGREES
            found = candidates[np.flatnonzero(ordered & fitting)]
            matched = self.calls[int(found[-1])]
            part = not any(int(candidate) in self.wholes for candidate in found)
        elif step.dtype in UNORDERED:
            state = State.UNKNOWN
        else:
            state = State.RESHAPED if ordered.any() else State.MOVED if alike.any() else State.UNKNOWN
        handed_on = all(self._good[before] for before in step.inputs)
        if state is State.AGREES and step.name in NEUTRAL and not handed_on and part:
            state, matched = State.MOVED, None
        self.states.append(state)
        fits = bool(fitting.any()) or (self._is_own(step) and shape in self.left_out.get(done, ()))
        self.misshapen.append(not fits)
        self.matched.append(matched)
        comparable = fits and (math.prod(step.shape) > 1 or step.dtype in PLAIN)
        alone = not comparable and not is_check_step(step)
        innocent = (step.name in BLANK and (handed_on or step.name != ARGUMENT)) or _loads(step)
        # The solution never has these numbers in this shape, in any order, so the shape may be another right way.
        rearranged = state in (State.RESHAPED, State.MOVED) and step.name in NEUTRAL
        innocent = innocent or (rearranged and handed_on and not (alike & fitting).any())
        self._good.append(state is State.AGREES or innocent or (alone and (state is State.RESHAPED or handed_on)))
        self.constant.append(bool(step.stack) and all(self.constant[before] for before in step.inputs))

    def _is_own(self, step: Step) -> bool:
        """Whether a line of the exercise's own file makes a step, and no earlier exercise that it calls."""
        place = self.where(step.stack)
        return place is not None and step.stack[0].file == place.file

    def _candidates(self, done: int, marks: bool) -> tuple[Numbers, Fingerprints, Numbers]:
        """Return what a step may be matched with, after so many steps of the check: numbers, fingerprints, shapes."""
        if (done, marks) not in self._kept:
            earlier = self.check_steps[:done]
            found = self.check_steps[done : done + 1]
            if not marks:
                found = np.concatenate([self.own_of_call.get(done, _NONE), earlier])
            shapes = np.array([self._number_of(self.shapes[candidate]) for candidate in found], dtype=np.intp)
            self._kept[done, marks] = found, self.reference.prints[found], shapes
        return self._kept[done, marks]

    def _number_of(self, shape: tuple[int, ...]) -> int:
        return self._numbers.setdefault(shape, len(self._numbers))

    def good(self, at: int) -> bool:
        """Whether a step is beyond suspicion: it agrees, or nothing is comparable with it and its inputs agree."""
        return self._good[at]

    def equal(self, mine: int, theirs: int) -> bool:
        """Whether a step holds what a step of the reference holds."""
        step, other = self.trace.steps[mine], self.reference.steps[theirs]
        own, prints = self.trace.print_of(step), self.reference.print_of(other)[None]
        tolerance = TOLERANCES.get(step.dtype, TOLERANCE)
        same = same_values(own, prints, tolerance) & same_order(own, prints, tolerance)
        return bool(same[0]) and step.shape == other.shape

    def is_distinctive(self, at: int) -> bool:
        """Whether a step holds enough different numbers to be known by them."""
        own = self.trace.print_of(self.trace.steps[at])
        # Four numbers and fewer, or one number many times, appear in unrelated steps.
        return bool(own[0] > 4 and own[LOOSE][2] < own[LOOSE][-1])

    def factor(self, at: int) -> float | None:
        """Return the factor between a step and the nearest reference value of its shape; None if there is none."""
        step = self.trace.steps[at]
        if not self.is_distinctive(at):
            return None
        found = factors(self.trace.print_of(step), self.reference.prints, TOLERANCES.get(step.dtype, TOLERANCE))
        alike = [
            float(factor)
            for factor, shape in zip(found, self.shapes, strict=True)
            if shape == _squeezed(step.shape) and np.isfinite(factor)
        ]
        # A factor within rounding of 1 is no mistake.
        wrong = [factor for factor in reversed(alike) if abs(factor - 1) > 1e-3 and factor != 0]
        return min(wrong, key=lambda factor: round(abs(math.log(abs(factor))), 6), default=None)


_NONE = np.empty(0, dtype=np.intp)


def is_check_step(step: Step) -> bool:
    """Whether the check itself made a step, and the same in both traces."""
    return not step.stack and step.name not in CONVERSIONS


def _loads(step: Step) -> bool:
    """Whether a step only brings the weights it was given into another layout."""
    return any((place.function or "").split(".")[-1] == "from_reference" for place in step.stack)


def _calls(reference: Trace) -> tuple[list[int], dict[int, np.ndarray], np.ndarray]:
    """Return the step behind every fingerprint, the fingerprints of each call, and those of the check's own steps."""
    behind: list[int] = []
    of_call: dict[int, list[int]] = {}
    check_steps: list[int] = []
    for at, step in enumerate(reference.steps):
        first, count = step.prints
        behind += [at] * count
        if is_check_step(step):
            check_steps.append(first)
        elif step.stack:
            of_call.setdefault(len(check_steps), []).extend(range(first, first + count))
    return behind, {call: np.array(prints) for call, prints in of_call.items()}, np.array(check_steps, dtype=np.intp)


def _left_out(reference: Trace) -> dict[int, set[tuple[int, ...]]]:
    """Return the shapes of the slices in each call that the reference's trace leaves out: those of earlier exercises.

    A loop in an earlier exercise makes values like them, with which there is nothing to compare.
    """
    shapes: dict[int, set[tuple[int, ...]]] = {}
    if not any(step.prints[1] > 1 for step in reference.steps):
        return shapes  # of plain values nothing has slices
    call = 0
    for step in reference.steps:
        if is_check_step(step):
            call += 1
        elif step.stack and step.prints[1] == 1:
            shapes.setdefault(call, set()).update(map(_squeezed, part_shapes(step.shape)))
    return shapes


def _shapes(reference: Trace) -> list[tuple[int, ...]]:
    """Return the shape behind every fingerprint: of the whole tensor, then of its parts."""
    shapes: list[tuple[int, ...]] = []
    for step in reference.steps:
        shapes.append(_squeezed(step.shape))
        if step.prints[1] > 1:
            shapes += [_squeezed(part) for part in part_shapes(step.shape)]
    return shapes


@lru_cache(maxsize=4096)
def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size != 1)
