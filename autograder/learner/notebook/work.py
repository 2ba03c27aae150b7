"""Choose the code that a check in a notebook is about: the cells as last run, or the file in exercises/."""

from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course import Course, Exercise
from autograder.learner.notebook.live import LiveNotebook, read_live
from autograder.learner.notebook.runs import folder, notebook_names, runs
from autograder.submission import Submission
from autograder.submission.files import Caps, FileError
from autograder.submission.folder import read_plain
from autograder.submission.notebook import Notebook
from autograder.submission.own_work import notebook_file, read_own, stubs_of
from autograder.submission.submission import notebook_of


@dataclass(frozen=True)
class Work:
    """The source that counts, the running notebook if it is from there, and notes about the choice."""

    source: bytes | None
    book: Notebook | None
    notes: tuple[str, ...]

    def noting(self, sentence: str) -> "Work":
        """Return the same work with one more note."""
        return replace(self, notes=(*self.notes, sentence))


def work_folder(course: Course) -> Path | None:
    """Return the folder of the notebook if the work is there, not in exercises/, as with nbgrader."""
    here, own = folder().resolve(), course.exercises_dir
    if here.is_relative_to(own) or own.is_relative_to(here):
        return None
    return here if any((here / notebook_of(file)).is_file() for file in course.files) else None


def work_on(course: Course, exercise: Exercise) -> Work:
    """Return the work on an exercise. Raises `SubmissionError` if its folder cannot be read."""
    where = work_folder(course)
    own = read_own(course, [exercise], folder=where)
    given = stubs_of(course, [exercise])
    limit = course.limits.source_kib * 1024
    live, problem = _live(course, exercise, where, limit)
    on_disk = own.sources.get(exercise.file)
    if live is None or given.is_notebook(notebook_of(exercise.file), live.book, limit):
        return Work(on_disk, None, tuple(filter(None, (problem, *_relevant(own)))))
    notes = list(live.book.notes)
    place = where or course.exercises_dir
    if live.newer:
        notes.append(_unsaved(exercise, live))
    if on_disk is not None and exercise.file not in own.cells and not given.is_stub(exercise.file, on_disk):
        notes.append(
            f"This notebook was checked. {place.name}/{exercise.file} has work too. `course check` takes that file, "
            "and so does the grader if you hand in both. Keep only one of them"
        )
    return Work(live.book.source, live.book, tuple(notes))


def _live(course: Course, exercise: Exercise, where: Path | None, limit: int) -> tuple[LiveNotebook | None, str]:
    """Return the running notebook if it is that of the exercise, or its problem."""
    own = where / notebook_of(exercise.file) if where else notebook_file(course, exercise)
    for file in (*notebook_names(), own):
        if file.name == notebook_of(exercise.file) and file.is_file():
            try:
                return read_live(read_plain(file, Caps().notebook_kib * 1024), runs(), limit), ""
            except FileError as error:
                return None, f"{_named(course, file)} {error}"
    return None, ""


def _named(course: Course, file: Path) -> str:
    return file.relative_to(course.root).as_posix() if file.is_relative_to(course.root) else file.name


def _unsaved(exercise: Exercise, live: LiveNotebook) -> str:
    """Return a note that what was checked is not what is on disk."""
    cells = ", ".join(map(str, live.newer[:5]))
    which = f"Cell {cells} is" if len(live.newer) == 1 else f"Cells {cells} are"
    return (
        f"{which} not saved in {notebook_of(exercise.file)} as last run. The check used the last run. Save the "
        "notebook before you hand it in, and run each cell that you change"
    )


def _relevant(own: Submission) -> tuple[str, ...]:
    """Return the notes of the reader, without those that nobody needs at every check."""
    return tuple(note for note in own.notes if " is the code of " not in note)
