"""Why a check failed, as a finding: the misconception it equals, else what differs and how."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from autograder.answer_key.model import Misconception
from autograder.checks import Check, Dropout, Judge
from autograder.comparison.arrays import Numbers, is_floating, numbers
from autograder.comparison.compare import Difference
from autograder.diagnosis.evidence import axes_told, evidence_of, number, place_of
from autograder.diagnosis.patterns import Axes, Case, Pattern, Shown, agreed, explain
from autograder.diagnosis.patterns.constants import question
from autograder.protocol import Array, Value
from autograder.protocol.source_text import lines_of
from autograder.results import Finding, Place
from autograder.results.model import FindingKind
from autograder.runner.outcomes import Survey

LONGEST = 160
CONTEXT = 2


@dataclass(frozen=True)
class Drawn:
    """One trial of a failed check: what differs, if anything does, its axes, and all that is expected of it."""

    difference: Difference | None
    axes: Axes
    reference: Value = None


@np.errstate(all="ignore")
def of_difference(check: Check, trials: Sequence[Drawn], *, evidence: bool, named: bool = False) -> Finding:
    """Return the finding of wrong observations; a pattern is told only if a second wrong trial shows it too.

    Without `evidence` no number of the answer key is told. Where the mistake is `named` all the same, a pattern is
    looked for only if it would be told beside the name.
    """
    wrong = [each for each in trials if each.difference is not None]
    first, second = wrong[0], wrong[1] if len(wrong) > 1 else None
    difference = first.difference
    assert difference is not None
    case = _case(check, first, second)
    kind = _KINDS.get(difference.kind, "pattern")
    told = evidence or not named or kind in _BESIDE_A_NAME
    pattern = _explained(check, case, first, second) if case and told else None
    if pattern is not None:
        asked = question(pattern.constants, {each: case.axes.word(each) for each in case.axes.sizes} if case else {})
        message = _fitting(_subject(difference), pattern.phrase, pattern.because)
        asked = ASK_GRADIENT if pattern.id == "zero" and "gradient" in difference.name else pattern.detail or asked
        finding = Finding(kind, pattern.id, message, detail=asked or None)
    else:
        finding = _unexplained(kind, difference, case, evidence)
        if second is None and len(trials) > 1:
            finding = replace(finding, detail=_join(finding.detail, ONLY_SOME_SIZES))
    if not evidence or case is None or case.yours.shape == case.expected.shape == ():
        return finding
    return replace(finding, evidence=evidence_of(difference, case, pattern.shown if pattern else Shown()))


_KINDS: dict[str, FindingKind] = {"dtype": "dtype", "device": "device", "type": "structure", "shape": "structure"}

_BESIDE_A_NAME: Collection[FindingKind] = ("structure", "device")
"""What is told below the name of a misconception."""

ASK_GRADIENT = "Nothing of the result depends on it: is it detached on the way, or is what it makes not used?"

ONLY_SOME_SIZES = "With inputs of other sizes it is right: does a size stand in the code as a number?"


def _case(check: Check, first: Drawn, second: Drawn | None) -> Case | None:
    """Return the arrays of a trial's difference, with the words for its axes that a second trial agrees on."""
    difference = first.difference
    if difference is None or difference.yours is None or difference.expected is None:
        return None
    words = first.axes.names(difference.expected.shape)
    other = second.difference if second else None
    if second is not None and other is not None and other.expected is not None and _alike(difference, other):
        words = agreed(words, second.axes.names(other.expected.shape))
    rate = {"1 - p": 1 - check.judge.rate, "1/(1 - p)": 1 / (1 - check.judge.rate)} if _drops(check.judge) else {}
    known = dict(_parts(first.reference, "", difference))
    expected = difference.expected
    if np.abs(expected).max(initial=0.0) < _NOTHING:
        expected = np.zeros_like(expected)
    return Case(difference.yours, expected, first.axes, words, difference.dtypes, known, rate, difference.off)


