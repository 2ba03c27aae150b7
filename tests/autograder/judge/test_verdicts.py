"""From observations to verdicts: what is right, how a difference is described, what it is called, and what it costs."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from autograder.checks import Check, Dropout, Judge, Like, Raises, Same, sizes_of
from autograder.checks.language import check
from autograder.comparison import Difference, Expected, is_same, judge_observation, sketch
from autograder.comparison.compare import TOLERANCES
from autograder.course import Suite
from autograder.judge import Grader
from autograder.protocol import Array, Opaque, Value
from autograder.results import ExerciseResult, Fact
from autograder.runner import CourseProblem, Observed, Runner
from tests.support import tiny

BFLOAT16 = "bfloat16"


def array(values: Any, dtype: str = "float32", device: str = "cpu") -> Array:
    """Return numbers as a worker would send them."""
    if dtype == BFLOAT16:
        data = (np.asarray(values, np.float32).view(np.uint32) >> 16).astype("<u2")
    else:
        data = np.asarray(values).astype(np.dtype(dtype).newbyteorder("<"))
    return Array(dtype, np.asarray(values).shape, data.tobytes(), device)


def same(value: Value) -> Expected:
    return Expected(value, value)


def difference(yours: Value, expected: Value, judge: Judge | None = None) -> Difference | None:
    return judge_observation(yours, same(expected), judge or Same())


def sentence(yours: Value, expected: Value, judge: Judge | None = None) -> str:
    found = difference(yours, expected, judge)
    assert found is not None, "it was taken for right"
    return "; ".join([found.fact.says, *found.fact.also, *filter(None, [found.fact.asks])])


RIGHT = array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# What is right and what differs.


def test_the_same_numbers_are_right_and_negative_zero_is_zero() -> None:
    assert difference(RIGHT, RIGHT) is None
    assert difference(array([0.0, -0.0]), array([-0.0, 0.0])) is None


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_rounding_of_a_dtype_is_right_and_ten_times_as_much_is_not(dtype: str) -> None:
    right = np.linspace(1, 2, 50)
    near, far = right + 0.5 * TOLERANCES[dtype], right + 10 * TOLERANCES[dtype]
    expected = Expected(array(right, dtype), array(right, "float64"))
    assert judge_observation(array(near, dtype), expected, Same()) is None
    assert judge_observation(array(far, dtype), expected, Same()) is not None


def test_a_tolerance_of_the_check_takes_the_place_of_the_dtypes() -> None:
    off = array([1.02, 2.0])
    assert difference(off, array([1.0, 2.0]), Same(tolerance=0.05)) is None
    assert difference(off, array([1.0, 2.0]), Same(tolerance=0.005)) is not None


@pytest.mark.parametrize("judge", [Same, Like])
@pytest.mark.parametrize("tolerance", [0.0, -0.1, float("nan")])
def test_a_tolerance_of_nothing_is_refused(judge: Callable[..., Judge], tolerance: float) -> None:
    with pytest.raises(ValueError, match="expected a number above 0; omit it for the default of the dtype"):
        judge(tolerance=tolerance)


def test_integers_and_booleans_are_compared_exactly() -> None:
    assert difference(array([1, 2], "int64"), array([1, 3], "int64")) is not None
    assert difference(array([True, False], "bool"), array([True, True], "bool")) is not None


@pytest.mark.parametrize("shape", [(3, 2), (6,), (2, 3, 1), (1, 2, 3), (2, 1), (), (0,), (2, 3, 0)])
def test_another_shape_is_wrong_even_where_it_would_broadcast(shape: tuple[int, ...]) -> None:
    found = difference(array(np.ones(shape)), array(np.ones((2, 3))))
    assert found is not None
    assert found.kind == "shape"
    assert found.fact.says == f"shape {shape}, expected (2, 3)"


@pytest.mark.parametrize("dtype", ["float64", "float16", BFLOAT16, "int64", "int8"])
def test_another_dtype_is_wrong_and_the_message_says_that_the_values_are_right(dtype: str) -> None:
    found = difference(array([[1, 2, 3], [4, 5, 6]], dtype), RIGHT)
    assert found is not None
    assert found.kind == "dtype"
    assert found.fact == Fact("dtype", f"{dtype}, expected float32", ("its values are right",))
    assert "its values differ too" in sentence(array([[9, 2, 3], [4, 5, 6]], dtype), RIGHT)


def test_what_two_ways_may_differ_by_does_not_judge_numbers_of_another_dtype() -> None:
    rounded = array(np.linspace(1.0, 2.0, 6), BFLOAT16)
    found = difference(array(np.linspace(1.0, 2.0, 6)), rounded, Like(tolerance=1e-4))
    assert found is not None
    assert found.fact == Fact("dtype", f"float32, expected {BFLOAT16}", ("its values are right",))


def test_another_device_is_wrong_and_another_number_of_it_is_not() -> None:
    found = difference(array([1.0], device="cpu"), array([1.0], device="cuda:0"))
    assert found is not None
    assert found.kind == "device"
    assert difference(array([1.0], device="cuda:1"), array([1.0], device="cuda:0")) is None


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_special_values_are_named_and_counted_and_never_a_joker(value: float, word: str) -> None:
    assert (
        sentence(array([1.0, value, 3.0]), array([1.0, 2.0, 3.0])) == f"1 of 3 numbers is {word}, expected finite ones"
    )
    assert difference(array([value] * 3), array([1.0, 2.0, 3.0])) is not None
    assert difference(array([1.0, value]), array([1.0, value])) is None, "where it is expected it is right"
    assert difference(array([1.0, 2.0]), array([1.0, value])) is not None


def test_both_kinds_of_special_values_are_named_together() -> None:
    assert "are NaN or infinite" in sentence(array([np.nan, np.inf, 1.0]), array([1.0, 1.0, 1.0]))


def test_none_asks_for_the_return() -> None:
    assert sentence(None, RIGHT) == "Your code returned None, expected a tensor of shape (2, 3); Is the return missing?"


@pytest.mark.parametrize(
    ("yours", "words"),
    [
        ([1.0, 2.0], "a list of 2"),
        ({"a": 1}, "a dict of a"),
        ("text", "'text'"),
        (1.5, "1.5"),
        (True, "True"),
        (Opaque("numpy.ndarray"), "a numpy.ndarray"),
        (Opaque("a complex64 tensor"), "a complex64 tensor"),
    ],
)
def test_something_else_than_a_tensor_is_named(yours: Value, words: str) -> None:
    assert sentence(yours, RIGHT) == f"{words}, expected a tensor of shape (2, 3)"


def part(yours: Value, expected: Value) -> str:
    found = difference(yours, expected)
    assert found is not None
    return found.name


def test_the_part_that_differs_is_named_and_one_that_nobody_asked_for_is_no_part_of_the_answer() -> None:
    expected = {"output": array([1.0]), "weights": [array([1.0]), array([2.0])]}
    assert "more" in sentence({**expected, "more": 1}, expected)
    assert part({**expected, "output": array([9.0])}, expected) == "output"
    assert part({**expected, "weights": [array([1.0]), array([9.0])]}, expected) == "item 1 of weights"
    assert part({"output": array([1.0])}, expected) == "weights"
    assert part([0, [1, [2, 3]]], [0, [1, [2, 4]]]) == "item [1][1][1]"
    assert part([0, 1], [0, 2]) == "item 1"
    assert part({"rows": [[1], [2]]}, {"rows": [[1], [3]]}) == "item [1][0] of rows"
    assert part([[{"items": 1}]], [[{"items": 2}]]) == "items"
    assert sentence({"output": array([1.0])}, expected).startswith("None")
    assert sentence({**expected, "weights": [array([1.0])]}, expected) == "1 part, expected 2"


@pytest.mark.parametrize(
    ("yours", "expected"),
    [(1, True), (True, 1), (1, 1.0), ("1", 1), (None, 0), ([], {}), ({}, []), ([1], [1.0]), (Opaque("a"), "a")],
)
def test_plain_values_of_another_type_are_wrong(yours: Value, expected: Value) -> None:
    found = difference(yours, expected)
    assert found is not None
    assert found.kind == "type"


def test_plain_numbers_are_right_up_to_rounding_and_special_ones_are_not() -> None:
    assert difference(1.0 + 1e-6, 1.0) is None
    assert difference(1.01, 1.0) is not None
    assert difference(float("nan"), 1.0) is not None


def test_with_exact_zeros_almost_nothing_is_not_nothing() -> None:
    almost = array([1.0, 1e-9])
    assert difference(almost, array([1.0, 0.0])) is None
    assert difference(almost, array([1.0, 0.0]), Same(exact_zeros=True)) is not None
    assert difference(array([1.0, -0.0]), array([1.0, 0.0]), Same(exact_zeros=True)) is None


# Checks with another judge.


def raised(*types: str, message: str = "", mentions: tuple[str, ...] = ()) -> Value:
    return {"raised": list(types), "message": message, "mentions": list(mentions)}


def test_an_exception_is_right_by_its_type_or_a_base_and_by_what_its_message_names() -> None:
    expected = raised("ValueError", message="n is -2", mentions=("-2",))
    assert difference(raised("ValueError", message="not -2!"), expected, Raises()) is None
    assert difference(raised("MyError", "ValueError", message="-2"), expected, Raises()) is None
    assert difference(raised("TypeError", message="-2"), expected, Raises(("ValueError", "TypeError"))) is None
    assert "does not mention -2" in sentence(raised("ValueError", message="no"), expected, Raises())
    assert "Your code raised TypeError, expected ValueError" in sentence(
        raised("TypeError", message="-2"), expected, Raises()
    )
    assert sentence(raised("TypeError", message="word " * 30), expected, Raises()).endswith("word …")
    assert "Your code raised nothing" in sentence({"raised": [], "returned": "Tensor"}, expected, Raises())


@pytest.mark.parametrize("odd", [None, 1, {}, {"raised": "ValueError"}, {"raised": [["ValueError"]]}, {"raised": [1]}])
def test_an_odd_answer_about_an_exception_is_wrong_and_no_accident(odd: Value) -> None:
    assert sentence(odd, raised("ValueError", mentions=("1",)), Raises())


def dropped(rate: float, scale: float, seed: int = 0) -> Value:
    random = np.random.default_rng(seed)
    full = random.standard_normal((40, 50))
    return {"eval": array(full), "train": array(full * (random.random(full.shape) >= rate) * scale)}


FULL = {"eval": dropped(0.0, 1.0)["eval"], "train": dropped(0.25, 1 / 0.75, seed=5)["train"]}


def test_dropout_is_right_whatever_it_drops_if_the_share_and_the_scale_are() -> None:
    assert difference(dropped(0.25, 1 / 0.75), FULL, Dropout(0.25)) is None


@pytest.mark.parametrize(
    ("yours", "words"),
    [
        (dropped(0.5, 2.0), "of the elements are zero, expected about 25%"),
        (dropped(0.75, 4.0), "of the elements are zero, expected about 25%"),
        (dropped(0.0, 1.0), "In train mode 0% of the elements are zero"),
        (dropped(0.25, 1.0), "what is kept is 1 × its value"),
        (dropped(0.25, 0.75), "what is kept is 0.75 × its value"),
        ({**dropped(0.25, 1 / 0.75), "eval": dropped(0.25, 1.0)["train"]}, "numbers differ"),
        ({**dropped(0.25, 1 / 0.75), "train": None}, "None"),
        ({**dropped(0.25, 1 / 0.75), "train": array([1.0])}, "shape (1,)"),
        ({"eval": dropped(0.25, 1.0)["eval"]}, "None"),
        ({**dropped(0.25, 1 / 0.75), "train": array(np.full((40, 50), np.nan))}, "NaN"),
        (None, "None"),
        ([], "a list of 0"),
    ],
)
def test_the_message_for_wrong_dropout_says_what_is_wrong(yours: Value, words: str) -> None:
    assert words in sentence(yours, FULL, Dropout(0.25))


def test_dropout_that_is_shared_along_another_axis_is_another_mistake() -> None:
    full, random = np.ones((20, 10, 30)), np.random.default_rng(8)
    one, again, other = (
        Observed({"eval": array(full), "train": array(full * (random.random(mask) >= 0.25) / 0.75)})
        for mask in ((1, 10, 30), (1, 10, 30), (20, 10, 1))
    )
    known = sketch(again, Dropout(0.25), same(one.value))
    assert is_same(one, known, Dropout(0.25), same(one.value), {})
    assert not is_same(other, known, Dropout(0.25), same(one.value), {})


def positive(yours: Any, expected: Any) -> str | None:
    """A judge of a course's own."""
    return None if (yours["x"] > 0).all() and expected["x"].shape else "x must be positive"


