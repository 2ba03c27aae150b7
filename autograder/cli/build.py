"""`course build`: make the stubs, notebooks and reference parts from their sources."""

import argparse

from autograder.authoring.building import find_stale, write_files
from autograder.course import Course, find_course, read_course
from autograder.course.kit_files import refuse_kit
from autograder.course.names import UsageError
from autograder.exits import FAIL, PASS
from autograder.report.quantities import listed, plural


def build(options: argparse.Namespace) -> int:
    """Run the command. Only `--force` replaces a stub or a notebook that exists."""
    course = read_course(find_course())
    refuse_kit(course, "build")
    stale = find_stale(course, write_parts=not options.check)
    if not stale.names:
        print(f"{_contents(course)} are up to date")
        return PASS
    if options.check:
        print(f"stale: {', '.join(stale.names)}; run `course build --force`")
        return FAIL
    if stale.edited and not options.force:
        names = ", ".join(file.name for file in stale.edited)
        raise UsageError(f"{names} differ from what the solutions give: --force writes over them")
    write_files(stale.handed_out)
    print(f"made {', '.join(stale.names)}")
    return PASS


def _contents(course: Course) -> str:
    count, parts = len(course.exercises), len([*course.reference_parts_dir.glob("*.json")])
    kinds = [plural(count, "stub"), plural(count, "notebook")]
    return listed([*kinds, plural(parts, "reference part")] if parts else kinds)
