"""The state of each TODO, from the syntax of the stub and of a learner's file."""

import pytest

from autograder.protocol import outline_of
from autograder.submission import todos_of

STUB = '''\
class Heads:
    """Many heads."""

    def __init__(self, size):
        super().__init__()
        self.weights = None
        # TODO ex06: make the projections
        raise NotImplementedError("ex06: Heads.__init__")

    def forward(self, x):
        """Return x (B, T, D)."""
        raise NotImplementedError("ex06: Heads.forward")

    def given(self):
        return 1


def merge(x):
    """Merge the heads."""
    # TODO ex06: swap the axes
    raise NotImplementedError("ex06: merge")
'''
MERGE = '    raise NotImplementedError("ex06: merge")\n'
INIT = '        raise NotImplementedError("ex06: Heads.__init__")\n'


def states(source: str) -> dict[str, tuple[str, int]]:
    """Return the state and the line of each TODO."""
    found = todos_of(outline_of(STUB), outline_of(source), "ex06.py")
    return {todo.name: (todo.state, todo.place.line) for todo in found}


def test_the_todos_of_a_stub_are_open_at_the_lines_that_raise() -> None:
    assert states(STUB) == {"Heads.__init__": ("open", 8), "Heads.forward": ("open", 12), "merge": ("open", 21)}


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("    return x.transpose(1, 2)\n", ("done", 21)),
        ("    swapped = x.transpose(1, 2)\n" + MERGE, ("started", 22)),
        (MERGE + "    return x.transpose(1, 2)\n", ("started", 21)),
        ("    return x.transpose(1, 2)\n" + MERGE, ("done", 21)),
        ("    if x is None:\n        raise NotImplementedError('no x')\n    return x\n", ("done", 21)),
        ("    raise NotImplementedError\n", ("open", 21)),
        ('    raise NotImplementedError("later")\n', ("open", 21)),
        ("    pass\n", ("empty", 21)),
        ("    ...\n", ("empty", 21)),
        ("    # later\n    pass\n" + MERGE, ("open", 23)),
        ("\n", ("empty", 19)),
    ],
)
def test_a_function_is_written_if_it_has_code_and_raises_no_more(body: str, state: tuple[str, int]) -> None:
    assert states(STUB.replace(MERGE, body))["merge"] == state


def test_what_the_stub_gives_is_no_work() -> None:
    assert states(STUB.replace(INIT, ""))["Heads.__init__"] == ("empty", 6)
    assert states(STUB.replace(INIT, "        pass\n"))["Heads.__init__"] == ("empty", 8)
    assert states(STUB.replace(INIT, "        self.w_q = size\n"))["Heads.__init__"] == ("done", 5)


def test_a_function_on_one_line_is_written() -> None:
    source = STUB[: STUB.index("def merge")] + "def merge(x): return x\n"
    assert states(source)["merge"] == ("done", 18)
    assert states(source.replace("return x", "raise NotImplementedError"))["merge"] == ("open", 18)


def test_a_function_that_is_gone_is_left_out() -> None:
    assert list(states(STUB.replace("def merge", "def merged"))) == ["Heads.__init__", "Heads.forward"]


def test_there_are_no_states_without_a_stub_or_with_too_many_statements() -> None:
    assert todos_of(None, outline_of(STUB), "ex06.py") == ()
    assert todos_of(outline_of(STUB), None, "ex06.py") == ()
    assert states(STUB + "x = 1\n" * 2100) == {}
