"""Finds the first of a student's lines whose value diverges from the reference solution's.

Steps are matched by value alone, so the style of a program does not matter. From a wrong result the search goes back
through the steps that match nothing, to those whose inputs still agree.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import dropwhile
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograder.protocol import (
    ARGUMENT,
    COUNTS,
    KINDS,
    LOOSE,
    Fingerprints,
    factors,
    is_in_place,
    part_shapes,
    same_order,
    same_values,
)
from autograder.results import Place
from autograder.runner import RecordedTrace, TraceStep

from .judgement import Deadline, Divergence, StepState

_ROUNDING = 1e-3
"""How near to 1 a factor is that comes of rounding alone."""

MOST_CULPRITS = 100
"""The most steps that are blamed for one mistake: several times as many as honest programs have."""

# Matches the steps of a program with those of the reference solution, by value alone.

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


class Matching:
    """The steps of a student's trace, each with its state.

    What the check itself does is the same in both traces, so it divides them into calls: a step is matched with those
    of the same call only. A step is `good`, beyond suspicion, if it agrees, or if nothing is comparable with it and
    its inputs agree.
    """

    def __init__(
        self, trace: RecordedTrace, reference: RecordedTrace, file: str, trusted: Collection[str], deadline: Deadline
    ) -> None:
        self.trace = trace
        self.file = file
        self.places = [_place_to_show(step.stack, file, trusted) for step in trace.steps]
        self.reference = reference
        self.shapes = _shapes(reference)
        self.wholes = {step.prints[0] for step in reference.steps}
        self.calls, self.own_of_call, self.check_steps = _calls(reference)
        self.left_out = _left_out(reference)
        self.states: list[StepState] = []
        self.tolerances: list[float] = []
        self.matched: list[int | None] = []
        self.constant: list[bool] = []
        self.misshapen: list[bool] = []
        self._kept: dict[tuple[int, bool], tuple[Numbers, Fingerprints, Numbers]] = {}
        self._numbers: dict[tuple[int, ...], int] = {}
        self.good: list[bool] = []
        done = 0
        for step in trace.steps:
            deadline.check()
            self._match(step, done)
            done += is_check_step(step)

    def _match(self, step: TraceStep, done: int) -> None:
        """Find a step of the reference for one of the student's, made after so many steps of the check."""
        candidates, prints, shapes = self._candidates(done, is_check_step(step))
        own, shape = self.trace.print_of(step), _squeezed(step.shape)
        # What is computed in float32 of a half is as coarse as the half: the reference computes all in float64.
        tolerance = max([TOLERANCES.get(step.dtype, TOLERANCE), *(self.tolerances[before] for before in step.inputs)])
        self.tolerances.append(tolerance)
        alike = same_values(own, prints, tolerance)
        ordered = alike.copy()
        if alike.any():
            ordered[alike] = same_order(own, prints[alike], tolerance)
        fitting = shapes == self._number_of(shape)
        matched, part = None, False
        if (ordered & fitting).any():
            state = StepState.AGREES
            found = candidates[np.flatnonzero(ordered & fitting)]
            matched = self.calls[int(found[-1])]
            part = not any(int(candidate) in self.wholes for candidate in found)
        elif step.dtype in UNORDERED:
            state = StepState.UNKNOWN
        else:
            state = StepState.RESHAPED if ordered.any() else StepState.MOVED if alike.any() else StepState.UNKNOWN
        handed_on = all(self.good[before] for before in step.inputs)
        if state is StepState.AGREES and step.name in NEUTRAL and not handed_on and part:
            state, matched = StepState.MOVED, None
        self.states.append(state)
        # A line of the exercise's own file makes it, and no earlier exercise that it calls.
        is_own = bool(step.stack) and step.stack[0].file == self.file
        fits = bool(fitting.any()) or (is_own and shape in self.left_out.get(done, ()))
        self.misshapen.append(not fits)
        self.matched.append(matched)
        comparable = fits and (math.prod(step.shape) > 1 or step.dtype in PLAIN)
        alone = not comparable and not is_check_step(step)
        # `from_reference` only brings the weights that it was given into another layout.
        innocent = (step.name in BLANK and (handed_on or step.name != ARGUMENT)) or _is_within(step, "from_reference")
        # The solution never has these numbers in this shape, in any order, so the shape may be another right way.
        rearranged = state in (StepState.RESHAPED, StepState.MOVED) and step.name in NEUTRAL
        innocent = innocent or (rearranged and handed_on and not (alike & fitting).any())
        self.good.append(
            state is StepState.AGREES or innocent or (alone and (state is StepState.RESHAPED or handed_on))
        )
        self.constant.append(bool(step.stack) and all(self.constant[before] for before in step.inputs))

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

    def equal(self, mine: int, theirs: int) -> bool:
        """Whether a step holds what a step of the reference holds."""
        step, other = self.trace.steps[mine], self.reference.steps[theirs]
        own, prints = self.trace.print_of(step), self.reference.print_of(other)[None]
        tolerance = self.tolerances[mine]
        same = same_values(own, prints, tolerance) & same_order(own, prints, tolerance)
        return bool(same[0]) and step.shape == other.shape

    def is_distinctive(self, at: int) -> bool:
        """Whether a step holds enough different numbers to be known by them."""
        own = self.trace.print_of(self.trace.steps[at])
        # Four numbers and fewer, or one number many times, appear in unrelated steps.
        return bool(own[0] > 4 and own[LOOSE][2] < own[LOOSE][-1])

    def factor(self, at: int) -> float | None:
        """Return the factor between a step and the nearest reference value of its shape; None if there is none.

        The step that makes a result stands against the solution's result alone.
        """
        results = zip(self.trace.results, self.reference.results, strict=False)
        wanted = {theirs for mine, theirs in results if mine == at}
        alike = self.all_factors(at, wanted)
        # A factor within rounding of 1 is no mistake. On the way, a later line may take the sign away again.
        wrong = [factor for factor in reversed(alike) if abs(factor - 1) > _ROUNDING and factor != 0]
        wrong = [factor for factor in wrong if wanted or factor > 0 or abs(factor + 1) < _ROUNDING]
        return min(wrong, key=lambda factor: round(abs(math.log(abs(factor))), 6), default=None)

    def all_factors(self, at: int, wanted: Collection[int] = ()) -> list[float]:
        """Return the factors between a step and the values of its shape that the reference computes, or the wanted."""
        step = self.trace.steps[at]
        # Within the tolerance of half precision, unrelated values are multiples of each other.
        if not self.is_distinctive(at) or self.tolerances[at] > TOLERANCE:
            return []
        found = factors(self.trace.print_of(step), self.reference.prints, TOLERANCE)
        return [
            float(factor)
            for factor, shape, behind in zip(found, self.shapes, self.calls, strict=True)
            if shape == _squeezed(step.shape) and np.isfinite(factor) and (not wanted or behind in wanted)
        ]

    # The graph of the steps: what each is made of, and who else computed the same. All is linear in the steps.

    def users(self, at: int) -> list[TraceStep]:
        """Return the steps of the reference that use another, through those that only move it."""
        found: set[int] = set()
        rest = list(self._used_by.get(at, ()))
        while rest:
            user = rest.pop()
            if user not in found:
                found.add(user)
                if self.reference.steps[user].name in NEUTRAL:
                    rest += self._used_by.get(user, ())
        return [self.reference.steps[user] for user in found if self.reference.steps[user].name not in NEUTRAL]

    @cached_property
    def _used_by(self) -> dict[int, list[int]]:
        users: dict[int, list[int]] = {}
        for at, step in enumerate(self.reference.steps):
            for index in step.inputs:
                users.setdefault(index, []).append(at)
        return users

    def copy(self, at: int) -> tuple[int, StepState] | None:
        """Return the step behind an input, with its state, if it computes again what another step has computed.

        On the same line it may be right, unless the solution computes something of this kind that is missing.
        """
        source = self.source(at)
        matched = self.matched[source] if source is not None else None
        if source is None or matched is None or not self.is_distinctive(source) or self.is_made_twice(matched):
            return None
        by_match, by_line = self._computing
        same, here = by_match.get(matched, 0), by_line.get(_line_of(self.places[source]), 0)
        right = 0 if self._kind_of(matched) in self._missing_kind else here
        twins = same & ~right & ~self.ancestors[source] & ((1 << source) - 1)
        return (source, StepState.MISUSED if twins & ~here else StepState.AGAIN) if twins else None

    def is_made_twice(self, at: int) -> bool:
        """Whether the reference computes the numbers of one of its steps on two lines."""
        lines, prints = self._computed
        same = same_values(self.reference.print_of(self.reference.steps[at]), prints, TOLERANCE)
        return len({lines[index] for index in np.flatnonzero(same)}) > 1

    @cached_property
    def _computed(self) -> tuple[list[int | None], Fingerprints]:
        """The lines and the fingerprints of the reference's steps that compute something."""
        computing = [step for step in self.reference.steps if step.stack and step.name not in NEUTRAL]
        return [_line(step) for step in computing], self.reference.prints[[step.prints[0] for step in computing]]

    def is_again(self, at: int) -> bool:
        """Whether a step computes what an earlier one has computed, in place of something of this kind."""
        matched = self.matched[at]
        if matched is None or self.trace.steps[at].name in NEUTRAL or not self.is_distinctive(at):
            return False
        earlier = self._computing[0].get(matched, 0) & ((1 << at) - 1) & ~self.ancestors[at]
        return bool(earlier) and self._kind_of(matched) in self._missing_kind

    def _kind_of(self, at: int) -> tuple[str, tuple[int, ...]]:
        """Return the operation of a step of the reference, with its shape."""
        step = self.reference.steps[at]
        return step.name, step.shape

    @cached_property
    def _missing_kind(self) -> set[tuple[str, tuple[int, ...]]]:
        """The kinds of the steps that the solution makes of what the student has too, and the student does not make."""
        steps = self.reference.steps
        missing = {at for at, step in enumerate(steps) if step.stack} - set(self.matched)
        return {self._kind_of(at) for at in missing if missing.isdisjoint(steps[at].inputs)}

    @cached_property
    def _computing(self) -> tuple[dict[int | None, int], dict[int | None, int]]:
        """The student's steps that compute something, as bits: by what they match, and by their lines."""
        by_match: dict[int | None, int] = {}
        by_line: dict[int | None, int] = {}
        for at, step in enumerate(self.trace.steps):
            place = self.places[at]
            if place is not None and step.name not in NEUTRAL:
                by_match[self.matched[at]] = by_match.get(self.matched[at], 0) | 1 << at
                by_line[place.line] = by_line.get(place.line, 0) | 1 << at
        return by_match, by_line

    @cached_property
    def ancestors(self) -> list[int]:
        """All the steps that each is made of, as bits."""
        found: list[int] = []
        for step in self.trace.steps:
            before = 0
            for index in step.inputs:
                before |= found[index] | 1 << index
            found.append(before)
        return found

    def source(self, at: int) -> int | None:
        """Return the student's step that computed a value, before it was only moved."""
        source = self._sources[at]
        return source if self.places[source] is not None else None

    @cached_property
    def _sources(self) -> list[int]:
        """The step that computed what each step holds, before it was only moved."""
        found: list[int] = []
        for at, step in enumerate(self.trace.steps):
            found.append(found[step.inputs[0]] if step.name in NEUTRAL and step.inputs else at)
        return found


