"""A file is read as Python reads it: what `python FILE` refuses is refused, and everything else is graded."""

import codecs
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from autograder.diagnosis.exceptions import in_characters
from autograder.diagnosis.findings import excerpt
from autograder.judge import Grader
from autograder.progress.session import syntax_fault
from autograder.protocol import Usual, lines_of, text_of
from autograder.results import Place
from autograder.runner import Runner
from autograder.worker import Sources
from autograder.worker.sources import compiled
from tests.support import tiny
from tests.support.fuzzing import bounded

FILE = tiny.FILES[0]

READ: Mapping[str, bytes] = {
    "UTF-8": "x = 'größer'\n# größer\n".encode(),
    "UTF-8 with a mark": codecs.BOM_UTF8 + "x = 'größer'\n".encode(),
    "UTF-8 with a mark and a declaration": codecs.BOM_UTF8 + "# coding: utf-8\nx = 'ö'\n".encode(),
    "declared Latin-1": "# -*- coding: latin-1 -*-\nx = 'größer'\n".encode("latin-1"),
    "declared in the second line": "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '€'\n".encode("cp1252"),
    "a declaration of no effect": b"x = 1\n\n# coding: nonsense\n",
    "carriage returns and line feeds": "x = 'ö'\r\ny = 2\r\n".encode(),
    "carriage returns": "x = 'ö'\ry = 2\r".encode(),
    "form feeds": b"x = 1\n\f\ny = 2\n",
    "nothing": b"",
}
REFUSED: Mapping[str, tuple[bytes, int, str]] = {
    "Latin-1 in a comment": ("x = 1\n# größer\n".encode("latin-1"), 2, "the byte 0xf6, which is not UTF-8"),
    "Latin-1 in a text": ("x = 'größer'\n".encode("latin-1"), 1, "the byte 0xf6, which is not UTF-8"),
    "Latin-1 after lines of Windows": ("x = 1\r\n\r\n# ö".encode("latin-1"), 3, "the byte 0xf6"),
    "a null byte": (b"x = 1\n# a\0b\n", 2, "has a null byte"),
    "UTF-16 with a mark": ("x = 1\n".encode("utf-16"), 1, "is saved as UTF-16"),
    "UTF-16 without one": ("x = 1\n".encode("utf-16-le"), 1, "has a null byte"),
    "another encoding than the declared": ("# coding: ascii\n# ö\n".encode(), 2, "not in the declared encoding ascii"),
    "an encoding that there is not": (b"# coding: nonsense\nx = 1\n", 1, "the encoding nonsense, which Python cannot"),
    "a declaration against the mark": (codecs.BOM_UTF8 + b"# coding: latin-1\nx = 1\n", 1, "declares the encoding"),
    "half a character": (b"# coding: utf-7\nx = '+2AA-'\n", 1, "the encoding utf-7, which Python cannot read"),
    "no encoding of texts": (b"# coding: rot13\nk = 1\n", 1, "the encoding rot13, which Python cannot read"),
    "Latin-1 before its declaration": ("# ö\n# coding: latin-1\n".encode("latin-1"), 1, "declares the encoding"),
}

CUT = ("a null byte",)
"""Python before 3.11.4 runs such a line as if it ended there."""


def python_runs(file: Path) -> bool:
    return subprocess.run([sys.executable, "-I", str(file)], capture_output=True, check=False).returncode == 0


@pytest.mark.worker
@pytest.mark.parametrize("name", [*READ, *REFUSED])
def test_a_file_is_read_where_python_runs_it(tmp_path: Path, name: str) -> None:
    source = READ[name] if name in READ else REFUSED[name][0]
    (tmp_path / "file.py").write_bytes(source)
    if name not in CUT or sys.version_info >= (3, 11, 4):
        assert python_runs(tmp_path / "file.py") == (name in READ)
    if name in READ:
        compiled(source, FILE)
        assert Sources({FILE: source}, {}).survey(tiny.FIRST, (), Usual())["forbidden"] == []
        assert syntax_fault(source, FILE) is None


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_python_refuses_is_a_syntax_error_with_its_line_for_every_reader(name: str) -> None:
    source, line, message = REFUSED[name]
    with pytest.raises(SyntaxError, match=message) as caught:
        compiled(source, FILE)
    assert (caught.value.filename, caught.value.lineno) == (FILE, line)
    with pytest.raises(SyntaxError, match=message):
        Sources({FILE: source}, {}).survey(tiny.FIRST, (), Usual())
    fault = syntax_fault(source, FILE)
    assert fault is not None
    assert fault.frames == (Place(FILE, line),)


PIECES = (b"# coding: ", b"latin-1", b"utf-8", b"\n", b"\r", b"\xf6", "ö".encode(), b"\0", b"x")


def line_refused(source: bytes) -> int | None:
    try:
        text_of(source)
    except SyntaxError as error:
        return error.lineno
    return None


@bounded(300)
@given(some.lists(some.sampled_from(PIECES)))
def test_any_bytes_are_a_text_or_a_syntax_error_in_one_of_their_lines(pieces: list[bytes]) -> None:
    source = b"".join(pieces)
    lines = source.splitlines()
    assert len(lines_of(source)) == len(lines)
    assert line_refused(source) in (None, *range(1, len(lines) + 1))


def test_the_lines_of_a_declared_encoding_are_shown_as_they_are_meant() -> None:
    source = "# coding: latin-1\nx = 'ö' + y\n".encode("latin-1")
    assert excerpt(source, Place(FILE, 2)) == ((1, "# coding: latin-1"), (2, "x = 'ö' + y"))
    at = "x = 'ö' + ".encode()
    assert in_characters(Place(FILE, 2, None, len(at), len(at) + 1), source) == Place(FILE, 2, None, 10, 11)


@pytest.mark.parametrize("codec", ["punycode", "idna", "unicode_escape", "nonsense", "latin-99"])
def test_the_judge_shows_lines_by_no_codec_of_the_file_s_choice(codec: str) -> None:
    assert lines_of(f"# coding: {codec}\nx = '\\u00e4'\n".encode()) == [f"# coding: {codec}", "x = '\\u00e4'"]


LATIN_1 = f"{tiny.MEAN}\n# ".encode() + "größer als vorher\n".encode("latin-1")


def test_undeclared_latin_1_costs_the_exercise_and_the_finding_says_which_line_and_what_to_do(
    grader: Grader, runner: Runner
) -> None:
    result = tiny.result_of(grader.grade(tiny.submitted(LATIN_1), runner=runner), tiny.FIRST)
    last = len(LATIN_1.splitlines())
    assert (result.status, result.score) == ("error", 0)
    finding = result.checks[0].finding
    assert finding is not None
    assert finding.place == Place(FILE, last)
    assert finding.message == (
        f"Python cannot read {FILE}: line {last} has the byte 0xf6, which is not UTF-8; save the file as UTF-8."
    )


@pytest.mark.parametrize("way", ["a mark", "Windows", "Latin-1"])
def test_a_right_program_in_another_encoding_gets_every_point(grader: Grader, runner: Runner, way: str) -> None:
    text = f"{tiny.MEAN}\n# größer als vorher\n"
    source = {
        "a mark": codecs.BOM_UTF8 + text.encode(),
        "Windows": text.replace("\n", "\r\n").encode(),
        "Latin-1": f"# coding: latin-1\n{text}".encode("latin-1", "replace"),
    }[way]
    report = grader.grade(tiny.submitted(source), runner=runner)
    assert report.score == report.max_score
