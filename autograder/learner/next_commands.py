"""The commands to run next: after a check, a hint, an explanation or a refusal."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from autograder.course import Course, Exercise
from autograder.course.model import Activity
from autograder.learner.progress import Progress
from autograder.submission.files import SubmissionError
from autograder.submission.own_work import notebook_file, read_own, stub_command

if TYPE_CHECKING:
    from autograder.learner.start import StartHint
    from autograder.results import ExerciseResult, Report

Command: TypeAlias = tuple[str, str]
"""A command, and what it does."""

MOST_FAILURES = 3
"""A list of more commands than this is not read."""

UNWRITTEN = ("not_started", "missing")


def edit_command(course: Course, exercise: Exercise, does: str) -> Command:
    """Return the command that edits the file of an exercise."""
    return f"edit {_own_file(course, exercise).relative_to(course.exercises_dir.parent).as_posix()}", does


def _own_file(course: Course, exercise: Exercise) -> Path:
    """Return the file of an exercise that counts: a notebook if the work is there."""
    try:
        in_notebook = exercise.file in read_own(course, [exercise]).cells
    except SubmissionError:
        in_notebook = False
    return notebook_file(course, exercise) if in_notebook else course.exercises_dir / exercise.file


def after_check(course: Course, report: "Report", progress: Progress) -> list[Command]:
    """Return what to do after a check of your own exercises: fix the first failure, or move on."""
    from autograder.report.exercise_summary import shown_first
    from autograder.report.states import COURSE_PROBLEM, state_of

    failing = shown_first(report)
    if failing is None:
        return _after_pass(course, report, progress)
    exercise = course.exercise(failing.id)
    again = f"course check {exercise.number}"
    if state_of(failing) is COURSE_PROBLEM:
        return [(f"course validate {exercise.number}", "for the author: shows the problem again"), (again, "try again")]
    if failing.status == "grader_error":
        return [(again, "try again"), ("course doctor", "look for a problem on this machine")]
    return _after_failure(course, exercise, failing, progress, again)


def _after_failure(
    course: Course, exercise: Exercise, result: "ExerciseResult", progress: Progress, again: str
) -> list[Command]:
    finding = result.first_failure.finding if result.first_failure else None
    place = finding.place if finding else None
    file = os.path.relpath(_own_file(course, exercise))
    if result.status == "missing":
        return [stub_command(course, exercise), (again, "after your next edit")]
    if result.in_progress or result.status == "not_started":
        return _to_write(course, exercise, result, again)
    line = f":{place.line}" if place and place.file == exercise.file else ""
    commands = [(f"edit {file}{line}", f"then {again}")]
    standing = progress.of(exercise)
    if standing.hints_shown < len(standing.hints):
        commands.append((f"course hint {exercise.number}", "the next hint, after an edit"))
    if finding and finding.known_as:
        commands.append((f"course why {finding.id}", f"explain the {finding.known_as}"))
    elif finding and finding.evidence:
        commands.append((f"course diff {exercise.number}", "show every measurement"))
    elif len(result.prints) > 1:
        commands.append((f"course diff {exercise.number}", "show all that your code printed"))
    return commands


def _to_write(course: Course, exercise: Exercise, result: "ExerciseResult", again: str) -> list[Command]:
    """Return what to do where a TODO is to be written next."""
    from autograder.learner.start import edit_place
    from autograder.report.todo_view import todo_view

    view = todo_view(result)
    if view is None:
        file = os.path.relpath(_own_file(course, exercise))
        return [(f"edit {file}", "each TODO says what to write"), (again, "after your next edit")]
    commands = [(f"edit {edit_place(course, view.next)}", f"then {again}")]
    functions = [todo for todo in result.todos if todo.is_written and "." not in todo.name]
    unchecked = next((function.name for function in functions if not function.checks), None)
    if unchecked and course.steps_file(exercise).is_file():
        commands.append((f"course try {exercise.number}", f"the lesson's example with {unchecked}"))
    return [*commands, (f"course hint {exercise.number}", f"how to begin {view.next.name}")]


def _after_pass(course: Course, report: "Report", progress: Progress) -> list[Command]:
    """Return the way on, and before it the reference solution if only one exercise was checked."""
    from autograder.learner.next_exercise import way_on

    commands = []
    exercise = course.exercise(report.exercises[0].id) if len(report.exercises) == 1 else None
    if exercise is not None:
        if (course.solutions_dir / exercise.file).is_file():
            commands.append((f"course solution {exercise.number}", "compare with the reference solution"))
        commands += [(f"course play {activity.id}", activity.title) for activity in _ready(course, progress, exercise)]
    current = progress.current(course)
    if current is not None:
        commands.append(("course next", way_on(course, progress, exercise, current)))
    return commands


def _ready(course: Course, progress: Progress, exercise: Exercise) -> Iterator[Activity]:
    """Yield the activities that use an exercise, and for which every exercise passes."""
    for activity in course.play:
        used = [needed for id_ in activity.needs for needed in course.with_all_needs(course.exercise(id_))]
        if exercise in used and all(progress.of(needed).passes_now for needed in used):
            yield activity


def after_submission(course: Course, report: "Report", submission: Path) -> list[Command]:
    """Return the commands that show the other failures of somebody's submission; the first is on the screen."""
    failing = [result for result in report.exercises if result.status not in ("pass", *UNWRITTEN)]
    return [
        (f"course check {course.exercise(result.id).number} --submission {submission}", f"what fails in {result.title}")
        for result in failing[1 : MOST_FAILURES + 1]
    ]


def after_hint(course: Course, exercise: Exercise, level: int, total: int) -> list[Command]:
    """Return what to do after hint `level` of `total`."""
    number = exercise.number
    if level < total:
        return [
            edit_command(course, exercise, f"then course check {number}"),
            (f"course hint {number}", f"hint {level + 1} of {total}, after an edit"),
            (f"course hint {number} --now", "the same, without an edit"),
        ]
    check = (f"course check {number}", "that was the last hint")
    if (course.solutions_dir / exercise.file).is_file():
        arrange = f"course arrange {number}", "order the lines of a right program"
        return [check, arrange, (f"course solution {number}", "if the hint does not help")]
    return [check]


def after_start(course: Course, exercise: Exercise, start: "StartHint") -> list[Command]:
    """Return what to do after a text on how to begin a TODO."""
    from autograder.learner.start import edit_place

    number = exercise.number
    commands = [(f"edit {edit_place(course, start.todo)}", f"then course check {number}")]
    if start.level < start.total:
        commands.append((f"course hint {number}", f"more on {start.todo.name}"))
    return commands


def after_explanation(progress: Progress, exercise: Exercise) -> list[Command]:
    """Return what to do after `course why`."""
    standing = progress.of(exercise)
    check = f"course check {exercise.number}"
    if standing.passes_now or not standing.runs:
        return [(check, "")]
    return [(f"course diff {exercise.number}", "show every measurement"), (check, "after your next edit")]


def after_refusal(exercise: Exercise, result: "ExerciseResult", submission: Path | None) -> Sequence[Command]:
    """Return the command that leads to the exercise that `course play` cannot use."""
    if result.status == "not_started" and not result.in_progress and submission is None:
        return [(f"course next {exercise.number}", "move on to this exercise")]
    source = f" --submission {submission}" if submission is not None else ""
    return [(f"course check {exercise.number}{source}", "what is wrong, and where")]
