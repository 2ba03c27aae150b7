"""Servers that other programs start: the language server of an editor, and the tools of an assistant."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    pass

__getattr__ = face(__name__)
