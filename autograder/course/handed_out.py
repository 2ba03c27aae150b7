"""Where a kit, which has no solutions, keeps what is otherwise made from them."""

from pathlib import Path

from autograder.course.model import Course, Exercise
from autograder.course.names import UsageError

KEY_FOLDER = "key"
MANIFEST = f"{KEY_FOLDER}/manifest.json"

STUBS = ".course/stubs"
"""Stubs and notebooks as they were: in a hidden folder, which no submission is taken from."""


def key_file(exercise: Exercise, check: str | None = None) -> str:
    """Return where a kit has the key of an exercise, or what the solution computes on its way under one check."""
    return f"{KEY_FOLDER}/{exercise.id}/{f'traces-{check}' if check else 'key'}.xz"


def is_kit(course: Course) -> bool:
    """Say whether a course is a kit that brings its answer keys along."""
    return (course.root / MANIFEST).is_file()


def stubs_dir(course: Course) -> Path:
    """Return where a kit keeps its stubs as they were."""
    return course.root / STUBS


def refuse_kit(course: Course, command: str, needs: str = "the solutions") -> None:
    """Raise `UsageError` where a command needs what a kit does not have."""
    if is_kit(course):
        raise UsageError(
            f"this is a kit, and course {command} needs {needs}; run it in the course it was released from"
        )
