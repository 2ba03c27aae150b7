"""A file that exists and cannot be read is reported with the reason, never as *not in the submission*."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.judge import Grader
from autograder.results import ExerciseResult
from autograder.runner import Runner
from autograder.submission import Handout, Submission, SubmissionError, handout_of, read_own, read_submission
from tests.support import tiny
from tests.support.submission_examples import (
    BOTH,
    FILES,
    LIMIT,
    ONE,
    TWO,
    laid_out,
    links,
    patched,
    read,
    zip_of,
    zipped,
)

FIRST, SECOND = tiny.FILES
BOOK = ONE.replace(".py", ".ipynb")


def test_a_file_above_the_limit_says_its_size_the_limit_and_what_to_do(tmp_path: Path) -> None:
    files = {ONE: b"#" * (LIMIT + 1), TWO: b"two"}
    for path in (laid_out(tmp_path / "eve", files), zipped(tmp_path / "eve.zip", files)):
        why = "has 262,145 bytes, more than the 256 KiB a file may have, so it was not read; hand in a smaller one"
        assert read(path).unread == {ONE: f"{ONE} {why}"}
        assert read(path).unseen == ""


def test_a_notebook_above_the_limit_counts_as_unread_where_nothing_else_holds_work(tmp_path: Path) -> None:
    stub = b"def embed(): ...\n"
    huge = {BOOK: b"9" * (8 * 1024 * 1024 + 1)}
    for files, counts in ((huge, False), (huge | {ONE: stub}, False), (huge | {ONE: b"work = 1\n"}, True)):
        folder = laid_out(tmp_path / str(len(files)) / str(counts), files)
        found = read_submission(folder, FILES, None, Handout({ONE: stub}))
        assert (ONE in found.sources) == counts
        assert ("8,388,609 bytes, more than the 8,192 KiB" in found.unread.get(ONE, "")) != counts
        assert any("8,388,609 bytes" in note for note in found.notes)


def test_the_code_of_a_notebook_has_the_limit_of_a_source(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "eve", {BOOK: tiny.notebook("x = 1\n" * 60_000)})
    assert read(folder).unread == {ONE: f"{BOOK} has more than 256 KiB of code, so it was not read; hand in less code"}


@links
def test_a_link_and_what_lies_too_deep_are_called_so_unless_a_plain_file_is_there_too(tmp_path: Path) -> None:
    folder = laid_out(tmp_path / "eve", {"d/" * 3 + "x": b""})
    (folder / ONE).symlink_to("/etc/passwd")
    assert read(folder).unread == {ONE: f"{ONE} is a link, and links are not followed; hand in the file itself"}
    laid_out(folder, {f"src/{ONE}": b"work = 1\n"})
    assert read(folder).sources == {ONE: b"work = 1\n"}
    assert read(folder).unread == {}
    deep = zipped(tmp_path / "eve.zip", {"d/" * 8 + TWO: b"x"})
    assert read(deep).unread == {TWO: f"{TWO} is more than 8 folders deep, so it was not read; move it up"}


def test_an_encrypted_or_a_broken_entry_of_a_zip_is_called_so(tmp_path: Path) -> None:
    locked = patched(zipped(tmp_path / "locked.zip", {ONE: b"one"}), 6, 8, b"\1\0")
    assert read(locked).unread == {ONE: f"{ONE} is encrypted; pack it without a password"}
    broken = patched(zipped(tmp_path / "broken.zip", {ONE: b"one"}), 14, 16, b"\1\2\3\4")
    assert "is broken (Bad CRC-32" in read(broken).unread[ONE]
    assert read(broken).unread[ONE].endswith("; pack it again")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("work.zip", b"PK\3\4 nothing", "work.zip is not a zip, or is incomplete"),
        ("work.zip", b"\0" * (17 << 20), "work.zip has 17,825,792 bytes, more than the 16,384 KiB a file may have"),
        ("a.zip", zip_of({"b.zip": zip_of({"c.zip": zip_of(BOTH)})}), "was not opened: at most 20 zips"),
    ],
)
def test_a_part_that_was_not_looked_into_is_named_where_a_file_is_not_found(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    found = read(laid_out(tmp_path / "eve", {name: content, TWO: b"two"}))
    assert (found.missing, found.unread) == ((ONE,), {})
    assert message in found.unseen


def graded(grader: Grader, runner: Runner, submission: Submission) -> dict[str, ExerciseResult]:
    return {exercise.id: exercise for exercise in grader.grade(submission, runner=runner).exercises}


def own(folder: Path) -> Submission:
    return read_own(tiny.COURSE, folder=folder)


def test_what_cannot_be_read_is_an_error_without_points_and_the_rest_is_graded(
    tmp_path: Path, grader: Grader, runner: Runner
) -> None:
    large = f"{tiny.MEAN}\n{'#' * LIMIT}\n".encode()
    folder = laid_out(tmp_path / "eve", {FIRST: large, SECOND: tiny.POWER_ALONE.encode()})
    results = graded(grader, runner, own(folder))
    first, second = results[tiny.FIRST], results[tiny.SECOND]
    assert (first.status, first.score, second.status) == ("error", 0, "pass")
    why = f"has {len(large):,} bytes, more than the 64 KiB a file may have, so it was not read; hand in a smaller one"
    assert tiny.sentences_of(first) == [f"{FIRST} {why}."] * len(first.checks)


def test_what_was_not_found_beside_a_broken_zip_says_so(tmp_path: Path, grader: Grader, runner: Runner) -> None:
    folder = laid_out(tmp_path / "eve", {"work.zip": b"PK\3\4", SECOND: tiny.POWER_ALONE.encode()})
    first = graded(grader, runner, own(folder))[tiny.FIRST]
    assert first.status == "missing"
    finding = first.checks[0].finding
    assert finding is not None
    assert finding.message == f"{FIRST} was not found, and a part of the submission could not be read."
    assert finding.detail is not None
    assert finding.detail.startswith("work.zip is not a zip, or is incomplete")


def test_unread_files_of_a_class_are_reported_and_a_second_run_sees_changes(tmp_path: Path, key_cache: Path) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    (tmp_path / "class").mkdir()
    zipped(tmp_path / "class" / "ada.zip", {FIRST: b"#" * (LIMIT + 1), SECOND: tiny.POWER_ALONE.encode()})
    zipped(tmp_path / "class" / "bob.zip", {"more.zip": b"PK\3\4", SECOND: tiny.POWER_ALONE.encode()})
    zipped(tmp_path / "class" / "cem.zip", {name: (tiny.ROOT / "solutions" / name).read_bytes() for name in tiny.FILES})
    command = ("grade", str(tmp_path / "class"), "--out", "out", "--jobs", "1", "--seed", str(tiny.COURSE.seed))

    def run() -> dict[str, dict[str, str]]:
        done = tiny.run_course(course, *command, *tiny.TRUSTED)
        assert done.returncode == 0, done.stdout + done.stderr
        with (course / "out" / "scores.csv").open(newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def finding(student: str) -> str:
        report = json.loads((course / "out" / "reports" / f"{student}.json").read_text("utf-8"))
        return str(report["exercises"][0]["checks"][0]["finding"]["message"])

    assert [row["score"] for row in run().values()] == ["60.00", "60.00", "100.00"]
    assert finding("ada").startswith(f"{FIRST} has 262,145 bytes, more than the 64 KiB a file may have")
    assert finding("bob") == f"{FIRST} was not found, and a part of the submission could not be read."
    zipped(tmp_path / "class" / "ada.zip", {SECOND: tiny.POWER_ALONE.encode()})
    run()
    assert finding("ada") == f"There is no file {FIRST}."


@pytest.mark.worker
def test_what_is_packed_for_handing_in_says_what_was_too_large(tmp_path: Path) -> None:
    course = tiny.copied(tmp_path / "course")
    (course / "exercises" / FIRST).write_bytes(b"#" * (LIMIT + 1))
    (course / "exercises" / SECOND).write_text(tiny.POWER, "utf-8")
    assert handout_of(tiny.course_at(course)).files
    done = tiny.run_course(course, "submit", "--plain")
    assert f"{FIRST} has 262,145 bytes, more than the 64 KiB a file may have" in done.stdout
    assert "not there" not in done.stdout


@pytest.mark.parametrize(("has_solutions", "command"), [(True, "course build"), (False, "course reset")])
def test_without_the_folder_of_the_stubs_the_command_that_makes_it_is_named(
    has_solutions: bool, command: str, tmp_path: Path
) -> None:
    course = replace(tiny.COURSE, root=tmp_path)
    if has_solutions:
        course.solutions_dir.mkdir()
    with pytest.raises(SubmissionError, match=rf"there is no folder .*exercises; `{command}`"):
        read_own(course)
