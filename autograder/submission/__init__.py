"""What a student hands in, read as bytes: nothing in it is run, followed, unpacked or trusted."""

from autograder.submission.entry import Entry
from autograder.submission.found import Caps, SubmissionError
from autograder.submission.layouts import LAYOUTS
from autograder.submission.listing import Submissions, list_submissions
from autograder.submission.submission import Given, Submission, read_submission

__all__ = [
    "LAYOUTS",
    "Caps",
    "Entry",
    "Given",
    "Submission",
    "SubmissionError",
    "Submissions",
    "list_submissions",
    "read_submission",
]
