"""What is refused in a zip; every hostile thing here is real."""

import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.submission import SubmissionError
from tests.support.submission_examples import BOTH, LIMIT, ONE, TWO, noted, patched, read, zipped

MOST_BYTES = 4 << 20
"""Far below what the bombs hold, far above what reading a small file takes."""


@contextmanager
def little_memory() -> Iterator[None]:
    """Fail if what is done inside takes more memory than reading a small file."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", [f"../{ONE}", f"a/../../{ONE}", f"..\\{ONE}", f"a/../{ONE}"])
def test_a_name_that_leads_out_of_a_zip_is_refused(tmp_path: Path, name: str) -> None:
    submission = read(zipped(tmp_path / "eve.zip", {name: b"x", TWO: b""}))
    assert submission.sources == {TWO: b""}
    assert noted(submission, "has a path that leads out of the zip, so it was not read")


@pytest.mark.parametrize("name", [f"/{ONE}", f"\\{ONE}", f"C:\\{ONE}", f"c:/work/{ONE}", f"//server/share/{ONE}"])
def test_an_absolute_name_in_a_zip_is_refused(tmp_path: Path, name: str) -> None:
    submission = read(zipped(tmp_path / "eve.zip", {name: b"x", TWO: b""}))
    assert submission.sources == {TWO: b""}
    assert noted(submission, "has an absolute path, so it was not read")


@pytest.mark.parametrize(("kind", "sentence"), [(stat.S_IFLNK, "is a link"), (stat.S_IFIFO, "is not a plain file")])
def test_a_link_or_a_pipe_in_a_zip_is_refused(tmp_path: Path, kind: int, sentence: str) -> None:
    entry = zipfile.ZipInfo(ONE)
    entry.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.writestr(entry, "/etc/passwd")
    submission = read(tmp_path / "eve.zip")
    assert submission.sources == {}
    assert noted(submission, f"{ONE} {sentence}")


@pytest.mark.parametrize("flag", [0x1, 0x40, 0x41])
def test_an_encrypted_file_in_a_zip_is_refused(tmp_path: Path, flag: int) -> None:
    path = patched(zipped(tmp_path / "eve.zip", {ONE: b"x"}), 6, 8, struct.pack("<H", flag))
    assert read(path).notes == (f"{ONE} is encrypted; pack it without a password",)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_without_bounds_is_refused(tmp_path: Path, method: int) -> None:
    path = zipped(tmp_path / "eve.zip", {ONE: b"x"}, method)
    assert noted(read(path), f"{ONE} uses an unsupported compression; pack it as a plain zip")


def test_a_compression_nobody_knows_is_refused(tmp_path: Path) -> None:
    path = patched(zipped(tmp_path / "eve.zip", {ONE: b"x"}), 8, 10, struct.pack("<H", 77))
    assert noted(read(path), f"{ONE} uses an unsupported compression")


def test_a_bomb_that_says_its_size_is_not_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path / "eve.zip", {ONE: bytes(64 << 20)})
    assert path.stat().st_size < 100_000
    with little_memory():
        assert noted(read(path), f"{ONE} has 67,108,864 bytes")


@pytest.mark.long
@pytest.mark.parametrize("size", [0, 10, LIMIT])
def test_a_bomb_that_hides_its_size_is_cut_off(tmp_path: Path, size: int) -> None:
    path = patched(zipped(tmp_path / "eve.zip", {ONE: bytes(64 << 20)}), 22, 24, struct.pack("<I", size))
    with little_memory():
        assert read(path).sources == {}
    assert noted(read(path), f"{ONE} is broken")


def test_a_file_in_a_zip_that_takes_more_room_than_it_has_is_not_read(tmp_path: Path) -> None:
    path = patched(zipped(tmp_path / "eve.zip", {ONE: b"x"}), 18, 20, struct.pack("<I", 1 << 30))
    assert noted(read(path), f"{ONE} has 536,870,912 bytes")


def test_a_file_in_a_zip_shorter_than_it_says_is_refused(tmp_path: Path) -> None:
    path = patched(zipped(tmp_path / "eve.zip", {ONE: b"x"}), 22, 24, struct.pack("<I", 100))
    assert noted(read(path), f"{ONE} is broken (it has 1 bytes, expected 100); pack it again")


def test_a_file_in_a_zip_with_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    path = patched(zipped(tmp_path / "eve.zip", {ONE: b"x"}), 14, 16, b"\0\0\0\0")
    assert noted(read(path), f"{ONE} is broken (Bad CRC-32")


def test_one_broken_file_in_a_zip_leaves_the_others(tmp_path: Path) -> None:
    path = zipped(tmp_path / "eve.zip", BOTH, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"one = 1", b"one = 9"))
    assert read(path).sources == {TWO: BOTH[TWO]}


def test_of_two_entries_of_one_name_the_last_counts(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        archive.writestr(ONE, b"first")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(ONE, b"last")
    submission = read(tmp_path / "eve.zip")
    assert submission.sources == {ONE: b"last"}
    assert noted(submission, f"{ONE} is in the zip more than once; the last one counts")


def test_a_name_that_lies_about_its_encoding_is_a_sentence(tmp_path: Path) -> None:
    path = zipped(tmp_path / "eve.zip", {f"ü/{ONE}": b"x"})
    path.write_bytes(path.read_bytes().replace("ü".encode(), b"\xff\xff"))
    with pytest.raises(SubmissionError, match=r"a file name as UTF-8 that is not UTF-8; pack the folder again"):
        read(path)


def test_a_table_of_contents_without_end_is_refused_before_it_is_read(tmp_path: Path) -> None:
    name = b"x" * 60
    record = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", *[0] * 9, len(name), *[0] * 6) + name
    contents = record * 100_000
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(contents), 0, 0)
    (tmp_path / "eve.zip").write_bytes(contents + end)
    with pytest.raises(SubmissionError, match="its table of contents is too long"):
        read(tmp_path / "eve.zip")


@pytest.mark.parametrize("kept", [0, 1, 30, 100, -1, -22, -60])
def test_a_zip_cut_short_is_a_sentence(tmp_path: Path, kept: int) -> None:
    path = zipped(tmp_path / "eve.zip", BOTH)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(SubmissionError, match=r"is not a zip, or is incomplete .* expected a zip of \.py files; pack"):
        read(path)
