"""Add a new exercise: its files, and its entry in course.toml.

The files are a small exercise that `course validate` proves. You replace it by your own.
"""

import argparse
import json
import keyword
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

from autograder.cli import CommandParser, say
from autograder.course import (
    COURSE_FILE,
    STEPS_PREFIX,
    Course,
    CourseError,
    Part,
    UsageError,
    find_course,
    read_course,
    refuse_kit,
    suggestion,
    write_atomically,
)
from autograder.ending import PASS
from autograder.report import number

from .release import SKELETON, requirement

# Add an exercise to the text of a course.toml, and leave everything else as the author wrote it.

_TABLE = re.compile(r"^\s*\[{1,2}\s*([\w-]+)")
_EXERCISES = "exercises"


class EntryError(Exception):
    """A text that an entry cannot be added to; the message is a sentence."""


def with_entry(text: str, entry: str, at: int | None = None) -> str:
    """Return the text with an `[[exercises]]` entry after so many of those there, or all. Raises `EntryError`."""
    lines = text.splitlines(keepends=True)
    place = _place(lines, at)
    before, after = "".join(lines[:place]).rstrip(), "".join(lines[place:]).lstrip()
    made = f"{before}\n\n{entry.strip()}\n" + (f"\n{after}" if after else "")
    # The text is edited line by line, so the result is compared with what it should mean.
    if _read(made) != _expected(text, entry, at):
        raise EntryError("the exercises of course.toml are not written as [[exercises]] tables; write them so")
    return made


def _place(lines: list[str], at: int | None) -> int:
    """Return the line after the tables of `at` exercises, or of all: the next table with its comments, or the end."""
    tables = [(number, match[1]) for number, line in enumerate(lines) if (match := _TABLE.match(line))]
    begins = [number for number, name in tables if name == _EXERCISES and lines[number].lstrip().startswith("[[")]
    until = begins[at] if at is not None and at < len(begins) else len(lines)
    last = max((number for number, name in tables if name == _EXERCISES and number < until), default=None)
    if last is None and until < len(lines):
        last = until - 1
    following = [number for number, _ in tables if last is not None and number > last]
    place = following[0] if following else len(lines)
    while following and place > 0 and (lines[place - 1].startswith("#") or not lines[place - 1].strip()):
        place -= 1
    return place


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError):
        return None


def _expected(text: str, entry: str, at: int | None) -> dict[str, Any]:
    before, added = tomllib.loads(text, parse_float=Decimal), tomllib.loads(entry, parse_float=Decimal)
    exercises = before.get(_EXERCISES, [])
    every = [*(exercises if isinstance(exercises, list) else [])]
    place = at if at is not None else len(every)
    every[place:place] = added[_EXERCISES]
    return {**before, _EXERCISES: every}


ID = re.compile(r"ex\d\d_[a-z][a-z0-9_]*")

SOLUTION = '''# %% [markdown]
# # {title}
#
# TODO: the purpose of this part, the formula with its source, the shapes, and one worked example.

# %%
{first_cell}def {name}(x: {type}) -> {type}:
    """TODO: the result and its shape."""
    # TODO {number}: what to write, not how.
    ### BEGIN SOLUTION
    return {right}
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# TODO: one experiment.
'''

CHECKS = '''"""{number}: TODO: what is checked."""

from autograder.checks import check


@check("every number is doubled", of="{name}")
def test_doubled(impl, given):
    return impl.{name}({inputs})
'''

STEPS = '''"""{number}: the worked example of the lesson."""

from autograder.checks import step


@step("every number doubled", "2 4")
def step_doubled(impl, given):
    return impl.{name}({example})
'''

MISCONCEPTIONS = """[{dashes}-squared]
name = "the numbers are squared"
explanation = "TODO: one sentence about what is wrong with it."
hint = "What does your function make of 3, and what of 2?"
find = "{find}"
replace = "{replace}"
"""

ACCEPTED = """# Adds instead of multiplying.
{imports}def {name}(x: {type}) -> {type}:
    return {variant}
"""

ENTRY = """
[[exercises]]
id = "{id}"
{part}title = "{title}"
points = {points}             # its share: all points are scaled to the total of {whole}
needs = []
forbidden = []
{libraries}"""

HINTS = """[start]
{name} = ["TODO: a question that leads to the first line of the function."]

[hints]
doubled = [
    "TODO: a question about the failure, which a look at one number answers.",
    "TODO: the principle behind the right result, in words and without any code.",
    "TODO: the step to take, with the name of the call or the operation.",
]
"""


ARRAYS = {"right": "x * 2", "variant": "x + x", "find": "x * 2", "replace": "x**2"}
TENSORS = {**ARRAYS, "import": "from torch import Tensor", "type": "Tensor", "example": "given.tensor([1, 2])"}
NUMPY = {**ARRAYS, "import": "import numpy as np", "type": "np.ndarray", "example": "given.array([1.0, 2.0])"}
PLAIN = {
    "right": "[number * 2 for number in x]",
    "variant": "[number + number for number in x]",
    "find": "number * 2",
    "replace": "number**2",
    "type": "list[float]",
    "inputs": "given.reals(-3, 3, 5)",
    "example": "[1.0, 2.0]",
}
"""What differs between the new exercises of courses with PyTorch, with NumPy, and in plain Python."""


