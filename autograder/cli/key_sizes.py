"""`course list --author`: the size of each answer key in a kit."""

import argparse
from collections.abc import Sequence

from autograder.authoring.key_sizes import MOST_KEY_BYTES, known_sizes, of_budget
from autograder.cli.screen import Screen
from autograder.course import Course, Exercise
from autograder.course.author_files import require_texts
from autograder.exits import PASS
from autograder.learner.json_output import write_json
from autograder.report.quantities import kilobytes


def show_key_sizes(course: Course, exercises: Sequence[Exercise], options: argparse.Namespace) -> int:
    """Print the size of each answer key, as far as it was measured."""
    require_texts(course, exercises)
    sizes = known_sizes(course, exercises)
    if write_json(options.json, {"schema": 1, "budget": MOST_KEY_BYTES, "key_bytes": sizes}):
        return PASS
    screen = Screen.of(options)
    width = max(map(len, sizes), default=0)
    for exercise in exercises:
        size = sizes[exercise.id]
        measured = of_budget(size) if size is not None else f"not measured; run course validate {exercise.number}"
        screen.line(f"{exercise.id.ljust(width)}  {measured}")
    screen.line(f"all that are measured: {kilobytes(sum(filter(None, sizes.values())))}")
    return PASS
