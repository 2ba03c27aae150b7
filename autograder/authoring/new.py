"""A new exercise, from its entry in course.toml to an accepted variant, that passes `course validate` as it is."""

import keyword
import re
import tomllib
from pathlib import Path
from statistics import median

from autograder.authoring.course_text import EntryError, with_entry
from autograder.course import Course
from autograder.course.model import STEPS_PREFIX
from autograder.course.names import UsageError
from autograder.course.problems import COURSE_FILE
from autograder.course.storage import write_atomically

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
title = "{title}"
points = {points}             # its share: all points are scaled to the total of {whole}
needs = []
forbidden = []

[exercises.start]
{name} = ["TODO: a question that leads to the first line of the function."]

[exercises.hints]
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


def new_exercise(course: Course, name: str) -> list[Path]:
    """Write the files of a new exercise and its entry in course.toml; return the files, course.toml last.

    Raises `UsageError` for an invalid name, or one that is taken: then nothing was written.
    """
    exercise_id = _id(course, name)
    texts = _texts(course, exercise_id)
    taken = [file for file in texts if file.exists()]
    if taken:
        raise UsageError(f"{taken[0]} exists already, so nothing was written; choose another name")
    file = course.root / COURSE_FILE
    entry = ENTRY.format(**_fields(course, exercise_id))
    try:
        texts[file] = with_entry(file.read_bytes().decode("utf-8-sig"), entry)
    except EntryError as error:
        raise UsageError(f"{error}, or add this by hand:\n{entry}") from error
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    return list(texts)


def _id(course: Course, name: str) -> str:
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


def _fields(course: Course, exercise_id: str) -> dict[str, object]:
    name = exercise_id[5:]
    kind = TENSORS if "torch" in course.libraries else NUMPY if "numpy" in course.libraries else PLAIN
    sizes = (course.parts[-1].sizes if course.parts else ()) or course.sizes
    axes = " ".join([*sizes[0]][:2])
    imports = f"{kind['import']}\n\n\n" if "import" in kind else ""
    return {
        "inputs": f'given.normal(*given.sizes("{axes}"))' if axes else "given.normal(3, 4)",
        **kind,
        "imports": imports,
        "first_cell": imports and f"{imports}# %%\n",
        "id": exercise_id,
        "whole": "its part" if course.parts else "the course",
        "number": exercise_id[:4],
        "name": name,
        "dashes": name.replace("_", "-"),
        "title": name.replace("_", " "),
        "points": f"{_usual_points(course):g}",
    }


def _usual_points(course: Course) -> float:
    """Return the median of the points in course.toml; 10 in a course without exercises."""
    tables = tomllib.loads((course.root / COURSE_FILE).read_text("utf-8-sig")).get("exercises", [])
    return median(table["points"] for table in tables) if tables else 10


def _texts(course: Course, exercise_id: str) -> dict[Path, str]:
    fields = _fields(course, exercise_id)
    solutions = course.solutions_dir
    return {
        solutions / f"{exercise_id}.py": SOLUTION.format(**fields),
        course.checks_dir / f"test_{exercise_id}.py": CHECKS.format(**fields),
        course.checks_dir / f"{STEPS_PREFIX}{exercise_id}.py": STEPS.format(**fields),
        solutions / "misconceptions" / f"{exercise_id}.toml": MISCONCEPTIONS.format(**fields),
        solutions / "accepted" / exercise_id / "adds.py": ACCEPTED.format(**fields),
    }
