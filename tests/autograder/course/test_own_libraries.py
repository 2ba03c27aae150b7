"""An exercise with a library of its own: where it is not installed, the exercise is left out, and commands say so."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from autograder.authoring.release import engine_files
from autograder.course import (
    Course,
    CourseError,
    UsageError,
    left_out,
    read_course,
    resolve_exercise,
    resolve_take,
    taking,
)
from autograder.runner import Runner
from tests.support import plain, tiny

ABSENT = "no_such_library"
SENTENCE = f"{plain.SEARCH} is left out and does not count: it needs {ABSENT}, which is not installed; install it: pip"
PASS, USAGE = 0, 2


def needing(folder: Path, library: str = ABSENT, *, before: str = 'title = "binary search"') -> Path:
    """Return a copy of the plain course whose second exercise needs a library of its own."""
    root = folder / "course"
    shutil.copytree(plain.ROOT, root, ignore=shutil.ignore_patterns(".course", "__pycache__"))
    tiny.replaced(root / "course.toml", before, f'{before}\nlibraries = ["{library}"]')
    return root


def ids(course: Course) -> list[str]:
    return [exercise.id for exercise in course.exercises]


def test_an_exercise_whose_library_is_absent_is_not_taken(tmp_path: Path) -> None:
    course = read_course(needing(tmp_path))
    assert ids(course) == [plain.SORT]
    assert [exercise.id for exercise in course.every] == [plain.SORT, plain.SEARCH]
    assert left_out(course) == f"{SENTENCE} install {ABSENT}"
    assert course.every_library == ()


def test_the_points_of_the_others_stay(tmp_path: Path) -> None:
    assert [one.points for one in read_course(needing(tmp_path)).exercises] == [6000]


def test_an_exercise_whose_library_is_installed_is_one_like_others(tmp_path: Path) -> None:
    course = read_course(needing(tmp_path, "numpy"))
    assert ids(course) == [plain.SORT, plain.SEARCH]
    assert left_out(course) == ""
    assert (course.libraries, course.every_library) == ((), ("numpy",))


def test_the_worker_loads_no_library_of_one_exercise(tmp_path: Path) -> None:
    root = needing(tmp_path, "numpy")
    suite = tiny.suite_at(root)
    assert Runner(suite, seed=1)._job({}, {}, {}, 1)["libraries"] == []


def test_a_linux_library_is_named_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    course = read_course(needing(tmp_path, "triton"))
    assert left_out(course).endswith("which is not installed; on Linux, install it: pip install triton")


@pytest.mark.parametrize("word", ["2", "ex02", "binary_search", plain.SEARCH])
def test_naming_it_says_what_is_missing(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match=f"^{SENTENCE}"):
        resolve_exercise(read_course(needing(tmp_path)), word)


def test_nobody_can_take_it(tmp_path: Path) -> None:
    course = read_course(needing(tmp_path))
    with pytest.raises(UsageError, match=f"^{SENTENCE}"):
        resolve_take(course, ["2"])
    assert ids(taking(course, [plain.SORT, plain.SEARCH])) == [plain.SORT]


def test_a_class_that_does_not_take_it_reads_nothing_about_it(tmp_path: Path) -> None:
    root = needing(tmp_path)
    tiny.replaced(root / "course.toml", "seed = 7", f'seed = 7\ntake = ["{plain.SORT}"]')
    assert left_out(read_course(root)) == ""


def test_a_library_that_the_course_has_already_is_a_mistake(tmp_path: Path) -> None:
    root = needing(tmp_path, "numpy")
    tiny.replaced(root / "course.toml", "seed = 7", 'seed = 7\nlibraries = ["numpy"]')
    with pytest.raises(CourseError, match="libraries lists numpy, which the whole course has already; remove it here"):
        read_course(root)


def test_a_marker_of_an_extra_stays_when_a_kit_asks_for_it(tmp_path: Path) -> None:
    extras = tomllib.loads(engine_files(read_course(needing(tmp_path, "triton")))["pyproject.toml"].decode())
    has_it = find_spec("triton") is not None
    assert ("triton" in extras["project"]["optional-dependencies"]) is has_it


def test_without_triton_this_course_has_every_exercise_but_the_one_that_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    course = read_course(tiny.REPOSITORY)
    assert [exercise.id for exercise in course.others] == ["ex36_kernel"]
    assert left_out(course).startswith("ex36_kernel is left out and does not count: it needs triton")
    assert course.grading is not None
    monkeypatch.undo()
    if find_spec("triton") is not None:
        whole = read_course(tiny.REPOSITORY)
        assert whole.others == ()
        points = {exercise.id: exercise.points for exercise in whole.exercises}
        assert all(points[exercise.id] == exercise.points for exercise in course.exercises)
        assert "ex36_kernel" in whole.grading.bonus


@pytest.mark.worker
def test_the_commands_of_a_learner_leave_it_out(tmp_path: Path) -> None:
    root = needing(tmp_path)
    shutil.copy(root / "solutions" / f"{plain.SORT}.py", root / "exercises")
    named = plain.run_course(root, "check", "2")
    assert (named.returncode, named.stdout) == (USAGE, "")
    assert SENTENCE in " ".join(named.stderr.split())
    every = plain.run_course(root, "check", "--all")
    assert every.returncode == PASS, every.stderr
    assert SENTENCE in " ".join(every.stderr.split())
    assert plain.SEARCH not in every.stdout
    listed = plain.run_course(root, "list")
    assert "1 of 1 exercise passed" in listed.stdout
    assert SENTENCE in " ".join(listed.stdout.split())
    facts = json.loads(plain.run_course(root, "list", "--json", "-").stdout)
    assert plain.SEARCH not in json.dumps(facts)


@pytest.mark.worker
def test_a_class_is_graded_without_it(tmp_path: Path) -> None:
    root = needing(tmp_path)
    for name in (plain.SORT, plain.SEARCH):
        (tmp_path / "class" / "ada").mkdir(parents=True, exist_ok=True)
        shutil.copy(root / "solutions" / f"{name}.py", tmp_path / "class" / "ada")
    graded = plain.run_course(root, "grade", str(tmp_path / "class"), "--out", str(tmp_path / "out"), *tiny.TRUSTED)
    assert graded.returncode == PASS, graded.stderr
    assert SENTENCE in " ".join(graded.stderr.split())
    header, row = (tmp_path / "out" / "scores.csv").read_text("utf-8").splitlines()
    assert header.startswith(f"student,score,max_score,{plain.SORT},handed_in")
    assert row.startswith("ada,60.00,60.00,60.00,")


@pytest.mark.worker
def test_a_kit_that_was_made_without_it_does_not_take_it(tmp_path: Path) -> None:
    root = needing(tmp_path)
    made = plain.run_course(root, "release", str(tmp_path / "kit"))
    assert made.returncode == PASS, made.stderr
    assert SENTENCE in " ".join(made.stderr.split())
    assert ids(read_course(tmp_path / "kit")) == [plain.SORT]
    assert not [*(tmp_path / "kit").rglob(f"*{plain.SEARCH}*")]
    tiny.replaced(tmp_path / "kit" / "course.toml", ABSENT, "numpy")  # as if somebody installed it
    assert ids(read_course(tmp_path / "kit")) == [plain.SORT]


@pytest.mark.worker
def test_pytest_skips_its_checks(tmp_path: Path) -> None:
    root = needing(tmp_path)
    shutil.copy(root / "solutions" / f"{plain.SORT}.py", root / "exercises")
    done = tiny.run_course(root, "tests/exercises", "-q", "-rs", program=("-m", "pytest"))
    assert done.returncode == PASS, done.stdout
    assert SENTENCE in " ".join(done.stdout.split())
    assert re.search(r"\d+ passed, \d+ skipped", done.stdout)


COMPILED = """
import os
os.environ["TRITON_INTERPRET"] = "0"
os.environ["TRITON_CACHE_DIR"] = {cache!r}
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {solutions!r})
import ex36_kernel, triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

def compiled(kernel, pointers, constants, dtype):
    names = kernel.arg_names
    types = {{name: dtype if name in pointers else "constexpr" if name in constants else "i32" for name in names}}
    source = ASTSource(fn=kernel, signature=types, constexprs=constants)
    print(len(triton.compile(source, target=GPUTarget("cuda", 80, 32)).asm["cubin"]) > 0)

compiled(ex36_kernel.softmax_kernel, "xy", {{"BLOCK": 32}}, "*bf16")
compiled(ex36_kernel.matmul_kernel, "cab", {{"BLOCK": 16, "FUSED": False, "bias": None}}, "*fp16")
compiled(ex36_kernel.matmul_kernel, ["c", "a", "b", "bias"], {{"BLOCK": 16, "FUSED": True}}, "*fp32")
"""


@pytest.mark.worker
@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_the_kernels_of_the_solution_compile_for_a_gpu(tmp_path: Path) -> None:
    program = COMPILED.format(cache=str(tmp_path / "cache"), solutions=str(tiny.REPOSITORY / "solutions"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["True"] * 3), done.stderr
