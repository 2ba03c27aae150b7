"""Plain values: the data an observation may consist of, none of it executable; and the frames that carry them.

A value is None, a bool, an int, a float, a str, bytes, an `Array`, an `Opaque`, or a list, tuple or
string-keyed dict of values. `encode` turns one into JSON-ready data and a blob of raw bytes; `decode`
turns hostile data back into a value or raises `ProtocolError`. Neither uses pickle, which could run code.
"""

import ast
import json
import math
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

Value = Any
"""A plain value. (A recursive alias would make every use of it a cast.)"""

ITEM_SIZES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
"""Bytes per element of every dtype an array may have."""

_JSON_TYPES = frozenset({type(None), bool, int, str})
"""Types that JSON holds unchanged; a float may be NaN or infinite, which JSON does not know."""

_NUMBERS = frozenset({type(None), bool, int, float})

MAX_DEPTH = 16
MAX_NODES = 20_000
MAX_AXES = 12
MOST_PLACES = 1 << 40
"""The product of an array's nonzero sizes: NumPy refuses to hold even an empty array of more."""


class ProtocolError(Exception):
    """The data received is not a frame or not a value; the message is a noun phrase that names it."""


class TooLarge(ProtocolError):
    """The data received is well formed, but beyond a limit."""


NUMPY = "numpy"
"""What an array of NumPy has in place of a device."""


@dataclass(frozen=True)
class Array:
    """A tensor or an array of NumPy as data: its elements in C order, little-endian, and the name of its device."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes
    device: str = "cpu"


@dataclass(frozen=True)
class Opaque:
    """The name of the type of an object that is not data."""

    type_name: str


def encode(value: Value) -> tuple[Any, bytes]:
    """Return `value` as JSON-ready data, and the blob that holds its arrays and bytes."""
    blob = bytearray()
    return _encoded(value, blob), bytes(blob)


def _encoded(item: Value, blob: bytearray) -> Any:
    kind = type(item)
    if kind in _JSON_TYPES:  # the three most frequent cases first: this runs for every part of every answer
        return item
    if kind is Array:
        return {"array": [item.dtype, item.shape, item.device, *_appended(item.data, blob)]}
    if kind is dict:
        return {"dict": {str(key): _encoded(part, blob) for key, part in item.items()}}
    match item:
        case int() | str():
            return item
        case float():
            return item if math.isfinite(item) else {"float": repr(item)}
        case list():
            return [_encoded(part, blob) for part in item]
        case bytes():
            return {"bytes": _appended(item, blob)}
        case Opaque():
            return {"opaque": item.type_name}
        case tuple():
            return {"tuple": [_encoded(part, blob) for part in item]}
    raise TypeError(f"{kind.__name__} is not a plain value")


def _appended(data: bytes, blob: bytearray) -> list[int]:
    """Append data to the blob; return its start and its length there."""
    blob += data
    return [len(blob) - len(data), len(data)]


def decode(data: Any, blob: bytes, most_nodes: int = MAX_NODES) -> Value:
    """Return the value that `encode` made `data` and `blob` from, or raise `ProtocolError`."""
    return _Decoder(blob, most_nodes).node(data, 0)


class _Decoder:
    """Builds a value from the output of a JSON parser, which holds JSON's own types and no others."""

    def __init__(self, blob: bytes, most_nodes: int) -> None:
        self.blob = blob
        self.most_nodes = most_nodes
        self.nodes = 1

    def node(self, data: Any, depth: int) -> Value:
        kind = type(data)
        if kind in _NUMBERS:
            return data
        if kind is str:
            return writable(data)
        if kind is list:
            return self.parts(data, depth)
        if kind is not dict or len(data) != 1:
            raise ProtocolError("a part that is not a value")
        [(tag, body)] = data.items()
        return self.tagged(tag, body, depth)

    def tagged(self, tag: str, body: Any, depth: int) -> Value:
        kind = type(body)
        if tag == "array" and kind is list and len(body) == 5:
            return self.array(*body)
        if tag == "dict" and kind is dict:
            return dict(zip(map(writable, body), self.parts(list(body.values()), depth), strict=True))
        if tag == "tuple" and kind is list:
            return tuple(self.parts(body, depth))
        if tag == "float" and body in ("nan", "inf", "-inf"):
            return float(body)
        if tag == "opaque" and kind is str:
            return Opaque(writable(body[:200]))
        if tag == "bytes" and kind is list and len(body) == 2:
            return self.slice(*body)
        raise ProtocolError("a part that is not a value")

    def parts(self, data: list[Any], depth: int) -> list[Value]:
        depth += 1
        self.nodes += len(data)
        if self.nodes > self.most_nodes or depth > MAX_DEPTH:
            raise TooLarge(f"a value deeper than {MAX_DEPTH} levels or of more than {self.most_nodes} parts")
        return [part if type(part) in _NUMBERS else self.node(part, depth) for part in data]

    def slice(self, start: Any, length: Any) -> bytes:
        if not (_is_size(start) and _is_size(length) and start + length <= len(self.blob)):
            raise ProtocolError("bytes outside their frame")
        return self.blob[start : start + length]

    def array(self, dtype: Any, shape: Any, device: Any, start: Any, length: Any) -> Array:
        item_size = ITEM_SIZES.get(dtype) if type(dtype) is str else None
        if item_size is None:
            raise ProtocolError("an array of an unknown dtype")
        if type(shape) is not list or len(shape) > MAX_AXES:
            raise ProtocolError("an array of an impossible shape")
        elements = places = 1
        for size in shape:
            if not _is_size(size):
                raise ProtocolError("an array of an impossible shape")
            elements *= size
            places *= size or 1
        if type(device) is not str:
            raise ProtocolError("an array without a device")
        if places > MOST_PLACES:
            raise TooLarge("an array of too many elements")
        data = self.slice(start, length)
        if elements * item_size != len(data):
            raise ProtocolError("an array whose shape and bytes disagree")
        return Array(dtype, tuple(shape), data, writable(device[:40]))


