"""Checks that count only where another passes: who earns what, what a learner reads, and what an author may write."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.authoring.programs import FAMILIES, over_budget
from autograder.authoring.proof import validate
from autograder.checks import Check, Same, counted_checks
from autograder.course import SuiteError
from autograder.diagnosis.judgement import overall
from autograder.judge import Grader
from autograder.results import ExerciseResult
from tests.support import tiny

CHECKS = "tests/exercises/test_ex01_running_mean.py"
REFUSED = 'judge=Raises(), trials=1, requires_any=("values", "axes"))'


def declared(*required: Mapping[str, tuple[str, ...]]) -> list[Check]:
    return [
        Check(name, "", lambda *_: None, 1, Same(), None, 1, requires_any=needed)
        for checks in required
        for name, needed in checks.items()
    ]


def test_a_check_counts_where_one_of_those_it_requires_counts() -> None:
    checks = declared({"a": (), "b": (), "c": ("a", "b"), "d": ("c",)})
    assert counted_checks(checks, {"a", "c", "d"}) == {"a", "c", "d"}
    assert counted_checks(checks, {"b", "c"}) == {"b", "c"}
    assert counted_checks(checks, {"c", "d"}) == set()
    assert counted_checks(checks, {"a", "d"}) == {"a"}
    assert counted_checks(checks, set()) == set()


def test_checks_count_where_the_idea_of_their_function_passes() -> None:
    same = {"probe": lambda *_: None, "points": 1, "judge": Same(), "trials": 1}
    idea = Check("idea", "", of="f", requires_any=("values",), idea=True, **same)
    values, other = Check("values", "", of="f", **same), Check("other", "", of="g", **same)
    checks = [values, idea, other]
    assert counted_checks(checks, {"values", "other"}) == {"other"}
    assert counted_checks(checks, {"idea", "other"}) == {"other"}
    assert counted_checks(checks, {"idea", "values"}) == {"idea", "values"}


def graded(grader: Grader, first: str) -> ExerciseResult:
    return tiny.result_of(grader.grade(tiny.submitted(first, tiny.POWER_ALONE)), tiny.FIRST)


def test_what_is_refused_rightly_counts_for_nothing_while_nothing_is_computed(grader: Grader) -> None:
    result = graded(grader, tiny.mean_with("return x * 0"))
    assert result.score == 0
    assert {check.id: check.status for check in result.checks} == {
        "values": "fail",
        "axes": "fail",
        "dtype": "waits",
        "empty": "waits",
    }
    assert result.status == "fail"


def test_what_waits_says_for_which_checks_and_is_not_looked_at_first(grader: Grader) -> None:
    result = graded(grader, tiny.mean_with("return x * 0"))
    waiting = next(check for check in result.checks if check.id == "empty")
    assert waiting.finding is not None
    assert waiting.finding.message == "This counts as soon as one of `values` or `axes` passes."
    assert waiting.finding.detail is not None
    assert "`values`: each number is the mean of all up to it" in waiting.finding.detail
    assert not waiting.hints
    assert result.first_failure is not None
    assert result.first_failure.id == "values"


def test_one_of_the_required_checks_is_enough(grader: Grader) -> None:
    result = graded(grader, tiny.mean_with("return x.cumsum(dim=-1) / count if x.dim() == 1 else x * 0"))
    statuses = {check.id: check.status for check in result.checks}
    assert statuses == {"values": "pass", "axes": "fail", "dtype": "pass", "empty": "pass"}


def test_an_exercise_that_is_begun_but_for_its_core_is_not_started() -> None:
    assert overall(["not_started", "waits"]) == "not_started"
    assert overall(["fail", "waits"]) == "fail"


@pytest.mark.parametrize(
    ("requires", "sentence"),
    [
        ('("value",)', "empty requires value, which is not a check of this file; did you mean values?"),
        ('("empty",)', "empty requires itself"),
        ('"values"', "requires_any is the text 'values', expected a tuple of checks"),
    ],
)
def test_a_requirement_that_cannot_hold_is_refused_when_the_checks_are_read(
    course: Path, requires: str, sentence: str
) -> None:
    tiny.replaced(course / CHECKS, REFUSED, f"judge=Raises(), trials=1, requires_any={requires})")
    with pytest.raises(SuiteError, match=sentence.replace("?", "[?]")):
        tiny.suite_at(course)


def test_a_circle_of_requirements_is_refused(course: Path) -> None:
    tiny.replaced(course / CHECKS, REFUSED, 'judge=Raises(), trials=1, requires_any=("dtype",))')
    tiny.replaced(course / CHECKS, 'of="running_mean", requires_any=("values", "axes"))', 'requires_any=("empty",))')
    with pytest.raises(SuiteError, match="requires itself through the checks that it requires"):
        tiny.suite_at(course)


def test_a_check_for_points_requires_no_bonus(course: Path) -> None:
    tiny.replaced(course / CHECKS, 'points=3, of="running_mean")', 'points=3, of="running_mean", bonus=True)')
    with pytest.raises(SuiteError, match="which is a bonus check; full marks must not need bonus points"):
        tiny.suite_at(course)


IDEA = 'points=2, of="running_mean", idea=True)'


@pytest.mark.worker
def test_what_waits_for_the_idea_says_so(course: Path) -> None:
    tiny.replaced(course / CHECKS, 'points=2, of="running_mean")', IDEA)
    with Grader(tiny.suite_at(course), seed=1) as grader:
        result = graded(grader, tiny.mean_with("return (x.cumsum(-1) / torch.arange(1, x.size(-1) + 1)).reshape(-1)"))
    found = {check.id: check for check in result.checks}
    assert {name: check.status for name, check in found.items()} == {
        "values": "waits",
        "axes": "fail",
        "dtype": "fail",
        "empty": "waits",
    }
    assert found["values"].finding is not None
    assert found["values"].finding.message == "This counts as soon as `axes` passes."
    assert result.score == 0


def test_an_idea_is_no_bonus(course: Path) -> None:
    tiny.replaced(course / CHECKS, 'points=2, of="running_mean")', IDEA.replace("idea", "bonus=True, idea"))
    with pytest.raises(SuiteError, match="is an idea and a bonus"):
        tiny.suite_at(course)


def test_two_checks_with_one_id_are_refused(course: Path) -> None:
    file = course / CHECKS
    tiny.replaced(file, "import Raises, check, picture", "import Raises, check, picture, standard_checks")
    more = """
