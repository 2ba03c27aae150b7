"""Questions about a program: each has one right answer, and a second way of computing finds the same one."""

import ast
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from autograder.checks import Key, Like
from autograder.comparison import Expected
from autograder.course import Course, Exercise, load_suite, read_course
from autograder.edits import Edit
from autograder.questions import Asker, Question, open_asker
from autograder.questions.quiz import (
    Quiz,
    _Change,
    _distance,
    _is_given,
    _is_like,
    _is_literal,
    _is_telling,
    _parts,
    _passed,
    _repeated,
    _stems_of_edit,
    _words_in,
)
from autograder.questions.recordings import MARK, Call, Item, are_equal, read_calls, recording, value_text
from autograder.runner import Observed
from autograder.submission import Submission
from tests.support import second_way, tiny
from tests.support.course_programs import submission_of

COURSE = read_course(tiny.REPOSITORY)
FIRST, SECOND = tiny.COURSE.exercises
QUICK = ("03", "05", "12", "26")
"""Exercises with questions of every kind, whose checks take little time."""

VARIANTS = 2
"""Accepted variants of each exercise that are asked about beside its solution."""


@pytest.fixture
def asker(key_cache: Path, tmp_path: Path) -> Iterator[Asker]:
    course = tiny.course_at(tiny.copied(tmp_path / "course", key_cache))
    with open_asker(course, course.exercises) as found:
        yield found


def programs_of(exercise: Exercise, most: int) -> dict[str, str]:
    """Return the solution of an exercise and some of its accepted variants."""
    folder = COURSE.solutions_dir / "accepted" / exercise.id
    files = [COURSE.solutions_dir / exercise.file, *sorted(folder.glob("*.py"))[:most]]
    return {file.stem: file.read_text("utf-8") for file in files}


def wrong_answers(exercise: Exercise, programs: dict[str, str], salts: tuple[str, ...]) -> tuple[list[str], list[int]]:
    """Return what a second way finds wrong with the questions on some programs, and how many each program got."""
    wrong, counts = [], []
    with open_asker(COURSE, [exercise]) as found, found.grader.new_runner() as runner:
        for text in programs.values():
            submission = submission_of(COURSE, exercise, text)
            for salt in salts:
                questions = found.ask(submission, [exercise], 3, salt=salt).questions
                counts.append(len(questions))
                for question in questions:
                    wrong += second_way.problems_of(question, submission, found.grader, runner)
    return wrong, counts


@pytest.mark.worker
def test_a_program_and_a_salt_always_get_the_same_questions_and_others_get_others(asker: Asker) -> None:
    submission = tiny.submitted()
    first, again = (asker.ask(submission, [SECOND], 3, salt="a").questions for _ in range(2))
    assert first == again
    assert first
    assert all(question.line <= tiny.POWER.count("\n") and question.file == SECOND.file for question in first)
    own = asker.ask(tiny.submitted(second=tiny.POWER_ALONE), [SECOND], 3, salt="a").questions
    assert own
    assert set(own).isdisjoint(first)
    other = asker.ask(submission, [SECOND], 3, salt="b", besides=first).questions
    assert set(other).isdisjoint(first)


@pytest.mark.worker
def test_a_program_that_does_not_pass_or_cannot_be_read_gets_a_sentence(asker: Asker) -> None:
    wrong = tiny.mean_with("return x.cumsum(dim=-1)")
    for submission, sentence in (
        (tiny.submitted(wrong), "ex01_running_mean.py does not pass its checks."),
        (tiny.submitted(None), "there is no ex01_running_mean.py."),
        (tiny.submitted(b"\xff\xfe"), "ex01_running_mean.py does not pass its checks."),
        (tiny.submitted(tiny.MEAN + "\nimport os; os._exit(0)\n"), "ex01_running_mean.py does not pass its checks."),
    ):
        asked = asker.ask(submission, [FIRST], 3)
        assert (asked.questions, asked.refusals) == ((), (sentence,))


