"""Write scores into nbgrader's gradebook, for formgrader, generate_feedback and nbgrader export.

Each exercise is a notebook with a grade cell for its points and a solution cell for the comment, as in the notebooks of
the course. Everything is written through nbgrader's own models, in one transaction.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.instructor.gradebook.graded import ExportError, Graded, Mark, named
from autograder.instructor.gradebook.nbgrader_notebooks import write_notebooks
from autograder.instructor.gradebook.nbgrader_rows import Cells, Rows
from autograder.instructor.gradebook.policy import deadline
from autograder.report.quantities import plural
from autograder.submission.files import printable

NAME = re.compile(r"[a-zA-Z0-9_\-]{1,128}", re.ASCII)
LONGEST_ID = 128  # the length of the columns in nbgrader's database
DEFAULT_COURSE = "default_course"
URLS = "sqlite:///gradebook.db or postgresql+psycopg://user@host/name"


@dataclass(frozen=True)
class WriteResult:
    """The numbers of new students, submissions and grades, of changed rows, and of notebooks; and notes."""

    students: int
    submissions: int
    grades: int
    changed: int
    notebooks: int = 0
    notes: tuple[str, ...] = ()


def write_gradebook(
    graded: Graded, url: str, assignment: str, course: str | None = None, autograded: Path | None = None
) -> WriteResult:
    """Write a class into the gradebook at a URL, all of it or nothing; a missing gradebook is created.

    Manual entries of formgrader stay. With `autograded`, the folder of that name in nbgrader's course, notebooks are
    written too. Raises `ExportError`, and OSError for the notebooks.
    """
    check_names(graded.course, assignment)
    _check_ids(graded)
    with open_gradebook(url) as gradebook:
        found, notes = _assignment(gradebook, graded, assignment, course)
        rows = Rows(gradebook, found)
        cells = [_cells(rows, graded, exercise.id) for exercise in graded.course.exercises]
        rows.load()
        shown = {mark.student: mark for mark in graded.to_show if mark.score is not None}
        for mark in (shown.get(mark.student, mark) for mark in graded.marks):
            rows.student(mark.row)
            if mark.report is not None:
                rows.submission(mark, _timestamp(mark), _extension(graded, mark), cells)
        rows.complete()
        written = WriteResult(*rows.flush(), notes=(*notes, *rows.names_replaced()))
        if autograded is not None:
            by_exercise = {cell.exercise: cell for cell in cells}
            count, others = write_notebooks(graded.with_report, by_exercise, autograded, assignment)
            kept = f"{plural(others, 'notebook')} in {printable(autograded)} {'is' if others == 1 else 'are'} not ours"
            written = replace(written, notebooks=count)
            if others:
                written = replace(written, notes=(*written.notes, f"{kept}, and kept"))
        gradebook.db.commit()
        return written


@contextlib.contextmanager
def open_gradebook(url: str) -> Iterator[Any]:
    """Yield the Gradebook at a URL. An error becomes an `ExportError`, and the gradebook stays unchanged."""
    api = nbgrader_api()
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    try:
        with _commands_found():
            gradebook = api.Gradebook(url, course_id="")
    except (ArgumentError, ValueError):
        raise ExportError(f"{_safe(url)} is not the URL of a database, expected one like {URLS}") from None
    except ModuleNotFoundError as error:
        raise ExportError(
            f"{_safe(url)} needs the Python module {error.name}, which is not installed; install the driver "
            "that SQLAlchemy's documentation names for this kind of database"
        ) from None
    except SQLAlchemyError as error:
        raise ExportError(f"{_safe(url)} cannot be opened: {_first(error)}; expected one like {URLS}") from None
    try:
        with gradebook:
            yield gradebook
    except SQLAlchemyError as error:
        hint = "if an older nbgrader made it, run nbgrader db upgrade; if it is locked, close the program that uses it"
        raise ExportError(f"{_safe(url)} was not changed: {_first(error)}; {hint}") from None


def nbgrader_api() -> Any:
    """Return nbgrader.api, which takes seconds to import. Raises `ExportError` if it is not installed."""
    try:
        import nbgrader.api
    except ImportError as error:
        raise ExportError(
            f"nbgrader cannot be imported ({error}), and this export needs it; "
            "install it in the kit's folder: pip install -e '.[nbgrader]'"
        ) from None
    return nbgrader.api


def check_names(course: Course, assignment: str) -> None:
    """Raise `ExportError` for names that nbgrader does not accept."""
    for name in (assignment, *(exercise.id for exercise in course.exercises)):
        if not NAME.fullmatch(name):
            raise ExportError(
                f"{printable(name)!r} is not a name for nbgrader, expected at most 128 letters, digits, _ and -"
            )


def _check_ids(graded: Graded) -> None:
    if long := [mark.student for mark in graded.marks if len(mark.student) > LONGEST_ID]:
        raise ExportError(
            f"nbgrader takes ids of at most {LONGEST_ID} characters, but these are longer: {named(long)}; rename them"
        )


def _assignment(gradebook: Any, graded: Graded, name: str, course: str | None) -> tuple[Any, tuple[str, ...]]:
    """Return the assignment with the due date of the course, and a note if it had another one; create it if needed."""
    api = nbgrader_api()
    found = gradebook.db.query(api.Assignment).filter(api.Assignment.name == name).one_or_none()
    if found is not None and course not in (None, found.course_id):
        raise ExportError(
            f"{name} belongs to the course {found.course_id} in this gradebook, expected {course}; leave --course out"
        )
    if found is None:
        found = api.Assignment(name=name, course_id=_course(gradebook, course))
        gradebook.db.add(found)
    due, before = _due(graded, ""), found.duedate
    if due is not None:
        found.duedate = due
    gradebook.db.flush()
    other = due is not None and before not in (None, due)
    return found, (f"the due date of {name} was {before} UTC in the gradebook, and is {due} UTC now",) if other else ()


def _course(gradebook: Any, course: str | None) -> str:
    """Return the given course, or else the only one in the gradebook, or else nbgrader's default."""
    api = nbgrader_api()
    there = [row.id for row in gradebook.db.query(api.Course)]
    wanted = course or (there[0] if len(there) == 1 else DEFAULT_COURSE)
    if course is None and len(there) > 1:
        raise ExportError(f"the gradebook has the courses {', '.join(sorted(there))}; choose one with --course")
    if wanted not in there:
        gradebook.db.add(api.Course(id=wanted))
    return wanted


