"""Programs to practise on: which variants they are made from."""

import shutil
from pathlib import Path

import pytest

from autograder.authoring import make_hunts
from autograder.authoring import styles as hunts
from autograder.course import read_course
from tests.support import plain, tiny

HELPER = "\n\ndef mean_of(x):\n    return running_mean(x)\n"


@pytest.mark.worker
def test_a_variant_that_needs_its_own_earlier_files_is_not_used(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    whole = root / "solutions" / "accepted" / "whole" / "with_a_helper"
    whole.mkdir(parents=True)
    (whole / tiny.FILES[0]).write_text(tiny.MEAN + HELPER, "utf-8")
    with_helper = tiny.POWER.replace("import running_mean", "import mean_of").replace("running_mean(", "mean_of(")
    (whole / tiny.FILES[1]).write_text(with_helper, "utf-8")
    course = tiny.course_at(root)
    first, second = (make_hunts(course, exercise) for exercise in course.exercises)
    assert "whole/with_a_helper" in first.right
    assert list(second.right) == ["on_its_own"]
    assert {hunt.variant for hunt in second.hunts} == {"on_its_own"}


@pytest.mark.worker
def test_a_variant_without_the_texts_of_the_catalogue_shows_misconceptions_after_more_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hunts, "FEWEST_MISCONCEPTIONS", 1)
    root = tmp_path / "course"
    shutil.copytree(plain.ROOT, root, ignore=shutil.ignore_patterns(".course", "__pycache__"))
    course = read_course(root)
    counts: list[int] = []
    found = make_hunts(course, course.exercise(plain.SORT), on_progress=lambda done, _: counts.append(done))
    assert found.hunts
    assert counts.count(1) > 2  # the variants, and two rounds of changes
