"""The check to look at first: a named mistake, unless an exception hides what is behind it."""

from dataclasses import replace

import pytest

from autograder.diagnosis import Judgement, Verdict
from autograder.results import CheckResult, Finding, Status, first_failing
from tests.support import tiny


def check(id_: str, status: Status, mistake: str | None = None, *, bonus: bool = False, of: str = "f") -> CheckResult:
    finding = Finding("misconception", mistake, "a sentence") if mistake is not None else None
    return CheckResult(id_, "a title", status, 0, 100, finding=finding, bonus=bonus, of=of)


PASS = check("passes", "pass")
WAITS = check("waits", "waits")


@pytest.mark.parametrize(
    ("checks", "first"),
    [
        ([PASS], None),
        ([WAITS, check("a", "fail")], "a"),
        ([check("a", "fail"), check("b", "fail", "one")], "b"),
        ([check("bonus", "fail", "one", bonus=True), check("a", "fail", "other")], "a"),
        ([check("a", "fail", "one"), check("b", "error"), check("c", "error")], "b"),
        ([check("a", "fail", "one"), check("b", "error"), check("c", "error", "other")], "c"),
        ([check("a", "fail"), check("b", "error"), check("c", "error"), PASS], "b"),
        ([check("a", "fail", "one"), check("b", "error", "one"), check("c", "error")], "a"),
        ([check("a", "fail", "one"), check("b", "error")], "a"),
        ([check("a", "fail", "one"), check("b", "fail"), check("c", "error"), WAITS], "a"),
        ([WAITS], "waits"),
        ([check("a", "fail"), *(check(id_, "error", of="g") for id_ in "bcd")], "a"),
        ([check("a", "fail"), check("b", "error"), check("c", "error"), check("d", "fail", of="g")], "b"),
        ([check("a", "fail"), check("b", "error", "one", of="g"), check("c", "error", of="g")], "b"),
    ],
)
def test_an_exception_in_most_checks_of_a_function_comes_before_another_mistake(
    checks: list[CheckResult], first: str | None
) -> None:
    found = first_failing(checks)
    assert (found.id if found is not None else None) == first


def test_the_status_of_an_exercise_is_that_of_the_failure_to_look_at_first() -> None:
    checks = tiny.SUITE.checks[tiny.FIRST]
    statuses: list[Status] = ["fail", *["error"] * (len(checks) - 1)]  # type: ignore[list-item]
    verdicts = [Verdict(one, status, 0, 10) for one, status in zip(checks, statuses, strict=True)]
    judgement = Judgement(tiny.COURSE.exercises[0], tuple(verdicts))
    assert judgement.first_failure is verdicts[1]
    assert judgement.status == "error"
    assert replace(judgement, verdicts=tuple(verdicts[:1])).status == "fail"
