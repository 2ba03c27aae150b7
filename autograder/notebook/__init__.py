"""The functions for a notebook of the course: `from autograder.notebook import check, hint, status, why`.

Importing this makes `from exNN_name import ...` find earlier exercises, in files or notebooks.
"""

from .cells import begin_to_record, check, find_earlier_exercises, hint, status, why

find_earlier_exercises()
begin_to_record()

__all__ = ["check", "hint", "status", "why"]
