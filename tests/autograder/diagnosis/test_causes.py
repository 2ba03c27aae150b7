"""Causes of an exception that the code itself shows."""

import pytest

from autograder.diagnosis import of_fault
from autograder.diagnosis.exceptions import (
    Cause,
    Raised,
    import_of,
    lacking_attribute,
    returned_count,
    wrong_signature,
)
from autograder.protocol import Function, Refusal
from autograder.results import Place
from autograder.runner import Fault, Survey
from autograder.runner.outcomes import read_survey
from autograder.worker.syntax import survey

FILE = "ex01_first.py"
SOURCE = b"""\
def table(n):
    x = n


class Layer:
    def __init__(self, n):
        self.scale = n
        self.add("rows", table(n).half())

    def forward(self, x):
        return x * self.scal
"""
FUNCTIONS = (
    Function("table", 1, 2, 2, 0),
    Function("Layer.__init__", 6, 7, 8, 0),
    Function("Layer.forward", 10, 11, 11, 0),
)
SURVEY = Survey(
    {"table": (1,), "Layer.__init__": (6,), "Layer.forward": (10, 11)},
    (),
    assignments=(("table", "x", 2), ("Layer", "self.scale", 7)),
    functions=FUNCTIONS,
)


def raised(message: str, line: int, type_: str = "AttributeError") -> Raised:
    function = "Layer.forward" if line == 11 else "Layer.__init__"
    fault = Fault(type_, (type_,), message, "other", (Place(FILE, line, function),))
    data = of_fault(fault, FILE, SOURCE, SURVEY).fact.data
    assert isinstance(data, Raised)
    return data


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("scal", Cause("misspelt_attribute", "scal", "scale")),
        ("d_model", Cause("unset_attribute", "d_model", "Layer")),
        ("scale", None),
        ("rows", None),  # a name in quotes may be registered
        ("forward", None),
    ],
)
def test_an_attribute_that_no_line_sets_is_called_so(name: str, cause: Cause | None) -> None:
    found = raised(f"'Layer' object has no attribute '{name}'", 11)
    assert found.cause == cause
    assert found.fact.id == (cause.id if cause else "AttributeError")


def test_a_class_of_a_library_is_skipped() -> None:
    assert raised("'Tensor' object has no attribute 'd_model'", 11).cause is None


@pytest.mark.parametrize("name", ["scale", "forward"])
def test_an_attribute_without_self_is_called_so(name: str) -> None:
    message = f"name '{name}' is not defined"
    fault = Fault("NameError", ("NameError",), message, "other", (Place(FILE, 11, "Layer.forward"),), near="table")
    found = of_fault(fault, FILE, SOURCE, SURVEY)
    assert isinstance(found.fact.data, Raised)
    assert found.fact.data.cause == Cause("without_self", name)
    assert found.quoted == f"name '{name}' is not defined"


def test_a_name_that_is_no_attribute_has_no_such_cause() -> None:
    assert raised("name 'n' is not defined", 11, "NameError").cause is None


CLASS = b"""\
class Part:
    def __init__(self, d_model):
        scale = math.sqrt(d_model)
        self.time = copy.deepcopy(d_model)

    def rows(ids):
        return ids

    @staticmethod
    def columns(ids):
        return ids

    def reset(self):
        self.time = 0

    def forward(self, ids):
        self.reset()
        return self.state * time.shape * F.relu(ids)
"""
PART = read_survey({**survey(CLASS, ()), "helpers": [], "flags": []})


def cause_in_part(message: str, line: int, type_: str = "NameError", function: str = "Part.forward") -> Cause | None:
    fault = Fault(type_, (type_,), message, "other", (Place(FILE, line, function),))
    data = of_fault(fault, FILE, CLASS, PART, ("torch",)).fact.data
    assert isinstance(data, Raised)
    return data.cause


@pytest.mark.parametrize(
    ("name", "line", "cause"),
    [
        ("math", 3, Cause("not_imported", "math", "import math")),
        ("copy", 4, Cause("not_imported", "copy", "import copy")),
        ("F", 18, Cause("not_imported", "F", "import torch.nn.functional as F")),
        ("Tensor", 18, Cause("not_imported", "Tensor", "from torch import Tensor")),
        ("Optional", 18, Cause("not_imported", "Optional", "from typing import Optional")),
        ("time", 18, Cause("without_self", "time")),
        ("state", 18, None),
        ("copy", 18, None),  # not read as a module there
        ("random", 3, None),
    ],
)
def test_a_name_that_is_not_imported_has_its_import(name: str, line: int, cause: Cause | None) -> None:
    assert cause_in_part(f"name '{name}' is not defined", line) == cause


