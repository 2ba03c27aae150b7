"""Whatever a zip or a course.toml contains, reading it ends in a result or in the one declared error."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.course import CourseError, read_course
from autograder.course.toml import Problem
from autograder.submission import Caps, SubmissionError, read_submission

FILES = ("ex01_embeddings.py", "ex05_attention.py")

bounded = settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def plain_zip() -> bytes:
    """Return a small sound zip with one file of each kind."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FILES[0], b"one = 1\n" * 40)
        archive.writestr(f"übung/{FILES[1]}", b"two = 2\n", zipfile.ZIP_STORED)
    return packed.getvalue()


ZIP = plain_zip()
COURSE = """\
title = "t"
seed = 1
[sizes]
T = [2, 3]
[[exercises]]
id = "ex01_a"
title = "a"
points = 99.5
forbidden = ["a.b"]
words = { T = ["one", '''two'''] }
[[exercises]]
id = "ex02_b"
title = "b"
points = 0.5
needs = ["ex01_a"]
"""

changes = st.lists(st.tuples(st.integers(0, len(ZIP) - 1), st.integers(0, 255)), min_size=1, max_size=6)
pieces = st.sampled_from(["[", "]", "[[", '"', "'''", "=", ".", "\n", "#", "{}", "nan", "1e9", "-1", "exercises", "\\"])
edits = st.lists(
    st.tuples(st.integers(0, len(COURSE)), st.integers(0, 12), pieces | st.text(max_size=4)), min_size=1, max_size=4
)


@pytest.fixture
def zip_path(tmp_path: Path) -> Path:
    return tmp_path / "eve.zip"


def sound_or_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        submission = read_submission(path, FILES, Caps(source_kib=1))
    except SubmissionError as error:
        messages: tuple[str, ...] = (str(error),)
    else:
        messages = submission.notes
        assert set(submission.sources) <= set(FILES)
        assert all(len(source) <= 1024 for source in submission.sources.values())
    assert all(sentence.isprintable() for sentence in messages)


@pytest.mark.long
@bounded
@given(changes)
def test_a_zip_with_wrong_bytes_is_read_or_refused(zip_path: Path, wrong: list[tuple[int, int]]) -> None:
    content = bytearray(ZIP)
    for at, byte in wrong:
        content[at] = byte
    sound_or_refused(zip_path, bytes(content))


@bounded
@given(st.integers(0, len(ZIP)), st.integers(0, len(ZIP)), st.binary(max_size=40))
def test_a_zip_with_a_piece_replaced_is_read_or_refused(zip_path: Path, start: int, stop: int, piece: bytes) -> None:
    sound_or_refused(zip_path, ZIP[:start] + piece + ZIP[stop:])


@bounded
@given(st.binary(max_size=200))
def test_bytes_before_the_end_of_a_zip_are_read_or_refused(zip_path: Path, junk: bytes) -> None:
    sound_or_refused(zip_path, junk + ZIP[-22:])


@pytest.mark.long
@bounded
@given(st.lists(st.tuples(st.text(min_size=1, max_size=30).filter(lambda name: "\0" not in name), st.integers())))
def test_a_zip_with_any_names_and_attributes_is_read_or_refused(zip_path: Path, entries: list[tuple[str, int]]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, (name, attributes) in enumerate(entries):
            entry = zipfile.ZipInfo(f"{name}{number}/{FILES[number % 2]}")
            entry.external_attr = attributes % (1 << 32)
            archive.writestr(entry, b"x")
    sound_or_refused(zip_path, packed.getvalue())


def course_or_mistakes(folder: Path, content: bytes) -> None:
    (folder / "course.toml").write_bytes(content)
    problems: tuple[Problem, ...] = ()
    try:
        course = read_course(folder)
    except CourseError as error:
        problems = error.problems
    else:
        assert sum(exercise.points for exercise in course.exercises) == 10000
        return
    lines = content.count(b"\n") + 1
    assert problems
    assert all(problem.line is None or 1 <= problem.line <= lines for problem in problems)


@bounded
@given(edits)
def test_a_course_with_any_edits_is_read_or_its_mistakes_are_reported(
    tmp_path: Path, changed: list[tuple[int, int, str]]
) -> None:
    text = COURSE
    for at, gone, new in changed:
        text = text[:at] + new + text[at + gone :]
    course_or_mistakes(tmp_path, text.encode())


@bounded
@given(st.binary(max_size=60), st.integers(0, len(COURSE)))
def test_a_course_with_any_bytes_is_read_or_its_mistakes_are_reported(tmp_path: Path, junk: bytes, at: int) -> None:
    course_or_mistakes(tmp_path, COURSE[:at].encode() + junk + COURSE[at:].encode())
