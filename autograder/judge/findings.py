"""Why a check failed, as a finding: the misconception it equals, else what differs and how."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from autograder.checks import Check
from autograder.judge.answers import BankEntry
from autograder.judge.compare import Difference
from autograder.judge.outcomes import Died, Fault, Survey
from autograder.judge.patterns import Pattern, recognise
from autograder.report import Evidence, Finding, Place
from autograder.report.model import FindingKind

LONGEST = 160
CONTEXT = 2


def of_difference(
    check: Check, difference: Difference, other: Difference | None, sizes: tuple[Mapping[str, int], Mapping[str, int]]
) -> Finding:
    """Return the finding of a wrong observation; a pattern is told only if the second draw shows it too."""
    first = _pattern(difference, sizes[0])
    second = _pattern(other, sizes[1]) if other is not None else None
    confirmed = first if first and (check.draws == 1 or (second is not None and second.id == first.id)) else None
    if confirmed is not None:
        message = f"{_subject(difference)}: {confirmed.phrase}."
        return Finding("pattern", confirmed.id, _sentence(message, difference.name))
    kinds: dict[str, FindingKind] = {"dtype": "dtype", "device": "device", "type": "structure", "shape": "structure"}
    return Finding(
        kinds.get(difference.kind, "pattern"), difference.kind, _sentence(f"{difference.sentence}.", difference.name)
    )


def _pattern(difference: Difference | None, sizes: Mapping[str, int]) -> Pattern | None:
    if difference is None or difference.kind != "value" or difference.yours is None or difference.expected is None:
        return None
    return recognise(difference.yours, difference.expected, sizes)


def of_misconception(entry: BankEntry, seen: Finding | None) -> Finding:
    """Return the finding that names a misconception; what was seen of its structure stands below."""
    structure = f"\n{seen.message}" if seen is not None and seen.kind == "structure" else ""
    detail = entry.explanation + structure
    place = seen.place if seen is not None else None
    return Finding("misconception", entry.id, _sentence(f"{entry.name}."), name=entry.name, detail=detail, place=place)


def of_first_mistake(entry: BankEntry, seen: Finding) -> Finding:
    """Return the finding of a misconception that does not explain everything: of several mistakes it is the first."""
    detail = f"{entry.explanation}\nThat is not all: something after it is not as expected either."
    message = _sentence(f"{entry.name}.")
    return Finding("misconception", entry.id, message, name=entry.name, detail=detail, place=seen.place)


def of_fault(fault: Fault) -> Finding:
    """Return the finding of an exception: the learner's own last line first, the library's words below it."""
    place = fault.frames[-1] if fault.frames else None
    if fault.kind == "structure":
        return Finding("structure", "structure", _sentence(f"{fault.message}."), place=place)
    if fault.kind == "device":
        what = f"{fault.tensor} stays on the CPU" if fault.tensor else "A tensor stays on the CPU"
        message = f"{what} while the others are on another device: make it, or keep it, where they are."
        return Finding("device", "device", _sentence(message, fault.tensor or ""), detail=fault.message, place=place)
    if not fault.frames and not fault.at_import:
        return _of_misfit(fault)
    if "SyntaxError" in fault.bases and place:
        message = f"Python cannot read {place.file}: {fault.message}."
        return Finding("exception", fault.type, _sentence(message), place=place)
    if fault.type == "SystemExit":
        return Finding("exception", fault.type, "Your code calls exit() instead of returning.", place=place)
    when = "while it was imported" if fault.at_import else f"in {place.function}()" if place and place.function else ""
    rows = tuple((name, "", value) for name, value in fault.values)
    evidence = Evidence("the tensors in that line's function", rows=rows) if rows else None
    message = _sentence(f"Your code raised {fault.type} {when}.")
    return Finding("exception", fault.type, message, detail=fault.message, place=place, evidence=evidence)


def _of_misfit(fault: Fault) -> Finding:
    """Return the finding of an exception outside the student's code: the check could not use what it got."""
    if "NoneType" in fault.message:
        message = "Your code returned None where a value was expected: is a return missing?"
        return Finding("structure", "none", message, detail=fault.message)
    if fault.type == "TypeError":
        message = "Your code cannot be called as the contract says: compare its parameters with the stub's."
        return Finding("structure", "signature", message, detail=fault.message)
    message = f"What your code returned cannot be used ({fault.type}): is it of the kind the contract says?"
    return Finding("exception", fault.type, _sentence(message), detail=fault.message)


def of_death(died: Died) -> Finding:
    """Return the finding of a worker that ended."""
    return Finding("exception", died.status, _sentence(died.sentence), place=died.place)


def of_forbidden(name: str, place: Place | None) -> Finding:
    """Return the finding of a call that would skip the exercise."""
    message = f"This exercise asks to write it yourself: {name} must not be used here."
    return Finding("forbidden", name, _sentence(message), place=place)


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
    lines = source.decode("utf-8", "replace").splitlines()
    first, last = max(1, place.line - CONTEXT), min(len(lines), place.line + CONTEXT)
    return tuple((number, lines[number - 1][:200]) for number in range(first, last + 1))


def with_place(finding: Finding, place: Place | None) -> Finding:
    """Return the finding at that place."""
    return replace(finding, place=place)


def with_source(finding: Finding, source: bytes) -> Finding:
    """Return the finding with the lines around its place."""
    return replace(finding, source=excerpt(source, finding.place)) if finding.place else finding


def with_evidence(finding: Finding, difference: Difference | None) -> Finding:
    """Return the finding with the numbers behind it."""
    return replace(finding, evidence=evidence(difference)) if difference else finding


def evidence(difference: Difference) -> Evidence | None:
    """Return the numbers behind a difference, already formatted."""
    yours, expected = difference.yours, difference.expected
    if yours is None or expected is None:
        return None
    rows = [("shape", str(expected.shape), str(yours.shape))]
    for label, measure in (("min", np.min), ("mean", np.mean), ("max", np.max), ("std", np.std)):
        rows.append((label, _number(_measure(measure, expected)), _number(_measure(measure, yours))))
    return Evidence(difference.name or "result", tuple(rows), _witnesses(yours, expected))


def _measure(measure: object, array: np.ndarray) -> float:
    finite = array[np.isfinite(array)]
    return float(measure(finite)) if finite.size else math.nan  # type: ignore[operator]


def _witnesses(yours: np.ndarray, expected: np.ndarray) -> tuple[tuple[str, str, str], ...]:
    if yours.shape != expected.shape or yours.ndim == 0:
        return ()
    with np.errstate(invalid="ignore"):
        gap = np.where(np.isfinite(yours), np.abs(yours - expected), np.inf)
    largest = np.argsort(-gap, axis=None, kind="stable")[:3]
    places = [np.unravel_index(int(flat), yours.shape) for flat in largest]
    return tuple(
        (", ".join(str(int(each)) for each in place), _number(float(expected[place])), _number(float(yours[place])))
        for place in places
        if gap[place] > 0
    )


def _number(value: float) -> str:
    return f"{value:.4g}"


def _subject(difference: Difference) -> str:
    return difference.name or "the result"


def _sentence(text: str, subject: str = "") -> str:
    """Return a text as a sentence of bounded length; the name of a part or a file keeps its small first letter."""
    text = " ".join(text.replace("?.", "?").replace("..", ".").split())
    first = text.split(" ", 1)[0]
    if not (subject and text.startswith(subject)) and not first.endswith(".py"):
        text = text[:1].upper() + text[1:]
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
