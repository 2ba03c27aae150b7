"""An observation on another device differs from the exact one by rounding, or because other numbers were drawn."""

import numpy as np
import pytest

from autograder.answer_key.records import keep_draws
from autograder.comparison import as_array
from autograder.protocol import Value


def array(*numbers: float, dtype: str = "float32", device: str = "cpu") -> Value:
    return as_array(np.array(numbers), dtype, device)


EXACT = array(0.1, 2.0, 0.0, dtype="float64")


@pytest.mark.parametrize(
    "nominal", [array(0.1, 2.0, 0.0, device="cuda:0"), array(0.1001, 2.01, 0.0, dtype="bfloat16", device="cuda:0")]
)
def test_what_differs_by_rounding_alone_is_as_computed_exactly(nominal: Value) -> None:
    assert keep_draws({"output": [nominal]}, {"output": [EXACT]}) == {"output": [EXACT]}


@pytest.mark.parametrize("nominal", [array(0.0, 2.0, 0.1, device="cuda:0"), array(0.2, 4.0, 0.0), array(0.1, 2.0)])
def test_what_was_drawn_otherwise_is_as_the_device_drew_it(nominal: Value) -> None:
    assert keep_draws({"train": nominal, "eval": EXACT}, {"train": EXACT, "eval": EXACT}) == {
        "train": nominal,
        "eval": EXACT,
    }


@pytest.mark.parametrize(
    ("nominal", "exact", "kept"), [(1.0001, 1.0, 1.0), (2.0, 1.0, 2.0), (3, 4, 3), ("a", "a", "a")]
)
def test_plain_values_follow_the_same_rule(nominal: Value, exact: Value, kept: Value) -> None:
    assert keep_draws(nominal, exact) == kept
