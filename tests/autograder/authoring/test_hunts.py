"""Programs to practise on: which variants they are made from."""

from pathlib import Path

import pytest

from autograder.authoring.hunts import make_hunts
from tests.support import tiny

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
