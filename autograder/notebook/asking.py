"""`check`, `hint`, `why` and `status`: each shows a card, and raises no error that a student can cause."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from autograder.course import (
    Course,
    CourseError,
    Exercise,
    StubError,
    UsageError,
    find_course,
    read_course,
    resolve_exercise,
)
from autograder.formats import Unreadable, read_json
from autograder.progress import (
    ExerciseRow,
    Progress,
    Standing,
    count_passed,
    digest_of,
    encouragement,
    find_page,
    may_start,
    next_todo,
    no_hint_reason,
    normalize_device,
    part_sentences,
    pause_advice,
    read_progress,
    read_todos,
    rows_of,
    take_hint,
    take_start,
    way_on,
)
from autograder.report import (
    COURSE_PROBLEM,
    Command,
    WhyPage,
    ended,
    exercise_card,
    exercise_sentences,
    fact,
    hint_card,
    lines_of,
    next_sentences,
    note_card,
    number,
    points,
    points_of,
    sentences_of_page,
    state_of,
    table_card,
    todo_view,
    why_card,
)
from autograder.results import ExerciseResult, Report, Todo, from_json, opened
from autograder.submission import Notebook, SubmissionError, notebook_file, read_own

from .cells import Work, folder, forget_earlier_exercises, graded_by_nbgrader, work_folder, work_on

# The output of a notebook's cell: an HTML card, and the same as plain sentences for programs without HTML.


@dataclass(frozen=True)
class Card:
    """An HTML element, and sentences that say the same."""

    html: str
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, html: str, sentences: Iterable[str]) -> "Card":
        return cls(html, tuple(lines_of(sentences)))

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, Any]:  # noqa: ARG002
        return {"text/html": self.html, "text/plain": str(self)}


class CellOutput:
    """The output of a cell, where a new card replaces the one before."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, card: Card, *, is_progress: bool = False) -> None:
        """Show a card. A card that only reports progress is not printed outside a notebook."""
        display = _display()
        if display is None:
            if not is_progress:
                print(card)
        elif self._handle is None:
            self._handle = display(card, display_id=True)
        else:
            self._handle.update(card)


