"""One run of an activity: its streams, the student's modules, and a sentence for whatever ends it."""

import ast
import contextlib
import importlib
import importlib.util
import io
import json
import os
import sys
import threading
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TextIO

import torch

from autograder.cli.written import write_json
from autograder.course import Course, CourseError, read_course
from autograder.course.model import Activity
from autograder.course.names import UsageError
from autograder.course.storage import own_folder
from autograder.course.trust import require
from autograder.exits import ENVIRONMENT, FAIL, GRADER, INTERRUPTED, PASS, USAGE
from autograder.learner.play.checkpoint import SEED, Checkpoint, CheckpointError, digest
from autograder.learner.play.stage import Astray, Stage, Stopped
from autograder.learner.play.stopping import Stopping
from autograder.report.console import make_console
from autograder.report.printable import one_line
from autograder.report.words import plural
from autograder.submission import Submission
from autograder.submission.own import read_own
from autograder.worker.sources import Sources

MOST_PRINTED = 4000
MOST_THREADS = 4
"""So many at most share the work of one step: the models that are trained here are small."""


class Printed(io.TextIOBase):
    """Takes what a student's code prints, which would tear up the screen: the beginning is kept, the lines counted."""

    def __init__(self) -> None:
        self.text = ""
        self.lines = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text[: MOST_PRINTED - len(self.text)]
        self.lines += text.count("\n")
        return len(text)

    def fileno(self) -> int:
        """Return the program's own output: rich turns it away where nobody reads it any more, and ends."""
        return 1


def main(request: str) -> NoReturn:
    """Run the activity that is asked for, and exit with its status."""
    status = run(json.loads(request))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)  # to take torch down takes seconds on a busy machine, in which a signal would look like a fault


def run(request: Mapping[str, Any]) -> int:
    """Run an activity; every end of it becomes a status and, but for a good one, a sentence."""
    try:
        course = read_course(Path(request["root"]))
        torch.set_num_threads(min(torch.get_num_threads(), MOST_THREADS))
        torch.zeros(1, device=request["device"])
    except CourseError as error:
        return _fail(ENVIRONMENT, str(error))
    except (RuntimeError, AssertionError) as error:
        first = (str(error).splitlines() or [""])[0]
        told = f"the device {request['device']} cannot be used here ({first}); leave --device out to use the CPU"
        return _fail(ENVIRONMENT, told)
    submission = read_own(course, folder=Path(request["submission"]) if request["submission"] else None)
    stdout = sys.stdout
    if request["json"] == "-":
        sys.stdout = io.StringIO()
    stage = _stage(course, submission, request, sys.stdout)
    printed = Printed()
    sources = Sources(submission.sources, {})
    errors = sys.stderr
    try:
        sys.stdout = sys.stderr = printed
        sources.install()
        with Stopping(stage.stop):
            status, figures = _played(stage, request, sources, errors)
    finally:
        sys.stdout, sys.stderr = stdout, errors
    if printed.lines:
        first = one_line(printed.text.strip().partition("\n")[0])[:100]
        stage.tell(f"Your code printed {plural(printed.lines, 'line')} meanwhile, not shown here. The first: {first}")
    if figures is not None:
        data = {"activity": request["activity"], "wrong": [list(each) for each in stage.wrong], "figures": figures}
        try:
            write_json(Namespace(json=request["json"]), data)
        except OSError as error:
            return _fail(ENVIRONMENT, f"the figures cannot be written to {request['json']}: {error.strerror or error}")
    return status


def _played(
    stage: Stage, request: Mapping[str, Any], sources: Sources, errors: TextIO
) -> tuple[int, dict[str, Any] | None]:
    """Return the status, and the figures of an activity that came to its end."""
    number = {each.id: each.number for each in stage.course.exercises}
    again = "the same command without --fresh" if request["fresh"] else "the same command"
    try:
        if request["fresh"]:
            stage.checkpoint.remove()
        torch.manual_seed(stage.seed)
        activity = _activity(stage.course, stage.activity.id)
        return PASS, activity.play(stage)
    except Astray as error:
        exercise = stage.course.exercise(error.exercise)
        stage.tell(f"{exercise.number} {exercise.title}: {error}", "red")
        stage.tell(f"Next: course check {exercise.number}", "cyan")
        return FAIL, None
    except Stopped:
        stage.tell(f"Stopped; what was learned so far is kept. Next: {again} goes on from here.", "yellow")
        return INTERRUPTED, None
    except KeyboardInterrupt:
        return INTERRUPTED, None
    except (CheckpointError, UsageError) as error:
        return _fail(USAGE, str(error), errors), None
    except torch.cuda.OutOfMemoryError:
        return _fail(ENVIRONMENT, f"{stage.device} has not enough free memory; try --device cpu", errors), None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _fail(ENVIRONMENT, f"{error.strerror or error}{where}", errors), None
    except Exception as error:
        from autograder.worker.faults import describe

        fault = describe(error, sources.names)
        told = f"{fault['type']}: {one_line(fault['message'])[:200]}"
        if not fault["frames"] and stage.wrong:
            first = next((each for each, _ in stage.wrong if each in told), stage.wrong[0][0])
            title = stage.course.exercise(first).title
            stage.tell(f"{number[first]} {title} is not right, and it cannot go on with that: {told}", "red")
            stage.tell(f"Next: course check {number[first]}", "cyan")
            return FAIL, None
        if not fault["frames"]:
            return _fail(GRADER, f"{stage.activity.id} itself failed ({told}); please report it", errors), None
        place = fault["frames"][-1]
        exercise = place["file"].removesuffix(".py")
        stage.tell(f"{place['file']}, line {place['line']}: your code raised {told}", "red")
        stage.tell(f"Next: course check {number.get(exercise, exercise)}", "cyan")
        return FAIL, None


def _fail(status: int, sentence: str, stream: TextIO | None = None) -> int:
    print(f"course: {sentence}", file=stream or sys.stderr)
    return status


def _stage(course: Course, submission: Submission, request: Mapping[str, Any], stdout: TextIO) -> Stage:
    activities = {each.id: each for each in course.play}
    folder = own_folder(course.root, "play")

    def checkpoint_of(name: str) -> Checkpoint:
        file = name if request["submission"] is None else f"{name}-{submission.student}"
        return Checkpoint(folder / f"{file}.pt", _made_by(course, activities[name], submission, request["seed"]))

    console = make_console(plain=request["plain"], color=request["color"])
    console.file = stdout  # which stays what it is when sys.stdout is another
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
        wrong=[(exercise, message) for exercise, message in request["wrong"]],
    )


def _made_by(course: Course, activity: Activity, submission: Submission, seed: int) -> dict[str, str]:
    """Return what a training of an activity depends on: the student's files, its own code and data, the seed."""
    needed = {each.file for need in activity.needs for each in course.with_needs(course.exercise(need))}
    made_by = {file: _digest(source) for file, source in submission.sources.items() if file in needed}
    for file in sorted(each for each in course.play_dir.rglob("*") if each.suffix in (".py", ".toml")):
        name = file.relative_to(course.root).as_posix()
        if "/." not in name and file.is_file():
            made_by[name] = _digest(file.read_bytes())
    return {**made_by, SEED: str(seed)}


def _digest(source: bytes) -> str:
    """Return a digest of what a source does: comments and white space are no part of it."""
    try:
        return digest(ast.dump(ast.parse(source)).encode())
    except (SyntaxError, ValueError, RecursionError):
        return digest(source)


def _activity(course: Course, name: str) -> Any:
    """Return the module play/NAME.py of a course; the folder is the package `play`, whatever else has that name."""
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
