"""What a second run keeps and what it runs again: decided by dependencies, never by times."""

import ctypes
import inspect
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import Exercise, Suite, load_suite, read_course, replacing
from autograder.gradebook import Busy, Entry, Out, Shard, list_submissions, read_shard, read_stored
from autograder.gradebook.out import Row, result_digest, state_of
from autograder.instructor.bulk import Bulk, Conditions, CourseChanged, Graded, Stopped, conditions_of
from autograder.judge import Grader, failed_result
from autograder.results import CheckResult, ExerciseResult, Report
from autograder.runner import Cancelled
from autograder.submission import Submission, read_notebook
from tests.support import tiny

STUDENTS = ("ada", "bob", "eve")


class Class:
    """A course and a hand-in folder, graded by a fake grader that records what it runs."""

    def __init__(self, root: Path) -> None:
        self.course = tiny.copied(root / "course")
        self.hand_in = root / "hand_in"
        self.out = root / "out"
        self.ran: list[tuple[str, str]] = []
        self.status = "pass"
        for student in STUDENTS:
            self.hand(student, f"{tiny.MEAN}# {student}\n")

    def hand(self, student: str, first: str) -> None:
        tiny.handed_in(self.hand_in / student, first)

    def conditions(self, seed: int = 5) -> Conditions:
        return conditions_of(read_course(self.course), seed=seed, device="cpu", isolation="process")

    def grade(self, *, seed: int = 5, anew: Sequence[str] = ()) -> list[tuple[str, str]]:
        """Grade everybody, and return who and what was run."""
        self.ran.clear()
        conditions = self.conditions(seed)
        entries = list_submissions(self.hand_in, conditions.course.files).entries
        with Out(self.out) as out:
            bulk = Bulk(out, conditions, anew=anew)
            plan = bulk.plan(entries)
            suite = load_suite(conditions.course)
            finished: list[Graded] = []
            bulk.grade_all(plan.open, suite, self.runs(suite), 1, finished.append)
            assert {exercise for _, exercise in self.ran} == {exercise.id for exercise in plan.exercises}
            assert [row.student for row in bulk.rows(entries)] == sorted(entry.student for entry in entries)
        return sorted(self.ran)

    def runs(self, suite: Suite) -> "Runs":
        return Runs(self, suite)

    def report(self, student: str) -> dict[str, object]:
        return dict(json.loads((self.out / "reports" / f"{student}.json").read_text("utf-8")))


class Runs:
    """Gives every check the status of the class, and takes no time."""

    def __init__(self, of: Class, suite: Suite) -> None:
        self.of = of
        self.suite = suite

    def __call__(self, submission: Submission, wanted: Sequence[Exercise]) -> Report:
        self.of.ran += [(submission.student, exercise.id) for exercise in wanted]
        return Report("", {}, "", "", "", tuple(map(self.result, wanted)), log="said")

    def result(self, exercise: Exercise) -> ExerciseResult:
        if self.of.status == "grader_error":
            return failed_result(self.suite, exercise, "no")
        points = self.suite.points(exercise)
        checks = [CheckResult(check, check, "pass", value, value, 0.25) for check, value in points.items()]
        return ExerciseResult(exercise.id, exercise.title, "pass", exercise.points, exercise.points, tuple(checks))


BOTH = [(student, exercise) for student in STUDENTS for exercise in (tiny.FIRST, tiny.SECOND)]
SECONDS = [(student, tiny.SECOND) for student in STUDENTS]


@pytest.fixture
def taught(tmp_path: Path) -> Class:
    """A class that was graded once."""
    made = Class(tmp_path)
    assert made.grade() == BOTH
    return made


