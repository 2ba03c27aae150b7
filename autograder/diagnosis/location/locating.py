"""Where a mistake is: the statement a misconception is known by, else the first line that goes astray."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from autograder.answer_key.model import Misconception
from autograder.diagnosis.exceptions import in_characters
from autograder.diagnosis.location.deadline import Deadline
from autograder.diagnosis.location.divergence import Astray, find_astray
from autograder.diagnosis.location.matching import State, Where
from autograder.results import Finding, Place
from autograder.runner.outcomes import Survey
from autograder.runner.traces import Trace

UNEXPLAINED = ("value", "special", "other")
"""The ids of findings that say only that something differs."""

SAID = {
    State.UNKNOWN: "the first value that is not the expected one",
    State.RESHAPED: "the right numbers, in another shape",
    State.MOVED: "the right numbers, in other places",
    State.UNFINISHED: "agrees so far, but a step is missing here",
    State.WRITTEN: "writes into what it was given",
    State.MISUSED: "what another line has already computed",
    State.CUT: "no gradient passes from here on",
}


def by_statement(entry: Misconception, survey: Survey | None, file: str) -> Place | None:
    """Return the one statement of a file that a misconception is made of; None where there is none, or several."""
    lines = [line for hash_, line in (survey.statements if survey else ()) if hash_ in entry.marks]
    each_once = len(lines) <= len(entry.marks) and lines
    return Place(file, min(lines)) if each_once else None


def by_value(trace: Trace, reference: Trace, file: str, trusted: Collection[str], deadline: Deadline) -> Astray | None:
    """Return the first step that goes astray, with its place in the exercise's own file.

    `trusted` are the functions and classes whose own checks pass: what goes wrong in them was handed to them. Raises
    `OutOfTime`.
    """
    return find_astray(trace, reference, in_file(file, trusted), deadline)


def in_file(file: str, trusted: Collection[str]) -> Where:
    """Return what chooses, of the places in the student's frames, the nearest in a file that is not trusted."""

    def choose(stack: Sequence[Place]) -> Place | None:
        own = [each for each in stack if each.file == file]
        doubted = [each for each in own if (each.function or "").split(".")[0] not in trusted]
        return next(iter(doubted or own[-1:]), None)

    return choose


def trusted_parts(failed: str | None, passing: Iterable[str | None], failing: Iterable[str | None]) -> frozenset[str]:
    """Return the parts of an exercise that pass every check of their own, save the one a failed check is about."""
    return frozenset({each for each in passing if each} - {each for each in failing if each} - {failed or ""})


def made_at(astray: Astray, survey: Survey | None) -> Place | None:
    """Return where the plain number is made by which a value is wrong, if it has a name that is given once.

    A value that is wrong by the number itself, its square or its root is made with the right number in a wrong way.
    """
    if astray.number is None or astray.factor is None or astray.state is not State.UNKNOWN or survey is None:
        return None
    name, number = astray.number
    if any(abs(abs(astray.factor) - each) < 1e-3 * each for each in _powers(abs(number))):
        return None
    function = astray.place.function or ""
    owner = function.split(".")[0] if name.startswith("self.") else function
    lines = [line for of, variable, line in survey.assignments if (of, variable) == (owner, name)]
    return Place(astray.place.file, lines[0]) if len(lines) == 1 and lines[0] != astray.place.line else None


def _powers(number: float) -> tuple[float, ...]:
    return tuple(number**power for power in (0.5, 1, 2, -0.5, -1, -2)) if 1e-6 < number < 1e6 else ()


def located(
    finding: Finding, known: Place | None, astray: Astray | None, source: bytes, functions: Mapping[int, str]
) -> Finding:
    """Return a finding with the best place there is for it: the statement that is known, else the one astray."""
    if known is not None:
        known = replace(known, function=functions.get(known.line))
        same = astray is not None and astray.place.line == known.line
        if astray is None or not same:
            return replace(finding, place=known, label=None, agrees=(), certain=True)
    if astray is None:
        return finding
    place = in_characters(astray.place, source)
    before = finding.place
    if finding.kind == "exception" and before is not None and (before.file, before.line) != (place.file, place.line):
        finding = replace(finding, message=f"{finding.message.removesuffix('.')}, in line {before.line}.")
    told = replace(finding, place=place, label=said(astray), agrees=astray.agreeing, certain=astray.certain)
    if told.kind == "pattern" and told.id in UNEXPLAINED and astray.certain:
        return replace(told, kind="place", id=astray.state.value, message=_message(astray), detail=_beside(finding))
    return told


def _message(astray: Astray) -> str:
    """Return what is known of a mistake where nothing but its line is."""
    line = f"line {astray.place.line}"
    if astray.state in (State.UNKNOWN, State.UNFINISHED) and astray.factor is not None:
        return f"What {line} computes is {said(astray)}."
    if astray.state is State.UNKNOWN and astray.agreeing:
        return f"Up to {line} your values are the expected ones; what {line} computes is not."
    sentences = {
        State.UNKNOWN: f"What {line} computes is the first value that is not the expected one.",
        State.UNFINISHED: f"Up to {line} your values are the expected ones, but a step is missing there.",
        State.CUT: f"No gradient passes {line}: is something detached there, or made a plain number?",
    }
    return sentences.get(astray.state, f"Line {astray.place.line}: {said(astray)}.")


def said(astray: Astray) -> str:
    """Return in a few words what is wrong with the value of a step."""
    if astray.state in (State.UNKNOWN, State.UNFINISHED) and astray.factor is not None:
        return f"{astray.factor:.4g} × the expected value" + (f"; that is {astray.constant}" if astray.constant else "")
    return SAID[astray.state]


def _beside(finding: Finding) -> str:
    return f"{finding.message}\n{finding.detail}" if finding.detail else finding.message
