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
        commit_time,
        format_time,
        notes_of,
        parse_time,
        printable,
        printable_name,
        read_plain,
        reason,
        to_utc,
        without_zeros,
    )
    from .listing import list_submissions
    from .notebook import Cells, Notebook, cell_of, python_of, read_notebook
    from .submission import (
        NOTEBOOKS,
        SETUP,
        Handout,
        Submission,
        digest,
        handout_of,
        is_missing,
        missing_sentence,
        nbgrader_metadata,
        near_file,
        notebook_file,
        notebook_of,
        notebook_of_text,
        own_source,
        read_own,
        read_submission,
        stub_command,
        stubs_of,
        todos_of,
        unconfined_warning,
    )

__getattr__ = face(__name__)
