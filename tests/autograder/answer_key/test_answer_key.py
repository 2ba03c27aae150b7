"""The answer key: kept by content, made anew when damaged, and never anybody's fault but the course's."""

import json
import multiprocessing
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.answer_key import AnswerKey, Keys, to_record
from autograder.answer_key.keys import from_record
from autograder.course import load_suite, read_course
from autograder.judge import Grader
from autograder.protocol import FrameLimits, read_frame, write_frame
from autograder.runner import GraderProblem, Run, Runner, WorkerFailure
from tests.support import tiny

pytestmark = pytest.mark.worker

SEED = tiny.COURSE.seed


def key_of(root: Path, cache: Path, exercise: str = tiny.FIRST, seed: int = SEED) -> AnswerKey:
    suite = tiny.suite_at(root)
    with Keys(suite, seed=seed, cache=cache) as keys:
        return keys.get(suite.course.exercise(exercise))


def kept(cache: Path, exercise: str = tiny.FIRST) -> set[str]:
    return {file.name for file in cache.glob(f"{exercise}-*.key")}


@pytest.fixture
def cache(course: Path) -> Path:
    return course / ".course" / "cache"


def test_a_key_that_is_kept_needs_no_worker(course: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept(cache)
    monkeypatch.setattr("autograder.runner.runner.Runner.prepare", lambda _: pytest.fail("a worker was started"))
    assert key_of(course, cache).reference
    assert kept(cache) == before


def test_a_key_comes_back_from_its_file_as_it_was_made(course: Path, cache: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert to_record(key_of(course, again)) == to_record(key_of(course, cache))
    assert kept(again) == kept(cache)
    assert [file.read_bytes() for file in again.glob("*.key")] == [
        (cache / file.name).read_bytes() for file in again.glob("*.key")
    ], "the same course and seed give the same bytes"


def test_a_key_survives_being_a_record(course: Path, cache: Path) -> None:
    key = key_of(course, cache)
    frame = write_frame(to_record(key))
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        part = frame[position : position + size]
        position += len(part)
        return part

    assert to_record(from_record(read_frame(read, FrameLimits(nodes=1_000_000)))) == to_record(key)


CHANGES = {
    "solution": (f"solutions/{tiny.FIRST}.py", "# # A running mean", "# # The running mean"),
    "check": (f"tests/exercises/test_{tiny.FIRST}.py", "shift=1.0", "shift=2.0"),
    "sizes": ("course.toml", "T = [7, 9, 5, 11]", "T = [7, 9, 5, 13]"),
    "misconceptions": (f"solutions/misconceptions/{tiny.FIRST}.toml", "does not depend", "never depends"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_key_of_another_course_is_another_key(change: str, course: Path, cache: Path) -> None:
    file, old, new = CHANGES[change]
    before = kept(cache)
    tiny.replaced(course / file, old, new)
    key_of(course, cache)
    assert len(kept(cache) - before) == 1


@pytest.mark.parametrize("kind", ["get", "reference"])
def test_a_stored_key_that_lacks_trials_is_made_again(course: Path, tmp_path: Path, kind: str) -> None:
    whole = load_suite(read_course(course))
    fewer = {name: tuple(replace(check, trials=1) for check in checks) for name, checks in whole.checks.items()}
    for suite, trials in ((replace(whole, checks=fewer), {0}), (whole, {0, 1})):
        with Keys(suite, seed=SEED, cache=tmp_path) as keys:
            key = getattr(keys, kind)(suite.course.exercises[0])
            [traces] = [keys.traces(suite.course.exercises[0], check) for check in suite.checks[tiny.FIRST][:1]]
        assert {trial for _, trial in key.reference} == {trial for _, trial in traces} == trials


def test_a_key_of_another_seed_is_another_key_with_other_numbers(course: Path, cache: Path) -> None:
    before = kept(cache)
    one, other = key_of(course, cache), key_of(course, cache, seed=SEED + 1)
    assert len(kept(cache) - before) == 1
    assert one.reference["values", 0].exact != other.reference["values", 0].exact


def test_a_comment_in_another_exercise_changes_no_key_of_the_first(course: Path, cache: Path) -> None:
    before = kept(cache)
    with (course / "solutions" / tiny.FILES[1]).open("a") as file:
        file.write("# a comment\n")
    key_of(course, cache)
    assert kept(cache) == before


def test_a_change_in_what_an_exercise_needs_changes_its_key(course: Path, cache: Path) -> None:
    before = kept(cache, tiny.SECOND)
    with (course / "solutions" / tiny.FILES[0]).open("a") as file:
        file.write("# a comment\n")
    key_of(course, cache, tiny.SECOND)
    assert len(kept(cache, tiny.SECOND) - before) == 1


def damage(file: Path, how: str) -> None:
    data = file.read_bytes()
    changed = {
        "cut": data[: len(data) // 2],
        "empty": b"",
        "one bit": data[:100] + bytes([data[100] ^ 1]) + data[101:],
        "longer": data + b"x",
        "another key": next(file.parent.glob(f"{tiny.SECOND}-*.key")).read_bytes()[:-1],
    }
    file.write_bytes(changed[how])


def test_a_damaged_key_is_made_anew_with_the_same_results(course: Path, cache: Path) -> None:
    [name] = kept(cache)
    sound = (cache / name).read_bytes()
    suite = tiny.suite_at(course)
    for how in ("cut", "empty", "one bit", "longer", "another key"):
        damage(cache / name, how)
        with Keys(suite, seed=SEED, cache=cache) as keys:
            assert keys.get(suite.course.exercise(tiny.FIRST)).reference
        assert (cache / name).read_bytes() == sound, how


def test_a_folder_in_the_place_of_a_key_costs_only_time(course: Path, cache: Path) -> None:
    [name] = kept(cache)
    (cache / name).unlink()
    (cache / name).mkdir()
    assert key_of(course, cache).reference
    assert not [file for file in cache.iterdir() if file.name.startswith(".key-")]


def test_a_cache_that_cannot_be_written_costs_only_time(course: Path, cache: Path, tmp_path: Path) -> None:
    expected = to_record(key_of(course, cache))
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert to_record(key_of(course, blocked / "cache")) == expected
    assert blocked.read_text() == "in the way"


WRONG_SOLUTIONS = {
    "raises": ("return x.cumsum(dim=-1) / count", "return 1 / 0", "ZeroDivisionError"),
    "loops": ("return x.cumsum(dim=-1) / count", "while True: pass", "Timed out"),
    "ends": ("return x.cumsum(dim=-1) / count", "import os; os._exit(0)", "ended the process"),
}


@pytest.mark.parametrize("how", WRONG_SOLUTIONS)
def test_a_solution_that_cannot_run_its_own_checks_is_a_problem_of_the_grader(
    how: str, course: Path, tmp_path: Path
) -> None:
    old, new, sentence = WRONG_SOLUTIONS[how]
    tiny.replaced(course / "solutions" / tiny.FILES[0], f"{old}  # (..., T)", new)
    shutil.rmtree(course / "solutions" / "misconceptions")
    with pytest.raises(GraderProblem, match=f"the solution of {tiny.FIRST} fails the check values.*{sentence}"):
        key_of(course, tmp_path / "cache")


def test_nobody_loses_points_to_a_broken_solution_and_the_exit_says_so(course: Path) -> None:
    tiny.replaced(course / "solutions" / tiny.FILES[0], "return x.cumsum(dim=-1) / count", "return 1 / 0")
    (course / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml").unlink()
    tiny.handed_in(course / "exercises")
    done = tiny.run_course(course, "check", "--all", "--json", "-")
    assert done.returncode == 4
    exercises = json.loads(done.stdout)["exercises"]
    assert {check["status"] for check in exercises[0]["checks"]} == {"grader_error"}
    assert "this is not your fault" in exercises[0]["checks"][0]["finding"]["message"]
    assert "ZeroDivisionError" in exercises[0]["checks"][0]["finding"]["detail"]
    progress = course / ".course" / "progress.json"
    assert tiny.FIRST not in json.loads(progress.read_text())["exercises"], "it is no verdict to remember"


def build(root: str, cache: str) -> bool:
    return bool(key_of(Path(root), Path(cache)).reference)


def test_two_processes_that_build_a_key_at_once_do_not_disturb_each_other(
    course: Path, cache: Path, tmp_path: Path
) -> None:
    both = tmp_path / "both"
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(build, [(str(course), str(both))] * 2) == [True, True]
    [name] = kept(both)
    assert (both / name).read_bytes() == (cache / name).read_bytes()
    assert not [file for file in both.iterdir() if file.name.startswith(".key-")]


def test_a_submission_is_graded_alike_with_and_without_a_kept_key(key_cache: Path, tmp_path: Path) -> None:
    wrong = tiny.submitted(tiny.mean_with("return x.cumsum(dim=-1)"))
    reports = []
    for cache in (key_cache, tmp_path / "empty"):
        with Grader(tiny.SUITE, seed=SEED, cache=cache) as grader:
            report = grader.grade(wrong)
        reports.append([(check.status, check.finding) for exercise in report.exercises for check in exercise.checks])
    assert reports[0] == reports[1]


def test_a_wrong_program_that_a_busy_machine_slows_down_has_its_own_results_in_the_key(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, exercise = tiny.suite_at(course), tiny.COURSE.exercise(tiny.FIRST)
    late = WorkerFailure("timeout", "Timed out.")
    real = Runner.run

    def busy(self: Runner, sources: Any, plan: Any, **options: Any) -> Run:
        run = real(self, sources, plan, **options)
        wrong = sources[exercise.file] != tiny.MEAN.encode()
        if wrong and "patience" not in options:
            run.outcomes[exercise.id] |= {next(iter(plan[exercise.id])): late}
        return run

    with Keys(suite, seed=3, cache=tmp_path / "quiet") as keys:
        quiet = keys.get(exercise)
    monkeypatch.setattr(Runner, "run", busy)
    with Keys(suite, seed=3, cache=tmp_path / "busy") as keys:
        assert to_record(keys.get(exercise)) == to_record(quiet)
