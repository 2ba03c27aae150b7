"""The commands of a learner: check, watch, hint and the like."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .doctor import at_home, examine
    from .html_page import progress_page
    from .own_files import SubmissionZip, pack_work, read_stub, read_work, reset_exercise
    from .trying import TriedExample, try_example

__getattr__ = face(__name__)
