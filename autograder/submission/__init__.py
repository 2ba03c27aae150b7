"""Read submissions as bytes: nothing in them is run, followed, unpacked to disk or trusted."""

from autograder.submission.files import Caps, SubmissionError
from autograder.submission.submission import Handout, Submission, read_submission

__all__ = ["Caps", "Handout", "Submission", "SubmissionError", "read_submission"]