def test_a_judge_of_the_courses_own_reads_arrays_and_says_a_sentence() -> None:
    expected = {"x": array([1.0, 2.0])}
    assert difference({"x": array([5.0])}, expected, positive) is None
    assert sentence({"x": array([-5.0])}, expected, positive) == "x must be positive"


@pytest.mark.parametrize("odd", [None, 5, [], {}, {"x": "text"}, Opaque("numpy.ndarray")])
def test_an_answer_that_such_a_judge_cannot_read_is_wrong_and_not_the_graders_fault(odd: Value) -> None:
    assert "cannot be compared with a dict of x" in sentence(odd, {"x": array([1.0])}, positive)


def test_such_a_judge_that_cannot_read_what_is_right_is_the_courses_fault() -> None:
    with pytest.raises(CourseProblem, match=r"^the judge positive \(test_verdicts.py, line \d+\) raises IndexError: "):
        difference(array([1.0]), array([1.0]), positive)


def test_such_a_judge_that_raises_on_a_wrong_value_of_the_right_form_is_the_courses_fault() -> None:
    def ratio(yours: Any, expected: Any) -> str | None:
        return None if expected["x"] / yours["x"] == 1 else "the ratio is not 1"

    assert difference({"x": 2.0}, {"x": 2.0}, ratio) is None
    with pytest.raises(
        CourseProblem, match=r"^the judge ratio \(.*\) raises ZeroDivisionError: float division by zero$"
    ):
        difference({"x": 0.0}, {"x": 2.0}, ratio)


