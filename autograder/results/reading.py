"""A report read back from its JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.formats import REPORT
from autograder.results.decoding import decode
from autograder.results.model import Report

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The exceptions of reading a report that is damaged or of another version."""


class UnknownFormat(ValueError):
    """A report of another format; the message is a sentence with both formats and what to do."""


def read_report(file: Path) -> tuple[Report, Mapping[str, Any]] | None:
    """Return the report in a file and its whole JSON; None if it is none. Raises `UnknownFormat`."""
    try:
        data = json.loads(file.read_text("utf-8"))
        return from_json(data), data
    except UnknownFormat:
        raise
    except (OSError, *UNREADABLE):
        return None


def from_json(data: Mapping[str, Any]) -> Report:
    """Return the report of a JSON; raises one of `UNREADABLE` if it is not a report."""
    if problem := REPORT.problem_of(data["schema"]):
        raise UnknownFormat(problem)
    return decode(Report, data)
