"""What stands beside the code: the state of each TODO as a code lens, and shapes as inlay hints."""

import ast
from collections.abc import Iterable, Iterator

from lsprotocol.types import CodeLens, Command, InlayHint, Position

from autograder.course import Exercise
from autograder.judge.shapes import Shapes
from autograder.learner.editor.commands import CHECK, HINT
from autograder.learner.editor.findings import Units, definitions, whole_line
from autograder.report.failure_view import count_of
from autograder.report.states import state_of
from autograder.report.todo_view import TodoItem, todo_items
from autograder.results import ExerciseResult, Todo

_LENS_MARKS = {"passed": "✓", "failed": "✗", "waiting": "○"}
_CLEAR = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)
_SEVERAL = (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)


def lenses(exercise: Exercise, result: ExerciseResult, text: str) -> list[CodeLens]:
    """Return the state of an exercise at the top of its file, and that of each TODO at its function."""
    word = state_of(result).word
    whole = Command(f"{exercise.number} {exercise.title}: {word}, {count_of(result)}", CHECK, arguments=[exercise.id])
    found = [CodeLens(whole_line(1), whole)]
    lines = definitions(text)
    for todo, item in zip(result.todos, todo_items(result), strict=True):
        line = lines.get(todo.name, todo.place.line if todo.place.cell is None else 0)
        if line:
            found.append(CodeLens(whole_line(line), _lens_command(exercise, todo, item)))
    return found


def _lens_command(exercise: Exercise, todo: Todo, item: TodoItem) -> Command:
    """Return the label of a TODO; a click on one that fails, or is the next to write, shows a hint."""
    title = " ".join(filter(None, (_LENS_MARKS[item.mark], todo.name, item.fact)))
    if item.is_left:
        title = "… in progress" if todo.state == "started" else "○ to write"
        title += ": show how to begin" if item.label else ""
    has_hint = bool(item.label) or item.mark == "failed"
    return Command(title, HINT if has_hint else "", arguments=[exercise.id])


def shape_hints(shapes: Shapes, checked: str, text: str, units: Units) -> list[InlayHint]:
    """Return the shape of each assigned or returned tensor, at the end of its statement.

    `checked` is the text that ran. A statement that is not the same in `text` has no hint.
    """
    before, now = checked.splitlines(), text.splitlines()
    return [
        InlayHint(
            position=Position(end - 1, units(now[end - 1].rstrip())),
            label=f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})",
            padding_left=True,
            tooltip=f"The shape of the last tensor that this line made, in the first trial of the check {check}.",
        )
        for first, end, check, shape in _statement_shapes(shapes, checked)
        if before[first - 1 : end] == now[first - 1 : end]
    ]


def _statement_shapes(shapes: Shapes, text: str) -> Iterator[tuple[int, int, str, tuple[int, ...]]]:
    """Yield the first and last line of each statement that makes one tensor, and a check with its shape."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in _statements(tree):
        end = node.end_lineno or node.lineno
        made = [shapes[line] for line in range(node.lineno, end + 1) if line in shapes]
        if made and made[-1][1]:  # a number has no shape worth a mark
            yield node.lineno, end, *made[-1]


def _statements(tree: ast.Module) -> Iterable[ast.stmt]:
    """Return the statements whose value is the last tensor they make: no list or tuple, and no comparison."""
    for node in ast.walk(tree):
        if not isinstance(node, _CLEAR) or isinstance(node.value, _SEVERAL):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else []
        if not any(isinstance(target, _SEVERAL) for target in targets):
            yield node
