"""How to begin a TODO: the state of each in the learner's file now, and the texts of the course for the next one."""

import os
from dataclasses import dataclass

from autograder.course import Course, Exercise
from autograder.course.stubs import StubError, outline_of_stub, stub_text, todo_comment
from autograder.diagnosis.cells import place_in
from autograder.learner.progress import Standing, save_events
from autograder.learner.progress.events import Event, now
from autograder.learner.progress.standing import UNTRIED
from autograder.messages import opened
from autograder.protocol.functions import outline_of
from autograder.results import Todo
from autograder.submission import Submission
from autograder.submission.own_work import NOTEBOOKS, read_own
from autograder.submission.todos import todos_of


@dataclass(frozen=True)
class StartHint:
    """A text on how to begin a TODO: `level` of `total`. `warning` says why this could not be saved, or ""."""

    todo: Todo
    text: str
    level: int
    total: int
    warning: str = ""

    @property
    def label(self) -> str:
        """The name of the text; a single one has no number."""
        return f"Hint {self.level} of {self.total}" if self.total > 1 else "Hint"


def read_todos(course: Course, exercise: Exercise, submission: Submission | None = None) -> tuple[Todo, ...]:
    """Return the TODOs of the learner's file as it is now; none if the file is missing or cannot be parsed."""
    own = submission if submission is not None else read_own(course, [exercise])
    source = own.sources.get(exercise.file)
    try:
        work = outline_of(source) if source is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    todos = todos_of(outline_of_stub(course, exercise), work, exercise.file)
    return tuple(Todo(todo.name, todo.state, place_in(own.cells, todo.place)) for todo in todos)


def next_todo(todos: tuple[Todo, ...]) -> Todo | None:
    """Return the first TODO that is not written."""
    return next((todo for todo in todos if not todo.is_written), None)


def may_start(standing: Standing) -> bool:
    """Say whether the last check asks for the next TODO, and not for a correction."""
    return standing.in_progress or standing.status in UNTRIED


def take_start(course: Course, exercise: Exercise, standing: Standing, todo: Todo) -> StartHint:
    """Show the next text on how to begin a TODO, and record it. The last one is shown again."""
    texts = start_texts(course, exercise, todo)
    seen = standing.levels.get(f"todo:{todo.name}", 0)
    level = min(seen + 1, len(texts))
    warning = ""
    if level > seen:
        event = Event(now(), "hint", exercise.id, "hint", todo=todo.name, hint=level, hints=len(texts))
        warning = save_events(course, [event]).warning
    return StartHint(todo, texts[level - 1], level, len(texts), warning)


def start_of_file(course: Course, exercise: Exercise, standing: Standing) -> StartHint | None:
    """Show how to begin the next TODO, if the last check asks for it and the learner's file still has one."""
    todo = next_todo(read_todos(course, exercise)) if may_start(standing) else None
    return take_start(course, exercise, standing, todo) if todo is not None else None


def start_texts(course: Course, exercise: Exercise, todo: Todo) -> tuple[str, ...]:
    """Return the course's texts on how to begin a TODO; without any, the TODO's comment in the stub, and its lesson."""
    if todo.name in exercise.start:
        return exercise.start[todo.name]
    lesson = f"The lesson at the top of {course.exercises_dir.name}/{exercise.file} explains what it needs."
    try:
        comment = todo_comment(stub_text(course, exercise) or "", todo.name)
    except (StubError, OSError, ValueError):
        comment = ""
    return (f"{opened(comment)} {lesson}".strip(),)


def edit_place(course: Course, todo: Todo) -> str:
    """Return the file of a TODO with its line, as an editor opens it; for a notebook without the line."""
    if todo.place.cell is not None:
        return os.path.relpath(course.exercises_dir / NOTEBOOKS / todo.place.file)
    return f"{os.path.relpath(course.exercises_dir / todo.place.file)}:{todo.place.line}"
