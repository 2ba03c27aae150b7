"""Describe an exception as data: its type, its message, and the student's frames it passed through."""

import dis
import re
from collections.abc import Collection, Mapping
from types import CodeType, FrameType, MappingProxyType, TracebackType
from typing import Any, Literal

from autograder.checks import NEAR, PlainGiven, StructureError, nearest_name
from autograder.protocol import (
    FAULT_BASES,
    FAULT_FRAMES,
    FAULT_MESSAGE,
    FAULT_REFUSALS,
    FAULT_VALUES,
    FRAME_VALUES,
    Refusal,
    cut,
    line_number,
)

from .line_tracing import position_of
from .support import loaded
from .syntax import ForbiddenCallError, names_within

RAISE, RESUME = dis.opmap["RAISE_VARARGS"], dis.opmap["RESUME"]

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
"""The memory address of an object, which differs from run to run, while reports must not."""

CLASS_NAME = type.__dict__["__name__"].__get__
CLASS_ORDER = type.__dict__["__mro__"].__get__
CLASS_DICT = type.__dict__["__dict__"].__get__
"""Read the name, the bases and the contents of a class past its metaclass, which a student may have written."""

NO_SOURCES: Mapping[str, bytes] = MappingProxyType({})


def describe(
    error: BaseException, own_files: Collection[str], sources: Mapping[str, bytes] = NO_SOURCES, probes: str = ""
) -> dict[str, Any]:
    """Return the fields of a fault; `frames` has the frames in the student's files, the outermost first.

    `sources` has the texts of these files: they say which values the expression that raised is made of. `probes` is the
    file with the checks, whose innermost line is the `probe_line`.
    """
    frames, values = _walk(error.__traceback__, own_files, sources)
    refusals = () if frames else _missing(error, own_files)
    if type(error) is StructureError:
        refusals = error.refusals
    location = None
    if isinstance(error, SyntaxError) and error.filename in own_files:
        line = error.lineno if type(error.lineno) is int else 1
        location = {"file": error.filename, "line": line_number(line), "function": None}
    return {
        "type": cut(CLASS_NAME(type(error))),
        "bases": [cut(CLASS_NAME(kind)) for kind in CLASS_ORDER(type(error))[:FAULT_BASES]],
        "message": cut(". ".join(one.sentence for one in refusals), FAULT_MESSAGE) if refusals else _message(error),
        "kind": "structure" if refusals else _kind(error, own_files),
        "refusals": [[cut(one.sentence, FAULT_MESSAGE), *map(cut, one[1:])] for one in refusals[:FAULT_REFUSALS]],
        "near": None if refusals else _meant(error, own_files),
        "tensor": _name_of(error, own_files),
        "frames": [*frames[: FAULT_FRAMES - 1], *([location] if location else [])],
        "values": values[:FAULT_VALUES],
        "probe_line": _innermost_line(error, probes),
    }


def _innermost_line(error: BaseException, file: str) -> int | None:
    """Return the line of a file in which an exception was raised, or which called what raised it."""
    traceback, line = error.__traceback__, None
    while traceback is not None:
        line = line_number(traceback.tb_lineno) if traceback.tb_frame.f_code.co_filename == file else line
        traceback = traceback.tb_next
    return line


def _kind(error: BaseException, own_files: Collection[str]) -> str:
    if isinstance(error, NotImplementedError) and _raised_by(error, own_files):
        return "todo"
    if type(error) is ForbiddenCallError:
        return "forbidden"
    return loaded().fault_kind(error) or "other"


def _missing(error: BaseException, own_files: Collection[str]) -> tuple[Refusal, ...]:
    """Return the refusal of an object of a student's class that lacks what a check looked up; () for another error."""
    what: Literal["attribute", "method"] = "attribute"
    owner, name = None, None
    if type(error) is AttributeError:
        owner, name = error.obj, error.name
    elif type(error) is NotImplementedError and (owner := _without_forward(error)) is not None:
        what, name = "method", "forward"
    if type(name) is not str:
        return ()
    own = [CLASS_DICT(kind) for kind in CLASS_ORDER(type(owner))]
    own = [contents for contents in own if _file(contents) in own_files]
    if not own:
        return ()
    near = nearest_name(name, [*_names(owner), *(key for contents in own for key in contents)])
    hint = f"; it has {near}: rename it if that is the one" if near else ""
    kind = CLASS_NAME(type(owner))
    return (Refusal(f"{kind} has no {what} {name}{hint}", what, kind, name, near or ""),)


def _innermost(error: BaseException) -> TracebackType | None:
    """Return the traceback of the frame that raised an exception."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _without_forward(error: NotImplementedError) -> object:
    """Return the module that was called and has no forward; None if another thing raised this."""
    traceback = _innermost(error)
    is_torch = traceback is not None and traceback.tb_frame.f_code.co_name == "_forward_unimplemented"
    return traceback.tb_frame.f_locals.get("self") if traceback is not None and is_torch else None


def _file(contents: Mapping[str, Any]) -> str | None:
    """Return the file that a class is from, by its contents."""
    module = contents.get("__module__")
    return f"{module.rpartition('.')[2]}.py" if type(module) is str else None


def _names(value: object) -> list[str]:
    """Return the names of an object's own attributes; a module keeps its parts in dicts of their own."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    kept = [name for name in ("_parameters", "_buffers", "_modules") if type(attributes.get(name)) is dict]
    every = [*attributes, *(key for name in kept for key in attributes[name])]
    return [name for name in every if type(name) is str and not name.startswith("_")]


