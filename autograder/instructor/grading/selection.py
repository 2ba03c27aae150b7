"""Choose what `course grade` works on: the course, the students, and the secret seed."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.course import Course, find_course
from autograder.course.assignments import assigned, find_assignment
from autograder.course.kit_files import refuse_kit
from autograder.course.names import UsageError
from autograder.course.nearest import suggestion
from autograder.course.storage import FOLDER, make_folder, read_plain, write_atomically
from autograder.course.taking import resolve_take, taking
from autograder.instructor.grading.out import read_run
from autograder.submission.class_entry import Entry


def grading_course(submissions: Path, named: Path | None) -> Path:
    """Return the root of the course to grade by: the one named, or the one around the working folder.

    Raises `UsageError` for a course among the submissions: somebody handed it in.
    """
    root = find_course(named)
    if submissions.resolve() in (root, *root.parents):
        raise UsageError(
            f"the course in {root} lies inside {submissions}, where the submissions are; "
            "go to the folder of your course, or name it with --course"
        )
    return root


def course_of(course: Course, take: Sequence[str], assignment: str | None) -> Course:
    """Return the course as far as it is graded: one assignment, or some parts and exercises. Raises `UsageError`."""
    if take and assignment:
        raise UsageError("--take and --assignment both choose exercises; leave one of them out")
    if assignment:
        return assigned(course, find_assignment(course, assignment))
    return taking(course, resolve_take(course, take)) if take else course


def course_of_run(course: Course, run: Mapping[str, Any]) -> Course:
    """Return the course as far as a run graded it, by its run.json. Raises `UsageError`."""
    take, assignment = run.get("take"), run.get("assignment")
    chosen = [name for name in take if isinstance(name, str)] if isinstance(take, list) else []
    return course_of(course, chosen, assignment if isinstance(assignment, str) else None)


def chosen_facts(take: Sequence[str], assignment: str | None) -> dict[str, object]:
    """Return what run.json notes about the choice."""
    return {"assignment": assignment} if assignment else {"take": list(take)} if take else {}


def choose_students(entries: Sequence[Entry], named: Sequence[str] | None) -> frozenset[str]:
    """Return the students that are named, or all. Raises `UsageError` for one without a submission."""
    students = frozenset(entry.student for entry in entries)
    for student in named or ():
        if student not in students:
            hint = suggestion(student, students, "use the name of a folder or a zip, without its ending")
            raise UsageError(f"no submission is of {student!r}; {hint}")
    return frozenset(named) if named else students


def grading_seed(course: Course, named: int | None, out: Path) -> int:
    """Return the seed to grade with: the one named, or a secret one, made once and kept beside the course.

    If that cannot be written, the seed of an earlier run into `out` is used.
    """
    if named != course.seed:  # a kit has the answer keys of the public seed only
        refuse_kit(course, "grade", f"the solutions for any seed but the public one, --seed {course.seed}")
    if named is not None:
        return named
    file = course.root / FOLDER / "grading_seed"
    try:
        return int(read_plain(file))
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a number"
        raise UsageError(
            f"the secret seed in {file} cannot be read ({reason}); restore it, delete it to draw a new one, or name "
            "one with --seed"
        ) from None
    seed = secrets.randbits(62)
    try:
        make_folder(file.parent)
        write_atomically(file, f"{seed}\n", mode=0o600)
    except OSError:
        known = (read_run(out) or {}).get("seed")
        return known if isinstance(known, int) else seed
    return seed
