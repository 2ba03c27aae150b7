"""Read a learner's own work: the files in exercises/, and the notebooks below it."""

from collections.abc import Iterable
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.course.kit_files import stubs_dir
from autograder.submission.files import Caps
from autograder.submission.submission import Handout, Submission, notebook_of, read_submission

NOTEBOOKS = "notebooks"
"""The folder of the notebooks in exercises/."""


def read_own(course: Course, exercises: Iterable[Exercise] | None = None, *, folder: Path | None = None) -> Submission:
    """Read the work on those exercises, or on all; from another `folder` or zip if one is given.

    Of a file and a notebook, the one that was edited counts.
    """
    wanted = tuple(course.exercises if exercises is None else exercises)
    files = [exercise.file for exercise in wanted]
    caps = Caps(source_kib=course.limits.source_kib)
    return read_submission(folder or course.exercises_dir, files, caps, stubs_of(course, wanted))


def own_source(course: Course, exercise: Exercise) -> bytes | None:
    """Return the source of an exercise that counts, from a file or a notebook; None if there is neither."""
    return read_own(course, [exercise]).sources.get(exercise.file)


def notebook_file(course: Course, exercise: Exercise) -> Path:
    """Return the path of an exercise's notebook."""
    return course.exercises_dir / NOTEBOOKS / notebook_of(exercise.file)


def stubs_of(course: Course, exercises: Iterable[Exercise]) -> Handout:
    """Return the stubs of those exercises that this kit has."""
    stubs = {exercise.file: stub_text(course, exercise) for exercise in exercises}
    return Handout({file: stub.encode() for file, stub in stubs.items() if stub is not None})


def stub_text(course: Course, exercise: Exercise) -> str | None:
    """Return the stub of an exercise, from its solution or from the kit's copy; None if there is neither.

    Raises `StubError` if the solution cannot be turned into a stub.
    """
    solution = course.solutions_dir / exercise.file
    if solution.is_file():
        from autograder.course.stubs import make_stub

        return make_stub(solution.read_text("utf-8"), exercise)
    kept = stubs_dir(course) / exercise.file
    return kept.read_bytes().decode("utf-8") if kept.is_file() else None


def unconfined_warning(folder: Path) -> str:
    """Return the warning for checking somebody else's files, which nothing keeps from this machine."""
    return f"this runs the code in {folder} with your rights, without a sandbox; course grade uses one"
