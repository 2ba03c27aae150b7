"""Grading a class: a report for every submission, and the same results after a second or an interrupted run."""

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support import tiny

pytestmark = pytest.mark.worker

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
SEED = "4611686018427387903"


def stub(exercise: str) -> str:
    return (tiny.ROOT / "exercises" / f"{exercise}.py").read_text("utf-8")


def hand_in_all(folder: Path) -> Path:
    """Make a class: right, wrong, unwritten, empty, zipped and hostile submissions."""
    tiny.handed_in(folder / "good")
    tiny.handed_in(folder / "wrong", WRONG, tiny.POWER_ALONE)
    tiny.handed_in(folder / "stub", stub(tiny.FIRST), stub(tiny.SECOND))
    (folder / "empty").mkdir()
    with zipfile.ZipFile(folder / "zipped.zip", "w") as archive:
        for name, text in zip(tiny.FILES, (tiny.MEAN, tiny.POWER), strict=True):
            archive.writestr(f"work/{name}", text)
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and then nothing")
    tiny.handed_in(folder / "loop", "while True: pass", tiny.POWER_ALONE)
    tiny.handed_in(folder / "exit", "import os\nos._exit(0)", tiny.POWER_ALONE)
    tiny.handed_in(folder / "=HYPERLINK(1)", WRONG, None)
    return folder


HELD = 4  # the exit status: nothing can be read in two of the hand-ins
SCORES = {
    "good": "100.00",
    "wrong": "60.00",
    "stub": "0.00",
    "empty": "",
    "zipped": "100.00",
    "broken": "",
    "loop": "60.00",
    "exit": "60.00",
    "'=HYPERLINK(1)": "0.00",
}


