"""Findings of what did not come to an end: an exception, or a worker that is no more."""

from dataclasses import replace
from typing import overload

from autograder.diagnosis.findings import as_sentence
from autograder.protocol.source_text import lines_of
from autograder.results import Evidence, Finding, Place
from autograder.runner.outcomes import Died, Fault


def of_fault(fault: Fault, file: str, source: bytes) -> Finding:
    """Return the finding of an exception: the learner's own last line first, the library's words below it.

    The line is of the exercise's own file, if any of its functions was running.
    """
    deepest = fault.frames[-1] if fault.frames else None
    place = next((each for each in reversed(fault.frames) if each.file == file), deepest)
    place = in_characters(place, source) if place is not None and place.file == file else _whole_line(place)
    if fault.kind == "structure":
        return Finding("structure", "structure", as_sentence(f"{fault.message}."), place=place)
    if fault.kind == "device":
        what = f"{fault.tensor} stays on the CPU" if fault.tensor else "A tensor stays on the CPU"
        message = f"{what} while the others are on another device: make it, or keep it, where they are."
        return Finding("device", "device", as_sentence(message, fault.tensor or ""), detail=fault.message, place=place)
    if not fault.frames and not fault.at_import:
        return _of_misfit(fault)
    if "SyntaxError" in fault.bases and place:
        message = f"Python cannot read {place.file}: {fault.message}."
        return Finding("exception", fault.type, as_sentence(message), place=place)
    if fault.type == "SystemExit":
        return Finding("exception", fault.type, "Your code calls exit() instead of returning.", place=place)
    when = "while it was imported" if fault.at_import else _within(deepest, place)
    rows = tuple((name, "", value) for of, name, value in fault.values if place is not None and of == place.file)
    evidence = Evidence("the tensors in that line's function", rows=rows) if rows else None
    message = as_sentence(f"Your code raised {fault.type} {when}.")
    return Finding("exception", fault.type, message, detail=fault.message, place=place, evidence=evidence)


def _within(deepest: Place | None, place: Place | None) -> str:
    """Say in which function something was raised, and in which file where that is not the one that is shown."""
    if deepest is None or not deepest.function:
        return ""
    other = f" of {deepest.file}" if place is not None and place.file != deepest.file else ""
    return f"in {deepest.function}()" + other


def in_characters(place: Place, source: bytes) -> Place:
    """Return a place whose columns, which Python counts in bytes, are counted in characters."""
    lines = lines_of(source)
    if place.column is None or place.end is None or not 0 < place.line <= len(lines):
        return _whole_line(place)
    data = lines[place.line - 1].encode("utf-8")  # Python's columns are bytes of this, whatever the file is in
    column, end = (len(data[:each].decode("utf-8", "replace")) for each in (place.column, place.end))
    return replace(place, column=column, end=end)


@overload
def _whole_line(place: Place) -> Place: ...


@overload
def _whole_line(place: None) -> None: ...


def _whole_line(place: Place | None) -> Place | None:
    return replace(place, column=None, end=None) if place is not None else None


def _of_misfit(fault: Fault) -> Finding:
    """Return the finding of an exception outside the student's code: the check could not use what it got."""
    if "NoneType" in fault.message:
        message = "Your code returned None where a value was expected: is a return missing?"
        return Finding("structure", "none", message, detail=fault.message)
    if fault.type == "TypeError":
        message = "Your code cannot be called as the contract says: compare its parameters with the stub's."
        return Finding("structure", "signature", message, detail=fault.message)
    message = f"What your code returned cannot be used ({fault.type}): is it of the kind the contract says?"
    return Finding("exception", fault.type, as_sentence(message), detail=fault.message)


def of_death(died: Died) -> Finding:
    """Return the finding of a worker that ended."""
    return Finding("exception", died.status, as_sentence(died.sentence), place=died.place)
