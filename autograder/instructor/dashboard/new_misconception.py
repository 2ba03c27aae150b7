"""Add the common mistake of a group of students to the catalogue, as a misconception without texts."""

from dataclasses import dataclass
from pathlib import Path

from autograder.authoring.naming import append_entry, entry_of, patches_of
from autograder.course import Course, Exercise
from autograder.course.names import UsageError
from autograder.course.suite import load_suite
from autograder.instructor.dashboard.clusters import clusters_of, find_cluster
from autograder.instructor.dashboard.cohort import cohort_of
from autograder.instructor.dashboard.graded_submissions import read_submissions
from autograder.instructor.gradebook.graded import read_graded
from autograder.instructor.gradebook.roster import read_roster
from autograder.report.quantities import plural


@dataclass(frozen=True)
class NewMisconception:
    """The entry as TOML, the catalogue it was added to, and warnings on submissions that were left out."""

    exercise: Exercise
    entry: str
    file: Path
    warnings: list[str]


def add_misconception(
    course: Course, out: Path, folder: Path, group: str, *, layout: str | None, roster_file: Path | None
) -> NewMisconception:
    """Write the patch that makes a group's program from the solution into the catalogue.

    Raises `UsageError` if there is no such group, or no patch.
    """
    roster = read_roster(course, roster_file)
    graded = read_graded(course, roster, out)
    room = cohort_of(graded, {mark.student: mark.student for mark in graded.marks})
    cluster = find_cluster(clusters_of(room), group)
    exercise = course.exercise(cluster.exercise)
    solution = course.solutions_dir / exercise.file
    if not solution.is_file():
        raise UsageError(f"{solution} is not there, and a misconception is a patch of it; run this in the course")
    read = read_submissions(folder, layout, roster, graded)
    sources = [
        read.by_student[student].sources[exercise.file] for student in cluster.students if student in read.by_student
    ]
    count = plural(len(cluster.students), "student")
    if not sources:
        raise UsageError(f"none of the {count} of {cluster.id} is in {folder}")
    checks = load_suite(course).checks[exercise.id]
    parts = [check.of for check in checks if check.id in cluster.checks and check.of]
    shortest = min(sources, key=lambda source: (len(source), source))
    patches = patches_of(solution.read_text("utf-8"), shortest, parts)
    name = f"{exercise.id[5:].replace('_', '-')}-{cluster.id}"
    entry = entry_of(exercise, name, f"{count} failed alike with this.", patches)
    return NewMisconception(exercise, entry, append_entry(course, exercise, name, entry), read.warnings)