VALUES = some.recursive(
    some.none()
    | some.booleans()
    | some.integers(-5, 5)
    | some.floats()
    | some.text(max_size=3)
    | some.builds(Opaque, some.text(max_size=5))
    | some.builds(
        array,
        some.lists(some.floats(width=16), max_size=4),
        some.sampled_from(["float32", "float64", "float16"]),
        some.sampled_from(["cpu", "cuda:0", "nonsense"]),
    ),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(["a", "eval", "train", "raised"]), inner)
    ),
    max_leaves=8,
)


@pytest.mark.long
@settings(derandomize=True, max_examples=300, deadline=None)
@given(VALUES, VALUES)
def test_any_answer_to_any_check_is_judged_without_an_accident(yours: Value, other: Value) -> None:
    for expected, judge in (
        (other, Same()),
        (FULL, Dropout(0.25)),
        (raised("ValueError", mentions=("1",)), Raises()),
        ({"x": array([1.0])}, positive),
    ):
        found = difference(yours, expected, judge)
        assert found is None or found.fact.says


@settings(derandomize=True, max_examples=100, deadline=None)
@given(VALUES)
def test_every_value_is_what_it_is_itself(value: Value) -> None:
    assert difference(value, value) is None


# Points.


def suite_with(shares: list[float], points: int, bonus: list[float]) -> Suite:
    def made(number: int, share: float, extra: bool) -> Check:
        return Check(f"c{number}", "", lambda *_: None, share, Same(), None, 1, extra)

    checks = [made(at, share, at >= len(shares)) for at, share in enumerate([*shares, *bonus])]
    course = replace(tiny.COURSE, exercises=(replace(tiny.COURSE.exercises[0], points=points),))
    return Suite(course, {tiny.FIRST: tuple(checks)}, {}, {})


