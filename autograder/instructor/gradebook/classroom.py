"""GitHub Classroom: results of version 3 for its grading reporter, and the workflow that makes and reports them.

The reporter stores the sum of the scores, but shows the share of tests that pass. Both agree only if all checks of a
runner have the same points, so an exercise is split into runners by points.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from autograder.course.libraries import requirements_of
from autograder.instructor.gradebook.feedback import CheckSource, check_sources, check_text
from autograder.instructor.gradebook.graded import Exporter, ExportError, Graded, Mark, named
from autograder.report.printable import one_line
from autograder.report.quantities import points
from autograder.results import CheckResult, ExerciseResult

_STATUS = {"pass": "pass", "fail": "fail"}


def classroom(graded: Graded) -> Exporter:
    """Return the exporter of a student's results by runner, as one object. Scores do not include lateness."""
    sources = check_sources(graded.course)
    tasks = {exercise.id: number for number, exercise in enumerate(graded.course.exercises, 1)}

    def results(_: Graded, mark: Mark) -> str:
        if mark.failed or mark.report is None:
            raise ExportError(f"the grader failed on {mark.student}, so there is no score to report; run it again")
        runners: dict[str, Any] = {}
        extra = 0
        for exercise in mark.report.exercises:
            bonus = exercise.id in graded.policy.grading.bonus
            for name, checks, counted in _runners(exercise, bonus):
                tests = [_test(check, sources.get((exercise.id, check.id)), tasks[exercise.id]) for check in checks]
                runners[name] = _result(tests, sum(check.max_score for check in checks) if counted else 0)
                extra += 0 if counted else sum(check.score for check in checks)
        _add_bonus(runners, extra)
        return json.dumps(runners, indent=1, ensure_ascii=False) + "\n"

    return results


def workflow(graded: Graded) -> str:
    """Return the text of .github/workflows/classroom.yml. Any report of the course says which runners there are."""
    report = next((mark.report for mark in graded.marks if mark.report is not None), None)
    if report is None:
        students = named(mark.student for mark in graded.marks)
        raise ExportError(f"{students} handed in nothing, expected one report at least; leave --student out")
    bonus = graded.policy.grading.bonus
    names = [name for exercise in report.exercises for name, _, _ in _runners(exercise, exercise.id in bonus)]
    results = "\n".join(f"          {name.upper()}_RESULTS: ${{{{ steps.grade.outputs.{name} }}}}" for name in names)
    install = requirements_of(graded.course.libraries)
    return _WORKFLOW.format(install=install, results=results, runners=",".join(names))


def _runners(exercise: ExerciseResult, bonus: bool) -> Iterator[tuple[str, list[CheckResult], bool]]:
    """Yield each runner's name, its checks, and whether they count: a bonus has no maximum and is added elsewhere."""
    name = exercise.id.split("_")[0]
    plain = [check for check in exercise.checks if not check.bonus]
    groups: list[list[CheckResult]] = []
    for check in sorted(plain, key=lambda check: -check.max_score):
        if groups and groups[-1][0].max_score - check.max_score <= 1:  # points that do not divide differ by a hundredth
            groups[-1].append(check)
        else:
            groups.append([check])
    order = {check.id: index for index, check in enumerate(exercise.checks)}
    for index, group in enumerate(groups):
        letter = chr(ord("a") + index) if len(groups) > 1 else ""
        yield f"{name}{letter}", sorted(group, key=lambda check: order[check.id]), not bonus
    if extra := [check for check in exercise.checks if check.bonus]:
        yield f"{name}bonus", extra, False


def _result(tests: list[dict[str, Any]], max_score: int) -> dict[str, Any]:
    """Return the result of one runner; one with a maximum of 0 is shown, but never fails the job."""
    status = "pass" if all(test["status"] == "pass" for test in tests) or not max_score else "fail"
    return {"version": 3, "status": status, "message": None, "max_score": max_score / 100, "tests": tests}


def _test(check: CheckResult, source: CheckSource | None, task: int) -> dict[str, Any]:
    return {
        "name": _harmless(one_line(check.title)),
        "status": _STATUS.get(check.status, "error"),
        "score": check.score / 100,
        "message": _harmless(check_text(check)),
        "output": "",
        "test_code": "",
        "task_id": task,
        "filename": source.file if source else "",
        "line_no": source.line if source else 0,
        "duration": check.seconds,
    }


def _add_bonus(runners: dict[str, Any], extra: int) -> None:
    """Add bonus points to a score that counts, because the reporter omits what has no maximum."""
    first = next((runner["tests"][0] for runner in runners.values() if runner["max_score"]), None)
    if extra and first is not None:
        first["score"] = round(first["score"] + extra / 100, 2)
        first["message"] = f"{first['message']}\n{points(extra)} bonus points are in this score.".strip()


def _harmless(text: str) -> str:
    """Return text that Actions cannot take for a command in a log line, such as one that sets another score."""
    return re.sub(":(?=:)", ": ", text).replace("##[", "## [")


_WORKFLOW = """\
# Made by `course export classroom-workflow`. It goes to .github/workflows/classroom.yml.
name: Autograding Tests
on: [push, workflow_dispatch, repository_dispatch]
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  run-autograding-tests:
    runs-on: ubuntu-latest
    if: github.actor != 'github-classroom[bot]'
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
      - name: Install the course
        env:  # a variable of the organisation may name an index with a build of torch without CUDA
          PIP_EXTRA_INDEX_URL: ${{ vars.PIP_EXTRA_INDEX_URL }}
        run: python -m pip install --quiet --constraint constraints.txt --editable {install}
      - name: Check every exercise
        id: grade
        run: |
          course check --all --json report.json > /dev/null || test $? -eq 1
          course export classroom report.json --to results.json
          python - >> "$GITHUB_OUTPUT" <<'END'
          import base64, json
          for name, result in json.load(open("results.json", encoding="utf-8")).items():
              print(name, base64.b64encode(json.dumps(result).encode()).decode(), sep="=")
          END
      - name: Autograding Reporter
        uses: classroom-resources/autograding-grading-reporter@v1
        env:
{results}
        with:
          runners: {runners}
"""
