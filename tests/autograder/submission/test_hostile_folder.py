"""What is refused in a folder; every hostile thing here is real."""

import os
import socket
from pathlib import Path

import pytest

from autograder.submission import Caps, SubmissionError
from tests.support.submission_examples import BOTH, FILES, LIMIT, ONE, TWO, laid_out, links, noted, read, zipped


@links
def test_a_link_to_a_file_is_not_followed(tmp_path: Path) -> None:
    secret = laid_out(tmp_path, {"secret.py": b"the answers"}) / "secret.py"
    folder = laid_out(tmp_path / "eve", {TWO: b"x"})
    (folder / ONE).symlink_to(secret)
    assert read(folder).sources == {TWO: b"x"}
    assert noted(read(folder), f"{ONE} is a link, and links are not followed")


@links
def test_a_link_to_a_folder_is_not_followed_even_round_in_a_circle(tmp_path: Path) -> None:
    secret = laid_out(tmp_path / "solutions", BOTH)
    folder = laid_out(tmp_path / "eve", {"x": b""})
    (folder / "work").symlink_to(secret, target_is_directory=True)
    (folder / "circle").symlink_to(folder, target_is_directory=True)
    assert read(folder).sources == {}
    assert noted(read(folder), "work is a link")
    assert noted(read(folder), "circle is a link")


@links
@pytest.mark.parametrize("name", ["eve", "eve.zip"])
def test_a_submission_that_is_itself_a_link_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "eve").symlink_to(laid_out(tmp_path / "solutions", BOTH), target_is_directory=True)
    (tmp_path / "eve.zip").symlink_to(zipped(tmp_path / "solutions.zip", BOTH))
    with pytest.raises(SubmissionError, match="is a link, and links are not followed"):
        read(tmp_path / name)


@links
def test_a_file_that_becomes_a_link_while_it_is_read_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = laid_out(tmp_path, {"secret.py": b"the answers"}) / "secret.py"
    folder = laid_out(tmp_path / "eve", BOTH)
    opened = os.open

    def swap(path: Path, flags: int) -> int:
        Path(path).unlink()
        Path(path).symlink_to(secret)
        return opened(path, flags)

    monkeypatch.setattr(os, "open", swap)
    assert read(folder).sources == {}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_read_and_does_not_hang(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "eve", {TWO: b"x"})
    os.mkfifo(folder / ONE)
    os.mkfifo(tmp_path / "mallory.zip")
    assert read(folder).sources == {TWO: b"x"}
    assert noted(read(folder), f"{ONE} is not a plain file")
    with pytest.raises(SubmissionError, match="is neither a folder nor a zip"):
        read(tmp_path / "mallory.zip")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_file_that_becomes_a_pipe_while_it_is_read_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = laid_out(tmp_path / "eve", {ONE: b"x"})
    opened = os.open

    def swap(path: Path, flags: int) -> int:
        Path(path).unlink()
        os.mkfifo(path)
        return opened(path, flags)

    monkeypatch.setattr(os, "open", swap)
    assert read(folder).notes == (f"{ONE} is not a plain file, so it was not read",)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets with names here")
def test_a_socket_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(laid_out(tmp_path / "eve", {"x": b""}))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(ONE)
        assert noted(read(Path()), f"{ONE} is not a plain file")


def test_a_file_over_the_limit_is_not_taken_and_one_at_the_limit_is(tmp_path: Path) -> None:
    files = {ONE: b"#" * (LIMIT + 1), TWO: b"#" * LIMIT}
    for path in (laid_out(tmp_path / "eve", files), zipped(tmp_path / "eve.zip", files)):
        assert read(path).missing == (ONE,)
        assert noted(read(path), f"{ONE} has 262,145 bytes, more than the 256 KiB a file may have, so it was not read")


def test_the_limit_of_a_course_is_kept(tmp_path: Path) -> None:
    assert read(laid_out(tmp_path / "eve", {ONE: b"#" * 1025}), Caps(source_kib=1)).missing == FILES


def test_a_file_that_grows_while_it_is_read_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = laid_out(tmp_path / "eve", {ONE: b"#" * (LIMIT + 1)})
    true = os.fstat
    monkeypatch.setattr(os, "fstat", lambda fd: os.stat_result((*true(fd)[:6], 3, *true(fd)[7:])))
    assert read(folder).missing == FILES


def test_a_huge_empty_file_costs_no_time(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "eve", {ONE: b""})
    os.truncate(folder / ONE, 1 << 34)
    assert noted(read(folder), "has 17,179,869,184 bytes")


def test_a_folder_named_like_an_expected_file_is_no_file(tmp_path: Path) -> None:
    assert read(laid_out(tmp_path / "eve", {f"{ONE}/{TWO}": b"x"})).sources == {TWO: b"x"}


def test_walking_ends_at_the_number_of_entries(tmp_path: Path) -> None:
    files = {f"x{number}": b"" for number in range(30)} | {f"deep/{ONE}": b""}
    for path in (laid_out(tmp_path / "eve", files), zipped(tmp_path / "eve.zip", files)):
        submission = read(path, Caps(entries=20))
        assert submission.missing == FILES
        assert noted(submission, "the rest was not read")


def test_walking_ends_at_the_depth(tmp_path: Path) -> None:
    files = {"d/" * 7 + ONE: b"x", "d/" * 8 + TWO: b"x"}
    for path in (laid_out(tmp_path / "eve", files), zipped(tmp_path / "eve.zip", files)):
        assert read(path).sources == {ONE: b"x"}
        assert noted(read(path), "is more than 8 folders deep, so it was not read")


@links
def test_notes_without_end_are_cut(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "eve", BOTH)
    for number in range(100):
        (folder / f"link{number}").symlink_to("nowhere")
    assert len(read(folder).notes) == 21
    assert read(folder).notes[-1] == "and 80 more notes like these"


@links
def test_a_note_has_no_control_characters_and_no_great_length(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "eve", BOTH)
    hostile = ["\x1b[2J\rfull marks", "two\nlines", "left\u202eright", os.fsdecode(b"\xff\xfe"), "long" * 60]
    for name in hostile:
        (folder / name).symlink_to("nowhere")
    notes = read(folder).notes
    assert len(notes) == len(hostile)
    assert all(note.isprintable() and len(note) < 200 for note in notes)


def test_a_folder_or_file_without_permission_is_a_sentence(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "eve", {ONE: b"", TWO: b"x", f"closed/{ONE}": b""})
    archive = zipped(tmp_path / "bob.zip", BOTH)
    for path in (folder / ONE, folder / "closed", archive):
        path.chmod(0)
    if os.access(archive, os.R_OK):
        pytest.skip("this user may read everything")
    submission = read(folder)
    assert submission.sources == {TWO: b"x"}
    assert noted(submission, f"{ONE} cannot be read (Permission denied)")
    assert noted(submission, "closed cannot be read (Permission denied), so its files were not read")
    with pytest.raises(SubmissionError, match=r"Permission denied.*check its permissions"):
        read(archive)
    folder.chmod(0)
    with pytest.raises(SubmissionError, match=r"Permission denied.*check its permissions"):
        read(folder)
