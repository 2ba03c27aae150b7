"""A learner's own work where it lies: the files in exercises/, and the notebooks below it."""

from collections.abc import Iterable
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.course.handed_out import stubs_dir
from autograder.submission.found import Caps
from autograder.submission.submission import Given, Submission, notebook_of, read_submission

NOTEBOOKS = "notebooks"
"""The folder of the notebooks, inside that of the exercises."""


def read_own(course: Course, exercises: Iterable[Exercise] | None = None, *, folder: Path | None = None) -> Submission:
    """Read the work on those exercises, or on all; that of somebody else out of a `folder` or a zip.

    What nobody touched gives way: a stub to a notebook, and back.
    """
    wanted = tuple(course.exercises if exercises is None else exercises)
    files = [each.file for each in wanted]
    caps = Caps(source_kib=course.limits.source_kib)
    return read_submission(folder or course.exercises_dir, files, caps, given_out(course, wanted))


def own_source(course: Course, exercise: Exercise) -> bytes | None:
    """Return what counts of an exercise, from a file or a notebook; None where there is neither."""
    return read_own(course, [exercise]).sources.get(exercise.file)


def notebook_file(course: Course, exercise: Exercise) -> Path:
    """Where the notebook of an exercise lies."""
    return course.exercises_dir / NOTEBOOKS / notebook_of(exercise.file)


def given_out(course: Course, exercises: Iterable[Exercise]) -> Given:
    """Return the stubs of those exercises, as far as this kit has them."""
    stubs = {each.file: stub_text(course, each) for each in exercises}
    return Given({file: stub.encode() for file, stub in stubs.items() if stub is not None})


def stub_text(course: Course, exercise: Exercise) -> str | None:
    """Return the stub of an exercise, made from its solution or as the kit brought it along; None where it has none.

    Raises `StubError` for a solution from which none can be made.
    """
    solution = course.solutions_dir / exercise.file
    if solution.is_file():
        from autograder.course.stubs import stub_of

        return stub_of(solution.read_text("utf-8"), exercise)
    kept = stubs_dir(course) / exercise.file
    return kept.read_bytes().decode("utf-8") if kept.is_file() else None


def unconfined(folder: Path) -> str:
    """Return the sentence for those who check somebody else's files: nothing keeps those from this machine."""
    return f"this runs the code in {folder} with your rights, unconfined; course grade confines it"