def writable(text: str) -> str:
    """Return a text with lone surrogates written out as escapes: no file could hold them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_size(number: Any) -> bool:
    return type(number) is int and 0 <= number <= MOST_PLACES


# Upper bounds for everything a worker sends about a program. The worker keeps to them; the judge refuses more.
#
# The worker cuts or omits whatever is longer. So an answer beyond these bounds was written by a student's code.

# Numbers and texts of any answer
MOST_SECONDS = 1e6
"""Longer than any check can run, and small enough that the sum of many runs is still a finite number."""

MOST_LINE = 1 << 24
"""The largest line or column number: no accepted file has more bytes."""

MOST_NAME = 100
"""Characters in the name of a file, a function, a variable or a type."""

# What a check returned
OBSERVATION_DEPTH = 8
OBSERVATION_PARTS = 1000
OBSERVATION_TEXT = 4_000
"""Characters of a text, and bytes of a byte string."""

OBSERVATION_KEY = 200
OBSERVATION_ELEMENTS = 1 << 21
"""Elements of one tensor: with the largest dtype they just fill the blob of a frame (16 MiB)."""

INT_BITS = 62
"""Bits of an int: any such number, negated or added to another one, still fits into 64 bits."""

# An exception
FAULT_BASES = 8
FAULT_MESSAGE = 1_000
FAULT_FRAMES = 21
"""Frames of an exception; the last may be the location of a syntax error."""

FAULT_VALUES = 100
"""Tensors in those frames, at most `FRAME_VALUES` in each."""

FRAME_VALUES = 8

FAULT_REFUSALS = 8
"""Sentences of one refusal: a message has room for fewer."""

# What the syntax of a file shows
SURVEY_PLACES = 200
SURVEY_FUNCTIONS = 200
SURVEY_RETURNS = 20
"""Lines of one function: its definition, then its returns. The reports use at most two."""

SURVEY_FORBIDDEN = 100
SURVEY_FLAGS = 20
SURVEY_REASON = 200
"""Characters of the reason for a flag, which course.toml writes."""
SURVEY_STATEMENTS = 2_000
SURVEY_ASSIGNMENTS = 500
SURVEY_HELPERS = 20
SURVEY_OWNERS = 100
"""Functions and classes of which the words are read."""

SURVEY_WORDS = 1_000
"""Words of each of them."""

STATEMENT_HASH = 16

# The intermediate results of a program
TRACE_FILES = 256
TRACE_PLACES = 1_000
"""Eight times as many source positions as an honest program of the course has."""

TRACE_STEPS = 800
TRACE_INPUTS = 8
TRACE_STACK = 6
TRACE_RESULTS = 16
TRACE_PARTS = 2 * TRACE_FILES + 7 * TRACE_PLACES + TRACE_STEPS * 40
"""Nodes in the longest trace: a step has eight fields, of which five are lists."""

TRACE_NAME = 60
TRACE_DTYPE = 20
TRACE_AXES = 12
TRACE_ELEMENTS = 1 << 17
BEYOND = 1e4
"""A larger number of a trace is treated as infinity: learners fill masks with -inf, -1e9 or the like."""

# The values of plain variables in such a trace
CALL, ARGUMENT, VALUE = "call", "argument", "value"
"""The names of its steps: a call by the check, an argument of a function, and what a statement made."""

PLAIN_NUMBERS = 1 << 10
"""Numbers that stand for one value; larger values are not recorded."""

PLAIN_DEPTH = 6


def cut(text: str, most: int = MOST_NAME) -> str:
    """Return the beginning of a text, exactly as the judge will receive it."""
    return writable(text[:most])[:most]  # writing out a surrogate makes the text longer, so cut twice


def line_number(line: int | None) -> int:
    """Return a line or column number within bounds; 0 where Python knows none."""
    return min(max(int(line or 0), 0), MOST_LINE)


# Frames: one value on a byte stream, preceded by its length, with a limit on every size.
#
# Layout: the four bytes `CRS1`, the length of the JSON text (uint32), the length of the blob (uint32), both big-
# endian, then the text and the blob.

MAGIC = b"CRS1"
HEADER = struct.Struct(">4sII")
CUT_OFF = "the stream ended inside a frame"


@dataclass(frozen=True)
class FrameLimits:
    """Limits of one frame: bytes of text, bytes of blob, nodes in its value."""

    text: int = 4 << 20
    blob: int = 64 << 20
    nodes: int = MAX_NODES


Read = Callable[[int], bytes]
"""Returns 1 to n bytes, or none at the end of the stream."""


def write_frame(value: Value) -> bytes:
    """Return the frame that carries `value`."""
    data, blob = encode(value)
    text = _WRITER.encode(data).encode()
    return HEADER.pack(MAGIC, len(text), len(blob)) + text + blob


def split_frame(frame: bytes) -> tuple[bytes, bytes]:
    """Return the two parts of a frame, its header with the text and its blob, which compress differently."""
    _, text_length, _ = HEADER.unpack(frame[: HEADER.size])
    return frame[: HEADER.size + text_length], frame[HEADER.size + text_length :]


def write_all(write: Callable[[memoryview], int], data: bytes) -> None:
    """Write all of some bytes, however few each call of `write` takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[write(rest) :]