def means(impl, given, dtype):
    return impl.running_mean, {"x": given.normal(3, 4, dtype=dtype)}


MEANS = standard_checks(of="running_mean", make=means)
test_first = MEANS.gradients()
test_second = MEANS.gradients()
"""
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    lines = len(file.read_text("utf-8").splitlines())
    expected = f'two checks have the id gradients (lines {lines - 1} and {lines}); give one another id, like id="gradi'
    with pytest.raises(SuiteError) as caught:
        tiny.suite_at(course)
    assert str(caught.value).startswith(f"{file}: {expected}")
    tiny.replaced(file, "test_second = MEANS.gradients()", 'test_second = MEANS.gradients(id="second", title="again")')
    assert [check.id for check in tiny.suite_at(course).checks[tiny.FIRST]][-2:] == ["gradients", "second"]


def problems(course: Path) -> tuple[list[str], dict[str, int]]:
    found = validate(tiny.suite_at(course), seed=tiny.COURSE.seed, jobs=2, cache=course / ".course" / "cache")
    return found.problems, dict(found.exercises[0].empty)


@pytest.mark.worker
def test_no_family_of_empty_programs_earns_a_point_in_the_tiny_course(course: Path) -> None:
    found, empty = problems(course)
    assert found == []
    assert empty == dict.fromkeys(FAMILIES, 0)


@pytest.mark.worker
def test_points_for_an_empty_program_fail_the_proof_and_an_exception_has_a_budget(course: Path) -> None:
    tiny.replaced(course / CHECKS, REFUSED, "judge=Raises(), trials=1)")
    found, empty = problems(course)
    unchanging, passed = found
    assert "the check empty has the same result under every seed" in unchanging
    assert "the check empty is passed by programs that compute nothing (zeros, ones," in passed
    assert empty["zeros"] > 0
    tiny.replaced(course / CHECKS, "judge=Raises(), trials=1)", 'judge=Raises(), trials=1, empty="a reason")')
    found, _ = problems(course)
    assert [problem for problem in found if "worth" not in problem] == []
    assert "expected at most 1: ex01_running_mean/empty" in str(over_budget(tiny.suite_at(course)))


@pytest.mark.worker
def test_an_exception_that_nothing_needs_is_reported(course: Path) -> None:
    tiny.replaced(course / CHECKS, 'points=3, of="running_mean")', 'points=3, of="running_mean", empty="a reason")')
    found, _ = problems(course)
    assert any(
        "the check values has a reason in `empty`, but no empty program passes it" in problem for problem in found
    )
