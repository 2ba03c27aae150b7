"""What a wrong tensor is called: a zoo of wrong results with their findings, and pairs that nothing relates."""

import re

import numpy as np
import pytest

from autograder.diagnosis import Axes, of_difference
from autograder.diagnosis.case import Case
from autograder.diagnosis.differences import explain
from autograder.results import Finding, headline
from autograder.results.report import LONGEST
from tests.support.observations import CHECK, finding, trials_of
from tests.support.zoo import COLUMNS, WORDS, ZOO, Numbers, TrialNumbers, Wrong, softmax

UNRELATED = 2_200
"""So many pairs of tensors that have nothing to do with each other are held against every pattern."""


def finding_of(wrong: Wrong, *, evidence: bool = True) -> Finding:
    return finding(trials_of(wrong), evidence=evidence)


HEADLINE = 90
"""Characters: what is wrong is read at a glance."""

MOST_WORDS = 20

PLAIN = ("value", "special", "shape", "dtype")
"""The ids of findings that know no pattern."""


@pytest.mark.long
@pytest.mark.parametrize("wrong", ZOO, ids=lambda wrong: wrong.name)
def test_a_wrong_result_is_called_what_it_is(wrong: Wrong) -> None:
    found = finding_of(wrong)
    assert wrong.says in found.message, found
    assert found.id == (wrong.id or "value"), found
    assert len(found.message) <= LONGEST
    assert "…" not in found.message


@pytest.mark.parametrize("wrong", ZOO, ids=lambda wrong: wrong.name)
def test_what_is_wrong_comes_first_and_is_short(wrong: Wrong) -> None:
    diagnosis = of_difference(CHECK, trials_of(wrong), evidence=True)
    fact = diagnosis.fact
    assert len(headline(diagnosis.subject, fact)) <= HEADLINE
    sentences = [fact.says, *fact.also, *re.split(r"(?<=[.?])\s", fact.asks)]
    assert all(len(sentence.split()) <= MOST_WORDS for sentence in sentences), sentences


def test_the_zoo_is_large_and_almost_all_of_it_is_named() -> None:
    assert len(ZOO) >= 94
    assert len({wrong.name for wrong in ZOO}) == len(ZOO)
    assert sum(wrong.id is None for wrong in ZOO) <= 8


def test_no_finding_shows_a_number_of_the_key_unless_the_seed_is_public() -> None:
    for wrong in ZOO:
        if wrong.id is None and wrong.name != "another_loss":
            found = finding_of(wrong, evidence=False)
            assert found.evidence is None
            assert ": expected" not in found.message, found


KINDS = ("normal", "weights", "causal weights", "positive", "waves", "bits", "ids", "few values", "sparse")
SHAPES = ("B T D", "B H T S", "T D", "B T T", "B T", "N D", "K", "B H T K", "B")


def unrelated(kind: str, trial: TrialNumbers, shape: str) -> Numbers:
    """Return a tensor of a kind: another one at every call."""
    x = trial.normal(shape)
    made = {
        "normal": lambda: x,
        "weights": lambda: softmax(x),
        "causal weights": lambda: softmax(np.where(np.tril(np.ones(x.shape[-2:])), x, -np.inf)) if x.ndim > 1 else x,
        "positive": lambda: np.maximum(x, 0),
        "waves": lambda: np.sin(x.cumsum(-1)),
        "bits": lambda: x > 0,
        "ids": lambda: np.floor(30 * np.abs(x)).astype(np.int64),
        "few values": lambda: np.round(x),
        "sparse": lambda: np.where(x > 1, x, 0),
    }
    return made[kind]()


@pytest.mark.long
def test_tensors_that_nothing_relates_are_given_no_name() -> None:
    """Structural patterns are never claimed; what is said of single indices and of regions is true, and rare."""
    named: list[str] = []
    for at in range(UNRELATED):
        kind, shape = KINDS[at % len(KINDS)], SHAPES[at // len(KINDS) % len(SHAPES)]
        cases = []
        for number in range(2):
            trial = TrialNumbers(number, f"unrelated {at}")
            yours, expected = unrelated(kind, trial, shape), unrelated(kind, trial, shape)
            dtype = {"bits": "bool", "ids": "int64"}.get(kind, "float32")
            cases.append(Case(yours + 0.0, expected + 0.0, Axes(COLUMNS[number], WORDS), dtypes=(dtype, dtype)))
        found = explain(*cases)
        if found is not None:
            named.append(f"{kind}, {shape}: {found.fact}")
    print("\n".join(named), len(named), "of", UNRELATED)
    assert len(named) <= 0.005 * UNRELATED, named


def test_a_slice_of_zeros_is_not_taken_for_that_of_another_index() -> None:
    def cases(lost: bool) -> list[Case]:
        found = []
        for number in range(2):
            right = TrialNumbers(number, "lost").normal("T D")
            right[0] = 0 if lost else right[0]
            yours = right.copy()
            yours[1:6] = right[0]
            found.append(Case(yours, right, Axes(COLUMNS[number], WORDS), dtypes=("float32", "float32")))
        return found

    named, silent = (explain(*cases(lost)) for lost in (False, True))
    assert named is not None
    assert named.fact.id == "repeated"
    assert silent is None or silent.fact.id != "repeated"