def _cells(rows: Rows, graded: Graded, exercise: str) -> Cells:
    """Return the cells of an exercise: of the notebook that nbgrader released, or else of our own."""
    bonus = exercise in graded.policy.grading.bonus
    worth = 0.0 if bonus else graded.course.exercise(exercise).points / 100
    cells = rows.cells(exercise, worth)
    if cells.grade.max_score != worth:
        raise ExportError(
            f"the cell {cells.grade.name} of the notebook {exercise} has {cells.grade.max_score:g} points in the "
            f"gradebook, and the exercise has {worth:g}; run course export nbgrader-course, nbgrader "
            "generate_assignment --force and this export again: what students submitted stays as it is, and gets "
            "its new points"
        )
    return cells


def _timestamp(mark: Mark) -> datetime | None:
    """Return the time of submission as nbgrader stores it: UTC without a time zone."""
    time = mark.final.handed_in if mark.final else None
    return time.astimezone(UTC).replace(tzinfo=None) if time else None


def _extension(graded: Graded, mark: Mark) -> timedelta | None:
    """Return how much later a student's due date is than the due date of the course; None if they are equal."""
    own, everybody = _due(graded, mark.student), _due(graded, "")
    return own - everybody if own and everybody and own != everybody else None


def _due(graded: Graded, student: str) -> datetime | None:
    """Return the due date without the grace minutes, as nbgrader stores it; the student "" is on no roster."""
    last = deadline(graded.policy, student, 0)
    if last is None:
        return None
    return (last - timedelta(minutes=graded.policy.grading.grace_minutes)).astimezone(UTC).replace(tzinfo=None)


@contextlib.contextmanager
def _commands_found() -> Iterator[None]:
    """Put this Python's folder on PATH: nbgrader runs alembic from there, even if the environment is not activated."""
    before = os.environ.get("PATH")
    os.environ["PATH"] = os.pathsep.join(filter(None, (str(Path(sys.executable).parent), before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before


def _safe(url: str) -> str:
    """Return a URL without its password."""
    return printable(re.sub(r"(//[^:/@]*):[^@]*@", r"\1:***@", url))


def _first(error: Exception) -> str:
    """Return the first line of a database error, without its SQL."""
    return printable(str(getattr(error, "orig", None) or error).strip().splitlines()[0].rstrip("."))
