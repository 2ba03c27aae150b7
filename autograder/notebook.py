"""The functions for a notebook of the course: `from autograder.notebook import check, hint, status, why`."""

from autograder.notebook.asking import check, hint, status, why

__all__ = ["check", "hint", "status", "why"]
