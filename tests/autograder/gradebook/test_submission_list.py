"""The submissions of a class in one folder, and what is not a submission."""

from pathlib import Path

import pytest

from autograder.gradebook import Roster, Student, list_submissions
from autograder.submission import Caps, SubmissionError
from tests.support.submission_examples import BOTH, FILES, ONE, laid_out, links, read, zipped


@pytest.mark.parametrize(
    "name", ["...zip", "..  .zip", "two\nlines.zip", "\x1b[2J.zip", "\udcff.zip", "é" * 120 + ".zip"]
)
def test_a_name_that_cannot_be_a_reports_is_refused(tmp_path: Path, name: str) -> None:
    try:
        zipped(tmp_path / "plain.zip", BOTH).rename(tmp_path / name)
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    with pytest.raises(SubmissionError, match="has a name that cannot be a student's"):
        read(tmp_path / name)
    assert len(list_submissions(tmp_path, FILES).problems) == (not name.startswith("."))


def test_every_folder_and_zip_is_a_submission_hidden_ones_are_not(tmp_path: Path) -> None:
    laid_out(tmp_path, {f"bob/{ONE}": b"", f".git/{ONE}": b"", "roster.csv": b"", ".DS_Store": b""})
    zipped(tmp_path / "alice.zip", BOTH)
    zipped(tmp_path / "Carol.ZIP", BOTH)
    found = list_submissions(tmp_path, FILES)
    assert [entry.path for entry in found.entries] == [tmp_path / "Carol.ZIP", tmp_path / "alice.zip", tmp_path / "bob"]
    assert found.problems == ()
    assert found.notes == ("roster.csv is not a submission; it was left out",)
    assert [entry.student for entry in found.entries] == ["Carol", "alice", "bob"]


def test_of_two_submissions_of_one_student_one_is_taken_and_the_other_named(tmp_path: Path) -> None:
    laid_out(tmp_path / "alice", BOTH)
    zipped(tmp_path / "alice.zip", {ONE: b"zipped"})
    [entry] = list_submissions(tmp_path, FILES).entries
    message = "alice.zip counts, not alice: nothing shows which is later, so the last by name was taken"
    assert entry.read(FILES, Caps()).sources == {ONE: b"zipped"}
    assert entry.notes == (message,)
    assert list_submissions(tmp_path, FILES).notes == (f"alice: {message}",)


@pytest.mark.parametrize("folder", ["Alice", "ALICE"])
def test_names_that_differ_in_case_only_are_a_problem_and_none_is_taken(tmp_path: Path, folder: str) -> None:
    laid_out(tmp_path / folder, BOTH)
    laid_out(tmp_path / "bob", BOTH)
    zipped(tmp_path / "alice.zip", BOTH)
    found = list_submissions(tmp_path, FILES)
    assert [entry.path for entry in found.entries] == [tmp_path / "bob"]
    assert found.problems == (
        f"{folder}, alice.zip differ only in upper and lower case, and so would their reports, "
        "so none of them is graded; keep one, or rename them",
    )


@pytest.mark.parametrize("name", ["alice.rar", "alice.tar.gz", "alice.7z", "alice.ipynb", "alice.py"])
def test_work_in_a_form_that_is_not_read_is_a_problem(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    [problem] = list_submissions(tmp_path, FILES).problems
    assert problem.startswith(f"{name} is neither a folder nor a zip, so it was left out; make it a folder or a zip")


@pytest.mark.parametrize("name", ["alice.rar", "alice.tar.gz", "Alice Ames.pdf", "alice-2.docx", "alice.ipynb"])
def test_a_file_of_a_student_on_the_roster_is_held_unless_there_is_a_submission_too(tmp_path: Path, name: str) -> None:
    roster = Roster((Student("alice", name="Alice Ames"), Student("bob")))
    (tmp_path / name).write_bytes(b"1234")
    (tmp_path / "notes.docx").touch()
    found = list_submissions(tmp_path, FILES, roster=roster)
    [entry] = found.entries
    submission = entry.read(FILES, Caps())
    assert (entry.student, submission.held, submission.found) == ("alice", True, (f"{name} (4 bytes)",))
    why = f"{name} is neither a folder nor a zip, so nothing in it was read"
    assert submission.notes == (f"{why}; hand in a zip of .py files",)
    held = f"{why}, and alice is held; ask for a zip, and use it with `course accept alice FILE`"
    assert (found.problems, found.notes) == ((), ("notes.docx is not a submission; it was left out", held))
    laid_out(tmp_path / "alice", BOTH)
    found = list_submissions(tmp_path, FILES, roster=roster)
    assert [entry.path for entry in found.entries] == [tmp_path / "alice"]


@links
def test_a_linked_submission_is_a_problem(tmp_path: Path) -> None:
    laid_out(tmp_path / "bob", BOTH)
    (tmp_path / "eve").symlink_to("bob", target_is_directory=True)
    found = list_submissions(tmp_path, FILES)
    assert [entry.path for entry in found.entries] == [tmp_path / "bob"]
    assert found.problems == ("eve is a link, and links are not followed; hand in the file itself",)


def test_one_submission_is_not_taken_for_a_folder_of_them(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "alice", BOTH)
    with pytest.raises(SubmissionError, match=f"contains {ONE}, so it looks like a single submission") as caught:
        list_submissions(folder, FILES)
    assert str(caught.value).endswith(f"give its parent, {tmp_path.resolve()}")


def test_a_folder_of_submissions_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match=r"cannot be read .* expected a folder of submissions: check the path"):
        list_submissions(tmp_path / "nowhere", FILES)


@pytest.mark.parametrize(
    ("folders", "roster", "graded"),
    [
        (("007",), ("7",), ["7"]),
        (("7",), ("007",), ["007"]),
        (("7", "007"), ("7",), ["007", "7"]),
        (("7", "007"), ("7", "007"), ["007", "7"]),
        (("07", "007"), ("7",), ["007", "07"]),
        (("007",), ("7", "07"), ["007"]),
    ],
)
def test_a_number_without_its_zeros_is_a_student_only_if_nobody_else_can_be_meant(
    folders: tuple[str, ...], roster: tuple[str, ...], graded: list[str], tmp_path: Path
) -> None:
    for folder in folders:
        laid_out(tmp_path / folder, BOTH)
    found = list_submissions(tmp_path, FILES, roster=Roster(tuple(Student(number) for number in roster)))
    assert [entry.student for entry in found.entries] == graded
    lost = [note for note in found.notes if "a spreadsheet removes zeros before a number" in note]
    assert len(lost) == (len(folders) == 1 == len(roster))
