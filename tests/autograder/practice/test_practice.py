"""Practice: hunts, the lines of a program in order, tests of tests, and questions that come back."""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.authoring.leaks import Gate, secrets_of
from autograder.authoring.programs import faulty_lines
from autograder.authoring.release import _fit
from autograder.course import Course, Example, Hunt, HuntFile, UsageError, kit_hunts, read_hunts
from autograder.practice import programs_for
from autograder.practice.command_arrange import nearest, puzzle
from autograder.practice.command_hunt import draw, finds_line, finish, make_choice, open_hunt, read_practice
from autograder.practice.command_review import _nothing, due_questions, next_due, rate
from autograder.progress import Event, read_progress, save_events
from autograder.protocol import outline_of
from autograder.runner import EnvironmentProblem
from tests.support import tiny

WRONG = tiny.mean_with("return x.cumsum(dim=-1)")
WHOLE_ROW = tiny.mean_with("return x.mean(dim=-1, keepdim=True).expand_as(x)")
LINES = tuple(sorted(faulty_lines(tiny.MEAN, WRONG)))
LOOP = (tiny.ROOT / "solutions" / "accepted" / tiny.FIRST / "loop.py").read_text("utf-8")
EXAMPLE = Example("the mean", (("1", "2"),), (("1", "4"),))
HUNTS = (
    Hunt("01-aaaaaa", "mean-not-divided", ("values",), "plain", LINES, WRONG, EXAMPLE),
    Hunt("01-bbbbbb", "mean-of-everything", ("values", "axes"), "plain", LINES, WHOLE_ROW),
)
PROGRAMS = HuntFile(tiny.FIRST, {"plain": tiny.MEAN, "loop": LOOP}, HUNTS)
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def ignored(*_: int) -> None:
    """Take a progress report."""


@pytest.fixture
def kit(tmp_path: Path) -> Course:
    """A course with programs to practise its first exercise on, as a kit has them."""
    own = tiny.course_at(tiny.copied(tmp_path / "course"))
    with_programs(own)
    return own


def with_programs(course: Course) -> None:
    file = kit_hunts(course, course.exercises[0])
    file.parent.mkdir()
    file.write_text(PROGRAMS.to_json(), "utf-8")


@pytest.mark.parametrize(
    ("right", "sentence"),
    [
        ({}, f"solutions/accepted/{tiny.FIRST} has no right program; write one there"),
        ({"plain": tiny.MEAN}, f"no change of a program in solutions/accepted/{tiny.FIRST} shows a misconception"),
    ],
)
def test_an_exercise_without_wrong_programs_says_what_its_author_can_write(
    kit: Course, right: dict[str, str], sentence: str
) -> None:
    none = HuntFile(tiny.FIRST, right, ())
    kit_hunts(kit, kit.exercises[0]).write_text(none.to_json(), "utf-8")
    with pytest.raises(UsageError, match=sentence):
        draw(kit, kit.exercises[0], level=1, seed=None, on_progress=ignored)
    with pytest.raises(UsageError, match=sentence):
        _fit(Gate(secrets_of(kit)), none, [tiny.FIRST])


def test_programs_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "hunts.json"
    file.write_text(PROGRAMS.to_json(), "utf-8")
    assert read_hunts(file) == PROGRAMS


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"exercise": 1, "right": {}, "hunts": [{}]}', "[" * 100_000])
def test_a_damaged_file_has_no_programs(tmp_path: Path, text: str) -> None:
    (tmp_path / "hunts.json").write_text(text, "utf-8")
    assert read_hunts(tmp_path / "hunts.json") is None


def test_a_choice_has_the_right_answer_once_and_always_the_same_order() -> None:
    choice = make_choice("Which?", "a", ["a", "b", "c", "d", "e"], "salt")
    assert len(set(choice.answers)) == 4
    assert choice.answers[choice.right] == "a"
    assert make_choice("Which?", "a", ["e", "d", "c", "b"], "salt") == choice


