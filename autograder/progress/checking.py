"""Check exercises of a submission, and record the result where it is the learner's own."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course import (
    Course,
    Exercise,
    UsageError,
    load_suite,
    nearest,
    resolve_exercise,
    unknown,
    write_atomically,
)
from autograder.ending import FAIL, GRADER, PASS
from autograder.report import spoken
from autograder.submission import Submission, unconfined_warning

from .events import BURST, Progress, Standing

if TYPE_CHECKING:
    from autograder.judge import OnOutcomes
    from autograder.results import Report


ALL = "all"
MOST_NEW = 5
"""Checks that are named as newly right."""

DEVICES = ("cpu", "cuda", "mps")


def check_submission(
    course: Course,
    exercises: Sequence[Exercise],
    submission: Submission,
    *,
    seed: int,
    device: str = "cpu",
    on_progress: Callable[[str, int, int], None],
    on_outcomes: "OnOutcomes | None" = None,
    on_verdict: "Callable[[Report], None] | None" = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> "Report":
    """Return the report on some exercises of a submission, with evidence.

    `on_progress(exercise, done, total)` reports how far a new answer key is, and `on_outcomes(exercise, statuses)` what
    is known before it. `on_verdict(report)` has all but the proof of a place, which is searched for then. `meanwhile`
    is called while the worker starts: what the caller needs afterwards can be loaded then.
    """
    from autograder.runner import Runner  # only where something runs

    needed_ids = {needed.id for exercise in exercises for needed in course.with_needs(exercise)}
    suite = load_suite(course, [exercise for exercise in course.exercises if exercise.id in needed_ids])
    with Runner(suite, seed=seed, device=device, shared=True) as runner:
        # The worker starts first: torch takes longer to load than everything else together.
        if any(exercise.file in submission.sources for exercise in exercises):
            runner.prepare()
        from autograder.judge import SELF_CHECK, Grader  # while the screen says that checks run

        meanwhile()
        with Grader(
            suite,
            seed=seed,
            device=device,
            evidence=True,
            on_progress=on_progress,
            on_outcomes=on_outcomes,
            budget=SELF_CHECK,
        ) as grader:
            return grader.grade(submission, exercises, runner, on_verdict)


def select_exercises(
    course: Course, progress: Progress, names: Sequence[str], *, check_all: bool, own: bool
) -> tuple[Exercise, ...]:
    """Return the exercises to check: those named, or the current one; all of somebody else's submission."""
    if check_all or list(names) == [ALL]:
        return course.exercises
    if names:
        named_ids = {resolve_exercise(course, name).id for name in names}
        return tuple(exercise for exercise in course.exercises if exercise.id in named_ids)
    return (progress.current(course) or course.exercises[-1],) if own else course.exercises


def exercise_meant(course: Course, progress: Progress, name: str | None) -> Exercise:
    """Return the exercise of that name; without one the exercise to work on, or the last one if all pass."""
    return resolve_exercise(course, name) if name else progress.current(course) or course.exercises[-1]


def normalize_device(name: str) -> str:
    """Return the name of a device. Raises `UsageError` if it is unknown; only the worker can tell if it exists."""
    if name.split(":")[0] not in DEVICES:
        raise UsageError(unknown("device", name, [nearest(name, DEVICES)], more=f"Choose from {', '.join(DEVICES)}."))
    return "cpu" if name.startswith("cpu:") else name  # there is only one


def confinement_warning(course: Course, submission: Path | None) -> str:
    """Return a warning that somebody else's code runs with your rights; "" for the course's own files."""
    if submission is None or submission.resolve() in (course.solutions_dir, course.exercises_dir):
        return ""
    return unconfined_warning(submission)


def exit_status(report: "Report") -> int:
    """Return 0 if all exercises pass, 4 if the grader failed, else 1."""
    if "grader_error" in report.statuses:
        return GRADER
    return PASS if report.statuses == {"pass"} else FAIL


def encouragement(standing: Standing) -> str:
    """Return what became right since the check before, and at a pass the minutes of work; "" if there is nothing."""

    names = [spoken(check) for check in standing.newly_right]
    more = len(names) - MOST_NEW
    names = [*names[:MOST_NEW], f"{more} more"] if more > 1 else names
    minutes = standing.seconds_worked // 60 if standing.passes_now else 0
    news = [f"new: {', '.join(names)}"] if names else []
    return "; ".join([*news, *([f"{minutes} min of work"] if minutes else [])])


def pause_advice(exercise: Exercise, standing: Standing) -> str:
    """Return advice after many small edits in a short time, else ""."""
    if not standing.pausing:
        return ""
    return f"{BURST} runs in a minute. `course diff {exercise.number}` shows every measurement."


# Write the result of a command as JSON, for other programs.

SCHEMA = 1


def write_json(target: str | None, data: Mapping[str, Any]) -> bool:
    """Write data to the file that `--json` names, if any. Return whether that was stdout: then print nothing else."""
    if target is None:
        return False
    to_stdout = target == "-"
    text = json.dumps({"schema": SCHEMA, **data}, indent=1) + "\n"  # in ASCII: it has names and code of students
    if to_stdout:
        sys.stdout.write(text)
    else:
        write_atomically(Path(target), text)
    return to_stdout
