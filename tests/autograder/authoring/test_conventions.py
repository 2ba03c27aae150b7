"""The convention of somebody else: it costs points, it is named, and nothing calls it a mistake."""

import json
from pathlib import Path

import pytest

from autograder.course import catalogue, named_in, read_course
from tests.support import tiny

CATALOGUE = f"solutions/misconceptions/{tiny.FIRST}.toml"
OLD = "A sum grows with every number. A mean is the sum divided by how many numbers there are."
NEW = "This course divides by how many numbers there are."
WHOSE = "accountants"


@pytest.fixture
def here(course: Path) -> Path:
    """Return a course in which the running sum is a convention, and a program that follows it."""
    tiny.replaced(course / CATALOGUE, f'explanation = "{OLD}"', f'explanation = "{NEW}"\nconvention = "{WHOSE}"')
    tiny.handed_in(course / "exercises", tiny.mean_with("return x.cumsum(dim=-1)"))
    return course


@pytest.mark.worker
def test_a_check_names_whose_convention_it_is_and_gives_no_points(here: Path) -> None:
    done = tiny.run_course(here, "check", "1", "--json", str(here / "report.json"))
    [exercise] = json.loads((here / "report.json").read_text())["exercises"]
    [first] = [check for check in exercise["checks"] if check["id"] == "values"]
    assert (first["status"], first["score"], first["finding"]["kind"]) == ("fail", 0, "convention")
    assert first["finding"]["detail"].startswith(f"This is the convention of {WHOSE}. {NEW}")
    assert "explain the convention" in done.stdout
    assert "istake" not in done.stdout
    assert "isconception" not in done.stdout
    plain = tiny.run_course(here, "check", "1", "--plain").stdout
    assert f"Because: This is the convention of {WHOSE}. {NEW}" in " ".join(plain.split("\n"))
    assert "Convention: mean-not-divided." in plain
    for options in ((), ("--plain",)):
        why = tiny.run_course(here, "why", *options).stdout
        assert "Convention: " in why
        assert f"This is the convention of {WHOSE}." in " ".join(why.split())
        assert "isconception" not in why


@pytest.mark.worker
def test_the_proof_demands_that_it_is_caught_and_lists_it_apart(here: Path) -> None:
    tiny.handed_in(here / "exercises")
    page = here / "page.md"
    done = tiny.run_course(here, "validate", "1", "--plain", "--page", str(page))
    assert "caught: 8 of 8. named: 8 of 8." in done.stdout
    before, after = page.read_text().split("Conventions of others, which are no mistakes:")
    assert "mean-not-divided" not in before
    assert f"| the running sum is not divided | {WHOSE} | `mean-not-divided` |" in after


def test_no_question_offers_it_and_a_kit_says_whose_it_is(here: Path) -> None:
    course = read_course(here)
    assert "mean-not-divided" not in named_in(course, course.exercises[0], besides="mean-of-everything")
    assert catalogue(course)["mean-not-divided"]["convention"] == WHOSE
