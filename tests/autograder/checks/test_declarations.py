"""A check that is declared is never lost without a word, and a function named like a check is one."""

import pickle
from pathlib import Path

import pytest

from autograder.checks import Raises
from autograder.course import SuiteError, with_steps
from tests.support import tiny

CHECKS = f"tests/exercises/test_{tiny.FIRST}.py"

STANDARD = """
from autograder.checks import standard_checks


MEANS = standard_checks(of="running_mean", make=lambda impl, given, dtype: (impl.running_mean, {}))
"""


def problem_of(course: Path, more: str) -> str:
    """Return the sentence about a file with more checks, from its lines on."""
    file = course / CHECKS
    file.write_text(f"{file.read_text('utf-8')}\n{more}", "utf-8")
    with pytest.raises(SuiteError) as caught:
        tiny.suite_at(course)
    return str(caught.value).removeprefix(f"{file}: ")


def test_a_second_function_of_one_name_is_named_with_both_lines(course: Path) -> None:
    more = "\n@check('again')\ndef test_values(impl, given):\n    return 1\n"
    at = len((course / CHECKS).read_text("utf-8").splitlines()) + 3
    remedy = "so the first is lost; rename one of them"
    assert problem_of(course, more) == f"two functions are named test_values (lines 6 and {at}), {remedy}"


def test_a_second_picture_of_one_name_is_named_too(course: Path) -> None:
    more = "\n@picture('again')\ndef picture_smoothed(impl, given):\n    return 1\n"
    assert problem_of(course, more).startswith("two functions are named picture_smoothed (lines ")


@pytest.mark.parametrize(
    "more",
    [
        "test_slopes = MEANS.gradients()\ntest_slopes = MEANS.gradients(id='more')\n",
        "test_slopes = MEANS.gradients()\n\n\n@check('again')\ndef test_slopes(impl, given):\n    return 1\n",
        "MEANS.gradients()\n",
    ],
)
def test_a_standard_check_without_a_name_of_its_own_is_named(course: Path, more: str) -> None:
    at = len((course / CHECKS).read_text("utf-8").splitlines()) + len(STANDARD.splitlines()) + 2
    remedy = "give it a name that no other one has, like test_gradients_2 = ..."
    assert problem_of(course, STANDARD + more) == f"the check gradients (line {at}) is lost; {remedy}"


def test_a_function_named_like_a_check_is_one(course: Path) -> None:
    at = len((course / CHECKS).read_text("utf-8").splitlines()) + 2
    more = "def test_helper(x):\n    return x\n"
    remedy = "is no check: write @check(...) above it, or rename it"
    assert problem_of(course, more) == f"test_helper (line {at}) {remedy}"


def test_a_function_named_like_a_step_is_one(course: Path) -> None:
    steps = course / "tests" / "exercises" / f"try_{tiny.FIRST}.py"
    steps.write_text("def step_mean(impl, given):\n    return 1\n", "utf-8")
    with pytest.raises(SuiteError, match=r"step_mean \(line 1\) is no step: write @step\(\.\.\.\) above it"):
        with_steps(tiny.suite_at(course))


@pytest.mark.parametrize(
    ("types", "names"),
    [
        ("", ("ValueError",)),
        ('"KeyError"', ("KeyError",)),
        ("KeyError", ("KeyError",)),
        ('(KeyError, "NegativeWeight")', ("KeyError", "NegativeWeight")),
        ('["IOError"]', ("OSError",)),
    ],
)
def test_exceptions_are_classes_or_names(types: str, names: tuple[str, ...]) -> None:
    judge = eval(f"Raises({types})", {"Raises": Raises})
    assert judge.types == names
    assert pickle.loads(pickle.dumps(judge)) == judge


