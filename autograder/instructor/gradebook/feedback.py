"""The plain text of a mark: its checks that do not pass, and what the class adds to it."""

from collections.abc import Sequence

from autograder.instructor.gradebook.graded import Mark
from autograder.report.exercise_summary import checks_pass
from autograder.report.failure_text import failure_text
from autograder.report.failure_view import failure_view
from autograder.report.printable import ended, one_line
from autograder.report.quantities import plural, points_of
from autograder.report.states import NOT_RUN, check_state, state_of
from autograder.results import CheckResult, ExerciseResult


def check_text(check: CheckResult) -> str:
    """Return why a check does not pass, in a few lines of safe text; nothing if it passes."""
    return "" if check.status == "pass" else failure_text(failure_view(check))


def others_not_run(others: Sequence[CheckResult]) -> str:
    """Return how many of the other checks of an exercise were not run; nothing if all of them were."""
    count = sum(check_state(check) is NOT_RUN for check in others)
    return f"{plural(count, 'other check')} {'was' if count == 1 else 'were'} not run." if count else ""


def is_unwritten(exercise: ExerciseResult) -> bool:
    """Say whether there is no work on an exercise."""
    return exercise.status in ("missing", "not_started") and not exercise.in_progress


def summary(exercise: ExerciseResult) -> str:
    """Return the points of an exercise, then each check that does not pass, in lines of safe text.

    An exercise without any work has one line, as no check says more than that. So has one that is held: it has no
    points.
    """
    state = state_of(exercise)
    if exercise.status == "held":
        return f"{state.word}: {check_text(exercise.checks[0]) if exercise.checks else state.meaning}"
    lines = [f"{state.word}: {points_of(exercise.score, exercise.max_score)}"]
    if is_unwritten(exercise):
        return lines[0]
    lines += [f"{checks_pass(exercise.checks)}."] if exercise.checks else []
    for check in exercise.checks:
        if check.status != "pass":
            lines.append(f"- {check_state(check).word} {one_line(check.title)}")
            lines += [f"  {line}" for line in check_text(check).splitlines()]
    return "\n".join(lines)


def notes(mark: Mark) -> list[str]:
    """Return how the class changes the score, as sentences; nothing if it does not."""
    return [ended(f"{note[:1].upper()}{note[1:]}") for note in map(one_line, mark.final.notes)] if mark.final else []
