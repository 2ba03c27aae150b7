"""A student's own helpers of a wrong exercise, which no reference part replaces, and what the report says of them."""

from dataclasses import replace

import pytest

from autograder.protocol import SURVEY_HELPERS
from autograder.report.states import reference_parts
from autograder.results import CheckResult, ExerciseResult, Finding
from autograder.worker.sources import own_helpers

PARTS = {"ex05_one.py": ["attend"]}


@pytest.mark.parametrize(
    "use",
    [
        "from ex05_one import attend, masked",
        "from exercises.ex05_one import masked as other",
        "import ex05_one\n\ndef f(x):\n    return ex05_one.attend(ex05_one.masked(x))",
        "import ex05_one as one\n\ndef f(x):\n    return one.masked(x)",
    ],
)
def test_a_name_that_the_part_does_not_define_is_a_helper(use: str) -> None:
    assert own_helpers({"ex06_two.py": use.encode()}, PARTS, "ex06_two") == ["ex05_one.masked"]


def test_helpers_are_found_through_a_file_that_is_not_replaced() -> None:
    files = {"ex08_three.py": b"from ex06_two import Heads", "ex06_two.py": b"from ex05_one import masked"}
    assert own_helpers(files, PARTS, "ex08_three") == ["ex05_one.masked"]


def test_a_file_that_is_replaced_is_not_followed() -> None:
    files = {"ex06_two.py": b"from ex05_one import attend", "ex05_one.py": b"from ex04_zero import helper"}
    assert own_helpers(files, {**PARTS, "ex04_zero.py": []}, "ex06_two") == []


def test_files_that_cannot_be_read_and_circles_have_no_helpers() -> None:
    files = {"ex06_two.py": b"import ex07_six, ex08_seven", "ex07_six.py": b"def", "ex08_seven.py": b"import ex06_two"}
    assert own_helpers(files, PARTS, "ex06_two") == []


def test_the_number_of_helpers_is_bounded() -> None:
    names = ", ".join(f"name_{i}" for i in range(2 * SURVEY_HELPERS))
    assert len(own_helpers({"ex06_two.py": f"from ex05_one import {names}".encode()}, PARTS, "ex06_two")) == (
        SURVEY_HELPERS
    )


def test_the_report_does_not_promise_that_a_helper_costs_nothing() -> None:
    result = ExerciseResult("ex06_two", "two", "fail", 0, 1, (), "stand-in", ("ex05_one",))
    assert reference_parts(result).endswith("so its mistakes cost nothing here.")
    helped = replace(result, helpers=("ex05_one.masked",))
    assert reference_parts(helped) == (
        "Your exercise 05 does not pass. A reference part took its place. "
        "It does not replace masked of ex05_one.py, which your code also uses."
    )
    both = replace(helped, stood_in=("ex04_zero", "ex05_one"), helpers=("ex04_zero.a", "ex05_one.b"))
    assert reference_parts(both).endswith(
        "They do not replace a of ex04_zero.py and b of ex05_one.py, which your code also uses."
    )
    assert "cost nothing" in reference_parts(replace(helped, status="pass"))


@pytest.mark.parametrize(
    ("numbers", "words"),
    [("4", "exercise 04 does"), ("45", "exercises 04 and 05 do"), ("1235", "exercises 01 to 03 and 05 do")],
)
def test_exercises_in_a_row_are_named_by_the_first_and_the_last(numbers: str, words: str) -> None:
    stood_in = tuple(f"ex0{number}_part" for number in numbers)
    result = ExerciseResult("ex06_two", "two", "fail", 0, 1, (), "stand-in", stood_in)
    assert reference_parts(result).startswith(f"Your {words} not pass. ")


def test_the_report_says_only_that_a_part_fails_if_no_check_ran_with_its_reference() -> None:
    unread = CheckResult("a", "A", "error", 0, 1, finding=Finding("structure", "unread", "Unreadable."))
    result = ExerciseResult("ex06_two", "two", "error", 0, 1, (unread,), "stand-in", ("ex05_one",))
    assert reference_parts(result) == "Your exercise 05 does not pass either."
