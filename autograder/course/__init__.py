"""The course as data: course.toml, read into frozen types."""

from autograder.course.model import Course, Exercise, Grading, Limits
from autograder.course.reader import CourseError, find_course, read_course, with_sizes

__all__ = ["Course", "CourseError", "Exercise", "Grading", "Limits", "find_course", "read_course", "with_sizes"]
