"""Which files of a submission are read, and which of several files with one name counts."""

import hashlib
import pickle
import struct
from pathlib import Path

import pytest

from autograder.submission import Submission, SubmissionError, read_own
from tests.support import tiny
from tests.support.submission_examples import BOTH, FILES, ONE, TWO, laid_out, noted, read, zipped


@pytest.mark.parametrize("top", ["", "homework/", "a/b/c/"])
def test_a_folder_and_a_zip_of_the_same_files_are_read_alike(tmp_path: Path, top: str) -> None:
    files = {top + name: content for name, content in BOTH.items()}
    folder = read(laid_out(tmp_path / "alice", files))
    archive = read(zipped(tmp_path / "alice.zip", files))
    assert folder == archive == Submission("alice", FILES, BOTH, folder.digest, ())


def test_only_expected_files_are_taken(tmp_path: Path) -> None:
    files = {TWO: b"", "notes.txt": b"", "ex99_other.py": b"", TWO.upper(): b""}
    for path in (laid_out(tmp_path / "bob", files), zipped(tmp_path / "bob.zip", files)):
        assert read(path).sources == {TWO: b""}
        assert read(path).missing == (ONE,)


def test_the_digest_changes_with_every_name_and_every_byte(tmp_path: Path) -> None:
    contents = [{}, {ONE: b""}, {TWO: b""}, {ONE: b"", TWO: b""}, {ONE: TWO.encode()}, {ONE: b"x"}, {TWO: b"x"}]
    digests = {read(laid_out(tmp_path / f"{at}", {**files, "x": b""})).digest for at, files in enumerate(contents)}
    assert len(digests) == len(contents)


def test_the_digest_is_of_names_and_bytes_with_their_lengths(tmp_path: Path) -> None:
    parts = [part for name, content in sorted(BOTH.items()) for part in (name.encode(), content)]
    framed = b"".join(struct.pack(">Q", len(part)) + part for part in parts)
    assert read(laid_out(tmp_path / "alice", BOTH)).digest == f"sha256:{hashlib.sha256(framed).hexdigest()}"


def test_a_submission_can_be_sent_to_another_process(tmp_path: Path) -> None:
    submission = read(laid_out(tmp_path / "alice", BOTH))
    assert pickle.loads(pickle.dumps(submission)) == submission


def test_bytes_that_are_no_text_are_taken_as_they_are(tmp_path: Path) -> None:
    assert read(laid_out(tmp_path / "alice", {ONE: b"\xff\x00\r\n"})).sources == {ONE: b"\xff\x00\r\n"}


def test_the_file_nearest_to_the_top_counts(tmp_path: Path) -> None:
    files = {f"a/{ONE}": b"deep", f"a/{TWO}": b"deep", ONE: b"top"}
    for path in (laid_out(tmp_path / "eve", files), zipped(tmp_path / "eve.zip", files)):
        submission = read(path)
        assert submission.sources == {ONE: b"top", TWO: b"deep"}
        assert submission.notes == (f"{ONE} is there 2 times; {ONE} counts, not a/{ONE}",)


def test_at_one_depth_the_folder_with_most_expected_files_counts_then_the_first_by_name(tmp_path: Path) -> None:
    files = {f"a/{ONE}": b"a", f"c/{ONE}": b"c", f"c/{TWO}": b"c", f"b/{ONE}": b"b", f"b/{TWO}": b"b"}
    for path in (laid_out(tmp_path / "eve", files), zipped(tmp_path / "eve.zip", files)):
        submission = read(path)
        assert submission.sources == {ONE: b"b", TWO: b"b"}
        assert noted(submission, f"{ONE} is there 3 times; b/{ONE} counts, not c/{ONE}, a/{ONE}")


def test_hidden_folders_caches_and_environments_are_not_looked_into(tmp_path: Path) -> None:
    folders = (".git", ".venv", "__pycache__", "node_modules", "__MACOSX", "a/.ipynb_checkpoints")
    files = {f"{folder}/{ONE}": b"" for folder in folders}
    for path in (laid_out(tmp_path / "eve", files), zipped(tmp_path / "eve.zip", files)):
        assert read(path).missing == FILES
        assert read(path).notes == ()


def test_windows_separators_in_a_zip_are_separators(tmp_path: Path) -> None:
    assert read(zipped(tmp_path / "bob.zip", {f"homework\\{ONE}": b"x"})).sources == {ONE: b"x"}


@pytest.mark.parametrize("name", ["Übung/", "課題/"])
def test_names_of_any_alphabet_in_a_zip_are_read(tmp_path: Path, name: str) -> None:
    assert read(zipped(tmp_path / "bob.zip", {name + ONE: b"x"})).sources == {ONE: b"x"}


def test_names_in_the_old_encoding_of_zips_are_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bob.zip", {f"UUbung/{ONE}": b"x"})
    path.write_bytes(path.read_bytes().replace(b"UUbung", b"\x9a\xffbung"))
    assert read(path).sources == {ONE: b"x"}


def test_a_missing_file_with_a_nearly_right_name_is_pointed_out(tmp_path: Path) -> None:
    submission = read(laid_out(tmp_path / "bob", {"ex05_attention (1).py": b""}))
    assert submission.missing == FILES
    assert noted(submission, f"{TWO} is missing, and there is ex05_attention (1).py; rename it if that is the one")


def test_the_working_folder_is_named_after_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(laid_out(tmp_path / "alice", BOTH))
    assert read(Path()).student == "alice"


def test_reading_writes_nothing(tmp_path: Path) -> None:
    zipped(tmp_path / "alice.zip", BOTH)
    laid_out(tmp_path / "bob", BOTH)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    read(tmp_path / "alice.zip")
    read(tmp_path / "bob")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_other_files_beside_the_solutions_are_not_noted(course: Path) -> None:
    twin = course / "solutions" / "accepted" / "whole" / tiny.FILES[0]
    laid_out(twin.parent, {tiny.FILES[0]: b"", tiny.FILES[1]: b""})
    own = tiny.course_at(course)
    submission = read_own(own, folder=own.solutions_dir)
    assert (submission.notes, submission.sources[tiny.FILES[0]]) == ((), tiny.MEAN.encode())


def test_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    for name in ("nobody", "nobody.zip", "n" * 300, "nul\0"):
        with pytest.raises(
            SubmissionError, match=r"cannot be read .* expected a folder of \.py files or a zip of them"
        ):
            read(tmp_path / name)


@pytest.mark.parametrize("name", ["eve.tar.gz", "eve.py", "eve"])
def test_a_file_that_is_no_zip_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(SubmissionError, match=f"{name} is neither a folder nor a zip, expected a folder"):
        read(tmp_path / name)
