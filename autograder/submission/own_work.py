"""Read a learner's own work: the files in exercises/, and the notebooks below it."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.course.stubs import stub_text
from autograder.submission.files import Caps, SubmissionError
from autograder.submission.notebook import Notebook
from autograder.submission.submission import Handout, Submission, digest, notebook_of, read_submission

NOTEBOOKS = "notebooks"
"""The folder of the notebooks in exercises/."""


def read_own(course: Course, exercises: Iterable[Exercise] | None = None, *, folder: Path | None = None) -> Submission:
    """Read the work on those exercises, or on all; from another `folder` or zip if one is given.

    Of a file and a notebook, the one that was edited counts. Raises `SubmissionError`.
    """
    if folder is None and not course.exercises_dir.is_dir():
        makes = "`course build`" if course.solutions_dir.is_dir() else "`course reset`, with an exercise,"
        raise SubmissionError(f"there is no folder {course.exercises_dir}; {makes} writes the stubs into it")
    wanted = tuple(course.exercises if exercises is None else exercises)
    files = [exercise.file for exercise in wanted]
    caps = Caps(source_kib=course.limits.source_kib)
    given = stubs_of(course, wanted)
    submission = replace(read_submission(folder or course.exercises_dir, files, caps, given), doubts={})
    if folder and folder.resolve() == course.solutions_dir.resolve():
        return replace(submission, notes=())  # its subfolders have files of the same names, for other purposes
    return submission if folder else _without_handed_out(submission, given)


def _without_handed_out(submission: Submission, given: Handout) -> Submission:
    """Leave out a notebook without work whose file was deleted: then the exercise is missing."""
    handed_out = {
        file
        for file, cells in submission.cells.items()
        if given.is_notebook(notebook_of(file), Notebook(submission.sources[file], cells, ()), 0)
    }
    if not handed_out:
        return submission
    sources = {file: source for file, source in submission.sources.items() if file not in handed_out}
    return replace(submission, sources=sources, digest=digest(sources))


def own_source(course: Course, exercise: Exercise) -> bytes | None:
    """Return the source of an exercise that counts, from a file or a notebook; None if there is neither."""
    return read_own(course, [exercise]).sources.get(exercise.file)


def is_missing(course: Course, exercise: Exercise) -> bool:
    """Say whether an exercise has neither a file nor a notebook with work."""
    own = read_own(course, [exercise])
    return exercise.file in own.missing and exercise.file not in own.unread


def missing_sentence(course: Course, exercise: Exercise) -> str:
    """Return what to say to a learner whose file is missing: every command says the same."""
    file = f"{course.exercises_dir.name}/{exercise.file}"
    command, does = stub_command(course, exercise)
    return f"There is no file {file}: `{command}` {does}."


def stub_command(course: Course, exercise: Exercise) -> tuple[str, str]:
    """Return the command that makes a missing stub, and what it does: in a course that was never built, that is all."""
    folders = ((course.exercises_dir, "*.py"), (course.exercises_dir / NOTEBOOKS, "*.ipynb"))
    if (course.solutions_dir / exercise.file).is_file() and not any(any(one.glob(of)) for one, of in folders):
        return "course build", "makes the stubs"
    return f"course reset {exercise.number}", "restores the stub"


def notebook_file(course: Course, exercise: Exercise) -> Path:
    """Return the path of an exercise's notebook."""
    return course.exercises_dir / NOTEBOOKS / notebook_of(exercise.file)


def stubs_of(course: Course, exercises: Iterable[Exercise]) -> Handout:
    """Return the stubs of those exercises that this kit has."""
    stubs = {exercise.file: stub_text(course, exercise) for exercise in exercises}
    return Handout({file: stub.encode() for file, stub in stubs.items() if stub is not None})


def unconfined_warning(folder: Path) -> str:
    """Return the warning for checking somebody else's files, which nothing keeps from this machine."""
    return f"this runs the code in {folder} with your rights, without a sandbox; course grade uses one"
