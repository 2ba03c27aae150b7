"""`course build` makes what is missing, and leaves what differs; with an exercise it looks at that exercise only."""

import tomllib
from pathlib import Path

import pytest

from autograder.authoring.leaks import secrets_of
from autograder.authoring.naming import with_patches
from autograder.authoring.oversights import leftover_problems
from autograder.course import UsageError
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


WHOLE = """# Divides by the length, whatever the place.
def running_mean(x):
    return x.cumsum(dim=-1) / (x.size(-1) * 1.0000001 + x.new_ones(()).item() * 1e-9)
"""
ENTRY = """
[mean-in-another-style]
name = "the running sum is divided by the length of the row, and a little"
explanation = "The sum at position t has t numbers, not T."
hint = "How many numbers are in the first sum?"
program = "another_style.py"
"""


def test_a_reworded_solution_keeps_its_misconceptions_and_repair_rewrites_them(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    solution, catalogue = (root / "solutions" / name for name in (tiny.FILES[0], f"misconceptions/{tiny.FIRST}.toml"))
    (catalogue.with_suffix("")).mkdir()
    (catalogue.with_suffix("") / "another_style.py").write_text(WHOLE, "utf-8")
    before = catalogue.read_text("utf-8")
    catalogue.write_text(f"{before}{ENTRY}", "utf-8")
    text = (
        solution.read_text("utf-8")
        .replace("count", "counts")
        .replace("# (T,)", "# 1, 2, ...")
        .replace(" / c", "  /  c")
    )
    solution.write_text(text, "utf-8")
    said = tiny.run_course(root, "validate", "1", "--plain")
    assert said.returncode == 0, said.stdout
    assert "`course build 01 --repair` rewrites them" in " ".join(said.stdout.split())
    assert "the course holds: 8 of 9" in said.stdout
    done = tiny.run_course(root, "build", "1", "--repair", "--force")
    assert "misconceptions/ex01_running_mean.toml: mean-not-divided, mean-of-everything, " in done.stdout
    old, new = tomllib.loads(before), tomllib.loads(catalogue.read_text("utf-8"))
    assert new["mean-of-last-count"]["find"] == "return x.cumsum(dim=-1)  /  counts"
    assert new["mean-of-last-count"]["replace"] == "return x.cumsum(dim=-1) / counts[-1]"
    assert new["mean-of-nothing"] == old["mean-of-nothing"]
    assert tiny.run_course(root, "build", "1", "--repair").stdout == "1 stub and 1 notebook are up to date\n"
    assert "--repair" not in tiny.run_course(root, "validate", "1", "--plain").stdout


def test_a_whole_wrong_program_is_a_secret_and_no_forgotten_file(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    catalogue = root / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml"
    for folder in (tiny.FIRST, "ex07_removed"):
        (catalogue.parent / folder).mkdir()
        (catalogue.parent / folder / "another_style.py").write_text(WHOLE, "utf-8")
    course = tiny.course_at(root)
    removed, unnamed = leftover_problems(course)
    assert removed.startswith("solutions/misconceptions/ex07_removed: course.toml has no exercise ex07_removed")
    named = f"name it in solutions/misconceptions/{tiny.FIRST}.toml, or remove the file"
    file = f"solutions/misconceptions/{tiny.FIRST}/another_style.py"
    assert unnamed == f'{file}: no misconception has program = "another_style.py"; {named}'
    catalogue.write_text(catalogue.read_text("utf-8") + ENTRY, "utf-8")
    assert len(list(leftover_problems(course))) == 1
    assert "the misconception mean-in-another-style" in {secret.of for secret in secrets_of(course)}


CATALOGUE = '''# Mine.
[one]  # a table
name = "find = 'x' is no key here"
replace = "a \\"b\\""
find = """
c
"""

["two"]
patches = [
    {find = 'd', replace = 'e'},   # kept
    {find = "f", replace = ""},
]
'''


def test_patches_are_rewritten_where_they_stand_and_nothing_else_changes() -> None:
    one = with_patches(CATALOGUE, "one", [("x = 1\ny = 2", 'z "quoted"')])
    assert tomllib.loads(one)["one"]["find"] == "x = 1\ny = 2\n"
    assert tomllib.loads(one)["one"]["replace"] == 'z "quoted"'
    assert one.partition('["two"]')[2] == CATALOGUE.partition('["two"]')[2]
    two = with_patches(CATALOGUE, "two", [("g", "h'h"), ("i", "j")])
    assert tomllib.loads(two)["two"]["patches"][0] == {"find": "g", "replace": "h'h"}
    assert "# kept" in two
    assert two.partition('["two"]')[0] == CATALOGUE.partition('["two"]')[0]
    with pytest.raises(UsageError, match="the patches of one cannot be rewritten where they stand"):
        with_patches('one.find = "a"\none.replace = "b"\n', "one", [("c", "d")])
