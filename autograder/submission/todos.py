"""The state of each TODO of an exercise, read from the syntax of the stub and of the learner's file."""

from autograder.protocol.bounds import SURVEY_STATEMENTS
from autograder.protocol.functions import Function, Outline, outline_of
from autograder.results import Place, Todo
from autograder.results.model import TodoState

_PASS = outline_of("pass").statements[0][0]
"""The hash of `pass`, which is no work."""


def todos_of(stub: Outline | None, work: Outline | None, file: str) -> tuple[Todo, ...]:
    """Return the TODOs of a stub in their order, with their states in the learner's file.

    Omit a TODO whose function is no longer in the file: nothing is known about the work on it.
    """
    if stub is None or work is None or len(work.statements) >= SURVEY_STATEMENTS:
        return ()
    present = {function.name: function for function in work.functions}
    return tuple(
        _todo(given, _statements(given, stub), present[given.name], work, file)
        for given in stub.functions
        if given.todo and given.name in present
    )


def _todo(given: Function, handed_out: frozenset[str], own: Function, work: Outline, file: str) -> Todo:
    has_code = own.body == own.line or not _statements(own, work) <= {*handed_out, _PASS}
    state: TodoState = "done" if has_code else "empty"
    if own.todo:
        # The line of the TODO may have another text than in the stub: that is no work either.
        todo = {hash_ for hash_, line in work.statements if line == own.todo}
        state = "started" if _statements(own, work) - todo - handed_out - {_PASS} else "open"
    return Todo(given.name, state, Place(file, own.todo or (own.end if state == "empty" else own.body), given.name))


def _statements(function: Function, outline: Outline) -> frozenset[str]:
    """Return the hashes of the statements of a function, without its head."""
    within = range(function.line + 1, function.end + 1)
    return frozenset(hash_ for hash_, line in outline.statements if line in within)
