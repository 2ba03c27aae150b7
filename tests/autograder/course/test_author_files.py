"""What an author's command says of a file that is missing or cannot be read: which one, what it is, what to do."""

from pathlib import Path

import pytest

from autograder.cli.program import run_command
from autograder.course import SuiteError, UsageError, require_texts
from autograder.ending import FAIL, USAGE
from tests.support import tiny

LATIN = 'name = "ä"\n'.encode("latin-1")
NO_TEXT = "line 1 has the byte 0xe4, expected UTF-8; save it as UTF-8"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tiny.copied(tmp_path / "course")


def files(root: Path) -> list[Path]:
    return sorted(file for file in root.rglob("*") if ".course" not in file.parts)


def problems(root: Path) -> list[str]:
    course = tiny.course_at(root)
    with pytest.raises(UsageError) as caught:
        require_texts(course, course.exercises)
    return str(caught.value).splitlines()


def test_a_course_with_all_its_files_has_no_problem() -> None:
    require_texts(tiny.COURSE, tiny.COURSE.exercises)


def test_a_missing_solution_is_named_with_its_exercise_once(root: Path) -> None:
    (root / "solutions" / f"{tiny.FIRST}.py").unlink()
    remedy = f"write it there, or take {tiny.FIRST} out of course.toml"
    assert problems(root) == [f"{tiny.FIRST} has no solution: solutions/{tiny.FIRST}.py is missing; {remedy}"]


@pytest.mark.parametrize(
    ("file", "what"),
    [
        (f"solutions/{tiny.FIRST}.py", "the solution"),
        (f"solutions/misconceptions/{tiny.FIRST}.toml", "the misconceptions"),
        (f"solutions/equivalents/{tiny.FIRST}.toml", "the list of equivalent mutants"),
        (f"solutions/reference_parts/{tiny.FIRST}.py", "the source of the reference part"),
        (f"solutions/accepted/{tiny.FIRST}/other.py", "an accepted variant"),
        (f"tests/exercises/test_{tiny.FIRST}.py", "the checks"),
        (f"tests/exercises/try_{tiny.FIRST}.py", "the steps of the worked example"),
    ],
)
def test_a_file_that_is_no_text_or_no_file_is_named(root: Path, file: str, what: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(LATIN)
    assert problems(root) == [f"{file}, {what} of {tiny.FIRST}, is no text: {NO_TEXT}"]
    path.unlink()
    path.mkdir()
    [problem] = problems(root)
    assert problem.startswith(f"{file} cannot be read (Is a directory), expected {what} of {tiny.FIRST}; ")


def test_a_solution_that_is_no_python_is_named_with_its_line(root: Path) -> None:
    (root / "solutions" / f"{tiny.SECOND}.py").write_text("x = 1\ndef (\n")
    what = f"solutions/{tiny.SECOND}.py, the solution of {tiny.SECOND}"
    assert problems(root) == [f"{what}, is no Python (line 2: invalid syntax); correct it"]


def test_a_variant_that_is_no_python_is_named_once_with_its_line(root: Path) -> None:
    (root / "solutions" / "accepted" / tiny.FIRST / "loop.py").write_text("x = (\n")
    what = f"solutions/accepted/{tiny.FIRST}/loop.py, an accepted variant of {tiny.FIRST}"
    assert problems(root) == [f"{what}, is no Python (line 1: '(' was never closed); correct it"]


@pytest.mark.parametrize(
    "command",
    [
        ["build"],
        ["validate"],
        ["mutate"],
        ["mutate", "--draft", "01-abcdef"],
        ["release", "kit"],
        ["list", "--author"],
        ["export", "nbgrader-course", "--to", "source"],
    ],
)
@pytest.mark.parametrize("is_missing", [True, False])
def test_every_command_of_an_author_says_so_and_writes_nothing(
    root: Path,
    command: list[str],
    is_missing: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = root / "solutions" / f"{tiny.FIRST}.py"
    file.unlink() if is_missing else file.write_bytes(LATIN)
    monkeypatch.chdir(root)
    before = files(root)
    assert run_command(command) == USAGE
    said = capsys.readouterr()
    assert f"solutions/{tiny.FIRST}.py" in said.err
    assert ("is missing" if is_missing else "is no text") in said.err
    assert said.out == ""
    assert files(root) == before


@pytest.mark.worker
@pytest.mark.parametrize("command", [["validate", "01"], ["mutate", "01", "--standard"], ["release", "kit"]])
def test_a_misconception_that_is_no_python_is_named_with_its_line(
    root: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"solutions/misconceptions/{tiny.FIRST}.toml"
    tiny.replaced(root / name, "replace = 'return x.cumsum(dim=-1)'", "replace = 'return (x.cumsum(dim=-1)'")
    monkeypatch.chdir(root)
    status = run_command(command)
    said = capsys.readouterr()
    sentence = f"{name}, line 1: mean-not-divided: with its replace, the solution is no Python (line 19: "
    assert sentence in said.out + said.err
    assert status == (FAIL if command[0] == "validate" else USAGE)
    assert "the grader itself failed" not in said.err


@pytest.mark.parametrize(
    ("judge", "sentence"),
    [
        ('"Raises"', "judge is 'Raises', expected a judge like Same() or Raises(), or a function (yours, expected)"),
        ("Raises", "judge is the class Raises, expected Raises() with its parentheses"),
    ],
)
def test_a_judge_that_is_none_is_named_with_its_line(root: Path, judge: str, sentence: str) -> None:
    name = f"tests/exercises/test_{tiny.FIRST}.py"
    tiny.replaced(root / name, "judge=Raises()", f"judge={judge}")
    with pytest.raises(SuiteError) as caught:
        tiny.suite_at(root)
    assert str(caught.value) == f"{root / name}, line 22: check 'an empty input is refused': {sentence}"
