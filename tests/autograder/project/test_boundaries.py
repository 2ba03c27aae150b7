"""Who may import what: the judge runs nobody's code, the worker knows nothing of it, and the engine of no subject."""

import ast
import importlib
import importlib.util
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from tests.support import plain, tiny

ENGINE = tiny.REPOSITORY / "autograder"
FILES = sorted(ENGINE.rglob("*.py"))


FACE = re.compile(r"^    from (\.\w+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)


@cache
def face(room: str) -> dict[str, str]:
    """Return the names that a room offers, each with its module."""
    file = ENGINE / room / "__init__.py"
    text = file.read_text("utf-8") if file.is_file() else ""
    found = FACE.findall(text.partition("if TYPE_CHECKING:")[2].partition("\n\n")[0])
    return {
        name.strip(): f"autograder.{room}{module}"
        for module, several, one in found
        for name in (several or one).split(",")
        if name.strip()
    }


@dataclass
class Names:
    """The names in a file of the engine."""

    written: list[tuple[str, str]] = field(default_factory=list)  # modules of the engine: top, function or types
    imports: list[str] = field(default_factory=list)  # dotted, `from a import b` as a.b, each in its own module
    identifiers: set[str] = field(default_factory=set)


@cache
def names_of(file: Path) -> Names:
    """Return the names in a file, which several tests look at."""
    found = Names()
    tree = ast.parse(file.read_bytes())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    inside = {id(node): "function" for function in functions for node in ast.walk(function)}
    blocks = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    inside |= {id(node): "types" for block in blocks for node in ast.walk(block)}
    package = ".".join(("autograder", *file.relative_to(ENGINE).parts[:-1]))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{file}: a relative import stays in its folder"
            module = f"{package}.{node.module}" if node.level else str(node.module)
            if module.startswith("autograder"):
                found.written.append((module, inside.get(id(node), "top")))
            names = face(module.split(".")[1]) if module.count(".") == 1 else {}
            found.imports += [f"{names.get(alias.name, module)}.{alias.name}" for alias in node.names]
        words = (getattr(node, name, None) for name in ("id", "attr", "name", "arg", "asname"))
        found.identifiers.update(word for word in words if isinstance(word, str))
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
        if f"{name}.".startswith(names) and not (file.name == "__init__.py" and name in face(part).values())
    ]


APPLICATIONS = ("authoring", "learner", "notebook", "practice", "editor", "play", "instructor", "exports", "desk")
"""Each stands beside the others: none imports another, and the program works without it."""

ROOMS = (
    *("ending", "faces", "protocol", "formats", "checks", "edits", "worker"),
    *("course", "results", "submission"),
    *("runner", "sandbox", "comparison", "answer_key", "diagnosis", "judge", "report"),
    "questions",
    *("progress", "gradebook", "cli"),
    *APPLICATIONS,
    *("pytest_plugin", "__main__"),
)
"""A room imports of the rooms before it only, so that each can be read without those that follow."""


def room_of(file: Path) -> str:
    """Return the room of a file: a folder or a module of the engine."""
    return file.relative_to(ENGINE).parts[0].removesuffix(".py")


def rooms(file: Path) -> set[tuple[str, str]]:
    """Return the pairs of this file's room and the other rooms it imports from."""
    own = room_of(file)
    found = {name.split(".")[1] for name in imports(file) if name.startswith("autograder.")}
    return {(own, room) for room in found - {own} if (ENGINE / room).is_dir() or (ENGINE / f"{room}.py").is_file()}


def test_imports_run_one_way() -> None:
    every = {pair for file in FILES for pair in rooms(file) if file.name != "__init__.py" or file.parent != ENGINE}
    assert {room for pair in every for room in pair} <= set(ROOMS)
    against = {(own, room) for own, room in every if ROOMS.index(room) > ROOMS.index(own)}
    assert {(own, room) for own, room in against if own not in APPLICATIONS or room not in APPLICATIONS} == set()


def test_an_application_imports_another_only_where_it_can_do_without() -> None:
    """Inside a function: the part of a command that needs the other one is gone with it, and says so."""
    beside = [
        (f"{room_of(file)}: {module}", where)
        for file in FILES
        for module, where in names_of(file).written
        if room_of(file) in APPLICATIONS
        and module.split(".")[1:2]
        and module.split(".")[1] in {*APPLICATIONS} - {room_of(file)}
    ]
    assert [names for names, where in beside if where == "top"] == []
    assert len([names for names, where in beside if where == "function"]) <= 10


def test_nothing_imports_deeper_than_the_face_of_another_room() -> None:
    deep = [
        f"{file.relative_to(ENGINE)}: {module}"
        for file in FILES
        for module, _ in names_of(file).written
        if module.count(".") > 1 and module.split(".")[1] != room_of(file)
    ]
    assert not deep


@pytest.mark.parametrize("room", [room for room in ROOMS if (ENGINE / room).is_dir()])
def test_the_face_of_a_room_offers_what_is_there_and_what_others_use(room: str) -> None:
    offered = face(room)
    owner = importlib.import_module(f"autograder.{room}")
    modules = {file.stem for file in (ENGINE / room).glob("*.py")}
    assert not modules & set(offered), "a module hides a name of its face once it is imported"
    for name, module in offered.items():
        file = ENGINE.parent / Path(*module.split(".")).with_suffix(".py")
        assert not name.startswith("_")
        assert file.is_file(), f"{name} of {file}"
        assert name in {*names_of(file).identifiers}, f"{name} is not in {file}"
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        owner.no_such_name  # noqa: B018


