"""Write scores into nbgrader's gradebook, for formgrader, generate_feedback and nbgrader export.

Each exercise is a notebook with a grade cell for its points and a solution cell for the comment, as in the notebooks of
the course. Everything is written through nbgrader's own models, in one transaction.
"""

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template
from typing import Any

from autograder.course import (
    Course,
    StubError,
    assigned,
    find_assignment,
    load_suite,
    write_atomically,
)
from autograder.gradebook import IN_NBGRADER, ExportError, Graded, Mark, Student, due_date, harmless, named
from autograder.report import one_line, plural
from autograder.results import NOT_JUDGED, ExerciseResult
from autograder.submission import (
    nbgrader_metadata,
    notebook_of,
    notebook_of_text,
    printable,
)

from .feedback import notes, summary
from .formats import ExportOptions, ExportResult, Format, replaced, write_over

# The rows of one assignment in nbgrader's gradebook: read once, compared, and written in bulk if they differ.


@dataclass(frozen=True)
class Cells:
    """The cells for the score and the comment of an exercise."""

    exercise: str
    notebook: Any
    grade: Any
    comment: Any


class Rows:
    """The rows of an assignment, with those to add and those to change.

    Ids are made here, so that the rows of five tables can be inserted together, without a query for their ids.
    """

    def __init__(self, gradebook: Any, assignment: Any) -> None:
        import nbgrader.api

        self._api: Any = nbgrader.api
        self._db = gradebook.db
        self._assignment = assignment
        self._new: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}
        self._changed: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}
        self._renamed: list[str] = []

    def cells(self, exercise: str, worth: float) -> Cells:
        """Return the cells of an exercise, and make those its notebook lacks. Call it before `load`."""
        api, db = self._api, self._db
        notebook = next((book for book in self._assignment.notebooks if book.name == exercise), None)
        if notebook is None:
            notebook = api.Notebook(name=exercise, assignment=self._assignment)
            db.add(notebook)
        grade = self._grade_cell(notebook, exercise)
        if grade is None:
            grade = api.GradeCell(name=exercise, notebook=notebook, max_score=worth, cell_type="code")
            db.add(grade)
        elif not notebook.source_cells:
            grade.max_score = worth
        solutions = sorted(notebook.solution_cells, key=lambda cell: (cell.name != exercise, cell.name))
        comment = solutions[0] if solutions else api.SolutionCell(name=exercise, notebook=notebook)
        db.add(comment)
        db.flush()
        return Cells(exercise, notebook, grade, comment)

    def _grade_cell(self, notebook: Any, exercise: str) -> Any:
        """Return the cell for the score: the one named like the exercise, else the only one that no person grades."""
        answers = {cell.name for cell in notebook.solution_cells}
        named = [cell for cell in notebook.grade_cells if cell.name == exercise]
        tests = named or [cell for cell in notebook.grade_cells if cell.name not in answers]
        if len(tests) > 1:
            names = ", ".join(sorted(cell.name for cell in tests))
            raise ExportError(f"the notebook {exercise} has the grade cells {names}; call the one to fill {exercise}")
        return tests[0] if tests else None

    def load(self) -> None:
        """Read all rows, with one query for each table."""
        api, db, own = self._api, self._db, self._assignment.id
        self._db.expire(self._assignment)
        self._notebooks = list(self._assignment.notebooks)
        self._graded = {book.id: [*book.grade_cells, *book.task_cells] for book in self._notebooks}
        self._commented = {book.id: [*book.solution_cells, *book.task_cells] for book in self._notebooks}
        self._students = {row.id: row for row in _table_rows(db, api.Student)}
        submissions = _table_rows(db, api.SubmittedAssignment, api.SubmittedAssignment.assignment_id == own)
        self._submissions = {row.student_id: row for row in submissions}
        notebooks = _table_rows(db, api.SubmittedNotebook, api.SubmittedAssignment.assignment_id == own, api)
        self._submitted = {(row.assignment_id, row.notebook_id): row for row in notebooks}
        grades = _table_rows(db, api.Grade, api.SubmittedAssignment.assignment_id == own, api)
        self._grades = {(row.notebook_id, row.cell_id): row for row in grades}
        comments = _table_rows(db, api.Comment, api.SubmittedAssignment.assignment_id == own, api)
        self._comments = {(row.notebook_id, row.cell_id): row for row in comments}
        self._wanted: dict[tuple[str, str], dict[str, Any]] = {}

    def student(self, row: Student) -> None:
        """Add or update a student. Fields that the roster does not know stay unchanged."""
        names = [_name(name) for name in _split(row.name)]
        known = {"first_name": names[0], "last_name": names[1], "email": row.email, "lms_user_id": row.lms_id}
        values = {key: value for key, value in known.items() if value}
        old = self._students.get(row.student)
        if old is None:
            empty = dict.fromkeys(known)
            self._new["Student"].append({"id": row.student, **empty, **values})
        else:
            replaced = any(getattr(old, key) not in (None, "", value) for key, value in values.items())
            self._renamed += [row.student] if replaced else []
            self._change("Student", old, values)

    def names_replaced(self) -> list[str]:
        """Return a note about the students whose name, address or number in the gradebook was another one."""
        found = "has another name, address or number now, that of the roster"
        return [f"{plural(len(self._renamed), 'student')} {found}: {named(self._renamed)}"] if self._renamed else []

    def submission(
        self, mark: Mark, timestamp: datetime | None, extension: timedelta | None, cells: Sequence[Cells]
    ) -> None:
        """Add or update a submission with its times, penalties, scores and comments."""
        given = (("timestamp", timestamp), ("extension", extension))
        values = {key: value for key, value in given if value is not None}
        old = self._submissions.get(mark.student)
        if old is None:
            submission: str = self._api.new_uuid()
            times = {"timestamp": None, "extension": None, **values}
            keys = {"id": submission, "assignment_id": self._assignment.id, "student_id": mark.student}
            self._new["SubmittedAssignment"].append({**keys, **times})
        else:
            submission = old.id
            self._change("SubmittedAssignment", old, values)
        taken_off = penalties(mark)
        notebooks = {book.id: self._notebook(submission, book.id) for book in self._notebooks}
        results = {exercise.id: exercise for exercise in mark.report.exercises} if mark.report else {}
        for cell in cells:
            if (result := results.get(cell.exercise)) is not None:
                notebook = notebooks[cell.notebook.id]
                self._penalty(submission, cell.notebook.id, taken_off[cell.exercise])
                self._score(notebook, cell.grade.id, result, mark)
                self._comment(notebook, cell.comment.id, _comment_text(mark, result))

    def complete(self) -> None:
        """Add missing grades and comments: like nbgrader, every submitted notebook has them for each cell."""
        submitted = {(row.id, row.notebook_id) for row in self._submitted.values()}
        submitted |= {(row["id"], row["notebook_id"]) for row in self._new["SubmittedNotebook"]}
        graded = {(row["notebook_id"], row["cell_id"]) for row in self._new["Grade"]} | self._grades.keys()
        commented = {(row["notebook_id"], row["cell_id"]) for row in self._new["Comment"]} | self._comments.keys()
        for notebook, source in sorted(submitted):
            for cell in self._graded.get(source, ()):
                if (notebook, cell.id) not in graded:
                    self._new["Grade"].append(self._grade_row(notebook, cell.id, None, True))
            for cell in self._commented.get(source, ()):
                if (notebook, cell.id) not in commented:
                    self._new["Comment"].append(self._comment_row(notebook, cell.id, None))

    def flush(self) -> tuple[int, int, int, int]:
        """Write everything; return how many students, submissions and grades are new, and how many rows changed."""
        for name in _TABLES:
            model = getattr(self._api, name)
            if self._new[name]:
                self._db.bulk_insert_mappings(model, self._new[name])
            if self._changed[name]:
                self._db.bulk_update_mappings(model, self._changed[name])
        new = {name: len(rows) for name, rows in self._new.items()}
        changed = sum(map(len, self._changed.values()))
        return new["Student"], new["SubmittedAssignment"], new["Grade"], changed

    def _notebook(self, submission: str, notebook: str) -> str:
        old = self._submitted.get((submission, notebook))
        if old is not None:
            return str(old.id)
        row = {"id": self._api.new_uuid(), "assignment_id": submission, "notebook_id": notebook}
        self._wanted[submission, notebook] = row | {"flagged": False, "late_submission_penalty": None}
        self._new["SubmittedNotebook"].append(self._wanted[submission, notebook])
        return str(row["id"])

    def _penalty(self, submission: str, notebook: str, hundredths: int) -> None:
        penalty = hundredths / 100
        if (row := self._wanted.get((submission, notebook))) is not None:
            row["late_submission_penalty"] = penalty
        elif ((old := self._submitted[submission, notebook]).late_submission_penalty or 0.0) != penalty:
            self._change("SubmittedNotebook", old, {"late_submission_penalty": penalty})

    def _score(self, notebook: str, cell: str, result: ExerciseResult, mark: Mark) -> None:
        """Add or update a score. A score given by a person counts; they are asked again if ours has changed.

        nbgrader knows no excused student: such cells have no score, and ask for a person.
        """
        failed = mark.excused or (result.status in NOT_JUDGED and mark.score is None)
        score = None if failed else result.score / 100
        old = self._grades.get((notebook, cell))
        if old is None:
            self._new["Grade"].append(self._grade_row(notebook, cell, score, failed))
            return
        by_hand = old.manual_score is not None
        ask = failed or (by_hand and (old.needs_manual_grade or old.auto_score != score))
        self._change("Grade", old, {"auto_score": score, "needs_manual_grade": ask})

    def _comment(self, notebook: str, cell: str, text: str) -> None:
        old = self._comments.get((notebook, cell))
        if old is None:
            self._new["Comment"].append(self._comment_row(notebook, cell, text))
        else:
            self._change("Comment", old, {"auto_comment": text})

    def _grade_row(self, notebook: str, cell: str, score: float | None, by_hand: bool) -> dict[str, Any]:
        keys = {"id": self._api.new_uuid(), "notebook_id": notebook, "cell_id": cell}
        return {**keys, "auto_score": score, "needs_manual_grade": by_hand}

    def _comment_row(self, notebook: str, cell: str, text: str | None) -> dict[str, Any]:
        return {"id": self._api.new_uuid(), "notebook_id": notebook, "cell_id": cell, "auto_comment": text}

    def _change(self, table: str, old: Any, values: dict[str, Any]) -> None:
        if any(getattr(old, key) != value for key, value in values.items()):
            self._changed[table].append({"id": old.id, **values})


