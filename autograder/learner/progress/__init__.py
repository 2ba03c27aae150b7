"""Where a learner is: what passes, and which hints they have seen. It contains no code and no name."""

from autograder.course.storage import FOLDER, write_atomically
from autograder.learner.progress.course_progress import Progress
from autograder.learner.progress.standing import Standing
from autograder.learner.progress.store import SaveResult, read_progress, save_events

__all__ = ["FOLDER", "Progress", "SaveResult", "Standing", "read_progress", "save_events", "write_atomically"]
