"""Locates the mistakes in one judged exercise, by running what failed once more with tracing."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise, product

from autograder.answer_key import Misconception
from autograder.checks import Check, Key, names_any
from autograder.edits import word_hashes
from autograder.protocol import lines_of, name_hash
from autograder.results import Certainty, Place
from autograder.runner import Fault, Observed, Outcome, RecordedTrace, Survey

from .divergence import first_divergence
from .exceptions import in_characters
from .judgement import Deadline, Diagnosis, Divergence, Judgement, Location, StepState, Trials, Verdict
from .named_sizes import factors, named, simplest, symbols_in, used_of

# Finds the place of a mistake: the statement a misconception is known by, or the line where the values diverge.


def by_statement(
    entry: Misconception,
    catalogue: Iterable[Misconception],
    statements: Sequence[tuple[str, int]],
    survey: Survey,
    divergence: Divergence | None = None,
) -> list[int]:
    """Return the line of the statement of a misconception that diverges, else the lines that it may be.

    None of them if a statement is missing, or each is there several times. The head of a function is one only if no
    other statement is. What fewer misconceptions have is more likely the mistake: several of them may write theirs into
    the same new function.
    """
    found = [(hash_, line) for hash_, line in statements if hash_ in entry.marks]
    times = Counter(hash_ for hash_, _ in found)
    if not found or set(entry.marks) != set(times):
        return []
    if divergence is not None and any(line == divergence.place.line and times[hash_] == 1 for hash_, line in found):
        return [divergence.place.line]
    found = [(hash_, line) for hash_, line in found if survey.runs(line)] or found
    shared = Counter(mark for other in catalogue for mark in other.marks)
    fewest = min(shared[hash_] for hash_, _ in found)
    lines = sorted((times[hash_] > 1, line) for hash_, line in found if shared[hash_] == fewest)
    return [line for _, line in lines] if not lines[0][0] else []


LIKE, CLEAR = 0.25, 0.1
"""How like a statement is to that of a misconception at least, and how much less like the others are, of 1."""


def by_wording(
    entry: Misconception,
    survey: Survey,
    source: bytes,
    at: int | None = None,
    right: Collection[int] = (),
    ran: Collection[int] = (),
) -> Place | None:
    """Return the line of the statement that is most like one of a misconception, in the same function.

    Words count more, the fewer statements of the function have them. It is None if no statement is like it, or
    if another one is nearly so that is not on the next line. Of statements that are equally like it, it is that of the
    line `at`, where values begin to differ. It is none of the lines whose values are `right`. If a `return` is among
    the lines that `ran`, it is no other one.
    """
    lines, variables = lines_of(source), {name for _, name, _ in survey.assignments}
    found = []
    for function, (owner, *wording) in product(survey.functions, map(str.split, entry.wording)):
        if name_hash(function.name) != owner:
            continue
        spans = [(first, last) for first, last in survey.running if function.line < first <= function.end]
        returns = {first for first, _ in spans if lines[first - 1].lstrip().startswith("return")}
        taken = {first for first, last in spans if first in returns and any(first <= line <= last for line in ran)}
        spans = [span for span in spans if span[0] in taken or not taken or span[0] not in returns]
        own = {first: word_hashes("\n".join(lines[first - 1 : last]), variables) for first, last in spans}
        times = Counter(word for words in own.values() for word in words)
        weights = {word: math.log(1 + len(own) / max(times[word], 0.5)) for word in {*times, *wording}}
        alike = {line: _share(words, {*wording}, weights) for line, words in own.items() if line not in right}
        best = max(alike, key=lambda line: (alike[line], line == at), default=0)
        next_best = max((share for line, share in alike.items() if abs(line - best) > 1), default=0.0)
        if best and alike[best] >= max(LIKE, next_best + CLEAR):
            found.append((alike[best], Place("", best, function.name)))
    return max(found, key=lambda one: one[0])[1] if found else None


def _share(words: AbstractSet[str], others: AbstractSet[str], weights: Mapping[str, float]) -> float:
    both, either = (sum(weights[word] for word in part) for part in (words & others, words | others))
    return both / either if either else 0.0


def made_at(divergence: Divergence, survey: Survey) -> Place | None:
    """Return where the plain number is made by which a value is wrong, if its variable is assigned once.

    A value that is wrong by the number itself, its square or its root comes from a right number used in a wrong way.
    """
    if divergence.number is None or divergence.factor is None:
        return None
    name, number = divergence.number
    if divergence.state is not StepState.UNKNOWN or _is_power(abs(divergence.factor), abs(number)):
        return None
    function = divergence.place.function or ""
    owner = function.split(".")[0] if name.startswith("self.") else function
    lines = [line for of, variable, line in survey.assignments if (of, variable) == (owner, name)]
    if len(lines) != 1 or lines[0] == divergence.place.line:
        return None
    return Place(divergence.place.file, lines[0])


def configured(divergence: Divergence, survey: Survey, source: bytes) -> Location | None:
    """Return where the part is made that drops out at another rate, if it is an attribute that is assigned once.

    The diverging line calls it, or hands it on to be called.
    """
    place = divergence.place
    lines = lines_of(source)
    if not divergence.configured or not 0 < place.line <= len(lines):
        return None
    owner = (place.function or "").split(".")[0]
    own = [(name, line) for of, name, line in survey.assignments if of == owner]
    called, used = (set(pattern.findall(lines[place.line - 1])) for pattern in (_CALLED, _USED))
    made = [line for name, line in own if name in called]
    if not called:
        made = [line for name, line in own if name in used and line <= len(lines) and _MADE.search(lines[line - 1])]
    there = Place(place.file, made[0], f"{owner}.__init__") if len(called) <= 1 and len(made) == 1 else None
    return Location(there) if there is not None else None


_STEP = re.compile(r"\.step\(\s*\)")
"""A step of an optimizer or of a schedule, called without arguments."""

_CALLED = re.compile(r"self\.\w+(?=\()")
"""An attribute of `self` that is called."""

_USED = re.compile(r"self\.\w+")
"""An attribute of `self`, called or handed on."""

_MADE = re.compile(r"\bDropout\w*\(")
"""A part that drops out, as it is made."""


def _is_power(factor: float, number: float) -> bool:
    """Whether a factor is a number, its square, its root, or one divided by them."""
    # The root or the square of a number beyond is near 0, or beyond float32.
    if not 1e-6 < number < 1e6:
        return False
    powers = [number**exponent for exponent in (0.5, 1, 2, -0.5, -1, -2)]
    return any(abs(factor - power) < 1e-3 * power for power in powers)


def location_of(
    statements: Sequence[int],
    divergence: Divergence | None,
    survey: Survey,
    source: bytes,
    functions: Mapping[int, str],
    file: str,
) -> Location | None:
    """Return the best location there is: the statement that is known, else the line that diverges or its origin.

    Of several known statements the first is only likely, and so is the head of a function, which may have more lines.
    """
    origin = made_at(divergence, survey) if divergence is not None and not statements else None
    known = Place(file, statements[0]) if statements else origin
    if known is not None and (divergence is None or divergence.place.line != known.line):
        place = replace(known, function=functions.get(known.line))
        if origin is not None:
            return Location(place, divergence, is_origin=True)
        is_likely = len(statements) > 1 or not survey.runs(place.line)
        return Location(place, certainty=Certainty.LIKELY if is_likely else Certainty.ALIKE)
    return Location(in_characters(divergence.place, source), divergence) if divergence is not None else None


GRADIENTS = {"gradients", "slope", "slopes", "grad", "grad_fn", "backward", "requires_grad"}
"""The names of `given` and of torch by which a check looks at gradients."""

FindTraces = Callable[[Check], Mapping[Key, RecordedTrace]]
"""Finds what the solution computes on its way in the trials of a check."""

FindTraced = Callable[[list[Key]], Mapping[Key, RecordedTrace]]
"""Runs trials of the submission once more, and returns what it computes on its way."""


def find_locations(
    judgement: Judgement, traced: FindTraced, references: FindTraces, deadline: Deadline
) -> dict[str, Location]:
    """Return the location of each mistake by its check. `traced` runs trials once more. Raises `OutOfTime`.

    Where the first failure shows no line, another check that fails for the same misconception may.
    """
    traces = traced(_to_trace(judgement))
    found, first = locate(judgement, traces, references, deadline), judgement.first_failure
    if first is None or first.check.id in found:
        return found
    more = traced(_to_trace(judgement, beside=True))
    return locate(judgement, {**traces, **more}, references, deadline) if more else found


def _to_trace(judgement: Judgement, *, beside: bool = False) -> list[Key]:
    """Return the trials that are worth to be run again with tracing: the wrong ones of the first failure.

    With `beside` they are those of the next check that fails for the same misconception.
    """
    first, trials = judgement.first_failure, judgement.trials
    if first is None or trials is None or not _is_open(first):
        return []
    if beside and first.diagnosis is not None and first.diagnosis.place is not None:
        return []
    for verdict in _same_mistake(judgement, first) if beside else [first]:
        keys = [(verdict.check.id, trial) for trial in range(verdict.check.trials)]
        found = [key for key in keys if key in trials.failing and _has_trace(trials.outcomes[key])]
        if found:
            return found
    return []


def _same_mistake(judgement: Judgement, first: Verdict) -> list[Verdict]:
    alike = [verdict for verdict in judgement.verdicts if verdict.mistake == first.mistake and verdict is not first]
    return [verdict for verdict in alike if verdict.mistake is not None and _is_open(verdict)]


def locate(
    judgement: Judgement, traces: Mapping[Key, RecordedTrace], references: FindTraces, deadline: Deadline
) -> dict[str, Location]:
    """Return the location of each mistake that the syntax or the traces tell, by its check.

    `references` is asked for what the solution computes where it is needed. Raises `OutOfTime`.
    """
    if judgement.trials is None:
        return {}
    locator = Locator(judgement, judgement.trials, traces, references, deadline)
    found = ((verdict.check.id, locator.locate(verdict)) for verdict in judgement.verdicts if _is_open(verdict))
    return _shared(judgement, {check: location for check, location in found if location is not None})


def _shared(judgement: Judgement, locations: Mapping[str, Location]) -> dict[str, Location]:
    """Give checks that fail for one misconception its best location, if they have no place of their own.

    It is one mistake, so its line is one too, whichever check found it.
    """
    found = dict(locations)
    by_misconception: dict[str, list[str]] = {}
    for verdict in judgement.verdicts:
        if verdict.mistake is not None and verdict.diagnosis is not None and verdict.diagnosis.place is None:
            by_misconception.setdefault(verdict.mistake, []).append(verdict.check.id)
    for checks in by_misconception.values():
        best = max((found[check] for check in checks if check in found), key=_certainty, default=None)
        if best is not None and best.first_mistake is None:
            found |= {check: best for check in checks if check not in found}
    return found


def _certainty(location: Location) -> tuple[Certainty, bool]:
    """Return how sure a location is."""
    return location.certainty, location.divergence is None or location.divergence.is_unique


@dataclass(frozen=True)
class Locator:
    """All that is known of an exercise while its mistakes are located."""

    judgement: Judgement
    trials: Trials
    traces: Mapping[Key, RecordedTrace]
    references: FindTraces
    deadline: Deadline

    def locate(self, verdict: Verdict) -> Location | None:
        """Return the location of one check's mistake. Raises `OutOfTime`."""
        diagnosis, survey = verdict.diagnosis, self.trials.survey
        assert diagnosis is not None
        divergence = next(iter(self._divergences(verdict.check).values()), None)
        if divergence is not None and not (
            self._is_judged(divergence)
            and _belongs(divergence, diagnosis)
            and self._fits(divergence, diagnosis)
            # A check that looks at no gradient does not fail because none passes.
            and (divergence.state is not StepState.CUT or names_any(verdict.check.probe, GRADIENTS))
        ):
            divergence = None
        first_mistake = None
        if diagnosis.misconception is None and diagnosis.kind in ("pattern", "exception") and divergence:
            first_mistake = self._misconception_of(divergence) if divergence.is_unique else None
        entry = diagnosis.misconception or first_mistake
        file, statements = self.judgement.exercise.file, self._statements(verdict.check)
        catalogue = self.trials.key.misconceptions
        known = by_statement(entry, catalogue, statements, survey, divergence) if entry is not None else []
        location = location_of(known, divergence, survey, self.trials.source, self._functions(), file)
        if diagnosis.misconception is not None and _is_doubtful(location):
            at = location.place.line if location is not None else None
            right = divergence.agreeing if divergence is not None else ()
            ran = {place.line for place in self._frames(self.traces) if place.file == file}
            said = by_wording(diagnosis.misconception, survey, self.trials.source, at, right, ran)
            if said is not None and (at is None or abs(said.line - at) > 1):  # beside each other, values tell more
                raised = diagnosis.place
                is_same = raised is not None and (raised.file, raised.line) == (file, said.line)
                place = raised if raised is not None and is_same else replace(said, file=file)
                location = Location(place, certainty=Certainty.LIKELY)
        if divergence is not None and location is not None and entry is None:
            location = configured(divergence, survey, self.trials.source) or location
        return replace(self._beside(location, entry), first_mistake=first_mistake) if location is not None else None

    def _beside(self, location: Location, entry: Misconception | None) -> Location:
        """Return a location without the lines of its own statement among those that agree.

        A value may agree, and stand in the place of another one. So the line that is most like a known mistake is none
        of them either.
        """
        if location.divergence is None:
            return location
        survey = self.trials.survey
        like = by_wording(entry, survey, self.trials.source) if entry is not None else None
        heads = {location.place.line, like.line if like is not None else 0}
        spans = [range(first, last + 1) for first, last in survey.running if any(first <= at <= last for at in heads)]
        agreeing = tuple(line for line in location.divergence.agreeing if not any(line in span for span in spans))
        return replace(location, divergence=replace(location.divergence, agreeing=agreeing))

    def _is_judged(self, divergence: Divergence) -> bool:
        """Whether a diverging line computes something, and all that it computes with is in a trace.

        Plain arguments are traced on the line of the `def`, where no mistake of the body is. The gradients of an
        optimizer's step are in no trace.
        """
        line, lines = divergence.place.line, lines_of(self.trials.source)
        return self.trials.survey.runs(line) and not (0 < line <= len(lines) and _STEP.search(lines[line - 1]))

    def _statements(self, check: Check) -> list[tuple[str, int]]:
        """Return the statements of the functions and classes that ran in a check, of all if no trace shows any."""
        file = self.judgement.exercise.file
        own = [key for key in self.traces if key[0] == check.id]
        ran = {_part(place.function) for place in self._frames(own) if place.file == file}
        functions, statements = self._functions(), self.trials.survey.statements
        return [(hash_, line) for hash_, line in statements if not ran or _part(functions.get(line)) in {*ran, ""}]

    def _frames(self, keys: Iterable[Key]) -> set[Place]:
        """Return the places that ran in some trials, as far as their traces show them."""
        return {place for key in keys for step in self.traces[key].steps for place in step.stack}

    def _fits(self, divergence: Divergence, diagnosis: Diagnosis) -> bool:
        """Whether a divergence may be in a function or class that the misconception changes.

        It is elsewhere if the file has them, and diverges in another one of the contract.
        """
        known = diagnosis.misconception
        if known is None:
            return True
        defined = {name_hash(name.split(".")[0]) for name in self.trials.survey.places}
        here = name_hash(_part(divergence.place.function))
        running = {here, *map(name_hash, divergence.owners)}
        return (
            bool(running & set(known.owners))
            or here not in self.trials.key.contract
            or not defined.issuperset(known.owners)
        )

    def _divergences(self, check: Check) -> dict[int, Divergence]:
        """Return where the trials of a check diverge; a line is unique only where they agree on it."""
        own = {key: trace for key, trace in self.traces.items() if key[0] == check.id}
        if not own:
            return {}
        expected, trusted = self.references(check), self._trusted(check)
        searched = {
            key[1]: first_divergence(trace, expected[key], self.judgement.exercise.file, trusted, self.deadline)
            for key, trace in own.items()
            if key in expected
        }
        found = {trial: divergence for trial, divergence in searched.items() if divergence is not None}
        agree = len({divergence.place.line for divergence in found.values()}) == 1
        constant = self._constant(check, found)
        return {
            trial: replace(
                divergence,
                is_unique=divergence.is_unique and agree,
                constant=constant,
                agreeing=tuple(line for line in divergence.agreeing if self.trials.survey.runs(line)),
            )
            for trial, divergence in found.items()
        }

    def _constant(self, check: Check, divergences: Mapping[int, Divergence]) -> str | None:
        """Return the name of the factor by which a value is wrong, if it is the same in every trial."""
        used = symbols_in(check.probe)
        sizes = {trial: used_of(self.trials.sizes(check, trial), used) for trial in divergences}
        names = [
            {constant.text for constant in simplest(named(found.factor, factors(sizes[trial], {})))}
            for trial, found in divergences.items()
            if found.factor is not None
        ]
        common = set.intersection(*names) if names and len(names) == len(divergences) else set()
        return common.pop() if len(common) == 1 else None

    def _misconception_of(self, divergence: Divergence) -> Misconception | None:
        """Return the misconception that the diverging statement is known from, though it does not explain everything.

        All the statements it is made of must be in the file. A name that says what comes out needs equal results.
        """
        survey = self.trials.survey
        here = {hash_ for hash_, line in survey.statements if line == divergence.place.line}
        found = [
            entry
            for entry in self.trials.key.misconceptions
            if here & set(entry.marks) and set(entry.marks) <= survey.hashes and entry.stated != "result"
        ]
        alike = found and all(entry.id in (found[0].id, *found[0].same_as) for entry in found)
        return found[0] if alike else None

    def _trusted(self, failed: Check) -> frozenset[str]:
        """Return the parts that pass every check of their own, save the one a failed check is about."""
        passing = {verdict.of for verdict in self.judgement.verdicts if verdict.status == "pass" and verdict.of}
        failing = {verdict.of for verdict in self.judgement.verdicts if verdict.status != "pass"}
        return frozenset(passing - failing - {failed.of})

    def _functions(self) -> Mapping[int, str]:
        """Return the function that each line of a file is in, as far as the survey tells."""
        starts = sorted((lines[0], name) for name, lines in self.trials.survey.places.items() if lines)
        return dict(_spread(starts, len(self.trials.source.splitlines())))


