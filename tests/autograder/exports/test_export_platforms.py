"""What students read in a repository, on Classroom 50 and on PrairieLearn: against the rules of those platforms."""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.exports.classroom50 import classroom50
from autograder.exports.feedback import LONGEST, markdown
from autograder.exports.github_and_gitlab import annotations, code_quality, github_actions, gitlab_ci
from autograder.exports.gradescope import Seen, gradescope
from autograder.exports.junit import junit
from autograder.exports.prairielearn import prairielearn
from autograder.gradebook import ExportError, Graded, Mark
from autograder.results import Report, from_json
from tests.proof.attacks.reports import STEERS
from tests.support import export_examples as examples
from tests.support import tiny

RUNNER = {
    "CLASSROOM": "cs-principles",
    "ASSIGNMENT": "transformer",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "ada",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/org/repo/commit/a1b2c3d",
    "RELEASE_URL": "https://github.com/org/repo/releases/tag/submit%2F2026",
}
"""What Classroom 50's runner.py sets."""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return examples.graded_class(tmp_path_factory.mktemp("platforms"))


@pytest.fixture(scope="module")
def graded(course: Path) -> Graded:
    return examples.read(course)


def of(graded: Graded, student: str) -> Mark:
    return next(mark for mark in graded.marks if mark.student == student)


def with_bonus(course: Path, folder: Path) -> Graded:
    """Return the class of a course whose first exercise is a bonus."""
    own = shutil.copytree(course.parent, folder / "own") / "course"
    tiny.replaced(own / "course.toml", 'time_zone = "UTC"', f'time_zone = "UTC"\nbonus = ["{tiny.FIRST}"]')
    return examples.read(own)


def strings(data: Any) -> str:
    if isinstance(data, dict | list):
        return "\n".join(map(strings, data.values() if isinstance(data, dict) else data))
    return data if isinstance(data, str) else ""


# Markdown.


def test_the_page_has_the_score_the_exercises_and_the_first_failures(graded: Graded) -> None:
    page = markdown(graded, of(graded, "bob"))
    assert page.startswith("## Two little functions: 51.43 of 100 points\n")
    assert "2 days late: 20 % of the maximum taken off." in page
    assert "| 01 ex01\\_running\\_mean | FAIL | 11.43 of 40 |" in page
    assert "| 02 ex02\\_matrix\\_power | PASS | 60 of 60 |" in page
    assert "The running sum is not divided." in page
    assert "`course check 01` shows the evidence and a hint. 1 other check of it fails." in page
    assert "### 02" not in page


@pytest.mark.parametrize(
    ("ran", "said"),
    [
        ((), "a hint. 3 other checks were not run."),
        (("values",), "a hint. 3 other checks were not run."),
        (("values", "axes"), "a hint. 1 other check of it fails. 2 other checks were not run."),
    ],
)
def test_checks_that_were_not_run_do_not_fail(graded: Graded, ran: tuple[str, ...], said: str) -> None:
    mark = of(graded, "bob")
    assert mark.report is not None
    stopped = examples.not_run(mark.report.exercises[0], *ran)
    page = markdown(graded, replace(mark, report=replace(mark.report, exercises=(stopped,))))
    assert f"{said}\n" in page


def test_a_page_without_a_score_says_why(graded: Graded) -> None:
    page = markdown(graded, of(graded, "fay"))
    assert page.startswith("## Two little functions\n")
    assert "The grader failed here, not your code." in page


def test_a_students_words_stay_in_their_fence(graded: Graded) -> None:
    mark = of(graded, "bob")
    assert mark.report is not None
    words = "```\n# mine\n@everyone ````` <img src=x>"
    report = replace(mark.report, exercises=(examples.result(tiny.FIRST, {"values": "error"}, words),))
    page = markdown(graded, replace(mark, report=report))
    fence = "``````"
    assert page.count(f"{fence}text\n") == page.count(f"\n{fence}\n") == 1
    outside = page[: page.index(fence)] + page[page.rindex(fence) :]
    assert "everyone" not in outside
    assert "<img" not in outside


