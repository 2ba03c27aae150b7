"""Practise on wrong programs: hunts, lines in order, own tests, and questions on earlier mistakes."""

from typing import TYPE_CHECKING

from autograder.faces import face

if TYPE_CHECKING:
    from .command_hunt import draw, finds_line, finish, open_hunt, programs_for
    from .command_review import Question, ReviewQuestion, due_questions, next_due, question_after, rate, save_answer

__getattr__ = face(__name__)
