"""`course play`: train and use what was built. The exercises it calls are checked first, then it runs by itself."""

import argparse
import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from autograder import ending
from autograder.cli.check import checked, known_device, remember, warn_unconfined
from autograder.cli.screen import Screen
from autograder.cli.waiting import Waiting
from autograder.course import Course, find_course, read_course
from autograder.course.model import Activity
from autograder.course.names import UsageError
from autograder.course.nearest import nearest
from autograder.exits import ENVIRONMENT, FAIL, GRADER, PASS
from autograder.learner.progress.standing import ALL_AT_ONCE
from autograder.submission import Submission
from autograder.submission.own import read_own

if TYPE_CHECKING:
    from autograder.results import ExerciseResult, Report

LARGEST_SEED = 10**18 - 1
CTRL_C_SECONDS = 2.0
"""An activity that got the Ctrl-C of the terminal too has mostly ended by then."""

PROGRAM = Path(__file__).parents[1] / "learner" / "play" / "__main__.py"


def play(options: argparse.Namespace) -> int:
    """Run the command: 0 done, 1 an exercise is to be mended first, 3 the machine cannot do it, 130 it was stopped."""
    course = read_course(find_course())
    if options.activity is None:
        return _show_list(Screen.of(options), course, options.others)
    activity = _named(course, options.activity)
    own = _own_options(activity, options.others)
    known_device(own.device)
    _can_be_written(own.json)
    submission = read_own(course, folder=own.submission)
    warn_unconfined(course, own.submission)
    waiting = Waiting(plain=options.plain)
    with closing(waiting):
        report = _checked(course, activity, submission, waiting)
    if own.submission is None:
        remember(course, report, submission.sources, ALL_AT_ONCE)
    wrong = [each for each in report.exercises if each.status != "pass"]
    if "grader_error" in report.statuses:
        return _refused(Screen.of(options), course, wrong, own, GRADER)
    if wrong and not own.anyway:
        return _refused(Screen.of(options), course, wrong, own, FAIL)
    return _run(course, activity, options, own, wrong)


def _show_list(screen: Screen, course: Course, others: Sequence[str]) -> int:
    """Show what there is to do."""
    if not course.play:
        raise UsageError("this course has nothing to play; its course.toml has no [[play]]")
    if others and not {"-h", "--help"} & set(others):
        raise UsageError(f"{others[0]} stands before the name of an activity; write `course play {course.play[0].id}`")
    width = max(len(each.id) for each in course.play) + len("course play  ")
    for each in course.play:
        screen.line((f"course play {each.id}".ljust(width), "cyan"), f"  {each.title}")
    screen.gap()
    screen.text(f"`course play {course.play[0].id} --help` shows what each of them takes.", indent=0)
    return PASS


def _named(course: Course, word: str) -> Activity:
    """Return the activity of that name. Raises `UsageError` where there is none."""
    for each in course.play:
        if each.id == word:
            return each
    ids = [each.id for each in course.play]
    near = nearest(word, ids)
    hint = f"is {near} meant? " if near else ""
    there = f"there are {', '.join(ids)}" if ids else "this course has none"
    raise UsageError(f"no activity is called {word!r}; {hint}{there}")


