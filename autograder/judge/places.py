"""Places that the syntax of a file gives: where a checked value is returned, and where its part is defined.

A call that should raise and does not has the definition of what was called, and so has a function without a return.
"""

import re
from collections.abc import Sequence

from autograder.checks import Check, Raises
from autograder.results import Place
from autograder.runner.outcomes import Fault, Observed, Outcome, Survey


def place_of(
    survey: Survey | None, check: Check, file: str, outcomes: Sequence[Outcome], *, is_named: bool
) -> Place | None:
    """Return where the checked value is returned, what should raise is defined, or the part that it lacks is made.

    A known mistake has a place of its own, so the return is none for it.
    """
    if all(isinstance(outcome, Observed) for outcome in outcomes):
        if isinstance(check.judge, Raises):
            return missing_exception(survey, check, file, outcomes)
        return None if is_named else return_line(survey, check, file)
    faults = [outcome for outcome in outcomes if isinstance(outcome, Fault)]
    refused = next((fault for fault in faults if fault.kind == "structure"), None)
    if refused is not None:
        return definition(survey, check, file, refused.message)
    misused = any(not fault.frames and "NoneType" in fault.message for fault in faults)
    return without_return(survey, check, file) if misused else None


def return_line(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return where the checked value leaves the student's code: its one return; None where there are several.

    A function without one has its definition.
    """
    if survey is None or check.of is None:
        return None
    lines = survey.places.get(check.of, ())
    function = _function(survey, check.of)
    return Place(file, lines[1], function) if len(lines) == 2 else without_return(survey, check, file)


def without_return(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return the definition of a checked function that has no return."""
    if survey is None or check.of is None:
        return None
    function = _function(survey, check.of)
    lines = survey.places.get(function, ())
    return Place(file, lines[0], function) if len(lines) == 1 else None


def missing_exception(survey: Survey | None, check: Check, file: str, outcomes: Sequence[Outcome]) -> Place | None:
    """Return the definition of what should raise and did not: a function, or the constructor of a class.

    None where something was raised, and where that function is in another file.
    """
    said = [_unraised(outcome) for outcome in outcomes]
    if survey is None or check.of is None or None in said:
        return None
    is_made = said[0] == f"returned {check.of}"
    function = f"{check.of}.__init__" if is_made else _function(survey, check.of)
    lines = survey.places.get(function)
    return Place(file, lines[0], function) if lines else None


def _function(survey: Survey, part: str) -> str:
    """Return the function that runs where a part is called: of a module its `forward`."""
    forward = f"{part}.forward"
    return forward if forward in survey.places else part


def _unraised(outcome: Outcome) -> str | None:
    """Return what a call did in which nothing was raised: "returned Tensor", for example."""
    value = outcome.value if isinstance(outcome, Observed) else None
    if isinstance(value, dict) and value.get("raised") == [] and isinstance(value.get("message"), str):
        return str(value["message"])
    return None


def definition(survey: Survey | None, check: Check, file: str, refusal: str) -> Place | None:
    """Return where the part is made that a check refuses: its assignment, else the `__init__` that does not make it.

    None where the part is made in several places, or inside another one, whose class may be to blame.
    """
    other = _DEFINED.search(refusal)
    if survey is not None and other is not None:
        return _defined(survey, other[1], file)
    owner = _owner(survey, check, refusal) if survey is not None else None
    if survey is None or owner is None:
        return None
    init = f"{owner}.__init__"
    sentence = refusal.split(". ")[0]
    for parameter in filter(None, (_PARAMETER.search(sentence), _RENAMED.search(sentence))):
        lines = [line for of, name, line in survey.assignments if (of, name) == (owner, f"self.{parameter[1]}")]
        if lines:
            return Place(file, lines[0], init) if len(lines) == 1 and parameter[2] != "0" else None
    lines_of = survey.places.get(init) or survey.places.get(owner)
    return Place(file, lines_of[0], init if init in survey.places else owner) if lines_of else None


def _defined(survey: Survey, name: str, file: str) -> Place | None:
    """Return the first line of a function; None for a class, of which only the lines of its methods are known."""
    is_class = any(place.startswith(f"{name}.") for place in survey.places)
    lines = () if is_class else survey.places.get(name, ())
    return Place(file, lines[0], name) if lines else None


def misplaced(survey: Survey | None, place: Place, tensor: str | None) -> Place:
    """Return where the tensor on the wrong device is assigned, if that is one line of the function that failed."""
    if survey is None or tensor is None or place.function is None:
        return place
    owner = place.function.split(".")[0] if tensor.startswith("self.") else place.function
    lines = [line for of, name, line in survey.assignments if (of, name) == (owner, tensor)]
    return Place(place.file, lines[0], place.function) if len(lines) == 1 else place


def _owner(survey: Survey, check: Check, refusal: str) -> str | None:
    """Return the class that the sentence begins with, else the part that is checked; None if it is in another file."""
    named = _CLASS.match(refusal)
    if named is None or named[0] == check.of:
        return check.of
    return named[0] if f"{named[0]}.__init__" in survey.places else None


_CLASS = re.compile(r"[A-Z]\w*\b")
_PARAMETER = re.compile(r"\bparameter (\w+)(?:\.(\d+))?")
"""The part that the sentence on a wrong parameter names, and its number if it is one of a list.

If the first one is wrong, the fault may be in its class. If only a later one is wrong, it is in the list.
"""
_DEFINED = re.compile(r"; it defines (\w+): rename it")
_RENAMED = re.compile(r"; found (\w+)(?:\.(\d+))?.*: rename it")
"""The class or function, and the part, that may be the wanted one by another name."""