def new_exercise(course: Course, name: str, part: str | None = None) -> list[Path]:
    """Write the files of a new exercise and its entry in course.toml; return the files, course.toml last.

    It is the last one of its `part`: without a name, of the last part. Raises `UsageError` for an invalid name, or one
    that is taken: then nothing was written.
    """
    exercise_id = id_of(course, name)
    owner = _part(course, part)
    fields = _fields(course, exercise_id, owner)
    return write_exercise(course, _texts(course, exercise_id, fields), fields, owner)


def write_exercise(
    course: Course, texts: dict[Path, str], fields: Mapping[str, object], part: Part | None
) -> list[Path]:
    """Write the files of an exercise, and its entry with these fields to course.toml; return them, course.toml last.

    Raises `UsageError` if one of the files exists: then nothing was written.
    """
    taken = [file for file in texts if file.exists()]
    if taken:
        raise UsageError(f"{taken[0]} exists already, so nothing was written; choose another name")
    file = course.root / COURSE_FILE
    entry = ENTRY.format(**fields)
    try:
        texts[file] = with_entry(file.read_bytes().decode("utf-8-sig"), entry, _position(course, part))
    except EntryError as error:
        raise UsageError(f"{error}, or add this by hand:\n{entry}") from error
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    return list(texts)


def _part(course: Course, name: str | None) -> Part | None:
    """Return the part that a new exercise belongs to, if the course has parts. Raises `UsageError`."""
    ids = [part.id for part in course.parts]
    if name is None:
        return course.parts[-1] if course.parts else None
    if name not in ids:
        expected = f"expected one of {', '.join(ids)}" if ids else "the course has none, so leave --part out"
        raise UsageError(f"there is no part {name}; {suggestion(name, ids, expected)}")
    return course.parts[ids.index(name)]


def _position(course: Course, part: Part | None) -> int | None:
    """Return how many exercises are before the end of a part: those of a part stand together."""
    if part is None:
        return None
    data = _in_file(course)
    ids = [table["id"] for table in data["parts"]]
    return sum(table.get("part") in ids[: ids.index(part.id) + 1] for table in data.get(_EXERCISES, []))


def _in_file(course: Course) -> dict[str, Any]:
    """Return course.toml as it is written."""
    return tomllib.loads((course.root / COURSE_FILE).read_text("utf-8-sig"))


def id_of(course: Course, name: str) -> str:
    """Return the id of a new exercise: the name with the next number, unless it has one of its own."""
    numbers = {exercise.number: exercise.id for exercise in course.every}
    following = int(max(numbers, default="00")) + 1
    exercise_id = name if re.match(r"ex\d", name) else f"ex{following:02d}_{name}"
    if not ID.fullmatch(exercise_id):
        expected = "expected small letters, digits and _, like averages or ex99_averages"
        raise UsageError(f"{name!r} is not the name of an exercise; {expected}")
    if keyword.iskeyword(exercise_id[5:]):
        raise UsageError(f"{exercise_id[5:]} is a keyword of Python, so no function can have this name; choose another")
    if exercise_id[2:4] in numbers:
        taken = f"the number {exercise_id[2:4]} belongs to {numbers[exercise_id[2:4]]}"
        raise UsageError(f"{taken}; write only {exercise_id[5:]}, and it gets the next number")
    same = next((other.id for other in course.every if other.id[5:] == name), None)
    if same is not None:
        raise UsageError(f"{same} has this name already; choose another, or write {exercise_id} if you want two")
    return exercise_id


def entry_fields(
    course: Course, exercise_id: str, title: str, points: float, libraries: Sequence[str]
) -> dict[str, object]:
    """Return what the entry of an exercise says, in the last part of a course with parts."""
    owner = _part(course, None)
    own = {"title": title.replace("\\", "").replace('"', "'"), "points": f"{points:g}"}
    more = {"libraries": f"libraries = {json.dumps(libraries)}\n"} if libraries else {}
    return {**_fields(course, exercise_id, owner), **own, **more}


def _fields(course: Course, exercise_id: str, part: Part | None) -> dict[str, object]:
    name = exercise_id[5:]
    kind = TENSORS if "torch" in course.libraries else NUMPY if "numpy" in course.libraries else PLAIN
    sizes = (part.sizes if part else ()) or course.sizes
    axes = " ".join([*sizes[0]][:2])
    imports = f"{kind['import']}\n\n\n" if "import" in kind else ""
    return {
        "inputs": f'given.normal(*given.sizes("{axes}"))' if axes else "given.normal(3, 4)",
        **kind,
        "imports": imports,
        "first_cell": imports and f"{imports}# %%\n",
        "id": exercise_id,
        "part": f'part = "{part.id}"\n' if part else "",
        "whole": "its part" if part else "the course",
        "number": exercise_id[:4],
        "name": name,
        "dashes": name.replace("_", "-"),
        "title": name.replace("_", " "),
        "points": f"{_usual_points(course):g}",
        "libraries": "",
    }