def _is_doubtful(location: Location | None) -> bool:
    """Whether a location is no more than the first value that the solution does not make."""
    if location is None:
        return True
    divergence = location.divergence
    return divergence is not None and divergence.state is StepState.UNKNOWN and divergence.factor is None


def _part(function: str | None) -> str:
    """Return the function or class of the file that a function is in."""
    return (function or "").split(".")[0]


def _is_open(verdict: Verdict) -> bool:
    """Whether a check failed in a way that has a place worth looking for."""
    diagnosis = verdict.diagnosis
    is_plain = diagnosis is not None and (diagnosis.kind == "forbidden" or diagnosis.fact.id == "argument_unused")
    return verdict.status in ("fail", "error") and diagnosis is not None and not is_plain


def _belongs(divergence: Divergence, diagnosis: Diagnosis) -> bool:
    """Whether a diagnosis and the first divergence are of one mistake, as far as that is known.

    A value of the right shape seldom raises an exception later, and in another function an own shape may be as right.
    A misconception that is known by little may be another one, and beside other mistakes the trials may diverge at
    theirs. Where an exception was raised is known anyway.
    """
    if diagnosis.kind == "exception" and diagnosis.misconception is None:
        raised = diagnosis.place.function if diagnosis.place is not None else None
        return divergence.misshapen and divergence.is_unique and divergence.place.function == raised
    if diagnosis.kind == "structure" and diagnosis.misconception is None and diagnosis.quoted is not None:
        return False  # the check cannot use what it got, whatever its numbers are
    if diagnosis.kind == "structure" and divergence.state is StepState.MOVED and not divergence.misshapen:
        return False  # another order of the numbers, in a shape that occurs, makes no other shape or type
    is_alike = diagnosis.certainty >= Certainty.ALIKE
    if diagnosis.misconception is None or (is_alike and not diagnosis.is_one_of_several):
        return True
    return divergence.is_unique and (is_alike or diagnosis.place is None)


def _has_trace(outcome: Outcome) -> bool:
    """Whether a run with tracing can show more than the outcome does."""
    return isinstance(outcome, Observed) or (isinstance(outcome, Fault) and outcome.kind == "other")


def _spread(starts: list[tuple[int, str]], last: int) -> Iterator[tuple[int, str]]:
    for (line, function), (following, _) in pairwise([*starts, (last + 1, "")]):
        yield from ((number, function) for number in range(line, min(following, last + 1)))
