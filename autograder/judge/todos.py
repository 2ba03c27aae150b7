"""Which TODOs of an exercise are written, and which failures only say that one is not."""

from collections.abc import Sequence
from dataclasses import replace

from autograder.checks import Check, Raises
from autograder.course import Exercise
from autograder.course.suite import Suite
from autograder.protocol.functions import Outline
from autograder.results import Todo
from autograder.runner.outcomes import Fault, Observed, Outcome, Survey, WorkerFailure
from autograder.submission.todos import todos_of


def todos_in(suite: Suite, exercise: Exercise, survey: Survey | None) -> tuple[Todo, ...]:
    """Return the TODOs of a student's file, each with the checks of what it returns."""
    if survey is None:
        return ()
    work = Outline(survey.functions, survey.statements)
    checks = suite.checks[exercise.id]
    return tuple(
        replace(todo, checks=tuple(check.id for check in checks if _returns(todo, check)))
        for todo in todos_of(suite.stubs.get(exercise.id), work, exercise.file)
    )


def is_unwritten(check: Check, todos: Sequence[Todo], outcomes: Sequence[Outcome]) -> bool:
    """Say whether a check fails only because a TODO behind it has no code: its `raise` was replaced by `pass`, say."""
    behind = [todo for todo in todos if check.of is None or f"{todo.name}.".startswith(f"{check.of}.")]
    if not behind or any(map(_is_failure_of_code, outcomes)):
        return False
    if all(todo.state in ("open", "empty") for todo in behind):
        return not _is_of_other_code(check, behind, outcomes)
    empty = [todo for todo in behind if todo.state == "empty"]
    if any(todo.name == f"{check.of}.__init__" for todo in empty) and all(map(_lacks_parts, outcomes)):
        return True
    return all(map(_is_none, outcomes)) and any(_returns(todo, check) for todo in empty)


def _is_of_other_code(check: Check, behind: Sequence[Todo], outcomes: Sequence[Outcome]) -> bool:
    """Say whether a check got its values from a finished function, as every TODO behind it would have raised."""
    raises = all(todo.state == "open" for todo in behind) and not isinstance(check.judge, Raises)
    return raises and all(isinstance(outcome, Observed) and not _is_none(outcome) for outcome in outcomes)


def is_nothing(outcome: Outcome) -> bool:
    """Say whether an outcome may be that of a function without code, which is no mistake."""
    return (isinstance(outcome, Fault) and outcome.kind == "todo") or _is_none(outcome)


def _returns(todo: Todo, check: Check) -> bool:
    """Say whether the value of a check is what a function returns, or the `forward` of a class."""
    return todo.name in (check.of, f"{check.of}.forward")


def _is_failure_of_code(outcome: Outcome) -> bool:
    """Say whether the student's code raised, or ended the process."""
    return not isinstance(outcome, Observed) and (
        isinstance(outcome, WorkerFailure) or outcome.at_import or bool(outcome.frames)
    )


def _lacks_parts(outcome: Outcome) -> bool:
    """Say whether an object had not the attributes that the check needs."""
    return isinstance(outcome, Fault) and outcome.kind == "structure"


def _is_none(outcome: Outcome) -> bool:
    match outcome:
        case Observed(value=None):
            return True
        case Observed(value=dict() as parts):
            return bool(parts) and all(part is None for part in parts.values())
        case Fault(message=message):
            return "NoneType" in message
    return False