def _display() -> Any:
    """Return the function that displays output in a notebook; None outside a notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    return display if get_ipython() is not None else None


# Run a check in the process that judges, and wait for its answer.

PACKAGE = Path(__file__).parents[2]


class Problem(Exception):
    """The exercise could not be judged; the message is a sentence."""


def judge(
    course: Course,
    exercise: Exercise,
    book: Notebook | None,
    on_progress: Callable[[str], None],
    *,
    folder: Path | None = None,
    kept: bool = True,
    device: str = "cpu",
) -> tuple[Report, str]:
    """Return the report on an exercise, and a warning if the progress could not be saved, else "".

    `on_progress` gets a sentence on the answer key. `book` is the notebook as last run, if that counts. `folder` has
    the work if exercises/ does not. `kept` says whether to save the result as progress. Raises `Problem`.
    """
    live = {"source": book.source.decode("utf-8", "replace"), "cells": book.cells} if book else None
    where = str(folder) if folder else None
    asked = {"root": str(course.root), "exercise": exercise.id, "live": live, "folder": where, "kept": kept}
    request = json.dumps({**asked, "device": device})
    with tempfile.TemporaryFile() as errors:
        answer = _answer(course, request, errors, on_progress)
        if "report" in answer:
            return from_json(answer["report"]), str(answer["warning"])
        if "problem" in answer:
            raise Problem(str(answer["problem"]))
        errors.seek(0)
        last_line = errors.read()[-4000:].decode("utf-8", "replace").strip().split("\n")[-1]
    cause = f" ({last_line})" if last_line else ""
    raise Problem(f"the grader itself ended without a verdict{cause}; run the cell again")


def _answer(course: Course, request: str, errors: IO[bytes], on_progress: Callable[[str], None]) -> Mapping[str, Any]:
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "autograder.notebook.judging"],
        cwd=course.root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        encoding="utf-8",
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request)
        process.stdin.close()
        answer: Mapping[str, Any] = {}
        for line in process.stdout:
            answer = _read(line)
            if "progress" in answer:
                done, total = answer["progress"]
                on_progress(f"Comparing with known mistakes: {done} of {total}.")
        return answer
    except BrokenPipeError:
        return {}
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _read(line: str) -> Mapping[str, Any]:
    try:
        return read_json(dict[str, Any], line)
    except Unreadable:
        return {}


EXPECTED = (CourseError, UsageError, SubmissionError, StubError, Problem, OSError)
"""Errors that a student can cause: each becomes a sentence."""


class Points(float):
    """The points of an exercise; `ok` says whether it passes. A cell that ends with them shows only the card.

    Under nbgrader it shows the number too, which nbgrader takes as the score of the cell.
    """

    ok: bool = False
    __repr__ = float.__repr__

    def _ipython_display_(self) -> None:
        if graded_by_nbgrader():
            raise NotImplementedError  # which makes IPython display the number


def check(exercise: str | int | None = None, *, strict: bool = False, device: str = "cpu") -> Points:
    """Check an exercise, show the result, and return its points. With `strict`, raise if it does not pass.

    Your code runs on the `device`: cpu, cuda or mps. What is checked are the cells of the notebook as last run, or the
    file in exercises/ if that has the work.
    """
    output = CellOutput()
    earned, why_not = Points(0.0), "it could not be checked"
    try:
        course, progress, meant = _course_and(exercise)
        report, work = _judged(course, meant, output, normalize_device(device))
        [result] = report.exercises
        progress = _progress(course)
        output.show(_checked_card(course, meant, progress, result, work))
        forget_earlier_exercises()
        earned = Points(min(result.score, result.max_score) / 100)
        earned.ok = result.status == "pass"
        why_not = f"{state_of(result).word}, {points_of(result.score, result.max_score)}"
    except EXPECTED as error:
        output.show(_problem(str(error)))
        why_not = str(error)
    if strict and not earned.ok:
        raise AssertionError(f"check({exercise!r}): {why_not}")
    return earned


def hint(exercise: str | int | None = None, *, now: bool = False) -> None:
    """Show the next hint for the last failure. After the first, the code must have changed, unless `now`."""
    _show(lambda: _hint(exercise, now))


def why(misconception: str | None = None) -> None:
    """Explain a misconception, by default the one behind the last failure."""
    _show(lambda: _why(misconception))


def status() -> None:
    """Show where you are in the course."""
    _show(_status)


def _show(make: Callable[[], Card]) -> None:
    try:
        card = make()
    except UsageError as error:
        sentence = ended(opened(_TERMINAL.sub(r'`check("ex\1")`', str(error))))
        card = Card.of(note_card("Nothing to show", [sentence]), [sentence])
    except EXPECTED as error:
        card = _problem(str(error))
    CellOutput().show(card)


_TERMINAL = re.compile(r"`course check (\d\d)`")
"""What a message asks to run in a terminal, and a notebook has a function for."""


def _course_and(exercise: str | int | None) -> tuple[Course, Progress, Exercise]:
    """Return the course, the progress, and the exercise that is meant."""
    course = read_course(find_course(folder()))
    progress = _progress(course)
    meant = resolve_exercise(course, str(exercise)) if exercise is not None else progress.current(course)
    return course, progress, meant or course.exercises[-1]


def _progress(course: Course) -> Progress:
    """Return the learner's progress; none under nbgrader, because what is stored here is somebody else's."""
    return Progress() if graded_by_nbgrader() else read_progress(course)


def _judged(course: Course, exercise: Exercise, output: CellOutput, device: str) -> tuple[Report, Work]:
    title = f"{exercise.number} {exercise.title}"

    def on_progress(step: str) -> None:
        card = note_card(f"Checking {title}", [step] if step else [])
        output.show(Card.of(card, [f"Checking exercise {title}. {step}"]), is_progress=True)

    on_progress("")
    work = work_on(course, exercise)
    report, warning = judge(
        course,
        exercise,
        work.book,
        on_progress,
        folder=work_folder(course),
        kept=not graded_by_nbgrader(),
        device=device,
    )
    return report, work.noting(warning) if warning else work


def _checked_card(course: Course, exercise: Exercise, progress: Progress, result: ExerciseResult, work: Work) -> Card:
    standing = progress.of(exercise)
    advice = pause_advice(exercise, standing).replace("`course diff", "In a terminal, `course diff")
    passes = result.status == "pass"
    of_cells = work.book.notes if work.book is not None and passes else ()  # what was left out was not needed
    chosen = [note for note in work.notes if note not in of_cells]
    notes = [*filter(None, [encouragement(standing)]), *chosen, *([advice] if advice else [])]
    commands = _next(course, exercise, progress, result)
    hints = max(standing.hints_shown, 1)
    unused = standing.hints[standing.hints_shown :] if passes else ()
    html = exercise_card(
        result,
        hints_shown=hints,
        attempt=standing.attempts,
        unused_hints=unused,
        warnings=work.warnings,
        notes=notes,
        next_commands=commands,
    )
    sentences = exercise_sentences(result, [], hints, standing.attempts, unused)
    return Card.of(html, [*map(ended, [*work.warnings]), *sentences, *map(ended, notes), *next_sentences(commands)])


def _next(course: Course, exercise: Exercise, progress: Progress, result: ExerciseResult) -> list[Command]:
    again = f'check("{exercise.id[:4]}")'
    if result.status == "pass":
        following = progress.following(course, exercise)
        if following is None:
            return [("status()", "every exercise passes")]
        book = notebook_file(course, following)
        return [(book.name if book.is_file() else following.file, way_on(course, progress, exercise, following))]
    if state_of(result) is COURSE_PROBLEM:
        return [(again, "try again, when the author has mended the course")]
    if result.status == "grader_error":
        return [(again, "try again"), ("course doctor", "in a terminal: look for a problem on this machine")]
    if result.in_progress or result.status in ("not_started", "missing"):
        view = todo_view(result)
        about = [(f'hint("{exercise.id[:4]}")', f"how to begin {view.next.name}")] if view else []
        return [(again, "after you write a TODO and run its cell"), *about]
    commands = [(again, "after you change a cell and run it")]
    standing = progress.of(exercise)
    if standing.hints_shown < len(standing.hints):
        commands.append((f'hint("{exercise.id[:4]}")', "the next hint, after a change"))
    finding = result.first_failure.finding if result.first_failure else None
    if finding and finding.known_as:
        commands.append((f'why("{finding.id}")', f"explain the {finding.known_as}"))
    return commands


def _hint(asked: str | int | None, now: bool) -> Card:
    course, progress, exercise = _course_and(asked)
    title = f"{exercise.number} {exercise.title}"
    nothing = no_hint_reason(course, progress, exercise)
    if nothing:
        return Card.of(note_card(title, nothing), nothing)
    standing = progress.of(exercise)
    if (todo := _next_todo(course, exercise, standing)) is not None:
        start = take_start(course, exercise, standing, todo)
        head = f"{title}: how to begin {todo.name}, {todo.place.line_name}"
        notes = [start.warning] if start.warning else []
        sentences = [fact(start.label, start.text)]
        return Card.of(note_card(head, [*sentences, *notes]), [head, *sentences, *notes])
    if not standing.check:
        not_yet = [f'No hint yet: run check("{exercise.id[:4]}") first. Hints explain a failure.']
        return Card.of(note_card(title, not_yet), not_yet)
    taken = take_hint(course, exercise, standing, _digest(course, exercise, standing), at_once=now)
    place = len(taken.hints)
    notes = [taken.warning] if taken.warning else []
    if taken.waits_for_edit:
        notes.append(f"Hint {place + 1} comes after you change the code and run it.")
    head = f"{title}: {taken.title}"
    sentences = [fact(f"Hint {level} of {taken.total}", hint) for level, hint in enumerate(taken.hints, 1)]
    return Card.of(hint_card(head, taken.hints, taken.total, notes), [head, *sentences, *notes])


def _next_todo(course: Course, exercise: Exercise, standing: Standing) -> Todo | None:
    """Return the TODO to begin, if the last check asks for it; the cells as last run count."""
    if not may_start(standing):
        return None
    work, own = work_on(course, exercise), read_own(course, [exercise], folder=work_folder(course))
    if work.book is not None:
        cells = {**own.cells, exercise.file: work.book.cells}
        own = replace(own, sources={**own.sources, exercise.file: work.book.source}, cells=cells)
    return next_todo(read_todos(course, exercise, own))


def _digest(course: Course, exercise: Exercise, standing: Standing) -> str | None:
    source = work_on(course, exercise).source
    return digest_of(source) if source is not None else standing.hint_file


def _why(misconception: str | None) -> Card:
    course = read_course(find_course(folder()))
    progress = _progress(course)
    page, exercise = find_page(course, progress, misconception)
    title = f"{exercise.number} {exercise.title}" if exercise else page.exercise
    lesson = notebook_file(course, exercise).name if exercise else ""
    why_page = WhyPage(**{**asdict(page), "exercise": title, "lesson": lesson})
    again = [(f'check("{exercise.id[:4]}")', "after your next change")] if exercise else []
    return Card.of(why_card(why_page, again), sentences_of_page(why_page, again))


def _status() -> Card:
    course = read_course(find_course(folder()))
    progress = _progress(course)
    rows = rows_of(course, progress)
    current = progress.current(course)
    cells = [
        (f"{number(row.exercise.id)} {row.exercise.title}", row.word, row.checks, row.points, _here(row, current))
        for row in rows
    ]
    score = sum(row.score for row in rows)
    every = points(sum(exercise.points for exercise in course.exercises))
    passed = count_passed(course, progress)
    beside = (
        "; ".join(part_sentences(course, progress, rows).values()) or f"{passed}, {points(score)} of {every} points"
    )
    html = table_card(course.title, beside, ("exercise", "state", "checks", "points", ""), cells, [])
    sentences = [f"{course.title}: {beside}.", *(f"Exercise {', '.join(filter(None, row))}." for row in cells)]
    return Card.of(html, sentences)


def _here(row: ExerciseRow, current: Exercise | None) -> str:
    return "you are here" if row.exercise is current else ""


def _problem(sentence: str) -> Card:
    return Card.of(note_card("! NOT CHECKED", [sentence], kind="problem"), [ended(sentence)])
