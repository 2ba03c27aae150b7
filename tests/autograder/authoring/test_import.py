"""`course import nbgrader` makes an exercise of an instructor's notebook, and names what it leaves out."""

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.command_import import _checks_text, read_assignment
from autograder.authoring.proof import Part, validate
from autograder.course import UsageError, load_suite, read_course
from tests.support import tiny


def code(source: str, **marks: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source.splitlines(keepends=True), "metadata": {"nbgrader": marks}}


def graded(source: str, id_: str = "asserts", **marks: Any) -> dict[str, Any]:
    return code(source, grade=True, solution=False, grade_id=id_, points=2, **marks)


TEXT = {"cell_type": "markdown", "source": "# Means\n\nWrite a mean.", "metadata": {}}
IMPORTS = {"cell_type": "code", "source": ["import math\n", "import statistics as st\n"], "metadata": {}}
MEAN = code(
    "def mean(numbers):\n    ### BEGIN SOLUTION\n    if not numbers:\n        raise ValueError('none')\n"
    "    return sum(numbers) / len(numbers)\n    ### END SOLUTION\n",
    grade=False,
    solution=True,
    grade_id="mean",
)
SHOWN = {"cell_type": "code", "source": "mean([1, 2])\n", "metadata": {}}
ASSERTS = graded(
    '"""Check that the mean is right"""\n'
    "numbers = [1, 2, 6]\n"
    "assert mean(numbers) == 3\n"
    "assert math.isclose(mean([1, 2]), st.mean([1, 2]))\n"
    "### BEGIN HIDDEN TESTS\n"
    "for i in range(3):\n    assert mean([i, i]) == i\n"
    "### END HIDDEN TESTS\n"
    "try:\n    mean([])\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError\n"
)
CELLS = [TEXT, IMPORTS, MEAN, SHOWN, ASSERTS]


def notebook(folder: Path, cells: list[dict[str, Any]]) -> Path:
    file = folder / "Two Means.ipynb"
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "utf-8")
    return file


def test_the_solution_and_the_texts_are_kept_and_calls_that_a_stub_cannot_run_are_text() -> None:
    found = read_assignment(CELLS, "ex07", "a.ipynb")
    text = "\n".join(found.solution)
    assert text.startswith("# %% [markdown]\n# # Means\n#\n# Write a mean.\n\n# %%\nimport math\n")
    assert "def mean(numbers):\n    # TODO ex07: write mean\n    ### BEGIN SOLUTION\n    if not numbers:" in text
    assert "# ```python\n# mean([1, 2])\n# ```" in text
    assert "\nmean(" not in text
    assert (found.left, found.points, found.asserts) == ([], 2.0, 4)


