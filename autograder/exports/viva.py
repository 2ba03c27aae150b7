"""Questions for each student about their own program: pages to print, and the teacher's copy with the answers."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from autograder.cli import show_count
from autograder.course import Course, Exercise, UsageError, refuse_kit
from autograder.gradebook import Graded, Mark, read_submissions
from autograder.protocol import outline_of
from autograder.questions import Asked, Asker, Question, open_asker
from autograder.report import number, plural, render
from autograder.submission import Submission, digest

from .formats import ExportOptions, ExportResult, Format, replaced, write_over

Sheet: TypeAlias = Literal["own", "one"]

QUESTIONS = 5
MOST_EXERCISES = 3
"""Exercises that the questions of one student are about: each takes some seconds to ask about."""

MINUTES = 2
"""Minutes that a question takes on paper."""

KEY = "answers.html"
"""The teacher's copy."""

SHEET = "sheet.html"
FEWEST = 40
"""Bytes of a student id that may be a file name beside the key."""


@dataclass(frozen=True)
class Passage:
    """Lines of a program that questions are about, each with its number; `file` is that of the program."""

    file: str
    lines: tuple[tuple[int, str], ...]
    asked: frozenset[int]


@dataclass(frozen=True)
class Page:
    """What one student is asked, and the code beside the questions. `notes` say what could not be asked about."""

    student: str
    name: str
    questions: tuple[Question, ...]
    passages: tuple[Passage, ...]
    notes: tuple[str, ...]


def viva(options: ExportOptions, graded: Graded) -> ExportResult:
    """Write a page for each student, or one for all, and the answers. Raises `UsageError`."""
    if options.submissions is None:
        found = "course export viva needs --submissions DIR, the submissions that were graded"
        raise UsageError(f"{found}: reports have no code")
    to = Path(options.to)
    to.mkdir(parents=True, exist_ok=True)
    if options.sheet == "one":
        refuse_kit(graded.course, "export viva --sheet one")
        pages, warnings = [_for_all(graded.course)], list[str]()
        files = {SHEET: pages[0]}
    else:
        read = read_submissions(options.submissions, None, graded)
        pages, warnings = [*_each(options, graded, read.by_student)], list(read.warnings)
        files = {f"{page.student}.html": page for page in pages}
        if KEY in files:
            raise UsageError(f"a student is named {KEY.removesuffix('.html')}, as the file with the answers is")
    is_sheet = options.sheet is not None
    other = sum(write_over(to / name, _html(graded.course, [page], sheet=is_sheet)) for name, page in files.items())
    other += write_over(to / KEY, _html(graded.course, pages, key=True))
    asked = sum(len(page.questions) for page in pages)
    short = [page.student for page in pages if len(page.questions) < QUESTIONS]
    warnings += (
        [f"{plural(len(short), 'page')} with fewer than {QUESTIONS} questions: {', '.join(short)}"] if short else []
    )
    line = f"{plural(asked, 'question')} on {plural(len(files), 'page')} in {to}; the answers are in {KEY}"
    return ExportResult([f"{line}{replaced(other)}"], warnings)


def _each(options: ExportOptions, graded: Graded, submissions: Mapping[str, Submission]) -> Iterator[Page]:
    """Yield the page of each student. Two neighbours in the list are not asked the same."""
    confined = options.isolation != "process"
    marks = [mark for mark in graded.with_report if mark.student in submissions]
    before: Sequence[Question] = ()
    with open_asker(graded.course, graded.course.exercises, confined=confined) as asker:
        for done, mark in enumerate(marks, 1):
            page = _page(asker, graded.course, mark, submissions[mark.student], before)
            before = page.questions
            show_count(f"asked about {done} of {plural(len(marks), 'submission')}", last=done == len(marks))
            yield page


def _page(asker: Asker, course: Course, mark: Mark, submission: Submission, before: Sequence[Question]) -> Page:
    assert mark.report is not None
    statuses = {result.id: result.status for result in mark.report.exercises}
    passing = [one for one in course.exercises if statuses.get(one.id) == "pass"]
    failing = [one for one in course.exercises if one not in passing]
    notes = [f"{number(one.id)} {one.title} does not pass, so there is no question about it." for one in failing]
    asked = _asked(asker, passing, submission, mark.student, before)
    return Page(
        mark.student,
        mark.row.name or mark.student,
        asked.questions,
        tuple(_passages(submission, asked.questions)),
        (*notes, *asked.refusals),
    )


def _asked(
    asker: Asker, passing: Sequence[Exercise], submission: Submission, salt: str, before: Sequence[Question]
) -> Asked:
    """Ask about the exercises that are worth most; of equal ones other students may get others."""

    def order(exercise: Exercise) -> tuple[float, str]:
        return -exercise.points, hashlib.sha256(f"{salt} {exercise.id}".encode()).hexdigest()

    chosen = sorted(passing, key=order)[:MOST_EXERCISES]
    return asker.ask(submission, chosen, QUESTIONS, salt=salt, besides=before)


def _for_all(course: Course) -> Page:
    """Return a page about one right program that no student has seen: an accepted variant of each exercise."""
    sources: dict[str, bytes] = {}
    for exercise in course.exercises:
        for one in course.with_needs(exercise):
            sources.setdefault(one.file, (course.solutions_dir / one.file).read_bytes())
        variants = sorted((course.solutions_dir / "accepted" / exercise.id).glob("*.py"))
        if variants:
            sources[exercise.file] = variants[0].read_bytes()
    submission = Submission("one", course.files, sources, digest(sources), ())
    with open_asker(course, course.exercises) as asker:
        asked = _asked(asker, course.exercises, submission, "sheet", ())
    return Page("one", "", asked.questions, tuple(_passages(submission, asked.questions)), asked.refusals)


def _passages(submission: Submission, questions: Sequence[Question]) -> Iterator[Passage]:
    """Yield the functions that the questions are about, in the order of the questions' files."""
    for file in dict.fromkeys(question.file for question in questions):
        text = submission.sources[file].decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        lines = frozenset(question.line for question in questions if question.file == file)
        shown = {
            at
            for function in outline_of(text).functions
            if any(function.line <= line <= function.end for line in lines)
            for at in range(function.line, function.end + 1)
        }
        rows = text.split("\n")
        yield Passage(file, tuple((at, rows[at - 1]) for at in sorted(shown | lines)), lines)


def _html(course: Course, pages: Sequence[Page], *, sheet: bool = False, key: bool = False) -> str:
    title = f"{course.title}: questions on your own program"
    return render(
        "exports/templates/viva.html.j2",
        title=f"{title}, with the answers" if key else title,
        course=course.title,
        pages=pages,
        sheet=sheet,
        key=key,
        minutes=MINUTES,
    )


FORMATS = (Format("viva", of_class=viva, options=("submissions", "sheet", "isolation")),)