SHARES = some.floats(0.01, 1000) | some.integers(1, 12).map(float)


@pytest.mark.long
@settings(derandomize=True, max_examples=400, deadline=None)
@given(some.lists(SHARES, min_size=1, max_size=20), some.integers(1, 10_000), some.lists(SHARES, max_size=2))
def test_the_points_of_the_checks_add_up_and_none_is_off_by_a_whole_hundredth(
    shares: list[float], points: int, bonus: list[float]
) -> None:
    suite = suite_with(shares, points, bonus)
    given_ = suite.points(suite.course.exercises[0])
    own = [given_[f"c{at}"] for at in range(len(shares))]
    assert sum(own) == points
    for share, hundredths in zip(shares, own, strict=True):
        assert abs(hundredths - points * share / sum(shares)) < 1 + 1e-6
    by_share = sorted(zip(shares, own, strict=True))
    assert all(low <= high + 1 for (_, low), (_, high) in pairwise(by_share))


def test_what_is_left_over_goes_to_the_largest_remainders() -> None:
    suite = suite_with([1, 1, 1], 100, [])
    assert list(suite.points(suite.course.exercises[0]).values()) == [34, 33, 33]
    suite = suite_with([1, 2, 4], 100, [])
    assert list(suite.points(suite.course.exercises[0]).values()) == [14, 29, 57]


