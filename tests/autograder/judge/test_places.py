"""Places that the syntax of a file gives: where a refused part is made, and what should raise and does not."""

from dataclasses import replace
from typing import Any

import pytest

from autograder.answer_key import AnswerKey
from autograder.checks import Raises
from autograder.diagnosis import Trials
from autograder.judge.verdict import definition, misplaced, missing_exception, place_of, raise_statement
from autograder.protocol import Function, Refusal
from autograder.results import Place
from autograder.runner import NO_SURVEY, Fault, Observed, Outcome, Survey
from tests.support import tiny

FILE = "ex03_blocks.py"
CHECK = replace(tiny.SUITE.checks[tiny.FIRST][0], of="Stack")
SURVEY = Survey(
    {"Block": (5, 9), "Block.__init__": (2,), "Block.forward": (5, 9), "Stack": (20, 25), "Stack.__init__": (12,)},
    (),
    (),
    (("Block", "self.inner", 4), ("Stack", "self.blocks", 14), ("Stack", "self.norm", 15)),
    (Function("Stack.__init__", 12, 13, 16, 0), Function("pile", 30, 31, 31, 0)),
)


def trials(survey: Survey, outcome: Outcome, source: bytes = b"") -> Trials:
    """Return trials of the check with one outcome."""
    return Trials(dict.fromkeys(CHECK.keys, outcome), CHECK.keys, AnswerKey({}, ()), lambda *_: {}, source, survey)


def lacking(owner: str, name: str, near: str = "", lacks: Any = "parameter") -> Refusal:
    """Return a refusal whose sentence does not name what it is about."""
    return Refusal("Something is wrong", lacks, owner, name, near)


@pytest.mark.parametrize(
    ("refusal", "place"),
    [
        (lacking("Stack", "norm.weight"), Place(FILE, 15, "Stack.__init__")),
        (lacking("Stack", "missing"), Place(FILE, 12, "Stack.__init__")),
        (lacking("Block", "inner.bias"), Place(FILE, 4, "Block.__init__")),
        (lacking("Block", "blocks"), Place(FILE, 2, "Block.__init__")),
        (lacking("Block", "inner.bias", lacks="shape"), Place(FILE, 4, "Block.__init__")),
        (lacking("Stack", "blocks.1.inner.weight"), Place(FILE, 14, "Stack.__init__")),  # one block, repeated
        (lacking("Stack", "blocks.0.inner.weight"), None),  # the class of the blocks, or the list
        (lacking("Stack", "nom.weight", near="norm.weight"), Place(FILE, 15, "Stack.__init__")),
        (lacking(FILE, "piles", near="pile", lacks="definition"), Place(FILE, 30, "pile")),
        (lacking(FILE, "Stacks", near="Stack", lacks="definition"), None),  # a class
        (lacking("Stack", "forward", near="foward", lacks="method"), None),
        (lacking("Stack", "norms", near="norm", lacks="attribute"), Place(FILE, 12, "Stack.__init__")),
        (lacking("Elsewhere", "weight"), None),  # a class of an earlier exercise's file
        (lacking("Elsewhere", "", lacks="base"), None),
        (Refusal("the blocks are one module"), Place(FILE, 12, "Stack.__init__")),
    ],
)
def test_the_place_is_in_the_class_that_a_refusal_is_about(refusal: Refusal, place: Place | None) -> None:
    assert definition(SURVEY, CHECK, FILE, refusal) == place


def test_without_a_survey_there_is_no_place() -> None:
    assert definition(NO_SURVEY, CHECK, FILE, lacking("Stack", "norm.weight")) is None


@pytest.mark.parametrize(("tensor", "line"), [("self.norm", 15), ("table", 30), ("twice", 33), ("x", 33), (None, 33)])
def test_a_tensor_on_the_wrong_device_is_shown_where_it_is_assigned(tensor: str | None, line: int) -> None:
    """`twice` is assigned on two lines and `x` is an argument: there the line that failed is all there is to show."""
    place = Place(FILE, 33, "Stack.forward")
    own = (("Stack.forward", "table", 30), ("Stack.forward", "twice", 31), ("Stack.forward", "twice", 32))
    survey = replace(SURVEY, assignments=(*SURVEY.assignments, *own))
    assert misplaced(survey, place, tensor).line == line


