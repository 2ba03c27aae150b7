"""Finds the step to show where every step on its own agrees, and doubts one that may begin another way."""

from collections.abc import Iterable

from autograder.diagnosis.location.matching import NEUTRAL, TOLERANCE, Matching
from autograder.messages.locations import State
from autograder.protocol.fingerprints import same_values
from autograder.runner.traces import Step

Found = list[tuple[int, State]]
"""Steps with the state of each."""


def of_another_form(matching: Matching) -> Found:
    """Return the steps that made a part of the result in another shape, or as another kind of number.

    None of them if the first such part was made by the check: the finding speaks of that part.
    """
    steps, others = matching.trace.steps, matching.reference.steps
    pairs = [
        (mine, steps[mine], others[theirs])
        for mine, theirs in zip(matching.trace.results, matching.reference.results, strict=False)
    ]
    reshaped = [
        (mine, State.RESHAPED if _holds(matching, step, other) else State.UNKNOWN)
        for mine, step, other in pairs
        if step.shape != other.shape
    ]
    retyped = [
        (mine, State.RETYPED)
        for mine, step, other in pairs
        if _kind(step) != _kind(other) and _holds(matching, step, other)
    ]
    found = reshaped or retyped
    if not found or matching.places[found[0][0]] is None:
        return []
    own = [(mine, state) for mine, state in found if matching.places[mine] is not None]
    return [(_first_of_kind(matching, mine), state) if state is State.RETYPED else (mine, state) for mine, state in own]


def _first_of_kind(matching: Matching, at: int) -> int:
    """Return the step of the student's with which numbers of the kind that a step holds begin."""
    steps = matching.trace.steps
    while True:
        before = [one for one in steps[at].inputs if _kind(steps[one]) == _kind(steps[at])]
        if len(before) != 1 or matching.places[before[0]] is None:
            return at
        at = before[0]


def repeated(matching: Matching, misused: Iterable[int]) -> Found:
    """Return the steps whose value another line makes too, where another value is expected."""
    return [(at, State.MISUSED) for at in misused if _is_repeated(matching, at)]


def returned(matching: Matching, misused: Iterable[int]) -> Found:
    """Return the steps that made a part of the result, where another step of the student's made the expected one."""
    wanted = dict(zip(matching.trace.results, matching.reference.results, strict=False))
    computed = {matched for at, matched in enumerate(matching.matched) if matching.places[at] is not None}
    return [(at, State.RETURNED) for at in misused if matching.places[at] is not None and wanted[at] in computed]


def first_cut(matching: Matching) -> int | None:
    """Return the first step whose value agrees, and which gradients no longer pass though they should.

    A constant, or a value of few different numbers, may equal another value of the reference by chance. What is made
    while a module is made, such as a copy of its parameters, never passes gradients. A program may freeze a model
    earlier than the solution does.
    """
    for at, step in enumerate(matching.trace.steps):
        matched = matching.matched[at]
        if not step.inputs or not matching.is_distinctive(at) or _makes_a_module(step) or step.name == "requires_grad_":
            continue
        if matching.places[at] is None or matched is None or step.grad or not matching.reference.steps[matched].grad:
            continue
        return at
    return None


def _makes_a_module(step: Step) -> bool:
    return any((place.function or "").split(".")[-1] == "__init__" for place in step.stack)


def begins_another_way(matching: Matching, at: int) -> bool:
    """Whether a step makes numbers of nothing, is no result itself, and is not used with a step that agrees.

    Then it may as well begin another way to the right numbers, which a later line leaves.
    """
    steps = matching.trace.steps
    if steps[at].inputs:
        return False
    used = {at}
    for index in range(at + 1, len(steps)):
        step = steps[index]
        if used.isdisjoint(step.inputs):
            continue
        if any(matching.matched[other] is not None for other in step.inputs if other not in used):
            return False
        if step.name in NEUTRAL:
            used.add(index)
    return used.isdisjoint(matching.trace.results)


def _holds(matching: Matching, step: Step, other: Step) -> bool:
    """Whether a step holds the numbers of a step of the reference, in any shape."""
    own, expected = matching.trace.print_of(step), matching.reference.print_of(other)[None]
    return bool(same_values(own, expected, TOLERANCE)[0])


def _is_repeated(matching: Matching, at: int) -> bool:
    here, matched = matching.places[at], matching.matched[at]
    if here is None or matched is None or not matching.is_distinctive(at):
        return False
    others = (matching.places[index] for index, same in enumerate(matching.matched) if same == matched)
    return any(place is not None and place.line != here.line for place in others)


def _kind(step: Step) -> str:
    """Return the kind of number that a step holds; its precision may be the check's."""
    return "whole" if "int" in step.dtype else "bool" if step.dtype == "bool" else "float"
