"""Empty programs of plain Python: every family computes nothing, also in methods, objects and arguments."""

from types import ModuleType
from typing import Any

import pytest

from autograder.authoring.programs import FAMILIES, empty_programs

PROGRAM = """
import numpy as np

class Value:
    def __init__(self, data):
        self.data = data
        self.grad = 0.0
    def __add__(self, other):
        return Value(self.data + other.data)
    def __repr__(self):
        return f"Value({self.data})"
    def backward(self):
        self.grad = 5.5

class Store:
    def __init__(self):
        import collections
        self.items, self.counts, self.last, self.seen = [], {}, collections.deque(), set()
        self.rows, self.marks, self.nodes = [[0, 0]], np.zeros(3), {}
    def push(self, number):
        self.items.append(number)
        self.counts[number] = number + 1
        self.last.append(number)
        self.seen.add(number)
        self.rows[0][1] = number
        self.marks[0] = number
        self.nodes[number] = Value(number)

def sort(values):
    return sorted(values)

def sort_in_place(values):
    values.sort()

def mean(values):
    return sum(values) / len(values)

def longest(words):
    return max(words, key=len)

def load(words):
    import sqlite3
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE words (word TEXT)")
    connection.executemany("INSERT INTO words VALUES (?)", [(word,) for word in words])
    return connection

def lengths(words):
    yield from map(len, words)

def adder(number):
    def add(other):
        return number + other
    return add

def halves(x):
    return x / 2

def descend(parts):
    for part in parts:
        part.data = part.data - 0.25
"""


class Part:
    """An object whose class a check defines."""

    def __init__(self, data: float) -> None:
        self.data = data


def emptied(family: str) -> ModuleType:
    module = ModuleType("ex01_own")
    text = dict(empty_programs(PROGRAM, with_tensors=False))[family]
    exec(text, module.__dict__)
    return module


def observations(own: Any) -> dict[str, Any]:
    """Return what checks may observe of the program: the right numbers if it is right."""
    import numpy as np

    in_place, part, value = [9, 2, 7, 4], Part(8.0), own.Value(3.0)
    own.sort_in_place(in_place)
    own.descend([part])
    value.backward()
    store = own.Store()
    for number in (31, 52, 23, 64, 85):
        store.push(number)
    return {
        "an attribute that is a list": store.items,
        "an attribute that is a dict": store.counts,
        "an attribute that is a queue": [*store.last],
        "an attribute that is a set": store.seen,
        "a list in an attribute": store.rows,
        "an attribute that is an array": store.marks.tolist(),
        "objects in an attribute": sorted(store.nodes),
        "a list": own.sort([9, 2, 7, 4]),
        "a list in place": in_place,
        "a number": own.mean([9.0, 2.0, 7.0, 4.0]),
        "a text": own.longest(["a", "three", "of"]),
        "an operator": (own.Value(2.0) + own.Value(1.5)).data,
        "a text of an object": repr(own.Value(2.0)),
        "an attribute": value.grad,
        "an argument of the check's class": part.data,
        "an array": own.halves(np.array([[2.0, 4.0], [6.0, 8.0]])).tolist(),
    }


def right() -> dict[str, Any]:
    module = ModuleType("ex01_own")
    exec(PROGRAM, module.__dict__)
    return observations(module)


RIGHT = right()


def same(one: Any, other: Any) -> bool:
    return bool(one == other)


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"refuses", "nothing"}))
def test_nothing_that_a_family_gives_is_right(family: str) -> None:
    found = observations(emptied(family))
    assert [name for name, value in found.items() if same(value, RIGHT[name])] == []


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"refuses"}))
def test_an_object_that_cannot_be_copied_is_not_handed_on(family: str) -> None:
    own = emptied(family)
    assert own.load(["a", "three"]) is None
    assert own.lengths(["a", "three"]) is None
    if family != "nothing":
        assert own.adder(2)(1.5) != 3.5


def test_constructors_stay_right_and_forms_are_kept() -> None:
    own = emptied("zeros")
    assert own.Value(2.0).data == 2.0
    assert own.sort([3, 1]) == [0, 0]
    assert type(own.Value(1.0) + own.Value(2.0)) is own.Value
    assert emptied("nothing").sort([3, 1]) == []


def test_one_family_refuses_with_every_size_it_can_name() -> None:
    with pytest.raises(ValueError, match="4"):
        emptied("refuses").sort([1, 2, 3, 4])
