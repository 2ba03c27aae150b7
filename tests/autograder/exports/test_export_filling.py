"""Scores in the files of Canvas and Moodle: the right cells, and every other byte as it was."""

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exports.canvas_and_moodle import MOST_FEEDBACK, FillResult, System, fill, read_sheet
from autograder.gradebook import ExportError, Graded
from autograder.results import ExerciseResult, Report
from tests.support import export_examples as examples
from tests.support import tiny

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77),Transformer (78),Final Score\r
    Points Possible,,,,,10,100.00,(read only)\r
"Lovelace, Ada",123,S1,other,"Sec ""A""\nand B",9,,90\r
"Ünal, Bob",999,S2,bu1,A,"",5,\r
"Eve, E",998,S3,EVE,A,,,\r
"O'Neil, Fay",126,,,A,,"3",\r
"Smith, Zoe",125,S4,zs9,A,,7,\r
"Student, Test",555,,abc,A,,,\r
"""
WORKSHEET = """\
\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),\
Last modified (grade),Feedback comments
Participant 123,Ada Lovelace,someone@else.org,Submitted for grading,,100.00,Yes,-,-,
Participant 900,Bob Ünal,BOB@example.org,Submitted for grading,,100.00,Yes,-,-,
Participant 901,Eve,eve,Submitted for grading,,100.00,Yes,-,-,
Participant 902,=cmd,=cmd,Submitted for grading,,100.00,Yes,-,-,
"""
GERMAN = """\
"ID";"Vollständiger Name";"E-Mail-Adresse";"Status";"Bewertung";"Bestwertung";"Feedback als Kommentar"
"Teilnehmer/in 123";"Ada Lovelace";"x@y.org";"";"";"50,00";""
"Teilnehmer/in 7";"Bob Ünal";"bob@example.org";"";"";"50,00";""
"""

bounded = settings(max_examples=200, derandomize=True, deadline=None, database=None)
cells = st.text(st.sampled_from('ab",;\t\n é\u202e'), max_size=6)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    return examples.read(examples.graded_class(tmp_path_factory.mktemp("filling")))


def filled(
    graded: Graded,
    folder: Path,
    text: str,
    system: System,
    column: str | None = None,
    *,
    scale: bool = False,
    overwrite: bool = False,
) -> FillResult:
    file = folder / "exported.csv"
    file.write_text(text, "utf-8", newline="")
    return fill(graded, system, file, column, scale, overwrite)


def changes(before: str, after: str, delimiter: str = ",") -> dict[tuple[str, str], str]:
    """Return the cells that are another now, by the first cell of the row and the title of the column."""
    old, new = (
        list(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=delimiter))
        for text in (before, after)
    )
    assert [len(row) for row in old] == [len(row) for row in new]
    return {
        (row[0], old[0][place]): other[place]
        for row, other in zip(old, new, strict=True)
        for place in range(len(row))
        if row[place] != other[place]
    }


def test_canvas_gets_the_scores_there_are_and_keeps_everything_else(graded: Graded, tmp_path: Path) -> None:
    found = filled(graded, tmp_path, CANVAS, "canvas", "Transformer", overwrite=True)
    title = "Transformer (78)"
    assert changes(CANVAS, found.text) == {
        ("Lovelace, Ada", title): "102.50", ("Ünal, Bob", title): "51.43", ("Eve, E", title): "71.43"
    }  # fmt: skip
    untouched = re.sub(r"102\.50|51\.43|71\.43", "", found.text)
    assert untouched == CANVAS.replace('"",5,', '"",,'), "to the byte, with quotes and line breaks"


def test_who_cannot_be_placed_is_named_and_nobody_is_forgotten(graded: Graded, tmp_path: Path) -> None:
    found = filled(graded, tmp_path, CANVAS, "canvas", "78")
    assert found.placed == 2
    assert found.unplaced == 2
    assert found.notes == (
        "1 row of exported.csv left unchanged, without a report: Student, Test",
        "1 score without a row in exported.csv: =cmd; give them the same names or ids in roster.csv",
        "1 grade in exported.csv differs from ours, and is kept: bob; to replace it, add --overwrite",
        "2 grades in exported.csv kept, of a student without a score here: fay and zoe",
    )


def test_a_grade_that_differs_is_replaced_only_on_request_and_then_counted(graded: Graded, tmp_path: Path) -> None:
    text = CANVAS.replace('"",5,', '"",51.430,').replace("EVE,A,,,", "EVE,A,,B+,")
    kept = filled(graded, tmp_path, text, "canvas", "78")
    assert changes(text, kept.text) == {("Lovelace, Ada", "Transformer (78)"): "102.50"}
    assert "1 score is already in exported.csv" in kept.notes, "51.430 is 51.43"
    assert "1 grade in exported.csv differs from ours, and is kept: eve; to replace it, add --overwrite" in kept.notes
    done = filled(graded, tmp_path, text, "canvas", "78", overwrite=True)
    assert changes(text, done.text)["Eve, E", "Transformer (78)"] == "71.43"
    assert "1 grade in exported.csv differs from ours, and is replaced: eve" in done.notes
    assert (kept.unplaced, done.unplaced) == (2, 1)


@pytest.mark.parametrize("system", ["canvas", "moodle"])
def test_the_same_export_again_changes_nothing(graded: Graded, tmp_path: Path, system: System) -> None:
    text = CANVAS if system == "canvas" else WORKSHEET
    for overwrite in (False, True):
        first = filled(graded, tmp_path, text, system, "78" if system == "canvas" else None, overwrite=overwrite)
        again = filled(graded, tmp_path, first.text, system, "78" if system == "canvas" else None, overwrite=overwrite)
        assert again.text == first.text
        assert again.placed == 0


def test_what_a_teacher_wrote_stays_before_our_comment(graded: Graded, tmp_path: Path) -> None:
    bob, eve = "Participant 900,Bob Ünal,BOB@example.org,Submitted for grading,", "Participant 901,Eve,eve,"
    text = WORKSHEET.replace(f"{bob},100.00,Yes,-,-,", f"{bob},100.00,Yes,-,-,Come and see me.")
    text = text.replace(
        f"{eve}Submitted for grading,,100.00,Yes,-,-,", f"{eve}Submitted for grading,60,100.00,Yes,-,-,Mine"
    )
    found = filled(graded, tmp_path, text, "moodle")
    changed = changes(text, found.text)
    assert changed["Participant 900", "Feedback comments"].startswith("Come and see me.<br>Score: 51.43 of 100 points.")
    assert not [row for row, _ in changed if row == "Participant 901"], "neither the grade nor a comment on another one"
    assert "1 comment kept, with ours after it: bob" in found.notes
    assert "1 grade in exported.csv differs from ours, and is kept: eve; to replace it, add --overwrite" in found.notes
    later = found.text.replace("Score: 51.43 of 100 points.", "Score: 40 of 100 points.").replace("51.43", "40.00")
    kept = filled(graded, tmp_path, later, "moodle")
    assert kept.text == later
    done = filled(graded, tmp_path, later, "moodle", overwrite=True)
    assert changes(later, done.text)["Participant 900", "Feedback comments"].count("Score: ") == 1
    assert "Come and see me.<br>Score: 51.43 of 100 points." in done.text
    assert "1 comment in exported.csv differs from ours, and is replaced: bob" in done.notes
    written = found.text.replace("Score: 51.43 of 100 points.<br>", "Score: 51.43 of 100 points.<br />")
    assert filled(graded, tmp_path, written, "moodle").text == written, "an editor writes line breaks so"


def test_a_row_that_two_students_fit_and_a_student_with_two_rows_stay_as_they_are(
    graded: Graded, tmp_path: Path
) -> None:
    text = CANVAS.replace("999,S2,bu1", "123,S2,bu1").replace("998,S3,EVE", "124,S3,EVE").replace("other", "")
    found = filled(graded, tmp_path, text, "canvas", "Transformer")
    assert found.placed == 0
    assert found.unplaced == 4
    assert "3 rows of exported.csv left unchanged, with more than one possible owner: Lovelace, Ada" in found.notes[1]


def test_without_a_roster_the_ids_of_the_downloads_are_known(tmp_path: Path) -> None:
    course = examples.graded_class(tmp_path, roster=None)
    reports = {name: examples.report(name, {}) for name in ("123", "Bob Ünal_7")}
    examples.write_out(course, tmp_path / "out", reports)
    graded = examples.read(course)
    assert filled(graded, tmp_path, CANVAS, "canvas", "Transformer", overwrite=True).placed == 2
    (tmp_path / "out" / "reports" / "123.json").unlink()
    examples.write_out(course, tmp_path / "out", {"Bob Ünal_7": examples.report("Bob Ünal_7", {})})
    found = filled(examples.read(course), tmp_path, GERMAN, "moodle", "Bewertung", scale=True)
    assert changes(GERMAN, found.text, ";") == {("Teilnehmer/in 7", "Bewertung"): "50,00"}


def test_a_worksheet_of_moodle_gets_scores_and_feedback(graded: Graded, tmp_path: Path) -> None:
    found = filled(graded, tmp_path, WORKSHEET, "moodle")
    changed = changes(WORKSHEET, found.text)
    scores = {row: text for (row, title), text in changed.items() if title == "Grade"}
    assert scores == {
        "Participant 123": "102.50", "Participant 900": "51.43", "Participant 901": "71.43", "Participant 902": "94.29"
    }  # fmt: skip
    assert found.text.startswith("\ufeffIdentifier")
    feedback = changed["Participant 901", "Feedback comments"]
    assert "&lt;script&gt;alert" in feedback
    assert "<script" not in feedback
    assert "\u202e" not in feedback
    assert {title for _, title in changed} == {"Grade", "Feedback comments"}
    assert not [text for text in changed.values() if text.startswith(("=", "+", "-", "@"))]


def comment_of(tmp_path: Path, *results: ExerciseResult) -> list[str]:
    """Return the lines of Eve's comment for Moodle after a run with these results."""
    course = examples.graded_class(tmp_path)
    report = Report("", {"student": "eve"}, "sha256:1", "cpu", "process", results)
    examples.write_out(course, tmp_path / "out", {"eve": report})
    found = filled(examples.read(course), tmp_path, WORKSHEET, "moodle")
    return changes(WORKSHEET, found.text)["Participant 901", "Feedback comments"].split("<br>")


