"""`course try`: the example of a lesson on the learner's own code, before any check."""

import io
import json
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.cli.screen import Screen
from autograder.judge import StepResult
from autograder.learner.command_try import _show_below
from autograder.report import UNICODE
from tests.support import tiny

pytestmark = pytest.mark.worker

STEPS = '''"""ex01: three numbers."""

from autograder.checks import step


@step("the last mean", "5")
def step_last(impl, given):
    return impl.running_mean(given.tensor([2, 4, 9]))[-1]


@step("means of (2, 4, 9)", "[2.0 3.0 5.0]")
def step_means(impl, given):
    return impl.running_mean(given.tensor([2, 4, 9]))
'''

STEPS_OF_SECOND = """from autograder.checks import step


@step("mean of the powers", "[3.0]")
def step_mean(impl, given):
    return impl.mean_power(given.tensor([[2.0]]), 2)[0]
"""


@pytest.fixture
def course(course: Path) -> Path:
    folder = course / "tests" / "exercises"
    (folder / f"try_{tiny.FIRST}.py").write_text(STEPS, "utf-8")
    (folder / f"try_{tiny.SECOND}.py").write_text(STEPS_OF_SECOND, "utf-8")
    return course


def tried(course: Path, text: str, *arguments: str) -> str:
    """Return what `course try` prints for the first exercise."""
    (course / "exercises" / tiny.FILES[0]).write_text(text, "utf-8")
    done = tiny.run_course(course, "try", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_right_program_stands_beside_the_paper(course: Path) -> None:
    assert tried(course, tiny.MEAN, "1", "--no-color") == (
        "01 running mean: the example of the lesson, with your code\n"
        "\n"
        "                        on paper       yours\n"
        "  ✓ the last mean       5              5\n"
        "  ✓ means of (2, 4, 9)  [2.0 3.0 5.0]  [2.0 3.0 5.0]\n"
        "\n"
        "  Your code gives the numbers on paper in every step.\n"
        "\n"
        "  Next  course check 01  run the checks\n"
    )


def test_on_a_narrow_terminal_your_numbers_stand_below_the_paper() -> None:
    step = StepResult("last", "the last mean", "differs", (("5", "3.25"),), (("15", "3.25"),))
    papers, yours = ["[ 5 3.25]"], ["[15 3.25]"]
    printed = io.StringIO()
    with redirect_stdout(printed):
        screen = Screen(plain=False, color=False)
        screen.glyphs = UNICODE
        _show_below(screen, [step, replace(step, mark="equal")], [papers, papers], [yours, papers])
    differs = "  ✗ the last mean\n    on paper  [ 5 3.25]\n    yours     [15 3.25]\n"
    assert printed.getvalue() == f"{differs}  ✓ the last mean\n    on paper  [ 5 3.25]\n"


@pytest.mark.smoke
def test_a_wrong_program_shows_what_differs_and_no_progress_is_made(course: Path) -> None:
    shown = tried(course, tiny.mean_with("return x.cumsum(dim=-1)"), "1")
    assert "  ✗ the last mean       5               15\n" in shown
    assert "  ✗ means of (2, 4, 9)  [2.0 3.0  5.0]  [2.0 6.0 15.0]\n" in shown
    assert "the last mean: your values differ from those on paper." in shown
    assert not (course / ".course" / "events.jsonl").exists()


def test_plain_output_has_a_sentence_for_each_step(course: Path) -> None:
    shown = tried(course, tiny.mean_with("return x"), "1", "--plain").splitlines()
    assert shown[1:3] == [
        "the last mean. On paper: 5. Yours: 9.",
        "means of (2, 4, 9). On paper: [2.0 3.0 5.0]. Yours: [2.0 4.0 9.0].",
    ]


def test_a_stub_shows_the_paper_and_the_line_to_write(course: Path) -> None:
    done = tiny.run_course(course, "try")
    assert done.returncode == 0
    assert "  · the last mean       5              not written yet\n" in done.stdout
    assert "This TODO is not written yet." in done.stdout
    assert '15 │     raise NotImplementedError("ex01: running_mean")' in done.stdout
    assert f"edit exercises/{tiny.FILES[0]}:15" in done.stdout


def test_what_the_code_prints_is_shown_once(course: Path) -> None:
    shown = tried(course, tiny.mean_with("print('sum', x.sum().item()); return x"), "1")
    assert shown.count("Your code printed:\n    sum 15.0\n\n") == 1
    many = tiny.mean_with("print(*range(12), sep='\\n'); return x")
    assert "    9\n  and 2 more lines\n" in tried(course, many, "1")


def test_an_exception_is_shown_with_its_line(course: Path) -> None:
    shown = tried(course, tiny.mean_with("return x.no_such_name"), "1")
    assert "no result" in shown
    assert "Your code raised AttributeError in running_mean()." in shown
    assert "│     return x.no_such_name\n" in shown


def test_steps_that_cannot_be_seen_are_no_mistakes(course: Path) -> None:
    file = course / "tests" / "exercises" / f"try_{tiny.FIRST}.py"
    file.write_text(
        STEPS.replace("return impl.running_mean(given.tensor([2, 4, 9]))[-1]", "return given.unseen"), "utf-8"
    )
    shown = tried(course, tiny.MEAN, "1")
    assert "  · the last mean       5              cannot be seen\n" in shown
    assert "Your code gives the numbers on paper in every step that can be seen." in shown
    file.write_text(
        file.read_text("utf-8").replace("impl.running_mean(given.tensor([2, 4, 9]))", "given.unseen"), "utf-8"
    )
    assert "Your code computes this in another way" in tried(course, tiny.MEAN, "1")


def test_a_reference_part_replaces_an_earlier_exercise_that_has_not_passed(course: Path) -> None:
    (course / "exercises" / tiny.FILES[1]).write_text(tiny.POWER, "utf-8")
    folder = course / "tests" / "exercises" / "reference_parts"
    folder.mkdir(exist_ok=True)
    (folder / f"{tiny.FIRST}.json").write_bytes(tiny.part(tiny.FIRST, PART))
    shown = tiny.run_course(course, "try", "2").stdout
    assert "01 has not passed a check yet: a reference part takes its place." in shown
    assert "on paper in every step" in shown


def test_the_files_of_a_folder_are_tried_and_a_missing_earlier_one_is_replaced(course: Path, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / tiny.FILES[1]).write_text(tiny.POWER, "utf-8")
    parts = course / "tests" / "exercises" / "reference_parts"
    parts.mkdir(exist_ok=True)
    (parts / f"{tiny.FIRST}.json").write_bytes(tiny.part(tiny.FIRST, PART))
    done = tiny.run_course(course, "try", "2", "--submission", str(folder))
    assert "01 has no file there: a reference part takes its place." in done.stdout
    assert "on paper in every step" in done.stdout
    assert f"coursecheck02--submission{folder}" in "".join(done.stdout.split())
    assert "with your rights, without a sandbox" in " ".join(done.stderr.split())
    missing = tiny.run_course(course, "try", "1", "--submission", str(folder))
    assert missing.returncode == 2
    assert f"{folder} contains no {tiny.FILES[0]}." in " ".join(missing.stderr.split())


PART = """from torch import Tensor
import torch


def running_mean(x: Tensor) -> Tensor:
    return x.cumsum(dim=-1) / torch.arange(1, x.size(-1) + 1)
"""


def test_the_json_has_both_columns(course: Path) -> None:
    found = json.loads(tried(course, tiny.mean_with("return x"), "1", "--json", "-"))
    assert found["exercise"] == tiny.FIRST
    assert [step["mark"] for step in found["steps"]] == ["differs", "differs"]
    assert (found["steps"][0]["paper"], found["steps"][0]["yours"]) == ([["5"]], [["9"]])


def test_what_cannot_be_tried_says_so(course: Path) -> None:
    (course / "tests" / "exercises" / f"try_{tiny.SECOND}.py").unlink()
    done = tiny.run_course(course, "try", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "The lesson of 02 matrix power has no example to try. `course check 02` checks your code." in done.stderr
    (course / "exercises" / tiny.FILES[0]).unlink()
    done = tiny.run_course(course, "try", "1")
    assert done.returncode == 2
    assert f"There is no file exercises/{tiny.FILES[0]}: `course reset 01` restores the stub." in done.stderr
    (course / "tests" / "exercises" / f"try_{tiny.FIRST}.py").write_text("x = 1\n")
    assert "declares no steps" in tiny.run_course(course, "try", "1").stderr


def test_a_title_that_is_too_long_is_a_mistake_of_its_file(course: Path) -> None:
    file = course / "tests" / "exercises" / f"try_{tiny.FIRST}.py"
    head = "from autograder.checks import step\n\n\n"
    file.write_text(head + f'@step("{"x" * 27}", "1")\ndef step_long(impl, given):\n    return 1\n', "utf-8")
    done = tiny.run_course(course, "validate", "1")
    assert done.returncode == 2
    sentence = f"step '{'x' * 27}': the title has 27 characters, expected at most 26"
    assert done.stderr == f"course: a file of this course is wrong: {file}, line 4: {sentence}\n"


def test_validate_proves_the_paper(course: Path) -> None:
    file = course / "tests" / "exercises" / f"try_{tiny.FIRST}.py"
    tiny.replaced(file, '"5"', '"6"')
    problems = json.loads(tiny.run_course(course, "validate", "1", "--json", "-").stdout)["exercises"][0]["problems"]
    assert (
        problems[0]
        == f"{tiny.FIRST}: the solution: the step last: the last mean: your values differ from those on paper. "
        "It gives 5, on paper it is 6"
    )