_NONE = np.empty(0, dtype=np.intp)


def _place_to_show(stack: Sequence[Place], file: str, trusted: Collection[str]) -> Place | None:
    """Return the place to show of those in the student's frames: the nearest in the file that is not trusted."""
    own = [place for place in stack if place.file == file]
    doubted = [place for place in own if (place.function or "").split(".")[0] not in trusted]
    return next(iter(doubted or own[-1:]), None)


def is_check_step(step: TraceStep) -> bool:
    """Whether the check itself made a step, and the same in both traces."""
    return not step.stack and step.name not in CONVERSIONS


def _is_within(step: TraceStep, function: str) -> bool:
    """Whether a function of that name, or a method, made a step."""
    return any((place.function or "").split(".")[-1] == function for place in step.stack)


def _calls(reference: RecordedTrace) -> tuple[list[int], dict[int, np.ndarray], np.ndarray]:
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


def _left_out(reference: RecordedTrace) -> dict[int, set[tuple[int, ...]]]:
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


def _shapes(reference: RecordedTrace) -> list[tuple[int, ...]]:
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


# Finds the input that makes a step wrong, although its numbers agree: infinite ones, or axes in other places.


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
    if matched is None or matching.states[at] is not StepState.AGREES:
        return False
    own, other = matching.trace.steps[at].shape, matching.reference.steps[matched].shape
    return math.prod(own) == math.prod(other) and _without_front(own) != _without_front(other)


