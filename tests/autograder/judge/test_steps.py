"""The steps of worked examples: what they declare, and how a worker's values are compared with those on paper."""

import math
import struct
from collections.abc import Sequence
from types import ModuleType

import pytest

from autograder.authoring.proof import unequal_step
from autograder.checks import Step, checks_in, steps_in
from autograder.checks.language import step
from autograder.diagnosis import Source
from autograder.judge import StepResult, results_of
from autograder.judge.drawings import UNSEEN, read_paper
from autograder.protocol import Array, Opaque, Value
from autograder.results import Place
from autograder.runner import Fault, Observed, Outcome, WorkerFailure
from tests.support import tiny

FIRST = tiny.COURSE.exercises[0]
SOURCE = Source(FIRST.file, b"def running_mean(x):\n    raise NotImplementedError\n")


def probe(impl: object, given: object) -> None:
    pass


def result_of(paper: str, outcome: Outcome | None) -> StepResult:
    outcomes = {("one", 0): outcome} if outcome is not None else {}
    [result] = results_of([Step("one", "the step", probe, paper)], outcomes, FIRST, SOURCE, 2048)
    return result


def compared(paper: str, value: Value) -> tuple[str, object]:
    result = result_of(paper, Observed(value))
    return result.mark, result.yours


def array(values: Sequence[float], *shape: int) -> Array:
    return Array("float32", shape or (len(values),), struct.pack(f"<{len(values)}f", *values))


# The language.


def test_a_module_declares_steps() -> None:
    @step("the sum", "3.0")
    def step_sum(impl: object, given: object) -> None:
        pass

    module = ModuleType("try_ex01")
    module.__dict__["step_sum"] = step_sum
    [found] = steps_in(module)
    assert (found.id, found.title, found.paper) == ("sum", "the sum", "3.0")
    assert checks_in(module) == []


@pytest.mark.parametrize(
    ("title", "paper", "message"),
    [
        ("x" * 27, "1", "expected at most 26"),
        ("sum", " \n", "has no numbers"),
        ("sum", "1", "must be named step_probe"),
    ],
)
def test_a_step_that_cannot_be_shown_is_refused(title: str, paper: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        step(title, paper)(probe)


def test_paper_is_read_row_by_row_as_the_lesson_writes_it() -> None:
    assert read_paper("[[1 0]\n [-0.5, 2.0]]") == (("1", "0"), ("-0.5", "2.0"))
    assert read_paper("(-1.26, 3e-4)") == (("-1.26", "3e-4"),)


# Numbers.


@pytest.mark.parametrize(
    ("paper", "value", "mark", "yours"),
    [
        ("0.212 0.576", array([0.21194, 0.57611]), "equal", (("0.212", "0.576"),)),
        ("0.212 0.576", array([0.21194, 0.5771]), "differs", (("0.212", "0.577"),)),
        ("2.0", array([1.9999999], 1), "equal", (("2.0",),)),
        ("2", 2.3, "differs", (("2.3",),)),
        ("2", 2.0000001, "equal", (("2",),)),
        ("2", True, "differs", (("1",),)),
        ("0.0", -1e-9, "equal", (("0.0",),)),
        ("1.0", -1e-9, "differs", (("0.0",),)),
        ("1.75e-7", 1.7469e-7, "equal", (("1.75e-7",),)),
        ("1.75e-7", 3.49e-4, "differs", (("3.49e-4",),)),
        ("1.5", math.nan, "differs", (("nan",),)),
        ("1.5", -math.inf, "differs", (("-inf",),)),
        ("1.5", 1e300, "differs", (("1e+300",),)),
        ("1.75e-7", math.inf, "differs", (("inf",),)),
        ("x .", [True, False], "equal", (("x", "."),)),
        ("x .", [False, 0.5], "differs", ((".", "0.5"),)),
        ("the <UNK>", ["the", "<UNK>"], "equal", (("the", "<UNK>"),)),
        ("the <UNK>", ["the", "fox"], "differs", (("the", "fox"),)),
        ("the", 3.0, "differs", (("3",),)),
        ("1 2\n3", [[1, 2], [3]], "equal", (("1", "2"), ("3",))),
        ("[1 2]\n[3 4]", array([1, 2, 3, 4], 1, 2, 2), "equal", (("1", "2"), ("3", "4"))),
        ("[1 2]\n[3 4]", array([1, 2, 3, 4]), "differs", (("1", "2", "3", "4"),)),
        ("1", Opaque(UNSEEN), "unseen", None),
    ],
)
def test_a_value_is_compared_in_the_digits_of_the_paper(paper: str, value: Value, mark: str, yours: object) -> None:
    assert compared(paper, value) == (mark, yours)


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (array([0.0] * 8, 2, 2, 2), "a tensor of shape (2, 2, 2)"),
        (array([0.0] * 17), "a tensor of shape (17,)"),
        (array([], 0, 3), "a tensor of shape (0, 3)"),
        (None, "None"),
        (Opaque("builtins.function"), "an object of type builtins.function"),
        ({"a": 1}, "something that is not a row of numbers"),
        (["two words"], "something that is not a row of numbers"),
        ([[[1], [2]]], "something that is not a row of numbers"),
        ([1] * 17, "something that is not a row of numbers"),
    ],
)
def test_a_value_that_is_no_small_array_is_described(value: Value, described: str) -> None:
    result = result_of("1 2", Observed(value))
    assert (result.mark, result.yours) == ("differs", None)
    assert result.finding is not None
    assert result.finding.message == f"the step: your code returns {described}, on paper it is 2 numbers."