def test_a_page_fits_into_a_comment(graded: Graded) -> None:
    mark = of(graded, "bob")
    assert mark.report is not None
    failing = examples.result(tiny.FIRST, {"values": "fail"}, "long " * 190)
    report = replace(mark.report, exercises=(failing,) * 80)
    page = markdown(graded, replace(mark, report=report))
    assert len(page) < LONGEST + 1000 < 65_536
    assert re.search(r"`course check` shows \d+ more failures\.\n$", page)


# Lines in a repository.


def test_an_annotation_names_file_and_line(graded: Graded) -> None:
    (line,) = annotations(graded, of(graded, "bob")).splitlines()
    place = f"file=exercises/{tiny.FIRST}.py,line=19"
    assert line == f"::error {place},title=Exercise 01%3A the values are right::The running sum is not divided."
    assert annotations(graded, of(graded, "ada")) == ""


def test_a_students_words_are_no_command_of_a_workflow(graded: Graded) -> None:
    lines = annotations(graded, of(graded, "eve")).splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"::error file=exercises/{tiny.FIRST}.py,line=19,title=")


def test_a_line_of_a_cell_is_not_a_line_of_the_notebook(graded: Graded) -> None:
    mark = of(graded, "bob")
    data = json.loads(json.dumps(mark.report.to_json() if mark.report else {}))
    for check in data["exercises"][0]["checks"]:
        if check["finding"]:
            check["finding"]["place"] |= {"file": f"{tiny.FIRST}.ipynb", "cell": 4}
    report = from_json(data)
    line = annotations(graded, replace(mark, report=report))
    assert line.startswith(f"::error file=exercises/notebooks/{tiny.FIRST}.ipynb,title=")


def test_code_quality_has_what_gitlab_reads(graded: Graded) -> None:
    (entry,) = json.loads(code_quality(graded, of(graded, "bob")))
    assert entry["location"] == {"path": f"exercises/{tiny.FIRST}.py", "lines": {"begin": 19}}
    assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
    assert entry["check_name"]
    assert re.fullmatch("[0-9a-f]{64}", entry["fingerprint"])
    assert entry["description"].endswith("The running sum is not divided.")
    assert json.loads(code_quality(graded, of(graded, "ada"))) == []


@pytest.mark.parametrize("make", [github_actions, gitlab_ci])
def test_braces_of_a_workflow_are_whole(graded: Graded, make: Callable[..., str]) -> None:
    text = make(graded.course)
    assert yaml.safe_load(text)
    assert len(re.findall(r"\$\{\{ [^{}]+ \}\}", text)) == text.count("${{") == text.count("}}")
    assert "INDEX\n" not in text
    assert "VARIABLES" not in text
    assert "download.pytorch.org/whl/cpu" in text
    if make is github_actions:
        assert "${{ vars.PIP_EXTRA_INDEX_URL || 'https://download.pytorch.org/whl/cpu' }}" in text


def test_a_course_without_torch_names_no_index_of_torch(graded: Graded) -> None:
    plain = replace(graded.course, libraries=())
    assert "${{ vars.PIP_EXTRA_INDEX_URL }}" in github_actions(plain)
    assert "pytorch" not in github_actions(plain) + gitlab_ci(plain)
    assert "variables" not in yaml.safe_load(gitlab_ci(plain))["check"]


# Classroom 50.


