from pathlib import Path
import re
p = Path("tests/autograder/project/test_boundaries.py"); t = p.read_text()
a = t.index("@dataclass\nclass Names:"); b = t.index("CHECKED = ")
new = '''FACE = re.compile(r"^    from (\\.\\w+) import (?:\\(([^)]*)\\)|(.*))$", re.MULTILINE)


@cache
def face(room: str) -> dict[str, str]:
    """Return the names that a room offers, each with its module."""
    file = ENGINE / room / "__init__.py"
    found = FACE.findall(file.read_text("utf-8")) if file.is_file() else []
    return {
        name.strip(): f"autograder.{room}{module}"
        for module, several, one in found
        for name in (several or one).split(",")
        if name.strip()
    }


@dataclass
class Names:
    """The names in a file of the engine."""

    written: list[tuple[str, bool]] = field(default_factory=list)  # modules of the engine, and if inside a function
    imports: list[str] = field(default_factory=list)  # dotted, `from a import b` as a.b, each in its own module
    identifiers: set[str] = field(default_factory=set)


@cache
def names_of(file: Path) -> Names:
    """Return the names in a file, which several tests look at."""
    found = Names()
    tree = ast.parse(file.read_bytes())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    inside = {id(node) for function in functions for node in ast.walk(function)}
    package = ".".join(("autograder", *file.relative_to(ENGINE).parts[:-1]))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 1, f"{file}: a relative import stays in its folder"
            module = f"{package}.{node.module}" if node.level else str(node.module)
            if module.startswith("autograder"):
                found.written.append((module, id(node) in inside))
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


ROOMS = (
    *("ending", "exits", "faces", "protocol", "formats", "checks", "edits", "worker"),
    *("course", "results", "submission"),
    *("runner", "sandbox", "comparison", "answer_key", "diagnosis", "judge", "report"),
    *("authoring", "learner", "notebook", "practice", "editor", "play", "instructor", "exports"),
    *("cli", "pytest_plugin", "__main__"),
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
    assert {(own, room) for own, room in every if ROOMS.index(room) > ROOMS.index(own)} == set()


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


def test_an_import_inside_a_function_is_an_exception() -> None:
    """It keeps the start of a program quick, or NumPy and torch out of it; most modules need none."""
    hidden = [file for file in FILES for _, inside in names_of(file).written if inside]
    assert len(hidden) <= 100
    assert len(set(hidden)) <= 40


def test_modules_are_few_and_deep() -> None:
    sizes = [len(file.read_text("utf-8").splitlines()) for file in FILES if file.name != "__init__.py"]
    assert len(FILES) <= 230
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
    assert re.findall(r"^\\| `(\\w+)` \\|", table, re.MULTILINE) == list(ROOMS)


def test_the_worker_knows_the_protocol_the_language_of_checks_and_the_edits_alone() -> None:
    confined = [file for file in FILES if file.is_relative_to(ENGINE / "sandbox" / "confined")]
    worker = [file for file in FILES if room_of(file) == "worker"]
    known = {"protocol", "checks", "edits", "faces"}
    assert {room for file in worker for _, room in rooms(file)} == known
    assert {room for file in confined for _, room in rooms(file)} <= known | {"worker"}


SEES_NO_TENSOR = sorted(set(ROOMS) - {"worker", "checks", "learner", "notebook", "play", "sandbox"})


@pytest.mark.parametrize("part", [part for part in SEES_NO_TENSOR if (ENGINE / part).is_dir()])
def test_what_decides_imports_neither_torch_nor_the_worker(part: str) -> None:
    assert not importers(part, ("torch", "autograder.worker", "autograder.checks.given", "autograder.checks.weights"))


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


'''
t = t[:a] + new + t[b:]
t = re.sub(r"def test_no_file_of_the_engine_is_longer_than_a_reader_can_hold.*?== \{\}\n\n\n", "", t, flags=re.S)
t = t.replace("import ast\nimport json\n", "import ast\nimport importlib\nimport json\n").replace("from pathlib import Path\n\nimport pytest", "from pathlib import Path\nfrom statistics import median\n\nimport pytest")
t = t.replace('"lines.py"', '"toml.py"').replace('"ipython.py"', '"notebook.py"')
t = t.replace('in ("diagnosis", "messages")', 'in ("diagnosis", "comparison")')
p.write_text(t)
p = Path("tests/autograder/diagnosis/test_wording.py"); t = p.read_text()
t = re.sub(r'        if file.name != "pictures.py":  # which speaks to the author of a picture\n            long = (.*?)\n            assert', r'''        facts = "(Fact)" in file.read_text("utf-8")  # a fact stands beside its words
        if not facts and file.name not in ("pictures.py", "case.py"):  # messages to an author, names of numbers
            long = \1
            assert''', t)
