"""`course build` makes what is missing, and leaves what differs; with an exercise it looks at that exercise only."""

from pathlib import Path

import pytest

from tests.support import tiny

pytestmark = pytest.mark.worker

FIRST_BOOK, SECOND_BOOK = (Path("exercises") / "notebooks" / f"{name}.ipynb" for name in (tiny.FIRST, tiny.SECOND))


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the tiny course, with notebooks, of which the first was edited."""
    root = tiny.copied(tmp_path / "course")
    assert tiny.run_course(root, "build").returncode == 0
    (root / FIRST_BOOK).write_text("mine")
    return root


def test_a_stale_notebook_of_another_exercise_blocks_nothing(course: Path) -> None:
    (course / SECOND_BOOK).unlink()
    done = tiny.run_course(course, "build", "2")
    assert (done.returncode, done.stdout) == (0, f"made {SECOND_BOOK.name}\n")
    assert tiny.run_course(course, "build", "matrix", "--check").stdout == "1 stub and 1 notebook are up to date\n"
    assert (course / FIRST_BOOK).read_text() == "mine"


def test_what_is_missing_is_made_and_what_differs_stays_and_is_named(course: Path) -> None:
    (course / SECOND_BOOK).unlink()
    done = tiny.run_course(course, "build")
    assert done.returncode == 2
    assert done.stdout == f"made {SECOND_BOOK.name}\n"
    differs = "differs from what the solutions give: `course build --force` replaces it"
    assert f"{FIRST_BOOK.name} {differs}" in " ".join(done.stderr.split())
    assert (course / FIRST_BOOK).read_text() == "mine"


def test_force_replaces_the_files_of_the_named_exercise_only(course: Path) -> None:
    (course / SECOND_BOOK).write_text("mine too")
    assert "run `course build 02 --force`" in tiny.run_course(course, "build", "2", "--check").stdout
    (course / "exercises" / tiny.FILES[1]).unlink()
    missing, stale = tiny.run_course(course, "build", "2", "--check").stdout.splitlines()
    assert missing == f"missing or old: {tiny.FILES[1]}; run `course build 02`"
    assert stale == f"stale: {SECOND_BOOK.name}; run `course build 02 --force`"
    assert tiny.run_course(course, "build", "2", "--force").returncode == 0
    assert (course / SECOND_BOOK).read_text("utf-8").startswith("{")
    assert (course / FIRST_BOOK).read_text() == "mine"


def test_files_that_were_made_for_a_removed_exercise_are_named(course: Path) -> None:
    (course / FIRST_BOOK).unlink()
    assert tiny.run_course(course, "build").returncode == 0
    file = course / "course.toml"
    text = file.read_text("utf-8")
    file.write_text(text[: text.rindex("[[exercises]]")], "utf-8")
    done = tiny.run_course(course, "build", "--check")
    assert done.returncode == 1
    named = f"exercises/{tiny.SECOND}.py, {SECOND_BOOK}: of no exercise in course.toml; remove them"
    assert named in " ".join(done.stderr.split())
    assert tiny.run_course(course, "build").returncode == 0
