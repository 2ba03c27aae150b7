"""Quantities in words."""

import pytest

from autograder.report import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (45, "45 s"),
        (89.4, "89 s"),
        (90, "2 min"),
        (240, "4 min"),
        (3590, "1 h"),
        (3600, "1 h"),
        (7615, "2 h 7 min"),
        (100_000, "27 h 47 min"),
    ],
)
def test_a_duration_is_written_as_people_say_it(seconds: float, text: str) -> None:
    assert duration(seconds) == text
