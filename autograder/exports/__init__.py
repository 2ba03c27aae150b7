"""TODO"""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .formats import OF_A_CLASS, OF_A_COURSE, OF_A_KIT, ExportOptions, ExportResult, check_options, write_text
    from .nbgrader import manual_marks

__getattr__ = face(__name__)
