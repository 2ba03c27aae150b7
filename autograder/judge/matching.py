"""Matches a submission with the misconceptions: it is named only if it gives what a known wrong program gives."""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

from autograder import comparison  # its face loads NumPy when a name is used
from autograder.answer_key import BY_MODE, AnswerKey, Failures, Misconception
from autograder.checks import Check, Judge, Key, Raises, SameInputs, names_any
from autograder.comparison import Expected, is_floating
from autograder.course import Exercise, Suite
from autograder.diagnosis import Trials
from autograder.protocol import Array, Outline, Value, lines_of, name_hash
from autograder.results import Certainty, Todo
from autograder.runner import Fault, Observed, Outcome, Survey, WorkerFailure, found_in
from autograder.submission import todos_of

# Which TODOs of an exercise are written, and which failures only say that one is not.


def todos_in(suite: Suite, exercise: Exercise, survey: Survey, outcomes: Mapping[Key, Outcome]) -> tuple[Todo, ...]:
    """Return the TODOs of a student's file, each with the checks of what it returns.

    A check whose own part has no code got its values from the one function that has.
    """
    work = Outline(survey.functions, survey.statements)
    checks = suite.checks[exercise.id]
    todos = todos_of(suite.stubs.get(exercise.id), work, exercise.file)
    written = [todo for todo in todos if todo.is_written]

    def judges(check: Check, todo: Todo) -> bool:
        if returns(todo, check) or written != [todo]:
            return returns(todo, check)
        behind = [other for other in todos if _is_behind(other, check)]
        own = [outcomes[key] for key in check.keys if key in outcomes]
        return bool(behind) and bool(own) and todo not in behind and _is_of_other_code(check, behind, own)

    return tuple(replace(todo, checks=tuple(check.id for check in checks if judges(check, todo))) for todo in todos)


def is_unwritten(check: Check, todos: Sequence[Todo], outcomes: Sequence[Outcome], source: bytes) -> bool:
    """Say whether a check fails only because a TODO behind it has no code: its `raise` was replaced by `pass`, say.

    The TODO may be one that the check names, or that finished code of the `source` calls.
    """
    without_code = [todo for todo in todos if todo.state == "empty"]
    if any(_names(check, todo) for todo in without_code) and _may_be_of_nothing(check, outcomes):
        return True
    if any(isinstance(outcome, Fault) and outcome.frames and _is_none(outcome) for outcome in outcomes):
        return any(_is_called(todo, source) for todo in without_code)
    if any(map(_is_failure_of_code, outcomes)):
        return False
    behind = [todo for todo in todos if _is_behind(todo, check)]
    if not behind:
        return False
    if all(todo.state in ("open", "empty") for todo in behind):
        return not _is_of_other_code(check, behind, outcomes)
    empty = [todo for todo in behind if todo.state == "empty"]
    lacks_parts = all(isinstance(outcome, Fault) and outcome.kind == "structure" for outcome in outcomes)
    if lacks_parts and any(todo.name == f"{check.of}.__init__" for todo in empty):
        return True
    return all(map(_is_none, outcomes)) and any(returns(todo, check) for todo in empty)


def _is_behind(todo: Todo, check: Check) -> bool:
    """Say whether a check calls a TODO, or the class that it is in."""
    return check.of is None or f"{todo.name}.".startswith(f"{check.of}.")


def _names(check: Check, todo: Todo) -> bool:
    """Say whether the code of a check names a function, or a method and its class; some methods are never named."""
    *owners, name = todo.name.split(".")
    own = [] if owners and (name == "forward" or name.startswith("__")) else [name]
    return all(names_any(check.probe, {part}) for part in (*owners, *own))


def _is_called(todo: Todo, source: bytes) -> bool:
    name = todo.name.rpartition(".")[2].encode()
    return re.search(rb"(?<!def )\b" + name + rb"\(", source) is not None


def _may_be_of_nothing(check: Check, outcomes: Sequence[Outcome]) -> bool:
    """Say whether a function without code may make a check fail: it changes no input, and leaves no tensor anywhere."""
    for outcome in outcomes:
        if isinstance(outcome, WorkerFailure) or (isinstance(outcome, Fault) and outcome.at_import):
            return False
        if isinstance(outcome, Fault) and outcome.kind in ("device", "forbidden"):
            return False
    return not (isinstance(check.judge, SameInputs) and all(isinstance(outcome, Observed) for outcome in outcomes))


def _is_of_other_code(check: Check, behind: Sequence[Todo], outcomes: Sequence[Outcome]) -> bool:
    """Say whether a check got its values from a finished function, as every TODO behind it would have raised."""
    raises = all(todo.state == "open" for todo in behind) and not isinstance(check.judge, Raises)
    return raises and all(isinstance(outcome, Observed) and not _is_none(outcome) for outcome in outcomes)


