"""Compile reference parts: from Python in `solutions/reference_parts` to tables of numbers.

Students get the tables and the interpreter for them, but no readable answer. `autograder.protocol.part_code` describes
the format.
"""

import ast
import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from autograder.authoring.parts_body import Body
from autograder.authoring.parts_pool import Namespace, PartError, Pool, Unsupported
from autograder.course import Course, Exercise
from autograder.protocol.part_code import CLASS, FORMAT, FUNCTION, PLAIN

__all__ = ["PartError", "compile_part", "stale_parts"]

BUILTINS = ("abs", "bool", "float", "int", "isinstance", "len", "list", "max", "min", "range", "str", "sum", "tuple")


def stale_parts(course: Course, wanted: Sequence[Exercise] | None = None) -> dict[Path, str]:
    """Return the content of the compiled parts that are out of date, by file; of all exercises, or of some.

    Raises `PartError` and OSError.
    """
    names = {exercise.id for exercise in course.every if wanted is None or exercise in wanted}
    sources = {file.stem: file for file in sorted(course.part_sources_dir.glob("*.py"))}
    compiled = {file.stem: file for file in sorted(course.reference_parts_dir.glob("*.json"))}
    exercises = {exercise.id: exercise for exercise in course.every}
    for name, file in sources.items():
        if name not in exercises and wanted is None:
            raise PartError(f"{_relative_name(course, file)}: no exercise of course.toml is called {name}")
    for name, file in compiled.items():
        if name not in sources and (wanted is None or name in names):
            source = _relative_name(course, course.part_sources_dir / f"{name}.py")
            raise PartError(f"{_relative_name(course, file)} has no source {source}: delete it, or put the source back")
    stale = {}
    for name in sorted(names & sources.keys()):
        text = compile_part(course, exercises[name])
        file = course.reference_parts_dir / f"{name}.json"
        if not file.is_file() or file.read_text("utf-8") != text:
            stale[file] = text
    return stale


def compile_part(course: Course, exercise: Exercise) -> str:
    """Return the table of a part. Raises `PartError` with the line, and OSError."""
    importable = {needed.id for needed in course.with_all_needs(exercise)} - {exercise.id}
    forbidden = {name for exercise in course.every for name in exercise.forbidden}

    def read(name: str) -> tuple[str, str]:
        file = course.part_sources_dir / f"{name}.py"
        return file.read_text("utf-8"), _relative_name(course, file)

    return compile_text(exercise.id, read, importable, forbidden)


def compile_text(
    name: str, read: Callable[[str], tuple[str, str]], importable: Collection[str], forbidden: Collection[str]
) -> str:
    """Return the table of a part by name; `read` returns the text and the file name of a part."""
    compiler = _Compiler(read, importable, forbidden)
    exports = compiler.file(name, None)
    return compiler.table(exports)


def _relative_name(course: Course, file: Path) -> str:
    return file.relative_to(course.root).as_posix()


