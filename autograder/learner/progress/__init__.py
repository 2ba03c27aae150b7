"""Where a learner is: what passes, and which hints they have seen. It contains no code and no name."""

from autograder.course.storage import FOLDER, write_whole
from autograder.learner.progress.standing import Progress, Standing
from autograder.learner.progress.store import Kept, keep, read_progress

__all__ = ["FOLDER", "Kept", "Progress", "Standing", "keep", "read_progress", "write_whole"]
