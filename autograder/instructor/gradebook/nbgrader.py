"""Scores in nbgrader's gradebook, so that formgrader, generate_feedback and nbgrader export go on from there.

A notebook for each exercise, with one grade cell for its points and one solution cell for the comment, as in the
notebooks of the course. Everything is written through nbgrader's own models, in one transaction.
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
from autograder.submission.found import printable

NAME = re.compile(r"[a-zA-Z0-9_\-]{1,128}", re.ASCII)
LONGEST_ID = 128
DEFAULT_COURSE = "default_course"
URLS = "sqlite:///gradebook.db or postgresql+psycopg://user@host/name"


@dataclass(frozen=True)
class Written:
    """How many students, submissions and grades are new in the gradebook, how many rows were changed, and notebooks."""

    students: int
    submissions: int
    grades: int
    changed: int
    notebooks: int = 0


def write_gradebook(
    graded: Graded, url: str, assignment: str, course: str | None = None, autograded: Path | None = None
) -> Written:
    """Write a class into the gradebook at a URL, which is made where there is none yet. All of it, or nothing.

    What a person entered in formgrader stays. With `autograded`, the folder of that name in nbgrader's course, there
    are notebooks too. Raises `ExportError`, and OSError for the notebooks.
    """
    check_names(graded.course, assignment)
    _check_ids(graded)
    with opened(url) as gradebook:
        rows = Rows(gradebook, _assignment(gradebook, graded, assignment, course))
        cells = [_cells(rows, graded, exercise.id) for exercise in graded.course.exercises]
        rows.load()
        for mark in graded.marks:
            rows.student(mark.row)
            if mark.report is not None:
                rows.submission(mark, _timestamp(mark), _extension(graded, mark), cells)
        rows.complete()
        written = Written(*rows.flush())
        if autograded is not None:
            by_exercise = {cell.exercise: cell for cell in cells}
            count = write_notebooks(graded.with_report, by_exercise, autograded, assignment)
            written = replace(written, notebooks=count)
        gradebook.db.commit()
        return written


@contextlib.contextmanager
def opened(url: str) -> Iterator[Any]:
    """Yield the Gradebook at a URL; what goes wrong with it is a sentence, and then nothing in it is changed."""
    api = nbgrader_api()
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    try:
        with _commands_found():
            gradebook = api.Gradebook(url, course_id="")
    except (ArgumentError, ValueError):
        raise ExportError(f"{_safe(url)} is no URL of a database, expected one like {URLS}") from None
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
        told = f"{_safe(url)} was not changed: {_first(error)}"
        hint = "if it is of an older nbgrader, run nbgrader db upgrade; if it is locked, close what writes to it"
        raise ExportError(f"{told}; {hint}") from None


def nbgrader_api() -> Any:
    """Return nbgrader.api; it is loaded only here, for it takes seconds. Raises `ExportError` where it is not there."""
    try:
        import nbgrader.api
    except ImportError as error:
        found = f"nbgrader cannot be imported ({error})"
        raise ExportError(
            f"{found}, and its gradebook needs it; install it in the kit's folder: pip install -e '.[nbgrader]'"
        ) from None
    return nbgrader.api


def check_names(course: Course, assignment: str) -> None:
    """Refuse names that nbgrader does not take. Raises `ExportError`."""
    for name in (assignment, *(exercise.id for exercise in course.exercises)):
        if not NAME.fullmatch(name):
            raise ExportError(
                f"{printable(name)!r} is no name for nbgrader, expected letters, digits, _ and -, 128 at most"
            )


def _check_ids(graded: Graded) -> None:
    if long := [mark.student for mark in graded.marks if len(mark.student) > LONGEST_ID]:
        raise ExportError(f"nbgrader takes ids of {LONGEST_ID} letters, and longer are {named(long)}; rename them")


def _assignment(gradebook: Any, graded: Graded, name: str, course: str | None) -> Any:
    """Return the assignment, made where it is not there, with the due date of the course."""
    api = nbgrader_api()
    found = gradebook.db.query(api.Assignment).filter(api.Assignment.name == name).one_or_none()
    if found is not None and course not in (None, found.course_id):
        raise ExportError(
            f"{name} belongs to the course {found.course_id} there, expected {course}; leave --course out"
        )
    if found is None:
        found = api.Assignment(name=name, course_id=_course(gradebook, course))
        gradebook.db.add(found)
    if (due := _due(graded, "")) is not None:
        found.duedate = due
    gradebook.db.flush()
    return found


def _course(gradebook: Any, course: str | None) -> str:
    """Return the course that was named, else the only one there, else nbgrader's own default."""
    api = nbgrader_api()
    there = [row.id for row in gradebook.db.query(api.Course)]
    wanted = course or (there[0] if len(there) == 1 else DEFAULT_COURSE)
    if course is None and len(there) > 1:
        raise ExportError(f"the gradebook has the courses {', '.join(sorted(there))}; name one with --course")
    if wanted not in there:
        gradebook.db.add(api.Course(id=wanted))
    return wanted


def _cells(rows: Rows, graded: Graded, exercise: str) -> Cells:
    """Return the cells of an exercise: those of its notebook, where nbgrader has released one, else our own."""
    bonus = exercise in graded.policy.grading.bonus
    worth = 0.0 if bonus else graded.course.exercise(exercise).points / 100
    cells = rows.cells(exercise, worth)
    if cells.grade.max_score != worth:
        raise ExportError(
            f"the cell {cells.grade.name} of the notebook {exercise} is worth {cells.grade.max_score:g} there, and the "
            f"exercise {worth:g}; make both alike, with course build and nbgrader generate_assignment"
        )
    return cells


def _timestamp(mark: Mark) -> datetime | None:
    """Return when it was handed in, as nbgrader keeps it: UTC, without saying so."""
    time = mark.final.handed_in if mark.final else None
    return time.astimezone(UTC).replace(tzinfo=None) if time else None


def _extension(graded: Graded, mark: Mark) -> timedelta | None:
    """Return by how much a student's due date is later than that of the course, where the roster says so."""
    own, everybody = _due(graded, mark.student), _due(graded, "")
    return own - everybody if own and everybody and own != everybody else None


def _due(graded: Graded, student: str) -> datetime | None:
    """Return the due date, without the minutes of grace, as nbgrader keeps it; "" is nobody on the roster."""
    last = deadline(graded.policy, student, 0)
    if last is None:
        return None
    return (last - timedelta(minutes=graded.policy.grading.grace_minutes)).astimezone(UTC).replace(tzinfo=None)


@contextlib.contextmanager
def _commands_found() -> Iterator[None]:
    """Let nbgrader find alembic beside this Python: it runs it to make a gradebook, activated environment or not."""
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
    """Return the first line of what a database said, without its SQL."""
    return printable(str(getattr(error, "orig", None) or error).strip().splitlines()[0].rstrip("."))
