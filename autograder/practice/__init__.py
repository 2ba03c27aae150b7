"""Practise on wrong programs: hunts, lines in order, own tests, and questions on earlier mistakes."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .command_hunt import programs_for
    from .command_review import Question, question_after, save_answer

__getattr__ = face(__name__)
