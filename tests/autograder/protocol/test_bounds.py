"""The bounds of a worker's answers: the worker keeps to them, and the judge refuses anything beyond."""

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from autograder.diagnosis import Deadline, OutOfTime, first_divergence
from autograder.protocol import MOST_PRINTS, WIDTH, Array, Opaque, Value
from autograder.protocol import frames as bounds
from autograder.runner import read_fault, read_trace
from autograder.runner.outcomes import as_number, as_observation, read_survey
from autograder.worker import faults, support
from autograder.worker.session import observe
from autograder.worker.sources import own_helpers
from autograder.worker.syntax import survey
from autograder.worker.tensors import TensorSupport, Tracing
from tests.support.fuzzing import transmitted

FILE = "ex01_first.py"


def trace(steps: int = bounds.TRACE_STEPS) -> dict[str, Any]:
    """Return a trace that is as long as one may be, in every part of a step."""
    inputs = [list(range(max(0, at - bounds.TRACE_INPUTS), at)) for at in range(steps)]
    shape = [1] * (bounds.TRACE_AXES - 1) + [7]
    name = "n" * bounds.TRACE_NAME
    stack = list(range(bounds.TRACE_STACK))
    return {
        "files": [FILE] * bounds.TRACE_FILES,
        "places": [[0, "f" * bounds.MOST_NAME, bounds.MOST_LINE, 9, 0, 5]] * bounds.TRACE_PLACES,
        "steps": [
            [name, stack, inputs[at], shape, "d" * bounds.TRACE_DTYPE, False, [at, 1], [name, 1e308]]
            for at in range(steps)
        ],
        "results": [steps - 1] * bounds.TRACE_RESULTS,
        "prints": prints(steps),
    }


def prints(rows: int) -> Array:
    return Array("float64", (rows, WIDTH), np.ones((rows, WIDTH)).astype("<f8").tobytes())


def test_a_trace_as_long_as_it_may_be_is_read() -> None:
    assert len(read_trace(transmitted({"event": "traced", **trace()}), sliced=False).steps) == bounds.TRACE_STEPS


BEYOND: dict[str, Callable[[dict[str, Any]], object]] = {
    "a step more": lambda data: data["steps"].append(data["steps"][-1]),
    "a file more": lambda data: data["files"].append(FILE),
    "a place more": lambda data: data["places"].append(data["places"][-1]),
    "a result more": lambda data: data["results"].append(0),
    "a fingerprint more": lambda data: data.update(prints=prints(bounds.TRACE_STEPS + 1)),
    "a longer stack": lambda data: data["steps"][9][1].append(0),
    "more inputs": lambda data: data["steps"][9][2].append(0),
    "more axes": lambda data: data["steps"][9][3].append(1),
    "a huge axis": lambda data: data["steps"][9].__setitem__(3, [bounds.TRACE_ELEMENTS + 1]),
    "a negative axis": lambda data: data["steps"][9].__setitem__(3, [-1]),
    "more elements": lambda data: data["steps"][9].__setitem__(3, [bounds.TRACE_ELEMENTS, 2]),
    "more fingerprints of a step": lambda data: data["steps"][9].__setitem__(6, [0, 2]),
    "a longer name": lambda data: data["steps"][9].__setitem__(0, "n" * (bounds.TRACE_NAME + 1)),
    "a longer dtype": lambda data: data["steps"][9].__setitem__(4, "d" * (bounds.TRACE_DTYPE + 1)),
    "a longer variable": lambda data: data["steps"][9].__setitem__(7, ["n" * (bounds.TRACE_NAME + 1), 1.0]),
    "a line that no file has": lambda data: data["places"][0].__setitem__(2, bounds.MOST_LINE + 1),
    "a negative line": lambda data: data["places"][0].__setitem__(2, -1),
    "a fraction of a line": lambda data: data["places"][0].__setitem__(2, 1.5),
    "a longer function": lambda data: data["places"][0].__setitem__(1, "f" * (bounds.MOST_NAME + 1)),
    "a longer file": lambda data: data["files"].__setitem__(0, "f" * (bounds.MOST_NAME + 1)),
}