@pytest.mark.worker
def test_what_a_hostile_program_prints_becomes_text_or_nothing(asker: Asker) -> None:
    lies = "".join(
        f"print({line!r})\n"
        for line in (
            MARK + "[" * 100_000,
            MARK + json.dumps([1, "call", "running_mean", 0, {"x": ["array", [9], 1, [], []]}]),
        )
    )
    plain = asker.ask(tiny.submitted(), [FIRST], 3).questions
    asked = asker.ask(tiny.submitted(f"{tiny.MEAN}\n{lies}"), [FIRST], 3)
    assert asked.questions
    assert {question.kind for question in asked.questions} <= {question.kind for question in plain} | {
        "check",
        "mistake",
    }


@pytest.mark.worker
def test_a_question_whose_line_says_the_answer_comes_last(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.questions.quiz._is_literal", lambda *_: True)
    kinds = [question.kind for question in asker.ask(tiny.submitted(), [SECOND], 40, salt="a").questions]
    assert {"shape", "mistake"} <= {*kinds}
    assert kinds.index("mistake") > max(at for at, kind in enumerate(kinds) if kind in ("shape", "value", "input"))


@pytest.mark.worker
def test_only_a_question_on_a_mistake_runs_known_mistakes_and_what_ran_before_changes_none(tmp_path: Path) -> None:
    course = tiny.course_at(tiny.copied(tmp_path / "course"))
    ran: list[str] = []

    def asked(count: int) -> tuple[Question, ...]:
        with open_asker(course, course.exercises, on_progress=lambda exercise, *_: ran.append(exercise)) as found:
            return found.ask(tiny.submitted(), [SECOND], count, salt="a").questions

    assert [question.kind for question in asked(1)] in (["shape"], ["value"])
    assert ran == []
    every = asked(40)
    assert "mistake" in {question.kind for question in every}
    assert {*ran} == {SECOND.id}
    tiny.make_keys(load_suite(course), course.seed, course.root / ".course" / "cache")
    assert asked(40) == every


@pytest.mark.worker
def test_no_edit_of_a_line_is_asked_about_that_no_check_runs(asker: Asker) -> None:
    unused = "\n\ndef unused(x):\n    y = x.sum(dim=-1) + 2\n    z = y * x - 1\n    return z / y\n"
    for salt in "abc":
        questions = asker.ask(tiny.submitted(tiny.MEAN + unused), [FIRST], 40, salt=salt).questions
        assert questions
        assert max(question.line for question in questions) <= tiny.MEAN.count("\n")


@pytest.mark.worker
def test_no_mistake_is_asked_for_whose_results_alone_are_equal(asker: Asker) -> None:
    program = tiny.mean_with("places = count - 1\n    return x.cumsum(dim=-1) / (places + 1)")
    questions = asker.ask(tiny.submitted(program), [FIRST], 20, salt="a").questions
    assert "mistake" in {question.kind for question in questions}
    assert "the running sum is not divided" not in {question.answer for question in questions}
    assert not any("(places)" in line for question in questions for line in question.code)


def test_an_edit_has_a_twin_if_one_of_another_line_gives_the_same() -> None:
    def change(line: int, value: float, key: Key = ("one", 0)) -> _Change:
        return _Change(line, "f", "", (), "", {key: Observed(value)})

    judge, has_twin = Like(), cast(Any, Quiz._has_twin)
    verdict = SimpleNamespace(check=SimpleNamespace(id="one", judge=judge))
    key = SimpleNamespace(reference={("one", 0): Expected(3.0, 3.0)})
    like = SimpleNamespace(trials=SimpleNamespace(key=key), verdicts=[verdict])
    changes = [
        change(1, 4.0),
        change(2, 4.0),
        change(3, 5.0),
        change(4, 6.0),
        change(4, 6.0),
        change(5, 4.0, ("two", 0)),
    ]
    quiz = SimpleNamespace(like=like, changes=changes)
    assert [has_twin(quiz, one) for one in changes] == [True, True, False, False, False, False]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("both = a, b", "both = (b, a)", "both = b, a"),
        ("both = (a, b)", "both = (b, a)", "both = (b, a)"),
        ("rows[a, b] = c", "rows[(b, a)] = c", "rows[b, a] = c"),
        ("return f(a), b", "return (b, f(a))", "return b, f(a)"),
        ("x = a / (b + 1)", "x = a / (b)", "x = a / b"),
        ('x = a["k"] + b', "x = a['k'] - b", 'x = a["k"] - b'),
    ],
)
def test_an_edit_is_written_as_the_program_writes(before: str, after: str, shown: str) -> None:
    quiz = SimpleNamespace(source=before, lines=[before], _line_text=lambda _: before)
    edited = cast(Any, Quiz._edited)(quiz, Edit(1, 0, len(before), after), 1)
    assert edited[0] == shown
    assert edited[1] == (before, f" → {shown}")


