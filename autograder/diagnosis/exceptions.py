"""Diagnoses what did not end with an observation: an exception, or a worker process that ended."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import overload

from autograder.diagnosis.causes import cause_of, self_not_taken, set_without_self
from autograder.diagnosis.diagnosis import Diagnosis
from autograder.messages import exceptions as facts
from autograder.messages.library_errors import (
    attribute_lacked,
    part_lacked,
    reason,
    values_expected,
    without_file,
    without_suggestion,
)
from autograder.messages.locations import Line
from autograder.messages.statuses import WorkerEnded
from autograder.protocol.source_text import lines_of
from autograder.results import Evidence, Place
from autograder.runner.outcomes import Fault, Survey, WorkerFailure


def of_fault(
    fault: Fault, file: str, source: bytes, survey: Survey | None = None, libraries: Collection[str] = ()
) -> Diagnosis:
    """Diagnose an exception: the last line of the learner's that ran, and the library's own words.

    The line is of the exercise's own file, if any of its functions was running. `survey` is that of this file, and
    `libraries` are those that programs of the course use.
    """
    deepest = fault.frames[-1] if fault.frames else None
    place = next((frame for frame in reversed(fault.frames) if frame.file == file), deepest)
    place = in_characters(place, source) if place is not None and place.file == file else _whole_line(place)
    if fault.kind == "structure":
        first, *more = fault.message.split(". ")  # the worker sends its sentences as one text
        return _of_structure(first, more, place, file, survey)
    if fault.kind == "device":
        return Diagnosis("device", facts.DevicesMixed(fault.tensor), quoted=fault.message, place=place)
    if not fault.frames and not fault.at_import:
        return _of_misfit(fault, file, source, survey)
    if "SyntaxError" in fault.bases and place:
        fact = facts.SyntaxInvalid(fault.type, place.file, _with_lines(fault.message + _dotted_import(place, source)))
        return Diagnosis("exception", fact, place=place)
    if fault.type == "SystemExit":
        return Diagnosis("exception", facts.ExitCalled(fault.at_import), place=place)
    rows = tuple((name, "", value) for of, name, value in fault.values if place is not None and of == place.file)
    title = facts.TENSORS if all(value.startswith("(") for _, _, value in rows) else facts.VALUES  # a shape and a dtype
    evidence = Evidence(title, rows=rows) if rows else None
    raised = _raised(fault, deepest, place)
    quoted = without_file(fault.message)
    if (cause := cause_of(fault, deepest, file, source, survey, libraries)) is not None:
        raised, quoted = replace(raised, cause=cause), without_suggestion(quoted)  # the cause says what to write
    return Diagnosis("exception", raised, quoted=quoted, place=place, evidence=evidence)


def _of_structure(first: str, more: list[str], place: Place | None, file: str, survey: Survey | None) -> Diagnosis:
    """Diagnose what a check refused; an attribute that it lacks may be a variable of `__init__`."""
    lacked = part_lacked(first)
    line = set_without_self(*lacked, survey) if lacked is not None and survey is not None else None
    if lacked is not None and line is not None and place is None:
        place = Place(file, line, f"{lacked[0]}.__init__")
        more = [facts.Cause("set_without_self", lacked[1]).words(), *more]
    return Diagnosis("structure", facts.StructureWrong(first, tuple(more)), place=place)


_DOTTED = re.compile(r"\s*from\s+([\w.]+)\s+import\s+(?:\w+\s*,\s*)*((?:\w+\.)+)(\w+)")


def _dotted_import(place: Place, source: bytes) -> str:
    """Return what to write in place of `from a import b.c`, if that is what Python cannot read."""
    lines = lines_of(source)
    found = _DOTTED.match(lines[place.line - 1]) if 0 < place.line <= len(lines) else None
    return f": write `from {found[1]}.{found[2][:-1]} import {found[3]}`" if found is not None else ""


_LINE = re.compile(r"\bline (\d+)\b")


def _with_lines(text: str) -> tuple[str | Line, ...]:
    """Return Python's own message, in which the lines that it names are data."""
    parts = _LINE.split(text)
    return tuple(Line(int(part)) if at % 2 else part for at, part in enumerate(parts))


def _raised(fault: Fault, deepest: Place | None, place: Place | None) -> facts.Raised:
    """Return what was raised in which function, and in which file where that is not the one shown."""
    why = reason(fault.message, fault.type)
    if fault.at_import or deepest is None:
        return facts.Raised(fault.type, fault.at_import, reason=why)
    other = deepest.file if place is not None and place.file != deepest.file else None
    return facts.Raised(fault.type, False, deepest.function, other, reason=why)


def in_characters(place: Place, source: bytes) -> Place:
    """Return a place whose columns, which Python counts in bytes, are counted in characters."""
    lines = lines_of(source)
    if place.column is None or place.end is None or not 0 < place.line <= len(lines):
        return _whole_line(place)
    data = lines[place.line - 1].encode("utf-8")  # Python's columns are bytes of this, whatever the file is in
    column, end = (len(data[:at].decode("utf-8", "replace")) for at in (place.column, place.end))
    return replace(place, column=column, end=end)


@overload
def _whole_line(place: Place) -> Place: ...


@overload
def _whole_line(place: None) -> None: ...


def _whole_line(place: Place | None) -> Place | None:
    return replace(place, column=None, end=None) if place is not None else None


def _of_misfit(fault: Fault, file: str, source: bytes, survey: Survey | None) -> Diagnosis:
    """Diagnose an exception outside the student's code: the check could not use what it got."""
    if "NoneType" in fault.message:
        return Diagnosis("structure", facts.NoneGiven(), quoted=fault.message)
    if (count := values_expected(fault.message)) is not None:
        fact = facts.CountReturned(count, fault.message.startswith("too many"))
        return Diagnosis("structure", fact, quoted=fault.message)
    if fault.type == "TypeError":
        without = self_not_taken(fault.message, source, survey) if survey is not None else None
        cause, place = (without[0], Place(file, without[1])) if without is not None else (None, None)
        return Diagnosis("structure", facts.SignatureWrong(cause), quoted=fault.message, place=place)
    if (lacked := attribute_lacked(fault.message)) is not None:
        return Diagnosis("structure", facts.AttributeLacking(*lacked), quoted=fault.message)
    return Diagnosis("exception", facts.ResultUnusable(fault.type, reason(fault.message)), quoted=fault.message)


def of_death(died: WorkerFailure) -> Diagnosis:
    """Diagnose a worker process that ended."""
    return Diagnosis("exception", WorkerEnded(died.status, died.sentence, died.ran), place=died.place)
