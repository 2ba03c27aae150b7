"""A new course with one exercise, which at once validates, builds, checks, grades and releases."""

import json
import tomllib
from pathlib import Path

from autograder.authoring.engine import SKELETON, requirement
from autograder.course import CourseError, find_course
from autograder.course.model import STEPS_PREFIX
from autograder.course.names import UsageError
from autograder.course.storage import write_atomically

EXAMPLE = "ex01_distances"
LONGEST_TITLE = 60


def new_course(folder: Path, *, tensors: bool, title: str | None = None) -> list[Path]:
    """Write a course to a new or empty folder, and return its files. `tensors` says whether its programs use torch.

    Raises `UsageError` for a folder that cannot hold it: then nothing was written.
    """
    root = folder.resolve()
    _refuse(folder, root)
    if title is None:
        title = root.name.replace("-", " ").replace("_", " ").strip().capitalize()
    if not title.strip() or len(title) > LONGEST_TITLE or not title.isprintable():
        raise UsageError(f"the title {title!r} is not one line of 1 to {LONGEST_TITLE} characters; give --title TEXT")
    texts = _texts(title, "torch" if tensors else "plain")
    for name, text in texts.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text)
    return [root / name for name in texts]


def _refuse(folder: Path, root: Path) -> None:
    """Raise `UsageError` if a folder has files, or is inside a course."""
    if not SKELETON.is_dir():
        raise UsageError("the engine of a kit has no course to begin with; install the engine on its own")
    if root.exists() and not root.is_dir():
        raise UsageError(f"{folder} is a file, expected a new or empty folder; nothing was written")
    there = sorted(file.name for file in root.iterdir() if file.name != ".git") if root.exists() else []
    if there:
        raise UsageError(f"{folder} has {there[0]}, expected a new or empty folder; nothing was written")
    try:
        outer = find_course(root)
    except CourseError:
        return
    raise UsageError(
        f"{folder} would be inside the course {outer}, whose commands would find that course; choose a folder outside"
    )


def _texts(title: str, kind: str) -> dict[str, str]:
    """Return the files of the course by their paths."""
    values = {
        **tomllib.loads((SKELETON / kind / "texts.toml").read_text("utf-8")),
        "title": json.dumps(title, ensure_ascii=False),
        "name": title,
        "requirement": requirement(*(["author", "torch"] if kind == "torch" else ["author"])),
    }
    checks, solutions = "tests/exercises", "solutions"
    sources = {
        "course.toml": "course.txt",
        "README.md": "readme.txt",
        "requirements.txt": "requirements.txt",
        ".gitignore": "gitignore.txt",
        ".github/workflows/course.yml": "workflow.txt",
        f"{checks}/test_{EXAMPLE}.py": f"{kind}/checks.txt",
        f"{checks}/{STEPS_PREFIX}{EXAMPLE}.py": f"{kind}/steps.txt",
        f"{solutions}/misconceptions/{EXAMPLE}.toml": f"{kind}/misconceptions.txt",
        f"{solutions}/accepted/{EXAMPLE}/loops.py": f"{kind}/accepted_loops.txt",
        f"{solutions}/accepted/{EXAMPLE}/norm.py": f"{kind}/accepted_norm.txt",
    }
    texts = {name: _filled(source, values) for name, source in sources.items()}
    return {**texts, f"{solutions}/{EXAMPLE}.py": _filled("lesson.txt", {}) + _filled(f"{kind}/solution.txt", {})}


def _filled(source: str, values: dict[str, str]) -> str:
    text = (SKELETON / source).read_text("utf-8")
    for name, value in values.items():
        text = text.replace("{{" + name + "}}", value)
    return text
