"""GitHub Classroom: results of version 3 for its grading reporter, and the workflow that makes and reports them.

The reporter stores the sum of the scores, and shows the share of tests that pass. So that both say the same, a runner
has only checks that are worth the same: an exercise is one runner or a few.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from autograder.instructor.gradebook.feedback import Written, told, written_checks
from autograder.instructor.gradebook.graded import Exporter, ExportError, Graded, Mark, named
from autograder.report.printable import one_line
from autograder.report.words import points
from autograder.results import CheckResult, ExerciseResult

_STATUS = {"pass": "pass", "fail": "fail"}


def classroom(graded: Graded) -> Exporter:
    """Return what makes one object of a student's results, by runner. A score is what was earned, lateness apart."""
    written = written_checks(graded.course)
    tasks = {each.id: place for place, each in enumerate(graded.course.exercises, 1)}

    def results(_: Graded, mark: Mark) -> str:
        if mark.failed or mark.report is None:
            raise ExportError(f"the grader failed on {mark.student}, so there is no score to report; run it again")
        runners: dict[str, Any] = {}
        extra = 0
        for exercise in mark.report.exercises:
            bonus = exercise.id in graded.policy.grading.bonus
            for name, checks, counted in _runners(exercise, bonus):
                tests = [_test(each, written.get((exercise.id, each.id)), tasks[exercise.id]) for each in checks]
                runners[name] = _result(tests, sum(each.max_score for each in checks) if counted else 0)
                extra += 0 if counted else sum(each.score for each in checks)
        _add_bonus(runners, extra)
        return json.dumps(runners, indent=1, ensure_ascii=False) + "\n"

    return results


def workflow(graded: Graded) -> str:
    """Return the workflow file for .github/workflows/classroom.yml: any report of the course says which runners."""
    report = next((each.report for each in graded.marks if each.report is not None), None)
    if report is None:
        asked = named(each.student for each in graded.marks)
        raise ExportError(f"{asked} handed in nothing, expected one report at least; leave --student out")
    bonus = graded.policy.grading.bonus
    names = [name for each in report.exercises for name, _, _ in _runners(each, each.id in bonus)]
    results = "\n".join(f"          {name.upper()}_RESULTS: ${{{{ steps.grade.outputs.{name} }}}}" for name in names)
    return _WORKFLOW.format(results=results, runners=",".join(names))


def _runners(exercise: ExerciseResult, bonus: bool) -> Iterator[tuple[str, list[CheckResult], bool]]:
    """Yield each runner's name, its checks, and whether they count: a bonus has no maximum, and counts elsewhere."""
    name = exercise.id.split("_")[0]
    plain = [each for each in exercise.checks if not each.bonus]
    groups: list[list[CheckResult]] = []
    for check in sorted(plain, key=lambda each: -each.max_score):
        if groups and groups[-1][0].max_score - check.max_score <= 1:  # points that do not divide differ by a hundredth
            groups[-1].append(check)
        else:
            groups.append([check])
    order = {each.id: place for place, each in enumerate(exercise.checks)}
    for place, group in enumerate(groups):
        letter = chr(ord("a") + place) if len(groups) > 1 else ""
        yield f"{name}{letter}", sorted(group, key=lambda each: order[each.id]), not bonus
    if extra := [each for each in exercise.checks if each.bonus]:
        yield f"{name}bonus", extra, False


def _result(tests: list[dict[str, Any]], max_score: int) -> dict[str, Any]:
    """Return what one runner found; one whose maximum is 0 is shown and never fails the job."""
    status = "pass" if all(each["status"] == "pass" for each in tests) or not max_score else "fail"
    return {"version": 3, "status": status, "message": None, "max_score": max_score / 100, "tests": tests}


def _test(check: CheckResult, written: Written | None, task: int) -> dict[str, Any]:
    return {
        "name": _harmless(one_line(check.title)),
        "status": _STATUS.get(check.status, "error"),
        "score": check.score / 100,
        "message": _harmless(told(check)),
        "output": "",
        "test_code": "",
        "task_id": task,
        "filename": written.file if written else "",
        "line_no": written.line if written else 0,
        "duration": check.seconds,
    }


def _add_bonus(runners: dict[str, Any], extra: int) -> None:
    """Add bonus points to a score that counts: the reporter leaves out whatever has no maximum."""
    first = next((each["tests"][0] for each in runners.values() if each["max_score"]), None)
    if extra and first is not None:
        first["score"] = round(first["score"] + extra / 100, 2)
        first["message"] = f"{first['message']}\n{points(extra)} bonus points are in this score.".strip()


def _harmless(text: str) -> str:
    """Return text that a log line cannot be made a command of Actions with, such as a report of another score."""
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
        run: python -m pip install --quiet --constraint constraints.txt --editable .
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
