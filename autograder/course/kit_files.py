"""Where a kit, which has no solutions, keeps the files that a course makes from them: answer keys and stubs."""

from pathlib import Path

from autograder.course.model import Course, Exercise
from autograder.course.names import UsageError

KEY_FOLDER = "key"
MANIFEST = f"{KEY_FOLDER}/manifest.json"

STUBS = ".course/stubs"
"""Unchanged stubs and notebooks: in a hidden folder, so that no submission is read from it."""


def key_file(exercise: Exercise, check: str | None = None) -> str:
    """Return the path in a kit of an exercise's answer key, or of the solution's traces under one check."""
    return f"{KEY_FOLDER}/{exercise.id}/{f'traces-{check}' if check else 'key'}.xz"


def is_kit(course: Course) -> bool:
    """Say whether a course is a kit that contains its answer keys."""
    return (course.root / MANIFEST).is_file()


def stubs_dir(course: Course) -> Path:
    """Return the folder of a kit's unchanged stubs."""
    return course.root / STUBS


def refuse_kit(course: Course, command: str, needs: str = "the solutions") -> None:
    """Raise `UsageError` if the course is a kit, for a command that needs what a kit does not contain."""
    if is_kit(course):
        raise UsageError(
            f"this is a kit, and course {command} needs {needs}; run it in the course it was released from"
        )
