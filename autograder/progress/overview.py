"""Where a learner is in each exercise of a course: as rows for commands and notebooks, and in words for a report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from autograder.course import Course, Exercise, Part
from autograder.report import IN_PROGRESS, STATES, State, plural, points
from autograder.submission import Handout, Submission, read_own, stubs_of

from .events import UNTRIED, Progress, Standing, digest_of, exercise_version, read_choices
from .next_steps import Command, edit_place, failure_texts, is_missing, may_start, next_todo, read_todos, stub_command

BROKEN, RECHECK = "BROKEN AGAIN", "RE-CHECK"

FileState = Literal["stub", "work", "missing"]


@dataclass(frozen=True)
class ExerciseRow:
    """One exercise with the word, mark and colour of its state.

    `checks_changed` and `file_changed` say what is new since its last check. `file` says whether its file is as handed
    out, has work, or is missing.
    """

    exercise: Exercise
    standing: Standing
    checks_changed: bool
    file: FileState = "work"
    file_changed: bool = False

    @property
    def recheck(self) -> bool:
        """Whether another check may change its state. A failure that is edited is work, and needs no such word."""
        return self.checks_changed or (self.file_changed and self.standing.ever_passed)

    @property
    def word(self) -> str:
        if self.recheck:
            return RECHECK
        return BROKEN if self.standing.broken else self._state.word

    @property
    def mark(self) -> str:
        """Return the kind of mark before the row."""
        if self.recheck:
            return "waiting"
        return "problem" if self.standing.broken else self._state.mark

    @property
    def style(self) -> str:
        """Return the colour of the row."""
        return "yellow" if self.recheck or self.standing.broken else self._state.style

    @property
    def _state(self) -> State:
        if self.file == "missing":
            return STATES["missing"]
        if self.standing.status in UNTRIED:
            return IN_PROGRESS if self.file == "work" else STATES["not_started"]
        return state_of_standing(self.standing)

    @property
    def checks(self) -> str:
        """Return how many checks pass, as text; empty if none was run."""
        standing = self.standing
        return f"{standing.passing} of {plural(standing.checks, 'check')}" if standing.checks else ""

    @property
    def score(self) -> int:
        """Return the points of the last check in hundredths, scaled to what the exercise is worth now."""
        standing = self.standing
        if not standing.max_score:
            return standing.score
        return round(standing.score * self.exercise.points / standing.max_score)

    @property
    def points(self) -> str:
        return f"{points(self.score)} of {points(self.exercise.points)} points"

    @property
    def minutes(self) -> str:
        """Return the minutes spent, and the estimate for what does not pass yet; "" if neither is known."""
        worked = self.standing.seconds_worked // 60
        estimate = f"about {self.exercise.minutes} min" if self.exercise.minutes else ""
        if not worked:
            return "" if self.standing.ever_passed else estimate
        return f"{worked} min" if self.standing.ever_passed or not estimate else f"{worked} of {estimate}"

    def to_json(self) -> dict[str, Any]:
        standing = self.standing
        return {
            "id": self.exercise.id,
            "title": self.exercise.title,
            "status": standing.status,
            "first_passed": standing.first_passed,
            "passes_now": standing.passes_now,
            "recheck": self.recheck,
            "in_progress": self._state is IN_PROGRESS,
            "passing": standing.passing,
            "checks": standing.checks,
            "score": self.score,
            "max_score": self.exercise.points,
            "runs": standing.runs,
            "hints_taken": standing.hints_taken,
            "minutes": self.exercise.minutes,
            "minutes_worked": standing.seconds_worked // 60,
        }


def state_of_standing(standing: Standing) -> State:
    """Return how the last result of an exercise is shown."""
    if standing.in_progress:
        return IN_PROGRESS
    return STATES.get(standing.status, STATES["not_started"])  # type: ignore[call-overload, no-any-return]


def count_passed(course: Course, progress: Progress) -> str:
    """Return how many exercises passed, of the course, or of the part with the exercise to work on."""
    where, exercises = course.section_of(progress.current(course))
    passed = progress.passed_among(exercises)
    return f"{passed} of {plural(len(exercises), 'exercise')} {where}passed"


def part_sentences(course: Course, progress: Progress, rows: Sequence[ExerciseRow]) -> dict[str, str]:
    """Return what is done of each part, by its first exercise, from the rows of the course; none for a single part."""
    sentences = {}
    for part, exercises in _sections(course):
        score = points(sum(row.score for row in rows if row.exercise in exercises))
        total = points(sum(exercise.points for exercise in exercises))
        passed = f"{progress.passed_among(exercises)} of {plural(len(exercises), 'exercise')} passed"
        sentences[exercises[0].id] = f"Part {part.id}, {part.title}: {passed}, {score} of {total} points"
    return sentences


def _sections(course: Course) -> tuple[tuple[Part, tuple[Exercise, ...]], ...]:
    """Return the parts with their exercises: first the one that the learner began with, and those after it."""
    sections, begun = course.sections, read_choices(course).part
    at = next((at for at, (part, _) in enumerate(sections) if part.id == begun), 0)
    return (*sections[at:], *sections[:at])


def in_order(course: Course, rows: Sequence[ExerciseRow]) -> list[ExerciseRow]:
    """Return rows from the part on that the learner began with; those of the parts before it come last."""
    order = [exercise.id for _, exercises in _sections(course) for exercise in exercises]
    return sorted(rows, key=lambda row: order.index(row.exercise.id)) if order else [*rows]


def texts_above(
    course: Course, progress: Progress, every: Sequence[ExerciseRow], rows: Sequence[ExerciseRow]
) -> list[str]:
    """Return the text above each of some rows: what is done of its part where that begins, else ""."""
    sentences = part_sentences(course, progress, every)
    found = []
    for row in rows:
        _, exercises = course.section_of(row.exercise)
        found.append(sentences.pop(exercises[0].id, ""))
    return found


def rows_of(course: Course, progress: Progress) -> list[ExerciseRow]:
    """Return a row for each exercise of the course."""
    given = stubs_of(course, course.exercises)
    own = read_own(course, given=given)
    rows = []
    for exercise in course.exercises:
        standing = progress.of(exercise)
        stale = bool(standing.runs) and standing.stale(exercise_version(course, exercise))
        file = _file_state(course, exercise, standing, own, given)
        rows.append(ExerciseRow(exercise, standing, stale, file, _has_changed(exercise, standing, own)))
    return rows


def _has_changed(exercise: Exercise, standing: Standing, own: Submission) -> bool:
    """Return whether a file differs from the one last checked. Of a notebook, the cells as last run count."""
    source = own.sources.get(exercise.file)
    if source is None or standing.file is None or exercise.file in own.cells:
        return False
    return digest_of(source) != standing.file


def select_rows(rows: Sequence[ExerciseRow], only: str | None) -> list[ExerciseRow]:
    """Return the rows that `--failing`, `--done` or `--open` asks for; all of them if `only` is None."""
    return [row for row in rows if _is_selected(row, only)]


def _is_selected(row: ExerciseRow, only: str | None) -> bool:
    passes = row.standing.passes_now and not row.recheck
    if only == "failing":
        return bool(row.standing.runs) and not passes and row.standing.status != "not_started"
    if only == "done":
        return passes
    return only != "open" or not passes


def overview_json(course: Course, progress: Progress, command: str, rows: Sequence[ExerciseRow]) -> dict[str, Any]:
    """Return the overview for `--json`: the next command, and some rows."""
    current = progress.current(course)
    return {
        "course": course.title,
        "passed": progress.passed(course),
        "current": current.id if current else None,
        "next": command,
        "exercises": [row.to_json() for row in rows],
    }


def next_command(course: Course, progress: Progress, rows: Sequence[ExerciseRow]) -> Command:
    """Return the one command to run next."""
    current = progress.current(course)
    if current is None:
        stale = any(row.checks_changed for row in rows)
        return "course check --all", "the checks have changed" if stale else "see them all pass once more"
    check = f"course check {current.number}"
    if is_missing(course, current):
        return stub_command(course, current)
    if may_start(progress.of(current)):
        todo = next_todo(read_todos(course, current))
        file = edit_place(course, todo) if todo else f"{course.exercises_dir.name}/{current.file}"
        return f"edit {file}, then: {check}", ""
    return check, ""


def _file_state(course: Course, exercise: Exercise, standing: Standing, own: Submission, given: Handout) -> FileState:
    source = own.sources.get(exercise.file)
    if source is None:
        return "work" if exercise.file in own.unread else "missing"
    if standing.status not in UNTRIED:
        return "work"
    if given.is_stub(exercise.file, source):
        return "stub"
    todos = read_todos(course, exercise, own)
    return "work" if not todos or any(todo.state in ("done", "started") for todo in todos) else "stub"


def parts_written(course: Course, progress: Progress) -> str:
    """Return how many functions of the current exercise have code, and which is next; "" unless it is in progress."""
    current = progress.current(course)
    todos = read_todos(course, current) if current is not None else ()
    todo = next_todo(todos)
    written = sum(todo.is_written for todo in todos)
    if todo is None or not (written or todo.state == "started"):
        return ""
    return f"{written} of {plural(len(todos), 'function')} written, next: {todo.name}, {todo.place.line_name}"


def notices(rows: Sequence[ExerciseRow]) -> list[str]:
    """Return what to say about exercises that broke, and about files and checks that changed."""
    broken = [row.exercise.number for row in rows if row.standing.broken and not row.recheck]
    edited = [row.exercise.number for row in rows if row.recheck and not row.checks_changed]
    stale = [row.exercise.number for row in rows if row.checks_changed]
    sentences = []
    if broken:
        which = f"Broken since they passed: {', '.join(broken)}."
        sentences.append(f"{which} They still count as passed, but earn the points of today's code.")
    if edited:
        sentences.append(f"Changed since the last check: {', '.join(edited)}. Run `course check {' '.join(edited)}`.")
    if stale:
        sentences.append(f"The checks of {', '.join(stale)} have changed since your last run. Check them again.")
    return sentences


def first_failure(course: Course, progress: Progress) -> str:
    """Return the title of the check that the current exercise fails first, or ""."""
    current = progress.current(course)
    if current is None or not progress.of(current).check or may_start(progress.of(current)):
        return ""
    return failure_texts(course, current, progress.of(current))[0]


def effort(rows: Sequence[ExerciseRow]) -> str:
    """Return how many runs, hints and minutes it took so far, and between which days."""
    runs = sum(row.standing.runs for row in rows)
    hints = sum(row.standing.hints_taken for row in rows)
    days = sorted(at[:10] for row in rows for at in (row.standing.first_at, row.standing.last_at) if at)
    span = "" if not days else f", {days[0]}" if days[0] == days[-1] else f", {days[0]} to {days[-1]}"
    minutes = sum(row.standing.seconds_worked for row in rows) // 60
    worked = f", {minutes} min of work" if minutes else ""
    return f"{plural(runs, 'run')}, {plural(hints, 'hint')} asked for{worked}{span}"


# A learner's progress as words: one line per exercise, without code and without a name.


@dataclass(frozen=True)
class ProgressLine:
    """The facts on one exercise, as words."""

    row: ExerciseRow

    @property
    def hints(self) -> str:
        """Return how many hints were taken, and how."""
        standing = self.row.standing
        extra = [f"{standing.hints_now} without an edit"] if standing.hints_now else []
        extra += ["solution shown"] if standing.solution_shown else []
        return str(standing.hints_taken) + (f" ({', '.join(extra)})" if extra else "")

    @property
    def first_passed(self) -> str:
        """Return the day of the first pass, or `no`."""
        passed = self.row.standing.first_passed
        return "no" if passed is None else passed[:10] or "yes"

    @property
    def days(self) -> str:
        """Return the first and the last day of work."""
        first, last = ((at or "")[:10] for at in (self.row.standing.first_at, self.row.standing.last_at))
        return first if first == last else f"{first} to {last}"

    @property
    def sentence(self) -> str:
        row = self.row
        state = f"{row.exercise.number} {row.exercise.title}: {row.word}"
        if not row.standing.runs:
            return state
        passed = f"first passed: {self.first_passed}"
        counts = (row.checks, row.points, plural(row.standing.runs, "run"), f"hints: {self.hints}")
        facts = (*counts, passed, f"worked on: {self.days}" if self.days else "")
        return f"{state}; {', '.join(filter(None, facts))}"

    @property
    def cells(self) -> tuple[str, ...]:
        row = self.row
        title = f"{row.exercise.number} {row.exercise.title}"
        score = f"{points(row.score)} of {points(row.exercise.points)}"
        checks = row.checks.removesuffix("s").removesuffix(" check")
        counts = (checks, score, str(row.standing.runs), self.hints)
        return (title, row.word, *counts, self.first_passed, self.days)

    def to_json(self) -> dict[str, Any]:
        standing = self.row.standing
        return {
            **self.row.to_json(),
            "hints_without_an_edit": standing.hints_now,
            "solution_shown": standing.solution_shown,
            "resets": standing.resets,
            "first_at": standing.first_at,
            "last_at": standing.last_at,
        }


def report_json(course: Course, progress: Progress, lines: Sequence[ProgressLine]) -> dict[str, Any]:
    """Return the progress for `--json`."""
    exercises = [line.to_json() for line in lines]
    return {"course": course.title, "passed": progress.passed(course), "exercises": exercises}


def summary(course: Course, progress: Progress, lines: Sequence[ProgressLine]) -> list[str]:
    """Return the progress in sentences: exercises and points, of each part if there are several, runs and hints."""
    score = sum(line.row.score for line in lines)
    most = sum(exercise.points for exercise in course.exercises)
    rows = [line.row for line in lines]
    total = f"{count_passed(course, progress)}, {points(score)} of {points(most)} points in the last checks"
    standings = [progress.of(exercise) for exercise in course.exercises]
    asked, right = (sum(getattr(one, name) for one in standings) for name in ("quiz_asked", "quiz_right"))
    quiz = [f"{right} of {plural(asked, 'question')} about your own programs right"] if asked else []
    return [*(part_sentences(course, progress, rows).values() or [total]), effort(rows), *quiz]
