"""A class as a table: a line for each student, a column for each exercise, and a summary."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from autograder.report import (
    COURSE_PROBLEM,
    DECIDED,
    IN_PROGRESS,
    NARROWEST,
    SECONDARY,
    STATES,
    Glyphs,
    Page,
    blocks,
    breadth,
    columns,
    ended,
    failure_view,
    message_of,
    notes,
    number,
    one_line,
    place_of_flag,
    plural,
    points,
    points_of,
    show,
    state_of,
    student,
    summary_sentence,
)
from autograder.results import NOT_JUDGED, REFUSED, CheckResult, ExerciseResult, Report, joined

# The summary of a class: submissions, mean, frequent misconceptions, and who needs a look.

UNREADABLE = ("SyntaxError", "IndentationError", "TabError", "dotted_import")
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

_FLAGGED, _HELD, _FAILED = 1 << 32, 1 << 31, 1 << 30
"""More than any points: these come first."""


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
        mean = f"mean {self.mean / 100:.1f} of {points(self.max_score)} points"
        return f"{count}, {self.full} with full marks, {mean}"

    def first_of(self, shown: int) -> str:
        """Return how many submissions a table shows, if it does not show all of them."""
        if shown == self.submissions:
            return ""
        return f"first {shown} of {plural(self.submissions, 'submission')}; scores.csv has all of them"


def facts_of(report: Report) -> Facts:
    """Return what a report adds to the summary of its class."""
    score = report.score if report.has_score else None
    return Facts(student(report), score, report.max_score, _misconceptions_in(report), list(_looks(report)))


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


def _misconceptions_in(report: Report) -> dict[str, str]:
    """Return the misconceptions in one report, id to name."""
    findings = (check.finding for exercise in report.exercises for check in exercise.checks)
    named = (finding for finding in findings if finding is not None and finding.kind == "misconception")
    return {one_line(finding.id): one_line(finding.name or finding.id) for finding in named}


def held_sentence(report: Report) -> str:
    """Return what was found in a submission of which nothing could be read, or which exercises are held."""
    if not report.is_unread:
        held = [number(exercise.id) for exercise in report.exercises if exercise.status == "held"]
        return f"held, no score for exercise{'' if len(held) == 1 else 's'} {joined(held)}"
    found = [one_line(str(name)) for name in report.submission.get("found") or ()]
    return f"held, no score: {', '.join(found) or 'it is empty'}"


def why_held(reports: Sequence[Report]) -> str:
    """Return why these reports are held, as the end of a sentence."""
    if all(report.is_unread for report in reports):
        return "no file of the assignment could be read"
    return "no file could be read, or another file has the work"


class _Look(NamedTuple):
    """Why a person should look at a submission, and what it may cost the student, in hundredths of a point."""

    why: str
    cost: int


def _looks(report: Report) -> Iterator[_Look]:
    """Yield why a person should look at a submission, each reason once; ordinary things are none.

    A file has flags, which come first: they cost nothing, so nobody else would look. It is held, the grader failed, or
    points are lost where the intake has notes, or a file is missing, unreadable or does unusual things.
    """
    for exercise in report.exercises:
        for flag in exercise.flags[:1]:
            more = f" (and {len(exercise.flags) - 1} more like this)" if len(exercise.flags) > 1 else ""
            what = f"{place_of_flag(flag, exercise)} uses {one_line(flag.found)}: {one_line(flag.why)}{more}"
            yield _Look(f"{number(exercise.id)} {exercise.title}: {what}", _FLAGGED)
    ordinary, of_time = notes(report, "ordinary"), notes(report, "of_time")
    intake = [note for note in notes(report) if note not in ordinary]
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
        if cost or report.is_unread or note in of_time:
            yield _Look(note, cost)
    yield from _odd_files(report, intake)


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


def _odd_files(report: Report, said: Sequence[str]) -> Iterator[_Look]:
    """Yield which files are missing, unreadable or without the names they need, or use files; not what was `said`."""
    counting = [exercise for exercise in report.exercises if exercise.max_score]
    missing = (exercise for exercise in counting if exercise.status == "missing")
    unnamed = [exercise for exercise in missing if not any(f"{exercise.id}.py" in note for note in said)]
    if unnamed:
        numbers = joined([number(exercise.id) for exercise in unnamed])
        yield _Look(f"no file for exercise {numbers}", sum(map(_points_lost, unnamed)))
    for exercise in counting:
        odd = next((check for check in exercise.checks if _is_odd(check, exercise)), None)
        message = message_of(odd.status, odd.finding) if odd is not None else ""
        if odd is not None and not any(message.rstrip(".") in note for note in said):
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
        return finding.id in UNUSUAL or (alone and finding.at_import)
    return finding.kind == "structure" and (finding.id == "unread" or (finding.id in REFUSED and alone))


_MOST_NAMES = 5
_MOST_LOOKS = 20
_WIDE_NAME, _NARROW_NAME = 24, 18


def class_lines(page: Page, reports: Sequence[Report], summary: ClassSummary) -> list[Text]:
    """Return the table of the reports, and the summary of the whole class."""
    table = _table(page, reports, summary)
    if cut := summary.first_of(len(reports)):
        table += page.wrap(page.text(cut), 0)
    parts = (table, page.wrap(page.text(summary.sentence, "bold"), 0))
    return blocks((*parts, _misconceptions(page, summary), _look_lines(page, summary)))


def _table(page: Page, reports: Sequence[Report], summary: ClassSummary) -> list[Text]:
    """Return the table with whole words; on a narrow page with short words, or with marks, and a legend."""
    if not reports:
        return []
    ids = sorted({exercise.id for report in reports for exercise in report.exercises})
    for short in (False, True):
        lines = _spread(page, reports, ids, short, summary)
        if breadth(lines) <= page.width:
            return lines + (_legend(page, reports, short=True) if short else [])
    return _compact(page, reports, ids, summary) + _legend(page, reports, short=False)


def _spread(
    page: Page, reports: Sequence[Report], ids: Sequence[str], short: bool, summary: ClassSummary
) -> list[Text]:
    head = [page.text(word, SECONDARY) for word in ("student", *map(number, ids), "total")]
    rows = []
    for report in reports:
        exercises = {exercise.id: exercise for exercise in report.exercises}
        cells = [_cell(page, exercises.get(key), short) for key in ids]
        rows.append([page.cut(page.text(student(report)), _WIDE_NAME), *cells, _total(page, report, summary)])
    best = [page.text(points(_best(reports, key)), SECONDARY) for key in ids]
    total = page.text(points(summary.max_score), SECONDARY)
    last = [page.text("of", SECONDARY), *best, total]
    return columns([head, *rows, last], (False, *(True for _ in ids), True))


def _total(page: Page, report: Report, summary: ClassSummary) -> Text:
    """Return the total of a report, or what a person gave for one that has none."""
    given = summary.decided.get(student(report))
    return page.text(total_of(report, of=False) if given is None else points(given), "bold")


def _compact(page: Page, reports: Sequence[Report], ids: Sequence[str], summary: ClassSummary) -> list[Text]:
    """Return a line for each student with a mark for each exercise."""
    head = [page.text(word, SECONDARY) for word in ("student", f"{number(ids[0])} to {number(ids[-1])}", "total")]
    rows = []
    for report in reports:
        exercises = {exercise.id: exercise for exercise in report.exercises}
        marks = Text.assemble(*(_sign(page, exercises.get(key)) for key in ids))
        rows.append([page.cut(page.text(student(report)), _NARROW_NAME), marks, _total(page, report, summary)])
    return columns([head, *rows], (False, False, True))


def _cell(page: Page, exercise: ExerciseResult | None, short: bool) -> Text:
    """Return the points, or the word of a state that earned none for another reason than a wrong result."""
    if exercise is None:
        return Text()
    state = state_of(exercise)
    earned_none = not exercise.score and exercise.status not in ("pass", "fail")
    if exercise.status in NOT_JUDGED or not exercise.max_score or earned_none:
        return page.text(state.short if short else state.word, state.style)
    return page.text(points(exercise.score), "green" if exercise.status == "pass" else "")


def _sign(page: Page, exercise: ExerciseResult | None) -> Text:
    if exercise is None:
        return page.text(" ")
    state = state_of(exercise)
    return page.text(getattr(page.glyphs, state.mark), state.style)


def _legend(page: Page, reports: Sequence[Report], short: bool) -> list[Text]:
    """Return the meaning of the marks, or of the short words that differ from the whole word."""
    used = {state_of(exercise) for report in reports for exercise in report.exercises}
    every = (*STATES.values(), COURSE_PROBLEM, IN_PROGRESS)
    shown = [state for state in every if state in used]
    if short:
        meanings = [f"{state.short} {state.word.lower()}" for state in shown if state.short != state.word]
    else:
        marks = dict.fromkeys(state.mark for state in shown)
        words = {"passed": "passes", "failed": "does not pass", "waiting": "not done", "problem": "not judged"}
        meanings = [f"{getattr(page.glyphs, mark)} {words[mark]}" for mark in marks]
    return page.wrap(page.text(", ".join(meanings), SECONDARY), 0) if meanings else []


def _best(reports: Sequence[Report], exercise_id: str) -> int:
    exercises = (exercise for report in reports for exercise in report.exercises)
    return max(exercise.max_score for exercise in exercises if exercise.id == exercise_id)


def _misconceptions(page: Page, summary: ClassSummary) -> list[Text]:
    if not summary.misconceptions:
        return []
    most = summary.misconceptions[:_MOST_NAMES]
    rows = [[Text(), page.text(str(count)), page.text(name), page.text(key, SECONDARY)] for name, key, count in most]
    lines = columns(rows, (False, True, False, False))
    if breadth(lines) > page.width:
        lines = columns([row[:3] for row in rows], (False, True, False))
    more = len(summary.misconceptions) - len(most)
    rest = [page.text(f"  and {more} more", SECONDARY)] if more else []
    return [
        page.text("Misconceptions, by equal results", "bold"),
        *(page.cut(line, page.width) for line in lines),
        *rest,
    ]


def _look_lines(page: Page, summary: ClassSummary) -> list[Text]:
    if not summary.need_a_look:
        return []
    lines = [page.text("Need a look", "bold")]
    for name, why in summary.need_a_look[:_MOST_LOOKS]:
        lines += page.wrap(Text.assemble(page.text(name), "  ", page.text(why, SECONDARY)))
    more = len(summary.need_a_look) - _MOST_LOOKS
    return lines + ([page.text(f"  and {more} more")] if more > 0 else [])


def total_of(report: Report, *, of: bool = True) -> str:
    """Return the points of a report, of how many; `no score` if a part was not judged: that is not zero."""
    if not report.has_score:
        return "no score"
    return points_of(report.score, report.max_score) if of else points(report.score)


def class_sentences(reports: Sequence[Report], summary: ClassSummary) -> list[str]:
    """Return a sentence for each student and exercise in the reports, and the summary of the whole class."""
    lines = []
    for report in reports:
        given = summary.decided.get(student(report))
        total = total_of(report) if given is None else points_of(given, summary.max_score)
        lines.append(f"{student(report)}: {total}.")
        lines += [f"{student(report)}. {summary_sentence(exercise)}" for exercise in report.exercises]
    if cut := summary.first_of(len(reports)):
        lines.append(f"These are the {cut}.")
    lines.append(f"Class: {summary.sentence}.")
    lines += [
        f"Misconception: {name}, {key}, {count} of {plural(summary.submissions, 'student')}."
        for name, key, count in summary.misconceptions
    ]
    return lines + [f"Needs a look: {name}: {ended(why)}" for name, why in summary.need_a_look]


def render_class(
    console: Console,
    reports: Sequence[Report],
    *,
    glyphs: Glyphs,
    plain: bool = False,
    summary: ClassSummary | None = None,
) -> None:
    """Show a graded class: points by student and exercise, and a summary.

    `summary` is that of a class of which the reports are the first; without it, they are all.
    """
    summary = summary or summary_of([facts_of(report) for report in reports])
    if plain or console.width < NARROWEST:
        show(console, class_sentences(reports, summary))
        return

    page = Page.on(console, glyphs, widest=console.width)
    page.show(class_lines(page, reports, summary))