def _raised_by(error: BaseException, own_files: Collection[str]) -> bool:
    """Say whether a `raise` statement of the student raised it: torch raises NotImplementedErrors of its own."""
    traceback = _innermost(error)
    if traceback is None or traceback.tb_frame.f_code.co_filename not in own_files:
        return False
    return traceback.tb_frame.f_code.co_code[traceback.tb_lasti] == RAISE


def _name_of(error: BaseException, own_files: Collection[str]) -> str | None:
    """Return the name of the tensor on the wrong device in the innermost of the student's frames that has one."""
    traceback, innermost = error.__traceback__, None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename in own_files:
            innermost = loaded().misplaced(traceback.tb_frame, error) or innermost
        traceback = traceback.tb_next
    return innermost


def _message(error: BaseException) -> str:
    try:
        text = str(error.msg) if isinstance(error, SyntaxError) else ADDRESS.sub("0x…", str(error)[:FAULT_MESSAGE])
        return cut(text, FAULT_MESSAGE)
    except BaseException:
        return "(its message cannot be shown)"


def _meant(error: BaseException, own_files: Collection[str]) -> str | None:
    """Return the name that was probably meant; None if no name is near.

    It is a name of the program, or one of the library's object before the dot. Python itself proposes builtins too, and
    what a class inherits from its library.
    """
    try:
        if not isinstance(error, AttributeError | NameError) or type(error.name) is not str:
            return None
        if isinstance(error, AttributeError) and PlainGiven in CLASS_ORDER(type(error.obj)):
            return None  # its own sentence says what was meant
        near = nearest_name(error.name, _names_at(error, own_files), NEAR)
        return cut(near) if near is not None else None
    except BaseException:  # an exception of the student's may raise on any access
        return None


def _names_at(error: AttributeError | NameError, own_files: Collection[str]) -> list[str]:
    """Return the names that there were: of the object before the dot, or where a name was looked up.

    Of an object of the student's class these are its own ones alone.
    """
    if isinstance(error, AttributeError):
        kinds = [CLASS_DICT(kind) for kind in CLASS_ORDER(type(error.obj))]
        kinds = [contents for contents in kinds if _file(contents) in own_files] or kinds
        names = [*_names(error.obj), *(name for contents in kinds for name in contents)]
    else:
        traceback = _innermost(error)
        frame = traceback.tb_frame if traceback is not None else None
        names = [*frame.f_locals, *frame.f_globals] if frame is not None else []
    public = [name for name in names if type(name) is str and not name.startswith("_")]
    return sorted(public, key=lambda name: not name.endswith("_"))  # of `add_` and `add`, the last one is proposed


def _walk(
    traceback: TracebackType | None, own_files: Collection[str], sources: Mapping[str, bytes]
) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Return the student's frames, and the values in the innermost frame of each file."""
    frames: list[dict[str, Any]] = []
    innermost: dict[str, TracebackType] = {}
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename in own_files:
            frames.append(_location(code, traceback.tb_lasti, traceback.tb_lineno))
            innermost[code.co_filename] = traceback
        traceback = traceback.tb_next
    values = {file: _values(inner, sources.get(file, b"")) for file, inner in innermost.items()}
    return frames, [[file, *value] for file, own in values.items() for value in own]


def _location(code: CodeType, instruction: int, line: int) -> dict[str, Any]:
    first, last, column, end = position_of(code, instruction)
    # Columns of an expression over several lines would mark the wrong characters.
    one_line = first == last == line and column is not None and end is not None
    columns = {"column": line_number(column), "end": line_number(end)} if one_line else {"column": None, "end": None}
    return {"file": code.co_filename, "line": line_number(line), "function": cut(code.co_qualname), **columns}


def _values(innermost: TracebackType, source: bytes) -> list[list[str]]:
    """Return the values in a frame: the name and a description of each; those of what raised come first."""
    frame = innermost.tb_frame
    try:
        first, last, column, end = position_of(frame.f_code, innermost.tb_lasti)
        names = names_within(source, (first, column), (last, end))
    except Exception:  # whatever reading the source may raise
        names = ()
    return [[cut(name), cut(text)] for name, text in loaded().values(frame, names)[:FRAME_VALUES]]


def frames_of(frame: FrameType | None, own_files: Collection[str]) -> list[dict[str, Any]]:
    """Return the student's frames below a running one, the outermost first.

    A function that was only called is left out: Python says that it is on the line of its `def`, or of a decorator.
    """
    frames: list[dict[str, Any]] = []
    while frame is not None and len(frames) < FAULT_FRAMES:
        code = frame.f_code
        begins = code.co_code[frame.f_lasti : frame.f_lasti + 2] == bytes([RESUME, 0])
        if code.co_filename in own_files and not begins:
            line, function = line_number(frame.f_lineno or _start_of_loop(frame)), cut(code.co_qualname)
            frames.insert(0, {"file": code.co_filename, "line": line, "function": function})
        frame = frame.f_back
    return frames


def _start_of_loop(frame: FrameType) -> int | None:
    """Return the line to which a running jump leads: the jump back in a loop may have none of its own."""
    running = next((one for one in dis.get_instructions(frame.f_code) if one.offset == frame.f_lasti), None)
    at = running.argval if running is not None and isinstance(running.argval, int) else -1
    return next((line for start, end, line in frame.f_code.co_lines() if start <= at < end), None)