@pytest.mark.long
@pytest.mark.parametrize("more", BEYOND)
def test_a_trace_that_is_longer_than_any_worker_sends_is_refused(more: str) -> None:
    data = copy.deepcopy(trace())
    BEYOND[more](data)
    with pytest.raises((ValueError, IndexError)):
        read_trace(data, sliced=False)


def test_a_trace_of_a_solution_may_have_fingerprints_of_slices() -> None:
    data = {**trace(1), "prints": prints(MOST_PRINTS)}
    data["steps"][0][6] = [0, MOST_PRINTS]
    assert read_trace(data).steps[0].prints == (0, MOST_PRINTS)


@pytest.mark.long
def test_what_is_recorded_of_any_program_is_read() -> None:
    def deep(depth: int) -> torch.Tensor:
        if depth:
            return deep(depth - 1) + 1
        shape = [1] * 20
        many = [torch.ones(shape), *torch.ones(40, 2).unbind()]
        return torch.stack([tensor.reshape(-1)[:1] * 2.0 for tensor in many]) + torch.zeros(0, 1 << 20).sum()

    with Tracing([__file__.rpartition("/")[2], __file__]) as tracing:
        returned = [deep(30) for _ in range(60)]
    data = transmitted({"event": "traced", **tracing.as_data(returned)})
    assert read_trace(data, sliced=False).steps


def test_the_search_for_a_place_ends_when_its_processor_time_is_used_up() -> None:
    one = read_trace(trace(), sliced=False)
    assert first_divergence(one, one, FILE, (), Deadline(60)) is None
    with pytest.raises(OutOfTime):
        first_divergence(one, one, FILE, (), Deadline(-1))


def nested(depth: int) -> list[Any]:
    return [nested(depth - 1)] if depth > 1 else [1]


@pytest.fixture(autouse=True)
def _with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "_loaded", TensorSupport())


OBSERVED: dict[str, object] = {
    "as deep as it may be": nested(bounds.OBSERVATION_DEPTH),
    "too deep": nested(bounds.OBSERVATION_DEPTH + 5),
    "many parts": [0.5] * bounds.OBSERVATION_PARTS,
    "too many parts": [0.5] * (bounds.OBSERVATION_PARTS + 1),
    "a long text": "x" * 10 * bounds.OBSERVATION_TEXT,
    "a text of half characters": "\ud800" * bounds.OBSERVATION_TEXT,
    "long keys": {"\ud800" * 500: 1, "y" * 500: 2},
    "large numbers": [(1 << 62) - 1, 1 - (1 << 62), 1 << 62, 10**400, float("inf"), float("nan")],
    "a NumPy number": np.uint64((1 << 64) - 1),
    "a tuple": (1, (2, 3)),
    "an object": object(),
    "bytes": b"abc",
    "many axes": torch.ones([1] * 20),
    "a large tensor": torch.ones(bounds.OBSERVATION_ELEMENTS + 1, dtype=torch.int8),
    "the largest tensor": torch.ones(bounds.OBSERVATION_ELEMENTS, dtype=torch.int8),
}


@pytest.mark.parametrize("what", OBSERVED)
def test_whatever_a_check_returns_arrives_as_an_observation(what: str) -> None:
    as_observation(transmitted({"value": observe(OBSERVED[what])})["value"])


