"""The mutation proof: the mutants it makes, and the lists of survivors it refuses."""

import ast
from dataclasses import replace

import pytest

from autograder.course import read_course
from tests.proof.mutants import Mutant, mutants_of
from tests.proof.mutation import LISTED, ROOT, Result, problems_of, read_listed

SOURCE = '''
def last(ids, mask, size=3):
    """Return the last ones."""
    ids = ids[:, -size:]
    if mask is not None and len(ids) < size:
        return ids.sum(dim=-1, keepdim=True).detach()
    return zeros(size, device=ids.device)
'''


@pytest.fixture(scope="module")
def mutants() -> list[Mutant]:
    return mutants_of(SOURCE)


@pytest.mark.parametrize(
    "changed",
    [
        "if mask is not None or len(ids) < size:",
        "if mask is not None and len(ids) <= size:",
        "if mask is None and len(ids) < size:",
        "if True:",
        "return ids.sum(dim=-2, keepdim=True).detach()",
        "return ids.sum(dim=-1).detach()",
        "return ids.sum(dim=-1, keepdim=True)",
        "return zeros(size)",
        "return zeros(size, device=ids.device).float()",
        "ids = ids[:, :]",
        "def last(ids, mask, size=4):",
        "",
    ],
)
def test_a_change_is_among_the_mutants(mutants: list[Mutant], changed: str) -> None:
    assert changed in {mutant.becomes for mutant in mutants}


def test_no_two_mutants_are_alike_and_each_is_python(mutants: list[Mutant]) -> None:
    sources = [mutant.source for mutant in mutants]
    assert len(set(sources)) == len(sources) > 30
    for source in sources:
        ast.parse(source)
        assert "Return the last ones" not in source


def test_where_nothing_learns_no_mutant_cuts_the_graph() -> None:
    assert not [mutant for mutant in mutants_of(SOURCE, learns=False) if mutant.becomes.count("detach") > 1]


def test_a_survivor_needs_a_reason_and_a_reason_a_survivor(mutants: list[Mutant]) -> None:
    exercise = read_course(ROOT).exercises[0]
    one, other = mutants[:2]
    result = Result(exercise, tuple(mutants), (one,))
    assert not list(problems_of(result, {one.key: "a reason"}))
    (unlisted,) = problems_of(result, {})
    assert "has no reason" in unlisted
    (caught,) = problems_of(result, {one.key: "a reason", other.key: "a reason"})
    assert "is caught" in caught
    (gone,) = problems_of(result, {one.key: "a reason", replace(other, was="gone").key: "a reason"})
    assert "does not exist" in gone


def test_every_reason_is_a_sentence_about_an_exercise() -> None:
    known = {exercise.id for exercise in read_course(ROOT).exercises}
    for exercise, entries in read_listed(LISTED).items():
        assert exercise in known
        assert all(reason.endswith(".") for reason in entries.values())
