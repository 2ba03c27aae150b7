"""Plain values as numbers for traces and as texts beside exceptions; no method of a student's class runs."""

from collections import deque
from typing import Any

import numpy as np
import pytest

from autograder.protocol import BEYOND, PLAIN_NUMBERS
from autograder.worker import support
from autograder.worker.line_tracing import Encoded, describe, encode


class Node:
    """An object as a student's class makes it."""

    def __init__(self, data: float, *children: "Node") -> None:
        self.data = data
        self.children = children

    def __repr__(self) -> str:
        raise AssertionError("it was called")

    __eq__ = __hash__ = __len__ = __iter__ = __getattr__ = __repr__  # type: ignore[assignment]


OWN = (Node.__module__,)


def test_lists_of_numbers_and_arrays_keep_their_shape() -> None:
    expected = Encoded("int", (2, 3), (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))
    assert encode([[1, 2, 3], (4, 5, 6)], OWN) == expected == encode(np.arange(1, 7).reshape(2, 3), OWN)
    assert encode(2.5, OWN) == Encoded("float", (), (2.5,))
    assert encode([True, False], OWN) == Encoded("truth", (2,), (1.0, 0.0))


DIFFERENT: list[Any] = [
    *(0, 1, 20_000, 20_001, -20_001, 1e300, 1e301, None, "", "a", "b", "ab", [], [1], [[1]], [1, 2], [2, 1]),
    *(
        b"",
        b"a",
        b"\xff",
        [b"a"],
        {"a": 1},
        {"a": 2},
        {1, 2},
        {1, 3},
        ["a"],
        ["b"],
        [1, "a"],
        [None],
        Node(1.0),
        Node(2.0),
        Node(1.0, Node(2.0)),
    ),
]


def test_different_values_are_different_numbers() -> None:
    encoded = [encode(value, OWN) for value in DIFFERENT]
    assert None not in encoded
    assert len(set(encoded)) == len(DIFFERENT)


def test_equal_values_are_equal_numbers() -> None:
    assert encode({3, 1, 2}, OWN) == encode({2, 3, 1}, OWN)
    assert encode([1, "a", None], OWN) == encode((1, "a", None), OWN) == encode(deque([1, "a", None]), OWN)
    assert encode(Node(1.0, Node(2.0)), OWN) == encode(Node(1.0, Node(2.0)), OWN)


def test_every_number_has_a_fingerprint() -> None:
    numbers = [number for value in DIFFERENT for number in (encode(value, OWN) or Encoded("", (), ())).numbers]
    assert all(-BEYOND <= number <= BEYOND for number in numbers)


@pytest.mark.parametrize("value", [print, Node, iter([]), [0] * (PLAIN_NUMBERS + 1), "x" and object(), 1j])
def test_what_is_too_large_or_no_data_is_left_out(value: object) -> None:
    assert encode(value, OWN) is None


def test_a_value_that_holds_itself_ends() -> None:
    itself: list[Any] = [1]
    itself.append(itself)
    first, second = Node(1.0), Node(2.0)
    first.children, second.children = (second,), (first,)
    assert encode(itself, OWN) is not None
    assert encode(first, OWN) is not None


TEXTS = {
    "7": 7,
    "an int of 333 bits": 10**100,
    "'ab'": "ab",
    "list of 3: 3, 1, 2": [3, 1, 2],
    "list of 0": [],
    "dict of 1: 'a': 1": {"a": 1},
    "set of 2": {1, 2},
    "list of 1: Node": [Node(1.0)],
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_value_beside_an_exception_is_short(text: str) -> None:
    assert describe(TEXTS[text]) == text
    assert len(describe(list(range(10**6))) or "") <= 60
    assert describe(Node(1.0)) is None


@pytest.mark.parametrize(("name", "near"), [("nmpy", "numpy"), ("troch", "torch"), ("pands", "pandas")])
def test_a_library_that_is_misspelt_is_not_to_be_installed(name: str, near: str) -> None:
    with pytest.raises(support.LibraryMissing, match=rf"did you mean {near}\?$"):
        support.load_support([name])


def test_a_library_that_is_missing_is_to_be_installed() -> None:
    with pytest.raises(support.LibraryMissing, match=r"`pip install nosuchlibrary`$"):
        support.load_support(["nosuchlibrary"])