def test_an_import_inside_a_function_is_an_exception_with_a_reason() -> None:
    """It keeps the start of a program quick, or NumPy and torch out of it; most modules need none."""
    hidden = []
    for file in FILES:
        lines = file.read_text("utf-8").splitlines()
        functions = (node for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.FunctionDef))
        numbers = {
            node.lineno
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.ImportFrom) and (node.level or str(node.module).startswith("autograder"))
        }
        hidden += [f"{file.relative_to(ENGINE)}:{number} {lines[number - 1]}" for number in sorted(numbers)]
    assert [line for line in hidden if "  # " not in line] == []
    assert len(hidden) <= 72


def test_modules_are_few_and_deep() -> None:
    sizes = [len(file.read_text("utf-8").splitlines()) for file in FILES if file.name != "__init__.py"]
    assert len(FILES) <= 200
    assert median(sizes) >= 180


def test_a_module_with_one_importer_is_a_concept_of_its_own() -> None:
    """Of modules that no face offers, few are imported by one other module alone; a program is imported by none."""
    offered = {module for room in ROOMS for module in face(room).values()}
    users: dict[str, set[Path]] = {}
    for file in FILES:
        for module, _ in names_of(file).written:
            users.setdefault(module, set()).add(file)
    alone = [module for module, files in users.items() if len(files) == 1 and module not in offered]
    assert len([module for module in alone if module.count(".") > 1]) <= 30, sorted(alone)


def test_the_guide_for_contributors_lists_the_rooms_in_their_order() -> None:
    guide = (tiny.REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    table = guide[guide.index("| room |") : guide.index("## Add something")]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(ROOMS)


def test_the_worker_knows_the_protocol_the_language_of_checks_and_the_edits_alone() -> None:
    confined = [file for file in FILES if file.is_relative_to(ENGINE / "sandbox" / "confined")]
    worker = [file for file in FILES if room_of(file) == "worker"]
    known = {"protocol", "checks", "edits", "faces"}
    assert {room for file in worker for _, room in rooms(file)} == known
    assert {room for file in confined for _, room in rooms(file)} <= known | {"worker"}


SEES_NO_TENSOR = sorted(set(ROOMS) - {"worker", "checks", "learner", "notebook", "play", "sandbox"})


@pytest.mark.parametrize("part", [part for part in SEES_NO_TENSOR if (ENGINE / part).is_dir()])
def test_what_decides_imports_neither_torch_nor_the_worker(part: str) -> None:
    found = importers(part, ("torch", "autograder.worker", "autograder.checks.given"))
    # That file is appended to a solution as text, and imported nowhere.
    assert [name for name in found if not name.startswith("authoring/empty_programs.py")] == []


@pytest.mark.parametrize("file", sorted((ENGINE / "sandbox").glob("*.py")), ids=lambda file: file.stem)
def test_the_judges_half_of_the_sandbox_imports_nothing_of_the_worker(file: Path) -> None:
    assert not [name for name in imports(file) if name.startswith(("torch.", "autograder.worker."))]
    assert not [module for module, _ in names_of(file).written if "confined" in module]


def test_the_checks_of_the_course_need_no_torch() -> None:
    for folder in (tiny.REPOSITORY, tiny.ROOT):
        for file in sorted((folder / "tests" / "exercises").glob("test_*.py")):
            assert not [name for name in imports_of_course(file) if name.split(".")[0] in ("torch", "numpy")], file


def imports_of_course(file: Path) -> list[str]:
    """Return the modules that a file of a course imports."""
    nodes = list(ast.walk(ast.parse(file.read_bytes())))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]


CHECKED = """
import sys
import autograder.cli
status = autograder.cli.run({arguments!r})
heavy = {{"torch", "numpy", "rich", "pytest", "jinja2", "ex01_running_mean", "ex02_matrix_power"}}
print("\\n", status, *sorted(heavy & set(sys.modules)))
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
    "NodeTransformer",  # of ast
    "pytest_report_header",
}


def test_no_name_in_the_engine_speaks_of_the_subject_of_a_course() -> None:
    """Diagnosis and messages know tensors: a softmax is an operation like a mean, and must be called by its name."""
    for file in FILES:
        if file.name in ("toml.py", "notebook.py"):  # they read the tokens of TOML, and call IPython's transformer
            continue
        knows_tensors = file.relative_to(ENGINE).parts[0] in ("diagnosis", "comparison")
        names = {TENSORS.sub("", name) if knows_tensors else name for name in names_of(file).identifiers} - PLAIN
        assert [name for name in names if SUBJECT.search(name)] == [], file


def test_nothing_in_the_engine_prints_a_traceback() -> None:
    for file in FILES:
        assert not [name for name in imports(file) if name.split(".")[0] == "traceback"], file


BESIDE = ("benchmarks", "docs", "play", "tests/proof", "tests/fuzz")
"""Programs that use the engine: few tests run them, and types are not checked in all of them."""


def test_programs_beside_the_engine_import_what_the_engine_has() -> None:
    missing = []
    for file in [file for folder in BESIDE for file in (tiny.REPOSITORY / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograder"):
                module = importlib.import_module(node.module or "")
                for name in (alias.name for alias in node.names):
                    if not hasattr(module, name) and importlib.util.find_spec(f"{node.module}.{name}") is None:
                        missing.append(f"{file.name}, line {node.lineno}: {node.module} has no {name}")
    assert not missing
