"""The graph of a student's steps: what each is made of, and who else computed the same."""

from functools import cached_property

from autograder.diagnosis.location.matching import NEUTRAL, Matching
from autograder.results import Place
from autograder.runner.traces import Step


class TraceGraph:
    """Answers questions about how steps are made of others. All of it is linear in the steps of a trace."""

    def __init__(self, matching: Matching) -> None:
        self.matching = matching
        self.trace = matching.trace
        self.reference = matching.reference
        self.places = matching.places
        self.matched = matching.matched

    def users(self, at: int) -> list[Step]:
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

    def copy(self, at: int) -> int | None:
        """Return the step behind an input if it computes again, on another line, what another step has computed."""
        source = self.source(at)
        if source is None or self.matched[source] is None or not self.matching.is_distinctive(source):
            return None
        by_match, by_place = self._computing
        same, here = by_match.get(self.matched[source], 0), by_place.get(self.places[source], 0)
        twins = same & ~here & ~self.ancestors[source] & ((1 << source) - 1)
        return source if twins else None

    @cached_property
    def _computing(self) -> tuple[dict[int | None, int], dict[Place | None, int]]:
        """The student's steps that compute something, as bits: by what they match, and by their places."""
        by_match: dict[int | None, int] = {}
        by_place: dict[Place | None, int] = {}
        for at, step in enumerate(self.trace.steps):
            place = self.places[at]
            if place is not None and step.name not in NEUTRAL:
                by_match[self.matched[at]] = by_match.get(self.matched[at], 0) | 1 << at
                by_place[place] = by_place.get(place, 0) | 1 << at
        return by_match, by_place

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