def _usual_points(course: Course) -> float:
    """Return the median of the points in course.toml; 10 in a course without exercises."""
    tables = _in_file(course).get(_EXERCISES, [])
    return median(table["points"] for table in tables) if tables else 10


def rescaled_points(course: Course) -> Iterator[str]:
    """Yield a sentence for the course or each part in which exercises have other points than course.toml says."""
    written = {table["id"]: Decimal(str(table["points"])) for table in _in_file(course).get(_EXERCISES, [])}
    worth = {exercise.id: Decimal(exercise.points) / 100 for exercise in course.every}
    owners = {f"part {part.id}": part.exercises for part in course.parts} or {"the course": tuple(worth)}
    for owner, ids in owners.items():
        own = [id_ for id_ in ids if id_ in written and id_ in worth]
        if other := [id_ for id_ in own if written[id_] != worth[id_]]:
            shares, total = sum(written[id_] for id_ in own), sum(worth[id_] for id_ in own)
            first = f"exercise {number(other[0])} has {worth[other[0]]:f} instead of {written[other[0]]:f}"
            yield f"the points of {owner} add up to {shares:f} and are scaled to {total:f}: {first}"


def _texts(course: Course, exercise_id: str, fields: Mapping[str, object]) -> dict[Path, str]:
    solutions = course.solutions_dir
    return {
        solutions / f"{exercise_id}.py": SOLUTION.format(**fields),
        course.checks_dir / f"test_{exercise_id}.py": CHECKS.format(**fields),
        course.checks_dir / f"{STEPS_PREFIX}{exercise_id}.py": STEPS.format(**fields),
        course.checks_dir / "hints" / f"{exercise_id}.toml": HINTS.format(**fields),
        solutions / "misconceptions" / f"{exercise_id}.toml": MISCONCEPTIONS.format(**fields),
        solutions / "accepted" / exercise_id / "adds.py": ACCEPTED.format(**fields),
    }


# A new course with one exercise, which at once validates, builds, checks, grades and releases.

EXAMPLE = "ex01_distances"
LONGEST_TITLE = 60


def new_course(folder: Path, kind: str = "plain", *, title: str | None = None) -> list[Path]:
    """Write a course to a new or empty folder, and return its files. Its `kind` is "plain", "numpy" or "torch".

    Raises `UsageError` for a folder that cannot hold it: then nothing was written.
    """
    root = folder.resolve()
    _refuse(folder, root)
    if title is None:
        title = root.name.replace("-", " ").replace("_", " ").strip().capitalize()
    if not title.strip() or len(title) > LONGEST_TITLE or not title.isprintable():
        raise UsageError(f"the title {title!r} is not one line of 1 to {LONGEST_TITLE} characters; give --title TEXT")
    texts = _course_texts(title, kind)
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


def _course_texts(title: str, kind: str) -> dict[str, str]:
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
        "AGENTS.md": "agents.txt",
        ".github/workflows/course.yml": "workflow.txt",
        f"{checks}/test_{EXAMPLE}.py": f"{'torch' if kind == 'numpy' else kind}/checks.txt",
        f"{checks}/{STEPS_PREFIX}{EXAMPLE}.py": f"{kind}/steps.txt",
        f"{checks}/hints/{EXAMPLE}.toml": "hints.txt",
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


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("name", metavar="NAME", help="a name like averages, or with a free number: ex99_averages")
    does = "the part that it belongs to, in a course with parts (default: the last one)"
    parser.add_argument("--part", metavar="ID", help=does)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    course = read_course(find_course(), empty=True)
    refuse_kit(course, "new")
    *files, changed = new_exercise(course, options.name, options.part)
    for file in files:
        say(f"made {file.relative_to(course.root)}")
    say(f"added {files[0].stem} to {changed.name}{_part_of(course, options.part)}")
    for sentence in files_to_come(files[0].stem, f" {files[0].stem[2:4]}"):
        say(sentence)
    say("Now fill them in, then run both.")
    for sentence in rescaled_points(read_course(course.root)):
        say(f"Points are shares: {sentence}")
    return PASS


def files_to_come(exercise: str, named: str = "") -> Iterator[str]:
    """Yield a sentence for each command that makes more files of a new exercise; `named` is its argument."""
    yield f"`course build{named}` will make exercises/{exercise}.py and exercises/notebooks/{exercise}.ipynb."
    yield f"`course validate{named}` will write solutions/misconceptions/{exercise}.json."


def _part_of(course: Course, name: str | None) -> str:
    """Return the words about the part of a course that a new exercise belongs to, if the course has parts."""
    if not course.parts:
        return ""
    last = next(part for part in reversed(course.parts) if name in (None, part.id))
    words = f', in {"the part" if name else "the last part"}, {last.id}: "{last.title}"'
    if course.grading and last.exercises and set(last.exercises) <= set(course.grading.bonus):
        words += ".\nThe other exercises of this part are bonus; if the new one is too, add it to bonus in [grading]"
    return words