@pytest.mark.parametrize(("points", "trials"), [(0, 1), (-1, 1), (1, 0)])
def test_a_check_worth_nothing_or_never_run_cannot_be_declared(points: float, trials: int) -> None:
    with pytest.raises(ValueError, match=r"(points|trials) is .*, expected"):
        check("a title", points=points, trials=trials)


# The whole way, on the tiny course.


@pytest.fixture
def judged(grader: Grader, runner: Runner) -> Callable[..., ExerciseResult]:
    """Return the result of one exercise of a submission."""

    def judge(first: str | None = tiny.MEAN, second: str | None = tiny.POWER, of: str = tiny.FIRST) -> ExerciseResult:
        report = grader.grade(tiny.submitted(first, second), runner=runner)
        assert "grader_error" not in report.statuses
        return tiny.result_of(report, of)

    return judge


Judged = Callable[..., ExerciseResult]


def names(result: ExerciseResult) -> dict[str, str | None]:
    """Return the misconception behind each check that fails, None where none is named."""
    return {
        check.id: check.finding.id if check.finding and check.finding.kind == "misconception" else None
        for check in result.checks
        if check.status not in ("pass", "waits")
    }


def test_a_known_mistake_is_named_explained_and_has_its_own_first_hint(judged: Judged) -> None:
    result = judged(tiny.mean_with("return x.cumsum(-1)"))
    finding = result.checks[0].finding
    assert finding is not None
    assert (finding.kind, finding.id) == ("misconception", "mean-not-divided")
    assert finding.message == "The running sum is not divided."
    assert "divided by how many numbers" in str(finding.detail)
    assert result.checks[0].hints[0] == "Is your result for equal numbers the same number everywhere?"
    assert len(result.checks[0].hints) == 3


def test_a_known_mistake_written_in_another_way_is_still_named(judged: Judged) -> None:
    other = """
import torch
def running_mean(x):
    if not x.numel():
        raise ValueError(f"empty: {x.shape}")
    total, sums = 0, []
    for each in x.unbind(-1):
        total = total + each
        sums.append(total)
    return torch.stack(sums, -1)
"""
    assert set(names(judged(other)).values()) == {"mean-not-divided"}


def test_mistakes_with_the_same_output_are_named_by_the_first_of_their_group(judged: Judged) -> None:
    for line in ("return x.cumsum(-1) / x.size(-1)", "return x.cumsum(-1) / count[-1]"):
        assert set(names(judged(tiny.mean_with(line))).values()) == {"mean-divided-by-length"}


def test_two_mistakes_at_once_are_both_named_each_by_its_check(judged: Judged) -> None:
    both = tiny.mean_with("return x.cumsum(-1)").replace("if x.size(-1) == 0:", "if False:")
    found = names(judged(both))
    assert (found["values"], found["empty"]) == ("mean-not-divided", "mean-of-nothing")


@pytest.mark.parametrize(
    "line",
    [
        "return x.cumsum(dim=-1) / count * 1.01",
        "return x.cumsum(dim=-1) / count + 0.001",
        "return torch.zeros_like(x)",
        "return x",
        "return x.cumprod(-1) / count",
    ],
)
def test_a_mistake_that_nobody_knows_is_not_given_a_name(judged: Judged, line: str) -> None:
    result = judged(tiny.mean_with(line))
    assert names(result)["values"] is None
    assert result.checks[0].finding is not None
    assert result.checks[0].hints[0] == tiny.COURSE.exercises[0].hints["values"][0]


def test_a_pattern_is_reported_where_no_name_is_known(judged: Judged) -> None:
    finding = judged(tiny.mean_with("return -x.cumsum(dim=-1) / count")).checks[0].finding
    assert finding is not None
    assert (finding.kind, finding.id) == ("pattern", "sign")


def test_the_numbers_of_a_difference_are_in_a_self_check_and_not_in_a_graded_report(
    grader: Grader, runner: Runner, key_cache: Path
) -> None:
    wrong = tiny.submitted(tiny.mean_with("return x"))
    with Grader(tiny.SUITE, seed=tiny.COURSE.seed, cache=key_cache) as secret:
        hidden = secret.grade(wrong, runner=runner)
    shown = grader.grade(wrong, runner=runner)
    assert tiny.check_of(shown, tiny.FIRST, "values").finding.evidence is not None  # type: ignore[union-attr]
    assert all(
        check.finding is None or check.finding.evidence is None for check in tiny.result_of(hidden, tiny.FIRST).checks
    )