def refused50(data: Mapping[str, Any]) -> list[str]:
    """Return what classroom50/result/v1 and its collector refuse, by the rules of its schema in our words."""
    texts = ("classroom", "assignment", "owner", "commit", "release", "review")
    needed = {*texts, "schema", "assignment_type", "submission", "datetime", "score", "max-score", "tests"}
    found = [f"{name} is missing" for name in needed - data.keys()]
    found += [f"{name} is unknown" for name in data.keys() - needed - {"graded_at", "submitted_by"}]
    found += [f"{name} is no text" for name in texts if not (isinstance(data[name], str) and data[name])]
    found += [] if data["schema"] == "classroom50/result/v1" else ["another schema"]
    found += [] if data["assignment_type"] in ("individual", "group", "team") else ["another type"]
    found += [] if data["submission"].startswith("submit/") else ["no tag of a submission"]
    stamp = r"\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ"
    found += [] if re.fullmatch(stamp, data["datetime"]) else ["no time"]
    found += [] if scored(data) else ["a wrong score"]
    for test in data["tests"]:
        found += [] if isinstance(test["test-name"], str) and test["test-name"] else ["a test without a name"]
        found += [] if test["passed"] in (True, False) else ["passed is no bool"]
        found += [] if scored(test) else ["a wrong score of a test"]
    return found


def scored(data: Mapping[str, Any]) -> bool:
    return type(data["score"]) is type(data["max-score"]) is int and 0 <= data["score"] <= data["max-score"]


@pytest.mark.parametrize("student", ["ada", "bob", "eve", "=cmd"])
@pytest.mark.parametrize("bonus", [False, True])
def test_classroom50_accepts_the_result(
    course: Path, tmp_path: Path, graded: Graded, student: str, bonus: bool
) -> None:
    if bonus:
        graded = with_bonus(course, tmp_path)
    data = json.loads(classroom50(RUNNER)(graded, of(graded, student)))
    assert refused50(data) == []
    score = of(graded, student).score
    assert score is not None
    assert data["max-score"] == graded.policy.maximum == (6000 if bonus else 10_000)
    assert data["score"] == min(score, graded.policy.maximum)
    assert data["review"] == data["commit"] == RUNNER["COMMIT_URL"]


def test_the_rules_of_classroom50_refuse_something(graded: Graded) -> None:
    data = json.loads(classroom50(RUNNER)(graded, of(graded, "bob")))
    for change in (
        {"score": 1.5},
        {"score": 20_000},
        {"schema": "v2"},
        {"datetime": "now"},
        {"extra": 1},
        {"owner": ""},
    ):
        assert refused50({**data, **change}), change


@pytest.mark.parametrize("name", ["CLASSROOM", "SUBMISSION_TAG", "OWNER"])
def test_outside_of_the_runner_there_is_no_result(graded: Graded, name: str) -> None:
    with pytest.raises(ExportError, match=f"the environment has no {name}, expected what Classroom 50's runner sets"):
        classroom50({**RUNNER, name: ""})(graded, of(graded, "bob"))


@pytest.mark.parametrize("make", [classroom50(RUNNER), prairielearn])
def test_a_platform_gets_no_score_where_the_grader_failed(graded: Graded, make: Callable[..., str]) -> None:
    with pytest.raises(ExportError, match=r"fay has no score to report\. The grader failed here"):
        make(graded, of(graded, "fay"))


# PrairieLearn.


def refused_pl(text: str) -> list[str]:
    """Return what PrairieLearn does not read or show of results.json, by its documents in our words."""
    data = json.loads(text)
    found = [] if len(text.encode()) <= 1 << 20 else ["more than 1 MiB"]
    found += ["NUL"] if "\0" in text else []
    if data.get("gradable") is False:
        errors = data.get("format_errors")
        return found + ([] if errors and all(isinstance(error, str) for error in errors) else ["no errors"])
    found += [] if type(data["score"]) in (int, float) and 0 <= data["score"] <= 1 else ["a wrong score"]
    for test in data["tests"]:
        texts = [test["name"], test["message"]]
        found += [] if all(isinstance(words, str) for words in texts) and test["name"] else ["no text"]
        numbers = [test["points"], test["max_points"]]
        found += [] if all(type(number) in (int, float) for number in numbers) else ["points are not shown"]
    return found


