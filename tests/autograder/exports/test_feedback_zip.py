"""All feedback in one zip: names that Canvas and Moodle read, by their rules in our words."""

import io
import json
import re
import zipfile
from html import unescape
from pathlib import Path

import pytest

from autograder.exports.canvas_and_moodle import PAGE, write_archive
from autograder.gradebook import ExportError, Graded, canvas_uploads
from autograder.gradebook.class_folder import owners
from tests.support import export_examples as examples
from tests.support import tiny

DOWNLOADED = (
    "lovelaceada_123_900_submission.zip",
    "lovelaceada_123_901_submission-1.zip",
    "lovelaceada_123_999_ex01_running_mean.py",
    "nalbob_LATE_124_910_ex01_running_mean.py",
    "nalbob_LATE_124_911_ex02_matrix_power-1.py",
    "oneilfay_126_920_ex01_running_mean.ipynb",
    "eve_130_text.html",
    "hoppergrace_13_66_99_work.zip",
    "anon_aB3dE_77_submission.zip",
)
"""A download of Canvas. The name before the last can be read in two ways."""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return examples.graded_class(tmp_path_factory.mktemp("zips"))


@pytest.fixture(scope="module")
def graded(course: Path) -> Graded:
    return examples.read(course)


@pytest.fixture(scope="module")
def submissions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("canvas") / "submissions.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for name in DOWNLOADED:
            archive.writestr(name, b"")
    return file


def contents(file: Path | bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file) if isinstance(file, bytes) else file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def moodle_reads(path: str) -> tuple[int, str, str, str] | None:
    """Return what Moodle's importer reads from a path: the participant, the type and name of the plugin, the file."""
    parts = path.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) < 4 or not info[1].isdigit() or info[2] not in ("assignsubmission", "assignfeedback"):
            continue
        return int(info[1]), info[2], info[3], "/".join([*info[4:], *parts])
    return None


def canvas_reads(name: str) -> tuple[int, int] | None:
    """Return the user and the attachment that Canvas infers: the first two parts that are numbers."""
    parts = name.rpartition("/")[2].split("_")
    numbers = [int(part) for part in parts if re.fullmatch(r"\d+", part)][:2]
    return (numbers[0], numbers[1]) if len(numbers) == 2 and not parts[-1].startswith("link") else None


def test_moodle_gives_each_page_to_its_student(graded: Graded, tmp_path: Path) -> None:
    made = write_archive(graded, "moodle", None, tmp_path / "feedback.zip")
    found = contents(tmp_path / "feedback.zip")
    assert {moodle_reads(name) for name in found} == {
        (number, "assignsubmission", "file", f"/{PAGE}") for number in (123, 124, 126)
    }
    pages = {name.split("_")[1]: page.decode() for name, page in found.items()}
    assert "Feedback for Lovelace, Ada" in pages["123"]
    assert "Fay O'Neil" in unescape(pages["126"])
    folder = next(name.split("/")[0] for name in found if "_124_" in name)
    (owner,) = owners(folder, "folder")
    assert (owner.id, owner.name) == ("124", "Bob Ünal"), "our own reader agrees"
    assert made == (3, ["eve", "=cmd"])


def test_canvas_gives_each_page_to_its_student_in_a_file_of_the_type_it_replaces(
    graded: Graded, submissions: Path, tmp_path: Path
) -> None:
    made = write_archive(graded, "canvas", submissions, tmp_path / "feedback.zip")
    found = contents(tmp_path / "feedback.zip")
    read = {canvas_reads(name): (name, data) for name, data in found.items()}
    assert set(read) == {(123, 901), (124, 911), (126, 920)}, "the last attachment, a zip if there is one"
    for name in found:
        assert len(canvas_uploads(name)) == 1, "our own reader agrees"
    name, page = read[123, 901]
    assert name.endswith(".zip")
    assert "Feedback for Lovelace, Ada" in contents(page)[PAGE].decode()
    name, page = read[124, 911]
    assert name.endswith(".py")
    assert all(line.startswith("#") for line in page.decode().splitlines())
    assert b"51.43 of 100 points" in page
    name, page = read[126, 920]
    assert name.endswith(".ipynb")
    assert "The grader failed here" in json.loads(page)["cells"][0]["source"]
    assert made == (3, ["eve", "=cmd"])


def test_a_folder_of_canvas_is_read_like_its_zip(graded: Graded, submissions: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(submissions) as archive:
        archive.extractall(tmp_path / "unpacked")
    for into, to in ((submissions, "one.zip"), (tmp_path / "unpacked", "two.zip")):
        write_archive(graded, "canvas", into, tmp_path / to)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_student_whose_name_has_numbers_gets_their_own_page(course: Path, tmp_path: Path) -> None:
    tiny.replaced(course / "roster.csv", '"Lovelace, Ada"', "_99_100_")
    try:
        graded = examples.read(course)
    finally:
        tiny.replaced(course / "roster.csv", "_99_100_", '"Lovelace, Ada"')
    write_archive(graded, "moodle", None, tmp_path / "feedback.zip")
    assert "student_123_assignsubmission_file_/feedback.html" in contents(tmp_path / "feedback.zip")


def test_a_download_that_is_none_is_refused(graded: Graded, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    with pytest.raises(ExportError, match=r"x.zip cannot be read, expected the submissions.zip that Canvas gave you"):
        write_archive(graded, "canvas", tmp_path / "x.zip", tmp_path / "to.zip")
    with pytest.raises(ExportError, match="is not the name of a zip"):
        write_archive(graded, "moodle", None, tmp_path / "feedback")
    assert not (tmp_path / "to.zip").exists()


@pytest.mark.worker
def test_the_command_writes_the_zip_and_names_who_is_left_out(course: Path, submissions: Path, tmp_path: Path) -> None:
    to = tmp_path / "feedback.zip"
    wanted = ("export", "feedback", "../out", "--to", str(to))
    done = tiny.run_course(course, *wanted, "--for", "moodle")
    assert (done.returncode, done.stdout) == (4, f"Written: {to}, 3 pages for Moodle\n")
    assert "2 pages left out: eve and =cmd; no participant number in roster.csv (lms_id)\n" in done.stderr
    done = tiny.run_course(course, *wanted, "--for", "canvas", "--into", str(submissions))
    assert (done.returncode, done.stdout) == (4, f"Written: {to}, 3 pages for Canvas\n")
    found = f"no .zip, .py or .ipynb of theirs in {submissions}, and Canvas takes a page for no other file"
    assert f"2 pages left out: eve and =cmd; {found}\n" in done.stderr
    for arguments, sentence in (
        (("--for", "canvas"), "--for canvas needs --into FILE, the submissions.zip that you downloaded there"),
        (("--for", "moodle", "--into", "x"), "--for moodle takes no --into"),
        ((), "course export feedback takes a zip and --into only with --for canvas or --for moodle"),
    ):
        done = tiny.run_course(course, *wanted, *arguments)
        assert done.returncode == 2
        assert sentence in done.stderr
    done = tiny.run_course(course, "export", "junit", "../out", "--to", "x", "--for", "moodle")
    assert "--for is for feedback, and not for junit" in done.stderr
