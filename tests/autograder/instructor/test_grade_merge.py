"""Merged shards equal the output of a single run, except for the seconds."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.gradebook import read_stored
from autograder.judge import failed_result
from tests.support import tiny

SEED = str(tiny.COURSE.seed)
STUDENTS = ("ada", "bob", "eve", "a-b")
PARTS = {"ada": 1, "bob": 1, "eve": 2, "a-b": 2}
"""The shard of each student, of two shards."""


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory, key_cache: Path) -> Path:
    """A folder with course, hand_in, whole, 1 and 2."""
    folder = tmp_path_factory.mktemp("shards")
    tiny.copied(folder / "course", key_cache)
    for student in STUDENTS:
        wrong = tiny.mean_with("return x.cumsum(dim=-1)")
        tiny.handed_in(folder / "hand_in" / student, wrong if student < "b" else tiny.MEAN, f"{tiny.POWER}# {student}")
    assert grade(folder, "whole").returncode == 0
    for part in (1, 2):
        done = grade(folder, str(part), "--shard", f"{part}/2")
        count = sum(place == part for place in PARTS.values())
        assert (done.returncode, f"{count} graded, 0 kept" in done.stdout) == (0, True), done.stdout + done.stderr
    return folder


def grade(folder: Path, out: str, *arguments: str):  # type: ignore[no-untyped-def]
    return tiny.run_course(
        folder / "course",
        "grade",
        "../hand_in",
        "--out",
        f"../{out}",
        "--seed",
        SEED,
        "--plain",
        *tiny.TRUSTED,
        *arguments,
    )


def merge(folder: Path, *arguments: str) -> tuple[int, str]:
    done = tiny.run_course(folder / "course", "merge", *(f"../{argument}" for argument in arguments))
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copied(shards: Path, tmp_path: Path) -> Path:
    shutil.copytree(shards, tmp_path / "shards")
    return tmp_path / "shards"


def test_merged_shards_are_what_one_run_writes(copied: Path) -> None:
    for shard in ("2", "1"), ("1", "2"):
        status, output = merge(copied, "merged", *shard)
        assert (status, "4 reports from 2 folders, 0 of them" in output) == (0, True), output
        assert tiny.timeless(copied / "merged") == tiny.timeless(copied / "whole")
        for name in ("scores.csv", "run.json"):
            assert (copied / "merged" / name).read_bytes() == (copied / "whole" / name).read_bytes()
    for file in (copied / "1" / "reports").iterdir():
        assert (copied / "merged" / "reports" / file.name).read_bytes() == file.read_bytes()
    done = grade(copied, "merged")
    assert (done.returncode, "0 graded, 4 kept from before" in done.stdout) == (0, True), "it can be gone on with"


def run_with(folder: Path, **changed: object) -> None:
    file = folder / "run.json"
    run = {**json.loads(file.read_text()), **changed}
    file.write_text(json.dumps({key: value for key, value in run.items() if value is not None}))


def damage(root: Path) -> None:
    file = root / "2" / "reports" / "a-b.json"
    file.write_text(file.read_text().replace('"score": ', '"score": 1', 1))


def older(root: Path) -> None:
    """Put another run into the output folder of the merge."""
    shutil.copytree(root / "1", root / "out")
    run_with(root / "out", seed=7)


@pytest.mark.parametrize(
    ("change", "folders", "sentence"),
    [
        (lambda root: run_with(root / "2", seed=1), "1 2", "differ in seed, expected folders of one run"),
        (lambda root: run_with(root / "2", suite="sha256:1", device="mps"), "1 2", "differ in device and suite"),
        (lambda root: run_with(root / "1", runtime={"torch": "1"}), "1 2", "differ in runtime"),
        (lambda root: run_with(root / "1", students=None), "1 2", "1 is not finished; run the same course grade"),
        (lambda root: run_with(root / "1", students={"../x": None}), "1 2", "run.json is damaged"),
        (lambda root: run_with(root / "2", shard="1/2", students={"ada": None}), "1 2", "shard 1/2 appears twice"),
        (lambda root: run_with(root / "2", shard="2/3"), "1 2", "expected the same N in all of them"),
        (lambda root: run_with(root / "2", shard="8"), "1 2", "'8' is not a shard"),
        (lambda root: run_with(root / "2", shard=None), "1 2", "2 is not a shard, expected only shards or none"),
        (lambda root: None, "1", "shard 2/2 is missing, expected all 2; name its folder too"),
        (lambda root: None, "1 1", "the same folder is given twice"),
        (lambda root: None, "out 1 2", "the same folder is given twice"),
        (lambda root: None, "1 hand_in", "has no run.json, expected a folder written by course grade"),
        (damage, "1 2", "a-b.json is damaged or of another run; run the same course grade"),
        (lambda root: (root / "2" / "reports" / "a-b.json").unlink(), "1 2", "a-b.json is damaged or of another run"),
        (older, "1 2", "differ in seed"),
    ],
)
def test_folders_that_are_not_of_one_run_are_refused(
    copied: Path, change: Callable[[Path], object], folders: str, sentence: str
) -> None:
    change(copied)
    status, output = merge(copied, "out", *folders.split())
    assert status == 2
    assert sentence in output
    assert not (copied / "out" / "scores.csv").exists() or "differ in seed" in output


def test_a_student_that_is_in_two_folders_is_refused(copied: Path) -> None:
    for part in ("1", "2"):
        run_with(copied / part, shard=None)
    run_with(copied / "2", students=dict.fromkeys(("a-b", "bob", "eve")))
    status, output = merge(copied, "out", "1", "2")
    assert (status, "bob is in ../1 and in ../2, expected every student once" in output) == (2, True)


def test_one_student_is_graded_anew_and_the_table_waits_for_the_others(copied: Path) -> None:
    table = (copied / "whole" / "scores.csv").read_text()
    done = grade(copied, "whole", "--student", "bob", "--force")
    assert (done.returncode, "1 graded, 3 kept from before" in done.stdout) == (0, True), done.stdout + done.stderr
    assert (copied / "whole" / "scores.csv").read_text() == table
    for student in ("ada", "bob"):
        tiny.handed_in(copied / "hand_in" / student, tiny.MEAN + "# better\n", tiny.POWER)
    done = grade(copied, "whole", "--student", "bob")
    assert done.returncode == 0
    assert "1 graded, 2 kept" in done.stdout
    assert "1 others have no report that stands, so scores.csv is left as it was" in done.stdout
    assert (copied / "whole" / "scores.csv").read_text() == table
    assert "whole is not finished" in merge(copied, "out", "whole")[1]
    assert "1 graded, 3 kept" in grade(copied, "whole").stdout
    assert (copied / "whole" / "scores.csv").read_text() != table


def test_only_those_that_the_grader_failed_on_are_graded_again(copied: Path) -> None:
    file = copied / "whole" / "reports" / "bob.json"
    sound = read_stored(file)
    assert sound is not None
    failed = failed_result(tiny.SUITE, tiny.COURSE.exercise(tiny.FIRST), "no memory was left")
    report = replace(sound.report, exercises=(failed, *sound.report.exercises[1:]))
    file.write_text(replace(sound, report=report).text(), "utf-8")
    tiny.handed_in(copied / "hand_in" / "ada", tiny.MEAN + "# better\n", tiny.POWER)
    done = grade(copied, "whole", "--retry-errors", "--force")
    assert "1 graded, 2 kept from before, 0 the grader failed on" in done.stdout, done.stdout + done.stderr
    assert "1 others have no report that stands" in done.stdout
    assert "run it without --retry-errors" in done.stdout
    again = read_stored(file)
    assert again is not None
    assert [exercise.status for exercise in again.report.exercises] == [
        exercise.status for exercise in sound.report.exercises
    ]
    done = grade(copied, "whole", "--retry-errors")
    assert (done.returncode, "0 graded, 3 kept" in done.stdout) == (0, True), done.stdout + done.stderr
    assert "1 graded, 3 kept" in grade(copied, "whole").stdout


def test_a_student_who_is_not_there_is_refused(copied: Path) -> None:
    done = grade(copied, "whole", "--student", "bobb")
    assert (done.returncode, "no submission is of 'bobb'; did you mean bob?" in done.stderr) == (2, True)
    done = grade(copied, "nobody", "--shard", "3/50")
    assert (done.returncode, "0 graded, 0 kept" in done.stdout) == (0, True), "a shard may be empty"
    done = grade(copied, "whole", "--shard", "3/2")
    assert (done.returncode, "'3/2' is not a shard, expected I/N with I from 1 to N, like 2/4" in done.stderr) == (
        2,
        True,
    )
