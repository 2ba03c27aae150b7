"""The shapes that a student's lines made, read from traces."""

from collections.abc import Mapping

from autograder.checks.trials import Key
from autograder.runner.traces import Trace

Shapes = Mapping[int, tuple[str, tuple[int, ...]]]
"""The check that ran a line, and the shape of the last tensor made there or in a call there, by the line's number."""


def last_shapes(traces: Mapping[Key, Trace], file: str) -> dict[int, tuple[str, tuple[int, ...]]]:
    """Return the shapes by line of a file; a line that several checks run has that of the first of them.

    Constructors are left out: the last tensor made there is a parameter of a part, not the value of the line.
    """
    found: dict[int, tuple[str, tuple[int, ...]]] = {}
    for (check, _), trace in traces.items():
        own = {
            place.line: (check, step.shape)
            for step in trace.steps
            for place in step.stack
            if place.file == file and not (place.function or "").endswith("__init__")
        }
        found = {**own, **found}
    return found
