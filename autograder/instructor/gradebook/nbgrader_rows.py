"""The rows of one assignment in nbgrader's gradebook: read once, compared, and written in bulk if they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from autograder.instructor.gradebook.adjustments import NBGRADER
from autograder.instructor.gradebook.feedback import notes, summary
from autograder.instructor.gradebook.graded import ExportError, Mark, named
from autograder.instructor.gradebook.roster import Student
from autograder.instructor.gradebook.scores import harmless
from autograder.report.printable import one_line
from autograder.report.quantities import plural
from autograder.results import ExerciseResult
from autograder.results.model import NOT_JUDGED


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
        self._students = {row.id: row for row in _rows(db, api.Student)}
        submissions = _rows(db, api.SubmittedAssignment, api.SubmittedAssignment.assignment_id == own)
        self._submissions = {row.student_id: row for row in submissions}
        notebooks = _rows(db, api.SubmittedNotebook, api.SubmittedAssignment.assignment_id == own, api)
        self._submitted = {(row.assignment_id, row.notebook_id): row for row in notebooks}
        grades = _rows(db, api.Grade, api.SubmittedAssignment.assignment_id == own, api)
        self._grades = {(row.notebook_id, row.cell_id): row for row in grades}
        comments = _rows(db, api.Comment, api.SubmittedAssignment.assignment_id == own, api)
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
    own = {row.sentence for row in final.adjustments if row.by == NBGRADER} if final else set()
    return sum(change for label, change in final.steps if label in own) if final else 0


_TABLES = ("Student", "SubmittedAssignment", "SubmittedNotebook", "Grade", "Comment")


def _rows(db: Any, model: Any, which: Any = None, api: Any = None) -> list[Any]:
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
