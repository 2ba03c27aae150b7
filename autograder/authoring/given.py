"""What students are handed out: the stubs, and the notebooks made of them."""

from pathlib import Path

from autograder.course import Course
from autograder.course.handed_out import stubs_dir
from autograder.course.stubs import StubError, stub_of
from autograder.submission import Given
from autograder.submission.own import NOTEBOOKS


def given_of(course: Course) -> Given:
    """Return the stubs as the solutions give them, whatever was written into exercises/, and the notebooks there.

    A kit has no solutions: it keeps what was handed out.
    """
    kept = stubs_dir(course)
    if kept.is_dir():
        return Given({file.name: file.read_bytes() for file in [*sorted(kept.glob("*.py")), *_notebooks(kept)]})
    files: dict[str, bytes] = {}
    for exercise in course.exercises:
        try:
            solution = (course.solutions_dir / exercise.file).read_text("utf-8")
            files[exercise.file] = stub_of(solution, exercise).encode()
        except (OSError, ValueError, StubError):
            continue
    return Given({**files, **{file.name: file.read_bytes() for file in _notebooks(course.exercises_dir)}})


def _notebooks(folder: Path) -> list[Path]:
    return sorted((folder / NOTEBOOKS).glob("*.ipynb"))