p.write_text(t)
p = Path("tests/autograder/project/test_checks_page.py"); t = p.read_text()
t = t.replace("            if isinstance(owner, ast.ClassDef)\n            for node in owner.body", '            if isinstance(owner, ast.ClassDef) and owner.name.endswith("Given")\n            for node in owner.body')
p.write_text(t)
TABLE = [("ending", "stops a program on a signal, and cleans up"), ("exits", "names the exit statuses"), ("faces", "loads the modules of a room when a name of its face is used"),
("protocol", "reads and writes frames between judge and worker, and checks their limits"), ("formats", "lists the formats of all files that outlive a version, with their numbers"),
("checks", "is the language in which checks are written"), ("edits", "makes small changes of a program: mutants, and edits that may mend it"),
("worker", "runs the student's code in a confined process"), ("course", "reads `course.toml`"), ("results", "describes a report, and reads and writes its JSON"),
("submission", "reads what a student submits, and runs none of it"), ("runner", "starts workers and collects their observations"),
("sandbox", "confines workers: the judge's half, and in `confined` that of the worker"), ("comparison", "compares an observation with the expected one"),
("answer_key", "makes and stores the expected observations"), ("diagnosis", "says why a check failed, and where: facts, detectors and sentences by subject"),
("judge", "decides the verdict"), ("report", "renders results as terminal output, text, HTML and pictures"), ("authoring", "makes stubs, notebooks and kits, and proves the course"),
("learner", "keeps a learner's progress, and runs hints and watch mode"), ("notebook", "is what a notebook of the course imports"), ("practice", "runs hunts, puzzles and reviews"),
("editor", "is the language server"), ("play", "runs activities that use finished exercises"), ("instructor", "grades a class, keeps decisions, and makes the class page"),
("exports", "writes gradebooks and feedback for other platforms"), ("cli", "is the program `course`"), ("pytest_plugin", "runs checks as pytest items"), ("__main__", "makes `python -m autograder` the program `course`")]
p = Path("CONTRIBUTING.md"); t = p.read_text()
a = t.index("| room |"); b = t.index("## Add something")
t = t[:a] + "| room | what it does |\n|---|---|\n" + "".join(f"| `{r}` | {d} |\n" for r, d in TABLE) + "\n" + t[b:]
t = t.replace("A room imports only from the rooms above it in this table, and\n`tests/autograder/project/test_boundaries.py` checks that. Tests mirror the rooms.",
"A room imports only from the rooms above it in this table. What a\nroom offers stands in its `__init__`, its face: nothing outside imports deeper. Inside a room,\nimports are relative. `tests/autograder/project/test_boundaries.py` checks all that. Tests mirror\nthe rooms.")
t = re.sub(r"\*\*A pattern\.\*\*.*?\n\n", '''**A pattern.** A pattern explains a difference without knowing the mistake. Add its fact, its words
and its detector to the module of its subject in `autograder/diagnosis`, list the detector in
`differences.py`, and add wrong results to `tests/support/zoo.py`. The tests check that it fits
those and no other.

''', t, flags=re.S)
t = re.sub(r"\*\*An export\.\*\*.*?\n\n", '''**An export.** Add a module to `autograder/exports`, its function to `formats.py` there, its name to
`EXPORTS` in `autograder/cli/commands.py`, and a row to [docs/exports.md](docs/exports.md).

''', t, flags=re.S)
p.write_text(t)
p = Path("docs/architecture.md"); t = p.read_text()
a = t.index("| room |"); b = t.index("`worker` imports only")
rows = [("`ending`, `exits`", "end a program within seconds of a signal; the exit statuses"), ("`faces`", "loads the modules of a room when a name of its face is used"), ("`protocol`", "the messages between worker and judge, and their limits"),
("`formats`", "the numbers of all formats, and the sentence for a file of another format"), ("`checks`", "the language of checks: `@check`, inputs from a seed (`given`), judges of results"),
("`edits`", "small changes of a program: mutants, and edits that may mend it"), ("`worker`", "the untrusted side: runs a submission"), ("`course`", "reads `course.toml`, the catalogue of misconceptions and the list of trusted folders"),
("`results`", "a submission's results as data, and as the JSON of a report"), ("`submission`", "reads folders, zips, notebooks, and the downloads of learning platforms"), ("`runner`", "starts workers, sends jobs, keeps limits, reads answers"),
("`sandbox`", "confines workers: the judge's half, and that of the worker in `sandbox/confined`"), ("`comparison`", "compares one observation with the expected one"), ("`answer_key`", "what solutions and misconceptions return; made here or read from a released kit"),
("`diagnosis`", "why a check failed, and where: a module for each subject has its facts, detectors and words"), ("`judge`", "verdicts: runs a submission, compares, names the misconception"),
("`report`", "renders a report for the terminal, as plain text and as HTML"), ("`authoring`", "stubs, notebooks, the released kit and its leak gate, `course validate`"), ("`learner`", "progress, hints, the next step, watch mode"),
("`notebook`, `practice`, `editor`, `play`", "what else a learner uses: each imports `learner`, and no other"), ("`instructor`", "grades a class; rosters, decisions, policy; the class page"), ("`exports`", "gradebooks and feedback for other platforms"), ("`cli`, `pytest_plugin`", "what you call from a terminal or from pytest")]
t = t[:a] + "| room | what it does |\n|---|---|\n" + "".join(f"| {r} | {d} |\n" for r, d in rows) + "\n" + t[b:]
t = t.replace("A room imports only from rooms above it. Rooms are folders or modules of `autograder/`.", "A room imports only from rooms above it. Rooms are folders or modules of `autograder/`. What a room\noffers stands in its `__init__`, its face: other rooms import from there, and nothing deeper. A face\nloads a module when one of its names is used, so a command starts quickly.")
t = t.replace("Only `worker`, `checks` and `learner` may\nimport torch.", "Only `worker`, `checks`,\n`sandbox/confined` and `play` may import torch.").replace("is in a module of its own: `worker/support.py` chooses\nbetween plain", "is in a module of its own:\n`worker/support.py` chooses between plain").replace("between plain Python, `arrays.py` and `tensors.py`. A trace of plain Python records the values of\nvariables by line, that of torch the results of operators.", "between plain Python, `arrays.py` and `tensors.py`. A trace of plain\nPython records the values of variables by line, that of torch the results of operators.")
p.write_text(t)
