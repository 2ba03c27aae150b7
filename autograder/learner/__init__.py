"""The commands of a learner: check, watch, hint and the like."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .command_reset import reset_exercise

__getattr__ = face(__name__)
