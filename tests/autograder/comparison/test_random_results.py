"""The message about random results whose mean is wrong."""

import re

import numpy as np
import pytest

from autograder.checks import Within
from autograder.comparison.float_arrays import judge_random
from autograder.protocol import Array


@pytest.mark.parametrize("by", [0.0645, 0.065, 0.07, 0.2])
def test_the_numbers_that_are_shown_differ_by_more_than_the_margin(by: float) -> None:
    results = np.random.default_rng(0).normal(0.15, 0.1, size=80)
    results -= results.mean() - 0.15
    expected, yours = (Array("float64", (80,), (results + more).tobytes(), "cpu") for more in (0.0, by))
    found = judge_random(yours, expected, Within())
    assert found is not None
    numbers = re.fullmatch(r"the mean of 80 results is (\S+), expected (\S+), give or take (\S+)", found.fact.says)
    assert numbers is not None
    mean, right, margin = map(float, numbers.groups())
    assert mean - right > margin
