"""What runs on the device of a job: checks do; pictures, steps and checks for an exception run on the CPU."""

from typing import Any

import pytest

from autograder.checks import Check, Drawing, Judge, Raises, Same, Step
from autograder.worker import Job, support
from tests.support import tiny

JOB: dict[str, Any] = {"sources": {}, "reference_parts": {}, "limits": None, "prints": False, "usual": [[], []]}


def probe(impl: Any, given: Any) -> Any:
    return given.normal(3)


def check_with(judge: Judge) -> Check:
    return Check("mean", "a mean", probe, 1, judge, "mean", 1)


@pytest.mark.parametrize(
    ("item", "device"),
    [
        (check_with(Same()), "meta"),
        (check_with(Raises()), "cpu"),
        (Drawing("mean", "a mean", probe, "row", "column"), "cpu"),
        (Step("mean", "a mean", probe, "1 2 3"), "cpu"),
    ],
)
def test_only_checks_of_what_is_returned_run_on_the_device(item: Any, device: str) -> None:
    support.load_support(tiny.COURSE.libraries)
    given = Job({**JOB, "device": "meta", "exact": False, "trace": False}, lambda _: None)._given(item, 1, {})
    assert given.device.type == probe(None, given).device.type == device
