"""Files for a new exercise, from its solution to an accepted variant, that pass `course validate`."""

import re
from pathlib import Path

from autograder.course import Course
from autograder.course.model import STEPS_PREFIX
from autograder.course.names import UsageError

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
points = 1             # the points of all exercises must add up to 100
needs = []
forbidden = []

[exercises.hints]
doubled = [
    "TODO: a question about the failure.",
    "TODO: the principle, without code.",
    "TODO: the step, with the name of the call or operation.",
]
"""


def new_exercise(course: Course, exercise_id: str) -> list[Path]:
    """Write the files of a new exercise; raises `UsageError` for an invalid name, or one that is taken."""
    if not ID.fullmatch(exercise_id):
        raise UsageError(
            f"{exercise_id!r} is not the name of an exercise, expected exNN_name in small letters, like ex15_cache"
        )
    texts = _texts(course, exercise_id)
    taken = [file for file in texts if file.exists()]
    if taken:
        raise UsageError(f"{taken[0]} exists already, so nothing was written; choose another name")
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return list(texts)


def entry(exercise_id: str) -> str:
    """Return the entry of a new exercise for course.toml."""
    return ENTRY.format(id=exercise_id, title=exercise_id[5:].replace("_", " "))


def _texts(course: Course, exercise_id: str) -> dict[Path, str]:
    name = exercise_id[5:]
    axes = [*course.sizes[0], "", ""][:2]
    fields = {
        "id": exercise_id,
        "number": exercise_id[:4],
        "name": name,
        "dashes": name.replace("_", "-"),
        "title": name.replace("_", " "),
        "axes": axes,
    }
    solutions = course.solutions_dir
    return {
        solutions / f"{exercise_id}.py": SOLUTION.format(**fields),
        course.checks_dir / f"test_{exercise_id}.py": CHECKS.format(**fields),
        course.checks_dir / f"{STEPS_PREFIX}{exercise_id}.py": STEPS.format(**fields),
        solutions / "misconceptions" / f"{exercise_id}.toml": MISCONCEPTIONS.format(**fields),
        solutions / "accepted" / exercise_id / "adds.py": ACCEPTED.format(**fields),
    }
