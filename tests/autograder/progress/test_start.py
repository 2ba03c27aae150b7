"""How a learner is helped to begin: the next TODO, and the texts of the course on it."""

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import Course, UsageError, read_course
from autograder.progress import (
    ExerciseRow,
    Standing,
    digest_of,
    lesson_paragraphs,
    may_start,
    missing_sentence,
    next_command,
    next_todo,
    notices,
    parts_written,
    read_progress,
    read_todos,
    rows_of,
    take_hint,
    take_start,
)
from autograder.progress.next_steps import start_texts
from autograder.progress.session import missing
from autograder.results import Todo
from autograder.submission import notebook_file, read_own
from tests.support import tiny

SECOND = tiny.FILES[1]
POWER = '    raise NotImplementedError("ex02: matrix_power")'


@pytest.fixture
def begun(tmp_path: Path) -> Course:
    """A course whose second exercise is half written; it says how to begin one of its TODOs."""
    root = tiny.copied(tmp_path / "course")
    tiny.replaced(root / "exercises" / SECOND, POWER, "    return a")
    return tiny.course_at(root)


def the_next(course: Course, at: int = 1) -> Todo:
    todo = next_todo(read_todos(course, course.exercises[at]))
    assert todo is not None
    return todo


def test_the_next_todo_is_the_first_without_code(begun: Course) -> None:
    assert the_next(begun, 0).name == "running_mean"
    assert (the_next(begun).name, the_next(begun).place.line) == ("mean_power", 23)


def test_a_file_that_python_cannot_read_has_no_todos(begun: Course) -> None:
    (begun.exercises_dir / SECOND).write_text("def (", "utf-8")
    assert read_todos(begun, begun.exercises[1]) == ()


def test_the_texts_of_the_course_say_how_to_begin_else_the_comment_of_the_stub(begun: Course) -> None:
    exercise, todo = begun.exercises[1], the_next(begun)
    assert start_texts(begun, exercise, todo) == (
        "running_mean of exercise 1 does most of it."
        " The lesson at the top of exercises/ex02_matrix_power.py explains what it needs.",
    )
    written = replace(exercise, start={"mean_power": ("Read.", "Begin.")})
    assert start_texts(begun, written, todo) == ("Read.", "Begin.")


def test_the_texts_come_one_after_the_other_and_the_last_stays(begun: Course) -> None:
    exercise = replace(begun.exercises[1], start={"mean_power": ("Read.", "Begin.")})
    seen = []
    for _ in range(3):
        standing = read_progress(begun).of(exercise)
        seen.append(take_start(begun, exercise, standing, the_next(begun)))
    assert [(start.label, start.text) for start in seen] == [
        ("Hint 1 of 2", "Read."),
        ("Hint 2 of 2", "Begin."),
        ("Hint 2 of 2", "Begin."),
    ]
    assert read_progress(begun).of(exercise).hints_taken == 3, "each request counts"


def test_only_work_without_a_failure_is_to_be_begun() -> None:
    assert may_start(Standing())
    assert may_start(Standing(status="fail", in_progress=True))
    assert not may_start(Standing(status="fail"))


def test_the_overview_names_the_next_function_and_its_line(begun: Course) -> None:
    progress = replace(read_progress(begun), here=begun.exercises[1].id)
    rows = rows_of(begun, progress)
    assert [row.word for row in rows] == ["NOT STARTED", "IN PROGRESS"]
    assert parts_written(begun, progress) == "1 of 2 functions written, next: mean_power, line 23"
    assert "ex02_matrix_power.py:23, then: course check 02" in next_command(begun, progress, rows)[0]


def test_the_list_has_the_estimate_and_the_minutes_of_work(begun: Course) -> None:
    exercise = replace(begun.exercises[0], minutes=20)
    assert ExerciseRow(exercise, Standing(), False).minutes == "about 20 min"
    assert ExerciseRow(exercise, Standing(seconds_worked=300), False).minutes == "5 of about 20 min"
    assert ExerciseRow(exercise, Standing(first_passed="", seconds_worked=300), False).minutes == "5 min"
    assert ExerciseRow(begun.exercises[0], Standing(), False).minutes == ""


def test_a_deleted_file_is_missing_and_reset_brings_it_back(begun: Course) -> None:
    (begun.exercises_dir / tiny.FILES[0]).unlink()
    progress = read_progress(begun)
    rows = rows_of(begun, progress)
    assert [row.word for row in rows] == ["MISSING", "IN PROGRESS"]
    assert next_command(begun, progress, rows) == ("course reset 01", "restores the stub")


