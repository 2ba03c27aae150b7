"""The checks as tests for plain pytest: one for each check of each exercise."""

import plain_checks
import pytest

PLAIN = plain_checks.loaded()
ALL = [(exercise, check) for exercise, points in PLAIN.points.items() for check in points]


@pytest.mark.parametrize(("exercise", "check"), ALL)
def test_check(exercise: str, check: str) -> None:
    assert PLAIN.counts(exercise, check)
