"""The files that students get to fill in: stubs, and the notebooks made from them."""

from pathlib import Path

from autograder.course import Course
from autograder.course.kit_files import stubs_dir
from autograder.course.stubs import StubError, make_stub
from autograder.submission import Handout
from autograder.submission.own_work import NOTEBOOKS
from autograder.submission.submission import notebook_of


def handout_of(course: Course) -> Handout:
    """Return the stubs, made from the solutions whatever is in exercises/, and the notebooks in exercises/.

    A kit has no solutions; it keeps a copy of the original files.
    """
    kept = stubs_dir(course)
    if kept.is_dir():
        return Handout({file.name: file.read_bytes() for file in [*sorted(kept.glob("*.py")), *_notebooks(kept)]})
    files: dict[str, bytes] = {}
    for exercise in course.exercises:
        try:
            solution = (course.solutions_dir / exercise.file).read_text("utf-8")
            files[exercise.file] = make_stub(solution, exercise).encode()
        except (OSError, ValueError, StubError):
            continue
    taken = {notebook_of(file) for file in course.files}
    notebooks = [file for file in _notebooks(course.exercises_dir) if file.name in taken]
    return Handout({**files, **{file.name: file.read_bytes() for file in notebooks}})


def _notebooks(folder: Path) -> list[Path]:
    return sorted((folder / NOTEBOOKS).glob("*.ipynb"))
