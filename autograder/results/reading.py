"""A report read back from its JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.results.decoding import decode
from autograder.results.model import Report

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The exceptions of reading a report that is damaged or of another version."""


def read_report(file: Path) -> tuple[Report, Mapping[str, Any]] | None:
    """Return the report in a file and its whole JSON; None if it cannot be read."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return from_json(data), data
    except (OSError, *UNREADABLE):
        return None


def from_json(data: Mapping[str, Any]) -> Report:
    """Return the report of a JSON; raises one of `UNREADABLE` if it is not a report."""
    return decode(Report, data)