def penalties(mark: Mark) -> dict[str, int]:
    """Return the penalty of each exercise, in hundredths, that makes nbgrader's score the final one.

    The late penalty is divided in proportion to the scores, so no exercise falls below 0. What a person decided is a
    negative penalty of the first exercise, because nbgrader has no field for it; what came from nbgrader is there
    already.
    """
    exercises = mark.report.exercises if mark.report else ()
    cost = mark.final.lateness.penalty if mark.final else 0
    total = sum(exercise.score for exercise in exercises)
    shares: dict[str, int] = {}
    before = 0
    for exercise in exercises:
        after = before + exercise.score
        shares[exercise.id] = cost * after // total - cost * before // total if cost and total else 0
        before = after
    if exercises and mark.score is not None:
        shares[exercises[0].id] += total - sum(shares.values()) - mark.score + _from_nbgrader(mark)
    return shares


def _from_nbgrader(mark: Mark) -> int:
    """Return what adjustments from nbgrader change."""
    final = mark.final
    own = {row.sentence for row in final.adjustments if row.is_from_nbgrader} if final else set()
    return sum(change for label, change in final.steps if label in own) if final else 0


_TABLES = ("Student", "SubmittedAssignment", "SubmittedNotebook", "Grade", "Comment")


def _table_rows(db: Any, model: Any, which: Any = None, api: Any = None) -> list[Any]:
    """Return the rows of a table by its own columns: those that nbgrader computes take a query for each row."""
    query = db.query(*(column.label(column.key) for column in model.__table__.columns))
    if api is not None and model is not api.SubmittedNotebook:
        query = query.join(api.SubmittedNotebook, api.SubmittedNotebook.id == model.notebook_id)
    if api is not None:
        on = api.SubmittedAssignment.id == api.SubmittedNotebook.assignment_id
        query = query.join(api.SubmittedAssignment, on)
    return list(query if which is None else query.filter(which))


