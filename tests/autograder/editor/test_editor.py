"""What `course lsp` shows of a result: ranges, messages, lenses, shapes, and the stub of a function."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol.types import DiagnosticSeverity, Position

from autograder.course import UsageError
from autograder.editor.command_lsp import BoundedInput
from autograder.editor.server import (
    LINE_END,
    MOST_FACTS,
    diagnostic_of,
    exercise_of,
    explanation,
    lenses,
    next_hint,
    shape_hints,
    stub_of_function,
)
from autograder.results import Certainty, CheckResult, Evidence, ExerciseResult, Finding, Place, Todo
from tests.support import tiny

FILE = Path("/course/exercises") / tiny.FILES[0]
TEXT = "def running_mean(x):\n    y = '𝛼'; z = x.sum()  \n    return z\n"
EXERCISE = tiny.COURSE.exercise(tiny.FIRST)


def utf16(text: str) -> int:
    """Return the length of a text as most editors count it."""
    return len(text.encode("utf-16-le")) // 2


def failing(place: Place | None = None, **fields: object) -> ExerciseResult:
    """Return a result whose only check fails, with one TODO."""
    finding = Finding("misconception", "not_divided", "The sum is not divided.", place=place, **fields)
    check = CheckResult("values", "each is the mean", "fail", 0, 100, finding=finding)
    todo = Todo("running_mean", "done", Place(FILE.name, 2), ("values",))
    return ExerciseResult(tiny.FIRST, "running mean", "fail", 0, 100, (check,), todos=(todo,))


def test_the_marked_characters_are_counted_in_the_units_of_the_editor() -> None:
    column = TEXT.split("\n")[1].index("x.sum")
    found = diagnostic_of(failing(Place(FILE.name, 2, column=column, end=column + 7)), FILE, TEXT, utf16)
    assert found is not None
    start, end = found.range.start, found.range.end
    assert (start, end) == (Position(1, column + 1), Position(1, column + 8))
    assert found.severity == DiagnosticSeverity.Error
    assert (found.code, found.source) == ("not_divided", "course")
    assert found.message == "The sum is not divided.\nCheck: each is the mean."


@pytest.mark.parametrize(
    ("place", "begin", "end"),
    [
        (Place(FILE.name, 2), Position(1, 4), Position(1, 25)),
        (Place(FILE.name, 2, column=4, end=2), Position(1, 4), Position(1, 25)),
        (Place(FILE.name, 2, column=900), Position(1, 4), Position(1, 25)),
        (Place(FILE.name, 90, column=3), Position(89, 0), Position(89, LINE_END)),
        (None, Position(0, 0), Position(0, 20)),
    ],
)
def test_a_range_without_marked_characters_is_the_line(place: Place | None, begin: Position, end: Position) -> None:
    found = diagnostic_of(failing(place), FILE, TEXT, utf16)
    assert found is not None
    assert (found.range.start, found.range.end) == (begin, end)


def test_a_failure_in_a_notebook_or_in_another_file_has_no_line_here() -> None:
    assert diagnostic_of(failing(Place("ex01_running_mean.ipynb", 2, cell=3)), FILE, TEXT, utf16) is None
    assert diagnostic_of(failing(Place(tiny.FILES[1], 2)), FILE, TEXT, utf16) is None


def test_a_place_that_is_only_probable_says_so() -> None:
    place = Place(FILE.name, 2)
    evidence = Evidence("result", (("max", "1", "2"),))
    known = failing(place, label="not divided", evidence=evidence, certainty=Certainty.ALIKE)
    sure = diagnostic_of(known, FILE, TEXT, utf16)
    unsure = diagnostic_of(failing(place, certainty=Certainty.LIKELY, evidence=evidence), FILE, TEXT, utf16)
    assert sure is not None
    assert "Here: set here: not divided." in sure.message
    assert unsure is not None
    assert "Here: probably here." in unsure.message


def test_related_information_has_a_proof_the_last_facts_and_the_lines_that_agree() -> None:
    rows = (("shape", "(5,)", "(5,)"), *((f"row {n}", "1", "2") for n in range(9)))
    result = failing(Place(FILE.name, 3), evidence=Evidence("result", rows), agrees=(2,), certainty=Certainty.SHOWN)
    found = diagnostic_of(result, FILE, TEXT, utf16)
    assert found is not None
    assert found.related_information is not None
    texts = [one.message for one in found.related_information]
    assert texts[0] == "One change at line 3 makes this check pass."
    assert len(texts) == 1 + MOST_FACTS + 1
    assert not any("as expected." in text for text in texts[:-1])
    assert texts[-1] == "This line agrees with what is expected."
    assert found.related_information[-1].location.range.start == Position(1, 4)


def test_a_pass_and_a_missing_file_have_no_diagnostic() -> None:
    passed = replace(failing(), status="pass", checks=(CheckResult("values", "t", "pass", 100, 100),))
    missing = replace(failing(), status="missing", checks=(CheckResult("values", "t", "missing", 0, 100),))
    assert diagnostic_of(passed, FILE, TEXT, utf16) is None
    assert diagnostic_of(missing, FILE, TEXT, utf16) is None


def test_lenses_stand_at_the_functions_as_they_are_now() -> None:
    moved = f"# a new line\n{TEXT}"
    top, own = lenses(EXERCISE, failing(), moved)
    assert top.command is not None
    assert own.command is not None
    assert top.command.title == "01 running mean: FAIL, 0 of 1 check passes"
    assert (own.range.start.line, own.command.title) == (1, "✗ running_mean (0 of 1 check)")
    assert own.command.command == "course.hint"
    unreadable = lenses(EXERCISE, failing(), "def (")
    assert unreadable[1].range.start.line == 1, "the line of the check"


@pytest.mark.parametrize(("state", "title"), [("open", "○ to write"), ("started", "… in progress")])
def test_the_lens_of_a_todo_says_how_to_begin(state: str, title: str) -> None:
    todo = Todo("running_mean", state, Place(FILE.name, 2), ("values",))
    check = CheckResult("values", "t", "not_started", 0, 100)
    result = ExerciseResult(tiny.FIRST, "running mean", "not_started", 0, 100, (check,), todos=(todo,))
    command = lenses(EXERCISE, result, TEXT)[1].command
    assert command is not None
    assert (command.title, command.command) == (f"{title}: show how to begin", "course.hint")


SHAPES = """def forward(self, x):
    y = x.reshape(
        2, 3)
    a, b = y, y
    n = y.sum()
    both = [y, y]
    return y
