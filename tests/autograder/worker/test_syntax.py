"""What the syntax of a file says: here, which names and attributes are assigned, and where."""

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


def test_each_name_that_an_assignment_gives_a_value_is_found() -> None:
    """What is written into a list or into another object is no name of the function."""
    assert survey(SOURCE, ())["assignments"] == [
        ["Layer", "self.size", 4],
        ["Layer", "self.parts", 4],
        ["Layer.__init__", "first", 5],
        ["Layer.__init__", "rest", 5],
        ["Layer.__init__", "last", 5],
        ["Layer.forward", "x", 8],
        ["Layer.forward", "y", 8],
    ]
