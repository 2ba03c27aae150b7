"""`course new`: make the files of a new exercise, to fill in."""

import argparse

from autograder.authoring.new import entry, new_exercise
from autograder.course import find_course, read_course
from autograder.course.kit_files import refuse_kit
from autograder.exits import PASS


def new(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course())
    refuse_kit(course, "new")
    for file in new_exercise(course, options.name):
        print(f"made {file.relative_to(course.root)}")
    print("Now add this to course.toml, then run `course build` and `course validate`:")
    print(entry(options.name), end="")
    return PASS