def read_frame(read: Read, limits: FrameLimits) -> Value | None:
    """Return the next value on the stream, or None at its end. Raises `ProtocolError`.

    A frame cannot hold a bare None, so None always means the end.
    """
    header = _read_exactly(read, HEADER.size)
    if not header:
        return None
    if len(header) < HEADER.size:
        raise ProtocolError(CUT_OFF)
    text_length, blob_length = _lengths(header, limits)
    text, blob = _read_exactly(read, text_length), _read_exactly(read, blob_length)
    if len(text) < text_length or len(blob) < blob_length:
        raise ProtocolError(CUT_OFF)
    return _value(text, blob, limits)


class Frames:
    """Decodes a stream of frames whose bytes arrive in pieces of any size."""

    def __init__(self, limits: FrameLimits) -> None:
        self._limits = limits
        self._buffer = bytearray()

    def add(self, data: bytes) -> Iterator[Value]:
        """Yield the values that these bytes complete. Raises `ProtocolError`.

        A length beyond the limits raises as soon as the header is here, before any of the body is kept.
        """
        self._buffer += data
        start, end = 0, HEADER.size
        try:
            while len(self._buffer) >= end:
                text_length, blob_length = _lengths(self._buffer[start:end], self._limits)
                middle, last = end + text_length, end + text_length + blob_length
                if len(self._buffer) < last:
                    break
                text, blob = bytes(self._buffer[end:middle]), bytes(self._buffer[middle:last])
                start, end = last, last + HEADER.size
                yield _value(text, blob, self._limits)
        finally:
            del self._buffer[:start]

    def end(self) -> None:
        """Check that the stream ended between two frames; raises `ProtocolError` if not."""
        if self._buffer:
            raise ProtocolError(CUT_OFF)


