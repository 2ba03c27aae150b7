"""Draw the pictures of the documents: what `course` prints about the programs that pictures.toml lists.

    python docs/pictures/draw.py docs/pictures/pictures.toml

Each entry names an exercise and a command. A misconception of the catalogue, or a text to find and replace, makes the
solution wrong. The SVGs refer to nothing outside themselves.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from autograder.answer_key import CatalogueError, read_catalogue
from autograder.course import Course, Exercise, find_course, read_course, trust_here

MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION")
FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
COLORS = ("2a2d34", "ff6b6b", "7ccf7c", "e5c07b", "7aa8ff", "d59cf0", "4ec9d8", "dee0e4", "9096a1")
# A font's half blocks leave seams between two lines, so each run of them is drawn as a rectangle.
HALF_BLOCKS = re.compile(r'<text class="([\w-]+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)"[^>]*>▀+</text>')
LINE, SIZE = 24.4, 20.0  # rich's line and font height


class SceneError(Exception):
    """A picture that cannot be drawn; the message is a sentence for its author."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the pictures that the file lists, beside it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path, help="the pictures to draw, as TOML")
    file = parser.parse_args(arguments).list
    course = read_course(find_course())
    try:
        scenes = tomllib.loads(file.read_text("utf-8"))
        programs = {name: program(course, name, scene) for name, scene in scenes.items()}
    except (OSError, ValueError, CatalogueError, SceneError) as error:
        parser.error(f"{file}: {error}")
    for name, (exercise, source) in programs.items():
        command, width = scenes[name]["command"], scenes[name].get("width", 80)
        with tempfile.TemporaryDirectory() as folder:
            write_course(course, exercise, source, Path(folder))
            output = terminal_output([sys.executable, "-m", "autograder", *command.split()], width, Path(folder))
        file.with_name(f"{name}.svg").write_text(
            terminal_svg(output, width, f"course {command}", name), encoding="utf-8"
        )
        print(file.with_name(f"{name}.svg"))
    return 0


def program(course: Course, name: str, scene: Mapping[str, Any]) -> tuple[Exercise, str]:
    """Return the exercise of a scene, and its program."""
    exercise = next((candidate for candidate in course.exercises if candidate.id == scene.get("exercise")), None)
    if exercise is None or "command" not in scene:
        raise SceneError(f"{name} needs an exercise of this course, and a command")
    source = (course.solutions_dir / exercise.file).read_text("utf-8")
    patches: Sequence[tuple[str, str]] = [(scene["find"], scene.get("replace", ""))] if "find" in scene else []
    if "misconception" in scene:
        catalogue = read_catalogue(course.solutions_dir / "misconceptions" / f"{exercise.id}.toml", source)
        found = [wrong.patches for wrong in catalogue if wrong.id == scene["misconception"]]
        if not found:
            raise SceneError(f"{name}: {exercise.id} has no misconception {scene['misconception']}")
        patches = found[0]
    for find, replace in patches:
        if find not in source:
            raise SceneError(f"{name}: the solution of {exercise.id} does not contain {find!r}")
        source = source.replace(find, replace)
    return exercise, source


def write_course(course: Course, exercise: Exercise, source: str, root: Path) -> None:
    """Write a trusted copy of the course with this program, and with the solutions of what it needs."""
    for part in (course.solutions_dir, course.checks_dir):
        shutil.copytree(part, root / part.relative_to(course.root), ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(course.root / "course.toml", root)
    (root / "exercises").mkdir()
    for needed in course.with_needs(exercise):
        text = source if needed is exercise else (course.solutions_dir / needed.file).read_text("utf-8")
        lines = (line for line in text.split("\n") if line.strip() not in MARKERS)
        (root / "exercises" / needed.file).write_text("\n".join(lines), encoding="utf-8")
    trust_here(root)


def terminal_output(command: Sequence[str], width: int, folder: Path) -> str:
    """Return what a command prints in a folder, on a colour terminal of that width, whatever its exit status."""
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(width)}
    environment = inherited | terminal | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    return done.stdout.decode("utf-8", errors="replace").strip("\n")


def terminal_svg(output: str, width: int, title: str, name: str) -> str:
    """Return the picture of a terminal that shows this output."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(output), soft_wrap=True, markup=False, highlight=False, emoji=False)
    picture = console.export_svg(title=title, theme=_theme(), code_format=_format(), unique_id=name)
    return HALF_BLOCKS.sub(_rectangle, picture)


def _format() -> str:
    """Return rich's frame of an SVG without its web font."""
    without_font = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    without_comment = re.sub(r"<!--.*?-->\s*", "", without_font)
    return without_comment.replace("Fira Code, monospace", FONTS)


def _theme() -> TerminalTheme:
    colors = [(int(color[:2], 16), int(color[2:4], 16), int(color[4:], 16)) for color in COLORS]
    return TerminalTheme((0x16, 0x18, 0x1D), colors[7], colors[:8], [colors[8], *colors[1:8]])


def _rectangle(half_blocks: re.Match[str]) -> str:
    style, x, y, width = half_blocks.groups()
    box = f'x="{x}" y="{float(y) - SIZE + 1.5:g}" width="{width}" height="{LINE / 2:g}"'
    return f'<rect class="{style}" {box} shape-rendering="crispEdges"/>'


if __name__ == "__main__":
    sys.exit(main())
