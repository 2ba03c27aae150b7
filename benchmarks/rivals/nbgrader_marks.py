"""Print the marks in an nbgrader gradebook as JSON: student to exercise to points."""

import json
import sys

from nbgrader.api import Gradebook


def main() -> None:
    """Read the database and the assignment named on the command line."""
    database, assignment = sys.argv[1:]
    with Gradebook(database) as gradebook:
        marks = {
            submission.student.id: {
                grade.name: float(grade.auto_score or 0.0) for book in submission.notebooks for grade in book.grades
            }
            for submission in gradebook.assignment_submissions(assignment)
        }
    json.dump(marks, sys.stdout)


if __name__ == "__main__":
    main()
