"""The log of a self-check: labels say which trial printed what, and a program gains nothing by writing its own."""

import pytest

from autograder.protocol import label, sections
from autograder.protocol.frames import PrintSection


def test_each_part_of_a_log_has_its_source() -> None:
    log = b"torch warns\n" + label("ex01") + b"hello\n" + label("ex01", "values", 1) + "é\n".encode()
    assert list(sections(log)) == [PrintSection("ex01", "", 0, "hello\n"), PrintSection("ex01", "values", 1, "é\n")]


def test_without_a_label_nothing_belongs_to_a_program() -> None:
    assert list(sections(b"")) == []
    assert list(sections(b"torch warns\n")) == []


@pytest.mark.parametrize("cut", [1, 4, 9, 12])
def test_a_label_that_was_cut_off_is_not_shown(cut: int) -> None:
    log = label("ex01") + b"hello\n" + label("ex01", "values", 1)[:cut]
    assert list(sections(log)) == [PrintSection("ex01", "", 0, "hello\n")]


@pytest.mark.parametrize("odd", [b"\x1e", b"\x1e\x1e", b"\x1ea b\x1e", b"\x1ea b c\x1e\n", b"\xff\x1e\x00\n"])
def test_what_is_no_label_is_text(odd: bytes) -> None:
    [section] = sections(label("ex01") + odd + b"end\n")
    assert section.text.endswith("end\n")


def test_a_last_line_without_an_end_is_whole() -> None:
    assert list(sections(label("ex01") + b"last words")) == [PrintSection("ex01", "", 0, "last words")]
