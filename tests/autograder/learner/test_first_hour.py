"""The first hour of a learner, on a terminal of 100 columns: every screen is as a person has read and approved it.

`UPDATE_SNAPSHOTS=1 pytest tests/autograder/learner/test_first_hour.py` renews the screens.
"""

import os
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)

from tests.support.first_hour import SITUATIONS, Situation, play

pytestmark = pytest.mark.worker

SCREENS = Path(__file__).with_name("first_hour")


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_the_screens_are_as_read(situation: Situation, tmp_path: Path) -> None:
    screens = play(situation, tmp_path / "course")
    file = SCREENS / f"{situation.name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(screens, "utf-8")
    assert screens == file.read_text("utf-8"), f"{file.name} differs from what is shown"


def test_no_screen_is_left_of_a_situation_that_is_gone() -> None:
    assert {file.stem for file in SCREENS.glob("*.txt")} == {situation.name for situation in SITUATIONS}
