"""Prove where a mistake is: search, in the sandbox, for one small edit after which every check passes.

The edit is never shown, and never stored: it would be the answer. Only its line is.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from autograder.answer_key.model import Misconception
from autograder.checks import Check
from autograder.checks.trials import Key
from autograder.diagnosis.diagnosis import Location
from autograder.diagnosis.judgement import Judgement, Verdict
from autograder.edits.text import Edit
from autograder.messages.statuses import EarlierUnwritten
from autograder.results.first_failure import first_failing

FAILED = ("fail", "error")
MORE = 40
"""Edits that are tried for a better first one, once one mends a part: the second mistake takes a search of its own."""

MOST_PROBES = 4
"""Checks beside the first one that an edit is tried on. Each takes about as long as the first."""

FEWEST_MENDED = 2
"""Checks that an edit must mend, if others fail still, to say where the mistake probably is."""


@dataclass(frozen=True)
class Proof:
    """A line, and the checks that an edit of it mends.

    With `is_whole` every check passes after it, or after it and the edit of one other line. Without, other checks fail
    still, so it is only probable that the mistake is there. `known` is the misconception that is there: without the
    other mistake the program gives just what this one gives.
    """

    line: int
    checks: frozenset[str]
    is_whole: bool
    known: Misconception | None = None


class Hung(Exception):
    """An edited program hangs or ends its process: the search would cost too much."""


Judged = tuple[Judgement, Mapping[str, Location]]
"""A judgement, and the locations of its mistakes by check."""


class Trying(Protocol):
    """Tries edited programs. Each method raises `Hung`."""

    def repairs(self, source: str, judged: Judged) -> Sequence[Edit]:
        """Return edits that may mend a program that was judged so, the likeliest first."""

    def passing(self, source: str, keys: Sequence[Key]) -> Collection[Key]:
        """Return the trials that pass."""

    def judged(self, source: str) -> Judged:
        """Judge a program, and locate its mistakes."""


def can_be_proved(judgement: Judgement, locations: Mapping[str, Location]) -> bool:
    """Whether a search can tell more: all that is written runs to its end, and fails for an unknown statement."""
    first, trials = judgement.first_failure, judgement.trials
    statuses = {verdict.status for verdict in _written(judgement)}
    if first is None or first.status not in FAILED or trials is None or not statuses <= {"pass", "waits", *FAILED}:
        return False
    known = locations.get(first.check.id)
    is_known = known is not None and known.is_known
    return not is_known and first.diagnosis is not None and first.diagnosis.kind != "forbidden"


def _written(judgement: Judgement) -> list[Verdict]:
    """Return the verdicts that count for a search: without bonus checks, and without what is not written yet.

    A bonus check counts if nothing else fails. A check that waits for another check has run; one that waits for an
    earlier exercise has not.
    """
    first = judgement.first_failure
    return [
        verdict
        for verdict in judgement.verdicts
        if (not verdict.bonus or verdict is first)
        and verdict.status != "not_started"
        and not (verdict.diagnosis is not None and isinstance(verdict.diagnosis.fact, EarlierUnwritten))
    ]


class Search:
    """One search: it tries edits, the likeliest first, until one mends everything or the time is over."""

    def __init__(self, source: str, judged: Judged, trying: Trying, seconds: float) -> None:
        self.source = source
        self.judgement, self.locations = judged
        self.trying = trying
        self.end = time.monotonic() + seconds
        self.most = 0

    def proofs(self) -> list[Proof]:
        """Return the proof of one edit that mends everything, else of two that do, else of one that mends a part."""
        try:
            return self._proofs()
        except Hung:
            return []

    def _proofs(self) -> list[Proof]:
        goal = _Goal.of(self.judgement)
        edits = self.trying.repairs(self.source, (self.judgement, self.locations))
        for probes in (goal.of_first, goal.of_others):
            parts = self._parts(edits, goal, probes)
            if parts and parts[-1].mended == goal.failed:
                return [Proof(parts[-1].edit.line, goal.failed, is_whole=True)]
            if parts:
                best = max(parts, key=lambda part: len(part.mended))
                return self._second(best, goal) or self._likely(best, parts)
        return []

    def _parts(self, edits: Sequence[Edit], goal: "_Goal", probes: Sequence[Key]) -> list["_Part"]:
        """Return the edits that mend some checks, up to one that mends all."""
        parts: list[_Part] = []
        self.most = len(edits)
        for part in self._mending(self.source, edits, goal, probes):
            parts.append(part)
            if part.mended == goal.failed:
                break
            if len(parts) == 1:
                self.most = min(self.most, part.at + MORE)
        return parts

    def _second(self, first: "_Part", goal: "_Goal") -> list[Proof]:
        """Return the proofs of two mistakes: an edit mends one of them, and the other one is found without it.

        That is by an edit that mends the rest, or by a misconception that explains the rest alone.
        """
        edited = first.edit.applied(self.source)
        judgement, locations = self.trying.judged(edited)
        if not can_be_proved(judgement, {}):
            return []
        known, rest = _only(judgement), goal.failed - first.mended
        second = self._edit_beside(first.edit, edited, (judgement, locations))
        if second is not None and second.line == first.edit.line:
            return [Proof(second.line, goal.failed, is_whole=True)]
        if second is not None:
            alone, _ = self.trying.judged(second.applied(self.source))
            one = Proof(first.edit.line, first.mended, is_whole=True, known=_only(alone))
            return [one, Proof(second.line, rest, is_whole=True, known=known)]
        if known is None:
            return []
        failure = judgement.first_failure
        location = locations.get(failure.check.id) if failure is not None else None
        proofs = [Proof(first.edit.line, first.mended, is_whole=True)]
        if location is not None and location.place.file == judgement.exercise.file:
            line = _line_before(location.place.line, first.edit, self.source)
            if line == first.edit.line:  # the edit may have made one mistake of that line into another
                return []
            proofs.append(Proof(line, rest, is_whole=False, known=known))
        return proofs

    def _edit_beside(self, first: Edit, edited: str, judged: Judged) -> Edit | None:
        """Return an edit that mends all that is wrong after the first one, as an edit of the program before it."""
        edits = self.trying.repairs(edited, judged)
        before = {edit: _before(edit, first, self.source) for edit in edits}
        goal = _Goal.of(judged[0])
        self.most = len(edits)
        beside = [edit for edit in edits if before[edit] is not None]
        for part in self._mending(edited, beside, goal, goal.of_first):
            if part.mended == goal.failed:
                return before[part.edit]
        return None

    def _likely(self, best: "_Part", parts: Sequence["_Part"]) -> list[Proof]:
        """Return the proof of a part if it mends several checks, or one by a known mistake, and no other line does."""
        lines = {part.edit.line for part in parts if len(part.mended) == len(best.mended)}
        is_known = bool(best.mended & named(self.judgement))
        is_telling = (len(best.mended) >= FEWEST_MENDED or is_known) and len(lines) == 1
        return [Proof(best.edit.line, best.mended, is_whole=False)] if is_telling else []

    def _mending(self, source: str, edits: Sequence[Edit], goal: "_Goal", probes: Sequence[Key]) -> Iterator["_Part"]:
        """Yield each edit that mends the check of a probe and breaks none, with all that it mends."""
        for at, edit in enumerate(edits if probes else ()):
            if at >= self.most or time.monotonic() > self.end:
                return
            edited = edit.applied(source)
            mended = set(self.trying.passing(edited, probes))
            if not mended:
                continue
            probed = {id_ for id_, _ in mended}
            every = [key for check in goal.checks for key in goal.trials(check) if key not in mended]
            passing = mended | set(self.trying.passing(edited, every))
            right = {check.id for check in goal.checks if passing.issuperset(goal.trials(check))}
            if probed & right and goal.passed <= right:
                yield _Part(edit, at, frozenset(right & goal.failed))


@dataclass(frozen=True)
class _Part:
    """An edit, how many were tried before it, and the checks that it mends."""

    edit: Edit
    at: int
    mended: frozenset[str]


@dataclass(frozen=True)
class _Goal:
    """What an edit is to mend: the failed checks, of which `first` is tried first. Others of `checks` must pass."""

    checks: tuple[Check, ...]
    failed: frozenset[str]
    first: Check
    failing: Collection[Key]

    @classmethod
    def of(cls, judgement: Judgement) -> "_Goal":
        counted = _written(judgement)
        failed = frozenset(verdict.check.id for verdict in counted if verdict.status in FAILED)
        first = first_failing(counted) or counted[0]
        failing = judgement.trials.failing if judgement.trials is not None else ()
        return cls(tuple(verdict.check for verdict in counted), failed, first.check, failing)

    @property
    def passed(self) -> set[str]:
        """The checks that must go on to pass."""
        return {check.id for check in self.checks} - self.failed

    @property
    def of_first(self) -> list[Key]:
        """A failing trial of the first failed check."""
        return self._failing(self.first)[:1]

    @property
    def of_others(self) -> list[Key]:
        """A failing trial of each of the next failed checks: where the first has two mistakes, they may have one."""
        others = [check for check in self.checks if check.id in self.failed and check != self.first]
        return [key for check in others for key in self._failing(check)[:1]][:MOST_PROBES]

    def _failing(self, check: Check) -> list[Key]:
        return [key for key in self.trials(check) if key in self.failing]

    @staticmethod
    def trials(check: Check) -> list[Key]:
        return [(check.id, trial) for trial in range(check.trials)]


def _before(edit: Edit, first: Edit, source: str) -> Edit | None:
    """Return an edit of the program after `first` as one of the program before it; None where they overlap."""
    end = first.start + len(first.text)
    if edit.end < first.start:
        return edit
    if edit.start <= end:
        return None
    moved = len(first.text) - (first.end - first.start)
    return Edit(_line_before(edit.line, first, source), edit.start - moved, edit.end - moved, edit.text)


def _line_before(line: int, first: Edit, source: str) -> int:
    """Return the line of the program before an edit that a line of the program after it was."""
    lines = first.text.count("\n") - source[first.start : first.end].count("\n")
    return line - lines if line > first.line else line


def _only(judgement: Judgement) -> Misconception | None:
    """Return the misconception that explains all failures of a judgement; None if there is none."""
    failed = [verdict.diagnosis for verdict in judgement.verdicts if verdict.status in FAILED]
    known = {diagnosis.misconception.id if diagnosis and diagnosis.misconception else None for diagnosis in failed}
    first = next(iter(failed), None)
    is_one = len(known) == 1 and first is not None and not first.more
    return first.misconception if is_one and first is not None else None


def named(judgement: Judgement) -> set[str]:
    """Return the checks that a known mistake explains."""
    return {verdict.check.id for verdict in judgement.verdicts if verdict.mistake is not None}
