"""Calibration: wrong programs made of accepted variants, and where a self-check says that the mistake is."""

import shutil
from collections import Counter
from pathlib import Path

import pytest

from autograder.answer_key import CatalogueError
from autograder.authoring.mutants import mutants_of
from autograder.authoring.styles import TITLES, Sample, calibrate, ported, tables, wrong_programs
from autograder.course import load_suite, read_course
from autograder.judge import SELF_CHECK
from tests.support import tiny

pytestmark = pytest.mark.worker

SAMPLES = [
    Sample("ex01", "sign", caught=False),
    Sample("ex01", "sign", caught=True, named=True, place="right", certain=True),
    Sample("ex02", "axis", caught=True, place="right", certain=True, proved=True),
    Sample("ex02", "axis", caught=True, place="elsewhere", certain=True),
    Sample("ex02", "sign", caught=True, place="elsewhere"),
    Sample("ex02", "sign", caught=True, place="elsewhere", certain=True, proved=True),
    Sample("ex02", "sign", caught=True),
]


def test_programs_are_counted_by_exercise_and_by_kind() -> None:
    by_exercise, by_kind = tables(SAMPLES)
    assert by_exercise[1] == ["ex01", "2", "1", "1", "0", "?", "1", "0", "0", "0", "0"]
    assert by_exercise[-1] == by_kind[-1] == ["all", "7", "6", "1", "0", "?", "2", "1", "2", "2", "1"]
    assert [row[0] for row in by_kind] == ["", "axis", "sign", "all"]
    assert int(by_kind[1][1]) + int(by_kind[2][1]) == len(SAMPLES)


def test_a_name_is_false_where_the_right_ones_are_known() -> None:
    samples = [Sample("ex01", "plain", caught=True, named=True, named_falsely=wrong) for wrong in (True, False, False)]
    assert dict(zip(TITLES, tables(samples)[0][-1], strict=True))["named falsely"] == "1"


@pytest.mark.slow
def test_a_sample_of_wrong_variants_is_checked_with_their_faulty_lines(course: Path) -> None:
    suite = tiny.suite_at(course)
    variants = sorted((course / "solutions" / "accepted").rglob("*.py"))
    count = sum(len(mutants_of(file.read_text("utf-8"), file.parent.name[2:4])) for file in variants)
    every = 40
    seen: list[int] = []
    samples = calibrate(
        suite,
        wrong_programs(suite),
        seed=suite.course.seed,
        jobs=2,
        every=every,
        budget=SELF_CHECK,
        on_progress=lambda done, _: seen.append(done),
    )
    assert len(samples) == -(-count // every) == seen[-1]
    caught = [sample for sample in samples if sample.caught]
    assert len(caught) > len(samples) / 2
    assert any(sample.proved for sample in caught)
    assert not [sample for sample in caught if sample.proved and sample.place != "right"]


def write_ported(course: Path, text: str) -> None:
    """Make a whole accepted course of the loops, and write the text beside its first exercise."""
    accepted = course / "solutions" / "accepted"
    whole = accepted / "whole" / "loops"
    whole.mkdir(parents=True)
    shutil.copy(accepted / tiny.FIRST / "loop.py", whole / f"{tiny.FIRST}.py")
    (whole / f"{tiny.FIRST}.toml").write_text(text, "utf-8")


def test_a_misconception_in_another_style_has_its_name(course: Path) -> None:
    write_ported(
        course,
        """
        mean-not-divided = { find = "mean(dim=-1)", replace = "sum(dim=-1)" }
        mean-divided-by-length = { find = "mean(dim=-1)", replace = "sum(dim=-1) / x.shape[-1]" }
        mean-of-everything = { find = "mean(dim=-1)", replace = "sum(dim=-1)" }
        """,
    )
    suite = tiny.suite_at(course)
    samples = calibrate(suite, ported(suite), seed=suite.course.seed, jobs=1)
    assert [(sample.kind, sample.caught, sample.named) for sample in samples] == [("loops", True, True)] * 3
    assert [sample.named_falsely for sample in samples] == [False, False, True]


def test_what_is_written_into_another_style_must_fit(course: Path) -> None:
    write_ported(
        course,
        """
        no-such-id = { find = "mean(dim=-1)", replace = "1" }
        mean-not-divided = { find = "dim=-1", replace = "dim=0" }
        """,
    )
    with pytest.raises(CatalogueError) as raised:
        list(ported(tiny.suite_at(course)))
    unknown, ambiguous = str(raised.value).splitlines()
    assert unknown.endswith("no-such-id: no misconception has this id")
    assert ambiguous.endswith(
        "mean-not-divided: its find occurs 2 times in the program, expected once: 'dim=-1'; see line 9"
    )


def test_what_the_course_writes_into_other_styles_fits() -> None:
    kinds = Counter(program.kind for program in ported(load_suite(read_course(tiny.REPOSITORY))))
    assert kinds == {"einsum_style": 208, "fused_style": 210, "mixed_style": 210, "plain_style": 208}


@pytest.mark.slow
def test_validate_prints_both_tables(course: Path) -> None:
    done = tiny.run_course(course, "validate", "1", "--styles", "100")
    assert done.returncode == 0, done.stderr
    text = done.stdout[done.stdout.index("wrong programs made of accepted variants, one change each:") :]
    rows = [line.split() for line in text.splitlines() if line.startswith(("all", tiny.FIRST))]
    assert [row[0] for row in rows] == [tiny.FIRST, "all", "all"]
    assert rows[0][1:] == rows[1][1:] == rows[2][1:]