_NOTHING = 1e-6
"""Where all that is expected is smaller, it is 0 but for rounding."""


def _drops(judge: Judge) -> TypeGuard[Dropout]:
    return isinstance(judge, Dropout) and 0 < judge.rate < 1


def _explained(check: Check, case: Case, first: Drawn, second: Drawn | None) -> Pattern | None:
    if first.difference is None or first.difference.kind not in _WITH_PATTERNS:
        return None
    if check.trials == 1:
        return explain(case, None)
    other = _case(check, second, first) if second is not None else None
    if second is None or other is None or second.difference is None or not _alike(first.difference, second.difference):
        return None
    return explain(case, other)


_WITH_PATTERNS = ("value", "special", "shape", "dtype")


def _alike(one: Difference, other: Difference) -> bool:
    """Whether two trials differ in the same part; its name may hold a size."""
    return re.sub(r"\d+", "", one.name) == re.sub(r"\d+", "", other.name)


def _parts(value: Value, name: str, difference: Difference) -> Iterator[tuple[str, Numbers]]:
    """Yield the other floating-point tensors that are expected of an observation, by name."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(part, key, difference)
    elif isinstance(value, Array) and name and name != difference.name and is_floating(value):
        yield name, numbers(value)


def _unexplained(kind: FindingKind, difference: Difference, case: Case | None, evidence: bool) -> Finding:
    """Return the finding of a difference that follows no pattern: how much differs, and the first that does."""
    sentence = difference.sentence.removeprefix(f"{difference.name}: ")
    if case is not None and difference.kind == "special" and case.expected.size > 1:
        odd = ~np.isfinite(case.yours) & np.isfinite(case.expected)
        first = place_of(case, tuple(int(each) for each in np.argwhere(odd)[0]))
        return Finding(kind, difference.kind, _fitting(_subject(difference), sentence, f"the first at {first}"))
    if case is None or difference.kind not in ("value", "shape"):
        text = f"{difference.sentence}." if sentence == difference.sentence else f"{_subject(difference)}: {sentence}."
        return Finding(kind, difference.kind, as_sentence(text, difference.name))
    if difference.kind == "shape":
        axes, told = axes_told(case)
        sizes = ", ".join(f"{case.at(at)} {case.expected.shape[at]}" for at in told)
        detail = f"Expected: {sizes}." if axes != "at" else None
        return Finding(kind, difference.kind, _fitting(_subject(difference), sentence), detail=detail)
    if case.expected.size == 1:
        one, other = (number(float(each.flat[0]), case) for each in (case.yours, case.expected))
        return Finding(kind, difference.kind, _fitting(_subject(difference), f"{one}, expected {other}"))
    wrong = case.wrong
    index = tuple(int(each) for each in np.argwhere(wrong)[0])
    things = "places" if case.dtypes[1] == "bool" else "numbers"
    count = f"every {things[:-1]} differs" if wrong.all() else f"{wrong.sum()} of {wrong.size} {things} differ"
    values = f": expected {number(case.expected[index], case)}, yours {number(case.yours[index], case)}"
    where = f"{count} and no known pattern fits; first at {place_of(case, index)}"
    return Finding(kind, difference.kind, _fitting(_subject(difference), where, values if evidence else ""))


def _fitting(subject: str, phrase: str, more: str = "") -> str:
    """Return a sentence with all of it, or with as much as has room."""
    more = more if not more or more.startswith(":") else f"; {more}"
    for text in (f"{subject}: {phrase}{more}.", f"{subject}: {phrase}."):
        if len(text) <= LONGEST:
            return as_sentence(text, subject)
    short = phrase.split("; ")[0]
    return as_sentence(f"{subject}: {short}.", subject)


def _join(*texts: str | None) -> str:
    return " ".join(filter(None, texts))


def of_misconception(entry: Misconception, seen: Finding | None, survey: Survey | None = None) -> Finding:
    """Return the finding that names a misconception; what was seen of its structure or device stands below.

    A name that begins with one of the file's functions, as the survey knows them, keeps its small first letter.
    """
    structure = seen is not None and seen.kind in _BESIDE_A_NAME
    below = f"\n{_firstas_sentence(seen.message)}" if structure and seen is not None else ""
    detail = entry.explanation + below
    place, evidence = (seen.place, seen.evidence) if seen is not None else (None, None)
    functions = {part for name in (survey.places if survey else ()) for part in name.split(".")}
    first = entry.name.split(" ", 1)[0]
    message = as_sentence(f"{entry.name}.", first if first in functions else "")
    return Finding("misconception", entry.id, message, entry.name, detail, place, evidence=evidence)


def _firstas_sentence(text: str) -> str:
    first, separator, _ = text.partition(". ")
    return f"{first}." if separator else text


def of_first_mistake(entry: Misconception, seen: Finding) -> Finding:
    """Return the finding of a misconception that does not explain everything: of several mistakes it is the first."""
    detail = f"{entry.explanation}\nThat is not all: something after it is not as expected either."
    message = as_sentence(f"{entry.name}.")
    return Finding("misconception", entry.id, message, name=entry.name, detail=detail, place=seen.place)


def of_forbidden(name: str, place: Place | None) -> Finding:
    """Return the finding of a call that would skip the exercise."""
    message = f"This exercise asks to write it yourself: {name} must not be used here."
    return Finding("forbidden", name, as_sentence(message), place=place)


def of_requirement(required: Sequence[Check]) -> Finding:
    """Return the finding of a check that passes and does not count before one of those that it requires passes."""
    names = [f"`{each.id}`" for each in required]
    which = names[0] if len(names) == 1 else f"one of {', '.join(names[:-1])} or {names[-1]}"
    titles = "\n".join(f"`{each.id}`: {each.title}" for each in required)
    return Finding("structure", "waits", as_sentence(f"This counts as soon as {which} passes."), detail=titles)


def where(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return where the checked value leaves the student's code: its one return, else nothing."""
    lines = survey.places.get(check.of or "", ()) if survey else ()
    return Place(file, lines[1], _function(survey, check)) if survey and len(lines) == 2 else None