def test_a_second_run_reads_neither_submissions_nor_reports(taught: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("was read")

    monkeypatch.setattr("autograder.instructor.bulk.read_stored", never)
    monkeypatch.setattr(Conditions, "read", never)
    assert taught.grade() == []


def test_a_submission_that_was_only_touched_is_read_and_kept(taught: Class) -> None:
    before = state_of(taught.out / "reports" / "bob.json")
    (taught.hand_in / "bob" / tiny.FILES[0]).touch()
    assert taught.grade() == []
    assert state_of(taught.out / "reports" / "bob.json") == before


def test_a_change_of_the_same_length_a_moment_ago_is_seen(taught: Class) -> None:
    file = taught.hand_in / "bob" / tiny.FILES[0]
    file.write_text(file.read_text().replace("# bob", "# BOB"))
    assert taught.grade() == [("bob", tiny.FIRST), ("bob", tiny.SECOND)]
    then = file.stat()
    file.write_text(file.read_text().replace("# BOB", "# BOb"))
    os.utime(file, ns=(then.st_atime_ns, then.st_mtime_ns))
    assert taught.grade() == [("bob", tiny.FIRST), ("bob", tiny.SECOND)], "both were written at the same time"


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "old", "new", "again"),
    [
        (f"tests/exercises/test_{tiny.SECOND}.py", '"""', '"""Now: ', SECONDS),
        (f"solutions/{tiny.SECOND}.py", "# %%", "# %% \n# %%", SECONDS),
        (f"solutions/misconceptions/{tiny.SECOND}.toml", "name = ", "name  = ", SECONDS),
        (f"tests/exercises/reference_parts/{tiny.FIRST}.json", "", '{"format": 1}', SECONDS),
        ("tests/exercises/helper.py", "", "x = 1", BOTH),
        ("course.toml", "matrix power", "matrix powers", SECONDS),
        (f"tests/exercises/hints/{tiny.SECOND}.toml", "Start from torch.eye.", "Start from eye.", SECONDS),
        (f"tests/exercises/test_{tiny.FIRST}.py", '"""', '"""Now: ', BOTH),
        (f"solutions/{tiny.FIRST}.py", "# %%", "# %% \n# %%", BOTH),
        ("course.toml", 'forbidden = ["torch.cummax"]', "forbidden = []", BOTH),
        ("course.toml", "T = [7,", "T = [8,", BOTH),
        ("course.toml", "memory_mib = 512", "memory_mib = 513", BOTH),
        (f"solutions/misconceptions/{tiny.FIRST}.toml", "name = ", "name  = ", [(s, tiny.FIRST) for s in STUDENTS]),
        ("course.toml", "Two little functions", "Two small functions", []),
    ],
)
def test_what_changed_is_run_again_where_it_matters_and_nowhere_else(
    taught: Class, file: str, old: str, new: str, again: list[tuple[str, str]]
) -> None:
    changed = taught.course / file
    changed.parent.mkdir(exist_ok=True)
    changed.write_text(changed.read_text("utf-8").replace(old, new, 1) if old else new, "utf-8")
    assert taught.grade() == again
    assert taught.grade() == []
    fresh = Class(taught.out.parent / "fresh")
    shutil.copytree(taught.course, fresh.course, dirs_exist_ok=True)
    fresh.grade()
    assert taught.report("ada") == fresh.report("ada"), "as if it had been graded for the first time"


def test_submissions_are_read_again_when_the_code_changes_that_lists_or_reads_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    digested: list[Path] = []

    def content(file: Path) -> bytes:
        digested.append(file)
        return b""

    monkeypatch.setattr("autograder.instructor.bulk.named_content", content)
    conditions_of(tiny.COURSE, seed=0, device="cpu", isolation="")
    for part in (Entry, list_submissions, Submission, read_notebook):
        assert Path(inspect.getfile(part)) in digested


def test_a_change_of_points_alone_runs_nothing(taught: Class) -> None:
    tiny.replaced(taught.course / "course.toml", "points = 40", "points = 30.01")
    tiny.replaced(taught.course / "course.toml", "points = 60", "points = 69.99")
    assert taught.grade() == []
    fresh = Class(taught.out.parent / "fresh")
    shutil.copytree(taught.course, fresh.course, dirs_exist_ok=True)
    assert fresh.grade() == BOTH
    assert [taught.report(student) for student in STUDENTS] == [fresh.report(student) for student in STUDENTS]


def test_what_the_grader_failed_on_is_run_again_and_only_that(taught: Class) -> None:
    taught.hand("bob", tiny.MEAN + "# new\n")
    taught.status = "grader_error"
    assert taught.grade() == [("bob", tiny.FIRST), ("bob", tiny.SECOND)]
    assert taught.grade() == [("bob", tiny.FIRST), ("bob", tiny.SECOND)]
    taught.status = "pass"
    assert taught.grade() == [("bob", tiny.FIRST), ("bob", tiny.SECOND)]
    assert taught.grade() == []


