"""Plain numbers are judged as arrays of one number are."""

import math

import numpy as np
import pytest

from autograder.comparison import is_close, wrong
from autograder.comparison.compare import TOLERANCES

NUMBERS = (
    0.0,
    -0.0,
    1.0,
    1.00002,
    1.001,
    -1.0,
    5e-4,
    5.2e-4,
    1e-8,
    1e300,
    -1e308,
    1e308,
    math.inf,
    -math.inf,
    math.nan,
)


@pytest.mark.parametrize("tolerance", sorted(TOLERANCES.values()))
@pytest.mark.parametrize("expected", NUMBERS)
@pytest.mark.parametrize("yours", NUMBERS)
def test_a_number_is_right_if_an_array_of_it_is(yours: float, expected: float, tolerance: float) -> None:
    with np.errstate(over="ignore"):
        off = wrong(np.array(yours), np.array(expected), tolerance)
    assert is_close(yours, expected, tolerance) is not bool(off.any())