def grade(course: Path, folder: Path, out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return tiny.run_course(
        course,
        "grade",
        str(folder),
        "--out",
        str(out),
        "--jobs",
        "2",
        "--seed",
        SEED,
        "--plain",
        *tiny.TRUSTED,
        *arguments,
    )


def contents(out: Path) -> dict[str, str]:
    files = [file for file in sorted(out.rglob("*")) if file.is_file() and file.name not in ("lock", "index.sqlite")]
    return {str(file.relative_to(out)): file.read_text("utf-8") for file in files}


def rows(out: Path) -> dict[str, dict[str, str]]:
    with (out / "scores.csv").open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a graded class: hand_in/ and out/ beside course/."""
    folder = tmp_path_factory.mktemp("school")
    tiny.copied(folder / "course")
    hand_in_all(folder / "hand_in")
    done = grade(folder / "course", folder / "hand_in", folder / "out")
    assert done.returncode == HELD, done.stdout + done.stderr
    assert "9 graded, 0 kept from before, 0 the grader failed on" in done.stdout
    return folder


@pytest.fixture
def again(school: Path, tmp_path: Path) -> Path:
    """A copy of the graded class, to change."""
    shutil.copytree(school, tmp_path / "school")
    return tmp_path / "school"


def go_on(school: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return grade(school / "course", school / "hand_in", school / "out", *arguments)


@pytest.mark.smoke
def test_everybody_has_a_report_and_a_row_with_the_same_score(school: Path) -> None:
    names = {name.removeprefix("'") for name in SCORES}
    assert {file.stem for file in (school / "out" / "reports").iterdir()} == names
    assert {student: row["score"] for student, row in rows(school / "out").items()} == SCORES
    for student, row in rows(school / "out").items():
        report = json.loads((school / "out" / "reports" / f"{student.removeprefix(chr(39))}.json").read_text())
        assert report["submission"]["student"] == student.removeprefix("'")
        assert row["max_score"] == "100.00"
        if row["score"]:
            assert f"{report['score'] / 100:.2f}" == row["score"]
            for exercise in report["exercises"]:
                assert row[exercise["id"]] == f"{exercise['score'] / 100:.2f}"


def test_the_order_of_the_table_is_the_order_of_the_names(school: Path) -> None:
    assert list(rows(school / "out")) == sorted(SCORES, key=lambda name: name.removeprefix("'"))


def test_a_name_that_a_spreadsheet_would_take_for_a_formula_is_harmless(school: Path) -> None:
    lines = (school / "out" / "scores.csv").read_text().splitlines()
    assert not [line for line in lines if line.lstrip('"')[:1] in "=+-@"]


def test_what_could_not_be_read_is_in_the_notes_and_in_the_report(school: Path) -> None:
    assert "broken.zip is not a zip, or is incomplete" in rows(school / "out")["broken"]["notes"]
    statuses = {
        name: [exercise["status"] for exercise in json.loads(text)["exercises"]]
        for name, text in contents(school / "out" / "reports").items()
    }
    assert statuses["broken.json"] == statuses["empty.json"] == ["held", "held"]
    assert statuses["loop.json"] == ["timeout", "pass"]
    assert statuses["exit.json"] == ["error", "pass"]
    assert statuses["stub.json"] == ["not_started", "not_started"]


def test_a_report_for_a_mark_holds_no_numbers_of_the_answers(school: Path) -> None:
    for text in contents(school / "out" / "reports").values():
        findings = [check["finding"] for exercise in json.loads(text)["exercises"] for check in exercise["checks"]]
        assert all(finding is None or finding["evidence"] is None for finding in findings)


def test_the_run_says_its_seed_and_its_suite(school: Path) -> None:
    run = json.loads((school / "out" / "run.json").read_text())
    assert (run["schema"], run["seed"], run["device"]) == (1, int(SEED), "cpu")
    assert run["suite"] == tiny.suite_at(school / "course").digest


def test_a_second_run_keeps_everything_and_changes_nothing(again: Path) -> None:
    before = contents(again / "out")
    written = {file.name: file.stat().st_mtime_ns for file in (again / "out" / "reports").iterdir()}
    done = go_on(again)
    assert done.returncode == HELD
    assert "0 graded, 9 kept from before" in done.stdout
    assert contents(again / "out") == before
    assert {file.name: file.stat().st_mtime_ns for file in (again / "out" / "reports").iterdir()} == written


def test_only_a_submission_that_changed_is_graded_anew(again: Path) -> None:
    before = tiny.timeless(again / "out")
    tiny.handed_in(again / "hand_in" / "wrong")
    done = go_on(again)
    assert "1 graded, 8 kept from before" in done.stdout
    after = tiny.timeless(again / "out")
    assert after.pop("wrong.json")["score"] == 10000
    del before["wrong.json"]
    assert after == before


def test_a_damaged_report_is_made_anew(again: Path) -> None:
    before = tiny.timeless(again / "out")
    for name, text in (("good", ""), ("stub", "{}"), ("empty", "[1]"), ("broken", '{"schema": 1}')):
        (again / "out" / "reports" / f"{name}.json").write_text(text)
    done = go_on(again)
    assert done.returncode == HELD
    assert "4 graded, 5 kept from before" in done.stdout
    assert tiny.timeless(again / "out") == before


def test_another_seed_or_another_check_grades_everything_anew(again: Path) -> None:
    left_out: list[str] = []
    for name in ("loop", "exit", "wrong", "zipped.zip", "stub", "=HYPERLINK(1)"):
        entry = again / "hand_in" / name
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        left_out += ["--leave-out", Path(name).stem]
    assert "3 graded, 0 kept" in go_on(again, "--seed", "5", *left_out).stdout
    tiny.replaced(again / "course" / "tests" / "exercises" / f"test_{tiny.FIRST}.py", "shift=1.0", "shift=1.5")
    assert "3 graded, 0 kept" in go_on(again, "--seed", "5").stdout


def test_an_interrupted_run_is_finished_by_the_same_command_with_the_same_results(
    school: Path, again: Path, tmp_path: Path
) -> None:
    for name in ("loop", "exit", "empty", "=HYPERLINK(1)"):
        shutil.rmtree(again / "hand_in" / name)
    rest = {"broken", "good", "stub", "wrong", "zipped"}
    out = tmp_path / "interrupted"
    arguments = [
        "grade",
        str(again / "hand_in"),
        "--out",
        str(out),
        "--jobs",
        "1",
        "--seed",
        SEED,
        "--plain",
        *tiny.TRUSTED,
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", *arguments],
        cwd=again / "course",
        env=tiny.environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not list(out.glob("reports/[a-z]*.json")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "Traceback" not in stderr
    assert "the same command goes on from there" in stderr
    half = len(list((out / "reports").iterdir()))
    assert 0 < half < len(rest)
    assert not (out / "scores.csv").exists()
    assert not list(out.rglob(".*")), "nothing half-written is left"
    done = grade(again / "course", again / "hand_in", out)
    assert done.returncode == HELD
    assert f"{len(rest) - half} graded, {half} kept from before" in done.stdout
    assert tiny.timeless(out) == {f"{name}.json": tiny.timeless(school / "out")[f"{name}.json"] for name in rest}
    assert rows(out) == {name: rows(school / "out")[name] for name in rest}


def test_a_submission_is_graded_alike_alone_and_beside_hostile_ones(school: Path, tmp_path: Path) -> None:
    folder = tmp_path / "alone"
    shutil.copytree(school / "hand_in" / "wrong", folder / "wrong")
    hostile = (
        "import os, signal, sys\n"
        "def channel():\n    frame = sys._getframe()\n    while frame.f_code.co_name != 'serve':\n"
        "        frame = frame.f_back\n    return frame.f_locals['answers']\n"
        "import json, struct\n"
        "text = json.dumps({'dict': {'event': 'unusable', 'message': 'stop everything'}}).encode()\n"
        "os.write(channel(), struct.pack('>4sII', b'CRS1', len(text), 0) + text)\n"
    )
    tiny.handed_in(folder / "forger", hostile + tiny.MEAN, tiny.POWER)
    tiny.handed_in(folder / "killer", f"import os, signal\nos.killpg(0, signal.SIGKILL)\n{tiny.MEAN}", tiny.POWER)
    done = grade(school / "course", folder, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert tiny.timeless(tmp_path / "out")["wrong.json"] == tiny.timeless(school / "out")["wrong.json"]


def test_an_out_folder_that_cannot_be_written_is_a_matter_of_the_machine(course: Path, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "hand_in" / "good").parent
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "reports").write_text("in the way")
    for out in (tmp_path / "file", tmp_path / "file" / "deeper", tmp_path / "half"):
        done = grade(course, folder, out)
        assert done.returncode == 3
        assert re.fullmatch(r"course: .* cannot be written to: [\w ]+\n", done.stderr)
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_failure_of_the_grader_leaves_the_cell_empty_and_is_tried_again(course: Path, tmp_path: Path) -> None:
    solution = course / "solutions" / tiny.FILES[1]
    sound = solution.read_text()
    catalogue = course / "solutions" / "misconceptions" / f"{tiny.SECOND}.toml"
    kept = catalogue.read_text()
    solution.write_text(sound.replace("    return power\n", "    return 1 / 0\n"))
    catalogue.unlink()
    folder = tiny.handed_in(tmp_path / "hand_in" / "ada", tiny.MEAN, tiny.POWER_ALONE).parent
    done = grade(course, folder, tmp_path / "out")
    assert done.returncode == 4
    assert "1 the grader failed on" in done.stdout
    row = rows(tmp_path / "out")["ada"]
    assert (row["score"], row[tiny.FIRST], row[tiny.SECOND], row["max_score"]) == ("", "40.00", "", "100.00")
    solution.write_text(sound)
    catalogue.write_text(kept)
    done = grade(course, folder, tmp_path / "out")
    assert (done.returncode, rows(tmp_path / "out")["ada"]["score"]) == (0, "100.00")


def test_without_a_seed_a_secret_one_is_made_once_and_kept_beside_the_course(course: Path, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "hand_in" / "ada", stub(tiny.FIRST), stub(tiny.SECOND)).parent
    for _ in range(2):
        done = tiny.run_course(course, "grade", str(folder), "--out", str(tmp_path / "out"), *tiny.TRUSTED)
        assert done.returncode == 0, done.stderr
    secret = course / ".course" / "grading_seed"
    assert secret.stat().st_mode & 0o077 == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["seed"] == int(secret.read_text())
    assert "0 graded, 1 kept from before" in done.stdout
    assert int(secret.read_text()) > 1 << 32, "too many to guess"


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        ((), "holds no submissions: expected a folder or a zip for each student"),
        ((tiny.FILES[0],), "looks like a single submission"),
    ],
)
def test_a_folder_without_submissions_is_refused(
    made: tuple[str, ...], sentence: str, course: Path, tmp_path: Path
) -> None:
    (tmp_path / "hand_in").mkdir()
    for name in made:
        (tmp_path / "hand_in" / name).write_text("")
    done = grade(course, tmp_path / "hand_in", tmp_path / "out")
    assert done.returncode == 2
    assert sentence in done.stderr


def test_work_that_cannot_be_graded_is_reported_and_sets_the_exit_status(course: Path, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "hand_in" / "ada", None, None).parent
    (folder / "bob.rar").write_text("x")
    done = grade(course, folder, tmp_path / "out")
    assert done.returncode == 4
    assert "bob.rar" in done.stderr
    assert set(rows(tmp_path / "out")) == {"ada"}


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
@pytest.mark.smoke
def test_by_default_submissions_are_confined(course: Path, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "hand_in" / "ada").parent
    done = grade(course, folder, tmp_path / "out", "--isolation", "sandbox")
    assert done.returncode == 0, done.stdout + done.stderr
    [level] = {word.rstrip(":") for word in done.stderr.split() if word in ("L2:", "L3:")}
    [report] = (json.loads(file.read_text("utf-8")) for file in (tmp_path / "out").glob("reports/*.json"))
    assert (report["isolation"], report["level"], report["score"]) == ("sandbox", level, 10000)


def test_what_cannot_be_confined_is_not_graded(course: Path, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "hand_in" / "ada").parent
    done = grade(course, folder, tmp_path / "out", "--isolation", "sandbox", "--sandbox", "/nowhere/docker run it")
    assert done.returncode == 3
    assert "this machine cannot confine submissions" in done.stderr
    assert "--isolation process" in done.stderr
    assert not list((tmp_path / "out").glob("reports/*.json"))


# The search for proofs, when all marks are written.


def test_a_search_proves_places_once_for_equal_programs_and_changes_no_mark(tmp_path: Path) -> None:
    last = "    return y / (count + 1)"
    wrong = tiny.mean_with(f"y = x.cumsum(dim=-1)\n{last}")
    tiny.copied(tmp_path / "course")
    for student in ("ada", "bob"):
        tiny.handed_in(tmp_path / "hand_in" / student, wrong, tiny.POWER_ALONE)
    tiny.handed_in(tmp_path / "hand_in" / "eve")
    plain = grade(tmp_path / "course", tmp_path / "hand_in", tmp_path / "out")
    marks = (tmp_path / "out" / "scores.csv").read_bytes()

    def finding_of(student: str) -> dict[str, Any]:
        exercise = json.loads((tmp_path / "out" / "reports" / f"{student}.json").read_text())["exercises"][0]
        found = next(check["finding"] for check in exercise["checks"] if check["status"] == "fail")
        return {**found, "searched": exercise.get("searched")}

    assert plain.returncode == 0
    assert finding_of("ada")["certainty"] != "shown"
    done = go_on(tmp_path, "--prove", "10")
    assert done.returncode == 0, done.stderr
    assert "3 kept from before" in done.stdout
    assert "1 failure searched for a proof, 1 of them proved" in done.stdout
    for student in ("ada", "bob"):
        found = finding_of(student)
        assert (found["certainty"], found["searched"]) == ("shown", True)
        assert found["place"]["line"] == wrong.split("\n").index(last) + 1
    assert (tmp_path / "out" / "scores.csv").read_bytes() == marks
    again = go_on(tmp_path, "--prove", "10")
    assert "0 failures searched for a proof" in again.stdout, "what was searched is kept"


def test_a_search_needs_this_machine(again: Path) -> None:
    refused = go_on(again, "--prove", "1", "--scheduler", "tcp://127.0.0.1:1")
    assert refused.returncode == 2
    assert "leave --scheduler out" in refused.stderr
