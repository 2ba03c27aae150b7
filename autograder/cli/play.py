"""`course play`: check the exercises that an activity calls, then run the activity."""

import argparse
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from autograder.cli.key_progress import KeyProgress
from autograder.cli.play_options import parse_settings
from autograder.cli.screen import Screen, warn
from autograder.course import Course, find_course, read_course
from autograder.course.model import Activity
from autograder.course.names import UsageError
from autograder.exits import FAIL, GRADER, PASS
from autograder.learner.checking import check_submission, confinement_warning, normalize_device
from autograder.learner.next_commands import after_refusal
from autograder.learner.play.launch import (
    PlaySettings,
    find_activity,
    in_words,
    launch,
    reason,
    require_writable,
    required_exercises,
)
from autograder.learner.progress.course_progress import ALL_AT_ONCE
from autograder.learner.progress.record import record
from autograder.submission.own_work import read_own

if TYPE_CHECKING:
    from autograder.results import ExerciseResult


def play(options: argparse.Namespace) -> int:
    """Run the command. Exit with 0 at its end, 1 if an exercise fails, 3 for this machine's fault, 130 if stopped."""
    course = read_course(find_course())
    if options.activity is None:
        return _show_activities(Screen.of(options), course, options.others)
    activity = find_activity(course, options.activity)
    if not course.computes_with_tensors:
        raise UsageError('`course play` trains with torch; add libraries = ["torch"] to course.toml')
    exercises = required_exercises(course, activity)
    needs = f"{activity.id} needs {in_words(exercises)} to pass." if exercises else ""
    settings = parse_settings(activity, options, needs)
    normalize_device(settings.device)
    require_writable(settings.json)
    submission = read_own(course, folder=settings.submission)
    warn(confinement_warning(course, settings.submission))
    with closing(KeyProgress(plain=options.plain)) as line:
        report = check_submission(course, exercises, submission, seed=course.seed, on_progress=line.on_progress)
    if settings.submission is None:
        warn(record(course, report, submission.sources, command=ALL_AT_ONCE).warning)
    failing = [result for result in report.exercises if result.status != "pass"]
    if "grader_error" in report.statuses or (failing and not settings.anyway):
        return _refuse(Screen.of(options), course, activity, failing, settings)
    status, warning = launch(course, activity, settings, failing)
    warn(warning)
    return status


def _show_activities(screen: Screen, course: Course, others: Sequence[str]) -> int:
    if not course.play:
        raise UsageError("this course has no activities; its course.toml has no [[play]]")
    first = course.play[0].id
    if others and not {"-h", "--help"} & set(others):
        raise UsageError(f"{others[0]} must follow the name of an activity; write `course play {first} {others[0]}`")
    width = max(len(activity.id) for activity in course.play) + len("course play  ")
    for activity in course.play:
        screen.line((f"course play {activity.id}".ljust(width), "cyan"), f"  {activity.title}")
    screen.gap()
    screen.text(f"`course play {first} --help` lists its options.", indent=0)
    return PASS


def _refuse(
    screen: Screen, course: Course, activity: Activity, failing: Sequence["ExerciseResult"], settings: PlaySettings
) -> int:
    """Print the first exercise that fails, and what to do. Return the exit status."""
    first, *others = failing
    exercise = course.exercise(first.id)
    needed = f"{exercise.number} {exercise.title}"
    screen.text(f"`course play {activity.id}` needs {needed}: {reason(first)}", indent=0, style="red")
    if others:
        numbers = ", ".join(course.exercise(result.id).number for result in others)
        screen.text(f"These do not pass either: {numbers}.", indent=0)
    screen.gap()
    screen.next(after_refusal(exercise, first, settings.submission))
    return GRADER if any(result.status == "grader_error" for result in failing) else FAIL
