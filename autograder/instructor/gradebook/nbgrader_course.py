"""A course folder for nbgrader's own commands: its configuration, and an assignment with a notebook for each exercise.

All exercises are in one assignment: an exercise imports earlier ones from its own folder, and the names then match the
gradebook of `course export nbgrader`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from autograder.authoring.notebooks import notebook_of_text
from autograder.course import Course
from autograder.course.storage import write_over
from autograder.course.stubs import StubError
from autograder.instructor.gradebook.graded import ExportError
from autograder.instructor.gradebook.nbgrader import DEFAULT_COURSE, check_names
from autograder.learner.progress import write_atomically
from autograder.submission.files import printable
from autograder.submission.submission import notebook_of

CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class CourseFolder:
    """The number of notebooks, of those that had other content, and whether an edited configuration was kept."""

    notebooks: int
    replaced: int
    config_kept: bool


def write_course(
    course: Course, to: Path, assignment: str, course_id: str | None, drawing: Sequence[str]
) -> CourseFolder:
    """Write the folder. Notebooks are replaced; an existing configuration that was edited is kept.

    `drawing` are the ids of the exercises that have pictures. Raises `ExportError`, and OSError.
    """
    check_names(course, assignment)
    _check_place(course, to)
    bonus = course.grading.bonus if course.grading else ()
    books = {}
    for exercise in course.exercises:
        solution = course.solutions_dir / exercise.file
        if not solution.is_file():
            raise ExportError(
                f"solutions/{exercise.file} is missing, and its notebook is made from it; run this in the course"
            )
        try:
            worth = 0.0 if exercise.id in bonus else exercise.points / 100
            text = notebook_of_text(solution.read_text("utf-8"), exercise, draws=exercise.id in drawing, worth=worth)
        except StubError as error:
            raise ExportError(str(error)) from None
        books[notebook_of(exercise.file)] = text
    source = to / "source" / assignment
    source.mkdir(parents=True, exist_ok=True)
    other = sum(write_over(source / name, text) for name, text in books.items())
    config, wanted = (
        to / CONFIG,
        _CONFIG.substitute(title=printable(course.title), course_id=repr(course_id or DEFAULT_COURSE)),
    )
    kept = config.exists() and config.read_text("utf-8") != wanted
    if not kept:
        write_atomically(config, wanted)
    return CourseFolder(len(books), other, kept)


def _check_place(course: Course, to: Path) -> None:
    """Refuse a folder outside the course, where kernels cannot find it, and folders with files of the course."""
    root, folder = course.root.resolve(), to.resolve()
    inside = [root / "exercises", course.solutions_dir, root / "tests"]
    if folder == root or not folder.is_relative_to(root) or any(folder.is_relative_to(place) for place in inside):
        raise ExportError(
            f"{printable(to)} cannot be nbgrader's course folder, since its notebooks look for course.toml in the "
            f"folders above; choose a separate folder inside {printable(root)}, like build/nbgrader"
        )


_CONFIG = Template("""\
# nbgrader's configuration for $title, made by course export nbgrader-course. Your changes are kept.

from pathlib import Path

from autograder.instructor.gradebook.nbgrader_parts import SubmissionExporter, release_preprocessors

c = get_config()
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = $course_id

# Solutions are replaced by the TODO of the course, not by nbgrader's own stub.
c.GenerateAssignment.preprocessors = release_preprocessors()

# A submitted notebook is rebuilt from the text of its cells, so that damaged metadata cannot stop autograde.
c.Autograde.exporter_class = SubmissionExporter

# Seconds for a cell. A check has its own time limit, but its answer key may have to be made first.
c.ExecutePreprocessor.timeout = 900
c.ExecutePreprocessor.startup_timeout = 120

# nbgrader gives 0 points to a cell that writes to standard error. A warning is not a mistake, so all are ignored.
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = "(?s)."
""")
