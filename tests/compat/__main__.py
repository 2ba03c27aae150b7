"""Proves the kit at both ends of the versions that it supports.

    python -m tests.compat

For each end it makes an environment in build/compat from the versions pinned beside this file, proves the course there
(`course validate`), grades examples/class, and compares the marks with those of the environment that runs this. Exits
with 1 if an end fails. `PYTHON_OLD` and `PYTHON_NEW` name the interpreters if python3.11 and python3.14 are not found.
"""

import csv
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OUT = ROOT / "build" / "compat"
SHOWN = 2000
"""The last characters of a log that are printed if a command fails."""


@dataclass(frozen=True)
class End:
    """One end of the supported versions: `pins` names its file, `variable` what names its Python instead."""

    name: str
    python: str
    variable: str

    @property
    def pins(self) -> Path:
        return HERE / f"{self.name}.txt"

    @property
    def folder(self) -> Path:
        return OUT / self.name


ENDS = (End("oldest", "3.11", "PYTHON_OLD"), End("newest", "3.14", "PYTHON_NEW"))
COLUMNS = ("end", "Python", "torch", "NumPy", "validate", "class", "seconds")


class Failed(Exception):
    """What an end fails with, in a sentence."""


def main() -> int:
    """Prove both ends and print a table; return 1 if one fails."""
    try:
        own = marks(Path(sys.executable), OUT / "own")
    except Failed as failed:
        print(f"the marks to compare with cannot be had: {failed}", file=sys.stderr)
        return 1
    rows: list[tuple[str, ...]] = [COLUMNS]
    problems: list[str] = []
    for end in ENDS:
        row, problem = proved(end, own)
        rows.append(row)
        problems += [f"{end.name}: {problem}"] if problem else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def proved(end: End, own: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, ...], str]:
    """Return the row of an end, and what it fails with or an empty text."""
    found = {"end": end.name}
    try:
        python = environment(end, interpreter(end))
        found |= versions(python)
        started = time.monotonic()
        call([python, "-m", "autograder", "validate", "--plain"], end.folder / "validate.log")
        found["validate"] = "holds"
        if different := differences(own, marks(python, end.folder / "class")):
            raise Failed(f"{len(different)} marks differ: {'; '.join(different[:5])}")
        found["class"] = "same marks"
        found["seconds"] = f"{time.monotonic() - started:.0f}"
    except Failed as failed:
        first = next((column for column in ("validate", "class") if column not in found), "class")
        return tuple(found.get(column, "FAILED" if column == first else "-") for column in COLUMNS), str(failed)
    return tuple(found[column] for column in COLUMNS), ""


def interpreter(end: End) -> str:
    """Return the Python of an end. Raises `Failed` if there is none, or it has another version."""
    name = os.environ.get(end.variable) or f"python{end.python}"
    advice = f"install Python {end.python}, or name it: {end.variable}=/path/to/python{end.python} make compat"
    path = shutil.which(name)
    if path is None:
        raise Failed(f"{name} was not found; {advice}")
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
    if done.stdout.strip() != end.python:
        said = done.stdout.strip() or (done.stderr.strip().splitlines() or ["nothing"])[0]
        raise Failed(f"{name} is not Python {end.python} (it says: {said}); {advice}")
    return path


def environment(end: End, python: str) -> Path:
    """Make the environment of an end, unless it is there, and return its Python."""
    made, ready = end.folder / "bin" / "python", end.folder / "ready"
    wanted = "\n".join([python, end.pins.read_text("utf-8"), (ROOT / "pyproject.toml").read_text("utf-8")])
    if not ready.is_file() or ready.read_text("utf-8") != wanted:
        print(f"{end.name}: making {end.folder}; torch with CUDA takes gigabytes and minutes", flush=True)
        call([python, "-m", "venv", "--clear", end.folder])
        # the kit itself as well, so pip refuses versions that pyproject.toml does not admit
        call([made, "-m", "pip", "install", "--requirement", end.pins, "--editable", f"{ROOT}[torch]"])
        ready.write_text(wanted, "utf-8")
    return made


def versions(python: Path) -> dict[str, str]:
    """Return the versions of an environment by the heads of their columns."""
    program = "import platform, numpy, torch; print(platform.python_version(), torch.__version__, numpy.__version__)"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"torch cannot be imported: {done.stderr.strip()[-SHOWN:]}")
    return dict(zip(("Python", "torch", "NumPy"), done.stdout.split(), strict=True))


def marks(python: Path, out: Path) -> dict[str, dict[str, str]]:
    """Grade the class with a Python, and return the columns of its table by student.

    The seed is the public one: `course validate` has made its answer keys.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    confined = [] if shutil.which("bwrap") else ["--isolation", "process"]
    seed = tomllib.loads((ROOT / "course.toml").read_text("utf-8"))["seed"]
    command: list[str | Path] = [
        python,
        "-m",
        "autograder",
        "grade",
        "examples/class",
        "--take",
        "one",
        "--out",
        out,
        "--seed",
        str(seed),
        "--plain",
        *confined,
    ]
    call(command, out.with_suffix(".log"))
    with (out / "scores.csv").open(encoding="utf-8", newline="") as table:
        return {row["student"]: row for row in csv.DictReader(table)}


def differences(own: Mapping[str, Mapping[str, str]], other: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a sentence for every cell of the tables of two environments that differs."""
    found = []
    for student in sorted({*own, *other}):
        one, two = own.get(student, {}), other.get(student, {})
        columns = [column for column in {**one, **two} if one.get(column) != two.get(column)]
        found += [f"{student} has {two.get(column)} in {column}, here {one.get(column)}" for column in columns]
    return found


def call(command: Sequence[str | Path], log: Path | None = None) -> None:
    """Run a command from the project's folder; its output goes to the terminal, or to a log. Raises `Failed`."""
    if log is None:
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
    else:
        print(f"{' '.join(map(str, command))} > {log}", flush=True)
        with log.open("wb") as output:
            status = subprocess.run(command, cwd=ROOT, stdout=output, check=False).returncode
    if status != 0:
        said = f":\n{log.read_text('utf-8', 'replace')[-SHOWN:]}" if log else ""
        raise Failed(f"`{' '.join(map(str, command))}` ended with exit status {status}{said}")


if __name__ == "__main__":
    sys.exit(main())
