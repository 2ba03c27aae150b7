"""Read submissions as bytes: nothing in them is run, followed, unpacked to disk or trusted."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .contents import (
        LINK,
        Caps,
        FileError,
        Kind,
        Listing,
        Note,
        SubmissionError,
        SubmittedFile,
        checked_id,
        is_skipped,
        kind_of,
        list_archive,
        moved_into,
        named_with_size,
        notes_of,
        open_archive,
        open_for_reading,
        open_plain,
        printable,
        printable_name,
        read_plain,
        reason,
        too_many_entries,
    )
    from .notebook import Cells, Notebook, cell_of, python_of, read_notebook
    from .submission import (
        NO_HANDOUT,
        NOTEBOOKS,
        SETUP,
        Handout,
        Submission,
        cut,
        digest,
        handout_of,
        nbgrader_metadata,
        notebook_file,
        notebook_of,
        notebook_of_text,
        read_listing,
        read_own,
        read_submission,
        reader_of,
        stubs_of,
        todos_of,
        unconfined_warning,
    )

__getattr__ = face(__name__)
