"""Read the submissions of a graded class again, as they were when they were graded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.authoring.handout import handout_of
from autograder.instructor.dashboard.cohort import student_of
from autograder.instructor.gradebook.graded import Graded, named
from autograder.instructor.gradebook.roster import Roster
from autograder.instructor.grading.accepted import read_accepted
from autograder.report.quantities import plural
from autograder.submission import Submission
from autograder.submission.files import Caps
from autograder.submission.listing import list_submissions


@dataclass(frozen=True)
class GradedSubmissions:
    """The submissions by student, and warnings on those that were left out."""

    by_student: Mapping[str, Submission]
    warnings: list[str] = field(default_factory=list)


def read_submissions(folder: Path, layout: str | None, roster: Roster, graded: Graded) -> GradedSubmissions:
    """Return the submissions that were graded, read as grading reads them: the files of the run, and what was accepted.

    One that has changed or disappeared since is left out.
    """
    course = graded.course  # as far as the run graded it
    handout = handout_of(course)
    listing = list_submissions(folder, course.files, layout, roster or None, handout)
    accepted = read_accepted(course, course.assignment.id if course.assignment else "")
    entries, _ = accepted.apply(listing.entries, roster, handout)
    digests = {
        student_of(mark.report): mark.report.submission.get("digest") for mark in graded.with_report if mark.report
    }
    caps = Caps(source_kib=course.limits.source_kib)
    read = {entry.student: entry.read(course.files, caps) for entry in entries if entry.student in digests}
    changed = [student for student, submission in read.items() if digests[student] not in (None, submission.digest)]
    absent = [student for student in digests if student not in read]
    warnings = [
        f"{plural(len(students), 'submission')} in {folder} {one if len(students) == 1 else more}: {named(students)}"
        for one, more, students in (
            ("was changed since it was graded, left out", "were changed since they were graded, left out", changed),
            ("is not there, left out", "are not there, left out", absent),
        )
        if students
    ]
    return GradedSubmissions(
        {student: submission for student, submission in read.items() if student not in changed}, warnings
    )