def test_a_hunt_is_drawn_written_and_kept_open(kit: Course) -> None:
    drawn = draw(kit, kit.exercises[0], level=1, seed=0, on_progress=ignored)
    assert (kit.root / "hunt" / tiny.FILES[0]).read_text("utf-8") == drawn.files[tiny.FILES[0]]
    assert drawn == open_hunt(kit)
    assert drawn == draw(kit, kit.exercises[0], level=1, seed=0, on_progress=ignored)
    assert read_progress(kit).here is None, "a hunt is no work on an exercise"


def test_each_hunt_is_drawn_once_before_one_comes_again(kit: Course) -> None:
    seen = []
    for _ in HUNTS:
        drawn = draw(kit, kit.exercises[0], level=1, seed=None, on_progress=ignored)
        finish(kit, drawn)
        seen.append(drawn.id)
    assert sorted(seen) == [hunt.id for hunt in HUNTS]
    assert open_hunt(kit) is None
    again = draw(kit, kit.exercises[0], level=1, seed=None, on_progress=ignored)
    assert again.id in seen


def test_the_prediction_is_a_number_of_the_example_or_else_a_check(kit: Course) -> None:
    drawn = {}
    for seed in range(20):
        one = draw(kit, kit.exercises[0], level=1, seed=seed, on_progress=ignored)
        drawn[one.id] = one
    with_example, without = (drawn[hunt.id].predict for hunt in HUNTS)
    assert with_example.answers[with_example.right] == "1 4"
    assert set(with_example.answers) == {"1 4", "1 2"}
    assert without.question == "Which check fails?"
    titles = {check.id: check.title for check in tiny.SUITE.checks[tiny.FIRST]}
    assert without.answers[without.right] == titles["values"]
    assert titles["axes"] not in without.answers, "it fails too"


def test_where_every_check_fails_none_is_the_answer(kit: Course) -> None:
    checks = tuple(check.id for check in tiny.SUITE.checks[tiny.FIRST])
    hunts = (Hunt("01-dddddd", "mean-not-divided", checks, "plain", LINES, WRONG),)
    kit_hunts(kit, kit.exercises[0]).write_text(HuntFile(tiny.FIRST, {}, hunts).to_json(), "utf-8")
    predict = draw(kit, kit.exercises[0], level=1, seed=0, on_progress=ignored).predict
    assert (predict.question, predict.answers[predict.right]) == ("Which check passes?", "none")


def test_a_line_is_found_by_its_number_and_its_file(kit: Course) -> None:
    drawn = draw(kit, kit.exercises[0], level=1, seed=0, on_progress=ignored)
    assert finds_line(drawn, str(LINES[0]))
    assert finds_line(drawn, f"ex01:{LINES[0]}")
    assert not finds_line(drawn, "1")
    assert not finds_line(drawn, f"ex02:{LINES[0]}")
    with pytest.raises(UsageError, match="'here' is no line"):
        finds_line(drawn, "here")


