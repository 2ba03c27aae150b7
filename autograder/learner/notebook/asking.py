"""`check`, `hint`, `why` and `status`: each shows a card, and raises no error that a student can cause."""

from collections.abc import Callable
from dataclasses import asdict, replace

from autograder.course import Course, CourseError, Exercise, find_course, read_course
from autograder.course.names import UsageError, resolve_exercise
from autograder.course.stubs import StubError
from autograder.learner.checking import encouragement, normalize_device, pause_advice
from autograder.learner.hints import no_hint_reason, take_hint
from autograder.learner.misconception_page import find_page
from autograder.learner.next_exercise import way_on
from autograder.learner.notebook.cards import Card, CellOutput
from autograder.learner.notebook.earlier import forget_earlier_exercises
from autograder.learner.notebook.process import Problem, judge
from autograder.learner.notebook.runs import folder, graded_by_nbgrader
from autograder.learner.notebook.work import Work, work_folder, work_on
from autograder.learner.overview import ExerciseRow, count_passed, part_sentences, rows_of
from autograder.learner.progress import Progress, Standing, read_progress
from autograder.learner.progress.digests import digest_of
from autograder.learner.start import may_start, next_todo, read_todos, take_start
from autograder.messages.todos import line_of
from autograder.report.exercise_summary import number
from autograder.report.html import Command, exercise_card, hint_card, note_card, table_card, why_card
from autograder.report.plain import exercise_sentences, fact, next_sentences
from autograder.report.printable import ended
from autograder.report.quantities import points, points_of
from autograder.report.states import COURSE_PROBLEM, state_of
from autograder.report.todo_view import todo_view
from autograder.report.why import WhyPage, sentences_of_page
from autograder.results import ExerciseResult, Report, Todo
from autograder.submission import SubmissionError
from autograder.submission.own_work import notebook_file, read_own

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
    except EXPECTED as error:
        card = _problem(str(error))
    CellOutput().show(card)


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
    notes = [*filter(None, [encouragement(standing)]), *work.notes, *([advice] if advice else [])]
    commands = _next(course, exercise, progress, result)
    hints = max(standing.hints_shown, 1)
    unused = standing.hints[standing.hints_shown :] if result.status == "pass" else ()
    html = exercise_card(
        result,
        hints_shown=hints,
        attempt=standing.attempts,
        unused_hints=unused,
        notes=notes,
        next_commands=commands,
    )
    sentences = exercise_sentences(result, [], hints, standing.attempts, unused)
    return Card.of(html, [*sentences, *map(ended, notes), *next_sentences(commands)])


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
        head = f"{title}: how to begin {todo.name}, {line_of(todo.place)}"
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