@pytest.mark.parametrize(
    ("returned", "place"),
    [
        ("Stack", Place(FILE, 12, "Stack.__init__")),
        ("Tensor", Place(FILE, 20, "Stack")),
    ],
)
def test_what_should_raise_and_does_not_is_shown_at_its_definition(returned: str, place: Place) -> None:
    outcome = Observed({"raised": [], "returned": returned, "mentions": ["7"]})
    assert missing_exception(SURVEY, CHECK, FILE, [outcome, outcome]) == place
    assert missing_exception(NO_SURVEY, CHECK, FILE, [outcome]) is None
    assert missing_exception(SURVEY, replace(CHECK, of="Elsewhere"), FILE, [outcome]) is None


def test_another_exception_than_the_expected_one_has_no_place_of_a_definition() -> None:
    raised = Observed({"raised": ["TypeError", "Exception"], "message": "no", "mentions": []})
    assert missing_exception(SURVEY, CHECK, FILE, [raised]) is None
    assert missing_exception(SURVEY, CHECK, FILE, [Observed("nothing of that kind")]) is None


def test_a_check_for_an_exception_shows_the_part_that_is_missing() -> None:
    raising = replace(CHECK, judge=Raises())
    fault = Fault("StructureError", (), "", "structure", (), refusals=(lacking("Stack", "norm.weight"),))
    assert place_of(trials(SURVEY, fault), raising, FILE, is_named=False) == Place(FILE, 15, "Stack.__init__")
    nothing = Observed({"raised": [], "returned": "Stack", "mentions": []})
    assert place_of(trials(SURVEY, nothing), raising, FILE, is_named=True) == Place(FILE, 12, "Stack.__init__")
    another = Observed({"raised": ["KeyError"], "message": "no", "mentions": []})
    assert place_of(trials(SURVEY, another), raising, FILE, is_named=False) is None


RAISING = b"""def find(table, key):
    if key not in table:
        raise ValueError(f"there is no {key} in the table")
    if not table: raise ValueError('an empty table')
    return table[key]


def count(table):
    raise ValueError(
        "several lines"
    )


def other(table):
    raise ValueError("there is no table")
"""
FINDING = Survey(
    {}, (), functions=(Function("find", 1, 2, 5, 0), Function("count", 8, 9, 11, 0)), running=((2, 5), (9, 15))
)


@pytest.mark.parametrize(
    ("message", "of", "place"),
    [
        ("there is no 'a' in the table", "find", Place("ex.py", 3, "find")),
        ("an empty table", "find", Place("ex.py", 4, "find")),
        ("several lines", "count", Place("ex.py", 9, "count")),
        ("several lines", "find", Place("ex.py", 9, "count")),
        ("the words of a library", "find", None),
    ],
)
def test_a_wrong_exception_is_shown_where_it_is_raised(message: str, of: str, place: Place | None) -> None:
    raised = Observed({"raised": ["ValueError", "Exception"], "message": message, "mentions": []})
    check = replace(CHECK, judge=Raises(("KeyError",)), of=of)
    assert place_of(trials(FINDING, raised, RAISING), check, "ex.py", is_named=False) == place


def test_no_line_is_shown_where_several_may_have_raised_or_none_did() -> None:
    check = replace(CHECK, of="find")

    def line(*outcomes: Observed, source: bytes = RAISING) -> Place | None:
        return raise_statement(FINDING, check, "ex.py", outcomes, source)

    raised, other = (
        Observed({"raised": [name], "message": "no", "mentions": []}) for name in ("ValueError", "KeyError")
    )
    twice = b"def find():\n    raise ValueError(text)\n    raise ValueError(other)\n"
    assert line(raised, source=b"def find():\n    raise ValueError(text)\n") == Place("ex.py", 2, "find")
    assert line(raised, source=twice) is None
    assert line(raised, other) is None
    assert line(other) is None
    assert line(Observed({"raised": [], "returned": "None", "mentions": []})) is None
    assert line() is None
    assert raise_statement(NO_SURVEY, check, "ex.py", [raised], RAISING) is None


def test_a_raise_in_a_docstring_is_no_statement_and_odd_characters_end_no_line() -> None:
    source = (
        'def find():\n    """\n    raise ValueError if it is not there\n    """\n    raise ValueError("no \x85\x0c")\n'
    )
    survey = replace(FINDING, running=((5, 5),), functions=(Function("find", 1, 5, 5, 0),))
    raised = Observed({"raised": ["ValueError"], "message": "no \x85\x0c", "mentions": []})
    found = raise_statement(survey, replace(CHECK, of="find"), "ex.py", [raised], source.encode())
    assert found == Place("ex.py", 5, "find")
