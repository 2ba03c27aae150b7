"""A value sent between worker and judge arrives unchanged, or raises `ProtocolError`."""

import ast
import contextlib
import json
import math
import re
import struct
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from autograder.protocol import (
    ITEM_SIZES,
    MAX_AXES,
    Array,
    FrameLimits,
    Frames,
    Opaque,
    ProtocolError,
    read_frame,
    write_frame,
)
from autograder.protocol.frames import HEADER, MAGIC, MAX_DEPTH, decode, encode
from tests.support import tiny

SMALL = FrameLimits(text=1 << 16, blob=1 << 16, nodes=500)
steady = settings(derandomize=True, max_examples=300, deadline=None)

texts = some.text(some.characters(exclude_categories=["Cs"]), max_size=20)


@some.composite
def arrays(trial: some.DrawFn) -> Array:
    dtype = trial(some.sampled_from(sorted(ITEM_SIZES)))
    shape = tuple(trial(some.lists(some.integers(0, 4), max_size=3)))
    size = math.prod(shape) * ITEM_SIZES[dtype]
    return Array(
        dtype, shape, trial(some.binary(min_size=size, max_size=size)), trial(some.sampled_from(["cpu", "cuda:0"]))
    )


leaves = (
    some.none()
    | some.booleans()
    | some.integers(-(1 << 70), 1 << 70)
    | some.floats(allow_nan=False)
    | texts
    | some.binary(max_size=20)
    | arrays()
    | some.builds(Opaque, texts)
)
values = some.recursive(
    leaves,
    lambda inner: (
        some.lists(inner, max_size=4)
        | some.lists(inner, max_size=4).map(tuple)
        | some.dictionaries(texts, inner, max_size=4)
    ),
    max_leaves=20,
)


def reader(data: bytes, most: int | None = None) -> Callable[[int], bytes]:
    """Return what a pipe returns: at most `most` bytes at a time, then nothing."""
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        part = data[position : position + min(size, most or size)]
        position += len(part)
        return part

    return read


def raw(text: bytes, blob: bytes = b"") -> bytes:
    return HEADER.pack(MAGIC, len(text), len(blob)) + text + blob


def framed(data: Any, blob: bytes = b"") -> bytes:
    return raw(json.dumps(data).encode(), blob)


def refused(data: bytes, limits: FrameLimits = SMALL) -> str:
    with pytest.raises(ProtocolError) as caught:
        read_frame(reader(data), limits)
    return str(caught.value)


@pytest.mark.long
@steady
@given(values.filter(lambda value: value is not None), some.integers(1, 50))
def test_a_value_comes_back_as_it_was_sent_however_the_pipe_cuts_it(value: Any, most: int) -> None:
    found = read_frame(reader(write_frame(value), most), FrameLimits())
    assert found == value
    assert repr(found) == repr(value), "types count as well: a list is no tuple, True is not 1"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.0, 5e-324])
def test_numbers_that_json_does_not_know_come_back(number: float) -> None:
    assert repr(read_frame(reader(write_frame([number])), SMALL)) == repr([number])


def test_several_frames_follow_each_other_and_then_there_is_none() -> None:
    read = reader(write_frame("one") + write_frame(["two"]))
    assert [read_frame(read, SMALL) for _ in range(3)] == ["one", ["two"], None]


@pytest.mark.long
@steady
@given(
    some.binary(max_size=200) | some.builds(write_frame, values.filter(lambda value: value is not None)), some.data()
)
def test_what_comes_in_pieces_is_what_is_read_in_one_go(data: bytes, cuts: some.DataObject) -> None:
    """Frames, a frame and what is none after it, or no frame at all: values and the error are those of `read_frame`."""
    data = data * cuts.draw(some.integers(1, 3)) + cuts.draw(some.binary(max_size=20))
    places = sorted(cuts.draw(some.lists(some.integers(0, len(data)))))
    pieces = [data[start:end] for start, end in pairwise([0, *places, len(data)])]
    assert outcome(lambda: taken_in(pieces)) == outcome(lambda: iter(partial(read_frame, reader(data), SMALL), None))


