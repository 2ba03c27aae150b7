"""The results of `course play translate` for right and wrong programs; with --activity write, of that activity.

    python benchmarks/play.py
    python benchmarks/play.py --activity write
    python benchmarks/play.py --activity chat

Trains the solutions, two right programs that are written differently, and ten misconceptions (none for `chat`). Each
of these is played as it is, which has to name its exercise, and then with --anyway. Where it does not, or calls a right
program wrong, there is no figure of it, and the status is 1. Options of the command may follow:

    python benchmarks/play.py --only solutions masks-padding-inverted --steps 600
"""

import argparse
import json
import math
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
VARIANTS = ("einsum_style", "plain_style")
ACCEPTED = ("first_variants", "second_variants")
"""For `chat`, whose exercises have no whole styles: the first or the second accepted variant of every exercise."""
TRANSLATE = (
    "masks-padding-inverted",
    "attention-not-scaled",
    "attention-mask-without-effect",
    "decoder-cross-missing",
    "decoder-positions-missing",
    "transformer-no-causal-mask",
    "transformer-softmax-in-forward",
    "batching-no-shift",
    "training-gradients-add-up",
    "translation-last-word-only",
)
WRITE = (
    "masks-look-ahead-upper",
    "attention-mask-without-effect",
    "attention-softmax-over-queries",
    "language-no-causal-mask",
    "language-positions-missing",
    "language-softmax-in-forward",
    "batching-no-shift",
    "training-gradients-add-up",
    "training-softmax-twice",
    "generation-first-position",
)
MISCONCEPTIONS = {"translate": TRANSLATE, "write": WRITE, "chat": ()}
SAY = {"translate": "how are you", "write": "Mira and the blue lamp", "chat": "Mira and the blue lamp"}


@dataclass(frozen=True)
class Ended:
    """How one run ended: its status, what it printed last, its figures, and seconds of the clock and of processors."""

    status: int
    output: str
    figures: Mapping[str, Any] | None
    seconds: float
    processor: float


def main() -> None:
    """Measure, and print a line for each."""
    options = _options()
    versions = ", ".join(f"{package} {metadata.version(package)}" for package in ("torch", "rich"))
    load = f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
    print(
        f"Python {platform.python_version()}, {versions}, {platform.system()} {platform.machine()}, {load}", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="course-play-") as name:
        course = _copy(Path(name))
        for which, wrong, sources in _programs(options.only, options.activity):
            folder = course / "submissions" / which
            folder.mkdir(parents=True)
            for file, source in sources.items():
                (folder / file).write_bytes(source)
            if wrong:
                refused = _played(course, folder, options.activity, options.rest)
                if refused.status != 1 or not refused.output.startswith(f"{wrong[2:4]} "):
                    raise SystemExit(f"no figure of {which}, for it was not refused for {wrong}: {refused.output}")
                print(f"{which}\n  {refused.output} ({refused.seconds:.0f} s)", flush=True)
            ended = _played(course, folder, options.activity, [*options.rest, *(["--anyway"] if wrong else [])])
            if problem := misjudged(ended, wrong):
                raise SystemExit(f"no figure of {which}: {problem}")
            _show(which, ended)


def misjudged(ended: Ended, wrong: str | None) -> str | None:
    """Return the problem of a run, of a program with a mistake in the exercise `wrong` or of a right one."""
    if ended.figures is None:
        return None if wrong else f"it did not get through, with status {ended.status}: {ended.output}"
    named = {exercise for exercise, _ in ended.figures["wrong"]}
    right = wrong in named if wrong else not named
    return None if right else f"{', '.join(sorted(named)) or 'nothing'} was called wrong"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How well right and wrong programs translate, write or chat.")
    parser.add_argument("--activity", choices=[*MISCONCEPTIONS], default="translate")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these: solutions, variants, misconceptions")
    options, rest = parser.parse_known_args()
    options.rest = rest  # goes to course play, as --steps 600
    return options


