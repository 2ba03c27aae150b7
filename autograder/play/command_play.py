"""Train and use what you have built."""

import argparse
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli import DEVICE, DIFFERENT_SEED, CommandParser, KeyProgress, Parser, Screen, positive, warn
from autograder.course import Activity, Course, UsageError, find_course, read_course
from autograder.exits import FAIL, GRADER, PASS
from autograder.progress import (
    ALL_AT_ONCE,
    after_refusal,
    check_submission,
    confinement_warning,
    normalize_device,
    record,
)
from autograder.submission import read_own

from .process import PlaySettings, find_activity, in_words, launch, reason, require_writable, required_exercises

if TYPE_CHECKING:
    from autograder.results import ExerciseResult


# The options of `course play ACTIVITY`: those of every activity, and its own from course.toml.

LARGEST_SEED = 10**18 - 1
"""torch takes 64 bits, and an activity adds small numbers to its seed."""


def parse_settings(activity: Activity, options: argparse.Namespace, needs: str = "") -> PlaySettings:
    """Return the settings of an activity. Raises `UsageError`; exits with 0 after `--help`, which ends with `needs`."""
    title = activity.title
    parser = Parser(prog=f"course play {activity.id}", description=f"{title[0].upper()}{title[1:]}.", epilog=needs)
    add = parser.add_argument
    add("--device", default="cpu", metavar="NAME", help=DEVICE)
    add("--seed", type=_seed, default=1, metavar="N", help=f"{DIFFERENT_SEED} (default: 1)")
    add("--steps", type=positive, metavar="N", help="train for N steps (default: the activity decides)")
    add("--say", action="append", default=[], metavar="TEXT", help="answer TEXT instead of your typing; repeatable")
    add("--fresh", action="store_true", help="ignore the checkpoint and start over")
    add("--anyway", action="store_true", help="train even if an exercise that it needs fails")
    add("--submission", type=Path, metavar="DIR", help="use a folder or a zip (default: your exercises/)")
    add("--json", metavar="FILE", help="write the figures to FILE; - is stdout, and nothing else is printed")
    own = parser.add_argument_group(f"options of {activity.id}") if activity.choices else parser
    for choice in activity.choices:
        does = choice.does.replace("%", "%%")  # argparse reads % as a field
        if isinstance(choice.default, bool):
            own.add_argument(
                f"--{choice.name}", action=argparse.BooleanOptionalAction, default=choice.default, help=does
            )
        else:
            default = str(choice.default).replace("%", "%%")
            text = f"{does} (default: {default})" if default else does
            kind = type(choice.default)
            own.add_argument(f"--{choice.name}", type=kind, default=choice.default, metavar="X", help=text)
    known, others = parser.parse_known_args(options.others)
    parser.refuse(others)
    parsed = vars(known)
    values = {choice.name: parsed.pop(choice.name.replace("-", "_")) for choice in activity.choices}
    return PlaySettings(**parsed, plain=options.plain, color=False if options.no_color else None, options=values)


def _seed(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = LARGEST_SEED + 1
    if abs(number) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at most 18 digits")
    return number


ADD_HELP = False
"""The options belong to the activities, which only the course knows; so `--help` does too."""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("activity", nargs="?", metavar="ACTIVITY")


def run(options: argparse.Namespace) -> int:
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
