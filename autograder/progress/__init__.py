"""Where a learner is: what was done, what passes, and which hints were shown. There is no code and no name in it."""

from autograder.progress.files import FOLDER, write_whole
from autograder.progress.standing import Progress, Standing
from autograder.progress.store import Kept, keep, read_progress

__all__ = ["FOLDER", "Kept", "Progress", "Standing", "keep", "read_progress", "write_whole"]
