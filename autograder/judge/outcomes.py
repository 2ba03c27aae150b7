"""What came of one draw of one check, as the judge holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from autograder.protocol import Value
from autograder.report import Place

Key = tuple[str, int]
"""A check's id and the number of the draw."""


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


MOST_TEXT, MOST_MESSAGE = 100, 1_000
MOST_PARTS, MOST_VALUES = 24, 200
"""The longest texts and the most parts of a fault that are taken; a worker that is left alone tells no more."""

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


def read_fault(data: Any, *, at_import: bool = False, seconds: float = 0.0) -> Fault:
    """Return the fault a worker told of, no longer than workers tell; raises KeyError, TypeError or ValueError."""
    return Fault(
        type=_text(data["type"]),
        bases=tuple(_text(each) for each in data["bases"][:MOST_PARTS]),
        message=_text(data["message"], MOST_MESSAGE),
        kind=data["kind"] if data["kind"] in ("structure", "device", "forbidden", "todo") else "other",
        tensor=_text(data["tensor"]) if data["tensor"] is not None else None,
        frames=read_frames(data["frames"]),
        values=tuple((_text(file), _text(name), _text(shape)) for file, name, shape in data["values"][:MOST_VALUES]),
        at_import=at_import,
        seconds=seconds,
    )


def read_frames(data: Any) -> tuple[Place, ...]:
    """Return the student's frames a worker told of."""
    return tuple(
        Place(_text(each["file"]), int(each["line"]), _text(each["function"] or "") or None, *_columns(each))
        for each in data[:MOST_PARTS]
    )


def _text(value: Any, most: int = MOST_TEXT) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} is no text")
    return value[:most]


def _columns(data: Mapping[str, Any]) -> tuple[int, int] | tuple[None, None]:
    column, end = data.get("column"), data.get("end")
    return (int(column), int(end)) if column is not None and end is not None else (None, None)


def read_survey(event: Mapping[str, Any]) -> Survey:
    """Return what a worker said of a file's syntax."""
    places = {str(name): tuple(int(line) for line in lines) for name, lines in event["places"].items()}
    found = tuple((str(each), int(line)) for each, line, _ in event["statements"])
    assigned = tuple((str(owner), str(name), int(line)) for owner, name, line in event["assignments"])
    return Survey(places, tuple((str(name), int(line)) for name, line in event["forbidden"]), found, assigned)
