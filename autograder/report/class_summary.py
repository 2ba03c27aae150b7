"""The summary of a class: submissions, mean, frequent misconceptions, and who needs a look."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from autograder.messages.exceptions import AT_IMPORT
from autograder.report.exercise_summary import held_sentence, message_of, notes, number, student
from autograder.report.failure_view import failure_view
from autograder.report.printable import one_line
from autograder.report.quantities import listed, plural, points
from autograder.report.states import DECIDED, state_of
from autograder.results.model import NOT_JUDGED, CheckResult, ExerciseResult, Report
from autograder.submission.listing import HIGHEST_COUNTS
from autograder.submission.submission import OF_NOTEBOOK

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

_HELD, _FAILED = 1 << 31, 1 << 30
"""More than any points: these come first."""

_TIME = re.compile(r"\b(?:late|handed in|timestamp)\b")


@dataclass(frozen=True)
class Facts:
    """What one report adds to the summary of its class, without its checks.

    `score` is None, which is not zero, if it has none. `looks` are why a person should look at it, each with what that
    may cost the student.
    """

    student: str
    score: int | None
    max_score: int
    misconceptions: Mapping[str, str]
    looks: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class ClassSummary:
    """A class in numbers: points in hundredths, misconceptions as `(name, id, students)`, and `(student, why)`.

    `decided` has the score of each student whose report has none, but who got one from a person.
    """

    submissions: int
    without_score: int
    full: int
    mean: float
    max_score: int
    misconceptions: tuple[tuple[str, str, int], ...]
    need_a_look: tuple[tuple[str, str], ...]
    decided: Mapping[str, int]

    @property
    def sentence(self) -> str:
        """Return how many were graded, how many have full marks, and the mean."""
        count = plural(self.submissions, "submission")
        if self.without_score:
            count = f"{count}, {self.without_score} without a score"
        return f"{count}, {self.full} with full marks, mean {self.mean / 100:.1f} of {points(self.max_score)} points"

    def first_of(self, shown: int) -> str:
        """Return how many submissions a table shows, if it does not show all of them."""
        if shown == self.submissions:
            return ""
        return f"first {shown} of {plural(self.submissions, 'submission')}; scores.csv has all of them"


def facts_of(report: Report) -> Facts:
    """Return what a report adds to the summary of its class."""
    score = report.score if report.has_score else None
    return Facts(student(report), score, report.max_score, _misconceptions(report), list(_looks(report)))


def summarize(reports: Iterable[Report], maximum: int | None = None) -> ClassSummary:
    """Summarise the reports of a class, as graded."""
    return summary_of([facts_of(report) for report in reports], maximum)


def summary_of(
    everybody: Sequence[Facts], maximum: int | None = None, decisions: Mapping[str, int | None] | None = None
) -> ClassSummary:
    """Summarise a class. A misconception counts once a student; the most frequent comes first.

    `maximum` leaves out the points of bonus exercises; without it, it is that of the reports. `decisions` have the
    final score of each student about whom a person has decided, None if excused: nothing of theirs waits.
    """
    most = max((facts.max_score for facts in everybody), default=0) if maximum is None else maximum
    decisions = decisions or {}
    given = ((facts.student, decisions.get(facts.student)) for facts in everybody if facts.score is None)
    decided = {name: score for name, score in given if score is not None}
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for facts in everybody:
        names |= facts.misconceptions
        counts.update(facts.misconceptions.keys())
    scores = [decided.get(facts.student) if facts.score is None else facts.score for facts in everybody]
    marked = [score for score in scores if score is not None]
    looks = [
        (facts.student, why, cost)
        for facts in everybody
        for why, cost in facts.looks
        if cost != _HELD or facts.student not in decisions
    ]
    looks.sort(key=lambda look: look[2], reverse=True)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ClassSummary(
        submissions=len(everybody),
        without_score=len(everybody) - len(marked),
        full=sum(0 < most <= score for score in marked),
        mean=sum(marked) / len(marked) if marked else 0.0,
        max_score=most,
        misconceptions=tuple((names[key], key, count) for key, count in ordered),
        need_a_look=tuple((name, why) for name, why, _ in looks),
        decided=decided,
    )


def _misconceptions(report: Report) -> dict[str, str]:
    """Return the misconceptions in one report, id to name."""
    findings = (check.finding for exercise in report.exercises for check in exercise.checks)
    named = (finding for finding in findings if finding is not None and finding.kind == "misconception")
    return {one_line(finding.id): one_line(finding.name or finding.id) for finding in named}


class _Look(NamedTuple):
    """Why a person should look at a submission, and what it may cost the student, in hundredths of a point."""

    why: str
    cost: int


def _looks(report: Report) -> Iterator[_Look]:
    """Yield why a person should look at a submission, each reason once; ordinary things are none.

    It is held, the grader failed, or points are lost where the intake has notes, or a file is missing, unreadable or
    does unusual things.
    """
    intake = [note for note in notes(report) if not _is_ordinary(note)]
    doubts = [note for note in intake if _is_doubt(note, report)]
    if report.is_held:
        more = f" (and {len(doubts) - 1} more like this)" if len(doubts) > 1 else ""
        yield _Look(f"{held_sentence(report)}{f': {doubts[0]}' if doubts else ''}{more}", _HELD)
    for exercise in report.exercises:
        faulty = [check for check in exercise.checks if check.status == "grader_error"]
        if faulty or exercise.status == "grader_error":
            messages = [one_line(" ".join(failure_view(check).detail)) for check in faulty if check.finding]
            problem = f"{number(exercise.id)} {exercise.title}: {state_of(exercise).word}"
            yield _Look(": ".join([problem, *messages[:1]]), _FAILED)
    shown = [note for note in intake if note not in doubts]
    for note in shown:
        cost = _cost(note, report)
        if cost or report.is_unread or _TIME.search(note):
            yield _Look(note, cost)
    yield from _odd_files(report, " ".join(intake))


def _is_ordinary(note: str) -> bool:
    """Say whether a note is about what many students do, and nothing can be lost by it."""
    return OF_NOTEBOOK in note or note.endswith(HIGHEST_COUNTS)


def _is_doubt(note: str, report: Report) -> bool:
    held = (exercise for exercise in report.exercises if exercise.status == "held")
    found = (check.finding.message for exercise in held for check in exercise.checks if check.finding is not None)
    return any(one_line(message).rstrip(".") == note for message in found)


def _cost(note: str, report: Report) -> int:
    """Return what a note may cost: the points that are lost in the exercises it names, or in all if it names none."""
    named = [exercise for exercise in report.exercises if exercise.id in note]
    return sum(_points_lost(exercise) for exercise in named or report.exercises)


def _points_lost(exercise: ExerciseResult) -> int:
    return 0 if state_of(exercise) is DECIDED else max(exercise.max_score - exercise.score, 0)


def _odd_files(report: Report, said: str) -> Iterator[_Look]:
    """Yield which files are missing, unreadable or without the names they need, or use files; not what was `said`."""
    counting = [exercise for exercise in report.exercises if exercise.max_score]
    missing = (exercise for exercise in counting if exercise.status == "missing")
    unnamed = [exercise for exercise in missing if f"{exercise.id}.py is missing" not in said]
    if unnamed:
        numbers = listed([number(exercise.id) for exercise in unnamed])
        yield _Look(f"no file for exercise {numbers}", sum(map(_points_lost, unnamed)))
    for exercise in counting:
        odd = next((check for check in exercise.checks if _is_odd(check, exercise)), None)
        message = message_of(odd.status, odd.finding) if odd is not None else ""
        if odd is not None and message.rstrip(".") not in said:
            view = failure_view(odd)
            detail = f" {one_line(view.detail[0])}" if view.is_quoted and view.detail else ""
            place = odd.finding.place if odd.finding is not None else None
            cell = f" (cell {place.cell}, line {place.line})" if place is not None and place.cell is not None else ""
            yield _Look(f"{number(exercise.id)} {exercise.title}: {message}{detail}{cell}", _points_lost(exercise))


def _is_odd(check: CheckResult, exercise: ExerciseResult) -> bool:
    """Say whether a failure may have another cause than a mistake in the exercise."""
    finding = check.finding
    if finding is None or check.status in ("missing", *NOT_JUDGED):
        return False
    alone = all(other.finding is not None and other.finding.message == finding.message for other in exercise.checks)
    if finding.kind == "exception":
        return finding.id in UNUSUAL or (alone and AT_IMPORT in finding.message)
    return finding.kind == "structure" and (finding.id == "unread" or (finding.id == "structure" and alone))