def test_the_comment_for_moodle_has_a_line_per_unwritten_exercise_after_the_findings(tmp_path: Path) -> None:
    unwritten = examples.result(tiny.FIRST, dict.fromkeys(examples.CHECKS[tiny.FIRST], "not_started"))
    lines = comment_of(tmp_path, unwritten, examples.result(tiny.SECOND, {"power": "fail"}))
    assert lines[0].startswith("Score: 30")
    exercises = [line for line in lines if line.startswith("ex")]
    assert exercises == [exercises[0], f"{tiny.FIRST}: NOT STARTED: 0 of 40 points"]
    assert exercises[0].startswith(f"{tiny.SECOND}: ")


def test_a_long_comment_for_moodle_ends_with_the_number_of_lines_left_out(tmp_path: Path) -> None:
    long = examples.result(tiny.FIRST, dict.fromkeys(examples.CHECKS[tiny.FIRST], "fail"), "A long sentence. " * 60)
    lines = comment_of(tmp_path, long, examples.result(tiny.SECOND, {}))
    assert sum(map(len, lines)) + 4 * (len(lines) - 1) <= MOST_FEEDBACK
    assert re.fullmatch(r"\d+ more lines: see your feedback page\.", lines[-1])


def test_a_localised_worksheet_has_its_separator_its_comma_and_its_quotes(graded: Graded, tmp_path: Path) -> None:
    found = filled(graded, tmp_path, GERMAN, "moodle", "Bewertung", scale=True)
    assert found.text == GERMAN.replace('"";"";"50,00"', '"";"51,25";"50,00"', 1).replace(
        '"";"";"50,00"', '"";"25,72";"50,00"', 1
    )


