"""Start an activity in a process of its own, and report how it ended."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder import ending
from autograder.course import Activity, Course, Exercise, UsageError, Value, nearest, unknown
from autograder.exits import ENVIRONMENT
from autograder.report import state_of

if TYPE_CHECKING:
    from autograder.results import ExerciseResult


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


def required_exercises(course: Course, activity: Activity) -> list[Exercise]:
    """Return the exercises that an activity calls, and those that they build on."""
    ids = {needed.id for id_ in activity.needs for needed in course.with_needs(course.exercise(id_))}
    return [exercise for exercise in course.exercises if exercise.id in ids]


def in_words(exercises: Sequence[Exercise]) -> str:
    """Return the numbers of exercises, with `to` for three or more in a row: `exercises 05, 12 to 23 and 26`."""
    spans: list[list[Exercise]] = []
    for exercise in exercises:
        if spans and int(exercise.number) == int(spans[-1][-1].number) + 1:
            spans[-1].append(exercise)
        else:
            spans.append([exercise])
    parts: list[str] = []
    for span in spans:
        numbers = [exercise.number for exercise in span]
        parts += [f"{numbers[0]} to {numbers[-1]}"] if len(numbers) > 2 else numbers
    *first, last = parts
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"exercise {listed}" if len(exercises) == 1 else f"exercises {listed}"


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
    course: Course, activity: Activity, settings: PlaySettings, failing: Iterable["ExerciseResult"]
) -> tuple[int, str]:
    """Run an activity to its end. Return its exit status, and a warning if something killed it, else "".

    It has a process of its own, so that this one survives whatever the learner's code does.
    """
    request = {
        **asdict(settings),
        "root": str(course.root),
        "activity": activity.id,
        "submission": str(settings.submission) if settings.submission is not None else None,
        "wrong": [[result.id, reason(result)] for result in failing],
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