def _lengths(header: bytes | bytearray, limits: FrameLimits) -> tuple[int, int]:
    magic, text_length, blob_length = HEADER.unpack(header)
    if magic != MAGIC:
        raise ProtocolError("bytes that are not a frame")
    if text_length > limits.text or blob_length > limits.blob:
        raise TooLarge(f"a frame of {text_length + blob_length:,} bytes, more than allowed")
    return text_length, blob_length


def _value(text: bytes, blob: bytes, limits: FrameLimits) -> Value:
    value = decode(_parse(text), blob, limits.nodes)
    if value is None:
        raise ProtocolError("an empty frame")
    return value


def _parse(text: bytes) -> object:
    try:
        return _DECODER.decode(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a frame whose text is not JSON") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ProtocolError(f"the JSON constant {name}")


_WRITER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _read_exactly(read: Read, length: int) -> bytes:
    chunks = []
    while length > 0:
        chunk = read(min(length, 1 << 20))  # in steps, so that a stated length alone reserves no memory
        if not chunk:
            break
        chunks.append(chunk)
        length -= len(chunk)
    return b"".join(chunks)


# Packets: many pipes over one pair of streams. A packet is a header (child, channel, length) and its bytes.
#
# Channel 0 carries the zygote's JSON requests and events, and a job to warm it up where `child` is not 0. Channel 1
# carries a child's jobs, 2 its answers, 3 its log. An empty packet closes the channel of that child.

PACKET_FIELDS = struct.Struct(">IBI")
CONTROL, JOBS, ANSWERS, LOG = range(4)
MOST_BYTES = 64 << 20
"""The longest packet that either side accepts."""


def write_packet(write: Callable[[memoryview], int], child: int, channel: int, body: bytes) -> None:
    """Write a packet to one of the two streams."""
    write_all(write, PACKET_FIELDS.pack(child, channel, len(body)) + body)


# Facts that judge, worker and sandbox share: the worker's code, its scratch folder and environment, message sizes.

SHIPPED = (
    *("__init__.py", "faces.py", "checks", "edits", "protocol", "worker"),
    *("sandbox/__init__.py", "sandbox/confined"),
)
"""The part of the kit that a worker sees: neither the judge nor the course."""

SCRATCH = "/scratch"
SCRATCH_MIB = 16

MESSAGE_BYTES = 1 << 16
"""The longest message between the judge, a relay and a zygote: a request or an event in JSON."""


PYTHON_OPTIONS = ("-s", "-S", "-P", "-X", "utf8")
"""How Python starts for a worker: with nothing of its user. `-I` would ignore the fixed order of sets too."""


def worker_environment(folder: str) -> dict[str, str]:
    """Return the environment of a worker: one thread, no secrets, a home in `folder`, and a fixed order of sets."""
    return {
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TRITON_INTERPRET": "1",  # kernels of Triton run as Python, on the CPU
        "TRITON_FRONT_END_DEBUGGING": "1",  # and their exceptions keep their type and their line
    }


LIBRARY = "--library="


def arguments_of(libraries: Iterable[str], packages: Iterable[str]) -> list[str]:
    """Return the arguments of a worker's programs: what to load at the start, and the folders to find it in."""
    return [*(f"{LIBRARY}{name}" for name in libraries), *packages]


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the libraries and the folders among the arguments of a worker's program."""
    libraries = [argument.removeprefix(LIBRARY) for argument in arguments if argument.startswith(LIBRARY)]
    return libraries, [argument for argument in arguments if not argument.startswith(LIBRARY)]


# Labels in the log of a worker: each says which trial of a check, or which import, printed what follows.

_LABEL = re.compile(rb"\x1e([^ \x1e]{1,400}) ([^ \x1e]{1,400}) (\d{1,9})\x1e")
_CUT_LABEL = re.compile(rb"\x1e[^\x1e\n]*\Z")


class PrintSection(NamedTuple):
    """What was printed below one label; `check` is "" for the import of the exercise."""

    exercise: str
    check: str
    trial: int
    text: str


def label(exercise: str, check: str = "", trial: int = 0) -> bytes:
    """Return the label of what a trial prints, or of what the import of an exercise prints."""
    return f"\x1e{exercise} {check or '-'} {trial}\x1e".encode()


def sections(log: bytes) -> Iterator[PrintSection]:
    """Yield the sections of a log. What was printed before the first label belongs to no program."""
    _, *parts = _LABEL.split(log)
    parts[-1:] = [_CUT_LABEL.sub(b"", text) for text in parts[-1:]]
    for exercise, check, trial, text in zip(*(parts[at::4] for at in range(4)), strict=True):
        names = [name.decode("utf-8", "replace") for name in (exercise, check)]
        yield PrintSection(names[0], names[1].removeprefix("-"), int(trial), text.decode("utf-8", "replace"))


# The format of a compiled reference part: a pool of constants, and functions as rows of numbers.
#
# A part is JSON: `format`, `exports` (from a name of the contract to the number of an item), `pool` and `items`. An
# entry of the pool is a constant, a list with the dotted name of a library function, or a list with the number of an
# item. An item is a function `[FUNCTION, name, registers, parameters, defaults, rows]`, a module `[CLASS, name,
# methods]` or a class without a base `[PLAIN, name, methods]`; all fields are numbers. An operand of 0 or more is a
# register, a negative one a constant: -1 is the first of the pool. The first number of a row is its operation, one of
# those below.

FORMAT = 1

FUNCTION, CLASS, PLAIN = 0, 1, 2

CALL_CODE = 0
"""`CALL target callee count`, then `count` operands, then for each keyword argument its name and its operand."""

TUPLE = 1
"""`TUPLE target`, then the operands it is made of."""

MOVE = 2
"""`MOVE target operand`."""

JUMP = 3
"""`JUMP row`."""

UNLESS = 4
"""`UNLESS operand row`: jump if the operand is false."""

NEXT = 5
"""`NEXT target iterator row`: jump if the iterator has ended."""

RETURN = 6
"""`RETURN operand`."""

RAISE = 7
"""`RAISE operand`: raise a ValueError with this message."""


# What an exercise may forbid beside dotted names: kinds of syntax, like `syntax:for`, and packages.
#
# `package:transformers` refuses a package whether or not it is installed. The worker never imports it.

PREFIX = "syntax:"
PACKAGE = "package:"


def _of(*kinds: type[ast.AST]) -> Callable[[Any], bool]:
    return lambda node: isinstance(node, kinds)


def _operator(*kinds: type[ast.AST]) -> Callable[[Any], bool]:
    """Recognise `a ∘ b`, `a ∘= b`, `∘a` and comparisons by their operators."""

    def uses(node: Any) -> bool:
        if isinstance(node, ast.Compare):
            return any(isinstance(operator, kinds) for operator in node.ops)
        return isinstance(node, ast.BinOp | ast.AugAssign | ast.UnaryOp | ast.BoolOp) and isinstance(node.op, kinds)

    return uses


SYNTAX: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "for": ("a for loop", _of(ast.For, ast.AsyncFor)),
    "while": ("a while loop", _of(ast.While)),
    "comprehension": ("a comprehension", _of(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)),
    "if": ("an if statement", _of(ast.If)),
    "if-expression": ("an if expression", _of(ast.IfExp)),
    "match": ("a match statement", _of(ast.Match)),
    "lambda": ("a lambda", _of(ast.Lambda)),
    "class": ("a class", _of(ast.ClassDef)),
    "decorator": ("a decorator", lambda node: bool(getattr(node, "decorator_list", None))),
    "import": ("an import", _of(ast.Import, ast.ImportFrom)),
    "try": ("a try statement", _of(ast.Try, ast.TryStar)),
    "with": ("a with statement", _of(ast.With, ast.AsyncWith)),
    "yield": ("a yield", _of(ast.Yield, ast.YieldFrom)),
    "await": ("an await", _of(ast.Await)),
    "global": ("a global statement", _of(ast.Global)),
    "nonlocal": ("a nonlocal statement", _of(ast.Nonlocal)),
    "assert": ("an assert statement", _of(ast.Assert)),
    "del": ("a del statement", _of(ast.Delete)),
    "walrus": ("an assignment expression", _of(ast.NamedExpr)),
    "unpacking": ("an unpacking star", _of(ast.Starred)),
    "f-string": ("an f-string", _of(ast.JoinedStr)),
    "slice": ("a slice", _of(ast.Slice)),
    "in": ("the operator in", _operator(ast.In, ast.NotIn)),
    "power": ("the operator **", _operator(ast.Pow)),
    "matmul": ("the operator @", _operator(ast.MatMult)),
    "division": ("the operator /", _operator(ast.Div)),
    "floor-division": ("the operator //", _operator(ast.FloorDiv)),
    "modulo": ("the operator %", _operator(ast.Mod)),
}
"""What each entry refuses: in words, and whether a node of a syntax tree is one."""