def is_nothing(outcome: Outcome) -> bool:
    """Say whether an outcome may be that of a function without code, which is no mistake."""
    return (isinstance(outcome, Fault) and outcome.kind == "todo") or _is_none(outcome)


def returns(todo: Todo, check: Check) -> bool:
    """Say whether the value of a check is what a function returns, or the `forward` of a class."""
    return todo.name in (check.of, f"{check.of}.forward")


def _is_failure_of_code(outcome: Outcome) -> bool:
    """Say whether the student's code raised, or ended the process."""
    return not isinstance(outcome, Observed) and (
        isinstance(outcome, WorkerFailure) or outcome.at_import or bool(outcome.frames)
    )


def _is_none(outcome: Outcome) -> bool:
    match outcome:
        case Observed(value=None):
            return True
        case Observed(value=dict() as parts):
            return bool(parts) and all(part is None for part in parts.values())
        case Fault(message=message):
            return found_in(message, "NoneType") is not None
    return False


RICH = 8
"""The minimum of wrong values that counts as a match: fewer may equal those of a misconception by chance."""

SEVERAL = 2
"""Checks that fail in the way of one misconception by chance in no program of ours: it takes one cause."""

MANY = 8
"""Checks that fail without telling which mistake made them fail."""

_DIGIT = re.compile(r"\d")


class Extent(IntEnum):
    """How much of what a misconception does is seen in a submission; each level includes those before it."""

    PART = 0
    """Some check that the misconception fails passes here."""

    CHECKS = 1
    """All checks that it fails fail here too, or wait for others."""

    FAILURES = 2
    """They fail in the same way."""

    PROGRAM = 3
    """All checks agree, failing and passing ones."""


@dataclass(frozen=True)
class Agreement:
    """How far a misconception explains a submission.

    `checks` are those that fail in the same way. `is_one_of_several` says that a check fails in a way of its own, or
    one which the misconception alone passes. `raised` are checks in which both raise an exception of one type, with
    other words: these depend on how a program is written. As the misconception behind one check, it is alike if it
    alone gives what was observed.
    """

    entry: Misconception
    checks: frozenset[str]
    raised: frozenset[str]
    extent: Extent
    is_one_of_several: bool
    certainty: Certainty = Certainty.LIKELY


def agreements(trials: Trials, checks: Mapping[str, Check], failures: Failures) -> list[Agreement]:
    """Hold a submission's outcomes in an exercise, and which of them are wrong, against every misconception.

    Of one that has not run in all checks only what these failures ask for counts, whatever other submissions asked for.
    """
    sums: comparison.Sums = {}
    candidates = _candidates(trials.key, failures) if trials.failing else ()
    return [_agreement(entry, trials, checks, sums) for entry in candidates]


def _candidates(key: AnswerKey, failures: Failures) -> Iterator[Misconception]:
    for entry in key.misconceptions:
        if entry.failing is None:
            yield entry
        elif wanted := failures.checks_of(entry):
            yield replace(entry, outcomes={at: one for at, one in entry.outcomes.items() if at[0] in wanted})


def failures_of(trials: Trials, checks: Mapping[str, Check]) -> Failures:
    """Return what has to be explained: misconceptions that cannot be the name of any of it need not run."""
    failed = frozenset(id_ for id_, _ in trials.failing)
    return Failures(failed, _waiting(checks, failed), trials.survey.hashes)


def _waiting(checks: Mapping[str, Check], failed: Collection[str]) -> frozenset[str]:
    """Return the checks that wait for others, all of which fail."""
    return frozenset(
        id_ for id_, check in checks.items() if check.requires_any and set(check.requires_any) <= set(failed)
    )


def _agreement(entry: Misconception, trials: Trials, checks: Mapping[str, Check], sums: "comparison.Sums") -> Agreement:
    outcomes, failing, theirs = trials.outcomes, trials.failing, entry.outcomes
    different = {at[0] for at in outcomes if (at in theirs) != (at in failing)}
    raised: set[str] = set()
    for at, yours in outcomes.items():
        if at not in theirs or at[0] in different:
            continue
        if comparison.is_same(yours, theirs[at], checks[at[0]].judge, trials.key.reference[at], sums):
            continue
        if comparison.is_raised_alike(yours, theirs[at], any_type=entry.any_exception):
            raised.add(at[0])
        else:
            different.add(at[0])
    raised -= different
    if entry.any_exception and not different:
        raised = set()  # all of the program is known: what it raises does not matter
    different |= raised
    predicted, failed = {at[0] for at in theirs}, {at[0] for at in failing}
    explained = frozenset(failed - different)
    extent = Extent.CHECKS if predicted <= failed | _waiting(checks, failed) else Extent.PART
    extent = Extent.FAILURES if predicted <= explained else extent
    extent = Extent.PROGRAM if not different else extent
    is_one_of_several = bool({at[0] for at in failing if not is_nothing(outcomes[at])} - explained - raised)
    return Agreement(entry, explained, frozenset(raised), extent, is_one_of_several)


