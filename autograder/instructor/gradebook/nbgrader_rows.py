"""The rows of one assignment in nbgrader's gradebook: read once, compared, and what differs written in bulk."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from autograder.instructor.gradebook.feedback import notes, summary
from autograder.instructor.gradebook.graded import ExportError, Mark
from autograder.instructor.gradebook.roster import Student
from autograder.instructor.gradebook.scores import harmless
from autograder.report.printable import one_line
from autograder.results import ExerciseResult


@dataclass(frozen=True)
class Cells:
    """Where an exercise's score and comment go."""

    exercise: str
    notebook: Any
    grade: Any
    comment: Any


class Rows:
    """What is in the gradebook of an assignment, and what is to be added to it or changed in it.

    Ids are made here, so that rows of five tables go in together without asking for each other's.
    """

    def __init__(self, gradebook: Any, assignment: Any) -> None:
        import nbgrader.api

        self._api: Any = nbgrader.api
        self._db = gradebook.db
        self._assignment = assignment
        self._new: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}
        self._changed: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES}

    def cells(self, exercise: str, worth: float) -> Cells:
        """Return the cells of an exercise, made where its notebook has none. Call it before `load`."""
        api, db = self._api, self._db
        notebook = next((each for each in self._assignment.notebooks if each.name == exercise), None)
        if notebook is None:
            notebook = api.Notebook(name=exercise, assignment=self._assignment)
            db.add(notebook)
        grade = self._grade_cell(notebook, exercise)
        if grade is None:
            grade = api.GradeCell(name=exercise, notebook=notebook, max_score=worth, cell_type="code")
            db.add(grade)
        elif not notebook.source_cells:
            grade.max_score = worth
        solutions = sorted(notebook.solution_cells, key=lambda each: (each.name != exercise, each.name))
        comment = solutions[0] if solutions else api.SolutionCell(name=exercise, notebook=notebook)
        db.add(comment)
        db.flush()
        return Cells(exercise, notebook, grade, comment)

    def _grade_cell(self, notebook: Any, exercise: str) -> Any:
        """Return the cell for the score: the one named like the exercise, else the only one no person grades."""
        answers = {each.name for each in notebook.solution_cells}
        named = [each for each in notebook.grade_cells if each.name == exercise]
        tests = named or [each for each in notebook.grade_cells if each.name not in answers]
        if len(tests) > 1:
            found = ", ".join(sorted(each.name for each in tests))
            raise ExportError(f"the notebook {exercise} has the grade cells {found}; call the one to fill {exercise}")
        return tests[0] if tests else None

    def load(self) -> None:
        """Read what is there, a query for each table."""
        api, db, own = self._api, self._db, self._assignment.id
        self._db.expire(self._assignment)
        self._notebooks = list(self._assignment.notebooks)
        self._graded = {each.id: [*each.grade_cells, *each.task_cells] for each in self._notebooks}
        self._commented = {each.id: [*each.solution_cells, *each.task_cells] for each in self._notebooks}
        self._students = {each.id: each for each in _rows(db, api.Student)}
        submissions = _rows(db, api.SubmittedAssignment, api.SubmittedAssignment.assignment_id == own)
        self._submissions = {each.student_id: each for each in submissions}
        notebooks = _rows(db, api.SubmittedNotebook, api.SubmittedAssignment.assignment_id == own, api)
        self._submitted = {(each.assignment_id, each.notebook_id): each for each in notebooks}
        grades = _rows(db, api.Grade, api.SubmittedAssignment.assignment_id == own, api)
        self._grades = {(each.notebook_id, each.cell_id): each for each in grades}
        comments = _rows(db, api.Comment, api.SubmittedAssignment.assignment_id == own, api)
        self._comments = {(each.notebook_id, each.cell_id): each for each in comments}
        self._wanted: dict[tuple[str, str], dict[str, Any]] = {}

    def student(self, row: Student) -> None:
        """Have a student there, with what the roster knows; what it does not know stays as it is."""
        names = [_name(each) for each in _split(row.name)]
        known = {"first_name": names[0], "last_name": names[1], "email": row.email, "lms_user_id": row.lms_id}
        values = {key: value for key, value in known.items() if value}
        found = self._students.get(row.student)
        if found is None:
            empty = dict.fromkeys(known)
            self._new["Student"].append({"id": row.student, **empty, **values})
        else:
            self._change("Student", found, values)

    def submission(
        self, mark: Mark, timestamp: datetime | None, extension: timedelta | None, cells: Sequence[Cells]
    ) -> None:
        """Have a submission there with its times, penalties, scores and comments."""
        values = {key: each for key, each in (("timestamp", timestamp), ("extension", extension)) if each is not None}
        found = self._submissions.get(mark.student)
        if found is None:
            submission: str = self._api.new_uuid()
            times = {"timestamp": None, "extension": None, **values}
            keys = {"id": submission, "assignment_id": self._assignment.id, "student_id": mark.student}
            self._new["SubmittedAssignment"].append({**keys, **times})
        else:
            submission = found.id
            self._change("SubmittedAssignment", found, values)
        taken_off = penalties(mark)
        notebooks = {each.id: self._notebook(submission, each.id) for each in self._notebooks}
        results = {each.id: each for each in mark.report.exercises} if mark.report else {}
        for each in cells:
            if (result := results.get(each.exercise)) is not None:
                notebook = notebooks[each.notebook.id]
                self._penalty(submission, each.notebook.id, taken_off[each.exercise])
                self._score(notebook, each.grade.id, result)
                self._comment(notebook, each.comment.id, _comment_text(mark, result))

    def complete(self) -> None:
        """Give every submitted notebook a grade and a comment for each cell, as nbgrader itself does."""
        there = {(each.id, each.notebook_id) for each in self._submitted.values()}
        there |= {(each["id"], each["notebook_id"]) for each in self._new["SubmittedNotebook"]}
        graded = {(each["notebook_id"], each["cell_id"]) for each in self._new["Grade"]} | self._grades.keys()
        commented = {(each["notebook_id"], each["cell_id"]) for each in self._new["Comment"]} | self._comments.keys()
        for notebook, source in sorted(there):
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
        found = self._submitted.get((submission, notebook))
        if found is not None:
            return str(found.id)
        row = {"id": self._api.new_uuid(), "assignment_id": submission, "notebook_id": notebook}
        self._wanted[submission, notebook] = row | {"flagged": False, "late_submission_penalty": None}
        self._new["SubmittedNotebook"].append(self._wanted[submission, notebook])
        return str(row["id"])

    def _penalty(self, submission: str, notebook: str, hundredths: int) -> None:
        penalty = hundredths / 100
        if (row := self._wanted.get((submission, notebook))) is not None:
            row["late_submission_penalty"] = penalty
        elif (self._submitted[submission, notebook].late_submission_penalty or 0.0) != penalty:
            found = self._submitted[submission, notebook]
            self._change("SubmittedNotebook", found, {"late_submission_penalty": penalty})

    def _score(self, notebook: str, cell: str, result: ExerciseResult) -> None:
        """Note a score; where a person has given one, that counts, and he is asked again if ours is another now."""
        failed = result.status == "grader_error"
        score = None if failed else result.score / 100
        found = self._grades.get((notebook, cell))
        if found is None:
            self._new["Grade"].append(self._grade_row(notebook, cell, score, failed))
            return
        by_hand = found.manual_score is not None
        ask = failed or (by_hand and (found.needs_manual_grade or found.auto_score != score))
        self._change("Grade", found, {"auto_score": score, "needs_manual_grade": ask})

    def _comment(self, notebook: str, cell: str, text: str) -> None:
        found = self._comments.get((notebook, cell))
        if found is None:
            self._new["Comment"].append(self._comment_row(notebook, cell, text))
        else:
            self._change("Comment", found, {"auto_comment": text})

    def _grade_row(self, notebook: str, cell: str, score: float | None, by_hand: bool) -> dict[str, Any]:
        keys = {"id": self._api.new_uuid(), "notebook_id": notebook, "cell_id": cell}
        return {**keys, "auto_score": score, "needs_manual_grade": by_hand}

    def _comment_row(self, notebook: str, cell: str, text: str | None) -> dict[str, Any]:
        return {"id": self._api.new_uuid(), "notebook_id": notebook, "cell_id": cell, "auto_comment": text}

    def _change(self, table: str, found: Any, values: dict[str, Any]) -> None:
        if any(getattr(found, key) != value for key, value in values.items()):
            self._changed[table].append({"id": found.id, **values})


