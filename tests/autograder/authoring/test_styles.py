"""Calibration: wrong programs made of accepted variants, and where a self-check says that the mistake is."""

from pathlib import Path

import pytest

from autograder.authoring.mutation.mutants import mutants_of
from autograder.authoring.styles import Calibration, Sample, calibrate, cells, tables, wrong_programs
from autograder.judge.budget import SELF_CHECK
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
    whole = Calibration("all", 7, 6, 1, right=2, nowhere=1, sure_elsewhere=2, proved=2, proved_elsewhere=1)
    first = Calibration("ex01", 2, 1, 1, right=1, nowhere=0, sure_elsewhere=0, proved=0, proved_elsewhere=0)
    by_exercise, by_kind = tables(SAMPLES)
    assert [by_exercise[0], by_exercise[-1]] == [first, whole]
    assert [row.name for row in by_kind] == ["axis", "sign", "all"]
    assert by_kind[0].programs + by_kind[1].programs == by_kind[2].programs == len(SAMPLES)
    assert list(cells(by_exercise))[-1] == ["all", "7", "6", "1", "2", "1", "2", "2", "1"]


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


@pytest.mark.slow
def test_validate_prints_both_tables(course: Path) -> None:
    done = tiny.run_course(course, "validate", "1", "--styles", "100")
    assert done.returncode == 0, done.stderr
    text = done.stdout[done.stdout.index("wrong programs made of accepted variants, one change each:") :]
    rows = [line.split() for line in text.splitlines() if line.startswith(("all", tiny.FIRST))]
    assert [row[0] for row in rows] == [tiny.FIRST, "all", "all"]
    assert rows[0][1:] == rows[1][1:] == rows[2][1:]
