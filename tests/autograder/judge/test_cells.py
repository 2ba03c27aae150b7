"""Findings in what was a notebook: every line they speak of is a line of a cell."""

from dataclasses import replace

from autograder.judge.notebook_cells import in_cells
from autograder.results.model import Finding, Place
from autograder.submission import Submission
from tests.support import report_examples as examples

FILE = "ex05_attention.py"
SUBMISSION = Submission("ada", (FILE,), {}, "", (), {FILE: ((1, 3), (5, 6), (20, 8))})
FINDING = Finding(
    "place",
    "astray",
    "The sum of line 6 is lost in line 22, says ex05_attention.py.",
    place=Place(FILE, 21, "attend", 4, 9),
    source=((19, "last of cell 6"), (20, "first of cell 8"), (21, "wrong"), (22, "after")),
    label="not what line 20 makes",
    agrees=(6, 20),
)


def found(finding: Finding, submission: Submission = SUBMISSION) -> Finding:
    result = in_cells(examples.attention("scaled", "fail", finding), submission.cells)
    [told] = [each.finding for each in result.checks if each.finding]
    return told


def test_a_place_is_a_line_of_its_cell_with_the_lines_of_that_cell_around_it() -> None:
    told = found(FINDING)
    assert told.place == Place("ex05_attention.ipynb", 2, "attend", 4, 9, cell=8)
    assert told.source == ((1, "first of cell 8"), (2, "wrong"), (3, "after"))
    assert told.agrees == (1,)


def test_lines_in_words_are_those_of_the_cell_and_of_others_by_their_name() -> None:
    told = found(FINDING)
    assert told.message == "The sum of line 2 of cell 6 is lost in line 3, says ex05_attention.ipynb."
    assert told.label == "not what line 1 makes"


def test_what_was_a_file_stays_as_it_is() -> None:
    assert found(FINDING, Submission("ada", (FILE,), {}, "", ())) == FINDING
    elsewhere = replace(FINDING, place=replace(FINDING.place, file="ex01_embeddings.py") if FINDING.place else None)
    assert found(elsewhere) == elsewhere
    assert found(replace(FINDING, place=None)).place is None