@pytest.mark.parametrize("student", ["ada", "bob", "eve", "=cmd"])
@pytest.mark.parametrize("bonus", [False, True])
def test_prairielearn_accepts_the_results(
    course: Path, tmp_path: Path, graded: Graded, student: str, bonus: bool
) -> None:
    if bonus:
        graded = with_bonus(course, tmp_path)
    text = prairielearn(graded, of(graded, student))
    assert refused_pl(text) == []
    data, score = json.loads(text), of(graded, student).score
    assert score is not None
    assert data["score"] == pytest.approx(min(score / graded.policy.maximum, 1))
    assert len(data["tests"]) == 9
    assert sum(test["max_points"] for test in data["tests"]) == pytest.approx(graded.policy.maximum / 100)


def test_a_submission_without_any_file_costs_no_attempt(graded: Graded) -> None:
    mark = of(graded, "bob")
    assert mark.report is not None
    missing = tuple(replace(exercise, status="missing", score=0) for exercise in mark.report.exercises)
    report = replace(mark.report, exercises=missing, submission={"student": "bob", "notes": ["notes.txt is not used"]})
    text = prairielearn(graded, replace(mark, report=report))
    assert refused_pl(text) == []
    wanted = f"No file of the course was found. Upload your exercises, such as {tiny.FIRST}.py."
    assert json.loads(text) == {"gradable": False, "format_errors": [wanted, "notes.txt is not used"]}


def test_long_messages_are_cut_to_what_prairielearn_takes(graded: Graded) -> None:
    mark = of(graded, "bob")
    assert mark.report is not None
    exercise = examples.result(tiny.FIRST, dict.fromkeys(examples.CHECKS[tiny.FIRST], "error"), "\U0001f600" * 5000)
    report: Report = replace(mark.report, exercises=(exercise,) * 100)
    assert refused_pl(prairielearn(graded, replace(mark, report=report))) == []


@pytest.mark.parametrize("name", ["markdown", "annotations", "code-quality", "classroom50", "prairielearn"])
def test_what_is_invisible_in_a_students_words_is_written_out(graded: Graded, name: str) -> None:
    make: Mapping[str, Callable[[Graded, Mark], str]] = {
        "markdown": markdown,
        "annotations": annotations,
        "code-quality": code_quality,
        "classroom50": classroom50(RUNNER),
        "prairielearn": prairielearn,
    }
    text = make[name](graded, of(graded, "eve"))
    shown = text if name in ("markdown", "annotations") else strings(json.loads(text))
    assert not [character for character in ("\u202e", "\x07", "\x1b") if character in shown]


HOSTILE = "\x1b[2J\x9b\x07\u202e\u2066\u200b\u3164\u034f" + "\u0301" * 3000


def hostile(data: Any) -> Any:
    """Return a report with those characters in every text but the ids, the statuses and the digests."""
    if isinstance(data, dict):
        kept = (
            "id",
            "status",
            "kind",
            "suite",
            "digest",
            "student",
            "level",
            "device",
            "isolation",
            "parts",
            "state",
            "certainty",
            "claim",
        )
        return {key: value if key in kept else hostile(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [hostile(item) for item in data]
    return f"{data}{HOSTILE}" if isinstance(data, str) else data


@pytest.mark.parametrize("name", ["markdown", "annotations", "code_quality", "prairielearn", "gradescope", "junit"])
def test_no_text_of_a_student_steers_what_a_person_reads(graded: Graded, name: str) -> None:
    makers: dict[str, Callable[[Graded, Mark], str]] = {
        "markdown": markdown,
        "annotations": annotations,
        "code_quality": code_quality,
        "prairielearn": prairielearn,
        "gradescope": gradescope(graded, Seen()),
        "junit": junit,
    }
    mark = of(graded, "bob")
    assert mark.report is not None
    text = makers[name](graded, replace(mark, report=from_json(hostile(mark.report.to_json()))))
    if name in ("code_quality", "prairielearn", "gradescope"):
        assert text.isascii()
        text = strings(json.loads(text))
    assert not STEERS.search(text)
    assert not re.search("[\u3164\u034f]|\u0301{20}", text)
