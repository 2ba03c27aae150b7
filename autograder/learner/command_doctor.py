"""Examine this machine, and print a block to copy into a question.

Exit status: 3 if something must be fixed.
"""

import argparse
import contextlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from autograder import __version__, ending
from autograder.cli import PACKAGES, CommandParser, Screen, add_json
from autograder.course import (
    FOLDER,
    KEY_FOLDER,
    TENSORS,
    Course,
    CourseError,
    find_course,
    is_kit,
    key_file,
    read_course,
    state_folder,
)
from autograder.ending import ENVIRONMENT, PASS
from autograder.progress import write_json

# Examine this machine: its versions, the course, the folder for progress, and the terminal.

PYTHON, NEWEST = (3, 11), (3, 14)
"""The lowest version of Python, and the newest one that the tests have run with."""

LONGEST_IMPORT = 120.0
"""Seconds. A cold disk makes the import slow; one that takes longer than this hangs."""

_IMPORT = (
    "import torch; print(int(torch.ones(2).sum()), torch.__version__, torch.get_num_threads(),"
    " torch.cuda.is_available(), torch.backends.mps.is_available())"
)


@dataclass(frozen=True)
class Fact:
    """One property of this machine. `wrong` says what to do if the kit cannot work with it."""

    name: str
    found: str
    wrong: str = ""


def examine() -> Iterator[Fact]:
    """Yield the facts on this machine and on the course in the working folder."""
    yield Fact("course", __version__)
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    old = sys.version_info[:2] < PYTHON
    if sys.version_info[:2] > NEWEST:
        python += f", newer than {_dotted(NEWEST)}, the newest one that the kit was tested with"
    yield Fact("python", python, f"the kit needs Python {_dotted(PYTHON)} or later; install it" if old else "")
    yield Fact("platform", f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} cores")
    course, unreadable = _course()
    with_torch = course is None or course.computes_with_tensors
    for name, least in PACKAGES.items():
        if name != TENSORS or with_torch:
            yield _package(name, least)
    if with_torch:
        yield _torch()
    yield from _course_facts(course) if course is not None else [unreadable]
    yield from _terminal()


def _package(name: str, least: tuple[int, ...]) -> Fact:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        what = '".[torch]"' if name == TENSORS else "."
        return Fact(name, "not installed", f"run `pip install -e {what}` in the kit's folder")
    numbers = tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdecimal())
    return Fact(name, version, f"the kit needs {_dotted(least)} or later; upgrade it" if numbers < least else "")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _torch() -> Fact:
    """Import torch in a process of its own, as the checks do, and measure the time."""
    name = "torch import"
    started = time.perf_counter()
    try:
        done = ending.run([sys.executable, "-P", "-c", _IMPORT], LONGEST_IMPORT)
    except subprocess.TimeoutExpired:
        return Fact(name, "timed out", f"`import torch` did not end within {LONGEST_IMPORT:.0f} s; install torch again")
    except OSError as error:
        return Fact(name, "not started", f"this machine cannot start a process: {error.strerror}")
    seconds = time.perf_counter() - started
    words = done.stdout.split()
    if done.returncode or len(words) != 5 or words[0] != "2":
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return Fact(name, "failed", f"`import torch` fails: {last[:200]}{_remedy_of(done.stderr)}")
    _, version, threads, cuda, mps = words
    devices = ", ".join(["cpu", *(["cuda"] if cuda == "True" else []), *(["mps"] if mps == "True" else [])])
    return Fact(name, f"{version} in {seconds:.1f} s, {threads} threads, devices {devices}")


def _remedy_of(stderr: str) -> str:
    """Return what to do about a torch that cannot be imported."""
    if "DLL" in stderr:
        return "; install the libraries that it needs: https://aka.ms/vs/17/release/vc_redist.x64.exe"
    if "No module named" in stderr:
        return ""
    return "; install it again: pip install --force-reinstall --no-deps torch"


def _course() -> tuple[Course | None, Fact]:
    """Return the course, and the fact to show if there is none."""
    try:
        return read_course(find_course()), Fact("course.toml", "readable")
    except CourseError as error:
        return None, Fact("course.toml", "not found or not readable", str(error))


def _course_facts(course: Course) -> Iterator[Fact]:
    yield Fact("course.toml", f"{course.root / 'course.toml'}: {course.title}, {len(course.exercises)} exercises")
    exercises = sum((course.exercises_dir / file).is_file() for file in course.files)
    yield Fact("exercises", f"{exercises} of {len(course.exercises)} files in {course.exercises_dir.name}")
    solutions = sum((course.solutions_dir / file).is_file() for file in course.files)
    yield Fact("solutions", f"{solutions} of {len(course.exercises)} here")
    yield _writing(course)
    yield _answer_keys(course)
    if solutions:
        yield _sandbox(course)


