"""What the code of a check names."""

from collections.abc import Callable
from typing import Any

import pytest

from autograder.checks import names_any

GRADIENTS = {"gradients", "slope"}


def helper(given: Any, output: Any) -> Any:
    return given.gradients(output)


def again(given: Any, output: Any) -> Any:
    return again(given, output) if output else helper(given, output)


def direct(impl: Any, given: Any) -> Any:
    return given.slope(impl.model)


def through_functions(impl: Any, given: Any) -> Any:
    return again(given, impl.model)


def made_of(make: Callable[..., Any]) -> Callable[..., Any]:
    def probe(impl: Any, given: Any) -> Any:
        return [(lambda: make(given, impl))()]

    return probe


def without(impl: Any, given: Any) -> Any:
    return impl.model(given.normal(3))


@pytest.mark.parametrize(
    ("probe", "expected"),
    [(direct, True), (through_functions, True), (made_of(helper), True), (without, False), (made_of(without), False)],
)
def test_a_name_is_found_in_the_probe_and_in_all_that_it_uses(probe: Callable[..., Any], expected: bool) -> None:
    assert names_any(probe, GRADIENTS) is expected


FUNCTIONS = "running_mean"


def by_its_text(impl: Any, given: Any) -> Any:
    return getattr(impl, FUNCTIONS)(given.normal(3))


def as_a_key(impl: Any, given: Any) -> Any:
    return {FUNCTIONS: impl.model(given.normal(3))}


@pytest.mark.parametrize(("probe", "expected"), [(by_its_text, True), (as_a_key, False)])
def test_a_text_is_a_name_where_attributes_are_looked_up(probe: Callable[..., Any], expected: bool) -> None:
    assert names_any(probe, {FUNCTIONS}) is expected
