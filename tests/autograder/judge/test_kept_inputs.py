"""A write into an argument fails the check of the inputs, also where it is made at the places that do not count."""

from collections.abc import Callable, Iterator

import pytest

from autograder.course import find_course, load_suite, read_course
from autograder.judge import Grader
from autograder.runner import Runner
from tests.support.course_programs import submission_of

COURSE = read_course(find_course())
SUITE = load_suite(COURSE)

WIDE = "    wide = torch.promote_types(logits.dtype, torch.float32)\n"
WRITES = {
    "ids that do not count": ("ex30_preference", WIDE, f"    ids[:, 1:][~mask[:, 1:]] = 0\n{WIDE}"),
    "first token of a mask": ("ex30_preference", WIDE, f"    mask[:, 0] = False\n{WIDE}"),
    "ignored targets": ("ex29_backward_by_hand", "targets.masked_fill(targets ==", "targets.masked_fill_(targets =="),
    "mask": ("ex29_backward_by_hand", "scores.masked_fill(~mask,", "scores.masked_fill(mask.logical_not_(),"),
}
"""What is written into: the exercise, a text of its solution, and what stands there instead."""


@pytest.fixture(scope="module")
def failing() -> Iterator[Callable[[str, str], set[str]]]:
    """Return a function that judges a program as one exercise, and gives the ids of the checks that fail."""
    with Runner(SUITE, seed=COURSE.seed, shared=True) as runner, Grader(SUITE, seed=COURSE.seed) as grader:

        def judge(exercise: str, program: str) -> set[str]:
            one = COURSE.exercise(exercise)
            result = grader.grade(submission_of(COURSE, one, program), [one], runner).exercises[0]
            return {check.id for check in result.checks if check.status != "pass"}

        yield judge


@pytest.mark.worker
@pytest.mark.parametrize("written", WRITES)
def test_a_write_into_an_argument_fails(failing: Callable[[str, str], set[str]], written: str) -> None:
    exercise, text, instead = WRITES[written]
    solution = (COURSE.solutions_dir / COURSE.exercise(exercise).file).read_text("utf-8")
    assert solution.count(text) == 1
    assert "inputs_kept" in failing(exercise, solution.replace(text, instead))
    assert not failing(exercise, solution)
