"""Who may import what: the judge runs nobody's code, the worker knows nothing of it, and the engine of no subject."""

import ast
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from tests.support import plain, tiny

ENGINE = tiny.REPOSITORY / "autograder"
FILES = sorted(ENGINE.rglob("*.py"))


@dataclass
class Names:
    """The names in a file of the engine."""

    imports: list[str] = field(default_factory=list)  # dotted, `from a import b` as a.b
    identifiers: set[str] = field(default_factory=set)


@cache
def names_of(file: Path) -> Names:
    """Return the names in a file, which several tests look at."""
    found = Names()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found.imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: imports are absolute"
            found.imports += [f"{node.module}.{alias.name}" for alias in node.names]
        names = (getattr(node, name, None) for name in ("id", "attr", "name", "arg", "asname"))
        found.identifiers.update(name for name in names if isinstance(name, str))
    return found


def imports(file: Path) -> list[str]:
    """Return the dotted name of everything a file imports."""
    return names_of(file).imports


def importers(part: str, of: tuple[str, ...]) -> list[str]:
    """Return `file: name` for each import in a part of the engine that begins with one of these names."""
    files = [file for file in FILES if file.is_relative_to(ENGINE / part)]
    assert files, f"there is no autograder/{part}"
    names = tuple(f"{module}." for module in of)
    return [
        f"{file.relative_to(ENGINE)}: {name}"
        for file in files
        for name in imports(file)
        if f"{name}.".startswith(names)
    ]


ROOMS = (
    *("ending", "exits", "protocol", "formats", "checks", "edits", "worker"),
    *("course", "results", "submission"),
    *("messages", "runner", "comparison", "answer_key", "diagnosis", "judge"),
    *("report", "authoring", "learner", "instructor"),
    *("notebook", "cli", "pytest_plugin", "__main__"),
)
"""A room imports of the rooms before it only, so that each can be read without those that follow."""


def rooms(file: Path) -> set[tuple[str, str]]:
    """Return the pairs of this file's room and the other rooms it imports from."""
    own = file.relative_to(ENGINE).parts[0].removesuffix(".py")
    found = {name.split(".")[1] for name in imports(file) if name.startswith("autograder.")}
    return {(own, room) for room in found - {own} if (ENGINE / room).is_dir() or (ENGINE / f"{room}.py").is_file()}


def test_imports_run_one_way() -> None:
    every = {pair for file in FILES for pair in rooms(file) if file.name != "__init__.py" or file.parent != ENGINE}
    assert {room for pair in every for room in pair} <= set(ROOMS)
    assert {(own, room) for own, room in every if ROOMS.index(room) > ROOMS.index(own)} == set()


def test_the_guide_for_contributors_lists_the_rooms_in_their_order() -> None:
    guide = (tiny.REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    table = guide[guide.index("| room |") : guide.index("## Add something")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(ROOMS)


def test_the_worker_knows_the_protocol_the_language_of_checks_and_the_edits_alone() -> None:
    assert {room for own, room in set().union(*map(rooms, FILES)) if own == "worker"} == {"protocol", "checks", "edits"}


SEES_NO_TENSOR = sorted(set(ROOMS) - {"worker", "checks", "learner"})


@pytest.mark.parametrize("part", [part for part in SEES_NO_TENSOR if (ENGINE / part).is_dir()])
def test_what_decides_imports_neither_torch_nor_the_worker(part: str) -> None:
    assert not importers(part, ("torch", "autograder.worker", "autograder.checks.given", "autograder.checks.weights"))


def test_the_checks_of_the_course_need_no_torch() -> None:
    for folder in (tiny.REPOSITORY, tiny.ROOT):
        for file in sorted((folder / "tests" / "exercises").glob("test_*.py")):
            assert not [name for name in imports(file) if name.split(".")[0] in ("torch", "numpy")], file


CHECKED = """
import sys
import autograder.cli
status = autograder.cli.run({arguments!r})
heavy = sorted({{"torch", "numpy", "rich", "pytest", "ex01_running_mean", "ex02_matrix_power"}} & set(sys.modules))
print("\\n", status, *heavy)
"""


def loaded(course: Path, *arguments: str) -> list[str]:
    """Return the exit status of a command and the modules that its process had loaded at the end."""
    done = subprocess.run(
        [sys.executable, "-c", CHECKED.format(arguments=list(arguments))],
        cwd=course,
        env=tiny.environment({}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert not tiny.without_counts(done.stderr)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.worker
def test_listing_loads_neither_torch_nor_numpy_nor_rich(course: Path) -> None:
    assert loaded(course, "list") == ["0"]


@pytest.mark.worker
def test_a_whole_check_loads_no_torch_and_no_students_module_into_the_process_that_decides(course: Path) -> None:
    assert loaded(course, "check", "--submission", "solutions", "--json", "-") == ["0", "numpy"]
    assert loaded(course, "check", "--all") == ["1", "numpy", "rich"]


@pytest.mark.worker
def test_a_check_of_plain_values_that_pass_loads_no_numpy_once_there_is_an_answer_key(tmp_path: Path) -> None:
    course = Path(shutil.copytree(plain.ROOT, tmp_path / "course"))
    arguments = "check", "1", "--submission", "solutions", "--json", "-"
    assert loaded(course, *arguments)[0] == "0"
    assert loaded(course, *arguments) == ["0"]


@pytest.mark.worker
def test_building_an_answer_key_loads_no_torch_either(course: Path) -> None:
    for file in (course / ".course" / "cache").glob("*.key"):
        file.unlink()
    assert loaded(course, "check", "--submission", "solutions", "--json", "report.json")[0] == "0"
    assert json.loads((course / "report.json").read_text())["score"] == 10000
    assert "torch" not in loaded(course, "validate", "1", "--json", "-")


SUBJECT = re.compile(r"transformer|attention|embedding|encoder|head|softmax|layer_?norm|token", re.IGNORECASE)
TENSORS = re.compile(r"softmax", re.IGNORECASE)
PLAIN = {
    "head",
    "heads",
    "heading",
    "headings",
    "header",
    "headers",
    "HEADER",
    "_header",
    "headline",
    "JSONEncoder",
    "pytest_report_header",
}


def test_no_name_in_the_engine_speaks_of_the_subject_of_a_course() -> None:
    """Diagnosis and messages know tensors: a softmax is an operation like a mean, and must be called by its name."""
    for file in FILES:
        if file.name in ("lines.py", "ipython.py"):  # they read the tokens of TOML, and call IPython's transformer
            continue
        knows_tensors = file.relative_to(ENGINE).parts[0] in ("diagnosis", "messages")
        names = {TENSORS.sub("", name) if knows_tensors else name for name in names_of(file).identifiers} - PLAIN
        assert [name for name in names if SUBJECT.search(name)] == [], file


def test_no_file_of_the_engine_is_longer_than_a_reader_can_hold() -> None:
    long = {str(file.relative_to(ENGINE)): len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert {name: lines for name, lines in long.items() if lines > 420} == {}


def test_nothing_in_the_engine_prints_a_traceback() -> None:
    for file in FILES:
        assert not [name for name in imports(file) if name.split(".")[0] == "traceback"], file
