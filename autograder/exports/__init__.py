"""The formats of `course export`: what graders, gradebooks and repositories read; one module a platform."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .nbgrader import manual_marks

__getattr__ = face(__name__)
