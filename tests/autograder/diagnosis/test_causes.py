"""Causes of an exception that the code itself shows."""

import pytest

from autograder.diagnosis.exceptions import of_fault
from autograder.messages.exceptions import AttributeLacking, Cause, CountReturned, Raised
from autograder.protocol.functions import Function
from autograder.results import Place
from autograder.runner.outcomes import Fault, Survey

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
    fact = of_fault(fault, FILE, SOURCE, SURVEY).fact
    assert isinstance(fact, Raised)
    return fact


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
    fact = raised(f"'Layer' object has no attribute '{name}'", 11)
    assert fact.cause == cause
    assert fact.id == (cause.id if cause else "AttributeError")


def test_a_class_of_a_library_is_skipped() -> None:
    assert raised("'Tensor' object has no attribute 'd_model'", 11).cause is None


@pytest.mark.parametrize("name", ["scale", "forward"])
def test_an_attribute_without_self_is_called_so(name: str) -> None:
    message = f"name '{name}' is not defined. Did you mean: 'table'?"
    fault = Fault("NameError", ("NameError",), message, "other", (Place(FILE, 11, "Layer.forward"),))
    found = of_fault(fault, FILE, SOURCE, SURVEY)
    assert isinstance(found.fact, Raised)
    assert found.fact.cause == Cause("without_self", name)
    assert found.quoted == f"name '{name}' is not defined"


def test_a_name_that_is_no_attribute_has_no_such_cause() -> None:
    assert raised("name 'n' is not defined", 11, "NameError").cause is None


def test_what_a_library_says_of_a_result_is_explained() -> None:
    message = "one of the variables needed for gradient computation has been modified by an inplace operation: [torch"
    fact = of_fault(Fault("RuntimeError", ("RuntimeError",), message, "other", ()), FILE, SOURCE, SURVEY).fact
    expected = "The check fails on what your code returned: a value that the backward pass needs was changed in place"
    assert fact.wording().says == expected


def test_the_function_that_returns_nothing_is_named() -> None:
    fact = raised("'NoneType' object has no attribute 'half'", 8)
    assert fact.cause == Cause("returns_nothing", "table")
    assert raised("'NoneType' object has no attribute 'half'", 11).reason == "a value is None where an object is needed"


@pytest.mark.parametrize(
    ("message", "type_", "expected"),
    [
        ("'tuple' object has no attribute 'queries'", "AttributeError", AttributeLacking("tuple", "queries")),
        ("too many values to unpack (expected 2)", "ValueError", CountReturned(2, more=True)),
    ],
)
def test_a_result_of_another_type_is_called_so(message: str, type_: str, expected: object) -> None:
    assert of_fault(Fault(type_, (type_,), message, "other", ()), FILE, SOURCE, SURVEY).fact == expected