"""


def test_shapes_stand_behind_statements_that_make_one_tensor() -> None:
    shapes = dict.fromkeys(range(1, 8), ("values", (2, 3))) | {5: ("values", ()), 7: ("axes", (3,))}
    hints = shape_hints(shapes, SHAPES, SHAPES, utf16)
    assert [(hint.position.line, hint.label) for hint in hints] == [(2, "(2, 3)"), (6, "(3,)")]
    assert "in the first trial of the check axes" in str(hints[1].tooltip)
    edited = SHAPES.replace("2, 3)", "3, 2)")
    assert [hint.position.line for hint in shape_hints(shapes, SHAPES, edited, utf16)] == [6]
    assert shape_hints(shapes, "def (", "def (", utf16) == []


def test_the_stub_of_a_function_replaces_its_lines() -> None:
    line = tiny.MEAN.split("\n").index(tiny.RUNNING) + 1
    found = stub_of_function(tiny.COURSE, EXERCISE, tiny.MEAN, line)
    assert found is not None
    name, first, last, new = found
    assert name == "running_mean"
    lines = tiny.MEAN.splitlines()
    assert lines[first - 1].startswith("def running_mean")
    assert first <= line <= last
    text = "\n".join([*lines[: first - 1], new, *lines[last:]])
    assert 'raise NotImplementedError("ex01: running_mean")' in text
    compile(text, FILE.name, "exec")
    at = text.split("\n").index(new.split("\n")[0]) + 1
    assert stub_of_function(tiny.COURSE, EXERCISE, text, at) is None, "it is the stub's already"


def test_nothing_is_reset_outside_a_function_or_in_a_text_that_cannot_be_parsed() -> None:
    assert stub_of_function(tiny.COURSE, EXERCISE, tiny.MEAN, 1) is None
    assert stub_of_function(tiny.COURSE, EXERCISE, "def (", 1) is None


def test_only_a_file_of_the_course_is_an_exercise(course: Path) -> None:
    own = tiny.course_at(course)
    assert exercise_of(own, course / "exercises" / tiny.FILES[0]) == own.exercise(tiny.FIRST)
    assert exercise_of(own, course / tiny.FILES[0]) is None
    assert exercise_of(own, course / "exercises" / "notes.py") is None


def test_a_hint_and_an_explanation_that_do_not_exist_are_usage_errors(course: Path) -> None:
    own = tiny.course_at(course)
    (course / "exercises" / tiny.FILES[0]).write_text(tiny.MEAN, "utf-8")
    with pytest.raises(UsageError, match="hints explain a failure"):
        next_hint(own, own.exercise(tiny.FIRST))
    with pytest.raises(UsageError, match="nosuch"):
        explanation(own, "nosuch")


HEADERS = {
    "beyond any memory": b"Content-Length: 99999999999999999999",
    "too much": b"Content-Length: 67108865",
    "too many digits": b"Content-Length: " + b"9" * 5000,
    "negative": b"Content-Length: -5",
    "nothing": b"Content-Length: 0",
    "no number": b"Content-Length: five",
    "empty": b"Content-Length: ",
    "missing": b"Content-Type: text/plain",
}


@pytest.mark.parametrize("header", HEADERS)
def test_an_absurd_header_is_refused(header: str) -> None:
    stream = BoundedInput(BytesIO(HEADERS[header] + b"\r\n\r\n{}"))
    with pytest.raises(UsageError, match=r"^the editor sent a message with .* from 1 to 67108864$"):
        list(iter(stream.readline, b""))


def test_the_largest_message_is_read() -> None:
    stream = BoundedInput(BytesIO(b"Content-Length: 67108864\r\n\r\n{}"))
    assert stream.readline() + stream.readline() == b"Content-Length: 67108864\r\n\r\n"
    assert stream.read(2) == b"{}"
