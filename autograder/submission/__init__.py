"""Read submissions as bytes: nothing in them is run, followed, unpacked to disk or trusted."""

from autograder.submission.class_entry import Entry
from autograder.submission.files import Caps, SubmissionError
from autograder.submission.layouts import LAYOUTS
from autograder.submission.listing import Submissions, list_submissions
from autograder.submission.submission import Handout, Submission, read_submission

__all__ = [
    "LAYOUTS",
    "Caps",
    "Entry",
    "Handout",
    "Submission",
    "SubmissionError",
    "Submissions",
    "list_submissions",
    "read_submission",
]
