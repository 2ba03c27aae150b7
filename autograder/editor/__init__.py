"""TODO"""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .server import serve

__getattr__ = face(__name__)
