"""The summary of a class: submissions, mean, frequent misconceptions, and who needs a look."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.report.exercise_summary import held_sentence, message_of, notes, number, student
from autograder.report.failure_view import failure_view
from autograder.report.printable import one_line
from autograder.report.quantities import listed, plural, points
from autograder.report.states import state_of
from autograder.results.model import NOT_JUDGED, CheckResult, ExerciseResult, Report

UNREADABLE = ("SyntaxError", "IndentationError", "TabError")
FILES = (
    "OSError",
    "BlockingIOError",
    "BrokenPipeError",
    "ConnectionError",
    "ConnectionRefusedError",
    "FileExistsError",
    "FileNotFoundError",
    "IsADirectoryError",
    "NotADirectoryError",
    "PermissionError",
    "ProcessLookupError",
)
UNUSUAL = frozenset((*UNREADABLE, *FILES, "SystemExit"))
"""Exceptions of files that Python cannot read, and of code that uses files, the network, processes, or ends them."""


@dataclass(frozen=True)
class ClassSummary:
    """A class in numbers: points in hundredths, misconceptions as `(name, id, students)`, and `(student, why)`."""

    submissions: int
    without_score: int
    full: int
    mean: float
    max_score: int
    misconceptions: tuple[tuple[str, str, int], ...]
    need_a_look: tuple[tuple[str, str], ...]

    @property
    def sentence(self) -> str:
        """Return how many were graded, how many have full marks, and the mean."""
        count = plural(self.submissions, "submission")
        if self.without_score:
            count = f"{count}, {self.without_score} without a score"
        return f"{count}, {self.full} with full marks, mean {self.mean / 100:.1f} of {points(self.max_score)} points"


def summarize(reports: Sequence[Report], maximum: int | None = None) -> ClassSummary:
    """Summarise a class. A misconception counts once a student; the most frequent comes first.

    `maximum` leaves out the points of bonus exercises; without it, it is that of the reports.
    """
    most = max((report.max_score for report in reports), default=0) if maximum is None else maximum
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for report in reports:
        theirs = _misconceptions(report)
        names |= theirs
        counts.update(theirs.keys())
    marked = [report for report in reports if report.has_score]
    by_urgency = sorted(reports, key=lambda report: report.has_score)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ClassSummary(
        submissions=len(reports),
        without_score=len(reports) - len(marked),
        full=sum(0 < most <= report.score for report in marked),
        mean=sum(report.score for report in marked) / len(marked) if marked else 0.0,
        max_score=most,
        misconceptions=tuple((names[key], key, count) for key, count in ordered),
        need_a_look=tuple((student(report), why) for report in by_urgency for why in _reasons(report)),
    )


def _misconceptions(report: Report) -> dict[str, str]:
    """Return the misconceptions in one report, id to name."""
    findings = (check.finding for exercise in report.exercises for check in exercise.checks)
    named = (finding for finding in findings if finding is not None and finding.kind == "misconception")
    return {one_line(finding.id): one_line(finding.name or finding.id) for finding in named}


def _reasons(report: Report) -> list[str]:
    """Return why a person should look at a submission.

    It is held, the grader failed, the intake has notes, or a file is missing, unreadable or does unusual things.
    """
    reasons = [held_sentence(report)] if report.is_held else []
    for exercise in report.exercises:
        faulty = [check for check in exercise.checks if check.status == "grader_error"]
        if faulty or exercise.status == "grader_error":
            messages = [one_line(" ".join(failure_view(check).detail)) for check in faulty if check.finding]
            problem = f"{number(exercise.id)} {exercise.title}: {state_of(exercise).word}"
            reasons.append(": ".join([problem, *messages[:1]]))
    intake = notes(report)
    return [*reasons, *intake, *_odd_files(report, " ".join(intake))]


def _odd_files(report: Report, said: str) -> Iterator[str]:
    """Yield which files are missing, unreadable or without the names they need, or use files; not what was `said`."""
    counting = [exercise for exercise in report.exercises if exercise.max_score]
    missing = (exercise.id for exercise in counting if exercise.status == "missing")
    unnamed = [number(id_) for id_ in missing if f"{id_}.py is missing" not in said]
    if unnamed:
        yield f"no file for exercise {listed(unnamed)}"
    for exercise in counting:
        odd = next((check for check in exercise.checks if _is_odd(check, exercise)), None)
        message = message_of(odd.status, odd.finding) if odd is not None else ""
        if odd is not None and message.rstrip(".") not in said:
            view = failure_view(odd)
            detail = f" {one_line(view.detail[0])}" if view.is_quoted and view.detail else ""
            yield f"{number(exercise.id)} {exercise.title}: {message}{detail}"


def _is_odd(check: CheckResult, exercise: ExerciseResult) -> bool:
    """Say whether a failure may have another cause than a mistake in the exercise."""
    finding = check.finding
    if finding is None or check.status in ("missing", *NOT_JUDGED):
        return False
    if finding.kind == "exception":
        return finding.id in UNUSUAL
    alone = all(other.finding is not None and other.finding.message == finding.message for other in exercise.checks)
    return finding.kind == "structure" and (finding.id == "unread" or (finding.id == "structure" and alone))