def definition(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return where the checked class or function is made: its `__init__`, else its own first line."""
    if survey is None or check.of is None:
        return None
    lines = survey.places.get(f"{check.of}.__init__") or survey.places.get(check.of)
    return (
        Place(file, lines[0], f"{check.of}.__init__" if f"{check.of}.__init__" in survey.places else check.of)
        if lines
        else None
    )


def _function(survey: Survey, check: Check) -> str:
    """Return the name of the function a check's value comes from: of a class, its `forward`."""
    return f"{check.of}.forward" if f"{check.of}.forward" in survey.places else str(check.of)


def excerpt(source: bytes, place: Place) -> tuple[tuple[int, str], ...]:
    """Return the lines around a place."""
    lines = lines_of(source)
    first, last = max(1, place.line - CONTEXT), min(len(lines), place.line + CONTEXT)
    return tuple((number, lines[number - 1][:200]) for number in range(first, last + 1))


def with_place(finding: Finding, place: Place | None) -> Finding:
    """Return the finding at that place."""
    return replace(finding, place=place)


def with_source(finding: Finding, source: bytes) -> Finding:
    """Return the finding with the lines around its place."""
    return replace(finding, source=excerpt(source, finding.place)) if finding.place else finding


def _subject(difference: Difference) -> str:
    """Return what a message calls the part that differs."""
    return "Your result" if difference.name in ("", "result") else difference.name


_CODE = re.compile(r"[_.()\[\]=\d]")


def as_sentence(text: str, subject: str = "") -> str:
    """Return a text as a sentence of bounded length; a part's name, and what looks like code, keeps its letters."""
    text = " ".join(text.replace("?.", "?").replace("..", ".").split())
    first = text.split(" ", 1)[0].rstrip(".:,?")
    if not (subject and text.startswith(subject)) and not _CODE.search(first):
        text = text[:1].upper() + text[1:]
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