def test_asserts_become_checks_without_an_expected_value() -> None:
    found = read_assignment(CELLS, "ex07", "a.ipynb")
    values, refused = found.checks
    assert values == (
        '\n\n@check("the mean is right", points=1, of="mean")\n'
        "def test_asserts(impl, given):\n    seen = {}\n    numbers = [1, 2, 6]\n"
        '    seen["mean(numbers)"] = impl.mean(numbers)\n    seen["mean([1, 2])"] = impl.mean([1, 2])\n'
        '    for i in range(3):\n        seen[f"mean([i, i]), {len(seen) + 1}"] = impl.mean([i, i])\n    return seen\n'
    )
    assert 'judge=Raises("ValueError"),' in refused
    assert 'requires_any=("asserts",),' in refused
    assert (
        "def test_asserts_1(impl, given):\n    numbers = [1, 2, 6]\n    return given.raises(lambda: impl.mean([]))"
        in refused
    )


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("assert abs(mean([1]) - 1) < 1e-6", 'seen["abs(mean([1]) - 1)"] = abs(impl.mean([1]) - 1)'),
        ("assert isinstance(mean([1]), float)", "= type(impl.mean([1])).__name__"),
        ("assert mean([1]) and not mean([0])", 'seen["mean([0])"] = impl.mean([0])'),
        ("np.testing.assert_allclose(mean([1]), 1)", 'seen["mean([1])"] = impl.mean([1])'),
        ("### AUTOTEST mean([1]); mean([2])", 'seen["mean([2])"] = impl.mean([2])'),
        ("### HASHED AUTOTEST mean([3])", 'seen["mean([3])"] = impl.mean([3])'),
        ("with pytest.raises(ValueError):\n    mean([])", "given.raises(lambda: impl.mean([]))"),
        ("assert_raises(ValueError, mean, [])", "given.raises(lambda: impl.mean([]))"),
        ("assert round(st.mean([mean([1])]), 2) == 1", "import statistics as st\n"),
    ],
)
def test_the_forms_of_an_assert(source: str, line: str) -> None:
    before = "import numpy as np, pytest\nfrom nose.tools import assert_raises\n"
    found = read_assignment([IMPORTS, MEAN, graded(before + source)], "ex07", "a.ipynb")
    assert line in "".join(found.checks)
    assert found.left == []


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (graded("del mean\nassert mean([1])", "names"), "cell 3 (names), line 1, `del mean`: a check has no such"),
        (
            graded("assert other([1]) == 1", "other"),
            "`assert other([1]) == 1`: it uses other, which no cell here defines",
        ),
        (graded("assert 1 == 1", "one"), "`assert 1 == 1`: it looks at nothing of the program"),
        (graded("mean = max\nassert mean([1])", "max"), "it changes mean, which belongs to the program"),
        (graded("assert mean(", "syntax"), "cell 3 (syntax) is no Python: its asserts became no check"),
        (graded("x = 1", "no_assert"), "cell 3 (no_assert) has no assert that became a check"),
        (code("mode = max", grade=False, solution=True, grade_id="whole"), "is a solution with no ### BEGIN SOLUTION"),
        (code("mode = max", grade=True, solution=True, grade_id="essay"), "is a solution and is graded by hand"),
        (code("%matplotlib inline"), "cell 3 is no Python: a program cannot have it"),
        ({**TEXT, "metadata": {"nbgrader": {"grade": True, "solution": True}}}, "cell 3 is graded by hand"),
    ],
)
def test_what_has_no_place_in_an_exercise_is_named(cell: dict[str, Any], sentence: str) -> None:
    found = read_assignment([IMPORTS, MEAN, cell, graded("assert mean([1]) == 1", "last")], "ex07", "a.ipynb")
    assert any(sentence in one for one in found.left), found.left
    assert "def test_last(" in found.checks[-1]


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([TEXT, ASSERTS], "a.ipynb has no ### BEGIN SOLUTION: give the notebook of the instructor"),
        ([MEAN], "a.ipynb has no assert that can be a check; write the checks with `course new`"),
        ([MEAN, graded("x = 1")], r"no assert that can be a check: cell 2 \(asserts\) has no assert"),
    ],
)
def test_a_notebook_that_is_no_assignment_is_refused(cells: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        read_assignment(cells, "ex07", "a.ipynb")


def test_cells_with_one_id_become_checks_with_two() -> None:
    found = read_assignment([MEAN, graded("assert mean([1])"), graded("assert mean([2])")], "ex07", "a.ipynb")
    compile(_checks_text("ex07_means", found), "checks", "exec")
    assert ["def test_asserts(" in found.checks[0], "def test_asserts_again(" in found.checks[1]] == [True, True]


@pytest.mark.worker
def test_an_assignment_becomes_an_exercise_whose_solution_passes(tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "course")
    before = (root / "course.toml").read_text("utf-8")
    refused = tiny.run_course(root, "import", "nbgrader", str(notebook(tmp_path, [MEAN])))
    assert refused.returncode == 2
    assert (root / "course.toml").read_text("utf-8") == before
    done = tiny.run_course(root, "import", "nbgrader", str(notebook(tmp_path, CELLS)))
    assert done.returncode == 0, done.stderr
    assert "made solutions/ex03_two_means.py" in done.stdout
    assert "4 asserts became 2 checks" in done.stdout
    assert "of the solution, the asserts let " in done.stdout
    course = read_course(root)
    suite = load_suite(course, [course.exercises[-1]])
    assert course.exercises[-1].title == "two means"
    found = validate(suite, seed=1, jobs=1, cache=tmp_path / "cache", part=Part(right=True))
    assert [one.checks for one in found.proofs] == [{"asserts": "pass", "asserts_1": "pass"}]
    assert tiny.run_course(root, "build", "3").returncode == 0
    assert "raise NotImplementedError" in (root / "exercises" / "ex03_two_means.py").read_text("utf-8")
