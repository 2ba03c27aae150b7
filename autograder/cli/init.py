"""`course init`: begin a course of your own."""

import argparse

from autograder.authoring.init import new_course
from autograder.cli.screen import say
from autograder.course import trust
from autograder.exits import PASS


def init(options: argparse.Namespace) -> int:
    """Run the command. The new course is trusted: all its code is the kit's."""
    files = new_course(options.folder, tensors=options.torch, title=options.title)
    trust.trust(options.folder)
    say(f"made {len(files)} files in {options.folder}: a course with one exercise")
    say(f"Next: cd {options.folder}, then `course build` and `course validate`. Its README.md goes on from there.")
    return PASS