def taken_in(pieces: list[bytes]) -> Iterator[Any]:
    frames = Frames(SMALL)
    for piece in pieces:
        yield from frames.add(piece)
    frames.end()


def outcome(read: Callable[[], Iterator[Any]]) -> list[str]:
    """Return what came, and the error at the end if there was one."""
    found = []
    try:
        for value in read():
            found.append(repr(value))
    except ProtocolError as error:
        found.append(f"{type(error).__name__}: {error}")
    return found


def test_what_is_no_plain_value_cannot_be_sent() -> None:
    with pytest.raises(TypeError, match="set is not a plain value"):
        encode({1, 2})


def test_a_stream_that_ends_anywhere_inside_a_frame_is_refused() -> None:
    frame = write_frame({"a": Array("int8", (3,), b"abc"), "b": "text"})
    assert {refused(frame[:cut]) for cut in range(1, len(frame))} == {"the stream ended inside a frame"}


@pytest.mark.parametrize(
    "header",
    [
        b"CRS2" + struct.pack(">II", 2, 0),
        struct.pack("<4sII", MAGIC, 2, 0),
        struct.pack(">4sII", MAGIC, 0xFFFFFFFF, 0),
        struct.pack(">4sII", MAGIC, 2, 0xFFFFFFFF),
        struct.pack(">4sII", MAGIC, SMALL.text + 1, 0),
        b"3 passed in 0.01s",
        b"\0" * 12,
    ],
)
def test_a_forged_header_is_refused_before_anything_is_read_after_it(header: bytes) -> None:
    asked: list[int] = []

    def read(size: int) -> bytes:
        asked.append(size)
        return header[: HEADER.size]

    with pytest.raises(ProtocolError):
        read_frame(read, SMALL)
    assert sum(asked) == HEADER.size


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 60_000,
        b'{"tuple":' * 7_000 + b"[]" + b"}" * 7_000,
        b"[" + b"0," * 30_000 + b"0]",
        b"9" * 60_000,
        b"NaN",
        b"[Infinity]",
        b'{"dict":{"a":-Infinity}}',
        b"",
        b"null",
        b"{",
        b"[] []",
        b"\xff\xfe",
        b"'text'",
        b'"\\ud800',
    ],
)
def test_a_json_bomb_or_nonsense_is_refused(text: bytes) -> None:
    assert refused(raw(text))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": 1, "b": 2},
        {"unknown": 1},
        {"tuple": 1},
        {"tuple": {"a": 1}},
        {"dict": [1]},
        {"float": "1.0"},
        {"float": "NAN"},
        {"float": None},
        {"float": ["nan"]},
        {"opaque": 1},
        {"bytes": [0]},
        {"bytes": [0, 5]},
        {"bytes": [-1, 1]},
        {"bytes": [True, 1]},
        {"bytes": [0, 1.0]},
        {"bytes": [1 << 70, 1 << 70]},
        {"bytes": ["0", "1"]},
        {"array": []},
        {"array": ["int8", [4], "cpu", 0, 3]},
        {"array": ["int8", [5], "cpu", 0, 4]},
        {"array": ["int8", [-4], "cpu", 0, 4]},
        {"array": ["int8", [True] * 4, "cpu", 0, 1]},
        {"array": ["int8", 4, "cpu", 0, 4]},
        {"array": ["int8", [4.0], "cpu", 0, 4]},
        {"array": ["int8", [1] * (MAX_AXES + 1), "cpu", 0, 1]},
        {"array": ["int8", [1 << 50, 0], "cpu", 0, 0]},
        {"array": ["complex64", [1], "cpu", 0, 4]},
        {"array": ["object", [1], "cpu", 0, 4]},
        {"array": [["int8"], [1], "cpu", 0, 1]},
        {"array": ["int8", [1], None, 0, 1]},
        {"pickle": "gASVAAAAAAAAAA=="},
    ],
)
def test_a_wrong_tag_is_refused_at_the_top_and_inside(data: Any) -> None:
    blob = b"blob"
    assert refused(framed(data, blob))
    assert refused(framed([1, {"dict": {"key": data}}], blob))


