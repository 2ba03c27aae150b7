"""Prove where a mistake is: search, in the sandbox, for one small edit after which every check passes.

The edit is never shown, and never stored: it would be the answer. Only its line is.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autograder.checks import Check
from autograder.checks.trials import Key
from autograder.diagnosis.diagnosis import Location
from autograder.diagnosis.judgement import Judgement, Verdict
from autograder.edits.repairs import Edit
from autograder.messages.statuses import CheckRequired
from autograder.results import Place
from autograder.results.model import first_failing

FAILED = ("fail", "error")
FEWEST_MENDED = 2
"""Checks that an edit must mend, if others fail still, to say where the mistake probably is."""


@dataclass(frozen=True)
class Budget:
    """How many edits a search may try, and for how many seconds."""

    edits: int
    seconds: float


SELF_CHECK = Budget(600, 1.8)
"""What a learner hardly notices after the verdict: an edit takes 5 to 15 ms on a warm worker."""


@dataclass(frozen=True)
class Proof:
    """A line, and the checks that an edit of it mends.

    With `is_whole` every check passes after it, or after it and the edit of one other line. Without, other checks fail
    still, so it is only probable that the mistake is there.
    """

    line: int
    checks: frozenset[str]
    is_whole: bool


class Hung(Exception):
    """An edited program hangs or ends its process: the search would cost too much."""


RunEdited = Callable[[str, Sequence[Key]], Collection[Key]]
"""Runs an edited program on some trials, and returns those that pass. Raises `Hung`."""


def can_be_proved(judgement: Judgement, locations: Mapping[str, Location]) -> bool:
    """Whether a search can tell more: the exercise is written, runs to its end, and fails for an unknown statement."""
    first, trials = judgement.first_failure, judgement.trials
    if first is None or trials is None or not all(map(_has_run, judgement.verdicts)):
        return False
    known = locations.get(first.check.id)
    is_known = known is not None and known.is_known
    return not is_known and first.diagnosis is not None and first.diagnosis.kind != "forbidden"


def _has_run(verdict: Verdict) -> bool:
    """Whether a check ran to its end; one that only waits for another check did."""
    if verdict.status == "waits":
        return verdict.diagnosis is not None and isinstance(verdict.diagnosis.fact, CheckRequired)
    return verdict.status in ("pass", *FAILED)


def suspected_lines(judgement: Judgement, locations: Mapping[str, Location]) -> list[int]:
    """Return the lines that the diagnoses point to, those of the first failure first."""
    first = judgement.first_failure
    verdicts = sorted(judgement.verdicts, key=lambda verdict: verdict is not first)
    found: list[int] = []
    for verdict in verdicts:
        location, diagnosis = locations.get(verdict.check.id), verdict.diagnosis
        for place in (location.place if location else None, diagnosis.place if diagnosis else None):
            if place is not None and place.file == judgement.exercise.file:
                found.append(place.line)
    return list(dict.fromkeys(found))


def plain_text(source: bytes) -> str:
    """Return the text of a file with line ends as Python counts them; raises UnicodeDecodeError if it is not UTF-8."""
    return source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


class Search:
    """One search: it tries edits, the likeliest first, until one mends everything or the time is over."""

    def __init__(self, source: str, judgement: Judgement, run: RunEdited, seconds: float) -> None:
        assert judgement.trials is not None
        self.source = source
        self.run = run
        self.end = self.until = time.monotonic() + seconds
        self.failing = judgement.trials.failing
        counted = [verdict for verdict in judgement.verdicts if not verdict.bonus]
        self.checks = [verdict.check for verdict in counted]
        self.failed = {verdict.check.id for verdict in counted if verdict.status in FAILED}
        first = first_failing(counted)
        self.first = first.check if first is not None else self.checks[0]

    def proofs(self, edits: Sequence[Edit]) -> list[Proof]:
        """Return the proof of one edit that mends everything, else of two that do, else of one that mends a part."""
        parts: list[tuple[Edit, frozenset[str]]] = []
        try:
            for edit, mended in self._mending(edits, self.source, self.first, self.failed):
                if mended == self.failed:
                    return [Proof(edit.line, mended, is_whole=True)]
                parts.append((edit, mended))
                if len(parts) == 1:  # there may be a second mistake, which takes a search of its own
                    self.until = (time.monotonic() + self.end) / 2
            return self._of_pairs(edits, parts)
        except Hung:
            return []

    def _of_pairs(self, edits: Sequence[Edit], parts: Sequence[tuple[Edit, frozenset[str]]]) -> list[Proof]:
        """Return the proofs of two edits that mend everything together; else what the best one mends alone."""
        if not parts:
            return []
        edit, mended = max(parts, key=lambda part: len(part[1]))
        self.until = self.end
        rest = self.failed - mended
        following = next(check for check in self.checks if check.id in rest)
        others = [other for other in edits if other.end < edit.start or other.start > edit.end]
        for other, now in self._mending(others, self.source, following, rest, edit):
            if now == rest:
                return [Proof(edit.line, mended, is_whole=True), Proof(other.line, now, is_whole=True)]
        lines = {one.line for one, checks in parts if len(checks) == len(mended)}
        is_telling = len(mended) >= FEWEST_MENDED and len(lines) == 1
        return [Proof(edit.line, mended, is_whole=False)] if is_telling else []

    def _mending(
        self, edits: Sequence[Edit], source: str, first: Check, failed: Collection[str], beside: Edit | None = None
    ) -> Iterator[tuple[Edit, frozenset[str]]]:
        """Yield each edit, applied beside another one, that mends a check and breaks none, and all that it mends."""
        probe = [key for key in self._trials(first) if key in self.failing][:1]
        for edit in edits:
            if time.monotonic() > self.until:
                return
            edited = _applied(source, edit, beside)
            if not self.run(edited, probe):
                continue
            every = [key for check in self.checks for key in self._trials(check) if key not in probe]
            passing = {*probe, *self.run(edited, every)}
            right = {check.id for check in self.checks if passing.issuperset(self._trials(check))}
            before = {check.id for check in self.checks} - set(failed)
            if first.id in right and before <= right:
                yield edit, frozenset(right & set(failed))

    def _trials(self, check: Check) -> list[Key]:
        return [(check.id, trial) for trial in range(check.trials)]


def _applied(source: str, *edits: Edit | None) -> str:
    for edit in sorted((edit for edit in edits if edit is not None), key=lambda edit: -edit.start):
        source = edit.applied(source)
    return source


def with_proofs(
    judgement: Judgement, locations: Mapping[str, Location], proofs: Sequence[Proof]
) -> dict[str, Location]:
    """Return the locations, with those that are proved in place of what was only likely.

    A line that was found in another way stays where it is proved too, with all that is known of it.
    """
    functions = _functions(judgement)
    found = dict(locations)
    for proof in proofs:
        for check in proof.checks:
            known = found.get(check)
            if known is not None and known.place.line == proof.line:
                found[check] = replace(known, proved=proof.is_whole or known.proved)
            elif known is None or (proof.is_whole and not known.is_known):
                place = Place(judgement.exercise.file, proof.line, functions(proof.line))
                found[check] = Location(place, proved=proof.is_whole, is_likely=not proof.is_whole)
    return found


def _functions(judgement: Judgement) -> Callable[[int], str | None]:
    """Return a function that names the innermost function of a line, as far as the survey tells."""
    survey = judgement.trials.survey if judgement.trials is not None else None
    starts = sorted((lines[0], name) for name, lines in (survey.places if survey else {}).items() if lines)

    def function(line: int) -> str | None:
        return next((name for start, name in reversed(starts) if start <= line), None)

    return function