def test_a_missing_file_that_has_another_name_is_to_be_renamed(begun: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(begun.root)
    (begun.exercises_dir / tiny.FILES[0]).rename(begun.exercises_dir / "ex01_runningmean.py")
    command = f"mv exercises/ex01_runningmean.py exercises/{tiny.FILES[0]}"
    progress = read_progress(begun)
    assert next_command(begun, progress, rows_of(begun, progress))[0] == command
    assert f"`{command}` gives that file its name" in missing_sentence(begun, begun.exercises[0])
    assert missing(begun.exercises_dir, tiny.FILES[0]) == "is missing: rename ex01_runningmean.py if that is the one"
    (begun.exercises_dir / "ex01_runningmean.py").rename(begun.exercises_dir / "notes.py")
    assert "course reset 01" in missing_sentence(begun, begun.exercises[0])


def test_a_file_that_changed_since_it_passed_is_to_be_checked_again(begun: Course) -> None:
    first, second = begun.exercises
    file = begun.exercises_dir / first.file
    checked = Standing("pass", runs=2, first_passed="2026-03-01", file=digest_of(file.read_bytes()))
    failed = replace(checked, first_passed=None, status="fail", file="before")
    progress = replace(read_progress(begun), standings={first.id: checked, second.id: failed})
    assert [row.word for row in rows_of(begun, progress)] == ["PASS", "FAIL"], "a failure that is edited stays one"
    assert notices(rows_of(begun, progress)) == []
    file.write_text(file.read_text("utf-8") + "# edited\n", "utf-8")
    for standing in (checked, replace(checked, status="fail")):
        rows = rows_of(begun, replace(progress, standings={first.id: standing}))
        assert rows[0].word == "RE-CHECK"
        assert notices(rows) == ["Changed since the last check: 01. Run `course check 01`."]
    broken = replace(checked, status="fail", file=digest_of(file.read_bytes()))
    [sentence] = notices(rows_of(begun, replace(progress, standings={first.id: broken})))
    assert sentence.startswith("Broken since they passed: 01.")


def test_the_rows_read_the_folder_once(begun: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    monkeypatch.setattr(
        "autograder.progress.overview.read_own", lambda *args, **more: reads.append(args) or read_own(*args, **more)
    )
    rows = rows_of(begun, read_progress(begun))
    assert len(rows) == len(begun.exercises) > len(reads) == 1


def test_in_a_course_that_was_never_built_the_next_command_builds_it(begun: Course) -> None:
    for file in tiny.FILES:
        (begun.exercises_dir / file).unlink()
    progress = read_progress(begun)
    assert next_command(begun, progress, rows_of(begun, progress)) == ("course build", "makes the stubs")
    made = f"There is no file exercises/{tiny.FILES[0]}: `course build` makes the stubs."
    assert missing_sentence(begun, begun.exercises[0]) == made


def test_work_in_a_notebook_that_was_never_checked_is_in_progress(begun: Course) -> None:
    book = notebook_file(begun, begun.exercises[0])
    book.parent.mkdir(exist_ok=True)
    book.write_bytes(tiny.notebook(tiny.MEAN))
    for folder_has_the_stub_too in (True, False):
        if not folder_has_the_stub_too:
            (begun.exercises_dir / tiny.FILES[0]).unlink()
        assert next(row.word for row in rows_of(begun, read_progress(begun))) == "IN PROGRESS"


@pytest.mark.parametrize("status", ["fail", "error", "timeout", "memory", "grader_error"])
def test_a_result_without_hints_is_not_called_unchecked(begun: Course, status: str) -> None:
    with pytest.raises(UsageError, match="no hint for the last failure of ex01"):
        take_hint(begun, begun.exercises[0], Standing(status=status, runs=1), None, at_once=False)


def test_the_beginning_of_a_lesson_announces_nothing_that_is_not_shown(begun: Course) -> None:
    exercise = begun.exercises[0]
    lesson = "# # ex01\n#\n# A [mean](https://en.wikipedia.org/wiki/Mean). Its *formula*:\n#\n# $$m$$\n"
    (begun.exercises_dir / exercise.file).write_text(lesson, "utf-8")
    assert lesson_paragraphs(begun, exercise) == ["A mean. Its formula."]


def test_no_lesson_begins_with_the_commands_of_latex() -> None:
    course = read_course(tiny.REPOSITORY)
    begun = " ".join(text for exercise in course.every for text in lesson_paragraphs(course, exercise))
    assert not set("\\{}$") & set(begun)
