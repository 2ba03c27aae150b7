"""Finds the input that makes a step wrong, although its numbers agree: infinite ones, or axes in other places."""

import math
from collections.abc import Sequence
from itertools import dropwhile

import numpy as np

from autograder.diagnosis.location.matching import NEUTRAL, Matching
from autograder.messages.locations import State
from autograder.protocol.fingerprints import COUNTS, Fingerprints


def infinite_before(matching: Matching, at: int) -> int | None:
    """Return the step that makes the infinite, or very large, numbers of which a step makes NaN."""
    if not _counts(matching, at)[1] or any(_counts(matching, one)[1] for one in matching.trace.steps[at].inputs):
        return None
    rest, seen = list(matching.trace.steps[at].inputs), set[int]()
    while rest:
        index = rest.pop()
        if index not in seen and _counts(matching, index)[2:].any():
            seen.add(index)
            before = [one for one in matching.trace.steps[index].inputs if _counts(matching, one)[2:].any()]
            if not before:
                return index if matching.places[index] is not None and matching.trace.steps[index].inputs else None
            rest += before
    return None


def _counts(matching: Matching, at: int) -> Fingerprints:
    """Return how many elements a step has, how many are NaN, and how many are beyond all bounds."""
    counts: Fingerprints = matching.trace.print_of(matching.trace.steps[at])[COUNTS]
    return counts


def other_axes(matching: Matching, at: int) -> int | None:
    """Return the step that gives an input of a step axes of size 1 in other places than the solution does."""
    step = matching.trace.steps[at]
    if not _is_broadcast(step.shape, [matching.trace.steps[index].shape for index in step.inputs]):
        return None
    for index in step.inputs:
        if not _has_other_axes(matching, index):
            continue
        while matching.trace.steps[index].name not in NEUTRAL:
            alike = [one for one in matching.trace.steps[index].inputs if _is_as_large(matching, one, index)]
            if len(alike) != 1:
                break
            index = alike[0]
        if matching.places[index] is not None:
            return index
    return None


def _is_as_large(matching: Matching, one: int, other: int) -> bool:
    shapes = (matching.trace.steps[at].shape for at in (one, other))
    return len({math.prod(shape) for shape in shapes}) == 1


def _has_other_axes(matching: Matching, at: int) -> bool:
    """Whether a step agrees but for where its axes of size 1 are: at the front they change nothing."""
    matched = matching.matched[at]
    if matched is None or matching.states[at] is not State.AGREES:
        return False
    own, other = matching.trace.steps[at].shape, matching.reference.steps[matched].shape
    return _without_front(own) != _without_front(other)


def _is_broadcast(shape: Sequence[int], inputs: Sequence[Sequence[int]]) -> bool:
    """Whether a step works on its inputs element by element, and repeats some of them to get its shape."""
    try:
        return len(inputs) > 1 and np.broadcast_shapes(*map(tuple, inputs)) == tuple(shape)
    except ValueError:
        return False


def _without_front(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape without the axes of size 1 at its front."""
    return tuple(dropwhile(lambda size: size == 1, shape))
