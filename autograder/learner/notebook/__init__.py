"""The functions for a notebook of the course: `from autograder.notebook import check, hint, status, why`.

Importing this makes `from exNN_name import ...` find earlier exercises, in files or notebooks.
"""

from autograder.learner.notebook.asking import check, hint, status, why
from autograder.learner.notebook.earlier import find_earlier_exercises
from autograder.learner.notebook.runs import begin_to_record

find_earlier_exercises()
begin_to_record()

__all__ = ["check", "hint", "status", "why"]
