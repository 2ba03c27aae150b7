"""A key is made as far as a failure asks for it, and gives the names that the whole key gives."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.answer_key import AnswerKey, Failures, Keys, Misconception, to_record
from autograder.answer_key.catalogue import Failing, failing_text, patched, read_catalogue, read_failing
from autograder.answer_key.keys import from_record
from autograder.course import load_suite, read_course
from autograder.judge import Grader
from tests.support import tiny

ROOT = Path(__file__).parents[3]
SEED = 5


def entry(*always: str, sometimes: tuple[str, ...] = (), marks: tuple[str, ...] = ()) -> Misconception:
    failing = Failing(frozenset(always), frozenset(sometimes))
    return Misconception("slip", "a slip", "why", "hint", (), {}, marks, failing=failing)


def checks_of(one: Misconception, *failed: str, waiting: str = "", statements: tuple[str, ...] = ()) -> set[str]:
    return set(Failures(frozenset(failed), frozenset(waiting.split()), frozenset(statements)).checks_of(one))


def test_a_misconception_runs_on_what_it_may_fail_if_it_fails_what_fails_here() -> None:
    assert checks_of(entry("a", "b"), "a", "b") == {"a", "b"}
    assert checks_of(entry("a", "b"), "c") == set(), "it explains nothing"
    assert checks_of(entry("a", sometimes=("b",)), "b") == {"a", "b"}, "it may be so under this seed"


def test_a_misconception_that_fails_much_that_passes_here_does_not_run() -> None:
    much = "abcdefgh"
    assert checks_of(entry(*much), "a") == set()
    assert checks_of(entry(*much), "a", waiting="b c d e f g h") == set(much)
    assert checks_of(entry(*much, marks=("m",)), "a", statements=("m", "n")) == set(much), "its statements are here"


def test_a_misconception_that_is_near_runs_on_all_that_fails_here() -> None:
    assert checks_of(entry("a", "b"), "a", "b", "c") == {"a", "b", "c"}, "the table may lack a check of this seed"
    assert checks_of(entry("a"), *"abcdefgh") == {"a"}, "the program has other mistakes besides"


def test_a_key_that_is_not_finished_says_what_is_left_and_survives_being_a_record() -> None:
    key = AnswerKey({}, (replace(entry("a", sometimes=("b",)), ran=frozenset("a")), replace(entry("c"), failing=None)))
    failures = Failures(frozenset("ab"))
    assert key.left(failures) == {"slip": {"b"}}
    assert key.left() == {"slip": None}
    assert from_record(to_record(key)) == key


def test_a_check_that_another_seed_changes_is_one_that_fails_sometimes() -> None:
    one = Failing(frozenset("ab")).widened("ac")
    assert one == Failing(frozenset("a"), frozenset("bc"))
    assert one.widened("a") == one


def test_a_table_is_read_as_it_was_written_and_only_for_its_content(tmp_path: Path) -> None:
    file, failing = tmp_path / "table.json", {"one": Failing(frozenset("ab"), frozenset("c")), "two": Failing()}
    file.write_text(failing_text("digest", failing))
    assert read_failing(file) == read_failing(file, "digest") == failing
    assert read_failing(file, "another") == read_failing(tmp_path / "missing") == {}
    for damage in ("", "[]", '{"digest": "digest", "fails": {"one": 1}}'):
        file.write_text(damage)
        assert read_failing(file, "digest") == {}


@pytest.mark.parametrize("exercise", [exercise.id for exercise in read_course(ROOT).exercises])
def test_the_table_of_each_exercise_is_of_this_course(exercise: str) -> None:
    course = read_course(ROOT)
    one = course.exercise(exercise)
    keys = Keys(load_suite(course, [one]), seed=course.seed)
    solution = (course.solutions_dir / one.file).read_text("utf-8")
    catalogue = read_catalogue(course.solutions_dir / "misconceptions" / f"{exercise}.toml", solution, parse=False)
    found = keys.failing(one)
    assert found.keys() == {wrong.id for wrong in catalogue}, f"it is old: run `course validate {one.number}`"
    known = {check.id for check in keys.suite.checks[exercise]}
    assert all(failing.always | failing.sometimes <= known for failing in found.values())


@pytest.mark.worker
def test_a_grader_runs_what_may_explain_a_failure_and_finds_the_same_as_with_whole_keys(
    course: Path, tmp_path: Path
) -> None:
    suite = tiny.suite_at(course)
    exercise = suite.course.exercise(tiny.FIRST)
    wrong = read_catalogue(course / f"solutions/misconceptions/{tiny.FIRST}.toml", tiny.MEAN, parse=True)
    with Keys(suite, seed=SEED, cache=tmp_path / "whole") as keys:
        key, outcomes = keys.proved(exercise)
        failed = {id_: {check for check, _ in own} for id_, own in outcomes.items()}
        assert keys.hold_failing(exercise, failed) == []
        assert keys.hold_failing(exercise, failed | {wrong[0].id: set()}) == [wrong[0].id]
        assert keys.failing(exercise)[wrong[0].id].always == set()
        keys.hold_failing(exercise, failed)
    asked: list[int] = []
    reports = {}
    for name in ("whole", "partial"):
        with Grader(
            suite, seed=SEED, cache=tmp_path / name, evidence=True, on_progress=lambda *_: asked.append(1)
        ) as grader:
            reports[name] = [
                [replace(check, seconds=0) for check in result.checks]
                for one in wrong
                for result in grader.grade(tiny.submitted(patched(tiny.MEAN, one)), [exercise]).exercises
            ]
    assert reports["whole"] == reports["partial"]
    assert len(asked) > 0
    with Keys(suite, seed=SEED, cache=tmp_path / "partial") as keys:
        assert to_record(keys.get(exercise)) == to_record(key), "the whole key is what it was, whatever ran before"


@pytest.mark.worker
def test_a_change_of_words_leaves_the_table_and_a_change_of_code_makes_it_old(course: Path) -> None:
    suite = tiny.suite_at(course)
    exercise = suite.course.exercise(tiny.FIRST)
    keys = Keys(suite, seed=SEED)
    keys.hold_failing(exercise, {"slip": ["values"]})
    file = course / f"solutions/misconceptions/{tiny.FIRST}.json"
    before = json.loads(file.read_text())
    tiny.replaced(course / f"solutions/{tiny.FIRST}.py", "# # A running mean", "# # The running mean")
    assert keys.failing(exercise)
    with (course / f"solutions/{tiny.FIRST}.py").open("a") as solution:
        solution.write("more = 1\n")
    assert not keys.failing(exercise)
    assert json.loads(file.read_text()) == before
