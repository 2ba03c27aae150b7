"""A result as diagnostics of the Language Server Protocol: the first failure, at its line."""

from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types as lsp

from autograder.messages.locations import decides
from autograder.protocol.functions import outline_of
from autograder.report.failure_view import FailureView, failure_view
from autograder.report.location import AGREES
from autograder.report.plain import evidence_sentences
from autograder.report.todo_view import todo_view
from autograder.results import CheckResult, ExerciseResult, Finding, Place

SOURCE = "course"
"""What editors show as the origin of a diagnostic."""

LINE_END = 100_000
"""A column behind every line: the protocol takes it as the end of the line."""

MOST_FACTS = 6
"""The last facts are the most useful ones: single numbers that show what the finding says."""

Units = Callable[[str], int]
"""Returns the length of a text in the units in which the editor counts columns."""

_NOTHING_WRONG = ("not_started", "waits")


def diagnostic_of(result: ExerciseResult, file: Path, text: str, units: Units) -> lsp.Diagnostic | None:
    """Return the first failure of an exercise whose file has this text; None if it passes, or has no line to show.

    In a notebook each cell is a document of its own, so a failure there has no line in this file.
    """
    check = result.first_failure
    if result.status == "pass" or check is None or check.status == "missing":
        return None
    place = check.finding.place if check.finding else None
    if place is not None and (place.cell is not None or place.file != file.name):
        return None
    todos = todo_view(result)
    lines = text.splitlines()
    view = failure_view(check, prints=result.prints, todos=todos)
    if place is not None:
        range_ = _range(place, lines, units)
    elif todos is not None and check.status == "not_started":
        range_ = _line(todos.next.place.line, lines, units)
    else:
        range_ = _line(_definition(result, check, text), lines, units)
    return lsp.Diagnostic(
        range=range_,
        message=_message(view, check.finding),
        severity=_severity(result, check),
        code=check.finding.id if check.finding else check.id,
        source=SOURCE,
        related_information=_related(view, check, file.as_uri(), range_, lines, units),
    )


def whole_line(line: int) -> lsp.Range:
    """Return the range of a line, counted from 1."""
    return lsp.Range(lsp.Position(max(line - 1, 0), 0), lsp.Position(max(line - 1, 0), LINE_END))


def _severity(result: ExerciseResult, check: CheckResult) -> lsp.DiagnosticSeverity:
    if result.in_progress or check.status in _NOTHING_WRONG:
        return lsp.DiagnosticSeverity.Information
    return lsp.DiagnosticSeverity.Warning if check.status == "grader_error" else lsp.DiagnosticSeverity.Error


def _message(view: FailureView, finding: Finding | None) -> str:
    """Return the sentence of a failure, why it matters, what is known of the line, the check, and the first hint."""
    lines = [view.message, *view.explanation]
    if view.location is not None and finding is not None and finding.kind != "place":  # then the message says it
        here = ": ".join(filter(None, (view.location.circumstance, view.location.label)))
        lines += [f"Here: {here}."] if here and (view.location.label or not finding.certain) else []
    claim = [f"Check: {view.claim}."] if view.claim else []
    return "\n".join([*lines, *claim, *(f"{label}: {hint}" for label, hint in view.hints)])


def _range(place: Place, lines: Sequence[str], units: Units) -> lsp.Range:
    """Return the marked part of a line; the line without its margin if no part is marked."""
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else None
    if text is None or place.column is None or place.column >= len(text):
        return _line(place.line, lines, units)
    start = max(place.column, 0)
    end = len(text.rstrip()) if place.end is None or place.end <= start else min(place.end, len(text))
    return lsp.Range(lsp.Position(place.line - 1, units(text[:start])), lsp.Position(place.line - 1, units(text[:end])))


def _line(line: int, lines: Sequence[str], units: Units) -> lsp.Range:
    if not 0 < line <= len(lines):
        return whole_line(line)
    text = lines[line - 1]
    margin = len(text) - len(text.lstrip())
    return lsp.Range(lsp.Position(line - 1, margin), lsp.Position(line - 1, units(text.rstrip())))


def _definition(result: ExerciseResult, check: CheckResult, text: str) -> int:
    """Return the line of the `def` that a check is about; the first line if there is none."""
    lines = definitions(text)
    return next((lines[todo.name] for todo in result.todos if check.id in todo.checks and todo.name in lines), 1)


def definitions(text: str) -> dict[str, int]:
    """Return the line of each function of a file; none if the text cannot be parsed."""
    try:
        return {function.name: function.line for function in outline_of(text).functions}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _related(
    view: FailureView, check: CheckResult, uri: str, range_: lsp.Range, lines: Sequence[str], units: Units
) -> list[lsp.DiagnosticRelatedInformation]:
    """Return the evidence at the wrong line, and the lines before it that agree."""
    finding = check.finding
    here = lsp.Location(uri, range_)
    facts = [fact for fact in evidence_sentences(view) if not fact.endswith(", as expected.")][-MOST_FACTS:]
    if finding is not None and finding.proved and finding.place is not None:
        facts.insert(0, decides(finding.place))
    agreeing = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, _line(line, lines, units)), f"This line {AGREES}.")
        for line in (finding.agrees if finding is not None and finding.place is not None else ())
    ]
    return [*(lsp.DiagnosticRelatedInformation(here, fact) for fact in facts), *agreeing]