@pytest.mark.parametrize(
    ("types", "problem"),
    [
        (
            '"ValueError, KeyError"',
            """the text 'ValueError, KeyError', expected a name without its module, like \
("ValueError", "KeyError")""",
        ),
        (
            '"json.JSONDecodeError"',
            """the text 'json.JSONDecodeError', expected a name without its module, like \
"JSONDecodeError\"""",
        ),
        ("int", "int, which is no exception; expected exceptions, by name or class"),
        ("3", "3, which is no exception; expected exceptions, by name or class"),
        ('"len"', "len, which is no exception; expected exceptions, by name or class"),
    ],
)
def test_what_is_no_exception_is_refused_with_the_right_form(course: Path, types: str, problem: str) -> None:
    at = len((course / CHECKS).read_text("utf-8").splitlines()) + 4
    more = f"from autograder.checks import Raises\n\n@check('again', judge=Raises({types}))\n"
    found = problem_of(course, f"{more}def test_more(impl, given):\n    return 1\n")
    assert found.startswith(f"{course / CHECKS}, line {at}: Raises: types has {problem}")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("@check('again', point=2)", "check has no option point; did you mean points?"),
        ("@check('again', judge=Same(tolerence=1.0))", "Same has no option tolerence; did you mean tolerance?"),
        ("@picture('again', height='x')", "picture has no option height; expected one of title, rows, columns"),
    ],
)
def test_an_option_that_does_not_exist_names_the_nearest(course: Path, line: str, problem: str) -> None:
    at = len((course / CHECKS).read_text("utf-8").splitlines()) + 4
    more = f"from autograder.checks import Same, picture\n\n{line}\ndef test_more(impl, given):\n    return 1\n"
    assert problem_of(course, more) == f"{course / CHECKS}, line {at}: {problem}"


def test_a_helper_beside_the_checks_cannot_be_imported(course: Path) -> None:
    (course / CHECKS).with_name("helpers.py").write_text("x = 1\n", "utf-8")
    found = problem_of(course, "from helpers import x\n")
    assert found.endswith("; a file of checks stands alone: copy what it needs of helpers.py into it")


TOO_LONG = "x" * 121


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("@check('again', points=float('nan'))", "check 'again': points is nan, expected a number above 0"),
        ("@check('again', points=float('inf'))", "check 'again': points is inf, expected a number above 0"),
        ("@check('again', points='2')", "check 'again': points is '2', expected a number above 0"),
        ("@check('again', points=True)", "check 'again': points is True, expected a number above 0"),
        ("@check('again', trials=2.5)", "check 'again': trials is 2.5, expected an integer from 1 to 100"),
        ("@check('again', trials=True)", "check 'again': trials is True, expected an integer from 1 to 100"),
        ("@check('again', trials=101)", "check 'again': trials is 101, expected an integer from 1 to 100"),
        ("@check('again\\nand again')", "the title of a check has 2 lines, expected one: 'again'"),
        (f"@check('{TOO_LONG}')", f"check '{TOO_LONG}': the title has 121 characters, expected at most 120"),
    ],
)
def test_an_amount_or_a_title_out_of_bounds_is_refused(course: Path, line: str, problem: str) -> None:
    at = len((course / CHECKS).read_text("utf-8").splitlines()) + 2
    found = problem_of(course, f"{line}\ndef test_more(impl, given):\n    return 1\n")
    assert found.startswith(f"{course / CHECKS}, line {at}: {problem}")


def test_two_checks_of_one_title_are_named_with_both_lines(course: Path) -> None:
    more = "@check('again')\ndef test_one(impl, given):\n    return 1\n"
    at = len((course / CHECKS).read_text("utf-8").splitlines()) + 2
    found = problem_of(course, f"{more}{more.replace('test_one', 'test_two').replace('again', 'again ')}")
    assert found == f"one and two have one title, 'again ' (lines {at} and {at + 3}); say in each what it checks"


def test_checks_that_are_all_a_bonus_are_refused(course: Path) -> None:
    text = (course / CHECKS).read_text("utf-8").split("@")[0]
    (course / CHECKS).write_text(text, "utf-8")
    found = problem_of(course, "@check('more', bonus=True)\ndef test_more(impl, given):\n    return 1\n")
    assert found.endswith(": all checks are a bonus, expected one that is not; leave bonus=True out")


def test_a_helper_of_another_file_may_have_any_name(course: Path) -> None:
    file = course / CHECKS
    file.write_text(f"{file.read_text('utf-8')}\nfrom contextlib import suppress as test_helper\n", "utf-8")
    assert len(tiny.suite_at(course).checks[tiny.FIRST]) == 4
