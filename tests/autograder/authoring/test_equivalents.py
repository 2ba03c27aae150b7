"""The list of equivalent mutants: what its entries cover, and when they are no longer true."""

import tomllib
from pathlib import Path

import pytest

from autograder.authoring.mutants import (
    Mutant,
    add_equivalents,
    counts_from_the_other_end,
    equivalents_file,
    is_equivalent,
    mutants_of,
    read_equivalents,
    stale,
)
from autograder.cli.program import parse
from autograder.course import UsageError, read_course
from tests.support import tiny

MUTANTS = mutants_of(tiny.MEAN, "01")
BY_OPERATOR = '[[equivalent]]\noperator = "{}"\nreason = "There is no gradient."\n'


def mutant_that(becomes: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.becomes == becomes)


CAST = mutant_that("return (x.cumsum(dim=-1) / count).float()")
CUT = mutant_that("count = torch.arange(1, x.size(-1) + 1, device=x.device).detach()")


PLAIN = '''import torch


def spread(points, centres):
    """Return the spread of points (N, D) around centres (M, D)."""
    if points.shape[-1] != centres.shape[-1]:
        raise ValueError(f"points have {points.shape[-1]} coordinates, not {centres.shape[-1]}")
    return points.sum(dim=-1)


def row(x):
    """Return the sums of x (..., D)."""
    return x.sum(dim=-1)


def places(count: int, names: list[str] | None = None):
    return torch.arange(count)


def like(x: torch.Tensor, count: int):
    return torch.arange(count)
'''


def test_what_no_contract_is_about_is_equivalent_by_its_text() -> None:
    made = mutants_of(PLAIN, "01")
    unseen = {mutant.becomes for mutant in made if is_equivalent(mutant, ())}
    wording = {text for text in unseen if text.startswith("raise ValueError(f")}
    assert "raise ValueError(f'points have {centres.shape[-1]} coordinates, not {centres.shape[-1]}')" in wording
    assert "raise ValueError('no numbers')" not in wording, "a check may ask for the numbers"
    assert {mutant.where for mutant in made if mutant.operator == "device" and is_equivalent(mutant, ())} == {"places"}
    other_end = {
        mutant.becomes for mutant in made if counts_from_the_other_end(mutant) and mutant.becomes not in unseen
    }
    assert other_end == {
        "if points.shape[1] != centres.shape[-1]:",
        "if points.shape[-1] != centres.shape[1]:",
        "return points.sum(dim=1)",
    }


def test_an_added_entry_covers_its_mutant_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "ex01.toml"
    add_equivalents(file, [CAST, CUT], 'A "reason" that holds.')
    cast, cut = read_equivalents(file)
    assert [mutant for mutant in MUTANTS if cast.covers(mutant)] == [CAST]
    assert [mutant for mutant in MUTANTS if cut.covers(mutant)] == [CUT]
    assert cast.reason == 'A "reason" that holds.'
    with pytest.raises(UsageError, match=r"lists 01-\w+ already"):
        add_equivalents(file, [CUT], "Another reason is given.")
    assert add_equivalents(file, [CUT, MUTANTS[0], CAST], "Another reason is given.") == [CUT, CAST]
    assert len(read_equivalents(file)) == 3
    with pytest.raises(UsageError, match="too short"):
        add_equivalents(file, [MUTANTS[0]], "because")


def test_the_survivors_of_each_option_are_listed() -> None:
    options = parse(["mutate", "--equivalent", "01-a", "01-b", "--equivalent", "01-c", "--reason", "It is so."])
    assert options.equivalent == ["01-a", "01-b", "01-c"]


def test_an_entry_of_an_operator_covers_all_that_it_makes(tmp_path: Path) -> None:
    file = tmp_path / "ex01.toml"
    file.write_text(BY_OPERATOR.format("gradient"))
    [entry] = read_equivalents(file)
    covered = [mutant for mutant in MUTANTS if entry.covers(mutant)]
    assert CUT in covered
    assert {mutant.operator for mutant in covered} == {"gradient"}


def test_an_entry_is_stale_if_its_mutant_is_caught_or_gone(tmp_path: Path) -> None:
    file = tmp_path / "ex01.toml"
    add_equivalents(file, [CAST], "A reason that holds.")
    listed = read_equivalents(file)
    assert not list(stale(listed, MUTANTS, {CAST.id: None}))
    assert not list(stale(listed, MUTANTS, {}))  # it was not run yet
    assert [why for _, why in stale(listed, MUTANTS, {CAST.id: "dtype"})] == ["caught by dtype"]
    assert [why for _, why in stale(listed, [CUT], {})] == ["no such mutant exists"]


def test_an_entry_of_an_operator_is_stale_if_nothing_it_covers_survives(tmp_path: Path) -> None:
    file = tmp_path / "ex01.toml"
    file.write_text(BY_OPERATOR.format("gradient"))
    listed = read_equivalents(file)
    cut = [mutant for mutant in MUTANTS if mutant.operator == "gradient"]
    assert len(cut) > 1
    assert not list(stale(listed, MUTANTS, {**{mutant.id: "values" for mutant in cut}, cut[0].id: None}))
    assert list(stale(listed, MUTANTS, {mutant.id: "values" for mutant in cut}))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[equivalent]]\nreason = 'It is a reason.'", "needs in, line and a list"),
        ("[[equivalent]]\noperator = 'axis'", "has no reason"),
        ("[[equivalent]]\noperator = 'axis'\nline = 'x'\nreason = 'It is a reason.'", "an operator and a line"),
        ("[[equivalent]]\noperator = 3\nreason = 'It is a reason.'", "are texts"),
        (
            "[[equivalent]]\nwhy = 'x'\noperator = 'axis'\nreason = 'It is a reason.'",
            "has why, which means nothing here",
        ),
        ("[[equivalent]]\nin = 'f'\nline = 'x'\nbecomes = [1]\nreason = 'It is a reason.'", "a list of texts"),
        ("[[other]]\nin = 'f'", "expected only"),
        ("equivalent = [3]", "is no table"),
        ("equivalent = ", "ex01.toml: Invalid"),
    ],
)
def test_an_entry_that_cannot_be_understood_is_refused_in_a_sentence(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "ex01.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=problem):
        read_equivalents(file)


@pytest.mark.long
def test_every_entry_of_the_course_is_about_a_mutant_and_says_why() -> None:
    course = read_course(tiny.REPOSITORY)
    known = {equivalents_file(course, exercise): exercise for exercise in course.exercises}
    for file in (course.solutions_dir / "equivalents").glob("*.toml"):
        exercise = known[file]
        mutants = mutants_of((course.solutions_dir / exercise.file).read_text("utf-8"), exercise.number)
        entries = read_equivalents(file)
        assert not list(stale(entries, mutants, {}))
        assert all(entry.reason.endswith(".") for entry in entries)
        assert tomllib.loads(file.read_text("utf-8"))