def contradicts(entry: Misconception, check: Check, trials: Trials) -> bool:
    """Whether the code of a file makes the name of a misconception false, whatever it computes in a check.

    Functions and classes that are not of the contract, which the misconceptions change, are helpers.
    """
    words, outcomes = trials.survey.words, trials.of(check)
    by_hash = {name_hash(owner): owner for owner in words}
    owners = {by_hash[owner] for owner in entry.owners if owner in by_hash}
    if not owners:
        return False
    called = _reached(words, (check.of or "").split(".")[0])
    if called and not called & owners:
        return True
    helpers = {owner for owner in _reached(words, *owners) if name_hash(owner) not in trials.key.contract}
    used = {name_hash(word) for owner in owners | helpers for word in words[owner]}
    if not entry.condition.holds(used):
        return True
    if entry.any_exception:
        return name_hash("raise") in entry.condition.uses and not _refuses(trials.source, outcomes)
    # Who writes the name of a wrong exception raises it on purpose; the known program got it from an operation.
    wrong = {name_hash(type_) for type_ in _wrong_exceptions(check.judge, outcomes)}
    return not (wrong & used).issubset(entry.condition.uses)


def _reached(words: Mapping[str, Collection[str]], *names: str) -> set[str]:
    """Return the functions and classes of the file that these use, and these: none that the file lacks."""
    reached: set[str] = set()
    rest = [name for name in names if name in words]
    while rest:
        name = rest.pop()
        reached.add(name)
        rest += [word for word in words[name] if word in words and word not in reached]
    return reached


def _refuses(source: bytes, outcomes: Sequence[Outcome]) -> bool:
    """Whether each exception of a check comes from a `raise` or an `assert` of the file."""
    lines = lines_of(source)
    raised = [one.frames[-1].line for one in outcomes if isinstance(one, Fault) and one.frames]
    return all(lines[at - 1].strip().startswith(("raise", "assert")) for at in raised if at <= len(lines))


