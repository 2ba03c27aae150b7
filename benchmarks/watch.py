"""The response time of `course watch` after a save, compared with a cold pytest run of the same checks.

    python benchmarks/watch.py
    python benchmarks/watch.py --editor   # also from a save to the diagnostics of `course lsp`

It copies the course, lets the real program watch an exercise in a terminal of its own, and saves right and wrong
programs in turn, as an editor does. Both times run from the moment the file is put in place to the moment the terminal
has the line. Needs a system with pseudo-terminals.
"""

import argparse
import fcntl
import os
import platform
import pty
import re
import select
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS, COLUMNS = 45, 100
SEEN, ANSWERED = b" changed, ", re.compile(rb"checked in [0-9.]+ s")
SCREEN = b"\x1b[H"
"""What begins a screen: the one before shows the verdict on the program before."""

PATIENCE = 300.0


@dataclass(frozen=True)
class Answer:
    """Seconds from a save to the line that it was seen, and to the end of the verdict."""

    seen: float
    verdict: float
    passes: bool


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, command: Sequence[str], folder: Path, env: dict[str, str]) -> None:
        self._main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            command, cwd=folder, env=env, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
        )
        os.close(terminal)

    def answer(self, since: float, *, since_save: bool = True) -> Answer:
        """Read until the next verdict is whole, and return when its parts came."""
        text, seen = b"", 0.0
        while not ANSWERED.search(text):
            if not select.select([self._main], [], [], PATIENCE)[0]:
                raise SystemExit(f"no verdict after {PATIENCE:.0f} s:\n{text.decode('utf-8', 'replace')}")
            text += os.read(self._main, 1 << 16)
            if not seen and SEEN in text:
                seen = time.perf_counter() - since
        if since_save and not seen:
            raise SystemExit(f"no figure, for the save was not announced:\n{text.decode('utf-8', 'replace')}")
        return Answer(seen, time.perf_counter() - since, b"PASS" in text.rpartition(SCREEN)[2])

    def rest(self, seconds: float) -> None:
        """Wait until the next worker is warm: all processes have been idle for so long, where the system reports it."""
        before = None
        while (now := self._family_ticks()) != before:
            before = now
            time.sleep(seconds)

    def _family_ticks(self) -> dict[str, int]:
        """Return the processor time of the workers; nothing where the system does not report it."""
        own = self.process.pid
        try:
            children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
            return {child: _ticks(child) for child in children}
        except OSError:
            return {}

    def idle(self, seconds: float) -> float | None:
        """Return the share of a core the program takes while nothing happens; None if that is unknown."""
        try:
            before = _ticks(self.process.pid)
            time.sleep(seconds)
            return (_ticks(self.process.pid) - before) / os.sysconf("SC_CLK_TCK") / seconds
        except OSError:
            return None

    def quit(self) -> None:
        """Press q, and read what is still written."""
        os.write(self._main, b"q")
        while self.process.poll() is None:
            if select.select([self._main], [], [], 0.1)[0]:
                try:
                    os.read(self._main, 1 << 16)
                except OSError:
                    break
        self.process.wait()
        os.close(self._main)


def _ticks(pid: int | str) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def main() -> None:
    """Measure, and print the figures."""
    options = _options()
    env = {
        **os.environ,
        "COURSE_TRUST": "1",  # the course is a copy of this one
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }
    with tempfile.TemporaryDirectory(prefix="course-watch-") as folder:
        course = _copy(Path(folder))
        right = course / "solutions" / f"{options.exercise}.py"
        programs = [right.read_text("utf-8"), _wrong(course, options.exercise)]
        print(_machine(), flush=True)
        _measure_watch(course, options, programs, env)
        if options.editor:
            _measure_editor(course, options, programs)
        _measure_pytest(course, options, programs, env)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How soon course watch answers a save.")
    parser.add_argument("--exercise", default="ex06_multi_head_attention", metavar="EX")
    parser.add_argument("--saves", type=int, default=50, metavar="N")
    parser.add_argument("--pause", type=float, default=1.0, metavar="S", help="seconds of idleness before a save")
    parser.add_argument("--cold", type=int, default=6, metavar="N", help="runs of pytest")
    parser.add_argument("--editor", action="store_true", help="measure course lsp too")
    return parser.parse_args()


def _copy(folder: Path) -> Path:
    """Return a course of whose exercises all are solved, with nothing kept from before."""
    for name in ("solutions", "tests/exercises"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "course.toml", folder)
    (folder / "exercises").mkdir()
    for file in (folder / "solutions").glob("ex*.py"):
        shutil.copy(file, folder / "exercises")
    return folder


