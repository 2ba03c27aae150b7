"""A learner's progress as words: one line per exercise, without code and without a name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.course import Course
from autograder.learner.overview import ExerciseRow, count_passed, effort, part_sentences
from autograder.learner.progress import Progress
from autograder.report.quantities import plural, points


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
        facts = (row.checks, row.points, plural(row.standing.runs, "run"), f"hints: {self.hints}", passed, self.days)
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
    return [*(part_sentences(course, progress, rows).values() or [total]), effort(rows)]
