"""Report files: written atomically with a digest of their result, and read back only if the digest matches."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.learner.progress import write_atomically
from autograder.results import ExerciseResult, Report
from autograder.results.reading import from_json

LEVELS_IN_LINES = 4
"""The levels of nesting with a line per item, so that each check of a report has a line of its own."""


@dataclass(frozen=True)
class Stored:
    """A report and the digests stored with it.

    `run` is the digest of everything the report depends on. `exercises` has a digest for each exercise, without its
    points. The file also has a digest of the result, without the seconds.
    """

    report: Report
    run: str
    exercises: Mapping[str, str]

    @property
    def failed(self) -> bool:
        """Whether the grader failed on a part of the submission, so that it has no score."""
        return "grader_error" in self.report.statuses

    def text(self) -> str:
        """Return the JSON of the file."""
        data = {**self.report.to_json(), "run": {"digest": self.run, "exercises": dict(self.exercises)}}
        data["run"]["result"] = result_digest(data)
        return _json(data, LEVELS_IN_LINES) + "\n"


def _json(value: Any, levels: int, indent: str = "\n") -> str:
    """Return JSON with a line per item in the first `levels`; the encoder's own indent is many times slower."""
    if not levels or not value or not isinstance(value, dict | list | tuple):
        return json.dumps(value)
    inner = f"{indent} "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_json(item, levels - 1, inner)}" for key, item in value.items()]
    else:
        lines = [_json(item, levels - 1, inner) for item in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}{inner}{f',{inner}'.join(lines)}{indent}{last}"


def write_stored(file: Path, stored: Stored) -> None:
    """Write a report atomically. Raises OSError that names the file."""
    write_file(file, stored.text())


def write_file(file: Path, text: str) -> None:
    """Write a file atomically and durably if its content is new. Raises OSError that names the file."""
    try:
        if file.is_file() and file.read_bytes() == text.encode():
            return
        write_atomically(file, text, durable=True)
    except OSError as error:
        error.filename = str(file)
        raise


def read_stored(file: Path) -> Stored | None:
    """Return the report in a file; None if it is missing, damaged or changed."""
    try:
        return stored_in(file.read_bytes())
    except OSError:
        return None


def stored_in(text: bytes) -> Stored | None:
    """Return the report in the bytes of a file; None if they are not a complete, unchanged report."""
    try:
        data = json.loads(text)
        run = data["run"]
        if run.pop("result") != result_digest(data):
            return None
        return Stored(from_json(data), run["digest"], dict(run["exercises"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def result_digest(data: Mapping[str, Any]) -> str:
    """Return the digest of a report's JSON without the seconds, so that equal results have equal digests."""
    exercises = [
        {**exercise, "checks": [{**check, "seconds": 0} for check in exercise["checks"]]}
        for exercise in data["exercises"]
    ]
    text = json.dumps({**data, "exercises": exercises}, sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def with_points(result: ExerciseResult, points: Mapping[str, int]) -> ExerciseResult:
    """Return a result with other points for its checks, in hundredths; verdicts do not depend on points."""
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
    """Return a report without checks and log, as tables need it."""
    return replace(report, exercises=tuple(replace(exercise, checks=()) for exercise in report.exercises), log="")
