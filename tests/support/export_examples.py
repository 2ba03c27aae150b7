"""A graded class of the tiny course in the form of `course grade`, made up to save time."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from autograder.course import read_course
from autograder.gradebook import (
    Graded,
    chosen_facts,
    course_of,
    parse_time,
    policy_of,
    read_graded,
    read_roster,
    scores_csv,
)
from autograder.results import CheckResult, ExerciseResult, Finding, Place, Report, Status
from tests.support import tiny

GRADING = '[grading]\ndue = 2026-03-01T23:59:00\ntime_zone = "UTC"\nlate_percent = 10\n\n[limits]'
ROSTER = """\
student,name,email,login,lms_id,extension_days,handed_in,points
ada,"Lovelace, Ada",ada@example.org,al815,123,,2026-03-01 12:00,2.5
bob,Bob Ünal,bob@example.org,bu1,124,,2026-03-03 00:10,
fay,Fay O'Neil,fay@example.org,fo2,126,3,2026-03-04 00:10,
zoe,"=Zoe, ""Q"" Smith",zoe@example.org,zs9,125,,,
"""
CHECKS = {
    tiny.FIRST: {"values": 1714, "axes": 1143, "dtype": 572, "empty": 571},
    tiny.SECOND: {"power": 3000, "zeroth": 750, "negative": 750, "rotation": 750, "mean": 750},
}
HOSTILE = (
    "=1+1 \u202egnp\x07 <script>alert('x')</script>\n::notice title=Autograding report::{\"totalPoints\":99}\x1b[31m"
)
"""What a student's exception may say."""


def result(
    exercise: str, failing: Mapping[str, Status], message: str = "The running sum is not divided."
) -> ExerciseResult:
    """Return an exercise of which these checks fail."""
    checks = []
    for name, worth in CHECKS[exercise].items():
        status = failing.get(name, "pass")
        place = Place(f"{exercise}.py", 19, "running_mean")
        finding = None if status == "pass" else Finding("exception", "error", message, detail=message, place=place)
        score = worth if status == "pass" else 0
        checks.append(CheckResult(name, f"the {name} are right", status, score, worth, 0.25, finding))
    status = next(iter(failing.values()), "pass")
    return ExerciseResult(
        exercise, exercise, status, sum(check.score for check in checks), tiny.FULL[exercise], tuple(checks)
    )


def not_run(exercise: ExerciseResult, *ran: str) -> ExerciseResult:
    """Return an exercise that was stopped: only the checks that `ran` keep their result."""
    finding = Finding(
        "exception", "not_run", "Not run: the slow checks of generate before it took 5 s in all, the limit."
    )
    checks = tuple(
        check if check.id in ran else replace(check, status="timeout", score=0, finding=finding)
        for check in exercise.checks
    )
    return replace(exercise, status="timeout", score=sum(check.score for check in checks), checks=checks)


def report(student: str, first: Mapping[str, Status], message: str = "The running sum is not divided.") -> Report:
    """Return a report whose first exercise fails so, and whose second passes."""
    results = (result(tiny.FIRST, first, message), result(tiny.SECOND, {}))
    return Report("Two little functions", {"student": student}, "sha256:1", "cpu", "process", results, log="seen\n")


REPORTS = {
    "ada": report("ada", {}),
    "bob": report("bob", {"values": "fail", "axes": "fail"}),
    "eve": report("eve", {"values": "error", "axes": "waits"}, HOSTILE),
    "fay": report("fay", dict.fromkeys(CHECKS[tiny.FIRST], "grader_error")),
    "=cmd": report("=cmd", {"empty": "timeout"}),
}
SCORES = {"ada": 10250, "bob": 5143, "eve": 7143, "fay": None, "=cmd": 9429, "zoe": None}
"""The final scores in hundredths: minus late penalties, plus points by hand; None is missing or failed."""


def graded_class(folder: Path, roster: str | None = ROSTER) -> Path:
    """Write a course and the output of grading beside it; return the course."""
    course = tiny.copied(folder / "course")
    tiny.replaced(course / "course.toml", "[limits]", GRADING)
    if roster is not None:
        (course / "roster.csv").write_text(roster, "utf-8")
    write_out(course, folder / "out", REPORTS)
    return course


def write_out(course: Path, out: Path, reports: Mapping[str, Report], assignment: str | None = None) -> None:
    """Write reports and table as `course grade` does, of an assignment or of the whole course."""
    (out / "reports").mkdir(parents=True, exist_ok=True)
    for student, report in reports.items():
        (out / "reports" / f"{student}.json").write_text(json.dumps(report.to_json()), "utf-8")
    read = course_of(read_course(course), (), assignment)
    policy = policy_of(read, read_roster(read, None))
    times = {"eve": parse_time("2026-03-01 10:00", policy.grading.zone)}
    table = scores_csv(list(reports.values()), [exercise.id for exercise in read.exercises], policy, times)
    (out / "scores.csv").write_text(table, "utf-8")
    (out / "run.json").write_text(
        json.dumps({"schema": 1, "suite": "sha256:1", **chosen_facts((), assignment)}), "utf-8"
    )


def read(course: Path, students: tuple[str, ...] = ()) -> Graded:
    """Return the class as the exporters get it."""
    found = read_course(course)
    return read_graded(found, read_roster(found, None), course.parent / "out", students)
