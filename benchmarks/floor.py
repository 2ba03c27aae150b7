"""The lower bound for grading: the probes of all checks on every submission, in a single warm process.

`grading.py` runs it with the folder of the submissions and the part of them it is to run, 1/2 say, as many at a time as
there are jobs: cores may share what they are made of. Nothing is confined, compared, judged or written. It prints the
processor seconds as JSON, and which probes came to an end: `grading.py` compares them with the checks that pass.
"""

import contextlib
import importlib
import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import plain_checks

from autograder.checks import Implementation

CPU_SECONDS = 3.0
"""The time that the course allows for a run of a check."""


def main() -> None:
    """Run the solutions once to warm up, then every submission."""
    part, parts = map(int, sys.argv[2].split("/"))
    folders = sorted(Path(sys.argv[1]).iterdir())[part - 1 :: parts]
    signal.signal(signal.SIGPROF, _out_of_time)
    submission(plain_checks.FOLDER / "course" / "solutions")
    started = time.process_time()
    ended = {folder.name: submission(folder) for folder in folders}
    json.dump({"cpu_seconds": time.process_time() - started, "ended": ended}, sys.stdout)


def submission(folder: Path) -> dict[str, list[str]]:
    """Run every probe on the files of a folder; return the checks whose probes came to an end, by exercise."""
    plain = plain_checks.loaded()
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    ended: dict[str, list[str]] = {exercise: [] for exercise in plain.points}
    for exercise in plain.points:
        with contextlib.suppress(Exception):
            implementation = Implementation(importlib.import_module(exercise))
            for check in plain.checks(exercise).values():
                with contextlib.suppress(Exception, OutOfTime):
                    try:
                        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS * check.trials)
                        list(plain.observations(exercise, check, implementation))
                        ended[exercise].append(check.id)
                    finally:
                        signal.setitimer(signal.ITIMER_PROF, 0)
    sys.path.remove(str(folder))
    for exercise in plain.points:
        sys.modules.pop(exercise, None)
    return ended


class OutOfTime(BaseException):
    """A probe used up its processor time."""


def _out_of_time(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTime


if __name__ == "__main__":
    main()
