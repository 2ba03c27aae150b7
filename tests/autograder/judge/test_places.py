"""Places that the syntax of a file gives: where a refused part is made, and what should raise and does not."""

from dataclasses import replace

import pytest

from autograder.checks import Raises
from autograder.judge.places import definition, misplaced, missing_exception, place_of
from autograder.results import Place
from autograder.runner.outcomes import Fault, Observed, Survey
from tests.support import tiny

FILE = "ex03_blocks.py"
CHECK = replace(tiny.SUITE.checks[tiny.FIRST][0], of="Stack")
SURVEY = Survey(
    {
        "pile": (30, 31),
        "Block": (5, 9),
        "Block.__init__": (2,),
        "Block.forward": (5, 9),
        "Stack": (20, 25),
        "Stack.__init__": (12,),
    },
    (),
    (),
    (("Block", "self.inner", 4), ("Stack", "self.blocks", 14), ("Stack", "self.norm", 15)),
)


@pytest.mark.parametrize(
    ("refusal", "place"),
    [
        ("Stack has no parameter norm.weight", Place(FILE, 15, "Stack.__init__")),
        ("Stack has no parameter missing", Place(FILE, 12, "Stack.__init__")),
        ("Block has no parameter inner.bias", Place(FILE, 4, "Block.__init__")),
        ("Block has no parameter blocks", Place(FILE, 2, "Block.__init__")),
        ("Stack has no parameter blocks.1.inner.weight", Place(FILE, 14, "Stack.__init__")),  # one block, repeated
        ("Stack has no parameter blocks.0.inner.weight", None),  # the class of the blocks, or the list
        (
            "Stack has no parameter nom.weight (4,); found norm.weight (4,): rename it if that is the one",
            Place(FILE, 15, "Stack.__init__"),
        ),
        ("ex03_blocks.py defines no piles; it defines pile: rename it if that is the one", Place(FILE, 30, "pile")),
        ("ex03_blocks.py defines no Stacks; it defines Stack: rename it if that is the one", None),  # a class
        ("Elsewhere has no parameter weight", None),  # a class of an earlier exercise's file
        ("the blocks are one module", Place(FILE, 12, "Stack.__init__")),
    ],
)
def test_the_place_is_in_the_class_that_the_sentence_names(refusal: str, place: Place | None) -> None:
    assert definition(SURVEY, CHECK, FILE, refusal) == place


def test_without_a_survey_there_is_no_place() -> None:
    assert definition(None, CHECK, FILE, "Stack has no parameter norm.weight") is None


@pytest.mark.parametrize(("tensor", "line"), [("self.norm", 15), ("table", 30), ("twice", 33), ("x", 33), (None, 33)])
def test_a_tensor_on_the_wrong_device_is_shown_where_it_is_assigned(tensor: str | None, line: int) -> None:
    """`twice` is assigned on two lines and `x` is an argument: there the line that failed is all there is to show."""
    place = Place(FILE, 33, "Stack.forward")
    own = (("Stack.forward", "table", 30), ("Stack.forward", "twice", 31), ("Stack.forward", "twice", 32))
    survey = replace(SURVEY, assignments=(*SURVEY.assignments, *own))
    assert misplaced(survey, place, tensor).line == line


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("returned Stack", Place(FILE, 12, "Stack.__init__")),
        ("returned Tensor", Place(FILE, 20, "Stack")),
    ],
)
def test_what_should_raise_and_does_not_is_shown_at_its_definition(said: str, place: Place) -> None:
    outcome = Observed({"raised": [], "message": said, "mentions": ["7"]})
    assert missing_exception(SURVEY, CHECK, FILE, [outcome, outcome]) == place
    assert missing_exception(None, CHECK, FILE, [outcome]) is None
    assert missing_exception(SURVEY, replace(CHECK, of="Elsewhere"), FILE, [outcome]) is None


def test_another_exception_than_the_expected_one_has_no_place_of_a_definition() -> None:
    raised = Observed({"raised": ["TypeError", "Exception"], "message": "no", "mentions": []})
    assert missing_exception(SURVEY, CHECK, FILE, [raised]) is None
    assert missing_exception(SURVEY, CHECK, FILE, [Observed("nothing of that kind")]) is None


def test_a_check_for_an_exception_shows_the_part_that_is_missing() -> None:
    raising = replace(CHECK, judge=Raises())
    fault = Fault("StructureError", (), "Stack has no parameter norm.weight", "structure", ())
    assert place_of(SURVEY, raising, FILE, [fault], is_named=False) == Place(FILE, 15, "Stack.__init__")
    nothing = Observed({"raised": [], "message": "returned Stack", "mentions": []})
    assert place_of(SURVEY, raising, FILE, [nothing], is_named=True) == Place(FILE, 12, "Stack.__init__")
    another = Observed({"raised": ["KeyError"], "message": "no", "mentions": []})
    assert place_of(SURVEY, raising, FILE, [another], is_named=False) is None
