"""A report read back from its JSON."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.results.model import CheckResult, Evidence, ExerciseResult, Finding, Maps, Picture, Place, Report

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The exceptions of reading a file that is no report, or one of another version."""


def read_report(file: Path) -> tuple[Report, Mapping[str, Any]] | None:
    """Return the report in a file and its whole JSON; None where it cannot be read."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return from_json(data), data
    except (OSError, *UNREADABLE):
        return None


def from_json(data: Mapping[str, Any]) -> Report:
    """Return the report that a JSON was made from; raises one of `UNREADABLE` where there is none."""
    return Report(
        course=data["course"],
        submission=dict(data["submission"]),
        suite=data["suite"],
        device=data["device"],
        isolation=data["isolation"],
        exercises=tuple(_exercise(exercise) for exercise in data["exercises"]),
        log=data.get("log", ""),
        level=data.get("level", "L0"),
    )


def _exercise(data: Mapping[str, Any]) -> ExerciseResult:
    checks = tuple(_check(check) for check in data["checks"])
    return ExerciseResult(
        data["id"],
        data["title"],
        data["status"],
        data["score"],
        data["max_score"],
        checks,
        data["parts"],
        tuple(data.get("stood_in", ())),
        data.get("built"),
        tuple(_picture(picture) for picture in data.get("pictures", ())),
    )


def _check(data: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        data["id"],
        data["title"],
        data["status"],
        data["score"],
        data["max_score"],
        data["seconds"],
        _finding(data["finding"]) if data["finding"] else None,
        tuple(data["hints"]),
        data.get("bonus", False),
        data.get("output"),
    )


def _finding(data: Mapping[str, Any]) -> Finding:
    return Finding(
        data["kind"],
        data["id"],
        data["message"],
        data["name"],
        data["detail"],
        Place(**data["place"]) if data["place"] else None,
        tuple((number, line) for number, line in data["source"]),
        _evidence(data["evidence"]) if data["evidence"] else None,
        data.get("label"),
        tuple(data.get("agrees", ())),
        data.get("certain", True),
    )


def _evidence(data: Mapping[str, Any]) -> Evidence:
    maps = data.get("maps")
    return Evidence(
        data["name"],
        _rows(data["rows"]),
        _rows(data["witnesses"]),
        data.get("witness_title", Evidence.witness_title),
        data.get("axes", Evidence.axes),
        Maps(maps["caption"], _grid(maps["expected"]), _grid(maps["yours"])) if maps else None,
    )


def _picture(data: Mapping[str, Any]) -> Picture:
    return Picture(
        data["title"],
        _grid(data["values"]),
        data.get("rows", ""),
        data.get("columns", ""),
        tuple(data.get("row_labels", ())),
        tuple(data.get("column_labels", ())),
        data.get("bars", False) is True,
    )


def _grid(data: Any) -> tuple[tuple[float | None, ...], ...]:
    """Return rows of numbers; those that are not finite become None, whoever wrote the file."""
    return tuple(
        tuple(number if number is not None and math.isfinite(number) else None for number in row) for row in data
    )


def _rows(data: Any) -> tuple[tuple[str, str, str], ...]:
    return tuple((label, expected, yours) for label, expected, yours in data)
