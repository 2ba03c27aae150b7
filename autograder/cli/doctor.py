"""`course doctor`: what this machine has and lacks, as a block of text to copy into a question."""

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
from autograder.cli.screen import Screen
from autograder.cli.written import write_json
from autograder.course import Course, CourseError, find_course, read_course
from autograder.course.handed_out import KEY_FOLDER, is_kit, key_file
from autograder.course.storage import own_folder
from autograder.exits import ENVIRONMENT, PASS
from autograder.learner.progress import FOLDER

PACKAGES = {"torch": (2, 4), "numpy": (1, 26), "rich": (13, 7), "pytest": (8, 0)}
"""What the kit needs, and from which version on."""

PYTHON = (3, 11)
LONGEST_IMPORT = 120.0

_IMPORT = (
    "import torch; print(int(torch.ones(2).sum()), torch.__version__, torch.get_num_threads(),"
    " torch.cuda.is_available(), torch.backends.mps.is_available())"
)


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at; `wrong` says what to do where the kit cannot work with it."""

    name: str
    found: str
    wrong: str = ""


def show_doctor(options: argparse.Namespace) -> int:
    """Run the command. It exits with 3 where something has to be mended."""
    facts = list(_facts())
    broken = [each for each in facts if each.wrong]
    status = ENVIRONMENT if broken else PASS
    data = {"ok": not broken, "facts": {each.name: each.found for each in facts}}
    if write_json(options, {**data, "wrong": {each.name: each.wrong for each in broken}}):
        return status
    screen = Screen.of(options)
    width = max(len(each.name) for each in facts)
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


def at_home(text: str) -> str:
    """Return a text in which the home folder is `~`: its name is often a person's."""
    home = str(Path.home())
    return text.replace(home + os.sep, "~" + os.sep) if len(home) > 1 else text


def _facts() -> Iterator[Fact]:
    yield Fact("course", __version__)
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    old = sys.version_info[:2] < PYTHON
    yield Fact("python", python, f"the kit needs Python {_dotted(PYTHON)} or later" if old else "")
    yield Fact("platform", f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} cores")
    for name, least in PACKAGES.items():
        yield _package(name, least)
    yield _torch()
    yield from _of_course()
    yield from _terminal()


def _package(name: str, least: tuple[int, ...]) -> Fact:
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Fact(name, "not installed", "install what the kit needs, in its folder: pip install -e .")
    numbers = tuple(int(each) for each in version.split("+")[0].split(".")[:2] if each.isdecimal())
    return Fact(name, version, f"the kit needs {_dotted(least)} or later" if numbers < least else "")


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _torch() -> Fact:
    """Import torch in a process of its own, as the checks do, and time it."""
    name = "torch import"
    begun = time.perf_counter()
    try:
        done = ending.run([sys.executable, "-P", "-c", _IMPORT], LONGEST_IMPORT)
    except subprocess.TimeoutExpired:
        return Fact(name, "not ended", f"torch was not imported within {LONGEST_IMPORT:.0f} s")
    except OSError as error:
        return Fact(name, "not begun", f"no process could be started: {error.strerror}")
    took = time.perf_counter() - begun
    words = done.stdout.split()
    if done.returncode or len(words) != 5 or words[0] != "2":
        last = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        return Fact(name, "failed", f"torch cannot be used: {last[:200]}")
    _, version, threads, cuda, mps = words
    devices = ", ".join(["cpu", *(["cuda"] if cuda == "True" else []), *(["mps"] if mps == "True" else [])])
    return Fact(name, f"{version} in {took:.1f} s, {threads} threads, devices {devices}")


def _of_course() -> Iterator[Fact]:
    try:
        course = read_course(find_course())
    except CourseError as error:
        yield Fact("course.toml", "not found or not readable", str(error))
        return
    yield Fact("course.toml", f"{course.root / 'course.toml'}: {course.title}, {len(course.exercises)} exercises")
    there = [each for each in course.exercises if (course.exercises_dir / each.file).is_file()]
    yield Fact("exercises", f"{len(there)} of {len(course.exercises)} files in {course.exercises_dir.name}")
    solutions = [each for each in course.exercises if (course.solutions_dir / each.file).is_file()]
    yield Fact("solutions", f"{len(solutions)} of {len(course.exercises)} here")
    yield _writing(course)
    yield _cache(course)
    if solutions:
        yield _sandbox()


def _writing(course: Course) -> Fact:
    try:
        with tempfile.TemporaryFile(dir=own_folder(course.root)) as stream:
            stream.write(b"written")
    except OSError as error:
        return Fact(
            "writing", f"not in {FOLDER}", f"{FOLDER} cannot be written to ({error.strerror}): progress is lost"
        )
    return Fact("writing", f"{FOLDER} can be written to")


def _sandbox() -> Fact:
    """Say how far this machine confines submissions. That it cannot is no fault for who only learns here."""
    from autograder.runner.sandbox.isolation import IsolationError, open_isolation

    try:
        with open_isolation({"plan": []}, 1) as isolation:
            return Fact("sandbox", isolation.sentence)
    except IsolationError as error:
        return Fact("sandbox", f"none, `course grade` would refuse: {error}")


def _cache(course: Course) -> Fact:
    if is_kit(course):
        there = sum((course.root / key_file(each)).is_file() for each in course.exercises)
        lost = f"take {KEY_FOLDER}/ out of the kit anew" if there < len(course.exercises) else ""
        return Fact("answer keys", f"{there} of {len(course.exercises)} came with this kit", lost)
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
    encodings = [getattr(each, "encoding", None) or "none" for each in (sys.stdin, sys.stdout, sys.stderr)]
    yield Fact("encoding", f"stdin {encodings[0]}, stdout {encodings[1]}, stderr {encodings[2]}")
    size = shutil.get_terminal_size()
    kind = "a terminal" if sys.stdout.isatty() else "no terminal"
    yield Fact("terminal", f"{kind}, {size.columns} x {size.lines}, TERM={os.environ.get('TERM', '')}")
    yield Fact("colours", _colors())
    wishes = ("NO_COLOR", "FORCE_COLOR", "ACCESSIBLE", "COLUMNS", "PYTHONUTF8", "PYTHONIOENCODING")
    asked = ", ".join(f"{each}={os.environ[each][:20]}" for each in wishes if os.environ.get(each))
    yield Fact("wishes", asked or "none")


def _colors() -> str:
    try:
        from autograder.report.console import make_console
    except ImportError:
        return "unknown, rich is missing"
    return make_console().color_system or "none"