@pytest.mark.parametrize(
    ("line", "is_torch"), [("import torch", True), ("from torch import nn", True), ("import math", False)]
)
def test_a_program_that_imports_torch_in_any_way_gets_edits_of_tensors(line: str, is_torch: bool) -> None:
    source = f"{line}\n\n\ndef f(x):\n    y = x.transpose(0, 1)\n    return y\n"
    tree, quiz = ast.parse(source), cast(Any, object.__new__(Quiz))
    statement = cast(ast.FunctionDef, tree.body[1]).body[0]
    quiz.source, quiz.tree, quiz.lines, quiz.fixes = source, tree, source.split("\n"), []
    quiz.statements = {statement.lineno: ("f", statement)}
    shown = [code[-1] for _, (_, _, code, _) in quiz._edits()]
    assert shown
    assert any("reshape" in one for one in shown) == is_torch


@pytest.mark.worker
@pytest.mark.slow
@pytest.mark.parametrize("number", QUICK)
def test_a_second_way_finds_the_same_answers_and_no_other(number: str) -> None:
    exercise = next(one for one in COURSE.exercises if one.number == number)
    wrong, counts = wrong_answers(exercise, programs_of(exercise, 0), ("a", "b"))
    assert wrong == []
    assert counts == [3, 3]


@pytest.mark.worker
@pytest.mark.slow
def test_every_exercise_has_three_questions_and_a_second_way_finds_their_answers() -> None:
    if not tiny.EVERYTHING:
        pytest.skip("runs for half an hour: make proof")
    every: Counter[int] = Counter()
    for exercise in COURSE.exercises:
        wrong, counts = wrong_answers(exercise, programs_of(exercise, VARIANTS), ("a",))
        assert wrong == []
        every.update(counts)
    assert every.total() - every[3] <= every.total() / 20


def question(kind: str, answer: str, *options: str) -> Question:
    return Question(kind, FIRST.id, FIRST.file, 1, "What?", (), (), options, answer, "It ran.")


@pytest.mark.parametrize(
    ("asked", "right", "wrong"),
    [
        (
            question("shape", "(2, 3)"),
            ["(2, 3)", "2,3", "[2 3]", "torch.Size([2, 3])"],
            ["(3, 2)", "(2, 3, 1)", "", "23"],
        ),
        (question("value", "0.5"), ["0.5", "0.50", " .5"], ["0.51", "half", "", "nan"]),
        (question("value", "-0"), ["0", "0.0"], ["1"]),
        (question("value", "('a', 'b')"), ["('a','b')", '("a", "b")', "(a, b)"], ["('b', 'a')"]),
        (question("check", "one", "one", "two"), ["one"], ["two", "1", ""]),
    ],
)
def test_an_answer_counts_however_it_is_written(asked: Question, right: list[str], wrong: list[str]) -> None:
    assert all(map(asked.accepts, right))
    assert not any(map(asked.accepts, wrong))


ROWS = Item("array", None, (2, 2), (1.0, 2.0, 3.0, 5.0), type="float32")
TENSORS = Item(
    "list",
    length=2,
    parts=(replace(ROWS, shape=(2,), numbers=(1.0, 2.0)), replace(ROWS, shape=(1, 3), numbers=(7.0, 8.0, 9.0))),
)
WORDS = Item("list", length=2, parts=(Item("plain", "a"), Item("plain", "b")))