def _comment_text(mark: Mark, result: ExerciseResult) -> str:
    """Return a comment as a block of code: nbgrader renders it as Markdown, and a student's words are in it."""
    return "\n".join(f"    {line}" for line in (*summary(result).splitlines(), *notes(mark)))


def _split(name: str) -> tuple[str, str]:
    """Return first and last name of `Ada Lovelace` or `Lovelace, Ada`."""
    last, comma, first = name.partition(",")
    if comma:
        return first, last
    first, _, last = name.rpartition(" ")
    return first, last


def _name(text: str) -> str:
    """Return a name that stays in one cell of nbgrader's unquoted CSV export, and that no spreadsheet runs."""
    return harmless(" ".join(one_line(text).replace(",", " ").replace('"', " ").split()))


# Notebooks in place of those that nbgrader's autograde writes, as pages for formgrader and feedback.

OURS = "course_export"
"""The key in the metadata of our notebooks; a notebook without it is a student's, and is kept."""


def write_notebooks(
    marks: tuple[Mark, ...], cells: Mapping[str, Cells], folder: Path, assignment: str
) -> tuple[int, int]:
    """Write `folder/STUDENT/ASSIGNMENT/EXERCISE.ipynb`. Return how many are written, and how many others are kept."""
    written = others = 0
    for mark in marks:
        for result in mark.report.exercises if mark.report else ():
            file = folder / mark.student / assignment / f"{result.id}.ipynb"
            if _is_anothers(file):
                others += 1
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                text = json.dumps(_notebook(result, cells[result.id]), indent=1)
                write_atomically(file, text + "\n")
                written += 1
    return written, others