def test_a_kit_without_programs_says_who_chooses_them(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    (root / "solutions" / tiny.FILES[0]).unlink()
    own = tiny.course_at(root)
    with pytest.raises(UsageError, match="course release DIR --hunt 01"):
        draw(own, own.exercises[0], level=1, seed=None, on_progress=ignored)


@pytest.mark.long
def test_only_programs_of_named_exercises_go_into_a_kit() -> None:
    gate = Gate(secrets_of(tiny.COURSE))
    text = PROGRAMS.to_json().encode()
    name = "tests/exercises/hunts/ex01_running_mean.json"
    assert gate.leaks([(name, text)])
    assert not gate.leaks([(name, text)], [tiny.FIRST], [name])
    assert gate.leaks([("README.md", text)], [tiny.FIRST], [name]), "only the files of programs may have them"
    assert gate.leaks([(name, text)], [tiny.SECOND], [name])
    other = HuntFile(tiny.FIRST, {"plain": tiny.MEAN, "other": tiny.POWER}, HUNTS)
    assert set(_fit(gate, other, [tiny.FIRST]).right) == {"plain"}
    with pytest.raises(UsageError, match="has lines of another exercise"):
        _fit(gate, PROGRAMS, [tiny.SECOND])


# The lines of a program.


def statements(text: str) -> list[str]:
    function = outline_of(text).functions[0]
    lines = text.splitlines()[function.body - 1 : function.end]
    return [line for line in lines if line.strip() and not line.strip().startswith("#")]


def test_the_puzzle_has_every_line_of_the_program_and_wrong_ones(kit: Course) -> None:
    text, wrong = puzzle(kit, kit.exercises[0], PROGRAMS, "plain")
    right = statements(tiny.MEAN)
    assert wrong == 2
    added = [line for line in text.splitlines() if line in statements(WRONG) + statements(WHOLE_ROW)]
    assert set(added) > set(right) & set(added)
    assert all(line in text for line in right)
    order = [line for line in text.splitlines() if line in right]
    assert order != right, "the order is another one"
    assert puzzle(kit, kit.exercises[0], PROGRAMS, "plain") == (text, wrong), "and always the same"


BLOCKS = """def running_mean(x):
    # first
    total = [
        x,

        x,
    ]
    for one in total:
        # inside
        if one: return one
    else:
        return (
            x)
    return x
"""


def test_a_statement_on_several_lines_stays_together(kit: Course) -> None:
    programs = HuntFile(tiny.FIRST, {"blocks": BLOCKS}, ())
    text, _ = puzzle(kit, kit.exercises[0], programs, "blocks")
    whole = ["    total = [\n        x,\n\n        x,\n    ]", "        return (\n            x)", "    else:"]
    assert all(f"{statement}\n" in text for statement in whole)
    assert "# inside" not in text
    assert sorted(filter(None, map(str.strip, text.splitlines()))) == sorted(
        line.strip() for line in BLOCKS.splitlines() if line.strip() and "# inside" not in line
    )


def test_the_nearest_variant_is_the_most_similar_one() -> None:
    assert nearest(PROGRAMS, tiny.MEAN.encode()) == "plain"
    assert nearest(PROGRAMS, LOOP.encode()) == "loop"
    assert nearest(PROGRAMS, None) in PROGRAMS.right


# Questions that come back.


def corrected(course: Course, misconception: str) -> None:
    """Record that a learner corrected a mistake, and answered the question on it."""
    event = Event("2029-12-31T12:00:00.000Z", "question", tiny.FIRST, "question", result="right", finding=misconception)
    save_events(course, [event])


def test_nothing_is_due_for_a_learner_who_has_done_nothing(kit: Course) -> None:
    assert due_questions(kit, read_progress(kit), NOW) == []
    assert next_due(kit, read_progress(kit), NOW) is None


def test_the_first_question_on_an_exercise_comes_a_week_after_its_pass(kit: Course) -> None:
    event = Event("2029-12-30T12:00:00.000Z", "check", tiny.FIRST, "check", result="pass", passing=4, checks=4)
    save_events(kit, [event])
    assert not due_questions(kit, read_progress(kit), NOW)
    due = next_due(kit, read_progress(kit), NOW)
    assert due == datetime(2030, 1, 6, 12, tzinfo=UTC)
    assert next_due(kit, read_progress(kit), due) is None, "it has come"
    assert due_questions(kit, read_progress(kit), due)
    assert _nothing(due).startswith("Nothing to review now. The next question comes on 2030-01-06")
    assert "when you correct a mistake, or 7 days after a pass" in _nothing(None)


def test_a_right_answer_comes_back_later_than_a_wrong_one(kit: Course) -> None:
    corrected(kit, "mean-not-divided")
    corrected(kit, "mean-of-everything")
    questions = due_questions(kit, read_progress(kit), NOW)
    assert {question.misconception for question in questions} == {"mean-not-divided", "mean-of-everything"}
    later = rate(kit, "mean-not-divided", NOW, is_right=True)
    sooner = rate(kit, "mean-of-everything", NOW, is_right=False)
    assert NOW + timedelta(hours=20) <= sooner <= later
    assert due_questions(kit, read_progress(kit), NOW) == []
    assert next_due(kit, read_progress(kit), NOW) == sooner
    again = due_questions(kit, read_progress(kit), NOW + timedelta(days=400))
    assert len(again) == 2
    third = rate(kit, "mean-not-divided", NOW + timedelta(days=30), is_right=True)
    assert third - (NOW + timedelta(days=30)) > later - NOW, "each right answer makes the wait longer"


def test_the_kind_of_a_question_changes_from_time_to_time(kit: Course) -> None:
    corrected(kit, "mean-not-divided")
    kinds: list[str] = []
    now = NOW
    right = ("the running sum is not divided", "return x.cumsum(dim=-1)", "1 4")
    for answer in right:
        [question] = due_questions(kit, read_progress(kit), now)
        kinds.append(question.choice.question)
        assert question.choice.answers[question.choice.right] == answer
        rate(kit, question.misconception, now, is_right=True)
        now += timedelta(days=400)
    assert "Which mistake is this?" in kinds[0]
    assert kinds[1] == "One line of this program is wrong. Which one?"
    assert "What does it give for: the mean?" in kinds[2]


def test_another_shape_is_asked_for_too(kit: Course) -> None:
    example = Example("the mean", (("1", "2"),), (("1",), ("4",)))
    hunts = (Hunt("01-cccccc", "mean-not-divided", ("values",), "plain", LINES, WRONG, example),)
    kit_hunts(kit, kit.exercises[0]).write_text(HuntFile(tiny.FIRST, {}, hunts).to_json(), "utf-8")
    corrected(kit, "mean-not-divided")
    questions = []
    for times in range(4):
        questions += due_questions(kit, read_progress(kit), NOW + timedelta(days=400 * times))
        rate(kit, "mean-not-divided", NOW + timedelta(days=400 * times), is_right=True)
    [shape] = [one.choice for one in questions if one.choice.question.startswith("What is the shape")]
    assert shape.answers[shape.right] == "(2, 1)"
    assert set(shape.answers) == {"(2, 1)", "(1, 2)"}


def test_an_exercise_that_passed_long_ago_gets_a_question(kit: Course) -> None:
    event = Event("2029-12-20T12:00:00.000Z", "check", tiny.FIRST, "check", result="pass", passing=4, checks=4)
    save_events(kit, [event])
    assert len(due_questions(kit, read_progress(kit), NOW)) == 1
    assert due_questions(kit, read_progress(kit), datetime(2029, 12, 21, tzinfo=UTC)) == []


@pytest.mark.parametrize("text", ["", "[]", '{"open": 1, "cards": {"x": 1}}', '{"open": {"id": 1}}'])
def test_a_damaged_file_loses_no_command(kit: Course, text: str) -> None:
    (kit.root / ".course").mkdir(exist_ok=True)
    (kit.root / ".course" / "practice.json").write_text(text, "utf-8")
    assert open_hunt(kit) is None
    assert due_questions(kit, read_progress(kit), NOW) == []
    read_practice(kit)


# The real program.


def run(course: Path, *arguments: str, status: int = 0) -> str:
    done = tiny.run_course(course, *arguments, COLUMNS="100")
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def practising(course: Path) -> Path:
    with_programs(tiny.course_at(course))
    return course


def repaired(course: Path, source: str) -> None:
    (course / "hunt" / tiny.FILES[0]).write_text(source, "utf-8")


@pytest.mark.worker
@pytest.mark.parametrize("repair", [tiny.MEAN, LOOP, tiny.mean_with("return x.cumsum(-1).div(count)")])
def test_a_hunt_is_judged_by_running(practising: Path, repair: str) -> None:
    shown = run(practising, "hunt", "1", "--seed", "0")
    assert "There is one fault in hunt/ex01_running_mean.py." in shown
    assert "On which line is the fault? (--line)" in shown
    answers = ("hunt", "--line", str(LINES[0]), "--name", "9")
    assert "'9' is no answer" in run(practising, *answers, status=2)
    assert "Right." in run(practising, "hunt", "--line", str(LINES[0]))
    assert "Not yet: " in run(practising, "hunt", "--check", status=1), "the fault is still there"
    moved = WHOLE_ROW if open_hunt(tiny.course_at(practising)).misconception == "mean-not-divided" else WRONG
    repaired(practising, moved)
    assert "Not yet: " in run(practising, "hunt", "--check", status=1), "the fault is another one"
    assert "you have edited hunt/ex01_running_mean.py" in run(practising, "hunt", "1", status=2)
    repaired(practising, repair)
    shown = run(practising, "hunt", "--check")
    assert "Repaired: every check passes." in shown
    assert f"The fault was on line {LINES[0]}" in shown
    assert "there is no open hunt" in run(practising, "hunt", "--check", status=2)


@pytest.mark.worker
def test_a_hunt_is_given_up_and_read_by_programs(practising: Path) -> None:
    data = json.loads(run(practising, "hunt", "1", "--json", "-"))
    assert data["files"] == ["hunt/ex01_running_mean.py"]
    assert len(data["name"]["answers"]) > 1
    assert "misconception" not in data, "the answer is not in it"
    assert "The fault was on line" in run(practising, "hunt", "--answer")
    assert "needs no other exercise" in run(practising, "hunt", "1", "--level", "2", status=2)


TESTS = """
import torch

def test_mean(module):
    result = module.running_mean(torch.tensor([1.0, 3.0]))
    assert result.tolist() == [1.0, 2.0]

def test_unfair(module):
    assert module.count
"""


@pytest.mark.slow
@pytest.mark.worker
def test_tests_are_tested_by_right_and_by_wrong_programs(practising: Path) -> None:
    assert "is for your tests" in run(practising, "hunt", "1", "--tests")
    file = practising / "hunt" / f"test_{tiny.FILES[0]}"
    assert "0 of 2 wrong programs" in run(practising, "hunt", "1", "--tests", status=1)
    file.write_text(TESTS, "utf-8")
    shown = run(practising, "hunt", "1", "--tests", status=1)
    assert "test_unfair fails on the right program plain, so it does not count." in shown
    assert "1 test found 2 of 2 wrong programs" in shown
    file.write_text(TESTS[: TESTS.index("def test_unfair")], "utf-8")
    run(practising, "hunt", "1", "--tests", "--json", "hunt.json")
    data = json.loads((practising / "hunt.json").read_text("utf-8"))
    assert (data["found"], data["programs"], data["right"]) == (2, 2, 2)
    for text, sentence in (("def (", "line 1"), ("x = 1\n", "no function whose name begins with test_")):
        file.write_text(text, "utf-8")
        assert sentence in run(practising, "hunt", "1", "--tests", status=2)
    file.write_text("raise RuntimeError('broken')\ndef test_a(module):\n    pass\n", "utf-8")
    assert "could not run: RuntimeError: broken" in run(practising, "hunt", "1", "--tests", status=1)
    file.write_text("import os\ndef test_a(module):\n    os._exit(3)\n", "utf-8")
    assert "the process ended" in run(practising, "hunt", "1", "--tests", status=1)


@pytest.mark.worker
def test_lines_are_arranged_after_the_last_hint_alone(practising: Path) -> None:
    assert "before you arrange the lines of ex01_running_mean, write it" in run(practising, "arrange", "1", status=2)
    own = practising / "exercises" / tiny.FILES[0]
    own.write_text(WRONG, "utf-8")
    run(practising, "check", "1", status=1)
    assert "after a pass or the last hint" in run(practising, "arrange", "1", status=2)
    for _ in range(2):
        run(practising, "hint", "1", "--now")
    assert "and 2 wrong lines" in run(practising, "arrange", "1")
    assert "Not yet" in run(practising, "arrange", "1", "--check", status=1)
    (practising / "arrange" / tiny.FILES[0]).write_text(tiny.MEAN, "utf-8")
    assert "Right: every check passes." in run(practising, "arrange", "1", "--check")
    assert own.read_text("utf-8") == WRONG, "the learner's file is theirs"


@pytest.mark.worker
def test_a_review_shows_one_question_where_nobody_can_type(practising: Path) -> None:
    assert "Nothing to review yet." in run(practising, "review")
    corrected(tiny.course_at(practising), "mean-not-divided")
    shown = run(practising, "review")
    assert "Which mistake is this?" in shown
    assert "course review --answer N" in shown
    assert "'9' is no answer" in run(practising, "review", "--answer", "9", status=2)
    assert "This question comes back on" in run(practising, "review", "--answer", "1")
    assert "Nothing to review now. The next question comes on" in run(practising, "review")
    assert "no question is due" in run(practising, "review", "--answer", "1", status=2)


def test_without_the_scheduler_a_review_is_refused(kit: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsrs", None)
    for call in (due_questions, next_due):
        with pytest.raises(EnvironmentProblem, match="needs the package fsrs"):
            call(kit, read_progress(kit), NOW)
    with pytest.raises(EnvironmentProblem):
        rate(kit, "mean-not-divided", NOW, is_right=True)


@pytest.mark.worker
def test_without_the_scheduler_a_review_names_what_to_install_and_everything_else_works(
    practising: Path, tmp_path: Path
) -> None:
    (tmp_path / "fsrs.py").write_text("raise ImportError('not installed', name='fsrs')\n")

    def without(*arguments: str, status: int) -> str:
        done = tiny.run_course(practising, *arguments, COLUMNS="200", PYTHONPATH=str(tmp_path))
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    problem = "a review needs the package fsrs, which is not installed"
    fix = "install it in the kit's folder: pip install -e '.[review]'"
    assert without("review", status=3).strip() == f"course: {problem}; {fix}"
    assert "There is one fault" in without("hunt", "1", "--seed", "0", status=0)
    assert "PASS" in without("check", "1", "--submission", "solutions", status=0)


LIKE = "".join(line for line in tiny.MEAN.splitlines(True) if "### " not in line)


@pytest.mark.slow
@pytest.mark.worker
def test_a_kit_with_chosen_programs_is_released_and_hunted_in(course: Path, tmp_path: Path) -> None:
    (course / "solutions" / "accepted" / tiny.FIRST / "like.py").write_text(LIKE, "utf-8")
    kit = tmp_path / "kit"
    run(course, "release", str(kit), "--hunt", "1")
    assert [file.name for file in (kit / "tests" / "exercises" / "hunts").iterdir()] == [f"{tiny.FIRST}.json"]
    assert "has what students must not get" in run(course, "release", str(kit), "--check", status=1)
    run(course, "release", str(kit), "--check", "--hunt", "1")
    assert "There is one fault" in run(kit, "hunt", "1")
    repaired(kit, LIKE)
    assert "Repaired: every check passes." in run(kit, "hunt", "--check")
    assert "this kit has no programs to practise ex02_matrix_power on" in run(kit, "hunt", "2", status=2)


def names(found: Sequence[Hunt]) -> set[str]:
    return {hunt.misconception for hunt in found}


@pytest.mark.worker
def test_a_hunt_begins_with_the_first_wrong_program_that_is_found(course: Path) -> None:
    (course / "solutions" / "accepted" / tiny.FIRST / "like_the_solution.py").write_text(LIKE, "utf-8")
    own = tiny.course_at(course)
    tried: list[tuple[int, bool]] = []
    seen: set[str] = set()
    for _ in range(2):
        before = len(tried)
        drawn = draw(
            own, own.exercises[0], level=1, seed=None, on_progress=ignored, on_tried=lambda *now: tried.append(now)
        )
        assert tried[before] == (0, False), "something is said before the first program runs"
        assert tried[-1][1]
        assert tried[-1][0] <= 4, "a right variant and a misconception of it, each perhaps twice"
        assert drawn.predict.question == "Which check fails?"
        seen.add(drawn.id)
        finish(own, drawn)
    assert len(seen) == 2
    assert not list((course / ".course" / "cache" / "hunts").glob("*.json"))
    first, again = (draw(own, own.exercises[0], level=1, seed=5, on_progress=ignored) for _ in range(2))
    assert first == again


@pytest.mark.worker
def test_a_course_with_solutions_makes_its_programs_once(course: Path) -> None:
    variant = course / "solutions" / "accepted" / tiny.FIRST / "like_the_solution.py"
    variant.write_text(LIKE, "utf-8")
    exercise = tiny.course_at(course).exercises[0]
    programs_for(tiny.course_at(course), exercise, ignored)
    [file] = (course / ".course" / "cache" / "hunts").glob("*.json")
    made = read_hunts(file)
    assert made is not None
    assert set(made.right) == {"like_the_solution", "loop"}
    assert {"mean-not-divided", "mean-of-everything"} <= names(made.hunts)
    written = file.stat().st_mtime_ns
    assert "There is one fault" in run(course, "hunt", "1", "--new", "--seed", "4")
    assert file.stat().st_mtime_ns == written
    variant.unlink()
    programs_for(tiny.course_at(course), exercise, ignored)
    assert not file.exists(), "programs of another state of the course are removed"
