"""Prove where a mistake is: search, in the sandbox, for one small edit after which every check passes.

The edit is never shown, and never stored: it would be the answer. Only its line is.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.answer_key import Misconception
from autograder.checks import Check, Key, SameInputs
from autograder.comparison import passes
from autograder.course import Exercise
from autograder.diagnosis import EarlierUnwritten, Judgement, Location, Verdict
from autograder.edits import Clues, Edit
from autograder.protocol import lines_of, name_hash
from autograder.results import Certainty, ExerciseResult, Place, first_failing
from autograder.runner import EnvironmentProblem, GraderProblem, WorkerFailure

from .marking import Marking
from .matching import is_in
from .verdict import function_at

FAILED = ("fail", "error")
MORE = 40
"""Edits that are tried for a better first one, once one mends a part: the second mistake takes a search of its own."""

MOST_PROBES = 4
"""Checks beside the first one that an edit is tried on. Each takes about as long as the first."""

FEWEST_MENDED = 2
"""Checks that an edit must mend, if others fail still, to say where the mistake probably is."""


@dataclass(frozen=True)
class Budget:
    """How many edits a search may try, and for how many seconds."""

    edits: int
    seconds: float


SELF_CHECK = Budget(240, 4.0)
"""An edit takes 5 to 10 ms on a warm worker, so that a learner hardly notices the search after the verdict.

The number of edits ends it, so that the same program gets the same answer. The time ends it on a slow machine, and
where the edits are tried once more, on other checks.
"""


@dataclass(frozen=True)
class Proof:
    """A line, and the checks that an edit of it mends.

    It is shown if every check passes after it, or after it and the edit of one other line. If other checks fail still,
    it is only likely that the mistake is there. `known` is the misconception that is there: without the
    other mistake the program gives just what this one gives. `adds` is the side on which the edit adds a line to it.
    """

    line: int
    checks: frozenset[str]
    certainty: Certainty
    known: Misconception | None = None
    adds: str = ""


def _proof_of(edit: Edit, checks: frozenset[str], known: Misconception | None = None) -> Proof:
    return Proof(edit.line, checks, Certainty.SHOWN, known, edit.adds)


class Hung(Exception):
    """An edited program hangs or ends its process: the search would cost too much."""


def can_be_proved(judgement: Judgement) -> bool:
    """Whether a search can tell more: all that is written runs to its end, and fails for an unknown statement."""
    first, trials = judgement.first_failure, judgement.trials
    statuses = {verdict.status for verdict in _written(judgement)}
    if first is None or first.status not in FAILED or trials is None or not statuses <= {"pass", "waits", *FAILED}:
        return False
    known = judgement.locations.get(first.check.id)
    is_known = known is not None and known.certainty is Certainty.ALIKE
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
        and not (verdict.diagnosis is not None and isinstance(verdict.diagnosis.fact.data, EarlierUnwritten))
    ]


class EditSearch:
    """One search: it tries edits, the likeliest first, until one mends everything or the time is over.

    The edited programs run in the worker of a marking.
    """

    def __init__(self, source: str, judgement: Judgement, marking: Marking, budget: Budget) -> None:
        self.source = source
        self.judgement = judgement
        self.marking = marking
        self.budget = budget
        self.end = time.monotonic() + budget.seconds
        self.most = 0

    def repairs(self, source: str, judgement: Judgement) -> Sequence[Edit]:
        """Return edits that may mend a program that was judged so, the likeliest first."""
        lines, clues = suspected_lines(judgement), clues_of(judgement)
        return self.marking.runner.repairs(source, lines, self.budget.edits, clues)

    def passing(self, source: str, keys: Sequence[Key]) -> Collection[Key]:
        """Return the trials that pass; raises `Hung`."""
        like = self.judgement
        assert like.trials is not None
        expected = like.trials.key.reference
        judges = {verdict.check.id: verdict.check.judge for verdict in like.verdicts}
        outcomes = self.marking.edited(like, source, keys).outcomes(like, keys)
        if any(isinstance(outcome, WorkerFailure) for outcome in outcomes.values()):
            raise Hung
        return [key for key in keys if key in outcomes and passes(outcomes[key], expected[key], judges[key[0]])]

    def judged(self, source: str) -> Judgement:
        """Judge a program, and locate its mistakes."""
        return self.marking.edited(self.judgement, source).judged_like(self.judgement)

    def proofs(self) -> list[Proof]:
        """Return the proof of one edit that mends everything, else of two that do, else of one that mends a part."""
        try:
            return self._proofs()
        except Hung:
            return []

    def _proofs(self) -> list[Proof]:
        goal = _Goal.of(self.judgement)
        edits = self.repairs(self.source, self.judgement)
        for probes in (goal.of_first, goal.of_others):
            parts = self._parts(edits, goal, probes)
            if parts and parts[-1].mended == goal.failed:
                return [_proof_of(parts[-1].edit, goal.failed)]
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
        judgement = self.judged(edited)
        if not can_be_proved(replace(judgement, locations={})):
            return []
        known, rest = self._in_code(_only(judgement)), goal.failed - first.mended
        second = self._edit_beside(first.edit, edited, judgement)
        if second is not None and second.line == first.edit.line:
            return [_proof_of(second, goal.failed)]
        if second is not None:
            alone = self._in_code(_only(self.judged(second.applied(self.source))))
            return [_proof_of(first.edit, first.mended, alone), _proof_of(second, rest, known)]
        if known is None:
            return []
        failure = judgement.first_failure
        location = judgement.locations.get(failure.check.id) if failure is not None else None
        proofs = [_proof_of(first.edit, first.mended)]
        if location is not None and location.place.file == judgement.exercise.file:
            line = _line_before(location.place.line, first.edit, self.source)
            if line == first.edit.line:  # the edit may have made one mistake of that line into another
                return []
            proofs.append(Proof(line, rest, Certainty.LIKELY, known=known))
        return proofs

    def _in_code(self, known: Misconception | None) -> Misconception | None:
        """Return a misconception of an edited program if the learner's own has it: else the edit may have made it."""
        return known if known is not None and is_in(known, self.judgement.survey.hashes) else None

    def _edit_beside(self, first: Edit, edited: str, judgement: Judgement) -> Edit | None:
        """Return an edit that mends all that is wrong after the first one, as an edit of the program before it."""
        edits = self.repairs(edited, judgement)
        before = {edit: _before(edit, first, self.source) for edit in edits}
        goal = _Goal.of(judgement)
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
        return [Proof(best.edit.line, best.mended, Certainty.LIKELY)] if is_telling else []

    def _mending(self, source: str, edits: Sequence[Edit], goal: "_Goal", probes: Sequence[Key]) -> Iterator["_Part"]:
        """Yield each edit that mends the check of a probe and breaks none, with all that it mends."""
        for at, edit in enumerate(edits if probes else ()):
            if at >= self.most or time.monotonic() > self.end:
                return
            edited = edit.applied(source)
            mended = set(self.passing(edited, probes))
            if not mended:
                continue
            probed = {id_ for id_, _ in mended}
            every = [key for check in goal.checks for key in check.keys if key not in mended]
            passing = mended | set(self.passing(edited, every))
            right = {check.id for check in goal.checks if passing.issuperset(check.keys)}
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
        return {check.id for check in self.checks} - self.failed - {id_ for id_, _ in self.failing}

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
        return [key for key in check.keys if key in self.failing]


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
    failed = [verdict for verdict in judgement.verdicts if verdict.status in FAILED]
    first = failed[0].diagnosis if failed else None
    is_one = len({verdict.mistake for verdict in failed}) == 1 and first is not None and not first.is_one_of_several
    return first.misconception if is_one and first is not None else None