def test_words_are_called_words() -> None:
    result = result_of("one two three", Observed(["one", "two"]))
    assert result.finding is not None
    assert result.finding.message == "the step: your code returns 2 words, on paper it is 3 words."
    text = result_of("one two", Observed("one two"))
    assert text.finding is not None
    assert text.finding.message == "the step: your code returns the text 'one two', on paper it is 2 words."


def test_a_step_of_a_right_program_names_the_rows_that_differ() -> None:
    result = result_of("[1 2]\n[3 4]", Observed([[1, 2], [3, 5]]))
    assert unequal_step(result).endswith("It gives 3 5, on paper it is 3 4")
    shorter = result_of("[1 2]\n[3 4]", Observed([1, 2]))
    assert unequal_step(shorter).endswith("It gives 1 2, on paper it is 1 2; 3 4")
    nothing = result_of("1", Observed(None))
    assert unequal_step(nothing) == "the step one: the step: your code returns None, on paper it is one number."


def test_another_shape_is_reported_and_shown() -> None:
    result = result_of("[1 2]\n[3 4]", Observed([1, 2, 3]))
    assert result.finding is not None
    assert result.finding.message == "the step: your code returns 3 numbers, on paper it is 2 rows of 2."
    assert result.yours == (("1", "2", "3"),)


@pytest.mark.parametrize(
    ("result", "inside", "mark"),
    [(1.0, 7.0, "unseen"), (1.0, 2.0, "equal"), (9.0, 7.0, "differs"), (9.0, 2.0, "equal")],
)
def test_a_step_inside_a_module_counts_only_if_the_result_is_wrong(result: float, inside: float, mark: str) -> None:
    steps = [Step("inside", "inside", probe, "2.0", inside=True), Step("result", "result", probe, "1.0")]
    outcomes: dict[tuple[str, int], Outcome] = {("inside", 0): Observed(inside), ("result", 0): Observed(result)}
    results = results_of(steps, outcomes, FIRST, SOURCE, 2048)
    assert results[0].mark == mark
    assert (results[0].finding is None) == (mark in ("equal", "unseen"))


# What did not end with a value.


def fault(kind: str, *frames: Place, type: str = "ValueError", message: str = "no") -> Fault:
    return Fault(type, (type,), message, kind, frames)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("outcome", "mark", "message"),
    [
        (fault("todo", Place(FIRST.file, 2)), "unwritten", "This TODO is not written yet."),
        (
            fault("todo", Place(FIRST.file, 2), Place("ex00_x.py", 9)),
            "unwritten",
            f"{FIRST.file} uses ex00_x.py, which is not written yet.",
        ),
        (
            fault("other", Place(FIRST.file, 2, "running_mean")),
            "failed",
            "Your code raised ValueError in running_mean().",
        ),
        (fault("structure", message="ex01.py defines no mean"), "failed", "ex01.py defines no mean."),
        (
            fault("other", type="RuntimeError", message="can't allocate memory"),
            "failed",
            "Your code asked for more than the 2048 MiB of memory there are.",
        ),
        (WorkerFailure("timeout", "it took too long"), "failed", "It took too long."),
        (None, "failed", "This step was not run."),
    ],
)
def test_a_step_without_a_value_says_why(outcome: Outcome | None, mark: str, message: str) -> None:
    result = result_of("1", outcome)
    assert (result.mark, result.yours) == (mark, None)
    assert result.finding is not None
    assert result.finding.message == message


def test_the_line_of_an_open_todo_is_shown() -> None:
    finding = result_of("1", fault("todo", Place(FIRST.file, 2))).finding
    assert finding is not None
    assert (finding.place, finding.source[-1]) == (Place(FIRST.file, 2), (2, "    raise NotImplementedError"))
