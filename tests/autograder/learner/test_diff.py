"""Every measurement of a failure, and the numbers of one slice."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from autograder.learner.command_diff import number_lines, number_sentences, render_evidence
from autograder.report import ASCII, UNICODE, Glyphs, Page
from autograder.report.failures import map_pair
from autograder.results import Maps
from tests.support import report_examples as examples
from tests.support.screens import assert_as_read

NEXT = (("course check 5", "after your next edit"),)
SMALL = Maps("row × column", ((0.0, 1.0, 2.0), (3.0, 4.0, 5.0)), ((0.0, 1.0, 2.0), (3.0, 4.0, -5.0)))


def diff(name: str, width: int = 80, plain: bool = False, glyphs: Glyphs = UNICODE) -> str:
    stream, exercise = io.StringIO(), examples.EXERCISES[name]
    check = exercise.first_failure
    assert check is not None
    console = Console(file=stream, width=width)
    render_evidence(console, exercise, check, glyphs=glyphs, plain=plain, next_commands=NEXT)
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 100])
def test_the_whole_evidence_is_as_read(width: int) -> None:
    assert_as_read(f"diff-mask-{width}", diff("mask", width))


def test_the_whole_evidence_in_sentences_is_as_read() -> None:
    assert_as_read("diff-mask-plain", diff("mask", plain=True))


@pytest.mark.long
@pytest.mark.parametrize("name", ["fail", "mask", "error", "timeout", "memory", "shape", "ids", "grader-problem"])
def test_evidence_of_any_failure_fits_the_page(name: str) -> None:
    for width in (40, 60, 80, 120):
        assert all(cell_len(line) <= width for line in diff(name, width).splitlines())
    assert diff(name, glyphs=ASCII).isascii()
    assert diff(name, plain=True).isascii()


def test_the_numbers_of_a_slice_are_marked_where_they_differ() -> None:
    pair = map_pair(SMALL)
    assert pair is not None
    lines = [line.plain for line in number_lines(Page.on(Console(file=io.StringIO(), width=80), UNICODE), pair)]
    assert lines == [
        "  expected    yours",
        "  0 1 2       0 1   2",
        "  3 4 5       3 4 ×-5",
        "  row × column; × marks a number that differs",
    ]
    assert number_sentences(pair)[1:] == ["Row 0: as expected: 0, 1, 2.", "Row 1: expected 3, 4, 5; yours 3, 4, -5."]
