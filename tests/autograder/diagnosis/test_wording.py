"""How a message is made of its parts, and that no other room holds a sentence."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.diagnosis.arrangement import swapped_axes
from autograder.diagnosis.masks import hidden_weight
from autograder.results import Fact, message, opened, sentence
from autograder.results.report import LONGEST
from tests.support import tiny

ENGINE = tiny.REPOSITORY / "autograder"


def test_a_message_says_what_is_wrong_then_its_evidence_then_the_reason() -> None:
    fact = Fact("id", "2 × the expected", ("in every element",))
    assert message("weights", fact, "2 = H") == "weights: 2 × the expected; in every element; 2 = H."
    assert message("", fact) == "Your result: 2 × the expected; in every element."


def test_a_message_leaves_out_its_last_clauses_where_there_is_no_room() -> None:
    fact = Fact("id", "x" * 80, ("y" * 60, "z" * 60))
    assert message("it", fact) == f"it: {'x' * 80}; {'y' * 60}."
    assert len(message("it", Fact("id", "word " * 100))) == LONGEST


def test_a_sentence_that_follows_a_message_is_never_cut() -> None:
    fact = Fact("id", "x" * 80, ("y" * 60,))
    assert message("it", fact, then="There is one more.") == f"it: {'x' * 80}. There is one more."
    long = message("it", Fact("id", "word " * 100), then="There is one more.")
    assert (len(long), long.endswith("… There is one more.")) == (LONGEST, True)


def test_a_whole_sentence_has_a_subject_of_its_own() -> None:
    assert message("train", Fact("id", "Your code returned None", whole=True)) == "Your code returned None."


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a text", "A text"),
        ("top_k is wrong", "top_k is wrong"),
        ("x.std() is", "x.std() is"),
        ("mask is", "mask is"),
        ("v averages", "v averages"),
        ("m, v and t start", "m, v and t start"),
    ],
)
def test_an_authors_text_begins_with_a_capital_unless_with_code(text: str, same: str) -> None:
    assert opened(text, {"mask"}) == same


def test_a_sentence_has_one_line_and_one_end() -> None:
    assert sentence("is it\nso?") == "is it so?"
    assert sentence("it is") == "it is."


def test_numbers_of_one_trial_alone_do_not_set_two_facts_apart() -> None:
    one = hidden_weight("missing", "key", True, 0.25, 3, 3, True)
    assert one.is_like(hidden_weight("missing", "key", True, 0.125, 4, 4, True))
    assert not one.is_like(hidden_weight("missing", "query", True, 0.25, 3, 3, True))
    assert not one.is_like(hidden_weight("number", "key", True, 0.25, 3, 3, True))


def test_a_fact_without_data_is_its_words() -> None:
    one = swapped_axes("query", "key")
    assert one.is_like(swapped_axes("query", "key"))
    assert not one.is_like(swapped_axes("query", "head"))


def texts(file: Path) -> Iterator[str]:
    """Yield every text in the code of a file that is no docstring, nor the text of an exception."""
    tree = ast.parse(file.read_bytes())
    plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for raised in (node for node in ast.walk(tree) if isinstance(node, ast.Raise)):
        plain |= {id(node) for node in ast.walk(raised)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in plain:
            yield node.value


OPERATIONS = "__getitem__ chunk"
"""The beginning of a list of names."""


@pytest.mark.parametrize("room", ["comparison", "diagnosis", "judge"])
def test_what_decides_composes_no_sentence(room: str) -> None:
    for file in sorted((ENGINE / room).rglob("*.py")):
        facts = "Fact(" in file.read_text("utf-8")  # a fact stands beside its words
        if not facts and file.name not in ("drawings.py", "named_sizes.py"):  # messages to an author, names of numbers
            long = [text for text in texts(file) if len(text.split()) > 3 and not text.startswith(OPERATIONS)]
            assert long == [], file
