"""Places that the syntax of a file gives: where a checked value is returned, and where its part is defined.

A call that should raise and does not has the definition of what was called, and so has a function without a return.
One that raises something else has the `raise` statement.
"""

import re
from collections.abc import Sequence

from autograder.checks import Check, Raises
from autograder.protocol import Refusal, lines_of
from autograder.results import Place
from autograder.runner import Fault, Observed, Outcome, Survey, found_in


def place_of(
    survey: Survey | None, check: Check, file: str, outcomes: Sequence[Outcome], source: bytes, *, is_named: bool
) -> Place | None:
    """Return where the checked value is returned, what should raise is defined, or the part that it lacks is made.

    A known mistake has a place of its own, so the return is none for it. `source` is the text of the file.
    """
    if all(isinstance(outcome, Observed) for outcome in outcomes):
        if isinstance(check.judge, Raises):
            missing = missing_exception(survey, check, file, outcomes)
            return missing or raise_statement(survey, check, file, outcomes, source)
        return None if is_named else return_line(survey, check, file)
    faults = [outcome for outcome in outcomes if isinstance(outcome, Fault)]
    refused = next((fault for fault in faults if fault.kind == "structure"), None)
    if refused is not None:
        return definition(survey, check, file, refused.refusal)
    misused = [fault.message for fault in faults if not fault.frames and not fault.at_import]
    if any(found_in(message, "NoneType") for message in misused):
        return without_return(survey, check, file)
    is_returned = any(found_in(message, "count") or found_in(message, "attribute") for message in misused)
    return return_line(survey, check, file) if is_returned else None