FORBIDDEN = {
    "by its full name": "import torch\ndef power_of(a, n): return torch.linalg.matrix_power(a, n)",
    "by the other name": "import torch\ndef power_of(a, n): return torch.matrix_power(a, n)",
    "by an alias": "import torch as t\ndef power_of(a, n): return t.linalg.matrix_power(a, n)",
    "by an alias of a part": "import torch.linalg as algebra\ndef power_of(a, n): return algebra.matrix_power(a, n)",
    "by a from-import": "from torch.linalg import matrix_power as power_of",
    "by a from-import of a part": "from torch import linalg\ndef power_of(a, n): return linalg.matrix_power(a, n)",
    "by getattr": "import torch\ndef power_of(a, n): return getattr(torch.linalg, 'matrix_power')(a, n)",
    "as a value": "import torch\npower_of = torch.linalg.matrix_power",
    "inside a function": "def power_of(a, n):\n    import torch\n    return torch.linalg.matrix_power(a, n)",
    "in what is never called": "import torch\ndef unused(a): return torch.matrix_power(a, 2)",
}


def with_power(source: str) -> str:
    return f"{tiny.POWER_ALONE}\n\n{source}\n"


@pytest.mark.parametrize("how", FORBIDDEN)
def test_a_forbidden_name_costs_the_exercise_its_points_and_its_line_is_reported(judged: Judged, how: str) -> None:
    source = with_power(FORBIDDEN[how])
    result = judged(tiny.MEAN, source, of=tiny.SECOND)
    assert result.score == 0
    assert {check.status for check in result.checks} == {"fail"}
    for outcome in result.checks:
        assert outcome.finding is not None
        assert outcome.finding.kind == "forbidden"
        assert "must not be used here" in outcome.finding.message
        assert outcome.finding.place is not None
        assert "matrix_power" in source.splitlines()[outcome.finding.place.line - 1]
        assert not outcome.hints, "no hint leads away from a forbidden call"


@pytest.mark.parametrize(
    "source",
    [
        '"""Do not use torch.linalg.matrix_power, nor torch.matrix_power."""',
        "# torch.linalg.matrix_power(a, n) would be too easy",
        "message = 'torch.linalg.matrix_power'",
        "class torch_like:\n    matrix_power = None\ndef other(torch_like): return torch_like.matrix_power",
        "import torch\nnorm = torch.linalg.norm",
    ],
)
def test_who_only_mentions_a_forbidden_name_keeps_the_points(judged: Judged, source: str) -> None:
    assert judged(tiny.MEAN, with_power(source), of=tiny.SECOND).score == tiny.FULL[tiny.SECOND]


@pytest.mark.parametrize(
    "line",
    [
        "import autograder",
        "import autograder.checks.given",
        "from autograder.checks import given",
        "from autograder.worker.sources import Sources as S",
        "import importlib\nimportlib.import_module('auto' + 'grader.checks.given')",
        "import sys\nsys.modules['auto' + 'grader.checks.given']",
    ],
)
def test_the_grader_is_no_library_in_any_exercise(judged: Judged, line: str) -> None:
    result = judged(f"{line}\n{tiny.MEAN}")
    assert result.score == 0
    assert {check.finding.kind for check in result.checks if check.finding} <= {"forbidden", "exception"}
    assert all(check.finding and check.finding.place for check in result.checks)


def test_a_file_made_of_a_notebook_may_keep_the_cell_that_checks(judged: Judged) -> None:
    cell = "try:\n    from autograder.notebook import check\nexcept ImportError:\n    pass"
    assert judged(f"{cell}\n{tiny.MEAN}").score == tiny.FULL[tiny.FIRST]


def test_what_one_exercise_forbids_another_may_use(judged: Judged) -> None:
    first = f"import torch\n{tiny.MEAN}\nunused = torch.linalg.matrix_power\n"
    assert judged(first).score == tiny.FULL[tiny.FIRST]


def test_a_forbidden_function_is_noticed_when_it_is_called_by_whatever_name(judged: Judged) -> None:
    hidden = tiny.POWER_ALONE.replace("half @ half @ a", "getattr(torch.linalg, 'matrix_' + 'power')(a, n)")
    result = judged(tiny.MEAN, hidden, of=tiny.SECOND)
    assert result.score == 0
    assert {check.finding.kind for check in result.checks if check.finding} == {"forbidden"}
    assert result.checks[0].finding is not None
    assert result.checks[0].finding.place is not None
    assert "'matrix_' + 'power'" in hidden.splitlines()[result.checks[0].finding.place.line - 1]


