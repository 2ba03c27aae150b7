"""The outcome of one trial of a check, as the judge holds it, and how it is read from a worker's event."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from autograder.protocol import Value
from autograder.protocol.bounds import (
    FAULT_BASES,
    FAULT_FRAMES,
    FAULT_MESSAGE,
    FAULT_VALUES,
    STATEMENT_HASH,
    SURVEY_ASSIGNMENTS,
    SURVEY_FORBIDDEN,
    SURVEY_FUNCTIONS,
    SURVEY_HELPERS,
    SURVEY_PLACES,
    SURVEY_RETURNS,
    SURVEY_STATEMENTS,
)
from autograder.protocol.functions import Function
from autograder.results import Place
from autograder.runner.validation import as_dict, as_dotted, as_integer, as_line, as_list, as_text

if TYPE_CHECKING:
    from autograder.edits.text import Edit


@dataclass(frozen=True)
class Observed:
    """The probe returned."""

    value: Value
    seconds: float = 0.0


@dataclass(frozen=True)
class Fault:
    """The probe, or the import, raised. `frames` are in the student's files, the outermost first.

    `kind` distinguishes exceptions of the kit and an unfinished TODO from all others. `tensor` names the tensor on the
    wrong device in a `device` fault. `values` are file, name and shape of the tensors in the innermost frame of each
    file. `probe_line` is the line of the file with the checks.
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
    probe_line: int | None = None


@dataclass(frozen=True)
class WorkerFailure:
    """The worker ended, timed out, or sent invalid data; `sentence` is the message to the student.

    If not `ran`, an earlier trial ended the worker, and this one was left out.
    """

    status: Literal["error", "timeout", "memory", "grader_error"]
    sentence: str
    place: Place | None = None
    at_import: bool = False
    seconds: float = 0.0
    ran: bool = True


Outcome = Observed | Fault | WorkerFailure


@dataclass(frozen=True)
class Survey:
    """The syntax of a file: the lines of definition and returns by name, forbidden calls, statements and assignments.

    A statement is its hash and its first line; an assignment is its function or class, its name and its line. The
    `functions` say which of them are still a TODO. `helpers` are names of replaced files that are the student's own.
    `running` has the first and last line of every statement but imports and the heads of functions and classes.
    """

    places: Mapping[str, tuple[int, ...]]
    forbidden: tuple[tuple[str, int], ...]
    statements: tuple[tuple[str, int], ...] = ()
    assignments: tuple[tuple[str, str, int], ...] = ()
    functions: tuple[Function, ...] = ()
    helpers: tuple[str, ...] = ()
    running: tuple[tuple[int, int], ...] = ()

    def runs(self, line: int) -> bool:
        """Whether a call can compute something on a line: it is no import, head of a function, docstring or comment."""
        return any(first <= line <= last for first, last in self.running)


OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Cannot allocate memory")
OUT_OF_MORE = ("can't start new thread", "Too many open files")
"""Parts of the messages of torch and Python when memory, threads or files run out, which a whole process shares."""


def is_out_of_memory(fault: Fault) -> bool:
    """Say whether the memory ran out."""
    return "MemoryError" in fault.bases or any(words in fault.message for words in OUT_OF_MEMORY)


def is_exhausted(fault: Fault) -> bool:
    """Say whether memory, threads or files ran out, which another exercise in the same process may hold."""
    return is_out_of_memory(fault) or any(words in fault.message for words in OUT_OF_MORE)


def read_fault(data: Any, *, at_import: bool = False, seconds: float = 0.0) -> Fault:
    """Return a fault from a worker's data; raises LookupError, TypeError or ValueError if it is out of bounds."""
    if data["kind"] not in ("structure", "device", "forbidden", "todo", "other"):
        raise ValueError("a fault of an unknown kind")
    values = as_list(data["values"], FAULT_VALUES)
    return Fault(
        type=as_text(data["type"]),
        bases=tuple(as_text(name) for name in as_list(data["bases"], FAULT_BASES)),
        message=as_text(data["message"], FAULT_MESSAGE),
        kind=data["kind"],
        tensor=as_text(data["tensor"]) if data["tensor"] is not None else None,
        frames=read_frames(data["frames"]),
        values=tuple((as_text(file), as_text(name), as_text(shape)) for file, name, shape in values),
        at_import=at_import,
        seconds=seconds,
        probe_line=as_line(data["probe_line"]) if data.get("probe_line") is not None else None,
    )


def read_frames(data: Any) -> tuple[Place, ...]:
    """Return the frames in the student's files from a worker's data."""
    return tuple(
        Place(
            as_text(frame["file"]), as_line(frame["line"]), as_text(frame["function"] or "") or None, *_columns(frame)
        )
        for frame in as_list(data, FAULT_FRAMES)
    )


def _columns(data: Mapping[str, Any]) -> tuple[int, int] | tuple[None, None]:
    column, end = data.get("column"), data.get("end")
    return (as_line(column), as_line(end)) if column is not None and end is not None else (None, None)


def read_survey(event: Mapping[str, Any]) -> Survey:
    """Return a survey from a worker's event; raises LookupError, TypeError or ValueError if it is out of bounds."""
    statements = as_list(event["statements"], SURVEY_STATEMENTS)
    assignments = as_list(event["assignments"], SURVEY_ASSIGNMENTS)
    return Survey(
        {
            as_text(name): tuple(as_line(line) for line in as_list(lines, SURVEY_RETURNS))
            for name, lines in as_dict(event["places"], SURVEY_PLACES).items()
        },
        tuple((as_text(name), as_line(line)) for name, line in as_list(event["forbidden"], SURVEY_FORBIDDEN)),
        tuple((as_text(hash_, STATEMENT_HASH), as_line(line)) for hash_, line, *_ in statements),
        tuple((as_text(owner), as_text(name), as_line(line)) for owner, name, line in assignments),
        tuple(
            Function(as_text(name), *map(as_line, lines))
            for name, *lines in as_list(event["functions"], SURVEY_FUNCTIONS)
        ),
        tuple(as_dotted(name) for name in as_list(event["helpers"], SURVEY_HELPERS)),
        tuple((as_line(first), as_line(last)) for _, first, last, runs in statements if runs is True),
    )


def read_edits(event: Mapping[str, Any], source: str, most: int) -> "list[Edit]":
    """Return the edits of a worker's event; raises LookupError, TypeError or ValueError for one out of bounds."""
    from autograder.edits.repairs import LONGEST
    from autograder.edits.text import Edit

    size = len(source)
    return [
        Edit(
            as_line(line),
            as_integer(start, size),
            as_integer(end, size, as_integer(start, size)),
            as_text(text, LONGEST),
        )
        for line, start, end, text in as_list(event["edits"], most)
    ]