def test_an_exercise_is_run_again_with_the_one_it_needs_that_the_grader_failed_on(taught: Class) -> None:
    conditions = taught.conditions()
    file = taught.out / "reports" / "eve.json"
    for exercise, again in ((tiny.SECOND, [("eve", tiny.SECOND)]), (tiny.FIRST, BOTH[4:])):
        stored = read_stored(file)
        assert stored is not None
        results = [
            failed_result(tiny.SUITE, conditions.course.exercise(result.id), "no") if result.id == exercise else result
            for result in stored.report.exercises
        ]
        file.write_text(replace(stored, report=replace(stored.report, exercises=tuple(results))).text())
        assert taught.grade() == again


def test_force_keeps_nothing_of_those_that_are_named(taught: Class) -> None:
    assert taught.grade(anew=["ada"]) == BOTH[:2]
    assert taught.grade(anew=STUDENTS) == BOTH
    assert taught.grade(seed=6) == BOTH


@pytest.mark.long
@pytest.mark.parametrize(
    "damage", ["", "{}", "[1]", "null", '{"run": 1}', "\udcff", "half", "score", "student", "gone"]
)
def test_a_report_that_is_damaged_changed_or_of_somebody_else_is_made_again(taught: Class, damage: str) -> None:
    file = taught.out / "reports" / "ada.json"
    whole = file.read_text("utf-8")
    if damage == "half":
        file.write_text(whole[: len(whole) // 2])
    elif damage == "score":
        file.write_text(whole.replace('"score": 10000', '"score": 99999'))
    elif damage == "student":
        shutil.copy(taught.out / "reports" / "bob.json", file)
    elif damage == "gone":
        file.unlink()
    else:
        file.write_bytes(damage.encode("utf-8", "surrogateescape"))
    assert taught.grade() == BOTH[:2]
    assert file.read_text("utf-8") == whole


@pytest.mark.long
@pytest.mark.parametrize("damage", ["gone", "empty", "garbage", "half", "other", "folder"])
def test_an_index_that_is_damaged_is_made_from_the_reports(taught: Class, damage: str) -> None:
    index = taught.out / "index.sqlite"
    data = index.read_bytes()
    written = {
        "empty": b"",
        "garbage": random.Random(3).randbytes(len(data)),
        "half": data[: len(data) // 2],
        "other": data.replace(b"sha256:", b"sha265:"),
    }
    index.unlink()
    if damage == "folder":
        index.mkdir()
    elif damage != "gone":
        index.write_bytes(written[damage])
    assert taught.grade() == []
    assert taught.grade() == []


def test_a_damaged_index_never_gives_a_wrong_score(taught: Class) -> None:
    """A row that was altered is no row, and a page that was overwritten costs only the reading of reports."""
    index = taught.out / "index.sqlite"
    for seed in range(12):
        data = bytearray(index.read_bytes())
        at = random.Random(seed).randrange(100, len(data) - 64)
        data[at : at + 64] = bytes(64)
        index.write_bytes(data)
        assert taught.grade() == []
        with Out(taught.out) as out:
            rows = [out.index.get(student) for student in STUDENTS]
        assert {row.summary.score for row in rows if row is not None} <= {10000}


def test_a_course_that_changes_while_it_is_graded_stops_the_run(tmp_path: Path) -> None:
    made = Class(tmp_path)

    class Editing(Runs):
        def __call__(self, submission: Submission, wanted: Sequence[Exercise]) -> Report:
            if submission.student == "bob":
                solution = made.course / "solutions" / tiny.FILES[0]
                solution.write_text(solution.read_text() + "# another\n")
            return super().__call__(submission, wanted)

    made.runs = lambda suite: Editing(made, suite)  # type: ignore[method-assign]
    with pytest.raises(CourseChanged):
        made.grade()
    assert [file.stem for file in (made.out / "reports").iterdir()] == ["ada"]
    made.runs = lambda suite: Runs(made, suite)  # type: ignore[method-assign]
    assert made.grade() == BOTH


def test_an_error_nobody_foresaw_costs_one_mark_until_the_next_run(tmp_path: Path) -> None:
    made = Class(tmp_path)

    class Broken(Runs):
        def __call__(self, submission: Submission, wanted: Sequence[Exercise]) -> Report:
            report = super().__call__(submission, wanted)
            if submission.student == "bob":
                raise ZeroDivisionError("never thought of")
            return report

    made.runs = lambda suite: Broken(made, suite)  # type: ignore[method-assign]
    assert made.grade() == BOTH
    assert "ZeroDivisionError: never thought of" in json.dumps(made.report("bob"))
    made.runs = lambda suite: Runs(made, suite)  # type: ignore[method-assign]
    assert made.grade() == BOTH[2:4]


def test_what_is_asked_to_stop_begins_nothing_more(taught: Class) -> None:
    conditions = taught.conditions(seed=9)
    entries = list_submissions(taught.hand_in, conditions.course.files).entries
    ran_before = taught.report("ada")["run"]
    with Out(taught.out) as out:
        bulk = Bulk(out, conditions)

        class SlowSecond(Runs):
            def __call__(self, submission: Submission, wanted: Sequence[Exercise]) -> Report:
                if submission.student != "ada":
                    bulk.stop.wait(60)  # it begins before the first one is noted as graded
                return super().__call__(submission, wanted)

        def stop(graded: Graded) -> None:
            bulk.stop.set()

        with pytest.raises(Stopped):
            bulk.grade_all(entries, tiny.SUITE, SlowSecond(taught, load_suite(conditions.course)), 1, stop)
        with pytest.raises(Stopped):
            bulk.plan(entries)
    assert taught.report("ada")["run"] != ran_before
    assert taught.grade(seed=9)[-2:] == BOTH[4:]


def test_the_result_digest_is_of_all_but_the_seconds(taught: Class) -> None:
    report = taught.report("ada")
    digest = result_digest(report)
    report["exercises"][0]["checks"][0]["seconds"] = 99.0  # type: ignore[index]
    assert result_digest(report) == digest
    report["exercises"][0]["checks"][0]["score"] = 1  # type: ignore[index]
    assert result_digest(report) != digest


def test_a_grader_that_is_cancelled_stops_what_it_grades(course: Path) -> None:
    with Grader(tiny.suite_at(course), seed=5) as grader:
        grader.cancel()
        with pytest.raises(Cancelled):
            grader.grade(tiny.submitted())


def test_every_student_is_in_one_shard() -> None:
    students = [f"student-{at}" for at in range(200)] + ["ä", "李", "=1"]
    for parts in (1, 2, 7):
        shards = [Shard(part, parts) for part in range(1, parts + 1)]
        assert all(sum(shard.has(student) for shard in shards) == 1 for student in students)
    assert [Shard(1, 2).has(student) for student in students[:4]] == [True, True, True, False], (
        "the same on every machine"
    )
    assert str(read_shard("2/4")) == "2/4"
    for text in ("0/2", "3/2", "1", "a/b", "1/0", "-1/2", "1/2/3", ""):
        with pytest.raises(ValueError, match="expected I/N"):
            read_shard(text)


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    wait = pytest.raises(Busy, match=f"process {os.getpid()} on .*; wait until it ends")
    with Out(tmp_path / "out"), wait:
        Out(tmp_path / "out")
    with Out(tmp_path / "out") as out:
        out.index.put(Row("ada", "", "", "", False, "{}"))
    (tmp_path / "out" / "lock").write_text("process 1 on a machine that is no more\n")
    with Out(tmp_path / "out") as out:
        assert out.index.get("ada") is not None


def test_what_a_killed_writer_left_half_written_is_swept_away(tmp_path: Path) -> None:
    with Out(tmp_path):
        pass
    left = []
    for name in ("run.json", "scores.csv", "reports/ada.json", f"reports/{'ada' * 20}.json"):
        with replacing(tmp_path / name):
            left += [file for file in (tmp_path / name).parent.glob(".*") if file not in left]
    for file in left:
        file.write_text("{")
    assert len(left) == 4
    (tmp_path / ".mine-0123456789ab").write_text("a user's own")
    with Out(tmp_path):
        pass
    assert [file.name for file in tmp_path.rglob(".*")] == [".mine-0123456789ab"]


@pytest.mark.worker
@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="asks glibc, 2.33 or later"
)
@pytest.mark.parametrize(("first", "mapped"), [("", 0), ("give_back_large_blocks()", 1)], ids=["default", "lowered"])
def test_one_large_answer_does_not_make_large_blocks_usual(first: str, mapped: int) -> None:
    """By default, freeing a large block makes the C library keep blocks of that size in its heap."""
    program = f"""
import ctypes
from autograder.instructor.bulk import give_back_large_blocks
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]
asked = ctypes.CDLL(None).mallinfo2
asked.restype = Info
{first}
bytearray(8 << 20)
before = asked().hblks
block = bytearray(1 << 20)
print(asked().hblks - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) == mapped
