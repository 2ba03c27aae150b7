"""What is shown of a check that does not pass. Every renderer takes this view and adds only its layout.

The order of the fields is the order on the screen. All text is printable, and without line breaks unless it is code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.report.comparison import Comparison, MapPair, Values, Witnesses, comparison, map_pair, values, witnesses
from autograder.report.exercise_summary import checks_pass, message_of
from autograder.report.location import Location, function_of, location_of
from autograder.report.printable import one_line, printable
from autograder.report.prints import PrintPart, print_parts
from autograder.report.states import COURSE_PROBLEM, STATES, state_of
from autograder.report.todo_view import TodoView
from autograder.results.model import CheckResult, ExerciseResult, Finding, PrintOutput, Status

Command = tuple[str, str]
"""What to type next, and what it does."""

_MOST_CHARACTERS = 1000  # of a library's message: more than any renderer shows, and quick to lay out
_SENTENCE_END = re.compile(r"(?<=[.?;:])\s+(?=[A-Z0-9])")


@dataclass(frozen=True)
class Misconception:
    """The misconception that was recognised. `name` is empty if the message already says it.

    `label` is what pages call it.
    """

    id: str
    name: str
    label: str = "Misconception"


@dataclass(frozen=True)
class FailureView:
    """A failed check, ready to be laid out; an empty part is not shown.

    `opening` is the first sentence of the message and `more` the others. `detail` explains it, in the library's own
    words if `is_quoted`. `claim` is what the check demands. `hints` are `(label, text)`, the last one is the newest.
    """

    status: Status
    title: str
    opening: str
    more: str
    misconception: Misconception | None
    detail: tuple[str, ...]
    is_quoted: bool
    claim: str
    location: Location | None
    values: Values | None
    comparison: Comparison | None
    maps: MapPair | None
    witnesses: Witnesses | None
    prints: tuple[PrintPart, ...]
    hints: tuple[tuple[str, str], ...]
    next_commands: tuple[Command, ...]

    @property
    def message(self) -> str:
        """The whole message."""
        return f"{self.opening} {self.more}".strip()

    @property
    def explanation(self) -> tuple[str, ...]:
        """The lines below the message: the misconception by name, and the detail."""
        if self.misconception is None or not self.misconception.name:
            return self.detail
        name = self.misconception.name
        sentence = f"{self.misconception.label}: {name}{'' if name.endswith(('.', '?')) else '.'}"
        return (" ".join((sentence, *self.detail[:1])), *self.detail[1:])


def failure_view(
    check: CheckResult,
    *,
    prints: Sequence[PrintOutput] = (),
    hints_shown: int = 1,
    next_commands: Sequence[Command] = (),
    every_measurement: bool = False,
    todos: TodoView | None = None,
) -> FailureView:
    """Return the view of a check that does not pass.

    `prints` are what the student's code printed, `hints_shown` how many hints they have seen. A table in which nothing
    differs is left out unless `every_measurement` is wanted. A check of what is not written says what to write next, if
    the `todos` of its exercise are known.
    """
    finding = check.finding
    evidence = finding.evidence if finding else None
    unwritten = todos if todos is not None and check.status == "not_started" else None
    message = unwritten.message if unwritten else message_of(check.status, finding)
    opening, *others = _SENTENCE_END.split(message, maxsplit=1)
    return FailureView(
        status=check.status,
        title=one_line(check.title),
        opening=opening,
        more=" ".join(others),
        misconception=_misconception(message, finding),
        detail=_detail(check.status, finding),
        is_quoted=finding is not None and finding.kind == "exception",
        claim=one_line(check.title) if _has_run(check) and not unwritten else "",
        location=location_of(check.status, finding) if finding else None,
        values=values(evidence),
        comparison=comparison(evidence, every_measurement),
        maps=map_pair(evidence.maps) if evidence and evidence.maps else None,
        witnesses=witnesses(evidence) if evidence else None,
        prints=print_parts(prints),
        hints=_hints(check, hints_shown),
        next_commands=tuple(next_commands),
    )


def _misconception(message: str, finding: Finding | None) -> Misconception | None:
    if finding is None or not finding.known_as:
        return None
    name = one_line(finding.name or "")
    is_in_text = message.rstrip(".").lower() == name.rstrip(".").lower() or (finding.detail or "").startswith(name)
    return Misconception(one_line(finding.id), "" if is_in_text else name, finding.kind.capitalize())


def _detail(status: Status, finding: Finding | None) -> tuple[str, ...]:
    if finding is None:
        return ()
    detail = printable((finding.detail or "")[:_MOST_CHARACTERS]).strip("\n")
    if status == "grader_error" and not detail:
        detail = one_line(finding.message[:_MOST_CHARACTERS])
    return tuple(line.rstrip() for line in detail.split("\n") if line.strip())


def _has_run(check: CheckResult) -> bool:
    """Return whether the check has run: without a readable file no check does."""
    finding = check.finding
    if finding is not None and (finding.kind, finding.id) == ("structure", "unread"):
        return False
    at_import = finding is not None and finding.kind == "exception" and finding.place and not function_of(finding)
    return check.status not in ("missing", "grader_error") and not at_import


def have_run(exercise: ExerciseResult) -> bool:
    """Say whether any check of an exercise has run: none does if its file is missing, or cannot be read or imported.

    None runs if a file of the course is wrong, either.
    """
    if state_of(exercise) is COURSE_PROBLEM:
        return False
    first = exercise.first_failure
    passes = any(check.status == "pass" for check in exercise.checks)
    return first is None or passes or exercise.status == "grader_error" or _has_run(first)


def count_of(exercise: ExerciseResult) -> str:
    """Return how many checks of an exercise pass."""
    return checks_pass(exercise.checks) if have_run(exercise) else "no check was run"


def _hints(check: CheckResult, count: int) -> tuple[tuple[str, str], ...]:
    """Return the hints seen so far; none for work that has not begun or that the grader failed on.

    The first one comes without a request, so it does not say how many there are.
    """
    if STATES[check.status].mark in ("waiting", "problem"):
        return ()
    total = len(check.hints)
    shown = [one_line(hint) for hint in check.hints[: max(count, 0)]]
    return tuple((f"Hint {n} of {total}" if len(shown) > 1 else "Hint", hint) for n, hint in enumerate(shown, 1))
