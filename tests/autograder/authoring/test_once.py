"""One mistake costs points in one exercise: the proof over misconceptions, and over whole courses in another style."""

from pathlib import Path

import pytest

from autograder.authoring.programs import WHOLE
from autograder.authoring.styles import Losses, misconceptions, prove_once, wrong_programs
from autograder.course import load_suite, read_course
from tests.support import tiny

pytestmark = [pytest.mark.worker, pytest.mark.slow]


def with_part(course: Path) -> Path:
    """Give the course the reference part of its first exercise."""
    folder = course / "tests" / "exercises" / "reference_parts"
    folder.mkdir()
    (folder / f"{tiny.FIRST}.json").write_bytes(tiny.part(tiny.FIRST, tiny.MEAN))
    return course


def with_style(course: Path, first: str, second: str) -> Path:
    """Give the course a whole accepted variant."""
    tiny.handed_in(course / "solutions" / "accepted" / "whole" / "own_style", first, second)
    return course


def proved(course: Path, every: int = 1, *, in_styles: bool = False) -> Losses:
    """Prove a copy of the course, which has mistakes to prove it with."""
    suite = tiny.suite_at(course)
    programs = wrong_programs(suite, variants=WHOLE) if in_styles else misconceptions(suite)
    losses = prove_once(suite, programs, seed=suite.course.seed, jobs=2, every=every)
    assert losses.mistakes
    return losses


def test_a_reference_part_keeps_a_misconception_from_costing_twice(course: Path) -> None:
    assert proved(course).unexpected
    losses = proved(with_part(course))
    assert not losses.unexpected + losses.by_helpers


def test_in_another_style_too(course: Path) -> None:
    losses = proved(with_style(with_part(course), tiny.MEAN, tiny.POWER), 4, in_styles=True)
    assert not losses.unexpected + losses.by_helpers


def test_the_command_proves_misconceptions_in_whole_courses_too(course: Path) -> None:
    with_style(with_part(course), tiny.MEAN, tiny.POWER)
    file = course / "solutions" / "accepted" / "whole" / "own_style" / f"{tiny.FIRST}.toml"
    file.write_text('mean-not-divided = { find = "x.cumsum(dim=-1) / count", replace = "x.cumsum(dim=-1)" }')
    done = tiny.run_course(course, "validate", "--once", "4", "--ported", "--plain")
    assert done.returncode == 0, done.stderr
    last = "once: of 1 misconceptions written into whole accepted courses, 0 losses of points in later exercises"
    assert last in done.stdout.splitlines()


def test_what_a_helper_costs_is_listed_apart(course: Path) -> None:
    first = tiny.MEAN.replace("def running_mean", "def mean_so_far") + (
        "\n\ndef running_mean(x: Tensor) -> Tensor:\n    return mean_so_far(x)\n"
    )
    second = tiny.POWER.replace("running_mean import running_mean", "running_mean import mean_so_far as running_mean")
    losses = proved(with_style(with_part(course), first, second), 4, in_styles=True)
    assert losses.by_helpers
    assert not losses.unexpected
    assert f"whole/own_style, {tiny.FIRST}" in losses.by_helpers[0]
    assert losses.by_helpers[0].endswith(f"points in {tiny.SECOND}")


def test_some_exercises_are_proved_with_what_lies_between_them() -> None:
    course = read_course(tiny.REPOSITORY)
    first = course.exercise("ex05_attention")
    last = course.exercise("ex19_grouped_query_attention")
    assert "ex17_rotary_positions" in last.needs
    suite = load_suite(course, [first, last])
    losses = prove_once(suite, misconceptions(suite), seed=course.seed, jobs=2, every=20)
    assert losses.mistakes
    assert not losses.unexpected + losses.by_helpers
