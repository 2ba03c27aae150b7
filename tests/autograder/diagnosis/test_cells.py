"""Findings in what was a notebook: every line they speak of is a line of a cell."""

from dataclasses import replace

from autograder.diagnosis import Diagnosis, Location, Source, finding_of, of_fault
from autograder.diagnosis.exceptions import Raised
from autograder.diagnosis.judgement import Divergence, StepState
from autograder.diagnosis.values import FLIPPED_SIGN
from autograder.results import Finding, Place
from autograder.runner import Fault

FILE = "ex05_attention.py"
PLACE = Place(FILE, 21, "attend", 4, 9)
CODE = "\n".join(f"line_{number}" for number in range(1, 26)).encode()
CELLS = {FILE: ((1, 3), (5, 6), (20, 8))}
NOTEBOOK = Source(FILE, CODE, cells=CELLS)
SIGN = Diagnosis("pattern", FLIPPED_SIGN, "output", place=Place(FILE, 6))
DIVERGENCE = Divergence(PLACE, StepState.UNKNOWN, 2.0, (6, 20), True)


def located(diagnosis: Diagnosis, source: Source = NOTEBOOK, location: Location | None = None) -> Finding:
    return finding_of(diagnosis, source, location or Location(PLACE, DIVERGENCE))


def test_a_place_is_a_line_of_its_cell_with_the_lines_of_that_cell_around_it() -> None:
    finding = located(SIGN)
    assert finding.place == Place("ex05_attention.ipynb", 2, "attend", 4, 9, cell=8)
    assert finding.source == ((1, "line_20"), (2, "line_21"), (3, "line_22"), (4, "line_23"))
    assert finding.agrees == (1,)


def test_a_line_that_raised_is_named_with_its_cell_where_another_line_is_shown() -> None:
    raised = Diagnosis("exception", Raised("ValueError", False, "attend").fact, place=Place(FILE, 22))
    assert located(raised).message == "Your code raised ValueError in attend(), in line 3."
    elsewhere = replace(raised, place=Place(FILE, 6))
    assert located(elsewhere).message == "Your code raised ValueError in attend(), in line 2 of cell 6."
    assert located(raised, Source(FILE, CODE)).message == "Your code raised ValueError in attend(), in line 22."
    called = replace(raised, fact=Raised("ValueError", False, "attend", "ex04_masks.py").fact)
    says = "Your code raised ValueError in attend() of ex04_masks.py, called in line 22."
    assert located(called, Source(FILE, CODE)).message == says


def test_the_line_that_makes_a_wrong_number_speaks_of_the_line_that_uses_it() -> None:
    divergence = replace(DIVERGENCE, number=("depth", 7.0))
    finding = located(SIGN, location=Location(Place(FILE, 6), divergence, is_origin=True))
    assert finding.place == Place("ex05_attention.ipynb", 2, cell=6)
    assert finding.label == "with depth, line 2 of cell 8 computes 2 × the expected value"
    assert finding.agrees == ()


def test_a_file_has_the_name_of_its_notebook() -> None:
    text = "expected an indented block after 'for' statement on line 6"
    fault = Fault("IndentationError", ("SyntaxError",), text, "other", (Place(FILE, 20),), at_import=True)
    finding = finding_of(of_fault(fault, FILE, CODE), NOTEBOOK)
    assert finding.message == f"Python cannot read ex05_attention.ipynb: {text.replace('6', '2 of cell 6')}."


def test_what_was_a_file_stays_as_it_is() -> None:
    finding = located(SIGN, Source(FILE, CODE))
    assert (finding.place, finding.agrees) == (PLACE, (6, 20))
    elsewhere = replace(SIGN, place=Place("ex01_embeddings.py", 3))
    assert finding_of(elsewhere, NOTEBOOK).place == Place("ex01_embeddings.py", 3)
    assert finding_of(replace(SIGN, place=None), NOTEBOOK).place is None
