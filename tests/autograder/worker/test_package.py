"""`exercises.exNN_name` is the module `exNN_name`, also with reference parts, and nothing else is in the package."""

import importlib
import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.judge import Grader
from autograder.runner import Runner
from autograder.worker import PACKAGE
from autograder.worker.sources import Sources
from tests.support import tiny

IMPORT = f"from {tiny.FIRST} import running_mean"
FORMS = {
    "a name of the module": f"from exercises.{tiny.FIRST} import running_mean",
    "the module from the package": f"from exercises import {tiny.FIRST} as m\nrunning_mean = m.running_mean",
    "the module by a short name": f"import exercises.{tiny.FIRST} as m\nrunning_mean = m.running_mean",
    "the module by its full name": f"import exercises.{tiny.FIRST}\nrunning_mean = exercises.{tiny.FIRST}.running_mean",
}
WRONG = tiny.mean_with("return x.cumsum(dim=-1)")


def power_with(lines: str) -> str:
    """Return the second solution with other lines in place of its import."""
    assert IMPORT in tiny.POWER
    return tiny.POWER.replace(IMPORT, lines)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_import_finds_the_file(form: str, grader: Grader, runner: Runner) -> None:
    report = grader.grade(tiny.submitted(second=power_with(FORMS[form])), runner=runner)
    assert report.score == 10000
    assert {exercise.parts for exercise in report.exercises} == {"own"}


@pytest.mark.parametrize("form", FORMS)
def test_a_reference_part_is_found_under_both_names(form: str, runner: Runner, key_cache: Path) -> None:
    suite = replace(tiny.SUITE, reference_parts={tiny.FILES[0]: tiny.part(tiny.FIRST, tiny.MEAN)})
    with Grader(suite, seed=tiny.COURSE.seed, cache=key_cache) as grader:
        report = grader.grade(tiny.submitted(WRONG, power_with(FORMS[form])), runner=runner)
    second = tiny.result_of(report, tiny.SECOND)
    assert (second.status, second.parts) == ("pass", "stand-in")


SAME = f"""{IMPORT}
import sys
import exercises.{tiny.FIRST} as by_package
import {tiny.FIRST} as by_file
from exercises import {tiny.FIRST} as from_package
if not by_package is by_file is from_package is sys.modules["{tiny.FIRST}"]:
    raise ImportError("two modules of one file")
"""


def test_both_names_are_one_module(grader: Grader, runner: Runner) -> None:
    assert grader.grade(tiny.submitted(second=power_with(SAME)), runner=runner).score == 10000


NOTHING_ELSE = f"""{IMPORT}
import importlib
others = ["autograder", "course", "exercises", "notebooks", "play", "solutions", "tests", "torch"]
for name in others:
    try:
        importlib.import_module("exercises." + name)
    except ModuleNotFoundError:
        continue
    raise ImportError(name)
if list(importlib.import_module("exercises").__path__):
    raise ImportError("the package has a path")
"""


def test_nothing_else_can_be_imported_from_the_package(grader: Grader, runner: Runner) -> None:
    assert grader.grade(tiny.submitted(second=power_with(NOTHING_ELSE)), runner=runner).score == 10000


def test_the_package_of_one_submission_is_forgotten_before_the_next(grader: Grader, runner: Runner) -> None:
    second = power_with(FORMS["the module from the package"])
    assert grader.grade(tiny.submitted(second=second), runner=runner).score == 10000
    result = tiny.result_of(grader.grade(tiny.submitted(WRONG, second), runner=runner), tiny.SECOND)
    assert result.status == "fail"


def test_an_error_in_the_imported_file_is_reported_alike(grader: Grader, runner: Runner) -> None:
    broken = f"{tiny.MEAN}\nundefined_name\n"
    by_file = grader.grade(tiny.submitted(broken), runner=runner)
    by_package = grader.grade(tiny.submitted(broken, power_with(FORMS["a name of the module"])), runner=runner)
    findings = [
        [check.finding for check in tiny.result_of(report, tiny.SECOND).checks] for report in (by_file, by_package)
    ]
    assert None not in findings[0]
    messages = [[(finding.id, finding.message) for finding in found if finding] for found in findings]
    assert messages[0] == messages[1]


def test_the_package_has_the_name_of_the_folder() -> None:
    assert tiny.COURSE.exercises_dir.name == PACKAGE


def test_a_library_can_read_the_source_of_a_function() -> None:
    text = "def double(x):\r\n    return 2 * x  # √4\n"
    sources = Sources({"ex90_source.py": text.encode()}, {})
    sources.install()
    try:
        found = inspect.getsource(importlib.import_module("ex90_source").double)
    finally:
        sources.uninstall()
    assert found == text.replace("\r\n", "\n")
    assert sources.get_source("ex91_absent") is None
