"""A traced program of plain Python: which values its statements make, of what, and on which lines."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.protocol import PLAIN_NUMBERS, TRACE_STEPS
from autograder.runner import RecordedTrace, TraceStep, read_trace
from autograder.worker.line_tracing import LineTracing

FILE = "ex01_own.py"


def traced(source: str, call: Callable[[dict[str, Any]], Any]) -> RecordedTrace:
    """Return the trace of a call of a student's file, as the judge reads it."""
    names: dict[str, Any] = {"__name__": "ex01_own"}
    exec(compile(source, FILE, "exec"), names)
    tracing = LineTracing([FILE], {FILE: source.encode()})
    returned = None
    try:
        with tracing:
            returned = call(names)
    except ArithmeticError:
        pass
    return read_trace(tracing.as_data(returned), sliced=False)


def lines(trace: RecordedTrace) -> list[int | None]:
    """Return the line of each step; None for those of the check."""
    return [step.stack[0].line if step.stack else None for step in trace.steps]


def named(trace: RecordedTrace, name: str) -> list[TraceStep]:
    return [step for step in trace.steps if step.name == name]


SUM = """\
def total(values):
    result = 0
    for value in values:
        result += value
    return result
"""


def test_each_value_has_the_line_of_its_statement_and_what_it_is_made_of() -> None:
    trace = traced(SUM, lambda own: own["total"]([3, 5]))
    assert lines(trace) == [None, 1, 2, 3, 4, 3, 4]
    call, values, result, first, after_first, second, after_second = range(7)
    inputs = [set(step.inputs) for step in trace.steps]
    assert inputs[values] == {call}
    assert inputs[after_first] == {result, first}
    assert inputs[after_second] == {after_first, second}
    assert trace.results == (after_second,)
    assert [step.shape for step in trace.steps[1:3]] == [(2,), ()]


def test_a_list_that_is_changed_in_place_is_a_new_value() -> None:
    source = "def f(values):\n    values[0] = 9\n    values.append(4)\n"
    trace = traced(source, lambda own: own["f"]([1, 2]))
    assert lines(trace) == [None, 1, 2, 3]
    assert trace.steps[-1].shape == (3,)


def test_a_result_is_made_on_its_own_line_and_handed_on() -> None:
    source = "def double(x):\n    return 2 * x\n\ndef f(x):\n    y = double(x)\n    return y + 1\n"
    trace = traced(source, lambda own: own["f"](10))
    assert lines(trace) == [None, 4, 2, 6]
    assert [place.line for place in trace.steps[2].stack] == [2, 5]
    assert trace.steps[3].inputs == (2,)


def test_attributes_of_self_are_values() -> None:
    source = (
        "class Counter:\n    def __init__(self):\n        self.count = 3\n    def add(self):\n        self.count += 4\n"
    )

    def use(own: dict[str, Any]) -> None:
        counter = own["Counter"]()
        counter.add()

    assert [line for line in lines(traced(source, use)) if line in (3, 5)] == [3, 5]


def test_a_failed_statement_leaves_what_it_was_made_of() -> None:
    source = "def f(a):\n    b = a - 1\n    return a / b\n"
    trace = traced(source, lambda own: own["f"](1))
    made = {trace.steps[step].stack[0].line for step in trace.results}
    assert made == {1, 2}


@pytest.mark.parametrize("body", ["[x for x in values]", "sum(x for x in values)", "{x: 1 for x in values}"])
def test_the_variable_of_a_comprehension_is_no_value(body: str) -> None:
    trace = traced(f"def f(values):\n    return {body}\n", lambda own: own["f"]([7, 8, 7]))
    assert lines(trace) in ([None, 1, 2], [None, 1])  # the list of all values is the argument itself


def test_a_long_loop_a_deep_recursion_and_a_large_value_keep_the_bounds() -> None:
    source = "def f(n):\n    k = 0\n    while k < n:\n        k += 1\n    return k if n < 5 else f(n - 1)\n"
    trace = traced(source, lambda own: own["f"](200))
    assert len(trace.steps) <= TRACE_STEPS
    large = traced("def f(n):\n    x = [0] * n\n    y = 1\n", lambda own: own["f"](PLAIN_NUMBERS + 1))
    assert 2 not in lines(large)
    assert 3 in lines(large)


def test_generators_and_callbacks_do_not_confuse_the_frames() -> None:
    source = "def pairs(n):\n    for k in range(n):\n        yield k * 2\n\ndef f(n):\n    return list(pairs(n))\n"
    trace = traced(source, lambda own: own["f"](3))
    assert lines(trace)[-1] == 6
    source = "def f(call):\n    x = call(2)\n    return x + 1\n"
    trace = traced(source, lambda own: own["f"](lambda x: x * 5))
    assert lines(trace)[-2:] == [2, 3]


def test_values_that_do_not_fit_the_steps_are_refused() -> None:
    tracing = LineTracing([FILE], {FILE: b""})
    data = {**tracing.as_data(), "steps": [["value", [], [], [4], "int", False, [0, 1], None]]}
    with pytest.raises(ValueError, match="values that do not fit the steps"):
        read_trace(data)


NODES = """\
class Node:
    def __init__(self, slope):
        self.slope = slope
        self.grad = 0.0

    def walk(self):
        order = gathered(self)
        self.grad += 1.0
        return order


def gathered(node):
    return [node]


def made(number):
    return Node(number * 3.0)
"""


def test_what_is_made_of_an_object_is_made_of_the_line_that_made_the_object() -> None:
    trace = traced(NODES, lambda own: own["made"](0.7).walk()[0].grad)
    before: list[set[int]] = []
    for step in trace.steps:
        before.append(set(step.inputs).union(*(before[at] for at in step.inputs)))
    places = lines(trace)
    assert [step.name for step, line in zip(trace.steps, places, strict=True) if line == 17] == ["value", "value"]
    changed = [at for at, line in enumerate(places) if line == 8 and trace.steps[at].shape]  # the list, not its number
    assert changed
    assert {17, 7} <= {places[at] for at in before[changed[0]]}
