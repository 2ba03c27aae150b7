"""What students are handed out: the stubs, and the notebooks made of them."""

from autograder.authoring.stubs import StubError, stub_of
from autograder.course import Course
from autograder.submission import Given
from autograder.submission.own import NOTEBOOKS


def given_of(course: Course) -> Given:
    """Return the stubs as the solutions give them, whatever was written into exercises/, and the notebooks there."""
    files: dict[str, bytes] = {}
    for exercise in course.exercises:
        try:
            solution = (course.solutions_dir / exercise.file).read_text("utf-8")
            files[exercise.file] = stub_of(solution, exercise).encode()
        except (OSError, ValueError, StubError):
            continue
    for file in sorted((course.exercises_dir / NOTEBOOKS).glob("*.ipynb")):
        files[file.name] = file.read_bytes()
    return Given(files)
