"""The real program, as a user starts it: what it says, where, and with which exit status. Never a traceback."""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from autograder.results import FindingKind, Status
from tests.support import tiny

pytestmark = pytest.mark.worker

MEAN_LINE = "return x.cumsum(dim=-1) / count"
SECONDS = re.compile(r"\d+(\.\d+)? s\b")


def write(course: Path, first: str | None = None, second: str | None = None) -> None:
    """Put solutions, or other programs, into exercises/."""
    tiny.handed_in(course / "exercises", first or tiny.MEAN, second or tiny.POWER)


WRONG = tiny.mean_with("return x.cumsum(dim=-1)")


# course check.


@pytest.mark.smoke
def test_a_stub_is_not_started_and_the_exit_says_that_not_all_pass(course: Path) -> None:
    done = tiny.run_course(course, "check")
    assert done.returncode == 1
    assert "NOT STARTED" in done.stdout
    assert f"edit {Path('exercises', tiny.FILES[0])}" in done.stdout
    assert done.stderr == ""


@pytest.mark.smoke
def test_a_pass_exits_with_0_and_names_the_next_exercise(course: Path) -> None:
    write(course)
    done = tiny.run_course(course, "check", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "PASS" in done.stdout
    assert "on to 02 matrix power" in done.stdout
    assert "course check 02" in tiny.run_course(course, "next").stdout


@pytest.mark.parametrize("word", ["1", "01", "ex01", "running_mean", "running-mean", "ex01_running_mean", "run"])
def test_an_exercise_has_many_names(word: str, course: Path) -> None:
    for file in (course / "exercises").glob("*.py"):
        file.unlink()  # nothing to run, so nothing to wait for
    done = tiny.run_course(course, "check", word, "--json", "-")
    assert [exercise["id"] for exercise in json.loads(done.stdout)["exercises"]] == [tiny.FIRST]


@pytest.mark.smoke
def test_a_wrong_answer_is_exit_1_with_name_place_and_hint(course: Path) -> None:
    write(course, WRONG)
    done = tiny.run_course(course, "check", "1")
    assert (done.returncode, done.stderr) == (1, "")
    for part in ("The running sum is not divided", "course hint 01", f"{tiny.FILES[0]}:", "the next hint"):
        assert part in done.stdout
    assert "─" not in tiny.run_course(course, "list", "--plain").stdout


def test_plain_output_is_sentences_and_nothing_is_coloured_in_a_pipe(course: Path) -> None:
    write(course, WRONG)
    plain = tiny.run_course(course, "check", "1", "--plain").stdout
    assert plain.isascii() or not re.search(r"[─-╿✓✗●]", plain)
    assert tiny.run_course(course, "check", "1", ACCESSIBLE="1").stdout.splitlines()[0] == plain.splitlines()[0]
    coloured = tiny.run_course(course, "check", "1", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b[3" not in plain + coloured


def test_a_missing_or_broken_file_is_reported_in_a_sentence(course: Path) -> None:
    write(course, "def running_mean(x:\n    return x\n")
    done = tiny.run_course(course, "check", "1")
    assert done.returncode == 1
    assert f"Python cannot read {tiny.FILES[0]}" in done.stdout
    assert f"{tiny.FILES[0]}:1" in done.stdout
    (course / "exercises" / tiny.FILES[0]).unlink()
    done = tiny.run_course(course, "check", "1")
    assert done.returncode == 1
    assert f"There is no file {tiny.FILES[0]}." in done.stdout
    shutil.rmtree(course / "exercises")
    assert tiny.run_course(course, "check", "1").returncode == 2


def test_the_output_is_the_same_every_time_but_for_the_seconds(course: Path) -> None:
    write(course, WRONG)
    runs = [tiny.run_course(course, "check", "--all") for _ in range(3)]
    assert {(run.returncode, SECONDS.sub("? s", run.stdout), run.stderr) for run in runs} == {
        (1, SECONDS.sub("? s", runs[0].stdout), "")
    }


def test_another_seed_gives_the_same_verdicts(course: Path) -> None:
    write(course, WRONG)
    seen = {verdicts(report_of(course, "--all", "--seed", seed)) for seed in ("11", "-5", str(1 << 61))}
    assert len(seen) == 1


def test_a_submission_is_checked_beside_ones_own_work_and_leaves_it_alone(course: Path, tmp_path: Path) -> None:
    other = tiny.handed_in(tmp_path / "other", WRONG)
    done = tiny.run_course(course, "check", "--submission", str(other))
    assert done.returncode == 1
    assert not (course / ".course" / "progress.json").exists()
    archive = shutil.make_archive(str(tmp_path / "zipped"), "zip", other)
    assert verdicts(report_of(course, "--submission", archive)) == verdicts(
        report_of(course, "--submission", str(other))
    )


# --json.


def report_of(course: Path, *arguments: str) -> dict[str, Any]:
    done = tiny.run_course(course, "check", *arguments, "--json", "-")
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def verdicts(report: dict[str, Any]) -> str:
    return repr(
        [
            (exercise["id"], check["id"], check["status"], check["score"], (check["finding"] or {}).get("id"))
            for exercise in report["exercises"]
            for check in exercise["checks"]
        ]
    )


TOP = {"schema", "course", "submission", "suite", "device", "isolation", "score", "max_score", "exercises"}
OF_EXERCISE = {"id", "status", "score", "max_score", "parts", "checks"}
OF_CHECK = {"id", "title", "status", "score", "max_score", "seconds", "finding"}
MIXED = {
    "right": (tiny.MEAN, tiny.POWER),
    "wrong": (WRONG, "raise SystemExit"),
    "hung": ("while True: pass", tiny.POWER.replace("if n < 0:", "if False:")),
    "unwritten": (None, "def matrix_power(a, n):\n    return a[:, 0]\n"),
}


@pytest.mark.parametrize("program", ["right", "wrong", "unwritten", pytest.param("hung", marks=pytest.mark.slow)])
def test_the_json_has_the_shape_that_is_promised(program: str, course: Path, tmp_path: Path) -> None:
    folder = tiny.handed_in(tmp_path / "ada", *MIXED[program])
    file = tmp_path / "report.json"
    done = tiny.run_course(course, "check", "--submission", str(folder), "--json", str(file))
    report = json.loads(file.read_text("utf-8"))
    assert done.returncode == (0 if program == "right" else 1)
    assert done.stdout, "with a file the report is shown as well"
    assert report.keys() >= TOP
    assert (report["schema"], report["course"], report["device"]) == (1, tiny.COURSE.title, "cpu")
    assert report["isolation"] in ("process", "sandbox")
    assert report["submission"]["student"] == "ada"
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", report["submission"]["digest"])
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", report["suite"])
    assert report["max_score"] == 10000
    assert report["score"] == sum(exercise["score"] for exercise in report["exercises"])
    for exercise in report["exercises"]:
        assert exercise.keys() >= OF_EXERCISE
        assert exercise["status"] in get_args(Status)
        assert exercise["parts"] in ("own", "stand-in")
        assert exercise["score"] == sum(check["score"] for check in exercise["checks"])
        assert (
            exercise["max_score"]
            == tiny.FULL[exercise["id"]]
            == sum(check["max_score"] for check in exercise["checks"])
        )
        for check in exercise["checks"]:
            assert_check(check)


def assert_check(check: dict[str, Any]) -> None:
    assert check.keys() >= OF_CHECK
    assert check["status"] in get_args(Status)
    assert isinstance(check["score"], int)
    assert check["score"] == (check["max_score"] if check["status"] == "pass" else 0)
    assert check["seconds"] >= 0
    if finding := check["finding"]:
        assert finding["kind"] in get_args(FindingKind)
        assert finding["id"]
        assert 0 < len(finding["message"]) <= 160
        if place := finding["place"]:
            assert set(place) >= {"file", "line", "function"}
            assert place["line"] >= 1
    else:
        assert check["status"] in ("pass", "not_started")


# Where a user is, and hints.


@pytest.mark.smoke
def test_the_list_says_what_passes_and_where_to_go_on(course: Path) -> None:
    first = tiny.run_course(course, "list")
    assert first.returncode == 0
    assert "0 of 2 exercises passed" in first.stdout
    assert f"edit exercises/{tiny.FILES[0]}:15, then: course check 01" in first.stdout
    write(course)
    tiny.run_course(course, "check", "--all")
    assert "2 of 2 exercises passed" in tiny.run_course(course, "list").stdout
    assert "course check --all" in tiny.run_course(course).stdout
    write(course, WRONG)
    tiny.run_course(course, "check", "1")
    broken = tiny.run_course(course, "list").stdout
    assert "! 01 running mean  BROKEN AGAIN" in broken
    assert "2 of 2 exercises passed" in broken, "what once passed still counts"


@pytest.mark.smoke
def test_hints_come_one_by_one_and_the_last_one_stays(course: Path) -> None:
    write(course, tiny.mean_with("return x * 2"))
    tiny.run_course(course, "check", "1")
    texts = tiny.COURSE.exercises[0].hints["values"]
    for number in (2, 3, 3):
        done = tiny.run_course(course, "hint", "--now")
        assert done.returncode == 0
        assert f"Hint {number} of 3  {texts[number - 1]}" in done.stdout
    assert "that was the last hint" in done.stdout
    tiny.run_course(course, "check", "1")
    assert "Hint 3 of 3" in tiny.run_course(course, "hint").stdout, "the same failure takes no hint away"


def test_a_hint_on_a_stub_says_how_to_begin(course: Path) -> None:
    table = '[start]\nrunning_mean = ["Read the lesson.", "Call `x.cumsum`."]\n\n[hints]'
    tiny.replaced(course / tiny.HINTS, "[hints]", table)
    for text in ("Hint 1 of 2  Read the lesson.", "Hint 2 of 2  Call `x.cumsum`.", "Hint 2 of 2"):
        done = tiny.run_course(course, "hint")
        assert (done.returncode, done.stderr) == (0, "")
        assert "how to begin running_mean" in done.stdout
        assert text in done.stdout
        assert "ex01_running_mean.py:15" in done.stdout
    assert "Start from the identity" in tiny.run_course(course, "hint", "2").stdout


def test_a_deleted_file_is_missing_and_the_way_back_is_named(course: Path) -> None:
    (course / "exercises" / tiny.FILES[0]).unlink()
    for arguments in ((), ("list",), ("check", "1"), ("hint", "1")):
        done = tiny.run_course(course, *arguments)
        assert "course reset 01" in done.stdout, arguments
    assert "MISSING" in tiny.run_course(course, "list").stdout


def test_a_hint_before_any_check_is_refused_in_a_sentence(course: Path) -> None:
    write(course)
    for arguments in (("hint",), ("hint", "2")):
        done = tiny.run_course(course, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "run `course check 0" in done.stderr


def test_a_name_that_is_missing_has_no_hints_but_advice(course: Path) -> None:
    (course / "exercises" / tiny.FILES[0]).write_text("def runing_mean(x): return x\n", "utf-8")
    checked = tiny.run_course(course, "check", "1").stdout
    assert "rename it if that is the one" in " ".join(checked.split())
    assert "Hint" not in checked
    assert "hint" not in checked.partition("Next")[2]
    done = tiny.run_course(course, "hint", "1")
    assert (done.returncode, done.stderr) == (0, "")
    said = " ".join(done.stdout.split())
    assert "rename it if that is the one. See line 1 of ex01_running_mean.py. Compare names and sizes" in said
    why = json.loads(tiny.run_course(course, "hint", "1", "--json", "-").stdout)
    assert (why["hint"], len(why["why"])) == (None, 3)


def test_there_is_no_hint_for_what_passes(course: Path) -> None:
    write(course)
    tiny.run_course(course, "check", "1")
    assert "nothing to hint at" in tiny.run_course(course, "hint", "1").stdout


def test_damaged_progress_is_begun_anew(course: Path) -> None:
    file = course / ".course" / "progress.json"
    for text in ("", "{", "[]", '{"exercises": 5}', '{"exercises": {"ex01_running_mean": {"status": 7}}}', "\0"):
        file.write_text(text)
        assert "0 of 2 exercises pass" in tiny.run_course(course, "list").stdout


# What can go wrong.


@pytest.mark.parametrize("command", [[], ["list"], ["check"], ["hint"], ["validate"], ["build"]])
def test_outside_of_a_course_every_command_says_so(command: list[str], tmp_path: Path) -> None:
    done = tiny.run_course(Path(tmp_path.anchor), *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert "go to the folder of your course" in done.stderr


def test_below_the_course_it_is_found(course: Path) -> None:
    assert tiny.run_course(course / "tests" / "exercises", "list").returncode == 0


def test_a_mistake_in_course_toml_is_reported_with_its_line(course: Path) -> None:
    tiny.replaced(course / "course.toml", "points = 40", "points = -40")
    done = tiny.run_course(course, "list")
    line = (course / "course.toml").read_text().splitlines().index("points = -40") + 1
    assert (done.returncode, done.stdout) == (2, "")
    assert f"course.toml:{line}: " in done.stderr
    (course / "course.toml").write_text("title = \n")
    assert "course.toml:1: this is not TOML" in tiny.run_course(course, "check").stderr


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["check", "7"], 2, "There is no exercise `7`. There are 2 exercises: 1 to 2. `course list` shows"),
        (["check", "runing_mean"], 2, "There is no exercise `runing_mean`. Did you mean `ex01_running_mean`?"),
        (["hint", "nothing"], 2, "There is no exercise `nothing`. `course list` shows all exercises."),
        (["check", "--device", "quantum"], 2, "There is no device `quantum`. Choose from cpu, cuda, mps."),
        (["check", "--device", "cuda:x"], 3, "the device cuda:x cannot be used here"),
        (["check", "--submission", "nowhere"], 2, "nowhere cannot be read"),
        (["check", "--submission", "course.toml"], 2, "neither a folder nor a zip"),
        (
            ["check", "--speed", "9"],
            2,
            "There is no option `--speed`. Did you mean `--seed`? `course check --help`",
        ),
        (["check", "--seed", "x"], 2, "--seed: invalid int value: 'x'. `course check --help` explains its options."),
        (["hint", "1", "2"], 2, "`course hint` does not take '2'. `course hint --help` explains its options."),
        (["--speed"], 2, "There is no option `--speed`. `course --help` explains its options."),
        (["chekc"], 2, "There is no command `chekc`. Did you mean `course check`? `course --help` lists all commands."),
        (["zzz"], 2, "There is no command `zzz`. `course --help` lists all commands."),
        (["reset"], 2, "`course reset` needs `EX`, an exercise: its number, name or id. Write"),
        (["grade", "."], 2, "`--out`, where to write the reports and scores.csv. Write `course grade DIR --out DIR`."),
        (["grade", ".", "--out", "out", "--layout", "canvsa"], 2, "no layout `canvsa`. Did you mean `canvas`?"),
        (["export", "x", "--to", "y"], 2, "There is no format `x`. Choose from annotations, canvas, "),
        (["why", "nothing-like-it"], 2, "There is no misconception `nothing-like-it`. Use the id"),
        (["grade", ".", "--out", "out", "--jobs", "0"], 2, "'0' is not a whole number above 0"),
        (["grade", ".", "--out", "out", "--jobs", "x"], 2, "'x' is not a whole number above 0"),
        (["check", "--json", "nowhere/report.json"], 3, "nowhere"),
    ],
)
def test_what_a_user_gets_wrong_is_a_sentence_and_a_status(
    arguments: list[str], status: int, sentence: str, course: Path
) -> None:
    done = tiny.run_course(course, *arguments)
    assert done.returncode == status, done.stderr
    assert sentence in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine may have the device")
@pytest.mark.parametrize("command", ["check", "validate"])
def test_a_device_that_is_not_there_is_a_matter_of_the_machine(course: Path, command: str) -> None:
    done = tiny.run_course(course, command, "--device", "cuda")
    assert (done.returncode, done.stdout) == (3, "")
    assert "the device cuda cannot be used here" in done.stderr
    assert "leave --device out" in done.stderr


def test_a_result_is_shown_even_if_it_cannot_be_saved(course: Path) -> None:
    write(course, WRONG)
    shutil.rmtree(course / ".course")
    (course / ".course").write_text("in the way")
    done = tiny.run_course(course, "check", "1")
    assert done.returncode == 1
    assert "The running sum is not divided" in done.stdout
    assert "your progress could not be saved" in done.stderr
    assert len(tiny.without_counts(done.stderr)) == 1


def test_checks_that_cannot_be_read_are_a_mistake_of_the_course(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    file.write_text("raise ValueError('broken')")
    done = tiny.run_course(course, "check", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"course: a file of this course is wrong: {file}, line 1 cannot be imported: " + (
        "ValueError: broken\n"
    )
    file.write_text("x = 1")
    assert "declares no checks" in tiny.run_course(course, "check", "1").stderr
    file.unlink()
    assert "every exercise in course.toml needs checks" in tiny.run_course(course, "check", "1").stderr


def shell(course: Path, command: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command line in which $COURSE is the program."""
    program = f"{sys.executable} -m autograder"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=course,
        env=tiny.environment({"COURSE": program, **env}),
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("command", ["$COURSE list", "$COURSE check --all", "$COURSE check --json -", "$COURSE --help"])
@pytest.mark.parametrize("end", ["| head -c 1", "| true", "> /dev/full", ">&-"])
def test_a_reader_that_goes_away_or_a_full_disk_is_no_accident(command: str, end: str, course: Path) -> None:
    for file in (course / "exercises").glob("*.py"):
        file.unlink()  # nothing to run, so nothing to wait for
    done = shell(course, f"set -o pipefail; {command} {end}")
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"Exception ignored" not in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) <= 1 or done.stderr.startswith(b"usage:"), done.stderr


AGAIN = b"free some space, then run the same command again\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
@pytest.mark.parametrize("command", ["list", "--help", "--version"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_could_not_be_written_is_reported(command: str, unbuffered: str, course: Path) -> None:
    done = shell(course, f"$COURSE {command} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (3, b"course: No space left on device; " + AGAIN)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_knows_few_characters_gets_what_it_can_show(encoding: str, course: Path) -> None:
    write(course, tiny.mean_with("return x.cumsum(-1) / count * 0.5  # √½ × ✓"))
    for arguments in ("check 1", "check 1 --json -", "list"):
        done = shell(course, f"$COURSE {arguments}", PYTHONIOENCODING=encoding, PYTHONUTF8="0")
        assert b"Traceback" not in done.stderr, done.stderr
        assert done.returncode in (0, 1), done.stderr
        done.stdout.decode(encoding)
        if arguments.endswith("--json -"):
            assert json.loads(done.stdout.decode(encoding))["exercises"][0]["status"] == "fail"


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupt_ends_the_program_with_a_sentence_and_leaves_no_worker(course: Path) -> None:
    write(course, "import time\nprint('begun', flush=True)\ntime.sleep(1000)")
    process = subprocess.Popen(
        [sys.executable, "-m", "autograder", "check", "1"],
        cwd=course,
        env=tiny.environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        process.communicate(timeout=2.5)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert "Traceback" not in stderr
    assert process.returncode in (130, 1)


def test_a_program_that_is_forked_does_what_one_that_is_started_does(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ran() -> list[tuple[int, str, str]]:
        done = [
            tiny.run_course(course, "list", COLUMNS="50"),
            tiny.run_course(course, "reset", "1", typed="no\n"),
            tiny.run_course(course, "check", "1", "--json", "-", "--bad"),
        ]
        return [(one.returncode, one.stdout, one.stderr) for one in done]

    forked = ran()
    monkeypatch.delenv("FORKS", raising=False)
    assert ran() == forked


@pytest.mark.usefixtures("spawned")
def test_libraries_that_lie_in_the_working_folder_are_not_taken(course: Path) -> None:
    write(course)
    for name in ("numpy", "torch", "rich", "json", "random", "typing"):
        (course / "exercises" / f"{name}.py").write_text("raise SystemExit('taken')")
    done = tiny.run_course(course / "exercises", "check", "1")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_program_says_its_version_and_its_commands(tmp_path: Path) -> None:
    assert tiny.run_course(tmp_path, "--version").stdout.startswith("course ")
    text = tiny.run_course(tmp_path, "--help").stdout
    assert all(
        command in text
        for command in (
            *("check", "hint", "why", "diff", "next", "list", "status", "reset", "solution", "report", "doctor"),
            *("grade", "validate", "build"),
        )
    )
