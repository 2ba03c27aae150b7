"""When the name of a misconception may be given to a program."""

import ast
from pathlib import Path

import pytest

from autograder.answer_key import CatalogueError, WrongProgram, patched, read_catalogue
from autograder.answer_key.catalogue import condition_of, contract_of
from autograder.protocol import name_hash, words_of

SAMPLE = """def sample(logits, temperature, top_p=None):
    scores = logits / temperature
    if temperature == 0:
        return logits.argmax()
    if top_p is not None:
        scores = scores[: int(top_p * 10)]
    return softmax(scores)
"""
NORM = """class Norm(Module):
    def __init__(self, width, eps):
        self.eps = eps
        self.table = Embedding(width)

    def forward(self, x):
        return x / sqrt(x.square().mean() + self.eps)
"""


def holds(solution: str, name: str, find: str, replace: str, code: str, **more: object) -> bool:
    wrong = WrongProgram("id", name, "", "", ((find, replace),), **more)  # type: ignore[arg-type]
    condition = condition_of(wrong, solution, contract_of(solution))
    own = words_of(ast.parse(patched(solution, wrong))).values()
    assert condition.holds({name_hash(word) for words in own for word in words}), "of its own program it is true"
    return condition.holds({name_hash(word) for words in words_of(ast.parse(code)).values() for word in words})


def test_a_name_about_an_argument_is_false_of_code_that_does_not_use_it() -> None:
    name = "top_p sums from the least likely token"
    patch = "scores[: int(top_p * 10)]", "scores[-int(top_p * 10) :]"
    without = "def sample(logits, temperature, top_p=None):\n    return softmax(logits / temperature)\n"
    assert not holds(SAMPLE, name, *patch, without)
    assert holds(SAMPLE, name, *patch, without.replace("logits /", "logits[-top_p:] /"))


def test_a_name_that_says_something_is_not_done_is_false_of_code_that_does_it() -> None:
    name, patch = "the temperature is not used, unless it is 0", ("logits / temperature", "logits")
    assert not holds(
        SAMPLE, name, *patch, "def sample(logits, temperature):\n    return softmax(logits / temperature)\n"
    )
    assert holds(
        SAMPLE, name, *patch, "def sample(logits, temperature):\n    return softmax(logits, temperature == 0)\n"
    )


@pytest.mark.parametrize(
    ("code", "is_missing"), [("mean - self.eps", False), ("mean", True)], ids=["subtracted", "missing"]
)
def test_an_attribute_that_is_only_stored_is_not_used(code: str, is_missing: bool) -> None:
    own = NORM.replace("x.square().mean() + self.eps", f"mean := x.square().mean(), {code}")
    assert holds(NORM, "`eps` is missing", " + self.eps", "", own) is is_missing


def test_a_name_that_quotes_a_call_is_false_of_code_without_it() -> None:
    name, patch = "`Embedding` takes the number of rows first", ("Embedding(width)", "Embedding(1, width)")
    assert not holds(NORM, name, *patch, NORM.replace("Embedding", "Linear"))
    assert holds(NORM, name, *patch, NORM)


def test_plain_words_and_local_names_of_the_solution_are_no_condition() -> None:
    assert holds(
        SAMPLE, "the `scores` of the softmax are wrong", "softmax(scores)", "softmax(-scores)", "def sample(): pass"
    )


def test_a_catalogue_may_state_words_itself() -> None:
    patch = "x.square().mean()", "x.square().sum()"
    assert holds(NORM, "summed", *patch, NORM.replace(".mean", ".sum"), when=("sum", "not mean"))
    assert not holds(NORM, "summed", *patch, NORM, when=("sum", "not mean"))


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ('["variance"]', "false of its own program"),
        ('["not sum"]', "false of its own program"),
        ('["eps"]', "true of the solution too"),
        ('"sum"', "no list of words"),
    ],
)
def test_words_that_do_not_tell_a_program_from_the_solution_are_refused(tmp_path: Path, when: str, says: str) -> None:
    file = tmp_path / "ex01_norm.toml"
    file.write_text(
        f'[norm-sum]\nname = "n"\nexplanation = "e"\nhint = "h"\nfind = ".mean()"\nreplace = ".sum()"\nwhen = {when}\n'
    )
    with pytest.raises(CatalogueError, match=says):
        read_catalogue(file, NORM)


def test_a_parameter_that_nothing_uses_is_a_word() -> None:
    words = words_of(ast.parse(SAMPLE.replace("int(top_p * 10)", "3").replace("top_p is not None", "True")))
    assert {word for word in words["sample"] if word.startswith("unused ")} == {"unused top_p"}


def test_a_name_that_knows_nothing_of_training_is_false_of_code_that_does_another_thing_there() -> None:
    patch = "x.square().mean()", "x.square().sum()"
    own = NORM.replace("return x", "if self.training:\n            return x\n        return x")
    assert not holds(NORM, "summed", *patch, own)
    assert holds(NORM, "summed", *patch, NORM.replace("sqrt(", "dropout(self.training, "))


def test_texts_that_say_only_what_comes_out_need_no_words(tmp_path: Path) -> None:
    file = tmp_path / "ex01.toml"
    file.write_text(
        '[norm-sum]\nname = "n"\nexplanation = "e"\nhint = "h"\nfind = ".mean()"\nreplace = ".sum()"\nwhen = "result"\n'
    )
    [entry] = read_catalogue(file, NORM)
    assert (entry.of_result, entry.when) == (True, ())
