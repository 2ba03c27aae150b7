"""Make the page of a graded class, with its tables as CSV files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.handout import handout_of
from autograder.course import Course
from autograder.course.storage import write_atomically
from autograder.instructor.dashboard.clusters import clusters_of
from autograder.instructor.dashboard.cohort import cohort_of
from autograder.instructor.dashboard.hidden_names import hider, keep_names
from autograder.instructor.dashboard.misconceptions import misconceptions_of
from autograder.instructor.dashboard.page import FOLDER, SIMILAR, Findings, page, tables
from autograder.instructor.dashboard.pseudonyms import FILE, own_names, pseudonyms
from autograder.instructor.dashboard.similar import Pair, pairs_of
from autograder.instructor.dashboard.statistics import check_statistics
from autograder.instructor.dashboard.stuck import stuck_students
from autograder.instructor.gradebook.graded import Graded
from autograder.report.class_summary import facts_of, summary_of
from autograder.report.quantities import plural
from autograder.runner.runner import EnvironmentProblem
from autograder.submission import Submission

PAGE = "class.html"


@dataclass(frozen=True)
class ClassPage:
    """The page and how many tables it has; `problem` says why submissions were not compared, or is ""."""

    file: Path
    folder: Path
    tables: int
    problem: str


def make_class_page(
    course: Course, graded: Graded, out: Path, *, names: bool, submissions: Mapping[str, Submission] | None
) -> ClassPage:
    """Write the page of the class in a folder of `course grade`. Raises OSError.

    With `names` it has the students' names, else pseudonyms. Similar submissions are found among `submissions`.
    """
    students = [mark.student for mark in graded.marks]
    labels = own_names(graded) if names else pseudonyms(out / FILE, students)
    room = cohort_of(graded, labels)
    hide = keep_names if names else hider(graded, labels)
    pairs, problem = _pairs(course, submissions, hide) if submissions is not None else (None, "")
    not_compared = f"Not looked for: {problem[:1].lower()}{problem[1:]}." if problem else ""
    if submissions is None:
        not_compared = "Not looked for: course dashboard OUT DIR compares the submissions in DIR."
    hint = [] if names else [f"Names are pseudonyms; {FILE} beside this page says who is who."]
    decisions = {mark.student: mark.score for mark in graded.marks if mark.is_decided}
    summary = summary_of([facts_of(report) for report in room.reports], graded.policy.maximum, decisions)
    findings = Findings(
        room=room,
        stuck=stuck_students(room),
        why=misconceptions_of(room, course, hide),
        figures=check_statistics(room),
        clusters=clusters_of(room),
        pairs=pairs,
        not_compared=not_compared,
        looks=[(room.names[student], hide(student, why)) for student, why in summary.need_a_look],
        notes=[*hint, *_other(graded)],
    )
    (out / FOLDER).mkdir(exist_ok=True)
    (out / FOLDER / SIMILAR).unlink(missing_ok=True)  # that of an earlier page may have names
    made = tables(findings)
    for name, table in made.items():
        write_atomically(out / FOLDER / name, table)
    write_atomically(out / PAGE, page(findings))
    return ClassPage(out / PAGE, out / FOLDER, len(made), problem)


def _other(graded: Graded) -> list[str]:
    """Return a note that final scores differ from the points earned, which is what the page shows."""
    earned = {mark.student: mark.report.score for mark in graded.marks if mark.report and mark.report.has_score}
    other = sum(mark.final is not None and mark.score != earned.get(mark.student) for mark in graded.marks)
    if not other:
        return []
    why = "lateness, decisions or the rules of the course. This page shows the points earned."
    return [f"{plural(other, 'final score')} in scores.csv {'differs' if other == 1 else 'differ'} by {why}"]


def _pairs(
    course: Course, submissions: Mapping[str, Submission], hide: Callable[[str, str], str]
) -> tuple[Sequence[Pair] | None, str]:
    """Return pairs of similar submissions, with no name in their lines; or None, and why they were not compared."""
    handout = handout_of(course)
    sources = {
        student: {
            file: hide(student, source.decode("utf-8", "replace"))
            for file, source in submission.sources.items()
            if not handout.is_stub(file, source)
        }
        for student, submission in submissions.items()
    }
    stubs = {file: text.decode("utf-8", "replace") for file, text in handout.files.items() if file.endswith(".py")}
    try:
        return pairs_of(sources, stubs), ""
    except EnvironmentProblem as problem:
        return None, str(problem)
