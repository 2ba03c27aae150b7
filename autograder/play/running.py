"""Run one activity: its streams, the student's modules, and a sentence for every way to end."""

import ast
import contextlib
import importlib
import importlib.util
import io
import json
import os
import signal
import sys
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

import torch

from autograder.course import (
    Activity,
    Course,
    CourseError,
    UsageError,
    new_notes,
    parts_of_others,
    read_course,
    read_plain,
    require,
    state_folder,
)
from autograder.ending import ENVIRONMENT, FAIL, GRADER, INTERRUPTED, PASS, SIGNALS, USAGE
from autograder.progress import write_json
from autograder.report import one_line, plural, report_console
from autograder.submission import Submission, read_own
from autograder.worker import Sources, build

from .stage import SEED, Checkpoint, CheckpointError, FaultyExercise, Stage, Stopped, digest

# Stop an activity at Ctrl-C, or at a signal from `course play`: after a step, with its checkpoint saved.

INTERRUPTED_STATUS = 128 + signal.SIGINT


class Stopping:
    """Makes a signal set an event, and a second Ctrl-C end the process at once.

    Other second signals are ignored: `course play` sends SIGTERM after a Ctrl-C that both processes may have got, and
    kills this one if it takes too long.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._is_stopping = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Stopping":
        self._before = {number: signal.signal(number, self._set) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handlers; after a first signal, a second Ctrl-C must still end the process."""
        if self._is_stopping:
            return
        for number, before in self._before.items():
            signal.signal(number, before)

    def _set(self, number: int, _frame: FrameType | None) -> None:
        """Set the event and write, no more: the interrupted code may hold a lock. Files are whole at any moment."""
        if not self._is_stopping:
            self._is_stopping = True
            self._stop.set()
            os.write(2, b"\ncourse: stopping after this step; press Ctrl-C again to stop at once\n")
        elif number == signal.SIGINT:
            os._exit(INTERRUPTED_STATUS)


MOST_PRINTED = 4000
"""Characters. Only the first line is shown."""

MOST_THREADS = 4
"""The models are small: more threads only wait for each other."""


class CapturedOutput(io.TextIOBase):
    """Captures what a student's code prints, which would tear up the screen: the beginning, and a count of lines."""

    def __init__(self) -> None:
        self.text = ""
        self.lines = 0

    def writable(self) -> bool:
        """Return True: it is a stream to write to."""
        return True

    def write(self, text: str) -> int:
        """Keep the first characters of the output, and count all lines."""
        self.text += text[: MOST_PRINTED - len(self.text)]
        self.lines += text.count("\n")
        return len(text)

    def fileno(self) -> int:
        """Return the program's own stdout: rich redirects it when its reader has gone."""
        return 1