def _notebook(result: ExerciseResult, cells: Cells) -> dict[str, Any]:
    title = _cell("markdown", "title", f"# {result.title}", {})
    comment = _cell(
        "code",
        "comment",
        f"# {result.id}.py is in the submission.",
        nbgrader_metadata(cells.comment.name, solution=True),
    )
    text = summary(result)
    output = {"name": "stdout", "output_type": "stream", "text": f"{text}\n"}
    metadata = nbgrader_metadata(cells.grade.name, grade=True, locked=True, points=cells.grade.max_score)
    check = _cell("code", "check", f"check({result.id!r})", metadata) | {"outputs": [output]}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, OURS: True}
    return {"cells": [title, comment, check], "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, name: str, source: str, nbgrader: dict[str, Any]) -> dict[str, Any]:
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": source, **code}


def _is_anothers(file: Path) -> bool:
    try:
        return OURS not in json.loads(file.read_bytes())["metadata"]
    except FileNotFoundError:
        return False
    except (ValueError, KeyError, TypeError):
        return True


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
        written = WriteResult(*rows.flush(), notes=(*notes, *rows.names_replaced(), *_partly_scored(graded)))
        if autograded is not None:
            by_exercise = {cell.exercise: cell for cell in cells}
            count, others = write_notebooks(graded.with_report, by_exercise, autograded, assignment)
            kept = f"{plural(others, 'notebook')} in {printable(autograded)} {'is' if others == 1 else 'are'} not ours"
            written = replace(written, notebooks=count)
            if others:
                written = replace(written, notes=(*written.notes, f"{kept}, and kept"))
        gradebook.db.commit()
        return written


def _partly_scored(graded: Graded) -> list[str]:
    """Return a note about the students without a score who have one in some of nbgrader's cells all the same."""
    unjudged = [mark for mark in graded.with_report if mark.score is None and not mark.excused]
    partly = [
        mark.student
        for mark in unjudged
        if mark.report and any(result.status not in NOT_JUDGED for result in mark.report.exercises)
    ]
    found = "have their scores in the gradebook, and formgrader asks a person for the others"
    return [f"the exercises that were judged {found}: {named(partly)}"] if partly else []


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
    due = due_date(graded.policy, student)
    return due.astimezone(UTC).replace(tzinfo=None) if due is not None else None


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


# What people entered in nbgrader: points by hand, extra credit and comments, as rows of adjustments.csv.


def manual_marks(course: Course, url: str, assignment: str) -> Iterator[dict[str, str]]:
    """Yield the cells of a row for each notebook with points by hand, and for each with a comment only.

    The points are those of the whole notebook: by hand where there are any, else as graded, and the extra credit.
    Raises `ExportError`.
    """
    api = nbgrader_api()
    ids = {exercise.id for exercise in course.every}
    with open_gradebook(url) as gradebook:
        try:
            gradebook.find_assignment(assignment)
        except api.MissingEntry:
            known = ", ".join(sorted(one.name for one in gradebook.assignments)) or "none"
            raise ExportError(
                f"the gradebook has no assignment {assignment}, only: {known}; name it with --assignment"
            ) from None
        for submission in sorted(gradebook.assignment_submissions(assignment), key=lambda one: one.student_id):
            for notebook in sorted(submission.notebooks, key=lambda one: one.name):
                if notebook.name in ids:
                    yield from _rows(submission.student_id, notebook)


def _rows(student: str, notebook: object) -> Iterator[dict[str, str]]:
    grades = list(notebook.grades)  # type: ignore[attr-defined]
    comments = [one.manual_comment for one in notebook.comments if one.manual_comment]  # type: ignore[attr-defined]
    common = {"student": student, "exercise": notebook.name}  # type: ignore[attr-defined]
    text = " ".join(comments)
    if any(one.manual_score is not None or one.extra_credit for one in grades):
        score = sum(one.score or 0 for one in grades)  # nbgrader adds the extra credit itself
        yield {
            **common,
            "kind": "points",
            "value": f"{max(score, 0):.2f}",
            "text": (text or "graded by hand") + IN_NBGRADER,
        }
    elif text:
        yield {**common, "kind": "comment", "value": "", "text": text + IN_NBGRADER}


# A course folder for nbgrader's own commands: its configuration, and an assignment with a notebook for each exercise.
#
# A folder has all exercises of the course, or those of one of its assignments and the earlier ones that they need: an
# exercise imports those from its own folder. The names match the gradebook of `course export nbgrader`.

CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class CourseFolder:
    """The number of notebooks, of those that had other content, and whether an edited configuration was kept."""

    notebooks: int
    replaced: int
    config_kept: bool


def write_course(
    course: Course, to: Path, assignment: str, course_id: str | None, drawing: Sequence[str]
) -> CourseFolder:
    """Write the folder. Notebooks are replaced; an existing configuration that was edited is kept.

    `drawing` are the ids of the exercises that have pictures. Raises `ExportError`, and OSError.
    """
    check_names(course, assignment)
    _check_place(course, to)
    bonus = course.grading.bonus if course.grading else ()
    books = {}
    for exercise in course.exercises:
        solution = course.solutions_dir / exercise.file
        if not solution.is_file():
            raise ExportError(
                f"solutions/{exercise.file} is missing, and its notebook is made from it; run this in the course"
            )
        try:
            worth = 0.0 if exercise.id in bonus else exercise.points / 100
            text = notebook_of_text(solution.read_text("utf-8"), exercise, draws=exercise.id in drawing, worth=worth)
        except StubError as error:
            raise ExportError(str(error)) from None
        books[notebook_of(exercise.file)] = text
    source = to / "source" / assignment
    source.mkdir(parents=True, exist_ok=True)
    other = sum(write_over(source / name, text) for name, text in books.items())
    config, wanted = (
        to / CONFIG,
        _CONFIG.substitute(title=printable(course.title), course_id=repr(course_id or DEFAULT_COURSE)),
    )
    kept = config.exists() and config.read_text("utf-8") != wanted
    if not kept:
        write_atomically(config, wanted)
    return CourseFolder(len(books), other, kept)


def _check_place(course: Course, to: Path) -> None:
    """Refuse a folder outside the course, where kernels cannot find it, and folders with files of the course."""
    root, folder = course.root.resolve(), to.resolve()
    inside = [root / "exercises", course.solutions_dir, root / "tests"]
    if folder == root or not folder.is_relative_to(root) or any(folder.is_relative_to(place) for place in inside):
        raise ExportError(
            f"{printable(to)} cannot be nbgrader's course folder, since its notebooks look for course.toml in the "
            f"folders above; choose a separate folder inside {printable(root)}, like build/nbgrader"
        )


_CONFIG = Template("""\
# nbgrader's configuration for $title, made by course export nbgrader-course. Your changes are kept.

from pathlib import Path

from autograder.exports.nbgrader_plugins import SubmissionExporter, release_preprocessors

c = get_config()
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = $course_id

# Solutions are replaced by the TODO of the course, not by nbgrader's own stub.
c.GenerateAssignment.preprocessors = release_preprocessors()

# A submitted notebook is rebuilt from the text of its cells, so that damaged metadata cannot stop autograde.
c.Autograde.exporter_class = SubmissionExporter

# Seconds for a cell. A check has its own time limit, but its answer key may have to be made first.
c.ExecutePreprocessor.timeout = 900
c.ExecutePreprocessor.startup_timeout = 120

# nbgrader gives 0 points to a cell that writes to standard error. A warning is not a mistake, so all are ignored.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = "(?s)."
""")


def _nbgrader(options: ExportOptions, graded: Graded) -> ExportResult:
    name = options.assignment or graded.course.root.name
    written = write_gradebook(graded, options.to, name, options.course, options.autograded)
    new = f"{plural(written.students, 'student')}, {plural(written.submissions, 'submission')}"
    lines = [
        f"New in the gradebook: {new}, {plural(written.grades, 'grade')}; {plural(written.changed, 'row')} changed"
    ]
    if options.autograded is not None:
        lines.append(f"{plural(written.notebooks, 'notebook')} in {options.autograded}")
    return ExportResult(lines, written.notes)


def _nbgrader_course(options: ExportOptions, course: Course) -> ExportResult:
    to, name = Path(options.to), options.assignment or course.root.name
    if name in {assignment.id for assignment in course.assignments}:
        # A notebook imports those of earlier exercises, which are worth nothing in this assignment.
        course = assigned(course, replace(find_assignment(course, name), builds_on="own"))
    drawing = [exercise for exercise, drawings in load_suite(course).pictures.items() if drawings]
    made = write_course(course, to, name, options.course, drawing)
    source = to / "source" / name
    lines = [
        f"{plural(made.notebooks, 'notebook')} with the solutions in {source}{replaced(made.replaced)}; "
        "give them to nobody else",
        f"Next: cd {to}, then nbgrader generate_assignment {name}",
    ]
    edited = f"{to / CONFIG} was changed since it was made, so it stays; delete it to have it made anew"
    return ExportResult(lines, [edited] if made.config_kept else [])


FORMATS = (
    Format("nbgrader", _nbgrader, options=("assignment", "course", "autograded")),
    Format("nbgrader-course", of_course=_nbgrader_course, options=("assignment", "course")),
)
