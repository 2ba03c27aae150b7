"""Causes of an exception that the code shows: an attribute that no line sets, a function that returns nothing."""

import re

from autograder.checks.structure import nearest
from autograder.messages.exceptions import Cause
from autograder.messages.library_errors import attribute_lacked, is_about_none, name_unknown
from autograder.protocol.source_text import lines_of
from autograder.results import Place
from autograder.runner.outcomes import Fault, Survey


def cause_of(fault: Fault, place: Place | None, file: str, source: bytes, survey: Survey | None) -> Cause | None:
    """Return the cause of an exception at a place in the exercise's own file; None if its code does not show one."""
    if survey is None or place is None or place.file != file:
        return None
    if is_about_none(fault.message):
        return _returns_nothing(place, source, survey)
    if (unknown := name_unknown(fault.message)) is not None:
        return _lacks_self(unknown, place, survey)
    lacked = attribute_lacked(fault.message)
    return _is_unset(*lacked, source, survey) if lacked is not None else None


def _is_unset(owner: str, name: str, source: bytes, survey: Survey) -> Cause | None:
    """Return that no line of a class sets an attribute; None if some line may, or if the class is not the learner's."""
    own = [attribute.removeprefix("self.") for of, attribute, _ in survey.assignments if of == owner]
    methods = [function.name for function in survey.functions if function.name.startswith(f"{owner}.")]
    # A name in quotes may be a buffer, a parameter or a module that a call registers.
    if (
        not methods
        or name in own
        or f"{owner}.{name}" in methods
        or re.search(rb"[\"']%b[\"']" % name.encode(), source)
    ):
        return None
    near = nearest(name, own)
    if near is not None:
        return Cause("misspelt_attribute", name, near)
    return Cause("unset_attribute", name, owner)


def _lacks_self(name: str, place: Place, survey: Survey) -> Cause | None:
    """Return that a method names an attribute or a method of its own class without `self.`."""
    owner, _, method = (place.function or "").rpartition(".")
    has_attribute = any(of == owner and attribute == f"self.{name}" for of, attribute, _ in survey.assignments)
    has_method = any(function.name == f"{owner}.{name}" for function in survey.functions)
    return Cause("without_self", name) if owner and method and (has_attribute or has_method) else None


def _returns_nothing(place: Place, source: bytes, survey: Survey) -> Cause | None:
    """Return which function of the file, called where it was raised, has no `return`; None if that may be several."""
    around = next((one for one in survey.functions if one.line <= place.line <= one.end), None)
    if around is None:
        return None
    text = "\n".join(lines_of(source)[around.line : around.end])  # without its own definition
    silent = {
        function.name.rpartition(".")[2]
        for function in survey.functions
        if len(survey.places.get(function.name, ())) == 1 and not function.name.endswith("__") and function != around
    }
    called = [name for name in sorted(silent) if re.search(rf"\b{re.escape(name)}\(", text)]
    return Cause("returns_nothing", called[0]) if len(called) == 1 else None
