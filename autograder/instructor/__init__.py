"""Tools for instructors: grade a class, export grades, look at the class page."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .bulk import Conditions, conditions_of
    from .page import make_class_page

__getattr__ = face(__name__)
