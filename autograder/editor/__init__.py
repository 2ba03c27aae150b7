"""The language server: it checks at every save, and shows the wrong line in an editor."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    pass

__getattr__ = face(__name__)
