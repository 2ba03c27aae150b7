"""The search for a witness: an input of the checks on which a survivor differs from the solution."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.authoring.unusual_inputs import INTEGERS
from autograder.authoring.witness import (
    VALUES,
    Witness,
    Witnesses,
    check_and_family,
    edge_suite,
    edge_trials,
    showing_inputs,
)
from autograder.checks import sizes_of
from autograder.runner import Runner
from tests.support import tiny

EDGES = edge_suite(tiny.SUITE)
EXERCISE = tiny.SUITE.exercises[0]
SEED = tiny.COURSE.seed
SOLUTIONS = {tiny.FILES[0]: tiny.MEAN.encode()}


@pytest.fixture(scope="module")
def witnesses() -> Witnesses:
    return Witnesses(tiny.SUITE, EDGES, EXERCISE, SOLUTIONS, seed=SEED, trials=8)


@pytest.fixture(scope="module")
def at_edges() -> Iterator[Runner]:
    with Runner(EDGES, seed=SEED, shared=True) as started:
        yield started


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (
            tiny.MEAN.replace("nothing has no mean", "no mean"),
            "Differs in trial 1 of the check empty, and its judge Raises accepts this.",
        ),
        (
            tiny.mean_with("return x.cumsum(dim=-1) / count + (x.size(-1) == 11)"),
            "Differs in trial 3 of the check axes, which has only 2 trials.",
        ),
        (
            tiny.MEAN.replace("if x.size(-1) == 0:", "if x.size(-1) <= 1:"),
            "Differs in the check values with other sizes: B=3 T=1 N=4.",
        ),
        (
            tiny.mean_with("return (x.cumsum(dim=-1) / count).clamp(-50, 50)"),
            "Differs in the check values with numbers 1000 times as large.",
        ),
        (
            tiny.mean_with("return x.cumsum(dim=-1) / count + (x == 0).all()"),
            "Differs in the check values with numbers that are all 0.",
        ),
        (
            tiny.mean_with("return x.cumsum(dim=-1) / count + (x.dtype == torch.float16)"),
            "Differs in the check values with float16 inputs and weights.",
        ),
        (
            tiny.mean_with("return x.cumsum(dim=-1) / count + (not x.is_contiguous())"),
            "Differs in the check axes with tensors that are not contiguous.",
        ),
        (
            tiny.mean_with("return x.cumsum(dim=-1) / count + (x.device.type != 'cpu')"),
            "Differs in the check values with inputs and modules on another device.",
        ),
        (
            tiny.MEAN.replace("    count =", "    x.add_(3)\n    x = x - 3\n    count ="),
            "It changes an input of the check values, and no check observes this.",
        ),
        (
            tiny.mean_with("return (x.cumsum(dim=-1) / count).detach()"),
            "Its gradients differ in the check values, and no check observes this.",
        ),
        (
            tiny.mean_with("return torch.where(x == x, x.cumsum(dim=-1) / count, (x - x.detach()).sqrt())"),
            "Its gradients differ in the check values, and no check observes this.",
        ),
    ],
)
def test_a_witness_says_what_the_checks_lack(
    program: str, sentence: str, witnesses: Witnesses, runner: Runner, at_edges: Runner
) -> None:
    found = witnesses.find(program.encode(), runner, at_edges)
    assert found is not None
    assert found.sentence == sentence


def test_a_right_program_has_no_witness(witnesses: Witnesses, runner: Runner, at_edges: Runner) -> None:
    right = tiny.mean_with("return x.cumsum(-1).div(count)")
    assert witnesses.find(right.encode(), runner, at_edges) is None


@pytest.mark.worker
def test_a_condition_on_a_number_is_tried_at_its_bound(course: Path) -> None:
    checks = course / f"tests/exercises/test_{tiny.SECOND}.py"
    tiny.replaced(checks, 'n = given.size("N")\n', 'n, by = given.size("N"), -given.number(3, 90)\n')
    tiny.replaced(checks, "matrix_power(given.normal(n, n), -2), -2)", "matrix_power(given.normal(n, n), by), by)")
    suite = tiny.suite_at(course)
    edges, exercise = edge_suite(suite), suite.exercises[1]
    solutions = {tiny.FILES[0]: tiny.MEAN.encode(), tiny.FILES[1]: tiny.POWER.encode()}
    search = Witnesses(suite, edges, exercise, solutions, seed=SEED, trials=8)
    wrong = tiny.POWER.replace("if n < 0:", "if n < -1:")
    with Runner(suite, seed=SEED, shared=True) as usual, Runner(edges, seed=SEED, shared=True) as unusual:
        found = search.find(wrong.encode(), usual, unusual)
    assert found is not None
    assert found.sentence == "Differs in the check negative with whole numbers that are all 1."


@pytest.mark.parametrize(
    ("right", "wrong", "changes_nothing"),
    [
        ("device=x.device)  #", "device=x.device).detach()  #", True),
        ("/ count  #", "/ count.detach()  #", True),
        ("return x.cumsum(dim=-1)", "return x.cumsum(dim=-1).detach()", False),
        ("x.size(-1) == 0", "x.detach().size(-1) == 0", False),
        ("has no mean", "is no mean", False),
    ],
)
def test_a_detach_of_values_that_have_a_gradient_in_no_trial_changes_nothing(
    right: str, wrong: str, changes_nothing: bool, witnesses: Witnesses, runner: Runner, at_edges: Runner
) -> None:
    assert tiny.MEAN.count(right) == 1
    assert witnesses.has_no_gradient(tiny.MEAN.replace(right, wrong), runner, at_edges) == changes_nothing


def test_a_detach_that_no_trial_reaches_is_not_proved(runner: Runner, at_edges: Runner) -> None:
    right = tiny.MEAN.replace("    count = ", "    if x.size(-1) > 1000:\n        x = x * 1\n    count = ")
    search = Witnesses(tiny.SUITE, EDGES, EXERCISE, {tiny.FILES[0]: right.encode()}, seed=SEED, trials=8)
    assert not search.has_no_gradient(right.replace("x * 1", "(x * 1).detach()"), runner, at_edges)


def test_the_course_lacks_the_trial_of_a_witness(witnesses: Witnesses, runner: Runner, at_edges: Runner) -> None:
    odd = tiny.mean_with("return x.cumsum(dim=-1) / count + (x.size(-1) == 11)")
    found = witnesses.find(odd.encode(), runner, at_edges)
    assert isinstance(found, Witness)
    assert (found.reason, found.sizes["T"]) == ("trial", 11)
    check = next(check for check in tiny.SUITE.checks[tiny.FIRST] if check.id == found.check)
    assert found.trial >= check.trials


def test_every_axis_has_size_1_in_some_trial_and_every_check_gets_every_family() -> None:
    trials = list(edge_trials(tiny.SUITE, EDGES, EXERCISE, SEED))
    names = {check.id for check in tiny.SUITE.checks[tiny.FIRST]}
    families = [check_and_family(name) for name, _ in trials]
    drawn = set(VALUES) - set(INTEGERS)  # no check draws single whole numbers
    assert {pair for pair in families if pair[1]} == {(name, family) for name in names for family in drawn}
    for name in names:
        columns = [sizes_of(EDGES.course.sizes, SEED, tiny.FIRST, name, at) for key, at in trials if key == name]
        assert all(any(column[axis] == 1 for column in columns) for axis in tiny.COURSE.sizes[0])
        assert any(len(set(column.values())) == 1 for column in columns)
    for name, at in trials:
        if check_and_family(name)[1]:
            assert sizes_of(EDGES.course.sizes, SEED, tiny.FIRST, name, at) in tiny.COURSE.sizes


def test_a_course_without_sizes_has_no_unusual_ones() -> None:
    from dataclasses import replace

    plain = replace(tiny.SUITE, course=replace(tiny.COURSE, sizes=()))
    assert edge_suite(plain).course.sizes == ()
    assert all(check_and_family(name)[1] for name, _ in edge_trials(plain, edge_suite(plain), EXERCISE, SEED))


@pytest.mark.worker
def test_a_witness_has_the_inputs_with_their_values_if_they_are_few(
    witnesses: Witnesses, runner: Runner, at_edges: Runner
) -> None:
    few = tiny.MEAN.replace("if x.size(-1) == 0:", "if x.size(-1) <= 1:")
    many = tiny.mean_with("return x.cumsum(dim=-1) / count + (x.size(-1) == 11)")
    half = tiny.mean_with("return x.cumsum(dim=-1) / count + (x.dtype == torch.float16)")
    shown, shown_at_edges = (Runner(showing_inputs(suite), seed=SEED, shared=True) for suite in (tiny.SUITE, EDGES))
    with shown, shown_at_edges:

        def inputs(program: str) -> list[str]:
            found = witnesses.find(program.encode(), runner, at_edges)
            assert found is not None
            return list(witnesses.with_inputs(found, shown, shown_at_edges).inputs)

        [single] = inputs(few)
        assert re.fullmatch(r"given.normal: float32 \(1,\) \[-?\d\.\d+\]", single)
        [tensor] = inputs(many)
        assert re.fullmatch(r"given.normal: float32 \(\d+, \d+, 11\)", tensor)
        assert inputs(half)[0].startswith("given.normal: float16 (")
