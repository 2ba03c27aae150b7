"""Pictures of what a learner sees, made by the real program on wrong programs that a file lists.

    python -m autograder.authoring.pictures docs/pictures/pictures.toml

Each entry names an exercise and, where it is not to pass, a misconception of its catalogue or a patch of its solution.
"""

import argparse
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.answer_key.catalogue import CatalogueError, read_catalogue
from autograder.course import Course, Exercise, find_course, read_course
from autograder.course.trust import trust_here
from autograder.report.picture import DARK, draw, terminal_output

MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")


class SceneError(Exception):
    """A picture that cannot be made; the message is a sentence for its author."""


@dataclass(frozen=True)
class Scene:
    """A picture to be made: of which command, on which program."""

    name: str
    exercise: Exercise
    patches: tuple[tuple[str, str], ...]
    command: tuple[str, ...]
    width: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the pictures that the file lists, beside it."""
    parser = argparse.ArgumentParser(prog="python -m autograder.authoring.pictures", description=__doc__)
    parser.add_argument("listed", type=Path, help="the pictures to make, as TOML")
    listed = parser.parse_args(arguments).listed
    course = read_course(find_course())
    try:
        entries = tomllib.loads(listed.read_text("utf-8"))
        scenes = [_scene(course, name, entry) for name, entry in entries.items()]
    except (OSError, ValueError, CatalogueError, SceneError) as error:
        parser.error(f"{listed}: {error}")
    for scene in scenes:
        out = listed.with_name(f"{scene.name}.svg")
        out.write_text(picture(course, scene), encoding="utf-8")
        print(out)
    return 0


def picture(course: Course, scene: Scene) -> str:
    """Return the SVG of a scene: the program is written into a copy of the course, and the command is run there."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "course")
        _write_course(course, scene, root)
        trust_here(root)
        output = terminal_output([sys.executable, "-m", "autograder", *scene.command], scene.width, root)
    return draw(output, DARK, scene.width, " ".join(["course", *scene.command])).svg


def _scene(course: Course, name: str, entry: Mapping[str, Any]) -> Scene:
    exercise = next((each for each in course.exercises if each.id == entry.get("exercise")), None)
    if exercise is None or "command" not in entry:
        raise SceneError(f"{name} needs an exercise of this course, and a command")
    return Scene(
        name, exercise, _patches(course, exercise, name, entry), tuple(entry["command"].split()), _width(entry)
    )


def _patches(course: Course, exercise: Exercise, name: str, entry: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what is to be replaced in the solution: nothing, where the exercise is to pass."""
    solution = (course.solutions_dir / exercise.file).read_text("utf-8")
    if "misconception" in entry:
        catalogue = read_catalogue(course.solutions_dir / "misconceptions" / f"{exercise.id}.toml", solution)
        patches = next((each.patches for each in catalogue if each.id == entry["misconception"]), None)
        if patches is None:
            raise SceneError(f"{name}: {exercise.id} has no misconception {entry['misconception']}")
        return patches
    if "find" not in entry:
        return ()
    if entry["find"] not in solution:
        raise SceneError(f"{name}: {entry['find']!r} does not stand in the solution of {exercise.id}")
    return ((entry["find"], entry.get("replace", "")),)


def _width(entry: Mapping[str, Any]) -> int:
    width = entry.get("width", 80)
    return width if isinstance(width, int) else 80


def _write_course(course: Course, scene: Scene, root: Path) -> None:
    """Write a copy of the course in which the exercise, and what it needs, is written as the scene wants it."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for part in (course.solutions_dir, course.checks_dir):
        shutil.copytree(part, root / part.relative_to(course.root), ignore=unwanted)
    shutil.copy(course.root / "course.toml", root)
    (root / "exercises").mkdir()
    for each in course.with_needs(scene.exercise):
        program = (course.solutions_dir / each.file).read_text("utf-8")
        if each is scene.exercise:
            for find, replace in scene.patches:
                program = program.replace(find, replace)
        lines = (line for line in program.split("\n") if line.strip() not in MARKERS)
        (root / "exercises" / each.file).write_text("\n".join(lines), encoding="utf-8")
    kept = course.root / ".course" / "cache"
    kept.mkdir(parents=True, exist_ok=True)
    (root / ".course").mkdir()
    (root / ".course" / "cache").symlink_to(kept, target_is_directory=True)


if __name__ == "__main__":
    sys.exit(main())