def _own_options(activity: Activity, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of an activity: those of all, and those that course.toml gives it."""
    parser = argparse.ArgumentParser(
        prog=f"course play {activity.id}", description=f"{activity.title[0].upper()}{activity.title[1:]}."
    )
    parser.add_argument("--device", default="cpu", metavar="NAME", help="cpu, cuda or mps")
    parser.add_argument("--seed", type=_seed, default=1, metavar="N", help="of everything that is drawn (1)")
    parser.add_argument("--steps", type=_positive, metavar="N", help="train for so many steps, not as many as usual")
    parser.add_argument("--say", action="append", default=[], metavar="TEXT", help="answer this, and ask for no more")
    parser.add_argument("--fresh", action="store_true", help="start over: the checkpoint that is there is not used")
    parser.add_argument("--anyway", action="store_true", help="train although an exercise it needs is not right")
    parser.add_argument("--submission", type=Path, metavar="DIR", help="a folder or a zip to take, not exercises/")
    parser.add_argument("--json", metavar="FILE", help="write the figures there; - is stdout, and nothing else")
    own = parser.add_argument_group(f"of {activity.id}") if activity.choices else parser
    for each in activity.choices:
        does = each.does.replace("%", "%%")  # which argparse takes for a field of its own
        if isinstance(each.default, bool):
            own.add_argument(f"--{each.name}", action=argparse.BooleanOptionalAction, default=each.default, help=does)
        else:
            told = f"{does} ({str(each.default).replace('%', '%%')})".replace(" ()", "")
            own.add_argument(f"--{each.name}", type=type(each.default), default=each.default, metavar="X", help=told)
    return parser.parse_args(arguments)


def _can_be_written(json_file: str | None) -> None:
    """Raise `UsageError` where the figures could not be written: better before a long training than after it."""
    if json_file is None or json_file == "-":
        return
    file = Path(json_file)
    if file.is_dir():
        raise UsageError(f"--json {json_file} is a folder, expected a file")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"--json {json_file}: there is no folder {file.parent}; make it first, or name another")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)


def _seed(text: str) -> int:
    """Return a number that torch can draw from, and from those a little above it."""
    try:
        number = int(text)
    except ValueError:
        number = LARGEST_SEED + 1
    if abs(number) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at most 18 digits")
    return number


def _checked(course: Course, activity: Activity, submission: Submission, waiting: Waiting) -> "Report":
    wanted = {each.id for need in activity.needs for each in course.with_needs(course.exercise(need))}
    exercises = [each for each in course.exercises if each.id in wanted]
    return checked(course, exercises, submission, seed=course.seed, on_progress=waiting.on_progress)


def _refused(
    screen: Screen, course: Course, wrong: Sequence["ExerciseResult"], own: argparse.Namespace, status: int
) -> int:
    """Say which exercise is in the way, and what to do."""
    first, *others = wrong
    exercise = course.exercise(first.id)
    screen.text(f"{exercise.number} {exercise.title}: {_finding(first)}", indent=0, style="red")
    if others:
        named = ", ".join(course.exercise(each.id).number for each in others)
        screen.text(f"Not right either: {named}.", indent=0)
    screen.gap()
    where = f" --submission {own.submission}" if own.submission is not None else ""
    screen.next([(f"course check {exercise.number}{where}", "what is wrong, and where")])
    return status


def _finding(result: "ExerciseResult") -> str:
    """Return in one line why an exercise is not right."""
    from autograder.report.words import STATES

    failure = result.first_failure
    if failure is not None and failure.finding is not None and result.status != "not_started":
        return failure.finding.message
    return STATES[result.status].meaning


def _run(
    course: Course,
    activity: Activity,
    options: argparse.Namespace,
    own: argparse.Namespace,
    wrong: Sequence["ExerciseResult"],
) -> int:
    """Run the activity in a process of its own: whatever a student's code does, this one can say what came of it."""
    common = ("device", "seed", "steps", "say", "fresh", "anyway", "json")
    request = {
        **{name: getattr(own, name) for name in common},
        "root": str(course.root),
        "activity": activity.id,
        "submission": str(own.submission) if own.submission is not None else None,
        "plain": options.plain,
        "color": False if options.no_color else None,
        "wrong": [[each.id, _finding(each)] for each in wrong],
        "options": {each.name: getattr(own, each.name.replace("-", "_")) for each in activity.choices},
    }
    sys.stdout.flush()
    status = _status_of([sys.executable, "-P", str(PROGRAM), json.dumps(request)])
    asked = ending.asked() or -status
    if asked in set(ending.SIGNALS) - {signal.SIGINT} or (status < 0 and asked in ending.SIGNALS):
        return 128 + asked
    if status >= 0:
        return status
    name = signal.Signals(-status).name if -status in {each.value for each in signal.Signals} else str(-status)
    why = "there was not enough memory, or somebody ended it" if name == "SIGKILL" else "the libraries below it failed"
    print(f"course: {activity.id} was ended by {name}: {why}; run it again, it goes on where it was", file=sys.stderr)
    return ENVIRONMENT


def _status_of(command: Sequence[str]) -> int:
    """Run the process that trains; it answers a signal itself: it keeps its checkpoint, and says how to go on."""
    process = ending.started(lambda: subprocess.Popen(command))

    def stop(number: int) -> None:
        if number == signal.SIGINT:  # Ctrl-C reaches both processes, but `kill -INT` only this one
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(CTRL_C_SECONDS)
        process.terminate()

    with ending.by_itself(stop):
        status = process.wait()
    ending.forget(process)
    return status


__all__ = ["play"]