def _is_broadcast(shape: Sequence[int], inputs: Sequence[Sequence[int]]) -> bool:
    """Whether a step works on its inputs element by element, and repeats some of them to get its shape."""
    try:
        return len(inputs) > 1 and np.broadcast_shapes(*map(tuple, inputs)) == tuple(shape)
    except ValueError:
        return False


def _without_front(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape without the axes of size 1 at its front."""
    return tuple(dropwhile(lambda size: size == 1, shape))


# Finds the step to show where every step on its own agrees, and doubts one that may begin another way.

Found = list[tuple[int, StepState]]
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
        (mine, StepState.RESHAPED if _holds(matching, step, other) else StepState.UNKNOWN)
        for mine, step, other in pairs
        if step.shape != other.shape
    ]
    retyped = [
        (mine, StepState.RETYPED)
        for mine, step, other in pairs
        if _kind(step) != _kind(other) and _holds(matching, step, other)
    ]
    found = reshaped or retyped
    if not found or matching.places[found[0][0]] is None:
        return []
    own = [(mine, state) for mine, state in found if matching.places[mine] is not None]
    return [
        (_first_of_kind(matching, mine), state) if state is StepState.RETYPED else (mine, state) for mine, state in own
    ]


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
    return [(at, StepState.MISUSED) for at in misused if _is_repeated(matching, at)]


def returned(matching: Matching, misused: Iterable[int]) -> Found:
    """Return the steps that made a part of the result, where another step of the student's made the expected one."""
    wanted = dict(zip(matching.trace.results, matching.reference.results, strict=False))
    computed = {matched for at, matched in enumerate(matching.matched) if matching.places[at] is not None}
    return [(at, StepState.RETURNED) for at in misused if matching.places[at] is not None and wanted[at] in computed]


def first_cut(matching: Matching) -> int | None:
    """Return the first step whose value agrees, and which gradients no longer pass though they should.

    A constant, or a value of few different numbers, may equal another value of the reference by chance. What is made
    while a module is made, such as a copy of its parameters, never passes gradients. A program may freeze a model
    earlier than the solution does.
    """
    for at, step in enumerate(matching.trace.steps):
        matched = matching.matched[at]
        if not step.inputs or not matching.is_distinctive(at) or step.name == "requires_grad_":
            continue
        if _is_within(step, "__init__"):
            continue
        if matching.places[at] is None or matched is None or step.grad or not matching.reference.steps[matched].grad:
            continue
        return at
    return None


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


def _holds(matching: Matching, step: TraceStep, other: TraceStep) -> bool:
    """Whether a step holds the numbers of a step of the reference, in any shape."""
    own, expected = matching.trace.print_of(step), matching.reference.print_of(other)[None]
    return bool(same_values(own, expected, TOLERANCE)[0])


def _is_repeated(matching: Matching, at: int) -> bool:
    here, matched = matching.places[at], matching.matched[at]
    if here is None or matched is None or not matching.is_distinctive(at):
        return False
    if matching.is_made_twice(matched):
        return False
    others = (matching.places[index] for index, same in enumerate(matching.matched) if same == matched)
    return any(place is not None and place.line != here.line for place in others)


def _kind(step: TraceStep) -> str:
    """Return the kind of number that a step holds; its precision may be the check's."""
    return "whole" if "int" in step.dtype else "bool" if step.dtype == "bool" else "float"


def first_divergence(
    trace: RecordedTrace, reference: RecordedTrace, file: str, trusted: Collection[str], deadline: Deadline
) -> Divergence | None:
    """Return the first step that diverges, with its place in the exercise's own file; None where it cannot be found.

    `trusted` are the functions and classes whose own checks pass: wrong values in them come from their arguments. The
    trace is a worker's: all work on it is linear in its steps, and sets of steps are the bits of a number. Raises
    `OutOfTime`.
    """
    if not trace.steps or not reference.steps:
        return None
    return DivergenceSearch(Matching(trace, reference, file, trusted, deadline), deadline).divergence()


class DivergenceSearch:
    """The search from a wrong result back through the steps that do not agree."""

    def __init__(self, matching: Matching, deadline: Deadline) -> None:
        self.matching = matching
        self.deadline = deadline
        self.trace = matching.trace
        self.reference = matching.reference
        self.states = matching.states
        self.matched = matching.matched
        self.constant = matching.constant
        self.good = matching.good
        self._numbers: dict[tuple[int, Place], int] = {}
        self._going_on: dict[tuple[int, str], bool] = {}
        self.places = list(matching.places)

    def divergence(self) -> Divergence | None:
        """Return the first step that diverges."""
        misused = [at for at in self._differing_results() if self.good[at]]
        if first := self._first():
            return self._divergence_of([self._culprit(index) for index in first[:MOST_CULPRITS]])
        written = [
            index for index in misused if self.places[index] is not None and is_in_place(self.trace.steps[index].name)
        ]
        if written:
            return self._divergence_of([(index, StepState.WRITTEN) for index in written])
        if copies := [copy for index in misused if (copy := self.matching.copy(index)) is not None]:
            return self._divergence_of(copies)
        if not misused and (cut := first_cut(self.matching)) is not None:
            return self._divergence_of([(cut, StepState.CUT)])
        known = of_another_form(self.matching) or repeated(self.matching, misused) or returned(self.matching, misused)
        return self._divergence_of(known) if known else None

    def _first(self) -> list[int]:
        """Return the steps that do not agree though all they are made of does.

        What is made of constants alone is in doubt only where nothing else is.
        """
        suspects = [index for index in self._suspects() if self.places[index] is not None]
        own = {index for index in suspects if self._is_another_way(index)}
        for spared in (own, set[int]()):
            blamed = [index for index in suspects if index not in spared]
            inputs = {index: self.trace.steps[index].inputs for index in blamed}
            good = {at for ats in inputs.values() for at in ats if self.good[at] or at in spared}
            first = [
                index
                for index in blamed
                if not self.constant[index] and all(at in good or self.constant[at] for at in inputs[index])
            ]
            first = first or [index for index in blamed if good.issuperset(inputs[index])]
            if first:
                return first
        return []

    def _is_another_way(self, at: int) -> bool:
        """Whether a value may be right, and the solution has none like it: no value of its shape is still missing."""
        if self.states[at] is not StepState.UNKNOWN:
            return False
        shape = _squeezed(self.trace.steps[at].shape)
        return shape not in self._missing_shapes

    @cached_property
    def _missing_shapes(self) -> set[tuple[int, ...]]:
        """The shapes of the solution's values that no step of the student's has, and of their parts."""
        computed = set(self.matched)
        missing = [step for at, step in enumerate(self.reference.steps) if step.stack and at not in computed]
        parts = {_squeezed(part) for step in missing if step.prints[1] > 1 for part in part_shapes(step.shape)}
        return parts | {_squeezed(step.shape) for step in missing}

    def _differing_results(self) -> list[int]:
        """Return the steps that made a part of the result, where the solution's part is another."""
        pairs = zip(self.trace.results, self.reference.results, strict=False)
        return [
            mine for mine, theirs in pairs if self.matched[mine] != theirs and not self.matching.equal(mine, theirs)
        ]

    def _suspects(self) -> list[int]:
        """Return the steps that are not good and lead to what is wrong through such steps alone, in their order.

        Where nothing is known of what is wrong, they may lead to whatever the check goes on to compute with.
        """
        differing = set(self._differing_results())
        first = next((at for at in self.trace.results if not self.good[at] or at in differing), None)
        is_another = first is not None and (self.places[first] is None or is_in_place(self.trace.steps[first].name))
        if first is not None and self.good[first] and is_another:
            return []  # the finding speaks of a value that the check made, or a line overwrote: this is no suspect's
        rest = [at for at in self.trace.results if not self.good[at] or self._in_doubt(at, differing)]
        if not rest:
            rest = [at for at, step in enumerate(self.trace.steps) if is_check_step(step) and not self.good[at]]
        found: set[int] = set()
        while rest:
            at = rest.pop()
            if at in found:
                continue
            found.add(at)
            inputs = self.trace.steps[at].inputs
            handed = set(inputs) if is_check_step(self.trace.steps[at]) else set()
            rest += [index for index in inputs if not self.good[index] or self._in_doubt(index, handed)]
        return sorted(found)

    def _in_doubt(self, at: int, handed: Collection[int]) -> bool:
        """Whether a value that was handed to the check is one that nothing could be held against on the way."""
        return at in handed and self.places[at] is not None and self.states[at] is StepState.UNKNOWN

    def _culprit(self, at: int) -> tuple[int, StepState]:
        """Return the step to blame for one that does not agree though its inputs do, and its state."""
        self.deadline.check()
        made_of = self._made_of(at)
        before = self._left_out(at, made_of)
        if before is not None and self.matching.factor(before) is not None:  # else it may be any step that is missing
            return before, StepState.UNFINISHED
        for index in made_of:
            if (copy := self.matching.copy(index)) is not None:
                return copy
        filled = infinite_before(self.matching, at)
        if filled is not None:
            return filled, StepState.INFINITE
        placed = other_axes(self.matching, at)
        return (placed, StepState.RESHAPED) if placed is not None else (at, self.states[at])

    def _made_of(self, at: int) -> list[int]:
        """Return what a step is made of, seen through the steps that there is nothing to hold against."""
        found: dict[int, None] = {}
        seen: set[int] = set()
        rest = list(reversed(self.trace.steps[at].inputs))
        while rest:
            index = rest.pop()
            if index in seen:
                continue
            seen.add(index)
            if self.states[index] is StepState.UNKNOWN and self.good[index]:
                rest += reversed(self.trace.steps[index].inputs)
            else:
                found[index] = None
        return list(found)

    def _left_out(self, at: int, made_of: Sequence[int]) -> int | None:
        """Return the input of a step after which the solution does something more on the same line, if any."""
        for index in made_of:
            start, source = self.matched[index], self.matching.source(index)
            if start is None or source is None or _line_of(self.places[source]) == _line_of(self.places[at]):
                continue
            if self._goes_on(start, self.trace.steps[at]):
                return source
        return None

    def _goes_on(self, start: int, step: TraceStep) -> bool:
        """Whether all that the solution makes of a step is on its line, and is not what a step of the student does."""
        if (start, step.name) not in self._going_on:
            first, users = self.reference.steps[start], self.matching.users(start)
            line = _line(first)
            other = any(_line(user) != line or _alike(user, step) for user in users)
            self._going_on[start, step.name] = bool(first.stack and line and users) and not other
        return self._going_on[start, step.name]

    def _divergence_of(self, found: Sequence[tuple[int, StepState]]) -> Divergence | None:
        """Return the one to show of several: the first that depends on what was given, not on constants alone.

        None for one that may begin another way to the right numbers.
        """
        for at, state in found:
            if state is not StepState.UNFINISHED:
                self.places[at] = self._place(at)
        at, state = next((culprit for culprit in found if self.trace.steps[culprit[0]].inputs), found[0])
        if begins_another_way(self.matching, at):
            return None
        places = {self.places[index] for index, _ in found}
        lines = {(place.file, place.line) for place in places if place is not None}
        last = self._last_on_line(at) if state is StepState.UNKNOWN else at
        place = self.places[last]
        assert place is not None
        is_unique = len(lines) == 1 and not self._unjudged(at, place)
        number = self.trace.steps[at].number
        misshapen = self.matching.misshapen[at]
        stack = self.trace.steps[at].stack
        owners = frozenset((place.function or "").split(".")[0] for place in stack)
        return Divergence(
            place,
            state,
            # Another part may scale earlier, and a later operation may take the factor back.
            None if stack[0].file != place.file or self._is_taken_back(last) else self.matching.factor(last),
            self._agreeing(at),
            is_unique,
            number=number,
            misshapen=misshapen,
            owners=owners,
            configured=self.trace.steps[at].name == "dropout" and stack[0].file != place.file,
        )

    def _last_on_line(self, at: int) -> int:
        """Return the last step that a line makes of one of its own, if both are multiples of what is expected.

        A sum may be the expected mean times a size and be right: the line divides it later.
        """
        last, line = at, self.places[at]
        for index, step in enumerate(self.trace.steps[at + 1 :], at + 1):
            if last in step.inputs and _line_of(self.places[index]) == _line_of(line) and not self.good[index]:
                last = index
        is_multiple = last != at and self.matching.factor(at) is not None and self.matching.factor(last) is not None
        return last if is_multiple else at

    def _is_taken_back(self, at: int) -> bool:
        """Whether the program multiplies or divides a step until it is a value of the reference again."""
        scaled = {at}
        for index, step in enumerate(self.trace.steps[at + 1 :], at + 1):
            if step.name in KINDS[0] and not scaled.isdisjoint(step.inputs):
                self.deadline.check()
                scaled.add(index)
                if any(abs(factor - 1) <= _ROUNDING for factor in self.matching.all_factors(index)):
                    return True
        return False

    def _unjudged(self, at: int, place: Place) -> bool:
        """Whether a step is made of values of other lines that nothing could be held against."""
        seen: set[int] = set()
        rest = [index for index in self.trace.steps[at].inputs if index not in self._matched_inputs]
        while rest:
            index = rest.pop()
            if index in seen:
                continue
            seen.add(index)
            own = self.places[index]
            if own is not None and own.line != place.line and self.trace.steps[index].name not in BLANK:
                return True
            rest += [before for before in self.trace.steps[index].inputs if before not in self._matched_inputs]
        return False

    @cached_property
    def _matched_inputs(self) -> set[int]:
        """The steps that were judged: they agree, if only in another form."""
        judged = (StepState.AGREES, StepState.RESHAPED)
        return {at for at, state in enumerate(self.states) if state in judged or self.places[at] is None}

    def _place(self, at: int) -> Place | None:
        """Return the place to show for a step: its own, or that of its caller, where the same line agrees elsewhere.

        A helper whose line agrees for one caller and not for another gets wrong arguments from the other. If no caller
        makes the difference, the line itself is shown.
        """
        for place, chain in self._chains(at):
            if (self.trace.steps[at].name, chain) not in self._agreeing_chains:
                return place
        return self.places[at]

    def _chains(self, at: int) -> Iterator[tuple[Place, int]]:
        """Yield the places in the student's frames from the one to show outwards, as far as they are in its file.

        Each has the number of the chain that it ends: equal chains have equal numbers.
        """
        own, stack = self.places[at], self.trace.steps[at].stack
        chain = -1
        for place in stack[stack.index(own) :] if own is not None else ():
            if own is not None and place.file == own.file:
                chain = self._numbers.setdefault((chain, place), len(self._numbers))
                yield place, chain

    @cached_property
    def _agreeing_chains(self) -> set[tuple[str, int]]:
        """The operations of the steps that agree, each with the chains of places that lead to it."""
        return {
            (step.name, chain)
            for at, step in enumerate(self.trace.steps)
            if self.matched[at] is not None
            for _, chain in self._chains(at)
        }

    def _agreeing(self, at: int) -> tuple[int, ...]:
        """Return the lines that lead to a step and hold nothing but what agrees, and something that tells."""
        before = self.matching.ancestors[at]
        here = self.places[at]
        lines: dict[int, bool] = {}
        telling: set[int] = set()
        for index, place in enumerate(self.places):
            if place is None or here is None or place.file != here.file or place.line == here.line:
                continue
            step = self.trace.steps[index]
            agrees = self.states[index] is StepState.AGREES and step.dtype not in COMMON
            agrees = agrees or (step.name in BLANK and not self.matching.misshapen[index])
            is_again = self.matching.is_again(index)
            if before >> index & 1 or not self.good[index] or is_again:
                lines[place.line] = lines.get(place.line, True) and agrees and not is_again
                if step.name in BLANK or self._tells(index):
                    telling.add(place.line)
        return tuple(sorted(line for line, agrees in lines.items() if agrees and line in telling))

    def _tells(self, at: int) -> bool:
        """Whether a step is unlikely to agree by chance: not one number many times, nor few whole numbers."""
        step = self.trace.steps[at]
        if step.dtype in PLAIN:
            return True
        return self.matching.is_distinctive(at) or (self.trace.print_of(step)[0] <= 4 and "float" in step.dtype)


def _alike(one: TraceStep, other: TraceStep) -> bool:
    """Whether two steps do the same kind of thing: a product may be written as a quotient."""
    names = {one.name.strip("_"), other.name.strip("_")}
    return len(names) == 1 or any(names <= kind for kind in KINDS)


def _line_of(place: Place | None) -> int | None:
    return place.line if place is not None else None


def _line(step: TraceStep) -> int | None:
    return _line_of(step.stack[0]) if step.stack else None
