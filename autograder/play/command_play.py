"""Train and use what you have built."""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder import ending
from autograder.cli import DEVICE, DIFFERENT_SEED, CommandParser, KeyProgress, Parser, Screen, positive, warn
from autograder.course import (
    Activity,
    Course,
    Exercise,
    UsageError,
    Value,
    find_course,
    nearest,
    numbers_of,
    read_course,
    unknown,
)
from autograder.ending import ENVIRONMENT, FAIL, GRADER, PASS
from autograder.progress import (
    ALL_AT_ONCE,
    after_refusal,
    check_submission,
    confinement_warning,
    digest_of,
    exercise_version,
    next_command,
    normalize_device,
    read_progress,
    record,
    rows_of,
)
from autograder.report import state_of
from autograder.submission import Submission, read_own, stubs_of

if TYPE_CHECKING:
    from autograder.results import ExerciseResult


# Start an activity in a process of its own, and report how it ended.

PROGRAM = Path(__file__).with_name("__main__.py")

QUIET_THREADS = {"OMP_WAIT_POLICY": "PASSIVE"}
"""Threads that wait for work must sleep: on a busy machine, threads that spin make a training 20 times as slow."""

CTRL_C_SECONDS = 2.0
"""An activity that got the Ctrl-C of the terminal too has mostly ended by then."""


@dataclass(frozen=True)
class PlaySettings:
    """The options of a run: those that every activity has, and the activity's own in `options` by name.

    `steps` is None if the activity decides. `color` is None if the terminal decides.
    """

    device: str
    seed: int
    steps: int | None
    say: Sequence[str]
    fresh: bool
    anyway: bool
    json: str | None
    submission: Path | None
    plain: bool
    color: bool | None
    options: Mapping[str, Value]


def find_activity(course: Course, name: str) -> Activity:
    """Return the activity of that name. Raises `UsageError` if there is none."""
    for activity in course.play:
        if activity.id == name:
            return activity
    ids = [activity.id for activity in course.play]
    near = nearest(name, ids)
    more = "`course play` lists all activities." if ids else "This course has no activities."
    raise UsageError(unknown("activity", name, [near and f"course play {near}"], more=more))


def require_writable(json_file: str | None) -> None:
    """Raise `UsageError` if the figures cannot be written: better before a long training than after it."""
    if json_file is None or json_file == "-":
        return
    file = Path(json_file)
    if file.is_dir():
        raise UsageError(f"--json {json_file} is a folder, expected a file")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"--json {json_file}: there is no folder {file.parent}; make it first, or name another")


def reason(result: "ExerciseResult") -> str:
    """Return in one line why an exercise does not pass."""

    failure = result.first_failure
    if failure is not None and failure.finding is not None and result.status != "not_started":
        return failure.finding.message
    return state_of(result).meaning


def launch(
    course: Course,
    activity: Activity,
    settings: PlaySettings,
    failing: Iterable["ExerciseResult"],
    own: Collection[str] = (),
) -> tuple[int, str]:
    """Run an activity to its end. Return its exit status, and a warning if something killed it, else "".

    `own` are the ids of the exercises that pass, where reference parts stand in for the others.

    It has a process of its own, so that this one survives whatever the learner's code does.
    """
    request = {
        **asdict(settings),
        "root": str(course.root),
        "activity": activity.id,
        "submission": str(settings.submission) if settings.submission is not None else None,
        "wrong": [[result.id, reason(result)] for result in failing],
        "own": list(own),
    }
    sys.stdout.flush()
    status = _run([sys.executable, "-P", str(PROGRAM), json.dumps(request)])
    number = ending.asked() or -status
    if number in set(ending.SIGNALS) - {signal.SIGINT} or (status < 0 and number in ending.SIGNALS):
        return 128 + number, ""
    if status >= 0:
        return status, ""
    name = ending.signal_name(-status)
    cause = "the machine ran out of memory, or somebody killed it" if name == "SIGKILL" else "a library crashed"
    return ENVIRONMENT, f"{name} ended {activity.id}: {cause}; run it again to go on from the last checkpoint"


@contextlib.contextmanager
def _terminal_kept() -> Iterator[None]:
    """Restore the terminal at the end: a process that reads single keys may have been killed."""
    try:
        import termios
    except ImportError:
        yield
        return
    try:
        descriptor = sys.stdin.fileno()
        before = termios.tcgetattr(descriptor)
    except (AttributeError, OSError, ValueError, termios.error):
        yield
        return
    try:
        yield
    finally:
        with contextlib.suppress(OSError, termios.error):
            if os.tcgetpgrp(descriptor) == os.getpgrp():  # the system stops a background program that changes it
                termios.tcsetattr(descriptor, termios.TCSANOW, before)


def _run(command: Sequence[str]) -> int:
    """Run the process that trains. On a signal it saves its checkpoint and ends itself."""
    process = ending.started(lambda: subprocess.Popen(command, env={**QUIET_THREADS, **os.environ}))

    def stop(number: int) -> None:
        if number == signal.SIGINT:  # Ctrl-C reaches both processes, but `kill -INT` only this one
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(CTRL_C_SECONDS)
        process.terminate()

    with _terminal_kept(), ending.by_itself(stop):
        status = process.wait()
    ending.forget(process)
    return status


# The command.

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
    exercises = [exercise for exercise in course.used_by(activity) if exercise in course.exercises]
    needs = f"{activity.id} needs {numbers_of(exercises)} to pass." if exercises else ""
    if activity.milestones:
        needs = f"{activity.id} runs {numbers_of(exercises)}: yours where they pass, else the reference."
    settings = parse_settings(activity, options, needs)
    normalize_device(settings.device)
    require_writable(settings.json)
    submission = read_own(course, folder=settings.submission)
    warn(confinement_warning(course, settings.submission))
    own: list[str] = []
    if activity.milestones:
        own, exercises = _passing_and_unknown(course, exercises, submission, settings)
    results: Sequence[ExerciseResult] = ()
    if exercises:
        with contextlib.closing(KeyProgress(plain=options.plain)) as line:
            report = check_submission(course, exercises, submission, seed=course.seed, on_progress=line.on_progress)
        results = report.exercises
        if settings.submission is None:
            warn(record(course, report, submission.sources, command=ALL_AT_ONCE).warning)
    own += [result.id for result in results if result.status == "pass"]
    failing = [result for result in results if result.status != "pass" and not activity.milestones]
    if any(result.status == "grader_error" for result in failing) or (failing and not settings.anyway):
        return _refuse(Screen.of(options), course, activity, failing, settings)
    status, warning = launch(course, activity, settings, failing, own)
    warn(warning)
    if activity.milestones and status == PASS and settings.json != "-":
        progress = read_progress(course)
        Screen.of(options).next([next_command(course, progress, rows_of(course, progress))])
    return status


def _passing_and_unknown(
    course: Course, exercises: Sequence[Exercise], submission: Submission, settings: PlaySettings
) -> tuple[list[str], list[Exercise]]:
    """Return the exercises whose last check passed, and those to check: no stub, and changed since that check."""
    stubs, sources = stubs_of(course, exercises), submission.sources
    progress = read_progress(course)
    passing, unknown = [], []
    for exercise in exercises:
        source, standing = sources.get(exercise.file), progress.of(exercise)
        if source is None or stubs.is_stub(exercise.file, source):
            continue
        is_recorded = standing.file == digest_of(source) and not standing.stale(exercise_version(course, exercise))
        if settings.submission is not None or not is_recorded:
            unknown.append(exercise)
        elif standing.passes_now:
            passing.append(exercise.id)
    return passing, unknown


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
