"""`course export`: who has which score, what is not a score, and the formats that show one student's results."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from autograder.course import read_course
from autograder.exports.command_export import _without_score
from autograder.exports.feedback import feedback
from autograder.exports.formats import find_formats
from autograder.exports.gradescope import Seen, gradescope, unfinished
from autograder.exports.junit import junit
from autograder.gradebook import ExportError, Graded, read_graded, read_roster
from autograder.gradebook.graded import handed_in_times
from tests.support import export_examples as examples
from tests.support import tiny

INVISIBLE = ("\u202e", "\x07", "\x1b")


def test_the_page_has_a_row_for_each_format() -> None:
    page = (tiny.REPOSITORY / "docs" / "exports.md").read_text("utf-8")
    rows = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert sorted(re.findall(r"`([\w-]+)`", rows)) == sorted(find_formats())


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return examples.graded_class(tmp_path_factory.mktemp("export"))


@pytest.fixture(scope="module")
def graded(course: Path) -> Graded:
    return examples.read(course)


@pytest.fixture
def own(course: Path, tmp_path: Path) -> Path:
    """A copy of the course and of what grading left, to be spoiled."""
    shutil.copytree(course.parent, tmp_path / "own")
    return tmp_path / "own" / "course"


def results(graded: Graded, make: Any, student: str) -> Any:
    return json.loads(make(graded, next(mark for mark in graded.marks if mark.student == student)))


def exported(course: Path, *arguments: str) -> tuple[int, str]:
    done = tiny.run_course(course, "export", *arguments)
    return done.returncode, done.stdout + done.stderr


def other_points(out: Path) -> None:
    for before in ("points = 40", "points = 60"):
        tiny.replaced(out.parent / "course" / "course.toml", before, "points = 50")


def strings(data: Any) -> str:
    """Return every text in JSON."""
    if isinstance(data, dict | list):
        return "\n".join(map(strings, data.values() if isinstance(data, dict) else data))
    return data if isinstance(data, str) else ""


# Who has which score.


def test_a_score_is_what_the_rules_of_the_class_make_of_it(graded: Graded) -> None:
    assert {mark.student: mark.score for mark in graded.marks} == examples.SCORES


def test_who_handed_in_nothing_or_met_a_failing_grader_has_no_score(graded: Graded) -> None:
    without = {mark.student: mark.failed for mark in graded.marks if mark.score is None}
    assert without == {"fay": True, "zoe": False}


def test_a_student_who_left_is_named_once(own: Path) -> None:
    file = own / "adjustments.csv"
    file.write_text("student,exercise,kind,value,text,by,when\ngone,*,points,3,why,Grace,2026-03-05 10:00\n", "utf-8")
    said = list(_without_score(examples.read(own)))
    assert sum("1 student not on the roster: gone" in sentence for sentence in said) == 1
    assert not any("gone" in sentence for sentence in said if "not on the roster" not in sentence)


def test_the_times_come_from_the_table(course: Path) -> None:
    times = handed_in_times(course.parent / "out", {})
    assert {name: f"{time:%d %H:%M}" for name, time in times.items()} == {
        "ada": "01 12:00", "bob": "03 00:10", "eve": "01 10:00", "fay": "04 00:10"
    }  # fmt: skip


@pytest.mark.worker
def test_the_table_is_made_anew_by_the_rules_of_today(own: Path, tmp_path: Path) -> None:
    tiny.replaced(own / "course.toml", "late_percent = 10", "late_percent = 20")
    status, said = exported(own, "scores", "../out", "--to", str(tmp_path / "scores.csv"))
    assert status == 4
    assert "the grader failed on 1 student, and no score is written: fay" in said
    assert "1 student handed in nothing, and no score is written: zoe" in said
    with (tmp_path / "scores.csv").open(newline="", encoding="utf-8") as file:
        finals = {row["student"]: row["final"] for row in csv.DictReader(file)}
    assert finals == {"ada": "102.50", "bob": "31.43", "eve": "71.43", "fay": "", "'=cmd": "94.29", "zoe": ""}


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lambda out: (out / "scores.csv").unlink(), "scores.csv is missing, so the run did not finish"),
        (lambda out: (out / "reports" / "bob.json").unlink(), "reports/bob.json is missing, but scores.csv has a row"),
        (lambda out: tiny.replaced(out / "scores.csv", "bob,71.43", "bob,1.00"),
         "scores.csv has 1.00 for bob, but the report has 71.43"),
        (lambda out: tiny.replaced(out / "run.json", "sha256:1", "sha256:2"), "ada was made with other checks than"),
        (lambda out: (out / "scores.csv").write_text("who,what\n1,2\n"), "scores.csv has other columns than"),
        (lambda out: (out / "reports" / "eve.json").write_text("{"), "eve.json is not a report"),
        (lambda out: shutil.rmtree(out / "reports"), "has no reports, expected a folder written by course grade"),
        (lambda out: shutil.copy(out / "reports" / "ada.json", out / "reports" / "eve.json"),
         "reports/eve.json is not the report of eve"),
        (other_points, "has 40 points for ex01_running_mean, but this course has 50"),
    ],
)  # fmt: skip
def test_what_is_no_finished_run_of_this_course_is_refused(own: Path, spoil: Any, expected: str) -> None:
    spoil(own.parent / "out")
    with pytest.raises(ExportError, match=re.escape(expected)):
        examples.read(own)


@pytest.mark.parametrize(
    ("student", "expected"),
    [
        ("../escaped", "has the student '../escaped', expected a student id"),
        (None, "has no student"),
        (7, "the student '7',"),
    ],
)
def test_a_report_that_says_no_student_names_no_file(student: Any, expected: str, own: Path) -> None:
    file = own.parent / "out" / "reports" / "ada.json"
    data = json.loads(file.read_text("utf-8"))
    data["submission"] = {"student": student} if student else {}
    file.write_text(json.dumps(data), "utf-8")
    course = read_course(own)
    with pytest.raises(ExportError, match=re.escape(expected)):
        read_graded(course, read_roster(course, None), file)


def test_a_report_that_the_table_has_not_is_left_out_and_named(own: Path) -> None:
    shutil.copy(own.parent / "out" / "reports" / "ada.json", own.parent / "out" / "reports" / "old.json")
    graded = examples.read(own)
    assert "old" not in {mark.student for mark in graded.marks}
    assert graded.notes == ("1 report not in scores.csv, left out: old",)


@pytest.mark.worker
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("scores", "../out", "--to", "x.csv", "--student", "bop"), "there is no student bop; did you mean bob?"),
        (("scores", "--to", "x.csv"), "course export scores needs OUT"),
        (("canvas", "../out", "--to", "x.csv"), "course export canvas needs --into FILE"),
        (
            ("junit", "../out", "--to", "x", "--into", "x.csv"),
            "for canvas, feedback and moodle, and not for junit",
        ),
        (("junit", "../out", "--to", "x.xml"), "x.xml is one file, and there are 5 reports"),
        (("gradescope-autograder", "../out", "--to", "x.zip"), "takes no OUT"),
        (("scores", "../nothing", "--to", "x.csv"), "../nothing has no reports"),
    ],
)
def test_a_mistake_on_the_command_line_is_a_sentence(course: Path, arguments: tuple[str, ...], expected: str) -> None:
    status, said = exported(course, *arguments)
    assert status == 2
    assert expected in said


@pytest.mark.parametrize("to", ["course.toml", "roster.csv", "./adjustments.csv", "../out/reports/ada.json"])
@pytest.mark.worker
def test_no_export_replaces_what_it_reads(own: Path, to: str) -> None:
    (own / "adjustments.csv").write_text("student,exercise,kind,value,text,by,when\n")
    before = (own / to).read_bytes()
    out = "../out/reports/ada.json" if "ada" in to else "../out"
    status, said = exported(own, "gradescope" if "ada" in to else "scores", out, "--to", to)
    assert (status, f"--to is {to}, which this command reads" in said) == (2, True), said
    assert (own / to).read_bytes() == before


@pytest.mark.worker
def test_a_file_with_other_content_is_not_replaced_in_silence(own: Path, tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("mine")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "bob.md").write_text("mine")
    for had in (True, False):
        _, said = exported(own, "scores", "../out", "--to", str(tmp_path / "scores.csv"))
        assert (f"{tmp_path / 'scores.csv'}, which had other content" in said) == had
        _, said = exported(own, "markdown", "../out", "--to", str(tmp_path / "pages"))
        assert f"5 files in {tmp_path / 'pages'}{', 1 of which had other content' if had else ''}\n" in said


@pytest.mark.worker
def test_a_folder_gets_a_file_for_each_report_and_a_file_the_only_one(course: Path, tmp_path: Path) -> None:
    assert exported(course, "junit", "../out", "--to", str(tmp_path / "all"))[0] == 4
    assert {file.name for file in (tmp_path / "all").iterdir()} == {f"{student}.xml" for student in examples.REPORTS}
    one = ("junit", "../out/reports/bob.json", "--to", str(tmp_path / "one.xml"))
    assert exported(course, *one)[0] == 0
    assert ElementTree.parse(tmp_path / "one.xml").getroot()[0].get("failures") == "2"


# Gradescope.


def test_gradescope_has_the_final_score_and_every_check(graded: Graded) -> None:
    found = results(graded, gradescope(graded, Seen("after_published", "hidden")), "bob")
    assert found["score"] == 51.43
    assert found["output"] == "2 days late: 20 % of the maximum taken off."
    assert found["visibility"] == "after_published"
    assert {test["visibility"] for test in found["tests"]} == {"hidden"}
    assert [test["number"] for test in found["tests"]] == [
        f"{one}.{two}" for one in (1, 2) for two in range(1, 4 + one)
    ]
    assert [test["status"] for test in found["tests"]][:3] == ["failed", "failed", "passed"]
    assert sum(test["max_score"] for test in found["tests"]) == pytest.approx(100)


def test_gradescope_gets_no_score_where_the_grader_failed_or_has_not_finished(graded: Graded) -> None:
    for found in (results(graded, gradescope(graded, Seen()), "fay"), json.loads(unfinished())):
        assert "score" not in found
        assert found["tests"]
        assert not any("score" in test for test in found["tests"])
        assert "no fault of yours" in found["output"]


def test_a_bonus_is_worth_nothing_and_earns_points(own: Path) -> None:
    tiny.replaced(own / "course.toml", 'time_zone = "UTC"', f'time_zone = "UTC"\nbonus = ["{tiny.FIRST}"]')
    graded = examples.read(own)
    first = results(graded, gradescope(graded, Seen()), "ada")["tests"][0]
    assert (first["score"], first["max_score"]) == (17.14, 0)


# JUnit.


def test_junit_counts_as_pytest_does_and_has_the_points(graded: Graded) -> None:
    marks = {mark.student: mark for mark in graded.marks}
    counts = {}
    for student in examples.REPORTS:
        (suite,) = ElementTree.fromstring(junit(graded, marks[student]).encode())
        counts[student] = tuple(suite.get(name) for name in ("tests", "failures", "errors", "skipped"))
        values = [float(entry.get("value")) for entry in suite.iterfind(".//property[@name='score']")]
        assert sum(values) == pytest.approx(examples.REPORTS[student].score / 100)
    assert counts == {
        "ada": ("9", "0", "0", "0"), "bob": ("9", "2", "0", "0"), "eve": ("9", "1", "0", "1"),
        "fay": ("9", "0", "4", "0"), "=cmd": ("9", "1", "0", "0"),
    }  # fmt: skip


# A student's words.


@pytest.mark.parametrize("name", ["gradescope", "junit", "feedback"])
def test_what_is_invisible_in_a_students_words_is_written_out(graded: Graded, name: str) -> None:
    make = {
        "gradescope": gradescope(graded, Seen()),
        "junit": junit,
        "feedback": feedback,
    }
    text = make[name](graded, next(mark for mark in graded.marks if mark.student == "eve"))
    said = text if name in ("junit", "feedback") else strings(json.loads(text))
    assert "\\u202egnp" in said
    assert not [character for character in INVISIBLE if character in said]
