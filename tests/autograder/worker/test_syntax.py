"""The survey of a file's syntax: which names and attributes are assigned, and on which lines."""

from autograder.worker.syntax import survey

SOURCE = b"""
class Layer:
    def __init__(self, size):
        self.size, self.parts = size, []
        (first, *rest), [last] = (1, 2), [3]

    def forward(self, x):
        x = y = self.size
        x[0], self.parts.first = 1, 2
"""


def test_every_assigned_name_is_found_with_its_line() -> None:
    """`x[0]` and `self.parts.first` are no names of the function: it writes into other objects there."""
    assert survey(SOURCE, ())["assignments"] == [
        ["Layer", "self.size", 4],
        ["Layer", "self.parts", 4],
        ["Layer.__init__", "first", 5],
        ["Layer.__init__", "rest", 5],
        ["Layer.__init__", "last", 5],
        ["Layer.forward", "x", 8],
        ["Layer.forward", "y", 8],
    ]
