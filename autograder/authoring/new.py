"""A new exercise to fill in: solution, checks, misconceptions and an accepted variant that already hold together."""

import re
from pathlib import Path

from autograder.course import Course
from autograder.course.names import UsageError

ID = re.compile(r"ex\d\d_[a-z][a-z0-9_]*")

SOLUTION = '''# %% [markdown]
# # {title}
#
# What the part is for; the formula, with its source; the shapes; one example in numbers.

# %%
from torch import Tensor


# %%
def {name}(x: Tensor) -> Tensor:
    """Say what comes out, and of which shape."""
    # TODO {number}: say what is to be written, and not how.
    ### BEGIN SOLUTION
    return x * 2
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# One thing to try.
'''

CHECKS = '''"""{number}: say what is checked."""

from autograder.checks import check


@check("every number is doubled", of="{name}")
def test_doubled(impl, given):
    rows, columns = {axes[0]!r}, {axes[1]!r}
    return impl.{name}(given.normal(given.size(rows), given.size(columns)))
'''

BANK = """[{dashes}-squared]
name = "the numbers are squared"
explanation = "Say in one sentence why this tempts, and what is wrong with it."
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
points = 1             # the points of all exercises add up to 100: share them out anew
needs = []
forbidden = []

[exercises.hints]
doubled = [
    "A question or an observation.",
    "The principle, without code.",
    "The step, in words.",
]
"""


def new_exercise(course: Course, exercise_id: str) -> list[Path]:
    """Write the files of a new exercise; raises `UsageError` for a name that will not do, or one that is taken."""
    if not ID.fullmatch(exercise_id):
        raise UsageError(
            f"{exercise_id!r} is no name for an exercise: expected exNN_name in small letters, like ex15_cache"
        )
    texts = _texts(course, exercise_id)
    taken = [file for file in texts if file.exists()]
    if taken:
        raise UsageError(f"{taken[0]} is there already; nothing was written")
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return list(texts)


def entry(exercise_id: str) -> str:
    """Return what course.toml has to say about it."""
    return ENTRY.format(id=exercise_id, title=exercise_id[5:].replace("_", " "))


def _texts(course: Course, exercise_id: str) -> dict[Path, str]:
    name = exercise_id[5:]
    axes = [*course.sizes[0], "", ""][:2]
    words = {
        "id": exercise_id,
        "number": exercise_id[:4],
        "name": name,
        "dashes": name.replace("_", "-"),
        "title": name.replace("_", " "),
        "axes": axes,
    }
    solutions = course.solutions_dir
    return {
        solutions / f"{exercise_id}.py": SOLUTION.format(**words),
        course.checks_dir / f"test_{exercise_id}.py": CHECKS.format(**words),
        solutions / "misconceptions" / f"{exercise_id}.toml": BANK.format(**words),
        solutions / "accepted" / exercise_id / "adds.py": ACCEPTED.format(**words),
    }
