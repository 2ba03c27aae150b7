"""An exception as data: the tensors of the expression that raised come first."""

import signal
import sys
from types import FrameType, ModuleType
from typing import Any

import pytest
import torch

from autograder.checks import Implementation, PlainGiven, StructureError
from autograder.checks.plain_given import compare_parameters
from autograder.protocol import FRAME_VALUES
from autograder.runner import read_fault
from autograder.worker import describe, support
from autograder.worker.faults import frames_of
from autograder.worker.tensors import TensorSupport


@pytest.fixture(autouse=True)
def _with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "_loaded", TensorSupport())


SOURCE = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.w_q = nn.Linear(3, 4)
        self.plain = torch.zeros(5)
        self.register_buffer("pe", torch.zeros(1, 15, 3))

    def add(self, x):
        a, b, c, d, e, f, g, h = (torch.zeros(index) for index in range(8))
        out = x
        return (
            out
            + self.pe
        )

    def project(self, x):
        first = x
        é = self.w_q(x[..., :2])
        return é

    def attribute(self, x):
        return x @ self.plain

    def method(self, x):
        y = x.mean(-1)
        return x.view(2).sum()

    def increase(self, x):
        total = torch.zeros(2)
        total += self.plain
        return total

class Odd(Layer):
    def named_buffers(self, *args, **kwargs):
        raise ValueError("no buffers here")
"""


def tensors(method: str, kind: str = "Layer", source: str | None = SOURCE) -> list[str]:
    """Return the names of the tensors beside an exception."""
    names: dict[str, Any] = {}
    exec(compile(SOURCE, "ex01_a.py", "exec"), names)
    layer = names[kind]()
    with pytest.raises(RuntimeError) as raised:
        getattr(layer, method)(torch.zeros(2, 11, 3))
    sources = {"ex01_a.py": source.encode()} if source is not None else {}
    return [name for _, name, _ in describe(raised.value, ["ex01_a.py"], sources)["values"]]


def test_the_tensors_of_the_expression_come_first_also_attributes_and_over_several_lines() -> None:
    found = tensors("add")
    assert found[:2] == ["out", "self.pe"]
    assert len(found) == FRAME_VALUES


def test_a_layer_in_the_expression_shows_its_parameters() -> None:
    assert tensors("project") == ["self.w_q.weight", "self.w_q.bias", "x", "first"]


def test_plain_attributes_methods_and_assignments_in_place_are_understood() -> None:
    assert tensors("attribute") == ["x", "self.plain"]
    assert tensors("method") == ["x", "y"]
    assert tensors("increase") == ["total", "self.plain", "x"]


def test_without_the_text_or_with_an_odd_module_the_variables_are_shown() -> None:
    assert tensors("attribute", source=None) == ["x"]
    assert tensors("attribute", source="def") == ["x"]
    assert tensors("attribute", kind="Odd") == ["x"]


def missing(name: str) -> tuple[str, str]:
    """Return the kind and the message of a check's vain look-up in an object of the student's."""
    names: dict[str, Any] = {"__name__": "ex01_a"}
    exec(compile(SOURCE, "ex01_a.py", "exec"), names)
    with pytest.raises(AttributeError) as raised:
        getattr(names["Layer"](), name)
    fault = describe(raised.value, ["ex01_a.py"])
    return fault["kind"], fault["message"]


def test_an_attribute_that_a_check_looks_up_in_vain_is_a_fault_of_the_structure() -> None:
    assert missing("attention_weights") == ("structure", "Layer has no attribute attention_weights")
    assert missing("wq") == ("structure", "Layer has no attribute wq; it has w_q: rename it if that is the one")
    assert missing("projects")[1].endswith("it has project: rename it if that is the one")


def test_an_attribute_of_a_library_s_object_is_none() -> None:
    name = "attention_weights"
    with pytest.raises(AttributeError) as raised:
        getattr(torch.zeros(2), name)
    assert describe(raised.value, ["ex01_a.py"])["kind"] == "other"


def message_of(statement: str) -> str:
    """Return the message of an exception that a line of the student's raises."""
    names: dict[str, Any] = {"__name__": "ex01_a", "torch": torch, "variance": 1.0}
    with pytest.raises((AttributeError, NameError)) as raised:
        exec(compile(statement, "ex01_a.py", "exec"), names)
    return read_fault(describe(raised.value, ["ex01_a.py"])).full_message


def test_a_misspelt_name_of_the_program_or_of_a_library_gets_a_suggestion() -> None:
    assert message_of("torch.nn.Embeding(3, 4)").endswith("has no attribute 'Embeding'. Did you mean: 'Embedding'?")
    assert message_of("torch.zeros(2).transpos(0, 1)").endswith("Did you mean: 'transpose'?")
    assert message_of("varianze").endswith("Did you mean: 'variance'?")


@pytest.mark.parametrize("name", ["math", "inpt", "List", "Tensor", "sqrt", "pritn", "var"])
def test_a_builtin_is_never_suggested(name: str) -> None:
    assert message_of(name) == f"name '{name}' is not defined"


def test_an_unlike_name_of_a_library_is_not_suggested() -> None:
    assert message_of("torch.nn.Table(3, 4)") == "module 'torch.nn' has no attribute 'Table'"
    assert message_of("torch.zeros(2).append(1)") == "'Tensor' object has no attribute 'append'"