@pytest.mark.parametrize(
    ("item", "given"),
    [
        (ROWS, True),
        (replace(ROWS, shape=(4,)), True),
        (replace(ROWS, numbers=(1.0, 2.0, 3.0, 4.0)), False),
        (Item("array", None, (3,), (0.0, 1.0, 2.0)), True),
        (Item("array", None, (3,), (0.0, 2.0, 1.0)), False),
        (WORDS, True),
        (replace(WORDS, parts=WORDS.parts[::-1]), False),
        (Item("plain", 2), True),
        (Item("plain", 4), True),
        (Item("plain", 3), False),
        (replace(ROWS, shape=(5,), numbers=(1.0, 2.0, 7.0, 8.0, 9.0)), True),
        (replace(ROWS, shape=(5,), numbers=(7.0, 8.0, 9.0, 1.0, 2.0)), False),
    ],
)
def test_no_value_is_asked_for_that_the_question_shows(item: Item, given: bool) -> None:
    assert (
        _is_given(
            item,
            Call("f", {"x": ROWS, "words": WORDS, "n": Item("plain", 2), "all": TENSORS}, {"size": Item("plain", 4)}),
        )
        is given
    )


@pytest.mark.parametrize(
    ("number", "asked"), [(0.5, True), (-2.0, True), (3.95e-6, False), (0.25, False), (1e4, False)]
)
def test_a_number_is_asked_for_if_it_can_be_worked_out(number: float, asked: bool) -> None:
    assert bool([*_parts("rate", Item("plain", number))]) is asked


@pytest.mark.parametrize(
    ("before", "after", "name", "found"),
    [
        ("y = a * x + bias", "y = a * x", "bias is not used", {"bias"}),
        ("y = a * x + bias", "y = a * x - bias", "the bias is subtracted, not added", {"subtracted", "added"}),
        ("y = q @ k / math.sqrt(d)", "y = q @ k", "the scores are not divided by the root of d", {"divided", "root"}),
        ("y = f(x, pad_idx)", "y = f(x)", "f learns nothing from padding", {"padding"}),
        ("v = cut(self.v_proj(x))", "v = cut(self.k_proj(x))", "the values go through k_proj", {"k_proj"}),
        ("return out", "return out.detach()", "gradients reach the input", {"gradients"}),
        ("x = positional(x)", "x = x", "the blocks get no positions", {"positions"}),
        ("c = Cache(self.window, self.sinks)", "c = Cache(self.sinks, self.window)", "no more than sinks", {"sinks"}),
        ("y = x - mean", "y = x", "the vector is divided by its root mean square", {"mean"}),
        ("y = f(x.size(1))", "y = f(x.size(0))", "the mask has the size of the batch", set()),
        ("y = x.sum(dim=-1, keepdim=True)", "y = x.sum(dim=-1)", "the sums lose their axis", set()),
        ("y = 1 if x and not z else 2", "y = 1 if x else 2", "z is not used, and y is", set()),
    ],
)
def test_an_edit_says_the_words_that_begin_like_what_it_changes(
    before: str, after: str, name: str, found: set[str]
) -> None:
    stems = _stems_of_edit(f"import torch\n{before}\n", f"import torch\n{after}\n")
    assert _words_in(name, stems) == found


@pytest.mark.parametrize(
    ("right", "other", "literal"),
    [
        ("bias is not used", "the bias is subtracted", True),
        ("the bias is left out", "the bias is subtracted", True),
        ("the scale acts on the bias", "the bias is subtracted", False),
        ("the scale acts on the bias", "the mean is subtracted", True),
        ("each number is too small", "the bias is subtracted", False),
        ("each number is not scaled", "the bias is subtracted", False),
    ],
)
def test_an_answer_is_literal_that_denies_the_edit_or_alone_has_its_words(
    right: str, other: str, literal: bool
) -> None:
    change = _Change(1, "f", "", (), "", {}, _stems_of_edit("y = a * x + bias", "y = a * x"))
    assert _is_literal(change, right, [other, right, "another"]) is literal