def _wrong_exceptions(judge: Judge, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the exceptions that were observed where others are right."""
    if not isinstance(judge, Raises):
        return
    for outcome in outcomes:
        value = outcome.value if isinstance(outcome, Observed) else None
        raised = value.get("raised") if isinstance(value, dict) else None
        types = [type_ for type_ in raised if isinstance(type_, str)] if isinstance(raised, list) else []
        if types and set(types).isdisjoint(judge.types):
            yield types[0]


def name(check: Check, trials: Trials, found: list[Agreement]) -> Agreement | None:
    """Return the misconception behind a failed check, and how sure it is, or None where there is doubt.

    It is none that the code contradicts. It is shown if the code has its statements, or what its catalogue states, or
    lacks what the name says is missing; or if the program does all that the misconception does, and the name says only
    what comes out, or that is enough numbers that no other cause is likely.

    A misconception that gives all of the program is best; then, for an exception, one that gives all but its words, or
    one that is true whatever is raised, if the program raises something there and nowhere else. Else many wrong numbers
    tell by themselves, and the misconceptions whose other failures are here too come first; where most checks fail, one
    check may look like any of them by chance. A result with few wrong numbers, or an exception, may have many causes.
    So it counts only if all that the misconception does is seen here, or if the file has the statements that it is made
    of.
    """
    statements = trials.survey.hashes
    found = [one for one in found if check.id in one.checks | one.raised or one.entry.any_exception]
    found = [one for one in found if not contradicts(one.entry, check, trials)]
    candidates = [agreement for agreement in found if check.id in agreement.checks]
    full = [agreement for agreement in candidates if agreement.extent is Extent.PROGRAM]
    failed = {id_ for id_, _ in trials.failing}
    if len(failed) > MANY and 2 * len(failed) > len({id_ for id_, _ in trials.outcomes}):
        candidates = [one for one in candidates if len(one.checks) >= SEVERAL or is_in(one.entry, statements)]
    is_rich = _is_rich({check.id}, trials)
    raising = any(isinstance(outcome, Fault) for outcome in trials.of(check))
    several = [one for one in found if one.extent >= Extent.CHECKS and len(one.checks) >= SEVERAL]
    known = [one for one in several if check.id in one.checks | one.raised and not one.is_one_of_several]
    known = known or [one for one in found if _refuses_just_that(one, trials.outcomes)]
    if full:
        best = full
    elif raising and known:
        best = _most_checks(known)
    elif is_rich:
        best = _most_checks(_closest(candidates))
    else:
        best = _most_checks([one for one in candidates if _is_telling(check, one, trials, failed)])
        best = best or [agreement for agreement in candidates if is_in(agreement.entry, statements)]
    first = best[0] if best else None
    if first is None or any(one.entry.id not in (first.entry.id, *first.entry.same_as) for one in best):
        return None  # two misconceptions that are not the same
    lacks = first.entry.condition.lacks - {name_hash(BY_MODE)}
    states = first.entry.stated
    is_stated = states == "words" or (states == "result" and full) or (lacks and first.extent >= Extent.FAILURES)
    is_all = full and (first.entry.any_exception or _is_rich(first.checks, trials, "any"))
    if is_stated or is_all or is_in(first.entry, statements):
        return replace(first, certainty=Certainty.SHOWN)
    is_seen = first.entry.any_exception or check.id in first.raised or _is_rich({check.id}, trials, "any")
    return replace(first, certainty=Certainty.ALIKE) if full or is_rich or is_seen else first


def _closest(candidates: list[Agreement]) -> list[Agreement]:
    """Return the candidates whose failures are all here in the same way; else those that fail where this fails."""
    alike = [agreement for agreement in candidates if agreement.extent >= Extent.FAILURES]
    return alike or [agreement for agreement in candidates if agreement.extent >= Extent.CHECKS]


def _most_checks(found: list[Agreement]) -> list[Agreement]:
    most = max((len(agreement.checks) for agreement in found), default=0)
    return [agreement for agreement in found if len(agreement.checks) == most]


def _is_telling(check: Check, one: Agreement, trials: Trials, failed: set[str]) -> bool:
    """Whether a misconception that gives the same few numbers, or the same exception, is hardly so by chance.

    Many mistakes lead to one refused structure or device, and to one message about shapes, which has digits.
    """
    are_alike, fails_here = one.extent >= Extent.FAILURES, one.extent >= Extent.CHECKS
    if one.checks >= failed:
        return are_alike
    faults = [outcome for outcome in trials.of(check) if isinstance(outcome, Fault)]
    if any(fault.kind != "other" for fault in faults):
        return False
    several = len(one.checks) >= SEVERAL
    if faults:
        return are_alike and (several or not any(_DIGIT.search(fault.message) for fault in faults))
    return fails_here and (several or _is_rich({check.id}, trials, "any"))


def _refuses_just_that(one: Agreement, outcomes: Mapping[Key, Outcome]) -> bool:
    """Whether a program raises an exception just where a misconception does that is true whatever is raised."""
    raising = {at[0] for at, theirs in one.entry.outcomes.items() if theirs is not None and theirs.fault is not None}
    raises = {id_ for (id_, _), one in outcomes.items() if isinstance(one, Fault) and one.kind == "other"}
    return one.entry.any_exception and one.extent >= Extent.CHECKS and raises == raising


def is_in(entry: Misconception, statements: Collection[str]) -> bool:
    """Whether a file has all the statements that a misconception is made of."""
    return bool(entry.marks) and set(entry.marks) <= set(statements)


def _is_rich(checks: Collection[str], trials: Trials, kind: Literal["floating", "any"] = "floating") -> bool:
    """Whether what is wrong in one of these checks is made of enough numbers to be recognised by them alone."""
    return any(
        isinstance(outcome, Observed) and _wrong_numbers(outcome.value, trials.key.reference[at], kind) >= RICH
        for at, outcome in trials.outcomes.items()
        if at[0] in checks
    )


def _wrong_numbers(yours: Value, expected: Expected, kind: Literal["floating", "any"]) -> int:
    """Return how many numbers of a kind are wrong: all of a tensor that has another shape."""
    if isinstance(yours, Array) and isinstance(expected.nominal, Array):
        if kind == "floating" and not is_floating(yours):
            return 0
        if yours.shape != expected.nominal.shape or not isinstance(expected.exact, Array):
            return math.prod(yours.shape)
        # Only clearly wrong numbers are evidence: those near the tolerance may be rounding.
        return int(comparison.wrong(comparison.numbers(yours), comparison.numbers(expected.exact), 1e-3).sum())
    if isinstance(yours, dict) and isinstance(expected.nominal, dict):
        parts = [(yours.get(name), Expected(expected.nominal[name], expected.exact[name])) for name in expected.nominal]
    elif isinstance(yours, list) and isinstance(expected.nominal, list):
        parts = [(mine, Expected(*both)) for mine, *both in zip(yours, expected.nominal, expected.exact, strict=False)]
    else:
        return 0
    return sum(_wrong_numbers(mine, theirs, kind) for mine, theirs in parts)
