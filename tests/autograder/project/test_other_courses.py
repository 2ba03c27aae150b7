"""Every program of docs/other-courses.md passes its exercise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import tiny

PAGE = tiny.REPOSITORY / "docs" / "other-courses.md"
PROGRAMS = re.findall(r"```python\n# exercises/(ex\d\d\w*\.py)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.worker
@pytest.mark.parametrize(("name", "source"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_a_program_of_the_page_passes_its_exercise(name: str, source: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(source, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "check", name[2:4], "--submission", str(tmp_path), "--plain"],
        cwd=tiny.REPOSITORY,
        env=tiny.environment({"COURSE_TRUST": "1"}),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 3
