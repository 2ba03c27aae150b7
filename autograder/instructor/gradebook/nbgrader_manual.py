"""What people entered in nbgrader: points by hand, extra credit and comments, as rows of adjustments.csv."""

from collections.abc import Iterator

from autograder.course import Course
from autograder.instructor.gradebook.adjustments import NBGRADER
from autograder.instructor.gradebook.graded import ExportError
from autograder.instructor.gradebook.nbgrader import nbgrader_api, open_gradebook


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
    common = {"student": student, "exercise": notebook.name, "by": NBGRADER}  # type: ignore[attr-defined]
    text = " ".join(comments)
    if any(one.manual_score is not None or one.extra_credit for one in grades):
        score = sum(one.score or 0 for one in grades)  # nbgrader adds the extra credit itself
        yield {**common, "kind": "points", "value": f"{max(score, 0):.2f}", "text": text or "graded by hand"}
    elif text:
        yield {**common, "kind": "comment", "value": "", "text": text}
