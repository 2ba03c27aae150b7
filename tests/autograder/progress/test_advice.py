"""Advice on failures that have no hints."""

import pytest

from autograder.progress.next_steps import _experiment, advice


@pytest.mark.parametrize(
    ("status", "kind", "id_", "message", "about"),
    [
        ("error", "exception", "SyntaxError", "'(' was never closed", "bracket"),
        ("error", "exception", "SyntaxError", "expected ':'", "colon"),
        ("error", "exception", "SyntaxError", "cannot assign to literal here", "ran nothing"),
        ("error", "exception", "dotted_import", "invalid syntax: write `from a.b import c`", "without a dot"),
        ("error", "exception", "not_imported", "add `import math`", "imports itself"),
        ("error", "exception", "set_without_self", "`self.` is missing", "`__init__` ends"),
        ("error", "exception", "self_not_taken", "`self` is missing", "first argument"),
        ("error", "exception", "IndentationError", "unexpected indent", "spaces"),
        ("error", "exception", "NameError", "Your code raised NameError", "spelling"),
        ("error", "exception", "RuntimeError", "Your code raised RuntimeError", "of tensors the shapes"),
        ("error", "exception", "SystemExit", "Your code calls exit()", "`return`"),
        ("timeout", "exception", "timeout", "stopped", "loop"),
        ("memory", "exception", "MemoryError", "stopped", "axis"),
        ("fail", "forbidden", "torch.softmax", "must not be used", "yourself"),
        ("fail", "structure", "structure", "has no parameter w", "`self.`"),
        ("fail", "structure", "unregistered", "has no parameter w", "registers"),
        ("fail", "structure", "none", "Your code returned None", "without `return`"),
        ("fail", "structure", "signature", "Your code cannot be called", "parameters"),
        ("fail", "structure", "type", "gives a tuple", "`->`"),
        ("error", "exception", "AttributeError", "Your code raised AttributeError", "before its dot"),
        ("error", "exception", "unset_attribute", "no line sets `self.a`", "Give it a value"),
        ("error", "exception", "without_self", "write `self.a`", "before that name"),
        ("error", "exception", "returns_nothing", "f() returns nothing", "`return`"),
        ("fail", "pattern", "value", "differs", "check again"),
    ],
)
def test_each_kind_of_failure_has_advice_that_is_about_it(
    status: str, kind: str, id_: str, message: str, about: str
) -> None:
    assert about in advice(status, kind, id_, message)


@pytest.mark.parametrize(
    ("quoted", "about"),
    [
        ("cannot assign module before Module.__init__() call", "`super().__init__()`"),
        ("Boolean value of Tensor with more than one value is ambiguous", "`a & b`"),
        ("'NoneType' object is not subscriptable", "gives None"),
    ],
)
def test_the_library_s_own_text_decides_on_the_advice(quoted: str, about: str) -> None:
    assert about in advice("error", "exception", "AttributeError", "Your code raised it", quoted)


@pytest.mark.parametrize(
    ("name", "axes", "at", "said"),
    [
        ("where weights are 0", "query, key", "0, 3", "where weights are 0, query 0, key 3: 2, expected 1."),
        ("source.weight", "at", "21, 3", "source.weight, index 21, 3: 2, expected 1."),
        ("rows", "at", "item 0 of rows", "item 0 of rows: 2, expected 1."),
    ],
)
def test_what_was_measured_is_called_by_its_title_and_not_a_result(name: str, axes: str, at: str, said: str) -> None:
    assert _experiment({"evidence": {"name": name, "axes": axes, "witnesses": [[at, "1", "2"]]}}) == said
