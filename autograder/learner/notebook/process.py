"""Run a check in the process that judges, and wait for its answer."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from autograder.course import Course, Exercise
from autograder.results import Report
from autograder.results.reading import from_json
from autograder.submission.notebook import Notebook

PACKAGE = Path(__file__).parents[3]


class Problem(Exception):
    """The exercise could not be judged; the message is a sentence."""


def judge(
    course: Course,
    exercise: Exercise,
    book: Notebook | None,
    on_progress: Callable[[str], None],
    *,
    folder: Path | None = None,
    kept: bool = True,
    device: str = "cpu",
) -> tuple[Report, str]:
    """Return the report on an exercise, and a warning if the progress could not be saved, else "".

    `on_progress` gets a sentence on the answer key. `book` is the notebook as last run, if that counts. `folder` has
    the work if exercises/ does not. `kept` says whether to save the result as progress. Raises `Problem`.
    """
    live = {"source": book.source.decode("utf-8", "replace"), "cells": book.cells} if book else None
    where = str(folder) if folder else None
    asked = {"root": str(course.root), "exercise": exercise.id, "live": live, "folder": where, "kept": kept}
    request = json.dumps({**asked, "device": device})
    with tempfile.TemporaryFile() as errors:
        answer = _answer(course, request, errors, on_progress)
        if "report" in answer:
            return from_json(answer["report"]), str(answer["warning"])
        if "problem" in answer:
            raise Problem(str(answer["problem"]))
        errors.seek(0)
        last_line = errors.read()[-4000:].decode("utf-8", "replace").strip().split("\n")[-1]
    cause = f" ({last_line})" if last_line else ""
    raise Problem(f"the grader itself ended without a verdict{cause}; run the cell again")


def _answer(course: Course, request: str, errors: IO[bytes], on_progress: Callable[[str], None]) -> Mapping[str, Any]:
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.learner.notebook.judging"],
        cwd=course.root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        encoding="utf-8",
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request)
        process.stdin.close()
        answer: Mapping[str, Any] = {}
        for line in process.stdout:
            answer = _read(line)
            if "progress" in answer:
                done, total = answer["progress"]
                on_progress(f"Comparing with known mistakes: {done} of {total}, once per exercise.")
        return answer
    except BrokenPipeError:
        return {}
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _read(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
