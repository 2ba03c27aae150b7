"""Finds the first of a student's lines whose value diverges from the reference solution's.

Steps are matched by value alone, so the style of a program does not matter. From a wrong result the search goes back
through the steps that match nothing, to those whose inputs still agree.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from autograder.diagnosis.location.deadline import MOST_CULPRITS, Deadline
from autograder.diagnosis.location.inputs import infinite_before, other_axes
from autograder.diagnosis.location.matching import BLANK, COMMON, Matching, Where, is_check_step
from autograder.diagnosis.location.results import begins_another_way, first_cut, of_another_form, repeated, returned
from autograder.diagnosis.location.trace_graph import TraceGraph
from autograder.messages.locations import Divergence, State
from autograder.protocol.operations import KINDS, is_in_place
from autograder.results import Place
from autograder.runner.traces import Step, Trace


def first_divergence(
    trace: Trace, reference: Trace, where: Where, deadline: Deadline | None = None
) -> Divergence | None:
    """Return the first step that diverges, None where it cannot be found. Raises `OutOfTime`.

    The trace is a worker's: all work on it is linear in its steps, and sets of steps are the bits of a number.
    """
    if not trace.steps or not reference.steps:
        return None
    return Search(Matching(trace, reference, where, deadline), deadline).divergence()


class Search:
    """The search from a wrong result back through the steps that do not agree."""

    def __init__(self, matching: Matching, deadline: Deadline | None = None) -> None:
        self.matching = matching
        self.deadline = deadline
        self.trace = matching.trace
        self.reference = matching.reference
        self.states = matching.states
        self.matched = matching.matched
        self.constant = matching.constant
        self.good = matching.good
        self.graph = TraceGraph(matching)
        self._numbers: dict[tuple[int, Place], int] = {}
        self._going_on: dict[tuple[int, str], bool] = {}
        self.places = list(matching.places)

    def divergence(self) -> Divergence | None:
        """Return the first step that diverges."""
        misused = [at for at in self._differing_results() if self.good(at)]
        if first := self._first():
            return self._divergence_of([self._culprit(index) for index in first[:MOST_CULPRITS]])
        written = [
            index for index in misused if self.places[index] is not None and is_in_place(self.trace.steps[index].name)
        ]
        if written:
            return self._divergence_of([(index, State.WRITTEN) for index in written])
        copies = [copy for index in misused if (copy := self.graph.copy(index)) is not None]
        if copies:
            return self._divergence_of([(index, State.MISUSED) for index in copies])
        if not misused and (cut := first_cut(self.matching)) is not None:
            return self._divergence_of([(cut, State.CUT)])
        known = of_another_form(self.matching) or repeated(self.matching, misused) or returned(self.matching, misused)
        return self._divergence_of(known) if known else None

    def _first(self) -> list[int]:
        """Return the steps that do not agree though all they are made of does.

        What is made of constants alone is in doubt only where nothing else is.
        """
        suspects = [index for index in self._suspects() if self.places[index] is not None]
        inputs = {index: self.trace.steps[index].inputs for index in suspects}
        first = [
            index
            for index in suspects
            if not self.constant[index] and all(self.good(at) or self.constant[at] for at in inputs[index])
        ]
        return first or [index for index in suspects if all(self.good(at) for at in inputs[index])]

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
        first = next((at for at in self.trace.results if not self.good(at) or at in differing), None)
        if first is not None and self.good(first) and self.places[first] is None:
            return []  # the finding speaks of a value that the check made: another part has another mistake
        rest = [at for at in self.trace.results if not self.good(at) or self._in_doubt(at, differing)]
        if not rest:
            rest = [at for at, step in enumerate(self.trace.steps) if is_check_step(step) and not self.good(at)]
        found: set[int] = set()
        while rest:
            at = rest.pop()
            if at in found:
                continue
            found.add(at)
            inputs = self.trace.steps[at].inputs
            handed = set(inputs) if is_check_step(self.trace.steps[at]) else set()
            rest += [index for index in inputs if not self.good(index) or self._in_doubt(index, handed)]
        return sorted(found)

    def _in_doubt(self, at: int, handed: Collection[int]) -> bool:
        """Whether a value that was handed to the check is one that nothing could be held against on the way."""
        return at in handed and self.places[at] is not None and self.states[at] is State.UNKNOWN

    def _culprit(self, at: int) -> tuple[int, State]:
        """Return the step to blame for one that does not agree though its inputs do, and its state."""
        if self.deadline is not None:
            self.deadline.check()
        made_of = self._made_of(at)
        before = self._left_out(at, made_of)
        if before is not None and self.matching.factor(before) is not None:  # else it may be any step that is missing
            return before, State.UNFINISHED
        for index in made_of:
            if (copy := self.graph.copy(index)) is not None:
                return copy, State.MISUSED
        filled = infinite_before(self.matching, at)
        if filled is not None:
            return filled, State.INFINITE
        placed = other_axes(self.matching, at)
        return (placed, State.RESHAPED) if placed is not None else (at, self.states[at])

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
            if self.states[index] is State.UNKNOWN and self.good(index):
                rest += reversed(self.trace.steps[index].inputs)
            else:
                found[index] = None
        return list(found)

    def _left_out(self, at: int, made_of: Sequence[int]) -> int | None:
        """Return the input of a step after which the solution does something more on the same line, if any."""
        for index in made_of:
            start, source = self.matched[index], self.graph.source(index)
            if start is None or source is None or _line_of(self.places[source]) == _line_of(self.places[at]):
                continue
            if self._goes_on(start, self.trace.steps[at]):
                return source
        return None

    def _goes_on(self, start: int, step: Step) -> bool:
        """Whether all that the solution makes of a step is on its line, and is not what a step of the student does."""
        if (start, step.name) not in self._going_on:
            first, users = self.reference.steps[start], self.graph.users(start)
            line = _line(first)
            other = any(_line(user) != line or _alike(user, step) for user in users)
            self._going_on[start, step.name] = bool(first.stack and line and users) and not other
        return self._going_on[start, step.name]

    def _divergence_of(self, found: Sequence[tuple[int, State]]) -> Divergence | None:
        """Return the one to show of several: the first that depends on what was given, not on constants alone.

        None for one that may begin another way to the right numbers.
        """
        for at, state in found:
            if state is not State.UNFINISHED:
                self.places[at] = self._place(at)
        at, state = next((culprit for culprit in found if self.trace.steps[culprit[0]].inputs), found[0])
        if begins_another_way(self.matching, at):
            return None
        places = {self.places[index] for index, _ in found}
        lines = {(place.file, place.line) for place in places if place is not None}
        place = self.places[at]
        assert place is not None
        certain = len(lines) == 1 and not self._unjudged(at, place)
        number = self.trace.steps[at].number
        misshapen = self.matching.misshapen[at]
        stack = self.trace.steps[at].stack
        owners = frozenset((place.function or "").split(".")[0] for place in stack)
        return Divergence(
            place,
            state,
            self.matching.factor(at) if stack[0].file == place.file else None,  # else another part may scale earlier
            self._agreeing(at),
            certain,
            number=number,
            misshapen=misshapen,
            owners=owners,
            configured=self.trace.steps[at].name == "dropout" and stack[0].file != place.file,
        )

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
        judged = (State.AGREES, State.RESHAPED)
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
        """Return the lines that lead to a step and hold nothing but what agrees."""
        before = self.graph.ancestors[at]
        here = self.places[at]
        lines: dict[int, bool] = {}
        for index, place in enumerate(self.places):
            if place is None or here is None or place.file != here.file or place.line == here.line:
                continue
            step = self.trace.steps[index]
            agrees = (self.states[index] is State.AGREES and step.dtype not in COMMON) or step.name in BLANK
            if before >> index & 1 or not self.good(index):
                lines[place.line] = lines.get(place.line, True) and agrees
        return tuple(sorted(line for line, agrees in lines.items() if agrees))


def _alike(one: Step, other: Step) -> bool:
    """Whether two steps do the same kind of thing: a product may be written as a quotient."""
    names = {one.name.strip("_"), other.name.strip("_")}
    return len(names) == 1 or any(names <= kind for kind in KINDS)


def _line_of(place: Place | None) -> int | None:
    return place.line if place is not None else None


def _line(step: Step) -> int | None:
    return _line_of(step.stack[0]) if step.stack else None