def test_other_checks_are_ranked_by_words_of_the_edit_then_by_function_then_by_words_of_the_line() -> None:
    code = ("1  y = scale * x + bias", "   → y = scale * x")
    change = _Change(1, "f", "", code, "", {}, _stems_of_edit(*code))
    best = [
        ("bias is trained", "g"),
        ("scale is trained", "f"),
        ("y is whole", "f"),
        ("scale is whole", "g"),
        ("", "g"),
    ]
    checks = [SimpleNamespace(title=title, of=of) for title, of in best]
    ranks = [_distance(change, "f", cast(Any, check)) for check in checks]
    assert ranks == sorted(ranks)
    assert len({*ranks}) == len(ranks)


def test_an_argument_is_passed_that_a_line_names_and_that_is_neither_none_nor_false() -> None:
    change = _Change(3, "f", "", ("3  y = self.rope(x, mask)", "   → y = self.rope(x)"), "", {})
    absent = {"mask": Item("plain", None), "x": ROWS, "deep": Item("plain", True)}
    assert _passed(Call("f", absent, {"rope": Item("plain", False)}), change) == {"x"}
    present = {"mask": ROWS, "x": Item("plain", 0)}
    assert _passed(Call("f", present, {"rope": Item("other", type="Rotation")}), change) == {"x", "mask", "rope"}


def test_a_line_is_filled_with_the_plain_arguments_of_its_call() -> None:
    quiz = SimpleNamespace(lines=["chosen = zeros(self.heads, 1, rate, names)"])
    call = Call("f", {"rate": Item("plain", 0.5), "names": WORDS}, {"heads": Item("plain", 6)})
    assert cast(Any, Quiz._filled)(quiz, call, 1) == "chosen = zeros(self.6, 1, 0.5, names)"


def test_no_shape_is_asked_for_whose_sizes_are_all_one() -> None:
    call = Call("f", {"x": Item("array", None, (1, 1, 6))}, {})
    assert _is_telling(call, Item("array", None, (1, 6, 1)))
    assert not _is_telling(call, Item("array", None, (1, 1)))


@pytest.mark.parametrize(("other", "asked"), [((2, 7), True), ((1, 1), False)])
def test_no_shape_is_asked_for_that_depends_on_numbers(other: tuple[int, int], asked: bool) -> None:
    call = Call("f", {"x": Item("array", None, (3, 5))}, {})
    quiz = SimpleNamespace(recorded={}, lines=["picked = rows(x)"], generator=random.Random(0))
    quiz._first_values = lambda _: [(call, 1, "picked", Item("array", None, shape)) for shape in ((2, 7), other)]
    quiz._hides = lambda *_, whole: False
    quiz._filled, quiz._first_time, quiz._typed = lambda *_: "", lambda _: "", lambda *parts: parts
    quiz._one_a_line = lambda found: cast(Any, Quiz._one_a_line)(quiz, found)
    assert bool([*cast(Any, Quiz._of_shapes)(quiz)]) == asked


def test_a_call_with_equal_sizes_tells_less() -> None:
    different, equal = (5, "rows", ("f gets ids (4, 5), d=7, rate=0.0, eps=7.5",), "(4, 5, 7)"), "(4, 4, 7)"
    assert _repeated(different) == 0
    assert _repeated((5, "rows", ("f gets ids (4, 4), d=7, n=7",), equal)) == 3


def test_two_questions_that_differ_in_names_only_are_alike() -> None:
    first = replace(question("shape", "(2, 3)"), code=("1  keys = self.cut(self.w_k(key), 3)",))
    other = replace(first, line=2, answer="(2, 4)", code=("2  values = self.cut(self.w_v(value), 3)",))
    assert _is_like(first, other)
    assert _is_like(first, replace(other, line=1, kind="value", code=("1  x = y",)))
    assert not _is_like(first, replace(other, code=("2  values = self.cut(value, 3)",)))
    assert not _is_like(first, replace(other, kind="value"))
    assert not _is_like(first, replace(other, exercise=SECOND.id))
    check = replace(question("check", "one", "one", "two"), code=("1  return x",))
    assert _is_like(check, replace(check, line=2))
    assert _is_like(check, replace(check, line=2, answer="two", code=("2  return y",)))
    assert not _is_like(check, replace(check, line=2, answer="two", code=("2  return x + y",)))


