"""Causes of an exception that the code shows: an attribute that no line sets, a missing import, a missing `return`."""

import re
from collections.abc import Collection

from autograder.checks.structure import NEAR, nearest
from autograder.messages.exceptions import Cause
from autograder.messages.imports import import_of
from autograder.messages.library_errors import attribute_lacked, is_about_none, miscounted, name_unknown
from autograder.protocol.source_text import lines_of
from autograder.results import Place
from autograder.runner.outcomes import Fault, Survey


def cause_of(
    fault: Fault, place: Place | None, file: str, source: bytes, survey: Survey | None, libraries: Collection[str] = ()
) -> Cause | None:
    """Return the cause of an exception at a place in the exercise's own file; None if its code does not show one.

    `libraries` are those that programs of the course use.
    """
    if place is None or place.file != file:
        return None
    unknown = name_unknown(fault.message)
    lacks_self = _lacks_self(unknown, place, survey) if unknown is not None and survey is not None else None
    if unknown is not None:
        lines = lines_of(source)
        line = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
        missing = import_of(unknown, line, libraries)
        return lacks_self or (Cause("not_imported", unknown, missing) if missing is not None else None)
    if survey is None:
        return None
    if is_about_none(fault.message):
        return _returns_nothing(place, source, survey)
    if (without := self_not_taken(fault.message, source, survey)) is not None:
        return without[0]
    lacked = attribute_lacked(fault.message)
    return _is_unset(*lacked, source, survey) if lacked is not None else None


def self_not_taken(message: str, source: bytes, survey: Survey) -> tuple[Cause, int] | None:
    """Return that a method which gets an argument too many has no `self`, and the line of its definition.

    A file without any `self` has another name for it.
    """
    method = miscounted(message)
    line = next((function.line for function in survey.functions if function.name == method), None)
    lines = lines_of(source)
    if method is None or line is None or not 0 < line <= len(lines):
        return None
    name = method.rpartition(".")[2]
    text = " ".join(lines[line - 1 : line + 1])  # the first parameter may be on the next line
    first = re.match(rf"\s*def\s+{re.escape(name)}\s*\(\s*(\w*)\s*[,):=]", text)
    is_static = line > 1 and lines[line - 2].lstrip().startswith("@")
    if first is None or is_static or first[1] in ("self", "cls") or not re.search(rb"\bself\b", source):
        return None
    return Cause("self_not_taken", name), line


def set_without_self(owner: str, name: str, survey: Survey) -> int | None:
    """Return the line on which `__init__` of a class gives a value to a variable of this name, where it is one line."""
    lines = [line for of, variable, line in survey.assignments if (of, variable) == (f"{owner}.__init__", name)]
    return lines[0] if len(lines) == 1 else None


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
    if set_without_self(owner, name, survey) is not None:
        return Cause("set_without_self", name)
    near = nearest(name, own, NEAR)
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
    # A call that is a whole line is made for what it does: nothing reads its result.
    read = [
        re.compile(rf"^(?!\s*(?:self\.)?{re.escape(name)}\([^()]*\)\s*(?:#|$)).*\b{re.escape(name)}\(", re.M)
        for name in sorted(silent)
    ]
    called = [name for name, pattern in zip(sorted(silent), read, strict=True) if pattern.search(text)]
    return Cause("returns_nothing", called[0]) if len(called) == 1 else None