def test_depth_parts_and_axes_are_capped_exactly() -> None:
    def nested(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = [value]
        return value

    assert decode(nested(MAX_DEPTH), b"") == nested(MAX_DEPTH)
    assert "levels" in refused(framed(nested(MAX_DEPTH + 1)))
    assert read_frame(reader(framed([0] * (SMALL.nodes - 1))), SMALL) == [0] * (SMALL.nodes - 1)
    assert "parts" in refused(framed([0] * SMALL.nodes))
    assert "parts" in refused(framed({"dict": {str(at): 0 for at in range(SMALL.nodes)}}))
    most = Array("int8", (1,) * MAX_AXES, b"x")
    assert read_frame(reader(write_frame(most)), SMALL) == most


def test_a_frame_larger_than_allowed_is_refused_and_one_as_large_is_not() -> None:
    blob = b"x" * SMALL.blob
    assert read_frame(reader(write_frame(blob)), SMALL) == blob
    assert "more than allowed" in refused(write_frame(blob + b"x"))


def test_a_text_that_no_file_can_hold_becomes_one_that_can() -> None:
    half = b'[{"opaque": "\\ud800"}, "a\\udfffb", {"dict": {"\\ud83d": 1}}]'
    found = read_frame(reader(raw(half)), SMALL)
    assert repr(found).encode("utf-8")
    [opaque, text, by_key] = found
    assert opaque.type_name.encode("utf-8")
    assert text.encode("utf-8") == rb"a\udfffb"
    assert next(iter(by_key)).encode("utf-8")


@pytest.mark.long
@steady
@given(values.filter(lambda value: value is not None), some.data())
def test_a_frame_with_bytes_changed_is_a_value_or_a_protocol_error(value: Any, data: some.DataObject) -> None:
    frame = bytearray(write_frame(value))
    for _ in range(data.draw(some.integers(1, 4))):
        frame[data.draw(some.integers(0, len(frame) - 1))] = data.draw(some.integers(0, 255))
    read_or_refused(bytes(frame))


@pytest.mark.long
@steady
@given(values.filter(lambda value: value is not None), some.data())
def test_a_frame_with_parts_cut_out_or_doubled_is_a_value_or_a_protocol_error(
    value: Any, data: some.DataObject
) -> None:
    frame = write_frame(value)
    start, end = sorted(data.draw(some.tuples(*[some.integers(0, len(frame))] * 2)))
    read_or_refused(frame[:start] + frame[end:])
    read_or_refused(frame[:end] + frame[start:])


json_values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=5),
    lambda inner: (
        some.lists(inner, max_size=5)
        | some.dictionaries(
            some.sampled_from(["array", "bytes", "tuple", "dict", "float", "opaque", "x"]), inner, max_size=2
        )
    ),
    max_leaves=25,
)


@pytest.mark.long
@steady
@given(json_values, some.binary(max_size=16))
@example({"array": ["bool", [], "cpu", 0, 1]}, b"\x02")
def test_any_json_at_all_is_a_value_or_a_protocol_error(data: Any, blob: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        decode(data, blob, 100)


@steady
@given(some.binary(max_size=200))
def test_any_bytes_at_all_are_a_value_or_a_protocol_error(data: bytes) -> None:
    read_or_refused(data)
    read_or_refused(raw(data))


def read_or_refused(data: bytes) -> None:
    """Read a frame; any exception but `ProtocolError` fails the test."""
    with contextlib.suppress(ProtocolError):
        read_frame(reader(data), SMALL)


@pytest.mark.long
def test_nothing_in_the_engine_imports_pickle_or_what_unpickles() -> None:
    unpickling = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"}
    for file in sorted((tiny.REPOSITORY / "autograder").rglob("*.py")):
        assert not unpickling & set(imported(file)), file
        for call in re.findall(r"torch\.load.*", file.read_text("utf-8")):
            assert call.endswith("weights_only=True)"), f"{file}: {call}"


def imported(file: Path) -> list[str]:
    """Return the first part of every module a file imports."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return [name.split(".")[0] for name in names]