def named(judgement: Judgement) -> set[str]:
    """Return the checks that a known mistake explains."""
    return {verdict.check.id for verdict in judgement.verdicts if verdict.mistake is not None}


# Where a mistake may be, and what its repair may look like, by what the judge found.


def suspected_lines(judgement: Judgement) -> list[int]:
    """Return the lines that the diagnoses point to, those of the first failure first.

    Where an exception was expected, the conditions of the exceptions in the function come before all.
    """
    first = judgement.first_failure
    verdicts = sorted(judgement.verdicts, key=lambda verdict: verdict is not first)
    found = _conditions(judgement)
    for verdict in verdicts:
        location, diagnosis = judgement.locations.get(verdict.check.id), verdict.diagnosis
        for place in (location.place if location else None, diagnosis.place if diagnosis else None):
            if place is not None and place.file == judgement.exercise.file:
                found.append(place.line)
    survey = judgement.survey
    if not found and first is not None:
        found = list(survey.places.get(first.check.of or "", ()))  # a function, and its returns
        owners = {owner for verdict in verdicts if (known := verdict.misconception) for owner in known.owners}
        found += [
            line for name, lines in survey.places.items() if name_hash(name.split(".")[0]) in owners for line in lines
        ]
    return list(dict.fromkeys(found))


def _conditions(judgement: Judgement) -> list[int]:
    """Return the line above each `raise` in what a check is about, if it expects an exception that was not raised."""
    first, trials = judgement.first_failure, judgement.trials
    if first is None or first.diagnosis is None or first.diagnosis.fact.id != "raises":
        return []
    assert trials is not None
    lines, functions = lines_of(trials.source), trials.survey.functions
    own = [one for one in functions if first.check.of in (None, one.name.split(".")[0])]
    within = [range(one.line, min(one.end, len(lines))) for one in own]
    return [line for part in within for line in part if lines[line].lstrip().startswith("raise ")]


