"""Diagnoses what did not end with an observation: an exception, or a worker process that ended."""

import re
from dataclasses import replace
from typing import overload

from autograder.diagnosis.causes import cause_of
from autograder.diagnosis.diagnosis import Diagnosis
from autograder.messages import exceptions as facts
from autograder.messages.library_errors import attribute_lacked, reason, values_expected, without_suggestion
from autograder.messages.locations import Line
from autograder.messages.statuses import WorkerEnded
from autograder.protocol.source_text import lines_of
from autograder.results import Evidence, Place
from autograder.runner.outcomes import Fault, Survey, WorkerFailure


def of_fault(fault: Fault, file: str, source: bytes, survey: Survey | None = None) -> Diagnosis:
    """Diagnose an exception: the last line of the learner's that ran, and the library's own words.

    The line is of the exercise's own file, if any of its functions was running. `survey` is that of this file.
    """
    deepest = fault.frames[-1] if fault.frames else None
    place = next((frame for frame in reversed(fault.frames) if frame.file == file), deepest)
    place = in_characters(place, source) if place is not None and place.file == file else _whole_line(place)
    if fault.kind == "structure":
        first, *more = fault.message.split(". ")  # the worker sends its sentences as one text
        return Diagnosis("structure", facts.StructureWrong(first, tuple(more)), place=place)
    if fault.kind == "device":
        return Diagnosis("device", facts.DevicesMixed(fault.tensor), quoted=fault.message, place=place)
    if not fault.frames and not fault.at_import:
        return _of_misfit(fault)
    if "SyntaxError" in fault.bases and place:
        fact = facts.SyntaxInvalid(fault.type, place.file, _with_lines(fault.message))
        return Diagnosis("exception", fact, place=place)
    if fault.type == "SystemExit":
        return Diagnosis("exception", facts.ExitCalled(), place=place)
    rows = tuple((name, "", value) for of, name, value in fault.values if place is not None and of == place.file)
    title = facts.TENSORS if all(value.startswith("(") for _, _, value in rows) else facts.VALUES  # a shape and a dtype
    evidence = Evidence(title, rows=rows) if rows else None
    raised = _raised(fault, deepest, place)
    if (cause := cause_of(fault, deepest, file, source, survey)) is not None:
        raised = replace(raised, cause=cause)
    # Python's own suggestion is a name of the file, where an attribute is meant.
    lacks_self = cause is not None and cause.id == "without_self"
    quoted = without_suggestion(fault.message) if lacks_self else fault.message
    return Diagnosis("exception", raised, quoted=quoted, place=place, evidence=evidence)


_LINE = re.compile(r"\bline (\d+)\b")


def _with_lines(text: str) -> tuple[str | Line, ...]:
    """Return Python's own message, in which the lines that it names are data."""
    parts = _LINE.split(text)
    return tuple(Line(int(part)) if at % 2 else part for at, part in enumerate(parts))


def _raised(fault: Fault, deepest: Place | None, place: Place | None) -> facts.Raised:
    """Return what was raised in which function, and in which file where that is not the one shown."""
    if fault.at_import or deepest is None:
        return facts.Raised(fault.type, fault.at_import, reason=reason(fault.message))
    other = deepest.file if place is not None and place.file != deepest.file else None
    return facts.Raised(fault.type, False, deepest.function, other, reason=reason(fault.message))


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


def _of_misfit(fault: Fault) -> Diagnosis:
    """Diagnose an exception outside the student's code: the check could not use what it got."""
    if "NoneType" in fault.message:
        return Diagnosis("structure", facts.NoneGiven(), quoted=fault.message)
    if (count := values_expected(fault.message)) is not None:
        fact = facts.CountReturned(count, fault.message.startswith("too many"))
        return Diagnosis("structure", fact, quoted=fault.message)
    if fault.type == "TypeError":
        return Diagnosis("structure", facts.SignatureWrong(), quoted=fault.message)
    if (lacked := attribute_lacked(fault.message)) is not None:
        return Diagnosis("structure", facts.AttributeLacking(*lacked), quoted=fault.message)
    return Diagnosis("exception", facts.ResultUnusable(fault.type, reason(fault.message)), quoted=fault.message)


def of_death(died: WorkerFailure) -> Diagnosis:
    """Diagnose a worker process that ended."""
    return Diagnosis("exception", WorkerEnded(died.status, died.sentence, died.ran), place=died.place)
