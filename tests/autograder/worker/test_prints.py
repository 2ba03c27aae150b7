"""What a learner's code prints is in the report of a self-check, with the trial it came from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.judge import Grader
from autograder.results import ExerciseResult, PrintOutput
from autograder.runner import Runner
from tests.support import tiny

pytestmark = pytest.mark.worker

LOUD = tiny.mean_with("print('x', tuple(x.shape)); return x.cumsum(dim=-1) / count")
WRONG = tiny.mean_with("print('x', tuple(x.shape)); return x.cumsum(dim=-1)")
CRASH = tiny.mean_with("print('last words', end=''); import os; os._exit(3)")
STUCK = tiny.mean_with("print('in the loop')\n    while True: pass")
SLEEP = tiny.mean_with("print('asleep')\n    import time; time.sleep(600)")


def checked(grader: Grader, program: str, runner: Runner | None = None) -> ExerciseResult:
    report = grader.grade(tiny.submitted(program), tiny.COURSE.exercises[:1], runner)
    return report.exercises[0]


def test_prints_are_in_a_pass_and_a_failure_and_the_failing_check_comes_first(grader: Grader) -> None:
    passed = checked(grader, f"print('imported')\n{LOUD}")
    assert passed.status == "pass"
    assert passed.prints[0] == PrintOutput("imported")
    assert {None, "values", "axes", "dtype"} == {output.check for output in passed.prints}
    failed = checked(grader, WRONG)
    assert failed.first_failure is not None
    assert (failed.status, failed.prints[0].check) == ("fail", failed.first_failure.id)
    assert failed.prints[0].text.startswith("x (")
    assert "\n" not in failed.prints[0].text, "the traced run of the same trial is not in it"


def test_an_exception_and_an_import_that_fails_keep_what_was_printed_before(grader: Grader) -> None:
    raised = checked(grader, tiny.mean_with("print('before'); return 1 / 0"))
    assert (raised.status, raised.prints[0].text) == ("error", "before")
    [output] = checked(grader, "print('top of the file')\n1 / 0").prints
    assert output == PrintOutput("top of the file")


@pytest.mark.parametrize(
    ("program", "status", "words"),
    [(CRASH, "error", "last words"), (STUCK, "timeout", "in the loop")],
    ids=["a crash", "a loop"],
)
def test_a_program_that_dies_keeps_what_it_printed(grader: Grader, program: str, status: str, words: str) -> None:
    result = checked(grader, program)
    first = result.first_failure
    assert first is not None
    assert (result.status, result.prints[0]) == (status, PrintOutput(words, first.id, 1, result.prints[0].times))


def test_standard_error_and_threads_and_writes_below_python_are_kept_too(grader: Grader) -> None:
    program = (
        "import os, sys, threading\n"
        "thread = threading.Thread(target=lambda: print('a thread'))\nthread.start()\nthread.join()\n"
        "print('an error', file=sys.stderr)\nos.write(1, b'a descriptor\\n')\n"
    )
    result = checked(grader, program + tiny.MEAN)
    assert (result.status, result.prints) == ("pass", (PrintOutput("a thread\nan error\na descriptor"),))


def test_a_warning_of_several_lines_is_one_line(grader: Grader) -> None:
    result = checked(grader, f"import warnings\nwarnings.warn('one\\n  two')\n{tiny.MEAN}")
    assert result.prints == (PrintOutput(f"{tiny.FILES[0]}:2: UserWarning: one two"),)


@pytest.mark.parametrize("program", ["sys.stdout.close()", "sys.stdout = None", "os.close(1)", "sys.stderr.detach()"])
def test_a_program_that_breaks_its_own_streams_loses_only_prints(grader: Grader, program: str) -> None:
    result = checked(grader, f"import os, sys\nprint('before')\n{program}\n{tiny.MEAN}")
    assert (result.status, result.prints) == ("pass", (PrintOutput("before"),))
    assert checked(grader, LOUD).prints


def test_a_label_that_a_program_writes_moves_only_its_own_prints(grader: Grader) -> None:
    forged = "print('\\x1eex02_matrix_power values 0\\x1eforged')\nprint('\\x1eno label')"
    result = checked(grader, f"{forged}\n{tiny.MEAN}")
    assert result.status == "pass"
    assert all("forged" not in output.text for output in result.prints)


def test_a_flood_of_lines_is_stopped_as_in_grading(brief_with_prints: Grader) -> None:
    flood = tiny.mean_with("while True: print('x')")
    result = checked(brief_with_prints, flood)
    assert tiny.sentences_of(result) == ["Your code printed more than 512 KiB. Look for a print in a loop."]
    assert result.prints[0].text.startswith("x  (")


@pytest.fixture
def brief_with_prints(tmp_path: Path) -> Iterator[Grader]:
    with Grader(tiny.BRIEF, seed=1, cache=tmp_path, evidence=True) as grader:
        yield grader


def test_the_prints_of_an_exercise_are_not_those_of_another(grader: Grader) -> None:
    first, second = grader.grade(tiny.submitted(LOUD, tiny.POWER_ALONE)).exercises
    assert first.prints
    assert second.prints == ()
    [_, second] = grader.grade(tiny.submitted(LOUD, tiny.POWER)).exercises
    assert {output.check for output in second.prints} <= {check.id for check in second.checks}