def return_line(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return where the checked value leaves the student's code: its one return; None where there are several.

    A function without one has its definition.
    """
    if survey is None or check.of is None:
        return None
    lines = survey.places.get(check.of, ())
    function = _function(survey, check.of)
    return Place(file, lines[1], function) if len(lines) == 2 else without_return(survey, check, file)


def definition_of(survey: Survey | None, check: Check, file: str) -> Place | None:
    """Return the definition of a checked function; of a class that of its `forward`."""
    lines = survey.places.get(check.of or "", ()) if survey is not None else ()
    return Place(file, lines[0], _function(survey, check.of)) if survey and check.of and lines else None


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
    returned = [_returned(outcome) for outcome in outcomes]
    if survey is None or check.of is None or None in returned:
        return None
    is_made = returned[0] == check.of
    function = f"{check.of}.__init__" if is_made else _function(survey, check.of)
    lines = survey.places.get(function)
    return Place(file, lines[0], function) if lines else None


def raise_statement(
    survey: Survey | None, check: Check, file: str, outcomes: Sequence[Outcome], source: bytes
) -> Place | None:
    """Return the line that raised an exception which a check refuses; None where several lines may have raised it.

    An observation has no line, so it is the one that raises this type with words that the message has. A library may
    raise such a type too: then the words differ.
    """
    raised = [_raised(outcome) for outcome in outcomes]
    first = raised[0] if raised else None
    if survey is None or first is None or any(other is None or other[0] != first[0] for other in raised):
        return None
    type_, message = first
    statements = {line: texts for line, texts in _statements(source, type_).items() if survey.runs(line)}
    found = [at for at, texts in statements.items() if _has(message, texts) and (texts or len(statements) == 1)]
    owner = (check.of or "").split(".")[0]
    within = [at for at in found if (function_at(survey, at) or "").split(".")[0] == owner]
    lines_left = within if len(found) > 1 else found
    return Place(file, lines_left[0], function_at(survey, lines_left[0])) if len(lines_left) == 1 else None


def _raised(outcome: Outcome) -> tuple[str, str] | None:
    """Return the type and the message of the exception that a check observed; None if nothing was raised."""
    value = outcome.value if isinstance(outcome, Observed) else None
    match value:
        case {"raised": [str(type_), *_], "message": str(message)}:
            return type_, message
    return None


def _statements(source: bytes, type_: str) -> dict[int, list[str]]:
    """Return the lines that raise an exception of this type, each with the texts in its argument."""
    lines = lines_of(source)
    begun = re.compile(rf"\s*(?:if .*:\s*|else:\s*)?raise {re.escape(type_)}\b")
    found = {}
    for at, line in enumerate(lines):
        if match := begun.match(line):
            argument = line[match.end() :]
            for more in lines[at + 1 : at + MOST_LINES]:
                if argument.count("(") <= argument.count(")"):
                    break
                argument += more
            found[at + 1] = [text[2] for text in _QUOTED.finditer(argument)]
    return found


def _has(message: str, texts: Sequence[str]) -> bool:
    """Whether a message has all the words of some texts."""
    return all(part.strip() in message for text in texts for part in _FIELD.split(text))


MOST_LINES = 6
"""Lines of a `raise` that are read: its argument is seldom longer."""

_QUOTED = re.compile(r"""(["'])(.*?)\1""")
_FIELD = re.compile(r"\{[^}]*\}|\\.")
"""A text in quotes, and what stands in it for something else: a field of an f-string, or an escaped character."""


def _function(survey: Survey, part: str) -> str:
    """Return the function that runs where a part is called: of a module its `forward`."""
    forward = f"{part}.forward"
    return forward if forward in survey.places else part


def _returned(outcome: Outcome) -> str | None:
    """Return the type of what a call returned in which nothing was raised."""
    value = outcome.value if isinstance(outcome, Observed) else None
    match value:
        case {"raised": [], "returned": str(type_)}:
            return type_
    return None


def definition(survey: Survey | None, check: Check, file: str, refusal: Refusal) -> Place | None:
    """Return where the part is made that a check refuses: its assignment, else the `__init__` that does not make it.

    None where the part is made in several places, or inside another one, whose class may be to blame. If the first part
    of a list is wrong, the fault may be in its class; if only a later one is, it is in the list.
    """
    near, lacks = refusal.near, refusal.lacks
    if survey is not None and near and lacks != "parameter":
        names = {near, f"{refusal.owner}.{near}"}  # a function or class, or a method
        lines = [function.line for function in survey.functions if function.name in names]
        if lines:  # a class is no function, and an attribute is neither
            return Place(file, lines[0], near)
        if lacks == "definition":
            return None
    owner = _owner(survey, check, refusal) if survey is not None else None
    if survey is None or owner is None or lacks == "method":  # of a missing method no line is wrong
        return None
    init = f"{owner}.__init__"
    for name in (refusal.name, near) if lacks in ("parameter", "shape") else ():
        part, *inside = name.split(".")
        lines = [line for of, own, line in survey.assignments if (of, own) == (owner, f"self.{part}")]
        if lines:
            return Place(file, lines[0], init) if len(lines) == 1 and inside[:1] != ["0"] else None
    lines_of = survey.places.get(init) or survey.places.get(owner)
    return Place(file, lines_of[0], init if init in survey.places else owner) if lines_of else None


def function_at(survey: Survey | None, line: int) -> str | None:
    """Return the function or method that a line belongs to; None outside of all."""
    functions = survey.functions if survey is not None else ()
    return next((function.name for function in functions if function.line <= line <= function.end), None)


def misplaced(survey: Survey | None, place: Place, tensor: str | None) -> Place:
    """Return where the tensor on the wrong device is assigned, if that is one line of the function that failed."""
    if survey is None or tensor is None or place.function is None:
        return place
    owner = place.function.split(".")[0] if tensor.startswith("self.") else place.function
    lines = [line for of, name, line in survey.assignments if (of, name) == (owner, tensor)]
    return Place(place.file, lines[0], place.function) if len(lines) == 1 else place


def _owner(survey: Survey, check: Check, refusal: Refusal) -> str | None:
    """Return the class that a refusal is about, else the part that is checked; None if it is in another file."""
    if refusal.lacks in ("", "definition") or refusal.owner == check.of:
        return check.of
    return refusal.owner if f"{refusal.owner}.__init__" in survey.places else None