NO_OBSERVATIONS: dict[str, Value] = {
    "deeper": nested(bounds.OBSERVATION_DEPTH + 1),
    "more parts": [0] * (bounds.OBSERVATION_PARTS + 1),
    "more names": {str(number): 0 for number in range(bounds.OBSERVATION_PARTS + 1)},
    "a longer name": {"x" * (bounds.OBSERVATION_KEY + 1): 0},
    "a longer text": "x" * (bounds.OBSERVATION_TEXT + 1),
    "a larger number": 1 << bounds.INT_BITS,
    "a tuple": (1, 2),
    "more bytes": b"x" * (bounds.OBSERVATION_TEXT + 1),
    "a larger array": Array("int8", (bounds.OBSERVATION_ELEMENTS + 1,), bytes(bounds.OBSERVATION_ELEMENTS + 1)),
    "something else inside": [Opaque("a"), [(1, 2)]],
}


@pytest.mark.parametrize("what", NO_OBSERVATIONS)
def test_an_observation_that_no_worker_makes_is_refused(what: str) -> None:
    with pytest.raises(ValueError, match=r"of the wrong type|too many|beyond the limit"):
        as_observation(NO_OBSERVATIONS[what])


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e7, "1", True, None])
def test_seconds_that_cannot_be_are_refused(seconds: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        as_number(seconds, bounds.MOST_SECONDS)


def test_whatever_is_raised_arrives_as_a_fault() -> None:
    kind = type("E" * 500, (type("F" * 500, (ValueError,), {}),), {})

    def raising(depth: int) -> None:
        tensors = [torch.ones([1] * 30)] * 9  # noqa: F841
        if depth == 0:
            raise kind("\ud800" * 5000)
        raising(depth - 1)

    try:
        raising(60)
    except ValueError as error:
        data = transmitted(faults.describe(error, [__file__]))
    found = read_fault(data)
    assert (len(found.type), len(found.message)) == (bounds.MOST_NAME, bounds.FAULT_MESSAGE)


FAULT: dict[str, Any] = {
    **{"type": "E", "bases": ["E"], "message": "", "kind": "other", "tensor": None, "values": []},
    **{"near": None, "refusals": [["Part has no parameter scale (3,)", "parameter", "Part", "scale", ""]]},
    "frames": [{"file": FILE, "line": 3, "function": "f", "column": 0, "end": 3}],
}
FRAME = FAULT["frames"][0]


@pytest.mark.parametrize(
    "more",
    [
        {"type": "E" * (bounds.MOST_NAME + 1)},
        {"bases": ["E"] * (bounds.FAULT_BASES + 1)},
        {"message": "x" * (bounds.FAULT_MESSAGE + 1)},
        {"kind": "pass"},
        {"tensor": "x" * (bounds.MOST_NAME + 1)},
        {"near": "x" * (bounds.MOST_NAME + 1)},
        {"refusals": [["no", "parameter", "A", "b", ""]] * (bounds.FAULT_REFUSALS + 1)},
        {"refusals": [["no", "anything", "A", "b", ""]]},
        {"refusals": [["no" * bounds.FAULT_MESSAGE, "parameter", "A", "b", ""]]},
        {"refusals": [["no", "parameter", "A" * (bounds.MOST_NAME + 1), "b", ""]]},
        {"refusals": [["no", "parameter", ["A"], "b", ""]]},
        {"values": [[FILE, "x", "(1,)"]] * (bounds.FAULT_VALUES + 1)},
        {"frames": [FRAME] * (bounds.FAULT_FRAMES + 1)},
        {"frames": [{**FRAME, "line": -1}]},
        {"frames": [{**FRAME, "end": bounds.MOST_LINE + 1}]},
        {"frames": [{**FRAME, "function": "f" * (bounds.MOST_NAME + 1)}]},
    ],
)
def test_a_fault_that_is_longer_than_any_worker_sends_is_refused(more: dict[str, Any]) -> None:
    assert read_fault(FAULT).type == "E"
    with pytest.raises(ValueError, match=r"of the wrong type|an unknown kind"):
        read_fault({**FAULT, **more})


@pytest.mark.long
def test_the_syntax_of_any_file_arrives_as_a_survey() -> None:
    returns = "    return x\n" * 40
    functions = "".join(f"def f{number}(x):\n{returns}" for number in range(300))
    longest = f"class {'C' * 300}:\n    def {'m' * 300}(self):\n        self.{'a' * 300} = 1\n"
    uses = "import torch\n" + "torch.nn.functional.softmax\n" * 3000
    for source in (functions, longest, uses, "def f():\n" + "    x = 1\n" * 3000):
        read_survey(transmitted({**survey(source.encode(), ("torch.nn",)), "helpers": [], "flags": []}))


def test_the_helpers_of_any_file_arrive() -> None:
    names = ", ".join([f"name_{number}" for number in range(300)] + ["x" * 300, "größe"])
    source = f"import ex05_one as one\nfrom ex05_one import *\nfrom ex05_one import {names}\none.a.b, one['c']\n"
    helpers = own_helpers({"ex06_two.py": source.encode()}, {"ex05_one.py": []}, "ex06_two")
    survey_of_it = {**survey(source.encode(), ()), "helpers": helpers, "flags": []}
    assert read_survey(transmitted(survey_of_it)).helpers == tuple(helpers)
    assert len(helpers) == bounds.SURVEY_HELPERS


@pytest.mark.parametrize(
    "more",
    [
        {"places": {f"f{number}": [1] for number in range(bounds.SURVEY_PLACES + 1)}},
        {"places": {"f": [1] * (bounds.SURVEY_RETURNS + 1)}},
        {"places": {"f": [10**18]}},
        {"places": {"f" * (bounds.MOST_NAME + 1): [1]}},
        {"forbidden": [["torch.x", 1]] * (bounds.SURVEY_FORBIDDEN + 1)},
        {"statements": [["0" * 16, 1, 1]] * (bounds.SURVEY_STATEMENTS + 1)},
        {"statements": [["0" * (bounds.STATEMENT_HASH + 1), 1, 1]]},
        {"assignments": [["f", "x", 1]] * (bounds.SURVEY_ASSIGNMENTS + 1)},
        {"assignments": [["f", "x", -1]]},
        {"functions": [["f", 1, 1, 1, 0]] * (bounds.SURVEY_FUNCTIONS + 1)},
        {"functions": [["f", 1, 1, 10**18, 0]]},
        {"functions": [["f" * (bounds.MOST_NAME + 1), 1, 1, 1, 0]]},
        {"helpers": ["a.b"] * (bounds.SURVEY_HELPERS + 1)},
        {"helpers": ["a text that is no name"]},
        {"words": {f"f{number}": [] for number in range(bounds.SURVEY_OWNERS + 1)}},
        {"words": {"f": ["x"] * (bounds.SURVEY_WORDS + 1)}},
        {"words": {"f": ["x" * (bounds.MOST_NAME + 1)]}},
        {"flags": [["ex01_a.py", 1, "gc", "it is odd"]] * (bounds.SURVEY_FLAGS + 1)},
        {"flags": [["ex01_a.py", 1, "gc", "x" * (bounds.SURVEY_REASON + 1)]]},
        {"flags": [["ex01_a.py", -1, "gc", "it is odd"]]},
    ],
)
def test_a_survey_that_is_longer_than_any_worker_sends_is_refused(more: dict[str, Any]) -> None:
    nothing: dict[str, Any] = {
        "places": {},
        "forbidden": [],
        "statements": [],
        "assignments": [],
        "functions": [],
        "helpers": [],
        "words": {},
        "flags": [],
    }
    assert read_survey(nothing).places == {}
    with pytest.raises(ValueError, match="of the wrong type"):
        read_survey({**nothing, **more})


def test_a_line_that_python_does_not_know_is_sent_as_0() -> None:
    assert (bounds.line_number(None), bounds.line_number(-3), bounds.line_number(sys.maxsize)) == (
        *(0, 0),
        bounds.MOST_LINE,
    )