def _wrong(course: Path, exercise: str) -> str:
    """Return the first misconception of the catalogue."""
    from autograder.answer_key import patched, read_catalogue

    solution = (course / "solutions" / f"{exercise}.py").read_text("utf-8")
    return patched(solution, read_catalogue(course / "solutions" / "misconceptions" / f"{exercise}.toml", solution)[0])


def _save(course: Path, exercise: str, program: str) -> float:
    """Replace the file by a program atomically, and return the time."""
    file = course / "exercises" / f"{exercise}.py"
    written = file.with_suffix(".tmp")
    written.write_text(program, "utf-8")
    at = time.perf_counter()
    written.replace(file)
    return at


def _measure_watch(course: Path, options: argparse.Namespace, programs: list[str], env: dict[str, str]) -> None:
    terminal = Terminal([sys.executable, "-m", "autograder", "watch", options.exercise], course, env)
    started = time.perf_counter()
    first = terminal.answer(started, since_save=False)
    second = terminal.answer(_save(course, options.exercise, programs[1]))
    if not first.passes or second.passes:
        raise SystemExit("no figure, for the first right or the first wrong program got the wrong verdict")
    print(f"first verdict {first.verdict:.1f} s after the start; the first wrong one, with the answer keys of all")
    print(f"  misconceptions still to be made, after {second.verdict:.1f} s")
    answers = []
    for number in range(options.saves):
        terminal.rest(options.pause)
        right = number % 2 == 0
        answer = terminal.answer(_save(course, options.exercise, programs[not right] + "\n" * (number + 1)))
        if answer.passes != right:
            raise SystemExit(f"no figure, for save {number + 1} got the wrong verdict")
        answers.append(answer)
    idle = terminal.idle(5.0)
    terminal.quit()
    print(f"{options.saves} saves of {options.exercise}, right and wrong in turn, each when the next worker is warm")
    _show("seen", [answer.seen for answer in answers])
    _show("verdict", [answer.verdict for answer in answers])
    _show("  PASS", [answer.verdict for answer in answers if answer.passes])
    _show("  FAIL", [answer.verdict for answer in answers if not answer.passes])
    if idle is not None:
        print(f"  idle            {idle:.1%} of a core")
    options.verdict = statistics.median(answer.verdict for answer in answers)


def _measure_editor(course: Path, options: argparse.Namespace, programs: list[str]) -> None:
    """Measure from a save to the first diagnostics that follow it: those of the proof come later."""
    sys.path.insert(0, str(ROOT))
    from tests.support.editing import Editor

    file, took = f"{options.exercise}.py", []
    _save(course, options.exercise, programs[1])
    with Editor(course) as editor:
        editor.open(file)
        if not editor.next_diagnostics():
            raise SystemExit("no figure, for the wrong program has no diagnostic")
        for number in range(options.saves):
            time.sleep(max(options.pause, 3.0))  # until shapes are found and the next worker is warm
            while not editor.diagnostics.empty():
                editor.next_diagnostics()
            right = number % 2 == 0
            started = time.perf_counter()
            editor.save(programs[not right] + "\n" * (number + 1), file, version=number + 2)
            if bool(editor.next_diagnostics()) == right:
                raise SystemExit(f"no figure, for save {number + 1} got the wrong verdict")
            took.append(time.perf_counter() - started)
        editor.quit()
    print(f"{options.saves} saves in an editor, until its diagnostics come")
    _show("verdict", took)
    print(f"the median in an editor is {statistics.median(took) / options.verdict:.2f} × that of watch")


def _measure_pytest(course: Path, options: argparse.Namespace, programs: list[str], env: dict[str, str]) -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"tests/exercises/test_{options.exercise}.py",
    ]
    took = []
    for number in range(options.cold):
        _save(course, options.exercise, programs[number % 2])
        started = time.perf_counter()
        done = subprocess.run(command, cwd=course, env=env, capture_output=True, text=True, check=False)
        took.append(time.perf_counter() - started)
        if done.returncode != number % 2:
            raise SystemExit(f"no figure, for pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    print(f"{options.cold} cold runs of pytest on the same checks")
    _show("verdict", took)
    print(f"the median of pytest is {statistics.median(took) / options.verdict:.1f} × that of watch")
    print(f"load average at the end {os.getloadavg()[0]:.1f}")


def _show(what: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    if not ordered:
        return
    p95 = ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
    figures = {"min": ordered[0], "p50": statistics.median(ordered), "p95": p95, "max": ordered[-1]}
    print(f"  {what:<10}" + "".join(f"  {name} {value * 1000:6.0f} ms" for name, value in figures.items()))


def _machine() -> str:
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in ("torch", "pytest", "rich"))
    return (
        f"Python {platform.python_version()}, {versions}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