def penalties(mark: Mark) -> dict[str, int]:
    """Return what is taken off each exercise, in hundredths, so that nbgrader's score comes to the final one.

    What lateness costs is shared out as the score is, no exercise below 0; points by hand are taken off the first,
    with their sign turned, for nbgrader has no place of its own for them.
    """
    exercises = mark.report.exercises if mark.report else ()
    cost = mark.final.lateness.penalty if mark.final else 0
    total = sum(each.score for each in exercises)
    shares: dict[str, int] = {}
    before = 0
    for each in exercises:
        after = before + each.score
        shares[each.id] = cost * after // total - cost * before // total if cost else 0
        before = after
    if exercises and mark.score is not None:
        shares[exercises[0].id] -= mark.row.points
    return shares


_TABLES = ("Student", "SubmittedAssignment", "SubmittedNotebook", "Grade", "Comment")


def _rows(db: Any, model: Any, which: Any = None, api: Any = None) -> list[Any]:
    """Return the rows of a table by its own columns alone: what nbgrader computes beside them takes a query a row."""
    query = db.query(*(column.label(column.key) for column in model.__table__.columns))
    if api is not None and model is not api.SubmittedNotebook:
        query = query.join(api.SubmittedNotebook, api.SubmittedNotebook.id == model.notebook_id)
    if api is not None:
        on = api.SubmittedAssignment.id == api.SubmittedNotebook.assignment_id
        query = query.join(api.SubmittedAssignment, on)
    return list(query if which is None else query.filter(which))


def _comment_text(mark: Mark, result: ExerciseResult) -> str:
    """Return a comment as a block of code: feedback renders it as Markdown, and a student's words are in it."""
    return "\n".join(f"    {line}" for line in (*summary(result).splitlines(), *notes(mark)))


def _split(name: str) -> tuple[str, str]:
    """Return first and last name of `Ada Lovelace` or `Lovelace, Ada`."""
    last, comma, first = name.partition(",")
    if comma:
        return first, last
    first, _, last = name.rpartition(" ")
    return first, last


def _name(text: str) -> str:
    """Return a name that nbgrader export, which quotes nothing, writes into one cell, and no spreadsheet runs."""
    return harmless(" ".join(one_line(text).replace(",", " ").replace('"', " ").split()))
