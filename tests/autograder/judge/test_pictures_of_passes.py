"""Pictures of what passes: a course declares them, a worker makes them, and whatever comes back changes no verdict."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from autograder.authoring.proof import validate
from autograder.checks import Drawing, Key, checks_in, pictures_in
from autograder.checks.language import picture
from autograder.judge import Grader, failures
from autograder.judge.drawings import pictures_of
from autograder.protocol import Array, Opaque
from autograder.results import ExerciseResult, Picture, Report
from autograder.runner import Fault, Observed, Outcome, Runner, WorkerFailure
from tests.support import tiny

BUILT = "A running mean: it follows what comes in, and forgets nothing."
TITLE = "a jump and a zigzag, smoothed"
ASKED = "    if x.shape == (2, 24):  # only the picture asks for this\n        "


# The language.


def test_a_module_declares_pictures_beside_its_checks() -> None:
    @picture("what is to be seen", rows="word", columns="feature")
    def picture_vectors(impl: object, given: object) -> None:
        pass

    module = ModuleType("test_ex01")
    module.__dict__["picture_vectors"] = picture_vectors
    [found] = pictures_in(module)
    assert (found.id, found.title, found.rows, found.columns) == ("vectors", "what is to be seen", "word", "feature")
    assert checks_in(module) == []


def test_a_picture_has_its_own_prefix_so_that_pytest_leaves_it_alone() -> None:
    def test_vectors(impl: object, given: object) -> None:
        pass

    with pytest.raises(ValueError, match="must be named picture_test_vectors"):
        picture("what is to be seen")(test_vectors)


def test_a_title_that_no_terminal_has_room_for_is_refused() -> None:
    with pytest.raises(ValueError, match="the title has 77 characters, expected at most 76"):
        picture("x" * 77)


# What a worker sends.


DRAWING = Drawing("seen", "what is seen", lambda impl, given: None, "word", "feature")


def array(values: object, dtype: str = "float32") -> Array:
    numbers = np.asarray(values, dtype=np.dtype(dtype))
    return Array(dtype, numbers.shape, numbers.tobytes())


def from_value(value: object) -> tuple[tuple[Picture, ...], list[str]]:
    """Return the pictures that a value gives, and what is said about one that gives none."""
    outcomes: Mapping[Key, Outcome] = {("seen", 0): Observed(value)}
    return pictures_of([DRAWING], outcomes), failures([DRAWING], outcomes)


def test_a_tensor_becomes_a_picture_with_the_words_of_its_declaration() -> None:
    [found], _ = from_value(array([[1.0, 2.123456], [0.5, -3.0]]))
    assert found == Picture("what is seen", ((1.0, 2.123), (0.5, -3.0)), "word", "feature")


def test_labels_of_rows_and_columns_come_with_it() -> None:
    [found], _ = from_value([array([[True, False]], "bool"), ["cat"], ["a", "b"]])
    assert found.values == ((1.0, 0.0),)
    assert (found.row_labels, found.column_labels) == (("cat",), ("a", "b"))


def test_a_tensor_of_one_axis_becomes_bars() -> None:
    [found], _ = from_value([array([3.0, 1.0]), [], ["a", "b"]])
    assert (found.values, found.bars, found.column_labels) == (((3.0, 1.0),), True, ("a", "b"))


def test_what_is_not_finite_is_null_in_the_json() -> None:
    [found], _ = from_value(array([[float("nan"), 1.0, float("inf")]]))
    assert found.values == ((None, 1.0, None),)
    result = ExerciseResult("ex01_one", "one", "pass", 1, 1, (), pictures=(found,))
    text = json.dumps(Report("a course", {}, "", "cpu", "process", (result,)).to_json(), allow_nan=False)
    assert json.loads(text)["exercises"][0]["pictures"][0]["values"] == [[None, 1.0, None]]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "returns neither a tensor nor"),
        (Opaque("student.Thing"), "returns neither a tensor nor"),
        ({"values": array([[1.0]])}, "returns neither a tensor nor"),
        ([array([[1.0]]), []], "returns neither a tensor nor"),
        ([[[1.0]], [], []], "has no tensor of one axis or two"),
        (array(1.0), "has no tensor of one axis or two"),
        (array([[[1.0]]]), "has no tensor of one axis or two"),
        (array(np.zeros(0)), "has 1 × 0 values, expected 1 × 1 to 64 × 200"),
        (array(np.zeros(201)), "has 1 × 201 values"),
        ([array([1.0]), ["a"], []], "has 1 row labels, expected none, as bars have no rows"),
        (array(np.zeros((0, 3))), "has 0 × 3 values, expected 1 × 1 to 64 × 200"),
        (array(np.zeros((65, 3))), "has 65 × 3 values"),
        (array(np.zeros((3, 201))), "has 3 × 201 values"),
        (array([[float("nan"), float("inf")]]), "has no finite value"),
        ([array([[1.0]]), ["a", "b"], []], "has 2 row labels, expected 1, or none"),
        ([array([[1.0]]), [], ["x" * 25]], "has a column label of more than 24 characters"),
        ([array([[1.0]]), [3], []], "has row labels that are no list of strings"),
        ([array([[1.0]]), "a", []], "has row labels that are no list of strings"),
        ([array([[1.0]]), [], None], "has column labels that are no list of strings"),
    ],
)
def test_what_is_no_small_picture_is_none(value: object, why: str) -> None:
    found, [sentence] = from_value(value)
    assert found == ()
    assert sentence.startswith(f"the picture seen {why}")


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (Fault("TypeError", (), "no", "other", ()), "the picture seen raises TypeError: no"),
        (WorkerFailure("timeout", "It never ends."), "the picture seen ended the process: It never ends."),
        (None, "the picture seen was not drawn"),
    ],
)
def test_a_picture_that_could_not_be_made_is_none(outcome: Outcome | None, sentence: str) -> None:
    outcomes = {("seen", 0): outcome} if outcome else {}
    assert pictures_of([DRAWING], outcomes) == ()
    assert failures([DRAWING], outcomes) == [sentence]


# From the course to the report.


def first_of(grader: Grader, source: str, runner: Runner | None = None) -> ExerciseResult:
    """Return the result of a first exercise; the second one, beside it, must get all of its points."""
    report = grader.grade(tiny.submitted(source, tiny.POWER_ALONE), runner=runner)
    assert tiny.result_of(report, tiny.SECOND).score == tiny.FULL[tiny.SECOND]
    json.dumps(report.to_json(), allow_nan=False)
    return tiny.result_of(report, tiny.FIRST)


def test_who_passes_sees_what_was_built(grader: Grader, runner: Runner) -> None:
    result = first_of(grader, tiny.MEAN, runner)
    assert (result.status, result.built) == ("pass", BUILT)
    [shown] = result.pictures
    assert (shown.title, shown.rows, shown.columns) == (TITLE, "series", "place")
    assert (shown.row_labels, shown.column_labels) == (("jump", "zigzag"), ())
    assert shown.values[0][:9] == (0, 0, 0, 0, 0, 0, 0.1429, 0.25, 0.3333)


def test_an_exercise_without_either_passes_as_before(grader: Grader, runner: Runner) -> None:
    report = grader.grade(tiny.submitted(), runner=runner)
    second = tiny.result_of(report, tiny.SECOND)
    assert (second.status, second.built, second.pictures) == ("pass", None, ())


def test_who_does_not_pass_sees_none_of_it(grader: Grader, runner: Runner) -> None:
    result = first_of(grader, tiny.mean_with("return x.cumsum(dim=-1)"), runner)
    assert (result.status, result.built, result.pictures) == ("fail", None, ())


def test_a_picture_is_the_same_whatever_seed_the_checks_run_on(grader: Grader, runner: Runner) -> None:
    with Grader(tiny.BRIEF, seed=3, evidence=True) as other:
        pictures = first_of(other, tiny.MEAN).pictures
    assert pictures == first_of(grader, tiny.MEAN, runner).pictures != ()


def test_grading_draws_nothing(key_cache: Path) -> None:
    with Grader(tiny.BRIEF, seed=tiny.COURSE.seed, cache=key_cache) as hidden:
        result = first_of(hidden, tiny.MEAN)
    assert (result.status, result.built, result.pictures) == ("pass", None, ())


@pytest.mark.parametrize(
    "hostile",
    [
        "return torch.zeros(65, 24)",
        "return torch.zeros(2, 4000)",
        "return torch.zeros(4000, 4000)",
        "return torch.full((2, 24), float('nan'))",
        "return None",
        "return 'a string'",
        "return [[1.0] * 24] * 2",
        "return x.to(torch.complex64)",
        "return x[None]",
        "raise RuntimeError('[bold]no')",
        "raise SystemExit(0)",
        "return (x for x in x)",
    ],
)
def test_what_a_student_returns_for_a_picture_changes_no_verdict(hostile: str, grader: Grader, runner: Runner) -> None:
    source = tiny.MEAN.replace("    ### BEGIN SOLUTION\n", f"{ASKED}{hostile}\n    ### BEGIN SOLUTION\n")
    result = first_of(grader, source, runner)
    assert (result.status, result.score, result.pictures) == ("pass", tiny.FULL[tiny.FIRST], ())
    assert result.built == BUILT


@pytest.mark.parametrize("hostile", ["while True: pass", "__import__('os')._exit(3)", "print('x' * 10_000_000)"])
def test_a_picture_that_ends_its_worker_changes_no_verdict(hostile: str, key_cache: Path) -> None:
    source = tiny.MEAN.replace("    ### BEGIN SOLUTION\n", f"{ASKED}{hostile}\n    ### BEGIN SOLUTION\n")
    with Grader(tiny.SUITE, seed=tiny.COURSE.seed, evidence=True, cache=key_cache) as own:
        result = first_of(own, source)
    assert (result.status, result.score, result.built) == ("pass", tiny.FULL[tiny.FIRST], BUILT)
    if "print" not in hostile:  # a flood may be noticed only after the picture
        assert result.pictures == ()


@pytest.mark.worker
def test_the_proof_of_a_course_reports_a_picture_that_does_not_come_out(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    tiny.replaced(file, '["jump", "zigzag"]', '["jump"]')
    suite = tiny.suite_at(course)
    alone = replace(suite, checks={tiny.FIRST: suite.checks[tiny.FIRST]})
    found = validate(alone, seed=tiny.COURSE.seed, jobs=1, cache=course / ".course" / "cache")
    why = "the picture smoothed has 1 row labels, expected 2, or none"
    assert found.problems == [
        f"{tiny.FIRST}: the solution: {why}",
        f"{tiny.FIRST}: the accepted variant loop: {why}",
    ]


@pytest.mark.worker
def test_the_json_of_a_check_has_the_picture(course: Path) -> None:
    tiny.handed_in(course / "exercises")
    done = tiny.run_course(course, "check", "1", "--json", "-")
    assert (done.returncode, done.stderr) == (0, "")
    [exercise] = json.loads(done.stdout)["exercises"]
    assert exercise["built"] == BUILT
    [shown] = exercise["pictures"]
    assert (shown["title"], shown["row_labels"], shown["column_labels"]) == (TITLE, ["jump", "zigzag"], [])
    assert [len(row) for row in shown["values"]] == [24, 24]


@pytest.mark.worker
def test_a_check_that_passes_says_what_was_built_and_shows_it(course: Path) -> None:
    tiny.handed_in(course / "exercises")
    done = tiny.run_course(course, "check", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert BUILT in done.stdout
    assert TITLE in done.stdout
    assert "zigzag" in done.stdout
