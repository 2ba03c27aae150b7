"""The time to write a class into nbgrader's gradebook: `course export nbgrader`, and nbgrader's own calls.

    python benchmarks/gradebook.py [STUDENTS]

Both write the same students, submissions, grades and comments into SQLite files, one after the other, in one run; then
both write again what has not changed. Elapsed and processor time; the empty gradebooks are made before. Where one does
not hold the scores of the class afterwards, it prints whose in place of a figure, and exits with 1.
"""

import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from marks import refuse

from autograder.course import read_course
from autograder.exports.feedback import summary
from autograder.exports.nbgrader import nbgrader_api, open_gradebook, penalties, write_gradebook
from autograder.gradebook import Graded, Mark, Roster, Student, policy_of
from autograder.gradebook.policy import final_score
from autograder.results import CheckResult, ExerciseResult, Finding, Place, Report

ASSIGNMENT = "a01"
MOST_SECONDS = 10.0
START = datetime(2026, 3, 1, tzinfo=UTC)
FINDING = Finding("place", "decides", "This value is not the expected one.", place=Place("file.py", 21, "forward"))


def a_class(students: int) -> Graded:
    """Return a class on the course of this folder: every exercise of everybody, some checks passed and some not."""
    course = read_course(Path(__file__).parents[1])
    rows = tuple(
        Student(f"s{number:05}", f"Given{number} Family", f"s{number}@example.org") for number in range(students)
    )
    policy = policy_of(replace(course, grading=None), Roster(rows))
    marks = []
    for place, row in enumerate(rows):
        results = tuple(
            result(exercise.id, exercise.points, (place + step) % 5) for step, exercise in enumerate(course.exercises)
        )
        report = Report(course.title, {"student": row.student}, "sha256:0", "cpu", "process", results)
        time_ = START + timedelta(minutes=place)
        marks.append(Mark(row, report, final_score(policy, row.student, time_, report.score)))
    return Graded(course, policy, tuple(marks))


def result(exercise: str, points: int, failing: int) -> ExerciseResult:
    """Return an exercise of ten checks, so many of which fail."""
    share = points // 10
    passed = [CheckResult(f"c{at}", f"claim {at}", "pass", share, share) for at in range(10 - failing)]
    failed = [CheckResult(f"f{at}", f"claim {at}", "fail", 0, share, finding=FINDING) for at in range(failing)]
    score = sum(check.score for check in passed)
    return ExerciseResult(exercise, exercise, "fail" if failing else "pass", score, points, (*passed, *failed))


def by_nbgrader(graded: Graded, url: str) -> None:
    """Write the same by nbgrader's documented calls, each of which commits, as its own documentation shows it."""
    with open_gradebook(url) as gradebook:
        gradebook.check_course("default_course")
        gradebook.update_or_create_assignment(ASSIGNMENT)
        for exercise in graded.course.exercises:
            gradebook.update_or_create_notebook(exercise.id, ASSIGNMENT)
            gradebook.update_or_create_grade_cell(
                exercise.id, exercise.id, ASSIGNMENT, max_score=exercise.points / 100, cell_type="code"
            )
            gradebook.update_or_create_solution_cell(exercise.id, exercise.id, ASSIGNMENT)
        for mark in graded.marks:
            one_by_nbgrader(gradebook, mark)


def one_by_nbgrader(gradebook: object, mark: Mark) -> None:
    """Write one student."""
    assert mark.report is not None
    assert mark.final is not None
    assert mark.final.handed_in is not None
    first, last = mark.row.name.split()
    gradebook.update_or_create_student(mark.student, first_name=first, last_name=last, email=mark.row.email)
    gradebook.update_or_create_submission(ASSIGNMENT, mark.student, timestamp=mark.final.handed_in.replace(tzinfo=None))
    taken_off = penalties(mark)
    for exercise in mark.report.exercises:
        grade = gradebook.find_grade(exercise.id, exercise.id, ASSIGNMENT, mark.student)
        grade.auto_score, grade.needs_manual_grade = exercise.score / 100, False
        gradebook.find_comment(exercise.id, exercise.id, ASSIGNMENT, mark.student).auto_comment = summary(exercise)
        notebook = gradebook.find_submission_notebook(exercise.id, ASSIGNMENT, mark.student)
        notebook.late_submission_penalty = taken_off[exercise.id] / 100
    gradebook.db.commit()


def scores(url: str) -> dict[str, float]:
    """Return the scores that nbgrader computes from a gradebook."""
    with open_gradebook(url) as gradebook:
        return {
            submission["student"]: round(submission["score"], 2)
            for submission in gradebook.submission_dicts(ASSIGNMENT)
        }


def differing(wanted: Mapping[str, float], found: Mapping[str, float]) -> list[str]:
    """Return a sentence for every student with another score than was written."""
    students = [*wanted, *(student for student in found if student not in wanted)]
    return [
        f"{student}: {found.get(student)}, expected {wanted.get(student)}"
        for student in students
        if found.get(student) != wanted.get(student)
    ]


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that passed, and those this process computed."""
    started, computed = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - started, time.process_time() - computed


def main() -> int:
    """Measure, and return 1 where the gradebook takes longer than it may."""
    warnings.filterwarnings("ignore", "Object of type <Submitted")
    students = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    graded = a_class(students)
    nbgrader_api()
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = (f"sqlite:///{folder}/{name}.db" for name in ("ours", "theirs"))
        for url in (ours, theirs):
            with open_gradebook(url):
                pass
        rows = [
            ("course export nbgrader", timed(lambda: write_gradebook(graded, ours, ASSIGNMENT))),
            ("  again, nothing changed", timed(lambda: write_gradebook(graded, ours, ASSIGNMENT))),
            ("nbgrader, call by call", timed(lambda: by_nbgrader(graded, theirs))),
            ("  again, nothing changed", timed(lambda: by_nbgrader(graded, theirs))),
        ]
        wanted = {mark.student: mark.final.score / 100 for mark in graded.marks}  # type: ignore[union-attr,operator]
        for name, url in (("course export nbgrader", ours), ("nbgrader, call by call", theirs)):
            refuse(name, differing(wanted, scores(url)))
    print(f"{students} students, {len(graded.course.exercises)} exercises each, into SQLite")
    for name, (elapsed, computed) in rows:
        print(f"{name:<26}{elapsed:8.2f} s{computed:8.2f} s of processor")
    print("the same scores in both")
    return 0 if rows[0][1][0] < MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
