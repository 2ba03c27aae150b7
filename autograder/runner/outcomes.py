"""What came of one trial of one check, as the judge holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from autograder.protocol import Value
from autograder.protocol.bounds import (
    FAULT_BASES,
    FAULT_FRAMES,
    FAULT_MESSAGE,
    FAULT_VALUES,
    STATEMENT_HASH,
    SURVEY_ASSIGNMENTS,
    SURVEY_FORBIDDEN,
    SURVEY_PLACES,
    SURVEY_RETURNS,
    SURVEY_STATEMENTS,
)
from autograder.results import Place
from autograder.runner.received import line, named, parts, text


@dataclass(frozen=True)
class Observed:
    """The probe returned."""

    value: Value
    seconds: float = 0.0


@dataclass(frozen=True)
class Fault:
    """The probe, or the import, raised. `frames` are in the student's files, the outermost first.

    `kind` tells what the kit itself raised from what the student's code did, and a `todo` that is still there; `tensor`
    names the one a `device` fault is about. `values` are file, name and shape of the tensors that stood in the
    innermost frame of each file.
    """

    type: str
    bases: tuple[str, ...]
    message: str
    kind: Literal["structure", "device", "forbidden", "todo", "other"]
    frames: tuple[Place, ...]
    values: tuple[tuple[str, str, str], ...] = ()
    tensor: str | None = None
    at_import: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Died:
    """The worker ended, fell silent, or talked nonsense; `sentence` says so to the student."""

    status: Literal["error", "timeout", "memory", "grader_error"]
    sentence: str
    place: Place | None = None
    at_import: bool = False
    seconds: float = 0.0


Outcome = Observed | Fault | Died


@dataclass(frozen=True)
class Survey:
    """What the syntax of a file says: the lines of definition and returns by name, forbidden calls, and statements.

    A statement is its hash and its first line; an assignment its function or class, its name and its line.
    """

    places: Mapping[str, tuple[int, ...]]
    forbidden: tuple[tuple[str, int], ...]
    statements: tuple[tuple[str, int], ...] = ()
    assignments: tuple[tuple[str, str, int], ...] = ()


OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Cannot allocate memory")
OUT_OF_MORE = ("can't start new thread", "Too many open files")
"""What messages say where memory, threads or files ran out: others in the same process may hold them."""


def is_out_of_memory(fault: Fault) -> bool:
    """Whether there was no memory left."""
    return "MemoryError" in fault.bases or any(each in fault.message for each in OUT_OF_MEMORY)


def is_exhausted(fault: Fault) -> bool:
    """Whether there was nothing left of something that all in a process share."""
    return is_out_of_memory(fault) or any(each in fault.message for each in OUT_OF_MORE)


def read_fault(data: Any, *, at_import: bool = False, seconds: float = 0.0) -> Fault:
    """Return a fault as a worker describes it; raises LookupError, TypeError or ValueError beyond its bounds."""
    if data["kind"] not in ("structure", "device", "forbidden", "todo", "other"):
        raise ValueError("a fault of another kind")
    return Fault(
        type=text(data["type"]),
        bases=tuple(text(each) for each in parts(data["bases"], FAULT_BASES)),
        message=text(data["message"], FAULT_MESSAGE),
        kind=data["kind"],
        tensor=text(data["tensor"]) if data["tensor"] is not None else None,
        frames=read_frames(data["frames"]),
        values=tuple(
            (text(file), text(name), text(shape)) for file, name, shape in parts(data["values"], FAULT_VALUES)
        ),
        at_import=at_import,
        seconds=seconds,
    )


def read_frames(data: Any) -> tuple[Place, ...]:
    """Return the frames in the student's files, as a worker describes them."""
    return tuple(
        Place(text(each["file"]), line(each["line"]), text(each["function"] or "") or None, *_columns(each))
        for each in parts(data, FAULT_FRAMES)
    )


def _columns(data: Mapping[str, Any]) -> tuple[int, int] | tuple[None, None]:
    column, end = data.get("column"), data.get("end")
    return (line(column), line(end)) if column is not None and end is not None else (None, None)


def read_survey(event: Mapping[str, Any]) -> Survey:
    """Return what a worker read in a file's syntax; raises LookupError, TypeError or ValueError beyond its bounds."""
    return Survey(
        {
            text(name): tuple(line(each) for each in parts(lines, SURVEY_RETURNS))
            for name, lines in named(event["places"], SURVEY_PLACES).items()
        },
        tuple((text(name), line(at)) for name, at in parts(event["forbidden"], SURVEY_FORBIDDEN)),
        tuple(
            (text(hash_, STATEMENT_HASH), line(at)) for hash_, at, _ in parts(event["statements"], SURVEY_STATEMENTS)
        ),
        tuple(
            (text(owner), text(name), line(at)) for owner, name, at in parts(event["assignments"], SURVEY_ASSIGNMENTS)
        ),
    )