PROGRAMS = '''"""A docstring."""
from __future__ import annotations

import torch


def one_line(x): return x


def plain(x, *, key=1):
    """Another docstring."""
    y = x + key  # a comment
    for i in range(2): y += i
    def inner(z):
        return z
    if y > 0:
        return inner(y)
    return (
        y
    )


def generator(x):
    yield x


class Thing:
    def __init__(self, size):
        self.size = size

    @property
    def area(self):
        side = self.size; return side * side

    @staticmethod
    def made(size):
        return Thing(size)
'''


def test_a_recording_computes_what_the_program_computes(capsys: pytest.CaptureFixture[str]) -> None:
    copy = recording(PROGRAMS)
    assert copy is not None
    names: dict[str, Any] = {}
    exec(compile(copy, "program.py", "exec"), names)
    assert names["plain"](3, key=2) == 6
    assert names["Thing"].made(4).area == 16
    assert list(names["generator"](1)) == [1]
    calls = read_calls(capsys.readouterr().out)
    assert [call.function for call in calls] == ["plain", "Thing.made", "Thing.__init__"], (
        "no line of two statements is recorded"
    )
    assert [(line, name, value_text(item)) for line, name, item in calls[0].values] == [(12, "y", "5")]
    assert value_text(calls[0].result) == "6"
    assert value_text(calls[2].made["size"]) == "4"


@pytest.mark.parametrize("text", ["", "x =", "(" * 300, "x = 1\0", "# only a comment", "x = 1\n" * (1 << 17)])
def test_a_text_that_is_no_program_has_no_recording(text: str) -> None:
    assert recording(text) is None


def test_a_lost_record_makes_no_call_of_the_rest() -> None:
    records = [
        [1, "call", "f", 0, {"x": ["plain", 1]}],
        [2, "value", "f y", 5, ["plain", 2]],
        [3, "return", "f", 6, ["plain", 2]],
    ]
    lines = [MARK + json.dumps(record) for record in records]
    assert read_calls("\n".join(["noise", *lines]))[0].runs(5)
    assert read_calls("\n".join([lines[0], lines[2]])) == []
    for damaged in (
        "[]",
        "{}",
        "[1, 2]",
        '[1, "call", "f", 0, {"x": ["array", [1e400], "f", [], []]}]',
        "[" * 10_000,
        "null",
    ):
        assert read_calls(MARK + damaged) == []


NEAR = Item("array", None, (2,), (), (1.0, 2.0, 3.0, 4.0), type="float32")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (NEAR, True),
        (replace(NEAR, sums=(1.0, 2.0, 3.000001, 4.0)), True),
        (replace(NEAR, sums=(1.0, 2.0, 3.002, 4.0)), None),
        (replace(NEAR, sums=(1.0, 2.0, 4.0, 4.0)), False),
        (replace(NEAR, sums=(1.0, 2.0, float("nan"), 4.0)), False),
        (replace(NEAR, shape=(1, 2)), False),
        (replace(NEAR, type="float64"), None),
        (Item("other", type="Thing"), None),
        (None, False),
    ],
)
def test_results_that_are_near_are_neither_equal_nor_different(other: Item | None, same: bool | None) -> None:
    assert are_equal(NEAR, other) is same


@pytest.mark.worker
def test_a_course_of_plain_python_is_asked_about_too() -> None:
    course: Course = read_course(tiny.REPOSITORY / "tests" / "support" / "plain_course")
    exercise = course.exercises[0]
    source = (course.solutions_dir / exercise.file).read_text("utf-8")
    submission: Submission = submission_of(course, exercise, source)
    with open_asker(course, [exercise]) as found, found.grader.new_runner() as runner:
        questions = found.ask(submission, [exercise], 3, salt="a").questions
        assert questions
        assert [second_way.problems_of(one, submission, found.grader, runner) for one in questions] == [[]] * len(
            questions
        )
