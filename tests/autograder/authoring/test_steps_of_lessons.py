"""The steps of this course's worked examples: every lesson has them, and their numbers are the lesson's."""

import re

import pytest

from autograder.course import Exercise, load_suite, read_course, suite_files, with_steps
from autograder.diagnosis import Source
from autograder.judge import plan_of, results_of
from autograder.judge.drawings import read_paper
from autograder.runner import Runner
from tests.support import tiny
from tests.support.course_programs import submission_of

COURSE = read_course(tiny.REPOSITORY)
SUITE = with_steps(load_suite(COURSE))


def lesson(exercise: Exercise) -> list[str]:
    """Return the numbers and words of an exercise's lesson."""
    source = (COURSE.solutions_dir / exercise.file).read_text("utf-8")
    cells = [cell for cell in source.split("# %%") if cell.startswith(" [markdown]")]
    words = re.sub(r"[\[\](),|`$]", " ", "\n".join(cells)).split()
    return [word if word in (".", "x") else word.rstrip(".:;") for word in words]


@pytest.mark.parametrize("exercise", COURSE.exercises, ids=lambda exercise: exercise.id)
def test_every_lesson_has_steps_whose_numbers_are_in_it(exercise: Exercise) -> None:
    words = set(lesson(exercise)) | {"x", "."}  # a lesson may write True and False in another way
    assert len(SUITE.steps[exercise.id]) > 1
    for step in SUITE.steps[exercise.id]:
        missing = [word for row in read_paper(step.paper) for word in row if word not in words]
        assert not missing, f"{exercise.id}, {step.id}: {missing}"


@pytest.mark.worker
def test_the_solution_gives_the_numbers_on_paper_in_every_step() -> None:
    """Of the accepted variants, `course validate` says which step differs."""
    with Runner(SUITE, seed=COURSE.seed, shared=True) as runner:
        for exercise in COURSE.exercises:
            steps = SUITE.steps[exercise.id]
            sources = submission_of(COURSE, exercise, (COURSE.solutions_dir / exercise.file).read_text("utf-8")).sources
            run = runner.run(sources, plan_of(exercise, steps), probes="steps")
            source = Source(exercise.file, sources[exercise.file])
            results = results_of(steps, run.outcomes[exercise.id], exercise, source, COURSE.limits.memory_mib)
            assert {result.mark for result in results} == {"equal"}, exercise.id


def test_no_digest_contains_the_steps() -> None:
    assert {file.name for file in suite_files(COURSE)} >= {f"test_{exercise.id}.py" for exercise in COURSE.exercises}
    assert not [file for file in suite_files(COURSE) if file.name.startswith("try_")]


def test_the_steps_need_no_torch() -> None:
    for exercise in COURSE.exercises:
        assert not re.search(
            r"^(import|from) (torch|numpy)", COURSE.steps_file(exercise).read_text("utf-8"), re.MULTILINE
        )
