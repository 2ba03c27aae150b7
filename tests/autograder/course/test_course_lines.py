"""The lines of the keys of a TOML text."""

import pytest

from autograder.course.toml import key_lines, line_of


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\n\n# b = 2\nb = 3", ("b",), 4),
        ('a = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ("a = '''\n[b]\n'''\n[b]", ("b",), 4),
        ('a = """x\\""""""\nb = 1', ("b",), 2),
        ('a = [ # [\n  "]", # ]\n  [2],\n]\nb = 1', ("b",), 5),
        ('a = "[#"\nb = 1', ("b",), 2),
        ("[a]\n[a.b]\nc = 1\n[d]", ("a", "b", "c"), 3),
        ("a.b.c = 1\na.d = 2", ("a", "d"), 2),
        ("a.b.c = 1", ("a", "b"), 1),
        ('["a.b"."c d"]\n"e f" = 1', ("a.b", "c d", "e f"), 2),
        ('"\\u0061" = 1', ("a",), 1),
        ("[[a]]\nb = 1\n[[a]]\nb = 2", ("a", 1, "b"), 4),
        ("[[a]]\n[[a.b]]\nc = 1\n[a.b.d]\n[[a]]\n[[a.b]]\nc = 2", ("a", 1, "b", 0, "c"), 7),
        ("[[a]]\n[a.b]\nc = 1", ("a", 0, "b", "c"), 3),
        ("[[a]]\nb = 1", ("a", 0, "not there"), 1),
        ("a = [\n{b = 1},\n]", ("a", 0, "b"), 1),
        ("[a]\r\nb = 1\r\nc = 2", ("a", "c"), 3),
        ("a = 1", ("not there",), None),
    ],
)
def test_the_line_of_a_key_is_found(text: str, path: tuple[str | int, ...], line: int | None) -> None:
    assert line_of(key_lines(text), path) == line