class _Compiler:
    """Compiles a file and its imports into one pool and one list of items."""

    def __init__(
        self, read: Callable[[str], tuple[str, str]], importable: Collection[str], forbidden: Collection[str]
    ) -> None:
        self.read = read
        self.importable = importable
        self.forbidden = forbidden
        self.pool = Pool()
        self.items: list[list[object]] = []
        self._files: dict[str, Namespace] = {}

    def file(self, name: str, asked: str | None) -> Namespace:
        """Return the definitions of a part by name; `asked` is the location of the import."""
        if name in self._files:
            return self._files[name]
        try:
            text, path = self.read(name)
            tree = ast.parse(text)
        except FileNotFoundError as error:
            raise PartError(f"{asked}: there is no reference part {name}.py to import from") from error
        except SyntaxError as error:
            raise PartError(f"{path}:{error.lineno}: {error.msg}") from error
        known: Namespace = {builtin: (f"builtins.{builtin}",) for builtin in BUILTINS}
        defined: Namespace = {}
        try:
            for node in tree.body:
                defined.update(self._statement(node, {**known, **defined}, path))
        except Unsupported as error:
            raise PartError(f"{path}:{error.line}: {error}") from error
        self._files[name] = {name: what for name, what in defined.items() if isinstance(what, int)}
        return self._files[name] if asked else self._exported(defined, tree, path)

    def _exported(self, defined: Namespace, tree: ast.Module, path: str) -> Namespace:
        """Return the public definitions of a file, which are the names of the contract."""
        own = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        public = {name: defined[name] for name in own if not name.startswith("_")}
        if not public:
            raise PartError(
                f"{path}: defines nothing public; define the names of the contract, and start others with _"
            )
        return public

    def _statement(self, node: ast.stmt, known: Namespace, path: str) -> Namespace:
        match node:
            case ast.Import(names=names):
                return {alias.asname or alias.name.split(".")[0]: self._module(node, alias) for alias in names}
            case ast.ImportFrom(module=str(module), names=names, level=0):
                return {alias.asname or alias.name: self._imported(node, module, alias.name, path) for alias in names}
            case ast.FunctionDef():
                return {node.name: self._function(node, known)}
            case ast.ClassDef():
                return {node.name: self._class(node, known)}
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return {name: self.pool.constant(Body.literal(value))}
            case ast.Expr(value=ast.Constant(value=str())):
                return {}
        raise Unsupported(node, "this statement outside of functions", "use imports, constants, functions and classes")

    def _module(self, node: ast.stmt, named: ast.alias) -> tuple[str]:
        return (self._allowed(node, named.name if named.asname else named.name.split(".")[0]),)

    def _imported(self, node: ast.stmt, module: str, name: str, path: str) -> object:
        if module.split(".")[0] in ("torch", "math"):
            return (self._allowed(node, f"{module}.{name}"),)
        if module not in self.importable:
            do = "import from torch, math, or the part of an exercise that this one needs in course.toml"
            raise Unsupported(node, f"to import from {module}", do)
        found = self.file(module, f"{path}:{node.lineno}")
        if name not in found:
            raise Unsupported(node, f"to import {name}, which the part {module} does not define,", "look at its names")
        return found[name]

    def _allowed(self, node: ast.AST, dotted: str) -> str:
        """Return a dotted name of the library; raises `Unsupported` if an exercise forbids it."""
        if dotted.split(".")[0] not in ("torch", "math", "builtins"):
            raise Unsupported(node, f"to import {dotted}", "import torch or math")
        for name in self.forbidden:
            if dotted == name or dotted.startswith(f"{name}."):
                raise Unsupported(node, f"to use {name}, which an exercise forbids,", "compute it by simpler operators")
        return dotted

    def _function(self, node: ast.FunctionDef, known: Namespace) -> int:
        body = Body(self.pool, known, self._allowed, node)
        rows = body.compile()
        name = self.pool.constant(node.name)
        return self._item([FUNCTION, name, body.registers, body.parameters, body.defaults, rows])

    def _class(self, node: ast.ClassDef, known: Namespace) -> int:
        bases = [Body.dotted(base, known) for base in node.bases]
        if bases not in ([], ["torch.nn.Module"]) or node.keywords or node.decorator_list:
            raise Unsupported(node, "a class with another base than nn.Module", "write class X(nn.Module) or class X")
        methods = []
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                methods.append(self._function(member, known))
            elif not (isinstance(member, ast.Expr) and isinstance(member.value, ast.Constant)):
                raise Unsupported(member, "this statement in a class", "move it into __init__")
        return self._item([CLASS if bases else PLAIN, self.pool.constant(node.name), methods])

    def _item(self, item: list[object]) -> int:
        self.items.append(item)
        return len(self.items) - 1

    def table(self, exports: Namespace) -> str:
        """Return the table as JSON, a line for each item."""
        pool, items = self.pool.sorted(self.items)
        head = f'{{"format":{FORMAT},"exports":{json.dumps(exports, sort_keys=True)},\n"pool":{json.dumps(pool)},\n'
        lines = ",\n".join(json.dumps(item, separators=(",", ":")) for item in items)
        return f'{head}"items":[\n{lines}\n]}}\n'