def test_a_forbidden_function_that_an_earlier_file_calls_is_noticed_there(judged: Judged) -> None:
    helper = "import torch\ndef helper(a, n): return torch.linalg.matrix_power(a, n)"
    borrowed = f"from {tiny.FIRST} import helper\n" + tiny.POWER_ALONE.replace("half @ half @ a", "helper(a, n)")
    result = judged(f"{tiny.MEAN}\n\n{helper}\n", borrowed, of=tiny.SECOND)
    assert result.score == 0
    finding = result.checks[0].finding
    assert finding is not None
    assert (finding.kind, finding.id) == ("forbidden", "torch.linalg.matrix_power")
    assert finding.place is not None
    assert finding.place.file == tiny.FILES[0]


def test_a_forbidden_function_called_at_import_is_noticed(judged: Judged) -> None:
    early = "\nimport torch\ngetattr(torch.linalg, 'matrix_' + 'power')(torch.eye(2), 2)\n"
    result = judged(tiny.MEAN, tiny.POWER_ALONE + early, of=tiny.SECOND)
    assert result.score == 0
    assert {check.finding.kind for check in result.checks if check.finding} == {"forbidden"}


PART = tiny.part(tiny.FIRST, tiny.MEAN)


@pytest.mark.parametrize("first", [tiny.mean_with("return x.cumsum(-1)"), "raise NotImplementedError", "import os"])
def test_a_mistake_costs_its_points_once_where_there_is_a_reference_part(
    first: str, runner: Runner, key_cache: Path
) -> None:
    suite = replace(tiny.SUITE, reference_parts={tiny.FILES[0]: PART})
    with Grader(suite, seed=tiny.COURSE.seed, cache=key_cache) as grader:
        report = grader.grade(tiny.submitted(first, tiny.POWER), runner=runner)
    second = tiny.result_of(report, tiny.SECOND)
    assert (second.status, second.score, second.parts) == ("pass", tiny.FULL[tiny.SECOND], "stand-in")
    assert second.stood_in == (tiny.FIRST,)
    assert tiny.result_of(report, tiny.FIRST).score < tiny.FULL[tiny.FIRST]


def test_a_right_submission_never_has_a_reference_part(runner: Runner, key_cache: Path) -> None:
    suite = replace(tiny.SUITE, reference_parts={tiny.FILES[0]: b"no part: it ends the worker"})
    with Grader(suite, seed=tiny.COURSE.seed, cache=key_cache) as grader:
        report = grader.grade(tiny.submitted(), runner=runner)
    assert {exercise.parts for exercise in report.exercises} == {"own"}
    assert report.score == 10000


@pytest.mark.parametrize(
    "first",
    ["def runing_mean(x): return x", "def running_mean(): return 1", "import torch.no_such_module"],
    ids=["another name", "no parameter", "an exception"],
)
def test_a_failure_that_is_not_about_numbers_has_no_hint_about_numbers(first: str, judged: Judged) -> None:
    result = judged(first)
    assert result.score == 0
    assert result.checks[0].hints == ()


def test_a_wrong_number_has_the_hints_of_its_check(judged: Judged) -> None:
    result = judged(tiny.mean_with("return x.cumsum(dim=-1) / count + 1"))
    failed = next(check for check in result.checks if check.status == "fail")
    assert failed.hints == tiny.COURSE.exercises[0].hints[failed.id]


def stub(exercise: str) -> str:
    return (tiny.ROOT / "exercises" / f"{exercise}.py").read_text("utf-8")


def test_an_untouched_stub_is_not_started_and_scores_nothing(judged: Judged) -> None:
    for of in tiny.FULL:
        result = judged(stub(tiny.FIRST), stub(tiny.SECOND), of=of)
        assert (result.status, result.score) == ("not_started", 0)
        assert {check.status for check in result.checks} == {"not_started"}


def test_an_exercise_that_needs_an_unwritten_one_waits_for_it_and_keeps_the_rest(judged: Judged) -> None:
    result = judged(stub(tiny.FIRST), tiny.POWER, of=tiny.SECOND)
    statuses = {check.id: check.status for check in result.checks}
    assert statuses.pop("mean") == "waits"
    assert set(statuses.values()) == {"pass"}
    waiting = result.checks[-1].finding
    assert waiting is not None
    assert waiting.message == f"{tiny.FILES[1]} uses {tiny.FILES[0]}, which is not written yet."
    assert result.score == sum(check.max_score for check in result.checks if check.id != "mean")


