"""Examine the reports after an attack: points gained, grader errors, and unsafe texts."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console

from autograder.gradebook import render_class, scores_csv
from autograder.report import glyphs_for, render_report
from autograder.results import Report

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


RAISED = "Your code raised "
"""How the message of an exception in the student's own code begins."""


def odd_json(text: str) -> set[str]:
    odd: list[str] = []
    json.loads(text, parse_constant=odd.append)
    return {f"{constant} in a report, which is not JSON" for constant in odd}


def gained(report: Report, alone: Sequence[Report]) -> int:
    """Return the hundredths above the honest program's, in each exercise."""
    honest = {exercise.id: exercise.score for exercise in alone[0].exercises}
    return sum(max(0, exercise.score - honest[exercise.id]) for exercise in report.exercises)


def exceptions_of(reports: Sequence[Report], exercise: str) -> frozenset[str]:
    """Return the types of the exceptions that a program's own code raised in an exercise."""
    findings = [
        check.finding
        for report in reports
        for result in report.exercises
        if result.id == exercise
        for check in result.checks
        if check.finding is not None
    ]
    return frozenset(one.id for one in findings if one.kind == "exception" and one.message.startswith(RAISED))


def not_graded(reports: Mapping[str, Sequence[Report]]) -> list[str]:
    return [
        f"{name}: {next(check.finding.detail for check in exercise.checks if check.finding) or exercise.status}"
        for name, found in reports.items()
        for report in found
        for exercise in report.exercises
        if exercise.status == "grader_error"
    ]


def without_times(reports: Sequence[Report]) -> str:
    """Return reports as text, without the seconds."""

    def steady(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: steady(item) for key, item in value.items() if key != "seconds"}
        return [steady(item) for item in value] if isinstance(value, list | tuple) else value

    return json.dumps([steady(report.to_json()) for report in reports])


def odd_texts(report: Report) -> set[str]:
    """Return the renderings in which a report is more than text."""
    found = set()
    for name, show in _RENDERINGS.items():
        if odd := STEERS.search(show(report)):
            found.add(f"{odd[0]!r} in the {name}")
    for row in csv.reader(io.StringIO(scores_csv([report], [exercise.id for exercise in report.exercises]))):
        if any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row):
            found.add("a formula in the table of scores")
    return found


def rendered(plain: bool, of_class: bool) -> Callable[[Report], str]:
    def render(report: Report) -> str:
        text = io.StringIO()
        console = Console(file=text, width=100, no_color=True, markup=False, highlight=False, emoji=False)
        if of_class:
            render_class(console, [report], glyphs=glyphs_for("utf-8"), plain=plain)
        else:
            render_report(console, report, file_paths={}, next_commands=(), glyphs=glyphs_for("utf-8"), plain=plain)
        return text.getvalue()

    return render


_RENDERINGS: Mapping[str, Callable[[Report], str]] = {
    "terminal": rendered(plain=False, of_class=False),
    "sentences": rendered(plain=True, of_class=False),
    "table of the class": rendered(plain=False, of_class=True),
    "sentences on the class": rendered(plain=True, of_class=True),
}
