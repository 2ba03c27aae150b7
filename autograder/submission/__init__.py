"""Read submissions as bytes: nothing in them is run, followed, unpacked to disk or trusted."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .class_folder import Entry, HandInPart, Upload, canvas_uploads
    from .contents import (
        Caps,
        Clue,
        FileError,
        Note,
        SubmissionError,
        casefolded,
        checked_id,
        format_time,
        notes_of,
        parse_time,
        printable,
        printable_name,
        to_utc,
        without_zeros,
    )
    from .folders import read_plain, reason
    from .git import commit_time
    from .handout import SETUP, handout_of, nbgrader_metadata, notebook_of_text
    from .listing import list_submissions
    from .notebook import Cells, Notebook, cell_of, python_of, read_notebook
    from .submission import (
        NOTEBOOKS,
        Handout,
        Submission,
        digest,
        is_missing,
        missing_sentence,
        near_file,
        notebook_file,
        notebook_of,
        own_source,
        read_own,
        read_submission,
        stub_command,
        stubs_of,
        todos_of,
        unconfined_warning,
    )

__getattr__ = face(__name__)