def test_half_an_exercise_keeps_the_points_of_its_half(judged: Judged) -> None:
    half = tiny.POWER.replace(
        "    return running_mean(powers)[..., -1]", "    raise NotImplementedError('ex02: mean_power')"
    )
    result = judged(tiny.MEAN, half, of=tiny.SECOND)
    assert {check.status for check in result.checks if check.id != "mean"} == {"pass"}
    assert result.checks[-1].status == "not_started"
    assert 0 < result.score < result.max_score


def todos(result: ExerciseResult) -> dict[str, str]:
    return {todo.name: todo.state for todo in result.todos}


def test_half_an_exercise_is_in_progress_and_names_the_checks_of_each_part(judged: Judged) -> None:
    stubbed = stub(tiny.SECOND)
    assert judged(tiny.MEAN, stubbed, of=tiny.SECOND).in_progress is False
    half = tiny.POWER.replace("    return running_mean(powers)[..., -1]", "    raise NotImplementedError('ex02')")
    result = judged(tiny.MEAN, half, of=tiny.SECOND)
    assert (result.status, result.in_progress) == ("fail", True), "the status is one of those that are promised"
    assert todos(result) == {"matrix_power": "done", "mean_power": "started"}
    assert result.todos[1].checks == ("mean",)
    assert result.first_failure is not None
    assert result.first_failure.id == "mean"


def test_what_is_written_and_fails_comes_before_what_is_not_written(judged: Judged) -> None:
    wrong = stub(tiny.SECOND).replace('    raise NotImplementedError("ex02: matrix_power")', "    return a")
    result = judged(tiny.MEAN, wrong, of=tiny.SECOND)
    assert (result.in_progress, todos(result)) == (False, {"matrix_power": "done", "mean_power": "open"})
    assert result.first_failure is not None
    assert result.first_failure.status == "fail"


@pytest.mark.parametrize("body", ["pass", "..."])
def test_a_function_without_code_is_not_started(judged: Judged, body: str) -> None:
    result = judged(stub(tiny.FIRST).replace('raise NotImplementedError("ex01: running_mean")', body))
    assert (result.status, result.in_progress) == ("not_started", False)
    assert [(todo.state, todo.place.line) for todo in result.todos] == [("empty", 15)]


def test_an_error_at_import_is_no_unwritten_function(judged: Judged) -> None:
    assert judged(stub(tiny.FIRST) + "\nimport nothing_like_this\n").status == "error"


def test_a_function_that_returns_none_is_wrong(judged: Judged) -> None:
    result = judged(tiny.mean_with("x.cumsum(dim=-1)"))
    assert (result.status, todos(result)) == ("fail", {"running_mean": "done"})


def test_a_file_that_was_not_handed_in_is_missing(judged: Judged) -> None:
    result = judged(None, tiny.POWER_ALONE)
    assert (result.status, result.score, result.max_score) == ("missing", 0, tiny.FULL[tiny.FIRST])
    assert tiny.sentences_of(result) == [f"There is no file {tiny.FILES[0]}."] * len(result.checks)
    assert judged(None, tiny.POWER_ALONE, of=tiny.SECOND).score == tiny.FULL[tiny.SECOND]


@pytest.mark.parametrize("trial", [0, 1])
def test_one_wrong_draw_of_two_is_wrong(judged: Judged, trial: int) -> None:
    length = sizes_of(tiny.COURSE.sizes, tiny.COURSE.seed, tiny.FIRST, "values", trial)["T"]
    lucky = tiny.mean_with(f"return x.cumsum(dim=-1) / (count + (x.shape == ({length},)))")
    assert judged(lucky).checks[0].status == "fail"


def test_what_is_not_written_is_no_further_mistake(judged: Judged) -> None:
    eye = "torch.eye(a.size(-1), dtype=a.dtype, device=a.device).expand_as(a)"
    assert eye in tiny.POWER
    wrong = tiny.POWER.replace(eye, "a")
    half = wrong.replace("    return running_mean(powers)[..., -1]", "    raise NotImplementedError('ex02')")
    finding = judged(tiny.MEAN, half, of=tiny.SECOND).first_failure
    assert finding is not None
    assert finding.finding is not None
    assert finding.finding.id == "power-once-too-often"
    assert "more mistake" not in f"{finding.finding.message} {finding.finding.detail}"
