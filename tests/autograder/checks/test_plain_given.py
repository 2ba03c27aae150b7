"""Inputs of plain Python and NumPy: the same from the same seed, within their bounds, and none of them rare."""

import random
import re
from typing import Any

import numpy as np
import pytest

from autograder.checks import ArrayGiven, Given, PlainGiven
from autograder.checks.plain_given import NEED_LIBRARIES


def test_the_same_seed_gives_the_same_inputs() -> None:
    one, other, third = (PlainGiven(seed, {}) for seed in (5, 5, 6))
    assert one.numbers(0, 9, 20) == other.numbers(0, 9, 20)
    assert one.text(9) == other.text(9) != third.text(9)


def test_the_inputs_are_those_of_every_release_of_python() -> None:
    given = PlainGiven(7, {})
    assert given.numbers(-50, 50, 4) == [-18, -35, 15, -43]
    assert given.text(4) == "njbn"


def test_numbers_keep_their_bounds_and_reach_them() -> None:
    given = PlainGiven(1, {})
    assert set(given.numbers(-1, 2, 200)) == {-1, 0, 1}
    assert all(2.0 <= number < 3.0 for number in given.reals(2.0, 3.0, 200))
    assert sorted(given.distinct(3, 9, 6)) == [3, 4, 5, 6, 7, 8]
    assert sorted(given.shuffled("abc")) == ["a", "b", "c"]
    assert given.choice(["only"]) == "only"


def test_more_different_numbers_than_there_are_is_an_error() -> None:
    with pytest.raises(ValueError, match="there are 3 numbers from 0 to 2, not 4"):
        PlainGiven(1, {}).distinct(0, 3, 4)


@pytest.mark.parametrize("kind", [PlainGiven, ArrayGiven])
@pytest.mark.parametrize(
    ("name", "arguments", "sentence"),
    [
        ("number", (5, 2), "given.number has the bounds 5 and 2, expected low < high; exchange or move the bounds"),
        ("numbers", (5, 5, 3), "given.number has the bounds 5 and 5, expected low < high"),
        ("reals", (9, 1, 3), "given.real has the bounds 9 and 1, expected low < high"),
        ("reals", (1, 9, -1), "given.reals has the count -1, expected 0 or more"),
        ("distinct", (0, 3, -1), "given.distinct has the count -1, expected 0 or more"),
        ("text", (-2,), "given.text has the count -2, expected 0 or more"),
        ("text", (2, ""), "given.choice has no options, expected at least one"),
        ("choice", ([],), "given.choice has no options, expected at least one"),
    ],
)
def test_inputs_that_cannot_be_drawn_say_what_was_expected(
    kind: type[PlainGiven], name: str, arguments: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        getattr(kind(1, {}), name)(*arguments)


@pytest.mark.parametrize(("name", "bounds"), [("integers", (5, 2)), ("uniform", ())])
def test_the_bounds_of_arrays_are_in_order(name: str, bounds: tuple[int, ...]) -> None:
    named = {} if bounds else {"low": 3.0, "high": 2.0}
    with pytest.raises(ValueError, match=f"given.{name} has the bounds"):
        getattr(ArrayGiven(1, {}), name)(*bounds, 4, **named)


def test_sizes_need_no_axes_and_say_which_one_is_missing() -> None:
    assert PlainGiven(1, {"B": 3}).size("B") == 3
    with pytest.raises(LookupError, match=r"course.toml gives no sizes for T: here it gives them for "):
        PlainGiven(1, {}).size("T")


def test_arrays_have_the_dtype_and_the_form_that_was_asked_for() -> None:
    given = ArrayGiven(1, {})
    assert given.normal(3, 4).dtype == np.float64
    assert given.normal(3, dtype="float32").dtype == np.float32
    assert given.integers(0, 5, 2, 2).dtype == np.int64
    mask = given.mask(5, 6)
    assert mask.any(axis=-1).all()
    assert not mask.all(axis=-1).any()
    assert given.array([[1, 2]]).shape == (1, 2)


def test_both_generators_begin_anew() -> None:
    given = ArrayGiven(4, {})
    given.restart_randomness()
    first = random.random(), np.random.rand()
    given.restart_randomness()
    assert first == (random.random(), np.random.rand())


@pytest.mark.parametrize(
    ("given", "name", "sentence"),
    [
        (PlainGiven(1, {}), "real_s", "given has no real_s; did you mean given.reals?"),
        (
            PlainGiven(1, {}),
            "floats",
            "given has no floats; expected one of choice, distinct, number, numbers, raises,",
        ),
        (PlainGiven(1, {}), "normal", 'given.normal needs numpy: write libraries = ["numpy"] into course.toml'),
        (ArrayGiven(1, {}), "normals", "given has no normals; did you mean given.normal?"),
        (ArrayGiven(1, {}), "load", 'given.load needs torch: write libraries = ["torch"] into course.toml'),
        (ArrayGiven(1, {}), "_nothing", "_nothing"),
    ],
)
def test_an_unknown_input_says_what_was_meant(given: PlainGiven, name: str, sentence: str) -> None:
    assert not hasattr(given, name)
    with pytest.raises(AttributeError) as caught:
        getattr(given, name)
    assert str(caught.value).startswith(sentence)


def test_what_needs_a_library_is_there_with_it() -> None:
    assert all(hasattr(Given, name) for name in NEED_LIBRARIES)
    with_numpy = {name for name, library in NEED_LIBRARIES.items() if library == "numpy"}
    assert {name for name in NEED_LIBRARIES if hasattr(ArrayGiven, name)} == with_numpy
    assert not [name for name in NEED_LIBRARIES if hasattr(PlainGiven, name)]
    public = {name for name in dir(Given) if not name.startswith("_")}
    assert public - set(dir(PlainGiven)) - {"floating"} == set(NEED_LIBRARIES)


@pytest.mark.parametrize("kind", [PlainGiven, ArrayGiven])
def test_a_generator_for_the_code_has_a_seed_of_the_trial(kind: type[PlainGiven]) -> None:
    one, same, other = (kind(seed, {}).rng().random() for seed in (1, 1, 2))
    assert one == same != other


def test_evenly_distributed_numbers_lie_between_their_ends() -> None:
    drawn = ArrayGiven(1, {}).uniform(50, 4, low=-2.0, high=3.0)
    assert drawn.shape == (50, 4)
    assert -2.0 <= drawn.min() < -1.5
    assert 2.5 < drawn.max() < 3.0