def clues_of(judgement: Judgement) -> Clues:
    """Return the fixes of the misconceptions that explain failures, else those of all, and what is checked first."""
    first = judgement.first_failure
    of = first.check.of if first is not None else None
    writes = first is not None and isinstance(first.check.judge, SameInputs)
    fixes = {known.id: known.fix for verdict in judgement.verdicts if (known := verdict.misconception) and known.fix}
    if fixes:
        return Clues(tuple(fixes.values()), is_named=True, of=of, writes=writes)
    key = judgement.trials.key if judgement.trials is not None else None
    every = tuple(known.fix for known in key.misconceptions if known.fix) if key is not None else ()
    return Clues(every, of=of, writes=writes)


def plain_text(source: bytes) -> str:
    """Return the text of a file with line ends as Python counts them; raises UnicodeDecodeError if it is not UTF-8."""
    return source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


# Runs the search for a proof on a submission, and puts what it finds into the result.


def proved(
    marking: Marking,
    exercise: Exercise,
    result: ExerciseResult,
    budget: Budget,
    on_search: Callable[[], object] = lambda: None,
) -> ExerciseResult:
    """Return the result with the lines that are proved to decide a mistake, as far as a search finds them.

    Ask for it when the verdict is known: it only helps. `on_search` is called before a search begins.
    """
    judgement = marking.settled(exercise)
    if judgement is None or not can_be_proved(judgement):
        return result
    on_search()
    try:
        source = plain_text(marking.submission.sources[exercise.file])
        proofs = EditSearch(source, judgement, marking, budget).proofs()
    except (UnicodeDecodeError, EnvironmentProblem, GraderProblem):
        return result
    return marking.relocated(exercise, with_proofs(judgement, proofs)) if proofs else result


def with_proofs(judgement: Judgement, proofs: Sequence[Proof]) -> dict[str, Location]:
    """Return the locations, with those that are proved in place of what was only likely.

    A line that was found in another way stays where it is proved too, with all that is known of it. A known mistake
    gives what is observed alone, so an edit that mends that check is more than a divergence of values. An edit shows
    that mistake only if all that it mends fails for it.
    """
    survey = judgement.survey
    several = len({proof.line for proof in proofs}) > 1
    apart = len({function_at(survey, proof.line) for proof in proofs}) > 1
    raising = {verdict.check.id for verdict in judgement.verdicts if several and verdict.status == "error"}
    diagnosed = {verdict.check.id: verdict.diagnosis.place for verdict in judgement.verdicts if verdict.diagnosis}
    mistakes, found = named(judgement), dict(judgement.locations)
    names = {verdict.check.id: verdict.misconception for verdict in judgement.verdicts}
    unset = {verdict.check.id for verdict in judgement.verdicts if _is_unset(verdict)}
    for proof, check in [(one, check) for one in proofs for check in one.checks if check not in unset]:
        known, own = found.get(check), diagnosed.get(check)
        is_name_shown = proof.certainty is Certainty.SHOWN and all(
            names.get(other) is names.get(check) for other in proof.checks
        )
        first = proof.known or (names.get(check) if is_name_shown else None)
        one_of_several = several
        if check in raising:  # the exception is a fact, and the second edit may only restore what the first one removed
            raised = known.place if known is not None else own
            if raised is None or raised.line != proof.line:
                continue
            first, one_of_several = None, apart
        if known is not None and known.place.line == proof.line:
            surest, mistake = max(proof.certainty, known.certainty), first or known.first_mistake
            found[check] = replace(
                known, certainty=surest, first_mistake=mistake, is_one_of_several=one_of_several, adds=proof.adds
            )
        elif known is None or (
            known.certainty is not Certainty.ALIKE and (proof.certainty is Certainty.SHOWN or check in mistakes)
        ):
            there = Place(judgement.exercise.file, proof.line, function_at(survey, proof.line))
            is_same = own is not None and (own.file, own.line) == (there.file, there.line)
            found[check] = Location(
                own if own is not None and is_same else there,
                first_mistake=first,
                certainty=proof.certainty,
                is_one_of_several=one_of_several,
                adds=proof.adds,
            )
    return found


def _is_unset(verdict: Verdict) -> bool:
    """Whether no line uses the argument, sets the attribute or imports the name that a check needs.

    An edit where it is read only works around that.
    """
    fact = verdict.diagnosis.fact if verdict.diagnosis is not None else None
    names = ("argument_unused", "unset_attribute", "set_without_self", "not_imported")
    return fact is not None and fact.id in names
