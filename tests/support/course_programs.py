"""Programs of the whole course: one file is a test's own, the files that it needs are the solutions."""

from autograder.course import Course, Exercise
from autograder.submission import Submission, digest


def submission_of(course: Course, exercise: Exercise, source: str) -> Submission:
    """Return a submission with this source for an exercise, and the solutions of the exercises that it needs."""
    sources = {needed.file: (course.solutions_dir / needed.file).read_bytes() for needed in course.with_needs(exercise)}
    sources[exercise.file] = source.encode()
    return Submission("learner", course.files, sources, digest(sources), ())