def test_a_name_of_a_library_that_a_course_does_not_use_has_no_import() -> None:
    assert import_of("nn", "class Part(nn.Module):", ()) is None
    assert import_of("math", "math.sqrt(2)", ()) == "import math"
    assert import_of("time", "time.shape", ("torch",)) is None
    assert import_of("nn", "x = nn", ("torch",)) is None


def test_a_variable_of_init_is_no_attribute() -> None:
    message = "'Part' object has no attribute 'scale'"
    assert cause_in_part(message, 18, "AttributeError") == Cause("set_without_self", "scale")
    refusal = Refusal("Part has no parameter scale (3,)", "parameter", "Part", "scale")
    refused = Fault("StructureError", (), refusal.sentence, "structure", (), refusals=(refusal,))
    found = of_fault(refused, FILE, CLASS, PART)
    assert found.place == Place(FILE, 3, "Part.__init__")
    assert found.fact.also == ("you wrote `scale = …` in `__init__`; `self.` is missing before it",)


def test_modules_in_a_plain_list_are_unregistered() -> None:
    refusals = (Refusal("Part has no parameter a", "parameter", "Part", "a"), Refusal("a list", "registration"))
    refused = Fault("StructureError", (), refusals[0].sentence, "structure", (), refusals=refusals)
    fact = of_fault(refused, FILE, CLASS, PART).fact
    assert (fact.id, fact.also) == ("unregistered", ("a list",))


@pytest.mark.parametrize(
    ("method", "cause"), [("rows", Cause("self_not_taken", "rows")), ("columns", None), ("forward", None)]
)
def test_a_method_without_self_is_called_so(method: str, cause: Cause | None) -> None:
    message = f"Part.{method}() takes 1 positional argument but 2 were given"
    assert cause_in_part(message, 18, "TypeError") == cause
    assert cause_in_part(message.replace("2 were", "3 were"), 18, "TypeError") is None
    fact = of_fault(Fault("TypeError", ("TypeError",), message, "other", ()), FILE, CLASS, PART).fact
    assert fact == wrong_signature(cause)


def test_a_function_whose_result_is_not_read_is_not_blamed_for_none() -> None:
    message = "unsupported operand type(s) for *: 'NoneType' and 'float'"
    assert cause_in_part(message, 18, "TypeError") is None
    fact = raised(message, 8, "TypeError")
    assert fact.cause == Cause("returns_nothing", "table")


def test_an_import_with_a_dot_is_written_as_it_should_be() -> None:
    source = b"from torch import nn, nn.Linear\n"
    fault = Fault("SyntaxError", ("SyntaxError",), "invalid syntax", "other", (Place(FILE, 1),), at_import=True)
    fact = of_fault(fault, FILE, source).fact
    assert fact.says.endswith("invalid syntax: write `from torch.nn import Linear`")
    assert fact.id == "dotted_import"


def test_the_file_of_a_library_is_left_out() -> None:
    message = "cannot import name 'Linear' from 'torch' (/home/user/.venv/torch/__init__.py)"
    found = of_fault(Fault("ImportError", (), message, "other", (Place(FILE, 1),), at_import=True), FILE, b"")
    assert found.quoted == "cannot import name 'Linear' from 'torch'"
    assert found.fact.also == ("the module `torch` has no name `Linear`; write `from torch.nn import Linear`",)


def test_what_a_library_says_of_a_result_is_explained() -> None:
    message = "one of the variables needed for gradient computation has been modified by an inplace operation: [torch"
    fact = of_fault(Fault("RuntimeError", ("RuntimeError",), message, "other", ()), FILE, SOURCE, SURVEY).fact
    expected = "The check fails on what your code returned: a value that the backward pass needs was changed in place"
    assert fact.says == expected


def test_the_function_that_returns_nothing_is_named() -> None:
    fact = raised("'NoneType' object has no attribute 'half'", 8)
    assert fact.cause == Cause("returns_nothing", "table")
    assert raised("'NoneType' object has no attribute 'half'", 11).reason == "a value is None where an object is needed"


@pytest.mark.parametrize(
    ("message", "type_", "expected"),
    [
        ("'tuple' object has no attribute 'queries'", "AttributeError", lacking_attribute("tuple", "queries")),
        ("too many values to unpack (expected 2)", "ValueError", returned_count(2, more=True)),
    ],
)
def test_a_result_of_another_type_is_called_so(message: str, type_: str, expected: object) -> None:
    assert of_fault(Fault(type_, (type_,), message, "other", ()), FILE, SOURCE, SURVEY).fact == expected