def _copy(folder: Path) -> Path:
    """Return a course with cached answer keys only, since their time is not measured."""
    for name in ("solutions", "tests/exercises", "play"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "course.toml", folder)
    (folder / "exercises").mkdir()
    if (ROOT / ".course" / "cache").is_dir():
        shutil.copytree(ROOT / ".course" / "cache", folder / ".course" / "cache")
    return folder


def _programs(only: Sequence[str] | None, activity: str) -> Iterator[tuple[str, str | None, dict[str, bytes]]]:
    """Yield the name of every program that is trained, its wrong exercise if it has one, and its files."""
    from autograder.answer_key import patched, read_catalogue

    wrong = MISCONCEPTIONS[activity]
    variants = ACCEPTED if activity == "chat" else VARIANTS
    solutions = {file.name: file.read_bytes() for file in sorted((ROOT / "solutions").glob("ex*.py"))}
    programs = {"solutions": solutions}
    exercises: dict[str, str] = {}
    for name in VARIANTS:
        folder = ROOT / "solutions" / "accepted" / "whole" / name
        programs[name] = {file.name: file.read_bytes() for file in sorted(folder.glob("ex*.py"))}
    for number, name in enumerate(ACCEPTED):
        programs[name] = {file: _accepted(file)[number].read_bytes() for file in solutions}
    for file, source in solutions.items():
        text = source.decode()
        for misconception in read_catalogue(ROOT / "solutions" / "misconceptions" / file.replace(".py", ".toml"), text):
            if misconception.id in wrong:
                programs[misconception.id] = {**solutions, file: patched(text, misconception).encode()}
                exercises[misconception.id] = file.removesuffix(".py")
    for name in only or ("solutions", *variants, *wrong):
        if name not in programs:
            raise SystemExit(f"no program is called {name!r}; there are {', '.join(programs)}")
        yield name, exercises.get(name), programs[name]


def _accepted(file: str) -> list[Path]:
    """Return the accepted variants of an exercise, by name."""
    return sorted((ROOT / "solutions" / "accepted" / file.removesuffix(".py")).glob("*.py"))


def _played(course: Path, folder: Path, activity: str, more: Sequence[str]) -> Ended:
    """Play one program, from the start."""
    out = folder.with_suffix(".json")
    out.unlink(missing_ok=True)
    command = [sys.executable, "-m", "autograder", "play", activity, "--submission", str(folder)]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [*command, "--plain", "--fresh", "--say", SAY[activity], "--json", str(out), *more],
        cwd=course,
        env={
            **os.environ,
            "COURSE_TRUST": "1",  # the course is a copy of this one
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures = json.loads(out.read_text("utf-8")) if out.is_file() else None
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("Next", "These do not pass"))]
    output = (lines or done.stderr.splitlines() or [""])[-1]
    return Ended(done.returncode, output, figures, time.monotonic() - started, processor)


def _show(which: str, ended: Ended) -> None:
    took = f"{ended.seconds:.0f} s with the checks, {ended.processor:.0f} s of processors"
    if ended.figures is None:
        print(f"{which}: no figures, status {ended.status}: {ended.output} ({took})", flush=True)
        return
    figures = ended.figures["figures"]
    if "rival" in figures:
        bits, rival = figures["nats"] / math.log(2), figures["rival"] / math.log(2)
        result = f"{figures['nats']:.3f} nats or {bits:.3f} bits a character, a 5-gram model {rival:.3f} bits"
    else:
        share = {name: figures[name] / figures["asked"] for name in ("unseen", "combined")}
        result = f"unseen {share['unseen']:.1%}, combined {share['combined']:.1%} of {figures['asked']} exact"
    print(f"{which}: {result} after {figures['steps']} steps, {figures['seconds']:.0f} s ({took})", flush=True)
    for exercise, message in ended.figures["wrong"]:
        print(f"  it says: {exercise}: {message}", flush=True)


if __name__ == "__main__":
    main()