@pytest.mark.parametrize(
    ("text", "system", "column", "expected"),
    [
        (CANVAS, "canvas", None, "has 2 assignment columns, expected one; choose one with --column: Homework"),
        (
            CANVAS,
            "canvas",
            "Homework 1",
            "Homework 1 (77) has a maximum of 10, and the course has 100; set the maximum to 100",
        ),
        (CANVAS, "canvas", "Homework 9", "has 0 columns Homework 9, expected one"),
        ("a,b\n1,2\n", "canvas", None, "has the columns a, b, expected Student and ID"),
        (GERMAN, "moodle", None, "has 0 columns Grade, expected one; choose one with --column: ID, Vollst"),
        ("Grade,other\n1,2\n", "moodle", None, "expected Identifier, Email address or ID number"),
        ("", "canvas", None, "is empty, expected an exported CSV file"),
        ('Student,ID\n"never closed,1\n', "canvas", None, "exported.csv:2: this is not valid CSV"),
    ],
)
def test_what_cannot_be_filled_in_is_refused(
    graded: Graded, tmp_path: Path, text: str, system: System, column: str | None, expected: str
) -> None:
    with pytest.raises(ExportError, match=re.escape(expected)):
        filled(graded, tmp_path, text, system, column)


def test_another_encoding_is_refused(graded: Graded, tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("Student,ID\nÜnal,1\n".encode("latin-1"))
    with pytest.raises(ExportError, match="is not UTF-8; export it again"):
        fill(graded, "canvas", tmp_path / "latin.csv", None, scale=False)


@pytest.mark.worker
def test_the_command_says_what_it_did_and_exits_with_4_where_a_score_has_no_place(tmp_path: Path) -> None:
    course = examples.graded_class(tmp_path)
    (tmp_path / "canvas.csv").write_text(CANVAS, "utf-8", newline="")
    options = ("--into", "../canvas.csv", "--column", "Transformer", "--to", "../filled.csv")
    done = tiny.run_course(course, "export", "canvas", "../out", *options)
    assert done.returncode == 4
    assert done.stdout == "Written: ../filled.csv\n2 scores filled in\n"
    assert "1 grade in canvas.csv differs from ours, and is kept: bob; to replace it, add --overwrite" in done.stderr
    done = tiny.run_course(course, "export", "canvas", "../out", *options, "--overwrite")
    assert done.stdout == "Written: ../filled.csv, which had other content\n3 scores filled in\n"
    assert (tmp_path / "canvas.csv").read_bytes() == CANVAS.encode(), "the file that was exported stays"


@pytest.mark.long
@bounded
@given(
    st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
    st.data(),
)
def test_a_cell_that_is_filled_changes_that_cell_alone(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[list[str]],
    separator: str,
    end: str,
    quoting: int,
    mark: bool,
    data: st.DataObject,
) -> None:
    rows[0] = ["first", "second"]  # the separator is recognised by these
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    file = tmp_path_factory.getbasetemp() / "sheet.csv"
    file.write_text("\ufeff" * mark + text.getvalue(), "utf-8", newline="")
    sheet = read_sheet(file)
    assert [[cell.value for cell in row] for row in sheet.rows] == rows
    assert sheet.filled({}) == "\ufeff" * mark + text.getvalue()
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[row]) - 1))
    rows[row][column] = data.draw(cells)
    after = sheet.filled({(row, column): rows[row][column]}).lstrip("\ufeff")
    assert list(csv.reader(io.StringIO(after, newline=""), delimiter=separator)) == rows
