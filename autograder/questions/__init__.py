"""Asks about a program, and knows each answer because it ran the program: the questions of a quiz, and of a viva."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .quiz import Asked, Asker, Question, open_asker

__getattr__ = face(__name__)
