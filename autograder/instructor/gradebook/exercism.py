"""Exercism: results.json, version 3 (https://github.com/exercism/docs, building/tooling/test-runners/interface.md)."""

import json
from typing import Any

from autograder.instructor.gradebook.feedback import check_sources, check_text
from autograder.instructor.gradebook.graded import Exporter, Graded, Mark
from autograder.report.printable import one_line, printable
from autograder.report.states import STATES
from autograder.results import CheckResult, Report

MOST_MESSAGE = 65_535
MOST_OUTPUT = 500
CUT = "\nOutput was truncated. Please limit to 500 chars"
NOT_RUN = ("missing", "not_started", "held", "grader_error")


def exercism(graded: Graded) -> Exporter:
    """Return the exporter of a student's results.json; a task is an exercise, numbered by its place in the course."""
    sources = check_sources(graded.course)
    tasks = {exercise.id: number for number, exercise in enumerate(graded.course.exercises, 1)}

    def test(exercise: str, check: CheckResult) -> dict[str, Any]:
        source = sources.get((exercise, check.id))
        status = {"pass": "pass", "fail": "fail"}.get(check.status, "error")
        return {
            "name": one_line(check.title),
            "status": status,
            **({} if status == "pass" else {"message": check_text(check)[:MOST_MESSAGE]}),
            "test_code": source.code if source else "",
            "task_id": tasks[exercise],
        }

    def results(_: Graded, mark: Mark) -> str:
        report = mark.report
        assert report is not None
        tests = [test(exercise.id, check) for exercise in report.exercises for check in exercise.checks]
        return json.dumps(_results(report, tests), indent=1, ensure_ascii=False) + "\n"

    return results


def _results(report: Report, tests: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the results. The status is `error` only if no check was run; the message then says why."""
    ran = [exercise for exercise in report.exercises if exercise.status not in NOT_RUN]
    if "grader_error" in report.statuses or not ran:
        status = "grader_error" if "grader_error" in report.statuses else report.exercises[0].status
        return {"version": 3, "status": "error", "message": STATES[status].meaning, "tests": []}
    if tests and report.log.strip():
        tests[0]["output"] = _cut(printable(report.log))
    passed = all(test["status"] == "pass" for test in tests)
    return {"version": 3, "status": "pass" if passed else "fail", "tests": tests}


def _cut(text: str) -> str:
    return text if len(text) <= MOST_OUTPUT else text[: MOST_OUTPUT - len(CUT)] + CUT
