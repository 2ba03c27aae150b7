"""`course import nbgrader` makes an exercise of an instructor's notebook, and names what it leaves out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.command_import import _checks_text, _libraries, _survivors, read_assignment
from autograder.authoring.mutants import ExerciseMutants
from autograder.authoring.proof import Part, validate
from autograder.course import BEGIN, END, UsageError, load_suite, read_course
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
RELEASED = code("def mean(numbers):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n", solution=True)
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
        ("assert abs(mean([1]) - 1) < 1e-6", 'seen["mean([1])"] = impl.mean([1])\n'),
        ("assert mean([1]) == 1 and not mean([0])", 'seen["not mean([0])"] = bool(not impl.mean([0]))'),
        ("np.testing.assert_allclose(mean([1]), 1)", 'seen["mean([1])"] = 1.0 * np.asarray(impl.mean([1]))'),
        ("assert_array_equal(mean([1]), [1])", 'seen["mean([1])"] = np.asarray(impl.mean([1]))'),
        ("assert 1 == mean([1])", 'seen["mean([1])"] = impl.mean([1])\n'),
        ("### AUTOTEST mean([1]); mean([2])", 'seen["mean([2])"] = impl.mean([2])'),
        ("### HASHED AUTOTEST mean([3])", 'seen["mean([3])"] = impl.mean([3])'),
        ("with pytest.raises(ValueError):\n    mean([])", "given.raises(lambda: impl.mean([]))"),
        ("assert_raises(ValueError, mean, [])", "given.raises(lambda: impl.mean([]))"),
        (
            "with pytest.raises((ValueError, st.StatisticsError)):\n    x = mean([])",
            '["ValueError", "StatisticsError"]',
        ),
        ("assert round(st.mean([mean([1])]), 2) == 1", "import statistics as st\n"),
    ],
)
def test_the_forms_of_an_assert(source: str, line: str) -> None:
    before = "import numpy as np, pytest\nfrom nose.tools import assert_raises\nfrom numpy.testing import *\n"
    before = before.replace("*", "assert_array_equal")
    found = read_assignment([IMPORTS, MEAN, graded(before + source)], "ex07", "a.ipynb")
    assert line in "".join(found.checks)
    assert found.left == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("assert mean([1]) < 2", 'seen["mean([1]) < 2"] = bool(impl.mean([1]) < 2)'),
        ("assert isinstance(mean([1]), float)", "= bool(isinstance(impl.mean([1]), float))"),
        ("assert mean([1]) != 2", "= bool(impl.mean([1]) != 2)"),
        ("assert mean([1]) == 1 or mean([1]) == 2", "= bool(impl.mean([1]) == 1 or impl.mean([1]) == 2)"),
        ("assert mean([1])", "= bool(impl.mean([1]))"),
        ("assert {mean([1])} == {1}", "= bool({impl.mean([1])} == {1})"),
        ("assert type(mean([1])) == float", "= bool(type(impl.mean([1])) == float)"),
        ("assert_equal(mean([1]).dtype, np.float)", 'seen["mean([1]).dtype"] = str(impl.mean([1]).dtype)'),
        ("assert abs(mean([1]) - 1) < 0.1", "= bool(abs(impl.mean([1]) - 1) < 0.1)"),
        ("assert mean([1]) == pytest.approx(1, abs=0.1)", "= bool(impl.mean([1]) == pytest.approx(1, abs=0.1))"),
        ("assert np.allclose(mean([1]), 1, atol=1e-3)", "= bool(np.allclose(impl.mean([1]), 1, atol=0.001))"),
        ("x = mean([1])\nassert mean([x]) == x", "= bool(impl.mean([x]) == x)"),
        ("assert_equal(mean([1]), mean([1, 1]))", "= bool(impl.mean([1]) == impl.mean([1, 1]))"),
        ("assert_allclose(mean([1]), 1, rtol=0.1)", "= holds(lambda: assert_allclose(impl.mean([1]), 1, rtol=0.1))"),
        ("assert_almost_equal(mean([1]), 1, 2)", "= holds(lambda: assert_almost_equal(impl.mean([1]), 1, 2))"),
        ("assert_array_less(mean([1]), 2)", "= holds(lambda: assert_array_less(impl.mean([1]), 2))"),
    ],
)
def test_an_assert_that_many_right_values_pass_is_observed_as_true_or_false(source: str, line: str) -> None:
    before = "import numpy as np, pytest\nfrom nose.tools import assert_equal\nfrom numpy.testing import *\n"
    before = before.replace("*", "assert_allclose, assert_almost_equal, assert_array_less")
    found = read_assignment([MEAN, graded(before + source)], "ex07", "a.ipynb")
    assert line in _checks_text("ex07_means", found)
    assert found.left == []
    compile(_checks_text("ex07_means", found), "checks", "exec")


DATA = {"cell_type": "code", "source": "n = 3\nx = list(range(n))\nprint(x)\nx.append(7)\nmean(x)\ny = mean(x)\n"}


@pytest.mark.parametrize(
    ("cells", "lines"),
    [
        (["assert mean(x) == 3"], ["n = 3", "x = list(range(n))", "x.append(7)", 'seen["mean(x)"] = impl.mean(x)']),
        (["assert y == 3"], ["n = 3", "x = list(range(n))", "x.append(7)", "y = impl.mean(x)", 'seen["y"] = y']),
        (["x = [1]\nassert mean(x) == 1"], ["x = [1]", 'seen["mean(x)"] = impl.mean(x)']),
        (["n += 1\nassert mean([n]) == 4"], ["n = 3", "n += 1", 'seen["mean([n])"] = impl.mean([n])']),
        (["assert mean([n for n in [1]]) == 1"], ['seen["mean([n for n in [1]])"] = impl.mean([n for n in [1]])']),
        (["z = [5]\nassert mean(z) == 5", "assert mean(z) == 5"], ["z = [5]", 'seen["mean(z)"] = impl.mean(z)']),
        (
            ["def two(f):\n    return f([2])\n\nassert two(mean) == 2", "assert two(max) == mean([2])"],
            ["def two(f):", "    return f([2])", 'seen["mean([2])"] = impl.mean([2])'],
        ),
        (
            ["for n in [1]:\n    assert mean([n]) == n", "for n in [2]:\n    assert mean([n]) == n"],
            ["for n in [2]:", '    seen[f"mean([n]), {len(seen) + 1}"] = impl.mean([n])'],
        ),
        (["a = [1]\nmean(a)\nassert a == [1]"], ["a = [1]", "impl.mean(a)", 'seen["a"] = a']),
    ],
)
def test_a_check_begins_with_what_its_cell_needs_of_other_cells(cells: list[str], lines: list[str]) -> None:
    tests = [graded(source, f"cell{at}") for at, source in enumerate(cells)]
    found = read_assignment([MEAN, DATA, *tests], "ex07", "a.ipynb")
    body = found.checks[-1].partition("seen = {}\n")[2].rpartition("    return seen")[0]
    assert body.splitlines() == [f"    {line}" for line in lines]
    assert found.left == []


def test_a_function_of_asserts_makes_a_check_of_each_cell_that_calls_it() -> None:
    one = graded("def agrees(f, x, want):\n    assert f(x) == want\n", "one")
    two = graded("agrees(mean, [1], 1)\nagrees(mean, [2], 2)\n", "two")
    found = read_assignment([MEAN, one, two], "ex07", "a.ipynb")
    [check] = found.checks
    assert 'def agrees(f, x, want):\n        seen[f"f(x) == want, {len(seen) + 1}"] = bool(f(x) == want)\n' in check
    assert "    agrees(impl.mean, [1], 1)\n    agrees(impl.mean, [2], 2)\n    return seen\n" in check
    assert found.asserts == 2
    assert found.left == ["cell 2 (one) has no assert that became a check: its points (2) are left out too"]


def test_a_name_that_students_bind_is_read_from_the_program_until_a_cell_binds_it() -> None:
    answer = code("### BEGIN SOLUTION\nsize = 3\n### END SOLUTION", solution=True)
    test = graded(
        "assert size == 3\nsize = size + 1\nassert [size for _ in [1]] == [4]\nassert (lambda size: size)(size)"
    )
    found = read_assignment([answer, test], "ex07", "a.ipynb")
    assert 'seen["size"] = impl.size\n    size = impl.size\n    size = size + 1\n' in found.checks[0]
    assert "= [size for _ in [1]]\n" in found.checks[0]
    assert "bool((lambda size: size)(size))" in found.checks[0]


def test_a_cell_that_uses_names_of_an_import_of_all_names_is_kept() -> None:
    cell = {"cell_type": "code", "source": "from math import *\nhalf = pi / 2\n"}
    assert "half = pi / 2" in read_assignment([MEAN, cell, ASSERTS], "ex07", "a.ipynb").solution


def test_a_cell_keeps_what_a_stub_can_run_and_shows_the_rest_as_text() -> None:
    source = "import math  # all of it\nprint(math.pi)\nx = [1]\ny = mean(x)\nz = y + 1\nu = [*x, of_a_test]\n"
    cell = {"cell_type": "code", "source": source}
    found = read_assignment([MEAN, cell, ASSERTS], "ex07", "a.ipynb")
    text = "\n".join(found.solution)
    assert "# %%\nimport math  # all of it\n\nx = [1]\n\n\n# %% [markdown]\n# ```python\n# print(math.pi)\n" in text
    assert "# y = mean(x)\n# z = y + 1\n# u = [*x, of_a_test]\n# ```" in text


def test_loops_and_calls_that_fill_a_value_stay_code() -> None:
    source = (
        "import numpy as np\na = np.zeros((3, 3))\nfor i in range(3):\n    a[i, i] = i\ntotal = 0\nfor i in range(3):\n"
        "    total += i\ni = 0\nwhile i < 2:\n    a[0, i] = 1\n    i += 1\nnp.fill_diagonal(a, 2)\nprint(a)\n"
    )
    found = read_assignment([MEAN, {"cell_type": "code", "source": source}, ASSERTS], "ex07", "a.ipynb")
    code, _, shown = "\n".join(found.solution).partition("# %% [markdown]\n# ```python\n")
    assert source.removesuffix("print(a)\n") in code
    assert shown.startswith("# print(a)\n# ```")


@pytest.mark.parametrize(
    "marks", [("###BEGIN SOLUTION", "###END SOLUTION"), ("# BEGIN SOLUTION ", "# END SOLUTION here")]
)
def test_marks_that_nbgrader_knows_become_those_of_the_course(marks: tuple[str, str]) -> None:
    text = json.dumps(MEAN).replace("### BEGIN SOLUTION", marks[0]).replace("### END SOLUTION", marks[1])
    found = read_assignment([json.loads(text), graded("assert mean([1]) == 1")], "ex07", "a.ipynb")
    assert found.solution == read_assignment([MEAN, graded("assert mean([1]) == 1")], "ex07", "a.ipynb").solution


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("size = 3", ["# TODO ex07: write this", BEGIN, "size = 3", END]),
        (
            f"for i in [1]:\n{BEGIN}\n    print(i)\n{END}",
            ["# TODO ex07: write this", BEGIN, "for i in [1]:", "    print(i)", END],
        ),
        (
            'def one(x):\n    """Return 1."""\n    y = 1\n    return y',
            [
                *("def one(x):", '    """Return 1."""', "    # TODO ex07: write one"),
                f"    {BEGIN}",
                "    y = 1",
                "    return y",
            ],
        ),
        (
            "class One:\n    def one(self):\n        return 1",
            [
                *("class One:", "    def one(self):", "        # TODO ex07: write One"),
                f"        {BEGIN}",
                "        return 1",
            ],
        ),
    ],
)
def test_a_cell_of_answers_is_written_by_students(source: str, lines: list[str]) -> None:
    cells = [MEAN, code(source, grade=False, solution=True, grade_id="whole"), graded("assert mean([1]) == 1")]
    found = read_assignment(cells, "ex07", "a.ipynb")
    assert "\n".join(lines) in "\n".join(found.solution)
    whole = "cell 2 (whole) has no ### BEGIN SOLUTION, so students write all of it."
    outside = "cell 2 (whole) has answers outside of functions, where a stub has no mark of them: move them into one."
    assert found.notes == [*([] if BEGIN in source else [whole]), *([] if "def" in source else [outside])]


def test_lines_for_ipython_are_left_out_and_the_rest_of_their_cell_stays() -> None:
    cell = code("%matplotlib inline\nimport math\n!python -V\nlen?\n")
    found = read_assignment([MEAN, cell, graded("%%time\nassert mean([math.pi]) > 3")], "ex07", "a.ipynb")
    assert "import math" in found.solution
    assert "bool(impl.mean([math.pi]) > 3)" in found.checks[0]
    assert [one.partition(":")[0] for one in found.left] == [
        *("cell 2, `%matplotlib inline`", "cell 2, `!python -V`", "cell 2, `len?`", "cell 3 (asserts), `%%time`"),
    ]


def test_no_two_checks_have_one_title_or_one_id() -> None:
    raising = "with pytest.raises(ValueError):\n    mean([])\n"
    first = graded(f'import pytest\n"""Works"""\nassert mean([1]) == 1\n{raising}{raising}', "a")
    tests = [
        first,
        graded('"""Works"""\nassert mean([2]) == 2', "a_1"),
        graded('"""Works"""\nassert mean([3]) == 3', "b"),
    ]
    found = read_assignment([MEAN, *tests], "ex07", "a.ipynb")
    text = "".join(found.checks)
    assert len(set(re.findall(r"def (\w+)", text))) == len(set(re.findall(r'@check\(\s*("[^"]+")', text))) == 5


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (graded("del mean\nassert mean([1])", "names"), "cell 3 (names), line 1, `del mean`: it changes mean"),
        (
            graded("del mean\nassert mean([1])\nassert mean([2])"),
            "and what follows may need it: no check has the 2 asserts below it",
        ),
        (graded("del mean\nassert mean([1])"), "has no assert that became a check: its points (2) are left out too"),
        (graded("math.pi = 3\nassert mean([1])"), "`math.pi = 3`: it changes math, which other checks use"),
        (graded("def mean(x):\n    return 1\nassert mean([1])"), "it changes mean, which belongs to the program"),
        (
            graded("for i in [1]:\n    assert i == 1\n    assert mean([i])"),
            "`assert i == 1` in a loop or a function: it looks at",
        ),
        (
            graded("import pytest\nfor i in [1]:\n    with pytest.raises(ValueError):\n        mean([])", "loop"),
            "an exception is a check of its own only for one call",
        ),
        (
            code(MEAN["source"][0] + MEAN["source"][1], grade=True, solution=True),
            "cell 3 is graded by hand: the exercise",
        ),
        (
            graded("assert other([1]) == 1", "other"),
            "`assert other([1]) == 1`: it uses other, which no cell here defines",
        ),
        (graded("assert 1 == 1", "one"), "`assert 1 == 1`: it looks at nothing of the program"),
        (graded("mean = max\nassert mean([1])", "max"), "it changes mean, which belongs to the program"),
        (graded("assert mean(", "syntax"), "cell 3 (syntax) is no Python: its asserts became no check"),
        (graded("x = 1", "no_assert"), "cell 3 (no_assert) has no assert that became a check"),
        (code("mode = max", grade=True, solution=True, grade_id="essay"), "is a solution and is graded by hand"),
        (code("%%bash\nls"), "cell 3 is no Python: a program cannot have it"),
        (code("return 1"), "cell 3 is no Python: a program cannot have it"),
        (graded("assert mean([1])\nyield 1", "outside"), "cell 3 (outside) is no Python: its asserts became no check"),
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
        ([RELEASED, ASSERTS], "a.ipynb has no ### BEGIN SOLUTION: give the notebook of the instructor, not that of"),
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
    assert "4 asserts became 2 checks, with" in done.stdout
    assert "of the solution, the asserts let " in done.stdout
    course = read_course(root)
    suite = load_suite(course, [course.exercises[-1]])
    assert course.exercises[-1].title == "two means"
    found = validate(suite, seed=1, jobs=1, cache=tmp_path / "cache", part=Part(right=True))
    assert [one.checks for one in found.proofs] == [{"asserts": "pass", "asserts_1": "pass"}]
    assert tiny.run_course(root, "build", "3").returncode == 0
    assert "raise NotImplementedError" in (root / "exercises" / "ex03_two_means.py").read_text("utf-8")
    again = tiny.run_course(
        root, "import", "nbgrader", str(notebook(tmp_path, [code("import absent"), *CELLS])), "--name", "b"
    )
    assert (again.returncode, again.stderr) == (0, "")
    assert "It needs absent, which its entry in course.toml now lists." in again.stdout
    assert "The checks cannot be tried yet: ex04_b is left out" in again.stdout
    assert read_course(root).every[-1].libraries == ("absent",)


def test_libraries_are_the_modules_that_neither_python_nor_the_course_has() -> None:
    text = (
        "import math, numpy as np\nimport pandas.core\ndef f():\n    from scipy.linalg import qr\n    from . import b\n"
    )
    assert _libraries(text, ["numpy"]) == ["pandas", "scipy"]


def test_no_claim_is_made_about_small_changes_that_were_not_tried(tmp_path: Path) -> None:
    exercise = read_course(tiny.copied(tmp_path / "course")).exercises[0]
    [sentence] = _survivors(ExerciseMutants(exercise, 9, 9, 0, 0, (), ()), "")
    assert sentence.endswith("within 60 s: `course mutate 01` tries all 9.")
