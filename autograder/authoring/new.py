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
from torch import Tensor


# %%
def {name}(x: Tensor) -> Tensor:
    """TODO: the result and its shape."""
    # TODO {number}: what to write, not how.
    ### BEGIN SOLUTION
    return x * 2
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
    rows, columns = {axes[0]!r}, {axes[1]!r}
    return impl.{name}(given.normal(given.size(rows), given.size(columns)))
'''

STEPS = '''"""{number}: the worked example of the lesson."""

from autograder.checks import step


@step("every number doubled", "[2 4]")
def step_doubled(impl, given):
    return impl.{name}(given.tensor([1, 2]))
'''

MISCONCEPTIONS = """[{dashes}-squared]
name = "the numbers are squared"
explanation = "TODO: one sentence about what is wrong with it."
hint = "What becomes of 3?"
find = '''return x * 2'''
replace = '''return x**2'''
"""

ACCEPTED = """# Adds instead of multiplying.
from torch import Tensor


def {name}(x: Tensor) -> Tensor:
    return x + x
"""

ENTRY = """
[[exercises]]
id = "{id}"
title = "{title}"
points = {points}             # its share: all points are scaled to the total of the course
needs = []
forbidden = []

[exercises.start]
{name} = ["TODO: a question that leads to the first line."]

[exercises.hints]
doubled = [
    "TODO: a question about the failure.",
    "TODO: the principle, without code.",
    "TODO: the step, with the name of the call or operation.",
]
"""


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
    numbers = {exercise.number: exercise.id for exercise in course.exercises}
    following = int(max(numbers, default="00")) + 1
    exercise_id = name if re.match(r"ex\d", name) else f"ex{following:02d}_{name}"
    if not ID.fullmatch(exercise_id) or keyword.iskeyword(exercise_id[5:]):
        raise UsageError(
            f"{name!r} is not the name of an exercise; expected small letters, digits and _, like cache or ex15_cache"
        )
    if exercise_id[2:4] in numbers:
        taken = f"the number {exercise_id[2:4]} belongs to {numbers[exercise_id[2:4]]}"
        raise UsageError(f"{taken}; write only {exercise_id[5:]}, and it gets the next number")
    return exercise_id


def _fields(course: Course, exercise_id: str) -> dict[str, object]:
    name = exercise_id[5:]
    return {
        "id": exercise_id,
        "number": exercise_id[:4],
        "name": name,
        "dashes": name.replace("_", "-"),
        "title": name.replace("_", " "),
        "axes": [*course.sizes[0], "", ""][:2],
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
