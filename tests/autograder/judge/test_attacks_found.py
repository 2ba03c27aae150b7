"""What attacks have found: each of these once cost a mark, a report or the grader's patience."""

import json
import math

import pytest

from autograder.comparison import numbers
from autograder.judge import Grader
from autograder.protocol import Array, ProtocolError
from autograder.protocol.frames import decode
from autograder.runner import Runner, read_fault
from tests.support import tiny

CHANNEL = """
import sys
def job():
    frame = sys._getframe()
    while not (type(frame.f_locals.get("self")).__name__ == "Job"):
        frame = frame.f_back
    return frame.f_locals["self"]
emit = job().emit
def forge(event):
    if event["event"] == "observed":
        event = {**event, "seconds": 1.7e308}
    emit(event)
job().emit = forge
"""


@pytest.mark.parametrize("shape", [[0, 1 << 40, 1 << 40], [1 << 40, 1 << 40, 0], [1 << 40] * 11 + [0]])
def test_an_empty_array_of_a_shape_that_numpy_cannot_hold_is_refused(shape: list[int]) -> None:
    with pytest.raises(ProtocolError, match="too many elements"):
        decode({"array": ["float32", shape, "cpu", 0, 0]}, b"")


@pytest.mark.parametrize("shape", [[0], [0, 7], [1 << 39, 0], []])
def test_every_array_that_is_let_in_can_be_computed_with(shape: list[int]) -> None:
    data = bytes(4 * math.prod(shape))
    array = decode({"array": ["float32", shape, "cpu", 0, len(data)]}, data)
    assert numbers(array).shape == tuple(shape)


def test_seconds_whose_sum_is_infinite_do_not_get_into_a_report(grader: Grader, runner: Runner) -> None:
    report = grader.grade(tiny.submitted(CHANNEL + tiny.MEAN, tiny.POWER_ALONE), runner=runner)
    json.dumps(report.to_json(), allow_nan=False)
    assert tiny.result_of(report, tiny.FIRST).status == "error"
    assert tiny.result_of(report, tiny.SECOND).status == "pass"


FAULT = {
    "type": "E" * 5_000,
    "bases": ["E" * 5_000] * 50,
    "message": "m" * 500_000,
    "kind": "other",
    "tensor": "t" * 5_000,
    "frames": [{"file": "f" * 5_000, "line": 1, "function": "g" * 5_000}] * 500,
    "near": "n" * 5_000,
    "refusals": [["s" * 500_000, "parameter", "o" * 5_000, "n" * 5_000, ""]] * 500,
    "values": [["f" * 5_000, "n" * 5_000, "s" * 5_000]] * 500,
}


def test_a_fault_longer_than_the_worker_sends_is_refused() -> None:
    with pytest.raises(ValueError, match="length"):
        read_fault(FAULT)


@pytest.mark.parametrize("key", ["type", "message", "tensor", "near"])
def test_an_array_is_no_text(key: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        read_fault({**FAULT, key: Array("uint8", (1 << 20,), bytes(1 << 20))})
