"""The teacher's desk: a page on this machine on which a graded class is read, and decided about."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    pass

__getattr__ = face(__name__)
