"""Stubs are solutions without their marked regions; a solution without a stub gives a sentence."""

import ast
from pathlib import Path

import pytest

from autograder.authoring.oversights import stale_stubs
from autograder.course import BEGIN, END, Exercise, StubError, make_stub
from tests.support import tiny

MODULE_OR_CLASS = (ast.Module, ast.ClassDef)
EXERCISE = Exercise("ex07_example", "example", 100, (), {}, ())


def stub(text: str) -> str:
    return make_stub(text, EXERCISE)


def test_a_region_becomes_an_error_that_names_the_exercise_and_the_function() -> None:
    text = f"def double(x):\n    '''Twice x.'''\n    {BEGIN}\n    return x + x\n    {END}\n"
    assert stub(text) == "def double(x):\n    '''Twice x.'''\n    raise NotImplementedError(\"ex07: double\")\n"


def test_a_method_is_named_with_its_class_and_a_function_after_the_class_is_not() -> None:
    text = (
        f"class Box:\n    def put(self, x):\n        {BEGIN}\n        self.x = x\n        {END}\n\n\n"
        f"def free(x):\n    {BEGIN}\n    return x\n    {END}\n"
    )
    assert '"ex07: Box.put"' in stub(text)
    assert '"ex07: free"' in stub(text)


def test_a_region_at_the_margin_is_left_out_and_what_is_around_it_stays() -> None:
    text = f"import torch\n{BEGIN}\nSECRET = 1\n{END}\nOPEN = 2\n"
    assert stub(text) == "import torch\nOPEN = 2\n"


def test_several_regions_of_a_function_each_become_an_error_with_their_indentation() -> None:
    text = (
        f"def f(x):\n    if x:\n        {BEGIN}\n        x = 1\n        {END}\n    {BEGIN}\n    return x\n    {END}\n"
    )
    lines = stub(text).splitlines()
    assert [line[: len(line) - len(line.lstrip())] for line in lines if "raise" in line] == ["        ", "    "]
    ast.parse(stub(text))


def test_methods_of_the_solution_alone_are_left_out_of_the_class() -> None:
    text = (
        f"class Box:\n    {BEGIN}\n    size = 3\n    {END}\n\n    def put(self, x):\n        {BEGIN}\n"
        f"        self.x = x\n        {END}\n\n    {BEGIN}\n    def secret(self):\n        return 1\n    {END}\n"
    )
    assert stub(text) == ('class Box:\n\n    def put(self, x):\n        raise NotImplementedError("ex07: Box.put")\n')


@pytest.mark.parametrize("file", sorted((tiny.REPOSITORY / "exercises").glob("ex*.py")), ids=lambda file: file.stem)
def test_a_stub_of_the_course_raises_in_functions_only(file: Path) -> None:
    bodies = [node.body for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, MODULE_OR_CLASS)]
    assert not any(isinstance(statement, ast.Raise) for body in bodies for statement in body)


def test_a_file_without_regions_is_its_own_stub() -> None:
    assert stub("x = 1\n") == "x = 1\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"{BEGIN}\nx = 1\n", f"ex07_example.py:1: this region has no {END}"),
        (f"x = 1\n{END}\n", "ex07_example.py:2: this region has no ### BEGIN SOLUTION"),
        (
            f"{BEGIN}\n{BEGIN}\n{END}\n",
            f"ex07_example.py:1: this region has no {END}; write one above the {BEGIN} of line 2",
        ),
        (f"{BEGIN}\n{END}\n{END}\n", "ex07_example.py:3: this region has no ### BEGIN SOLUTION"),
    ],
)
def test_marks_that_do_not_match_are_reported_with_their_line(text: str, sentence: str) -> None:
    with pytest.raises(StubError, match=sentence):
        stub(text)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("### BEGIN SOLUTON", BEGIN),
        ("### BEIGN SOLUTION", BEGIN),
        ("    ## BEGIN SOLUTION", BEGIN),
        ("###BEGIN SOLUTION", BEGIN),
        ("### Begin Solution", BEGIN),
        ("# begin solution", BEGIN),
        ("### BEGIN_SOLUTION", BEGIN),
        ("### BEGINSOLUTION:", BEGIN),
        ("### BEGIN SOLUTION of the mean", BEGIN),
        ("x = 1  ### END SOLUTION", END),
        ("### END SLOUTION", END),
        ("#### end solutions", END),
    ],
)
def test_what_is_nearly_a_mark_is_refused_with_the_right_one(line: str, meant: str) -> None:
    with pytest.raises(StubError, match=f"^ex07_example.py:2: .* is no mark of a region, expected {meant}; "):
        stub(f"x = 1\n{line}\ny = 2\n")


@pytest.mark.parametrize(
    "line",
    ["# the solution", "# begin solution with a sketch", "# find solutions", "x = '# begin solution'", "# Ends so."],
)
def test_a_sentence_is_no_mark(line: str) -> None:
    assert stub(f"{line}\n") == f"{line}\n"


def test_no_line_of_a_solution_is_in_its_stub() -> None:
    for exercise in tiny.COURSE.exercises:
        solution = (tiny.ROOT / "solutions" / exercise.file).read_text("utf-8")
        made = make_stub(solution, exercise)
        inside = solution.split(BEGIN)[1:]
        secret = {line.strip() for part in inside for line in part.split(END)[0].splitlines() if line.strip()}
        assert not secret & {line.strip() for line in made.splitlines()}
        ast.parse(made)


def test_the_stubs_of_the_tiny_course_are_up_to_date() -> None:
    assert stale_stubs(tiny.COURSE) == {}


@pytest.mark.worker
def test_building_makes_what_is_missing_and_is_content_with_good_files(course: Path) -> None:
    (course / "exercises" / tiny.FILES[0]).unlink()
    done = tiny.run_course(course, "build")
    made = (tiny.FILES[0], *(f"{Path(file).stem}.ipynb" for file in tiny.FILES))
    assert (done.returncode, done.stdout) == (0, f"made {', '.join(made)}\n")
    assert tiny.run_course(course, "build").stdout == "2 stubs and 2 notebooks are up to date\n"
    assert (course / "exercises" / tiny.FILES[0]).read_bytes() == (tiny.ROOT / "exercises" / tiny.FILES[0]).read_bytes()


@pytest.mark.worker
def test_building_overwrites_edited_files_only_with_force(course: Path) -> None:
    mine = course / "exercises" / tiny.FILES[0]
    mine.write_text("# my work\n")
    refused = tiny.run_course(course, "build")
    assert refused.returncode == 2
    assert "differs from what the solutions give: `course build --force` replaces it" in refused.stderr
    assert mine.read_text() == "# my work\n"
    checked = tiny.run_course(course, "build", "--check")
    assert (checked.returncode, mine.read_text()) == (1, "# my work\n")
    assert f"stale: {tiny.FILES[0]}" in checked.stdout
    assert tiny.run_course(course, "build", "--force").returncode == 0
    assert mine.read_text() != "# my work\n"


@pytest.mark.worker
def test_building_from_a_solution_with_a_mark_missing_or_from_none_is_a_sentence(course: Path) -> None:
    solution = course / "solutions" / tiny.FILES[0]
    solution.write_text(solution.read_text().replace(END, ""))
    done = tiny.run_course(course, "build")
    assert done.returncode == 2
    assert "this region has no ### END SOLUTION" in done.stderr
    solution.unlink()
    done = tiny.run_course(course, "build")
    assert done.returncode == 2
    assert tiny.FILES[0] in done.stderr