@pytest.mark.parametrize("name", ["module", "add_modul", "embedding"])
def test_what_a_class_inherits_from_its_library_is_not_suggested(name: str) -> None:
    names: dict[str, Any] = {"__name__": "ex01_a", "torch": torch}
    source = f"class Layer(torch.nn.Module):\n    def forward(self, x):\n        return self.{name}(x)\n"
    exec(compile(source, "ex01_a.py", "exec"), names)
    with pytest.raises(AttributeError) as raised:
        names["Layer"]()(torch.zeros(2))
    assert read_fault(describe(raised.value, ["ex01_a.py"])).full_message == f"'Layer' object has no attribute '{name}'"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shuffle", "given has no shuffle; did you mean given.shuffled?"),
        ("normal", 'given.normal needs numpy: write libraries = ["numpy"] into course.toml'),
    ],
)
def test_a_sentence_that_says_what_was_meant_gets_no_second_suggestion(name: str, message: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(PlainGiven(1, {}), name)
    assert read_fault(describe(raised.value, [])).full_message == message


def test_a_suggestion_follows_a_sentence_with_its_own_stop() -> None:
    class Box:
        total = 1

        def __getattr__(self, name: str) -> None:
            raise AttributeError("no such part.")

    name = "totall"
    with pytest.raises(AttributeError) as raised:
        getattr(Box(), name)
    assert read_fault(describe(raised.value, [])).full_message == "no such part. Did you mean: 'total'?"


def test_an_exception_that_raises_on_any_access_gets_no_suggestion() -> None:
    class Odd(AttributeError):
        @property
        def name(self) -> str:  # type: ignore[override]
            raise KeyboardInterrupt

        def __str__(self) -> str:
            raise KeyboardInterrupt

    fault = read_fault(describe(Odd(), []))
    assert fault.full_message == "(its message cannot be shown)"


def test_what_a_check_refuses_is_said_as_data_too() -> None:
    names: dict[str, Any] = {"__name__": "ex01_a"}
    exec(compile(SOURCE, "ex01_a.py", "exec"), names)
    name = "wq"
    with pytest.raises(AttributeError) as raised:
        getattr(names["Layer"](), name)
    refusal = read_fault(describe(raised.value, ["ex01_a.py"])).refusal
    assert refusal[1:] == ("attribute", "Layer", "wq", "w_q")
    with pytest.raises(StructureError) as lacking:
        Implementation(ModuleType("ex01_a")).mean  # noqa: B018
    assert read_fault(describe(lacking.value, [])).refusal[1:] == ("definition", "ex01_a.py", "mean", "")
    wanted = {"scale": (3,), "shift": (3,)}
    two = StructureError(*compare_parameters("Part", {"scal": (3,), "shift": (4,)}, wanted))
    fault = read_fault(describe(two, []))
    assert [one[1:] for one in fault.refusals] == [
        ("parameter", "Part", "scale", "scal"),
        ("shape", "Part", "shift", ""),
    ]
    assert fault.message == ". ".join(one.sentence for one in fault.refusals)


def test_a_module_without_forward_lacks_a_method() -> None:
    names: dict[str, Any] = {"__name__": "ex01_a", "torch": torch}
    source = "class Layer(torch.nn.Module):\n    def foward(self, x):\n        return x\n"
    exec(compile(source, "ex01_a.py", "exec"), names)
    with pytest.raises(NotImplementedError) as raised:
        names["Layer"]()(torch.zeros(2))
    fault = describe(raised.value, ["ex01_a.py"])
    says = "Layer has no method forward; it has foward: rename it if that is the one"
    assert (fault["kind"], fault["message"]) == ("structure", says)


def test_a_function_that_was_only_called_has_no_line_yet() -> None:
    names: dict[str, Any] = {}
    source = "def same(f): return f\n\n@same\ndef inner(x):\n    return x\n\ndef outer(x):\n    return inner(x)\n"
    exec(compile(source, "ex01_a.py", "exec"), names)
    seen: list[list[tuple[str, int]]] = []

    def on_call(frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code.co_filename == "ex01_a.py":
            seen.append([(at["function"], at["line"]) for at in frames_of(frame, ["ex01_a.py"])])

    traced = sys.gettrace()
    sys.settrace(on_call)
    try:
        names["outer"](1)
    finally:
        sys.settrace(traced)
    assert seen == [[], [("outer", 8)]]


SPINS = """
def spin(items):
    while True:
        for item in items:
            if item == 9 and items:
                items = []
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a signal")
def test_a_frame_on_the_jump_of_a_loop_has_a_line_of_the_loop() -> None:
    module, seen = ModuleType("ex01_a"), list[int]()

    def stop(_: int, frame: FrameType | None) -> None:
        seen.append(frames_of(frame, ["ex01_a.py"])[-1]["line"])
        raise TimeoutError

    exec(compile(SPINS, "ex01_a.py", "exec"), module.__dict__)
    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
        with pytest.raises(TimeoutError):
            module.spin([0] * 100)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert seen
    assert set(seen) <= {3, 4, 5}
