"""Every decision of a person reaches every output, for every kind of student; and no output says another thing."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from autograder.course import Assignment, read_course
from autograder.exports.canvas_and_moodle import fill, write_archive
from autograder.exports.classroom50 import classroom50
from autograder.exports.feedback import feedback, markdown
from autograder.exports.gradescope import Seen, gradescope
from autograder.exports.junit import junit
from autograder.exports.prairielearn import prairielearn
from autograder.gradebook import (
    ExportError,
    Graded,
    Mark,
    decided_again,
    read_graded,
    read_roster,
    scores_csv,
    term_csv,
)
from autograder.gradebook.decisions import COLUMNS
from autograder.instructor.page import make_class_page
from autograder.results import ExerciseResult, Finding, Report, Status
from tests.support import export_examples as examples
from tests.support import tiny

BOTH = (tiny.FIRST, tiny.SECOND)
KINDS = ("good", "late", "missing", "held", "failed")
"""Full marks in time, and two days late; nothing; nothing that can be read; the grader failed on one exercise."""

EXCUSED = "excused"
DECISIONS: Mapping[str, tuple[tuple[tuple[str, str, str], ...], tuple[int | str | None, ...]]] = {
    "none": ((), (100, 80, None, None, None)),
    "points": (((tiny.FIRST, "points", "30"),), (90, 70, 30, None, 90)),
    "every": (((tiny.FIRST, "points", "30"), (tiny.SECOND, "points", "20")), (50, 30, 50, 50, 50)),
    "whole": ((("*", "points", "12"),), (12, 12, 12, 12, 12)),
    "zero": ((("*", "points", "0"),), (0, 0, 0, 0, 0)),
    "add": (((tiny.FIRST, "add", "2"),), (102, 82, 2, None, None)),
    "more": ((("*", "add", "2"),), (102, 82, 2, None, None)),
    "part": (((tiny.FIRST, "excused", ""),), (100, 80, None, None, 100)),
    "excused": ((("*", "excused", ""),), (EXCUSED,) * 5),
    "extension": ((("*", "extension", "3"),), (100, 100, None, None, None)),
    "time": ((("*", "handed_in", "2026-03-01 10:00"),), (100, 100, None, None, None)),
    "comment": ((("*", "comment", ""),), (100, 80, None, None, None)),
    "undone": ((("*", "points", "12"), ("*", "withdraw", "points")), (100, 80, None, None, None)),
}
"""Each decision as rows of adjustments.csv, and the final points it leads to, in the order of KINDS."""

STUDENTS = {f"{decision}-{kind}": (decision, kind) for decision in DECISIONS for kind in KINDS}
EXPECTED = {student: DECISIONS[decision][1][KINDS.index(kind)] for student, (decision, kind) in STUDENTS.items()}
REASON = "because of the letter"
NO_DECISION = re.compile("decides|obody has decided|No score yet|a person decides|without a score", re.IGNORECASE)
HELD = Finding("structure", "held", "No file could be read. It has no score until your teacher decides.")


def of_kind(student: str, kind: str) -> Report | None:
    if kind == "missing":
        return None
    if kind == "held":
        exercises = tuple(all_of(examples.result(id_, {}), "held", HELD) for id_ in BOTH)
        about = {"student": student, "notes": [], "found": ["essay.docx"]}
        return Report("Two little functions", about, "sha256:1", "cpu", "process", exercises)
    failed: dict[str, Status] = dict.fromkeys(examples.CHECKS[tiny.FIRST], "grader_error") if kind == "failed" else {}
    return replace(examples.report(student, failed), log="")


def all_of(exercise: ExerciseResult, status: Status, finding: Finding) -> ExerciseResult:
    checks = tuple(replace(check, status=status, score=0, finding=finding) for check in exercise.checks)
    return replace(exercise, status=status, score=0, checks=checks)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    course = examples.graded_class(tmp_path_factory.mktemp("decisions"))
    rows = [["student", "name", "lms_id", "handed_in"]]
    for number, (student, (_, kind)) in enumerate(STUDENTS.items(), 1):
        time = {"missing": "", "late": "2026-03-03 00:10"}.get(kind, "2026-03-01 12:00")
        rows.append([student, f"Student {student.replace('-', ' ').title()}", str(number), time])
    write(course / "roster.csv", rows)
    decided = [
        [student, exercise, kind, value, REASON, "Grace", "2026-03-05 10:00"]
        for student, (decision, _) in STUDENTS.items()
        for exercise, kind, value in DECISIONS[decision][0]
    ]
    write(course / "adjustments.csv", [list(COLUMNS), *decided])
    for file in (course.parent / "out" / "reports").glob("*.json"):
        file.unlink()
    reports = {student: of_kind(student, kind) for student, (_, kind) in STUDENTS.items()}
    examples.write_out(course, course.parent / "out", {name: one for name, one in reports.items() if one})
    return examples.read(course)


def write(file: Path, rows: list[list[str]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


def as_text(expected: int | str | None) -> str:
    return "" if expected is None else expected if isinstance(expected, str) else f"{expected:.2f}"


def test_the_table_and_the_term_have_every_decision(graded: Graded) -> None:
    reports = [mark.report for mark in graded.marks if mark.report is not None]
    times = {mark.student: mark.final.handed_in for mark in graded.marks if mark.final is not None}
    found = rows_of(scores_csv(reports, list(BOTH), graded.policy, times))
    assert {student: row["final"] for student, row in found.items()} == {
        student: as_text(expected) for student, expected in EXPECTED.items()
    }
    for student, (decision, _) in STUDENTS.items():
        assert (REASON in found[student]["notes"]) == (decision not in ("none", "undone")), student
    runs = ((Assignment("week1", "Week 1", BOTH, graded.policy.grading), graded),)
    term = rows_of(term_csv(runs, 0, datetime(2026, 4, 1, tzinfo=UTC)))
    for student, expected in EXPECTED.items():
        assert term[student]["week1"] == as_text(expected), student
        kind = STUDENTS[student][1]
        waits = expected is None and kind != "missing"
        total = "" if waits or expected == EXCUSED else as_text(expected) or "0.00"
        assert (term[student]["term"], "nobody has decided" in term[student]["notes"]) == (total, waits), student
        assert ("counts 0" in term[student]["notes"]) == (expected is None and kind == "missing"), student


def rows_of(text: str) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in csv.DictReader(io.StringIO(text))}


ENVIRONMENT = dict.fromkeys(("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "OWNER"), "x")
Reader = Callable[[Graded, Mark], tuple[object, str]]
"""Returns the score that an output has for a mark, and its text."""


def page(graded: Graded, mark: Mark) -> tuple[object, str]:
    text = feedback(graded, mark)
    (total,) = re.findall('<p class="total">(.*?)</p>', text)
    number = re.fullmatch("([0-9.]+) of 100 points", total)
    return {"Excused": EXCUSED, "No score yet": None}.get(total, float(number[1]) if number else total), text


def comment(graded: Graded, mark: Mark) -> tuple[object, str]:
    text = markdown(graded, mark)
    number = re.match("## Two little functions: ([0-9.]+) of 100 points", text)
    return float(number[1]) if number else EXCUSED if "Excused" in text else None, text


def xml(graded: Graded, mark: Mark) -> tuple[object, str]:
    text = junit(graded, mark)
    (suite,) = ElementTree.fromstring(text.encode())
    values = {entry.get("name"): entry.get("value") for entry in suite.iterfind("properties/property")}
    final = values.get("final")
    return EXCUSED if final == EXCUSED else final and float(final), text


def results(graded: Graded, mark: Mark) -> tuple[object, str]:
    text = gradescope(graded, Seen())(graded, mark)
    data = json.loads(text)
    if "score" not in data:
        assert data["tests"], "Gradescope takes no results without a score and without a test"
        assert not any("score" in test for test in data["tests"]), "Gradescope would add them up"
    return data.get("score", EXCUSED if mark.excused else None), text


def external(graded: Graded, mark: Mark) -> tuple[object, str]:
    return refused(lambda: prairielearn(graded, mark), mark, lambda data: data.get("score", 0) * 100)


def classroom(graded: Graded, mark: Mark) -> tuple[object, str]:
    return refused(lambda: classroom50(ENVIRONMENT)(graded, mark), mark, lambda data: data["score"] / 100)


def refused(make: Callable[[], str], mark: Mark, score: Callable[[Any], float]) -> tuple[object, str]:
    """Return the score up to the maximum, as these platforms take no more; and none where they get no result."""
    try:
        text = make()
    except ExportError as error:
        return (EXCUSED if mark.excused else None), str(error)
    return round(score(json.loads(text)), 2), text


@pytest.mark.parametrize("read", [page, comment, xml, results, external, classroom])
def test_an_output_for_one_student_has_every_decision(graded: Graded, read: Reader) -> None:
    shown = {mark.student: mark for mark in graded.to_show}
    assert set(shown) == {name for name, value in EXPECTED.items() if value is not None or "missing" not in name}
    capped = read in (external, classroom)
    for student, mark in shown.items():
        score, text = read(graded, mark)
        expected = EXPECTED[student]
        most = min(expected, 100) if capped and isinstance(expected, int) else expected
        assert score == most, (student, text)
        if expected is not None:
            assert not NO_DECISION.search(text), (student, text)
        if expected not in (None, EXCUSED) and STUDENTS[student][0] not in ("none", "undone") and read is not classroom:
            assert REASON in text, (student, text)


def test_the_files_of_the_platforms_have_every_decision(graded: Graded, tmp_path: Path) -> None:
    ids = {student: number for number, student in enumerate(STUDENTS, 1)}
    canvas, moodle = tmp_path / "canvas.csv", tmp_path / "moodle.csv"
    write(canvas, [["Student", "ID", "Work (9)"], *(["x", str(number), ""] for number in ids.values())])
    heads = ["Identifier", "Full name", "Grade", "Maximum Grade", "Feedback comments"]
    write(moodle, [heads, *([f"Participant {number}", "x", "", "100.00", ""] for number in ids.values())])
    found = {row[1]: row[2] for row in csv.reader(io.StringIO(fill(graded, "canvas", canvas, None, False).text))}
    graded_rows = {row[0]: row for row in csv.reader(io.StringIO(fill(graded, "moodle", moodle, None, False).text))}
    for student, number in ids.items():
        expected = EXPECTED[student]
        assert found[str(number)] == ("EX" if expected == EXCUSED else as_text(expected)), student
        row = graded_rows[f"Participant {number}"]
        assert row[2] == ("" if expected == EXCUSED else as_text(expected)), student
        assert not NO_DECISION.search(row[4]), row[4]
        decided = expected not in (None, EXCUSED) and STUDENTS[student][0] not in ("none", "undone")
        assert (REASON in row[4]) == decided, student
    pages, without = write_archive(graded, "moodle", None, tmp_path / "pages.zip")
    assert (pages, without) == (len(graded.to_show), [])


def test_every_output_has_a_void_check_and_says_why(tmp_path: Path) -> None:
    course = examples.graded_class(tmp_path)
    write(
        course / "adjustments.csv",
        [list(COLUMNS), ["*", tiny.FIRST, "void", "values", REASON, "Grace", "2026-03-05 10:00"]],
    )
    graded = examples.read(course)
    scores = {mark.student: mark.score for mark in graded.marks}
    assert scores == {**examples.SCORES, "bob": 5143 + 1714, "eve": 7143 + 1714}
    shown = {mark.student: mark for mark in graded.to_show}
    for student in ("ada", "bob", "eve"):
        for read in (page, comment, xml, results, external, classroom):
            score, text = read(graded, shown[student])
            most = 100 if read in (external, classroom) else 1000
            assert score == min((scores[student] or 0) / 100, most), (student, read)
            assert REASON in text or read is classroom, (student, read)
    assert "0 of 17.14, void" in feedback(graded, shown["bob"])
    assert "0 of 11.43, void" not in feedback(graded, shown["bob"])
    table = rows_of(scores_csv([mark.report for mark in graded.marks if mark.report], list(BOTH), graded.policy))
    assert REASON in table["bob"]["notes"]
    assert f"for everybody, by Grace on 2026-03-05 10:00: {REASON}." in make_class_page(
        graded.course, graded, course.parent / "out", names=True, submissions=None
    ).file.read_text("utf-8")
    write(
        course / "adjustments.csv",
        [list(COLUMNS), ["*", tiny.FIRST, "void", "vales", REASON, "Grace", "2026-03-05 10:00"]],
    )
    assert f"a void check vales of {tiny.FIRST}, which is in no report" in " ".join(examples.read(course).notes)


@pytest.mark.worker
def test_the_gradebook_of_nbgrader_has_every_decision(graded: Graded, tmp_path: Path) -> None:
    pytest.importorskip("nbgrader")
    from nbgrader.api import Gradebook

    from autograder.exports.nbgrader import write_gradebook

    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    write_gradebook(graded, url, "work")
    with Gradebook(url) as gradebook:
        for student, expected in EXPECTED.items():
            by_name = {one.assignment.name: one for one in gradebook.student_submissions(student)}
            if "missing" in student and expected in (None, EXCUSED):
                assert not by_name, student
                continue
            submission = by_name["work"]
            late = sum(book.late_submission_penalty or 0 for book in submission.notebooks)
            asks = submission.needs_manual_grade
            if expected in (None, EXCUSED):
                assert asks, student
                assert expected is None or submission.score == 0, student
            else:
                assert (round(submission.score - late, 2), asks) == (expected, False), student
                text = " ".join(one.auto_comment or "" for book in submission.notebooks for one in book.comments)
                assert not NO_DECISION.search(text), student


def test_the_class_page_says_of_no_decision_that_it_waits(graded: Graded, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    made = make_class_page(graded.course, graded, tmp_path / "out", names=True, submissions=None)
    text = made.file.read_text("utf-8")
    held = [name for name, (_, kind) in STUDENTS.items() if kind == "held" and EXPECTED[name] is None]
    missing = [name for name, (_, kind) in STUDENTS.items() if kind == "missing" and EXPECTED[name] is None]
    assert f"{len(held)} submissions are held" in text
    assert f"<dt>missing</dt><dd>{len(missing)}</dd>" in text
    with (tmp_path / "out" / made.folder.name / "look.csv").open(newline="", encoding="utf-8") as rows:
        looks = [" ".join(row) for row in csv.reader(rows)]
    assert sum("held, no score" in row for row in looks) == len(held)
    earned = {"good": 100, "late": 100}
    finals = {name: None if value == EXCUSED else value for name, value in EXPECTED.items()}
    changed = sum(finals[name] != earned.get(kind) for name, (_, kind) in STUDENTS.items())
    assert f"{changed} final scores in scores.csv differ by lateness, decisions or the rules" in text


def test_a_decision_counts_without_a_roster_too(graded: Graded, tmp_path: Path) -> None:
    course = examples.graded_class(tmp_path, roster=None)
    rows = [["nora", tiny.FIRST, "points", "3"], ["otto", "*", "comment", ""]]
    write(course / "adjustments.csv", [list(COLUMNS), *([*row, REASON, "Grace", "2026-03-05 10:00"] for row in rows)])
    again = read_graded(read_course(course), read_roster(read_course(course), None), course.parent / "out")
    assert {mark.student: mark.score for mark in again.marks if mark.report is None} == {"nora": 300}
    assert "otto" in " ".join(again.notes)
    assert "nora" not in " ".join(again.notes)


def test_a_class_that_is_decided_about_again_is_that_of_a_new_reading(graded: Graded, tmp_path: Path) -> None:
    """Also where a decision that counted is gone: what it changed in a report is as it was graded."""
    course = examples.graded_class(tmp_path)
    out = tmp_path / "out"
    reports = {"ada": of_kind("ada", "held"), "bob": of_kind("bob", "failed"), "eve": of_kind("eve", "good")}
    examples.write_out(course, out, {name: one for name, one in reports.items() if one})
    before = examples.read(course)
    rows = [["ada", "*", "points", "12"], ["bob", "*", "excused", ""], ["zoe", "*", "points", "3"]]
    by = [REASON, "Grace", "2026-03-05 10:00"]
    write(course / "adjustments.csv", [list(COLUMNS), *([*row, *by] for row in rows)])
    read = read_course(course)
    roster = read_roster(read, None)
    decided = decided_again(before, read, roster, out)
    assert decided.marks == examples.read(course).marks != before.marks
    (course / "adjustments.csv").unlink()
    assert decided_again(decided, read, roster, out).marks == before.marks


def test_a_time_that_is_withdrawn_is_gone_before_the_next_grading(tmp_path: Path) -> None:
    course = examples.graded_class(tmp_path, roster=None)
    late = ["ada", "*", "handed_in", "2026-03-05 10:00", REASON, "Grace", "2026-03-05 10:00"]
    write(course / "adjustments.csv", [list(COLUMNS), late])
    decided = examples.read(course)
    reports = [mark.report for mark in decided.marks if mark.report is not None]
    (tmp_path / "out" / "scores.csv").write_text(scores_csv(reports, list(BOTH), decided.policy), "utf-8")
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    times = {mark.student: None for mark in decided.marks} | {"bob": "2026-03-01T10:00:00+00:00"}
    (tmp_path / "out" / "run.json").write_text(json.dumps({**run, "students": times}), "utf-8")
    before = {mark.student: mark.final for mark in examples.read(course).marks}
    assert before["ada"].lateness.days == 4
    assert before["bob"].handed_in == datetime(2026, 3, 1, 10, tzinfo=UTC)
    undone = [*late[:2], "withdraw", "handed_in", *late[4:]]
    write(course / "adjustments.csv", [list(COLUMNS), late, undone])
    again = examples.read(course)
    (ada,) = (mark.final for mark in again.marks if mark.student == "ada")
    assert (ada.handed_in, ada.lateness.days, ada.lateness.penalty) == (None, None, 0)
    assert (
        decided_again(again, read_course(course), read_roster(read_course(course), None), tmp_path / "out").marks
        == again.marks
    )