def main(request: str) -> NoReturn:
    """Run the requested activity, and exit with its status."""
    status = run(json.loads(request))
    for note in new_notes():
        print(f"course: {note}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)  # unloading torch can take seconds, in which a signal would look like a crash


def run(request: Mapping[str, Any]) -> int:
    """Run an activity. Return its status, after a sentence if that is not 0."""
    try:
        course = read_course(Path(request["root"]))
        torch.set_num_threads(min(torch.get_num_threads(), MOST_THREADS))
        torch.zeros(1, device=request["device"])
    except CourseError as error:
        return _fail(ENVIRONMENT, str(error))
    except (RuntimeError, AssertionError) as error:
        reason = (str(error).splitlines() or [""])[0]
        sentence = f"the device {request['device']} cannot be used here ({reason}); leave --device out to use the CPU"
        return _fail(ENVIRONMENT, sentence)
    submission = read_own(course, folder=Path(request["submission"]) if request["submission"] else None)
    stdout, stderr = sys.stdout, sys.stderr
    stage = _stage(course, submission, request, io.StringIO() if request["json"] == "-" else stdout)
    captured = CapturedOutput()
    sources = Sources(submission.sources, parts_of_others(course))
    try:
        sys.stdout = sys.stderr = captured
        if not stage.activity.milestones:
            sources.install()
        with Stopping(stage.stop):
            status, figures = _play(stage, request, sources, stderr)
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    if captured.lines:
        first = one_line(captured.text.strip().partition("\n")[0])[:100]
        stage.print(f"Your code printed {plural(captured.lines, 'line')}, hidden here. The first: {first}")
    if figures is not None:
        data = {"activity": request["activity"], "wrong": [list(fault) for fault in stage.faults], "figures": figures}
        try:
            write_json(request["json"], data)
        except OSError as error:
            return _fail(ENVIRONMENT, f"the figures cannot be written to {request['json']}: {error.strerror or error}")
    return status


def _play(
    stage: Stage, request: Mapping[str, Any], sources: Sources, stderr: TextIO
) -> tuple[int, dict[str, Any] | None]:
    """Return the status, and the figures of an activity that came to its end."""
    again = "the same command without --fresh" if request["fresh"] else "the same command"
    try:
        if request["fresh"]:
            stage.checkpoint.remove()
        torch.manual_seed(stage.seed)
        activity = _activity(stage.course, stage.activity.id)
        return PASS, activity.play(stage)
    except FaultyExercise as error:
        return _report_faulty(stage, error.exercise, str(error)), None
    except Stopped:
        stage.print(f"Stopped. The training so far is saved. Next: {again} goes on from here.", "yellow")
        return INTERRUPTED, None
    except KeyboardInterrupt:
        return INTERRUPTED, None
    except (CheckpointError, UsageError) as error:
        return _fail(USAGE, str(error), stderr), None
    except torch.cuda.OutOfMemoryError:
        return _fail(ENVIRONMENT, f"{stage.device} does not have enough memory; try --device cpu", stderr), None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _fail(ENVIRONMENT, f"{error.strerror or error}{where}", stderr), None
    except Exception as error:
        return _report_exception(stage, error, sources, stderr), None


def _report_faulty(stage: Stage, id_: str, message: str) -> int:
    exercise = stage.course.exercise(id_)
    stage.print(f"{exercise.number} {exercise.title}: {message}", "red")
    stage.print(f"Next: course check {exercise.number}", "cyan")
    return FAIL


def _report_exception(stage: Stage, error: Exception, sources: Sources, stderr: TextIO) -> int:
    """Print an exception with the student's line, or the exercise that probably caused it. Return the status."""
    from autograder.worker import describe  # only for a failure

    fault = describe(error, sources.names)
    text = f"{fault['type']}: {one_line(fault['message'])[:200]}"
    if fault["frames"]:
        place = fault["frames"][-1]
        exercise = place["file"].removesuffix(".py")
        numbers = {known.id: known.number for known in stage.course.exercises}
        stage.print(f"{place['file']}, line {place['line']}: your code raised {text}", "red")
        stage.print(f"Next: course check {numbers.get(exercise, exercise)}", "cyan")
        return FAIL
    if stage.faults:  # with --anyway: most likely one of them is the cause
        named = next((exercise for exercise, _ in stage.faults if exercise in text), stage.faults[0][0])
        return _report_faulty(stage, named, f"this exercise fails, and the activity cannot go on: {text}")
    return _fail(GRADER, f"{stage.activity.id} itself failed ({text}); please report it", stderr)


def _fail(status: int, sentence: str, stream: TextIO | None = None) -> int:
    print(f"course: {sentence}", file=stream or sys.stderr)
    return status


def _stage(course: Course, submission: Submission, request: Mapping[str, Any], stdout: TextIO) -> Stage:
    activities = {activity.id: activity for activity in course.play}
    folder = state_folder(course.root, "play")

    def checkpoint_of(name: str) -> Checkpoint:
        file = name if request["submission"] is None else f"{name}-{submission.student}"
        return Checkpoint(folder / f"{file}.pt", _made_by(course, activities[name], submission, request["seed"]))

    console = report_console(plain=request["plain"], color=request["color"])
    console.file = stdout  # the console must keep this stream while sys.stdout is replaced
    return Stage(
        course=course,
        activity=activities[request["activity"]],
        console=console,
        stdout=stdout,
        checkpoint=checkpoint_of(request["activity"]),
        checkpoint_of=checkpoint_of,
        device=request["device"],
        seed=request["seed"],
        steps=request["steps"],
        say=request["say"],
        options=request["options"],
        plain=request["plain"],
        anyway=request["anyway"],
        stop=threading.Event(),
        faults=[(exercise, message) for exercise, message in request["wrong"]],
        passing=request.get("own", ()),
        use=PartsInPlace(course, activities[request["activity"]], submission.sources).use,
    )


class PartsInPlace:
    """Makes exercises importable: some as the student's files, the others as reference parts.

    A part is compiled with copies of the earlier parts that it calls. Here it calls the modules of those exercises
    instead, so that a student's attention runs inside the reference model.
    """

    def __init__(self, course: Course, activity: Activity, files: Mapping[str, bytes]) -> None:
        self._course, self._exercises, self._files = course, course.used_by(activity), files
        self._installed = Sources({}, {})

    def use(self, own: Collection[str]) -> None:
        """Take these exercises of the student's, and no others. Raises OSError, and what their import raises."""
        self._installed.uninstall()
        replaced = {exercise.file: b"" for exercise in self._exercises if exercise.id not in own}
        sources = self._installed = Sources({**self._files, **replaced}, {})
        sys.meta_path.insert(0, sources)
        owners: dict[str, str] = {}
        for exercise in self._exercises:
            table = json.loads(read_plain(self._course.reference_parts_dir / f"{exercise.id}.json"))
            if exercise.id not in own:
                names = [table["pool"][name] for _, name, *_ in table["items"]]
                for entry in table["pool"]:  # `[number]` of an item becomes `["ex05_attention.name"]`
                    if isinstance(entry, list) and isinstance(entry[0], int) and names[entry[0]] in owners:
                        entry[0] = owners[names[entry[0]]]
                sources.parts[exercise.file] = build(json.dumps(table).encode(), exercise.id)
            owners.update({name: f"{exercise.id}.{name}" for name in table["exports"]})


def _made_by(course: Course, activity: Activity, submission: Submission, seed: int) -> dict[str, str]:
    """Return digests of what a training depends on: the student's files, the activity's code and data, the seed."""
    needed = {exercise.file for id_ in activity.needs for exercise in course.with_needs(course.exercise(id_))}
    made_by = {file: _digest(source) for file, source in submission.sources.items() if file in needed}
    for file in sorted(path for path in course.play_dir.rglob("*") if path.suffix in (".py", ".toml")):
        name = file.relative_to(course.root).as_posix()
        if "/." not in name and file.is_file():
            made_by[name] = _digest(read_plain(file))
    return {**made_by, SEED: str(seed)}


def _digest(source: bytes) -> str:
    """Return a digest of what a source does: comments and white space do not count."""
    try:
        return digest(ast.dump(ast.parse(source)).encode())
    except (SyntaxError, ValueError, RecursionError):
        return digest(source)


def _activity(course: Course, name: str) -> Any:
    """Return the module play/NAME.py of a course. It is in the package `play`, even if another one has that name."""
    require(course.root)
    folder = course.play_dir
    spec = importlib.util.spec_from_file_location(
        "play", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None or not (folder / f"{name}.py").is_file():
        raise FileNotFoundError(2, "an activity of course.toml has no file", str(folder / f"{name}.py"))
    package = importlib.util.module_from_spec(spec)
    sys.modules["play"] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"play.{name}")
