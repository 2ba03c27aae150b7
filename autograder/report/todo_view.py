"""What is shown of the TODOs of an exercise that does not pass. Every renderer takes this view."""

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.messages.todos import line_of, to_write
from autograder.report.printable import one_line
from autograder.report.quantities import plural
from autograder.report.states import Mark
from autograder.results.model import ExerciseResult, Status, Todo

_NO_FAILURE: frozenset[Status] = frozenset({"pass", "not_started", "waits"})


@dataclass(frozen=True)
class TodoItem:
    """One TODO: the mark before it, its name, and what is known of it in words. `label` introduces the first one left.

    `is_left` says that it is still to be written.
    """

    mark: Mark
    name: str
    fact: str = ""
    label: str = ""
    is_left: bool = False

    @property
    def text(self) -> str:
        """The label, the name and the fact."""
        name = f"{self.name}," if self.is_left and self.fact else self.name
        return " ".join(filter(None, (self.label, name, self.fact)))


@dataclass(frozen=True)
class TodoView:
    """The TODOs of an exercise of which not all are complete.

    `items` has each of them once something is written. `next` is the first to write, and `message` says what to do.
    """

    items: tuple[TodoItem, ...]
    next: Todo
    message: str


def todo_view(exercise: ExerciseResult) -> TodoView | None:
    """Return the TODOs of an exercise; None if it passes, if all have code, or if they are not known."""
    statuses = {check.id: check.status for check in exercise.checks}
    open_todos = [todo for todo in exercise.todos if not _is_complete(todo, statuses)]
    if exercise.status == "pass" or not open_todos:
        return None
    begun = len(open_todos) < len(exercise.todos) or any(todo.state == "started" for todo in open_todos)
    passes = exercise.in_progress and any(check.status == "pass" for check in exercise.checks)
    message = to_write(open_todos[0], nothing_yet=not begun, passes=passes)
    return TodoView(todo_items(exercise) if begun else (), open_todos[0], one_line(message))


def todo_items(exercise: ExerciseResult) -> tuple[TodoItem, ...]:
    """Return what is known of each TODO of an exercise, in their order."""
    statuses = {check.id: check.status for check in exercise.checks}
    first = next((todo for todo in exercise.todos if not _is_complete(todo, statuses)), None)
    return tuple(_item(todo, todo is first, exercise, statuses) for todo in exercise.todos)


def _is_complete(todo: Todo, statuses: dict[str, Status]) -> bool:
    """Say whether a TODO has code. If its checks pass, its `raise` is never reached."""
    return todo.is_written or (todo.state == "started" and _all_pass(todo.checks, statuses))


def _all_pass(checks: Sequence[str], statuses: dict[str, Status]) -> bool:
    return bool(checks) and all(statuses.get(check) == "pass" for check in checks)


def _item(todo: Todo, first: bool, exercise: ExerciseResult, statuses: dict[str, Status]) -> TodoItem:
    name = one_line(todo.name)
    if not _is_complete(todo, statuses):
        if not first:
            return TodoItem("waiting", name, "not written", is_left=True)
        return TodoItem("waiting", name, line_of(todo.place), "next:" if exercise.in_progress else "to do:", True)
    passing = sum(statuses.get(check) == "pass" for check in todo.checks)
    if _all_pass(todo.checks, statuses):
        return TodoItem("passed", name, f"({plural(passing, 'check')})")
    if any(statuses.get(check, "pass") not in _NO_FAILURE for check in todo.checks):
        return TodoItem("failed", name, f"({passing} of {plural(len(todo.checks), 'check')})")
    if not todo.checks and "pass" in statuses.values():  # a check of another part may judge it
        return TodoItem("waiting", name, "has code")
    return TodoItem("waiting", name, "has code, not judged yet")