class Usual(NamedTuple):
    """What programs of a course use: dotted names, and with each reason the entries that are odd all the same."""

    names: tuple[str, ...] = ()
    odd: tuple[tuple[str, tuple[str, ...]], ...] = ()


WAYS = {
    "way:unlisted": "a module, or a name of one, that is not usual",
    "way:private": "a private name that the file does not define, or a special one (`__dict__`)",
    "way:computed-name": "`getattr` with a name that is computed, but not of `model.get_submodule(...)`",
    "way:module-as-value": "a module that is handed on, stored, or taken from another file",
    "way:patch": "a value that is put into a module or a class of a library",
    "way:computed-class": "a class that is made by a call, or of a class that is computed",
    "way:earlier-file": "a call in an earlier file of the student that the exercise forbids",
}
"""Ways to reach a name that a course may call odd, in words."""


def is_syntax(entry: str) -> bool:
    """Say whether an entry of `forbidden` is a kind of syntax."""
    return entry.startswith(PREFIX)


def is_package(entry: str) -> bool:
    """Say whether an entry of `forbidden` is a package, installed or not."""
    return entry.startswith(PACKAGE)


def in_words(entry: str) -> str | None:
    """Return a kind of syntax in words; None for an entry that is none."""
    known = SYNTAX.get(entry.removeprefix(PREFIX)) if is_syntax(entry) else None
    return known[0] if known is not None else None


def uses_of_syntax(nodes: Iterable[ast.AST], entries: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield entry and line of every use of forbidden syntax."""
    wanted = [(entry, SYNTAX[entry.removeprefix(PREFIX)][1]) for entry in entries if in_words(entry) is not None]
    if wanted:
        for node in nodes:
            yield from ((entry, getattr(node, "lineno", 1)) for entry, uses in wanted if uses(node))