def _writing(course: Course) -> Fact:
    try:
        with tempfile.TemporaryFile(dir=state_folder(course.root)) as stream:
            stream.write(b"written")
    except OSError as error:
        wrong = f"{FOLDER} cannot be written to ({error.strerror}), so progress is lost: make it a writable folder"
        return Fact("writing", f"not in {FOLDER}", wrong)
    return Fact("writing", f"{FOLDER} can be written to")


def _sandbox(course: Course) -> Fact:
    """Return how this machine confines submissions. It is no fault if it cannot: only `course grade` needs it."""
    from autograder.sandbox import IsolationError, open_isolation  # not before it is needed: it takes time to load

    try:
        with open_isolation({"plan": [], "libraries": list(course.libraries)}, 1) as isolation:
            return Fact("sandbox", isolation.sentence)
    except IsolationError as error:
        return Fact("sandbox", f"none, `course grade` would refuse: {error}")


def _answer_keys(course: Course) -> Fact:
    if is_kit(course):
        count = sum((course.root / key_file(exercise)).is_file() for exercise in course.exercises)
        wrong = f"unpack {KEY_FOLDER}/ from the kit again" if count < len(course.exercises) else ""
        return Fact("answer keys", f"{count} of {len(course.exercises)} came with this kit", wrong)
    size, whole, quick = 0, set(), set()
    with contextlib.suppress(OSError):
        for file in (course.root / FOLDER / "cache").iterdir():
            size += file.stat().st_size
            if file.suffix == ".key":
                whole.add(file.name.partition("-")[0])
            elif file.suffix == ".reference":
                quick.add(file.name.partition("-")[0])
    return Fact(
        "answer keys",
        f"{len(whole)} with known mistakes, {len(quick - whole)} without, {size / (1 << 20):.1f} MiB",
    )


def _terminal() -> Iterator[Fact]:
    encodings = [getattr(stream, "encoding", None) or "none" for stream in (sys.stdin, sys.stdout, sys.stderr)]
    yield Fact("encoding", f"stdin {encodings[0]}, stdout {encodings[1]}, stderr {encodings[2]}")
    size = shutil.get_terminal_size()
    kind = "a terminal" if sys.stdout.isatty() else "no terminal"
    yield Fact("terminal", f"{kind}, {size.columns} x {size.lines}, TERM={os.environ.get('TERM', '')}")
    yield Fact("colours", _colors())
    variables = ("NO_COLOR", "FORCE_COLOR", "ACCESSIBLE", "COLUMNS", "PYTHONUTF8", "PYTHONIOENCODING")
    settings = ", ".join(f"{name}={os.environ[name][:20]}" for name in variables if os.environ.get(name))
    yield Fact("wishes", settings or "none")


def _colors() -> str:
    try:
        from autograder.report import report_console  # rich, which other output does not need
    except ImportError:
        return "unknown, rich is missing"
    return report_console().color_system or "none"


def at_home(text: str) -> str:
    """Replace the home folder by `~`: its name is often a person's."""
    try:
        home = str(Path.home())
    except RuntimeError:  # nobody knows it
        return text
    return text.replace(home + os.sep, "~" + os.sep) if len(home) > 1 else text


# The command.


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the command. Exit with 3 if something must be fixed."""
    facts = list(examine())
    broken = [fact for fact in facts if fact.wrong]
    status = ENVIRONMENT if broken else PASS
    data = {"ok": not broken, "facts": {fact.name: fact.found for fact in facts}}
    if write_json(options.json, {**data, "wrong": {fact.name: fact.wrong for fact in broken}}):
        return status
    screen = Screen.of(options)
    width = max(len(fact.name) for fact in facts)
    if not screen.plain:
        screen.line("```text")
    for fact in facts:
        name = f"{fact.name}:" if screen.plain else fact.name.ljust(width + 1)
        screen.line(f"{name} {at_home(fact.found)}", ("  <- here" if fact.wrong else "", "red"))
    if not screen.plain:
        screen.line("```")
    for fact in broken:
        screen.text(f"{fact.name}: {at_home(fact.wrong)}", indent=0, style="red")
    if not broken:
        screen.text("Nothing is wrong here. To ask about a problem, copy the lines above.", indent=0, style="green")
    return status
