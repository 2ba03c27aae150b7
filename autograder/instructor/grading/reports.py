"""Report files: written whole, sealed with a digest of their result, and read back only if the seal fits."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.learner.progress import write_whole
from autograder.results import ExerciseResult, Report
from autograder.results.reading import from_json

LEVELS_IN_LINES = 4
"""In a report's file each check of each exercise has a line of its own."""


@dataclass(frozen=True)
class Stored:
    """A report as it lies in its file.

    `run` is the digest of everything it depends on, `exercises` has one for each exercise, points left out; `result` is
    the digest of all it says but how long things took.
    """

    report: Report
    run: str
    exercises: Mapping[str, str]

    @property
    def failed(self) -> bool:
        """Whether the grader failed on some of it, so that there is no mark to trust."""
        return "grader_error" in self.report.statuses

    def text(self) -> str:
        """Return the JSON of the file."""
        data = {**self.report.to_json(), "run": {"digest": self.run, "exercises": dict(self.exercises)}}
        data["run"]["result"] = result_digest(data)
        return _json(data, LEVELS_IN_LINES) + "\n"


def _json(value: Any, levels: int, indent: str = "\n") -> str:
    """Return JSON with so many levels in lines of their own; the encoder's own indent is many times slower."""
    if not levels or not value or not isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent} "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_json(inner, levels - 1, inner)}" for key, inner in value.items()]
    else:
        lines = [_json(inner, levels - 1, inner) for inner in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}{inner}{f',{inner}'.join(lines)}{indent}{last}"


def write_stored(file: Path, stored: Stored) -> None:
    """Write a report whole or not at all. Raises OSError that names the file."""
    write_file(file, stored.text())


def write_file(file: Path, text: str) -> None:
    """Write a file to the disk, whole or not at all, if it says something new. Raises OSError that names it."""
    try:
        if file.is_file() and file.read_bytes() == text.encode():
            return
        write_whole(file, text, durable=True)
    except OSError as error:
        error.filename = str(file)
        raise


def read_stored(file: Path) -> Stored | None:
    """Return the report in a file; None where there is none, or one that is damaged or was changed."""
    try:
        return stored_in(file.read_bytes())
    except OSError:
        return None


def stored_in(text: bytes) -> Stored | None:
    """Return the report in the bytes of a file; None where they are no whole, unchanged report."""
    try:
        data = json.loads(text)
        run = data["run"]
        if run.pop("result") != result_digest(data):
            return None
        return Stored(from_json(data), run["digest"], dict(run["exercises"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def result_digest(data: Mapping[str, Any]) -> str:
    """Return the digest of a report's JSON without its seconds: equal results have equal digests."""
    exercises = [
        {**exercise, "checks": [{**check, "seconds": 0} for check in exercise["checks"]]}
        for exercise in data["exercises"]
    ]
    text = json.dumps({**data, "exercises": exercises}, sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def repointed(result: ExerciseResult, points: Mapping[str, int]) -> ExerciseResult:
    """Return a result as it is when its checks are worth these hundredths: a verdict does not depend on them."""
    checks = tuple(
        replace(
            check,
            score=points[check.id] if check.status == "pass" else 0,
            max_score=0 if check.bonus else points[check.id],
        )
        for check in result.checks
    )
    score, most = sum(check.score for check in checks), sum(check.max_score for check in checks)
    return replace(result, score=score, max_score=most, checks=checks)


def without_checks(report: Report) -> Report:
    """Return what of a report makes a row of a table."""
    return replace(report, exercises=tuple(replace(exercise, checks=()) for exercise in report.exercises), log="")
